"""A navigation graph of what a mover reaches, for navigators that read graphs (VELMA, NavGPT, follower)."""

from collections import deque

from virl.geo.globe import distance
from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.city.streetview import Panorama, Pose, StreetView
from virl.platform.movers.base import Mover

MOST_PANORAMAS = 2000  # chosen: some twenty blocks
"""Largest number of panoramas of a graph, if the caller sets no other limit."""


def graph_around(
    streetview: StreetView,
    mover: Mover,
    start: str,
    reach_m: float,
    *,
    most: int = MOST_PANORAMAS,
) -> NavigationGraph:
    """Return the graph of up to `most` panoramas that a mover reaches within `reach_m` metres of `start`.

    Args:
        streetview: street view that has the panoramas.
        mover: asked once for the links of each panorama, facing the way it came; for `hybrid`, the grid is
            asked where no listed link leads on.
        start: id of the panorama to begin at.
        reach_m: largest distance from the start as the crow flies, metres.
        most: largest number of panoramas; those over the fewest links are kept.

    Raises:
        NoStreetView: there is no panorama of that id.
    """
    first = streetview.panorama(start)
    found: dict[str, Panorama] = {first.id: first}
    links: list[tuple[str, str, float]] = []
    ahead = deque([Pose(first.id, first.heading)])
    while ahead:
        pose = ahead.popleft()
        for link in mover.links(pose):
            if link.pano_id not in found:
                there = streetview.panorama(link.pano_id)
                if len(found) >= most or distance(first.position, there.position) > reach_m:
                    continue
                found[there.id] = there
                ahead.append(Pose(there.id, link.heading))
            links.append((pose.pano_id, link.pano_id, link.heading))
    number = {pano_id: place for place, pano_id in enumerate(found)}
    # Of several links between two panoramas one is kept, the last.
    kept = {(number[here], number[there]): heading for here, there, heading in links}
    return build_graph(
        list(found),
        [one.position.lat for one in found.values()],
        [one.position.lng for one in found.values()],
        [here for here, _ in kept],
        [there for _, there in kept],
        list(kept.values()),
        yaw=[one.heading for one in found.values()],
    )
