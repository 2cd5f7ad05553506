"""Where an agent counts: along the route of its character, or all over a region; and where it goes on."""

from collections.abc import Sequence
from pathlib import Path

import shapely

from virl.agent import Agent
from virl.errors import BadInput, NoStreetView, NotFound
from virl.geo import LatLng, LocalFrame, bearing, distance
from virl.platform.providers.open import GoogleCity, city_settings
from virl.platform.streetview import Pose
from virl.region import Region
from virl.region_file import read_region

AROUND_STREETS_M = 15.0  # a city without a district ends so far beyond its outermost streets; chosen
MAX_FROM_CITY_M = 100_000.0  # how far a region may lie from its city's centre; as for region files


def route_of(agent: Agent) -> list[LatLng]:
    """The stops of a character's route, in order.

    Raises:
        BadInput: it has none, or one that is not in the city.
    """
    who = agent.run.start.agent
    if not agent.character.route:
        raise BadInput(f"{who}: has no `route:`: list the addresses or positions to go to, in order")
    stops = []
    for number, stop in enumerate(agent.character.route, start=1):
        if not isinstance(stop, str):
            stops.append(LatLng(stop.lat, stop.lng))
            continue
        try:
            stops.append(agent.city.maps.geocode(stop))
        except NotFound as fault:
            raise BadInput(f"{who}: route: stop {number}: {fault}") from fault
    return stops


def region_of(agent: Agent) -> Region:
    """What a character covers: its own region, or else the city's.

    That is the city's district; a city without one, whose streets are all known, is covered whole.

    Raises:
        BadInput: there is neither, or the region lies elsewhere.
    """
    city, who = agent.city, agent.run.start.agent
    if agent.character.region is not None:
        region = _own(agent.character.region)
        metres = distance(region.center, city.center)
        if metres > MAX_FROM_CITY_M:
            raise BadInput(f"{who}: region: lies {metres / 1000:,.0f} km from the centre of {city.title}")
        return region
    settings = city_settings(agent.run.start.city)
    if isinstance(settings, GoogleCity):
        return settings.region
    if city.street_map is None:
        raise BadInput(f"{who}: {city.title} has no district of its own: give the character a `region:`")
    return around_streets(city.street_map.lines())


def onward_by_link(agent: Agent) -> Pose:
    """The start, or for a run that goes on the pose after its last step, by the link that leads there.

    Raises:
        NoStreetView: the link is not there any more.
    """
    if not agent.run.steps:
        return _at_start(agent)
    last = agent.run.steps[-1]
    stood = Pose(last.pose.pano_id, last.pose.heading)
    for link in agent.mover.links(stood):
        if link.pano_id == last.next_pano_id:
            return Pose(link.pano_id, link.heading)
    raise NoStreetView(
        f"no way leads from panorama {stood.pano_id!r} to {last.next_pano_id!r} any more: begin a new run"
    )


def onward_by_hop(agent: Agent) -> Pose:
    """The start, or for a run that goes on the next panorama, facing the way that leads straight to it.

    Raises:
        NoStreetView: the panorama is not there any more.
    """
    if not agent.run.steps:
        return _at_start(agent)
    last = agent.run.steps[-1]
    there = agent.city.streetview.panorama(last.next_pano_id or last.pose.pano_id)
    return Pose(there.id, bearing(LatLng(last.pose.lat, last.pose.lng), there.position))


def _at_start(agent: Agent) -> Pose:
    heading = agent.character.heading
    return Pose(agent.start.id, agent.start.heading if heading is None else heading)


def _own(region: str | Sequence[tuple[float, float]]) -> Region:
    if isinstance(region, str):
        return read_region(Path(region))
    return Region(tuple(LatLng(*corner) for corner in region))


def around_streets(lines: Sequence[Sequence[LatLng]]) -> Region:
    """The convex region around all streets of a city, and a little more.

    Args:
        lines: centre lines; at least one position.
    """
    positions = [position for line in lines for position in line]
    frame = LocalFrame(positions[0])
    x, y = frame.to_metres([one.lat for one in positions], [one.lng for one in positions])
    hull = shapely.MultiPoint(list(zip(x.tolist(), y.tolist(), strict=True))).convex_hull
    outline = shapely.get_coordinates(hull.buffer(AROUND_STREETS_M, quad_segs=2).simplify(1.0))
    return Region(tuple(frame.position(*corner) for corner in outline.tolist()))
