"""What a walk has seen of the streets: the panoramas it stood at, and where their links end."""

from collections.abc import Collection, Iterable
from heapq import heappop, heappush

from virl.geo import LatLng, destination, distance
from virl.platform.streetview import Link, Panorama


class Explored:
    """Panoramas stood at, with the links that leave them."""

    def __init__(self) -> None:
        self._links: dict[str, tuple[Link, ...]] = {}
        self._positions: dict[str, LatLng] = {}

    def see(self, panorama: Panorama, links: Iterable[Link]) -> None:
        """Remember a panorama and the links that leave it."""
        self._positions[panorama.id] = panorama.position
        self._links[panorama.id] = tuple(links)
        for link in self._links[panorama.id]:
            end = destination(panorama.position, link.heading, link.distance)
            self._positions.setdefault(link.pano_id, end)

    def way_on(self, here: str, goal: LatLng, visited: Collection[str]) -> Link | None:
        """The link to take for the end of a link that promises the shortest way to a position.

        That is the one with the fewest metres along links seen to it and on in a straight line.

        Args:
            here: where to leave from; a panorama stood at.
            goal: the position to come to.
            visited: panoramas that do not promise anything any more.

        Returns:
            `None` where all ends of links that lead from here are visited.
        """
        queue: list[tuple[float, str, Link | None]] = [(0.0, here, None)]
        done: set[str] = set()
        best: tuple[float, Link | None] = (float("inf"), None)
        while queue and queue[0][0] < best[0]:
            metres, pano_id, first = heappop(queue)
            if pano_id in done:
                continue
            done.add(pano_id)
            if pano_id not in visited:
                promise = metres + distance(self._positions[pano_id], goal)
                best = min(best, (promise, first), key=lambda pair: pair[0])
            for link in self._links.get(pano_id, ()):
                if link.pano_id not in done:
                    heappush(queue, (metres + link.distance, link.pano_id, first or link))
        return best[1]
