"""What a walker remembers of the streets: where it was, and which ways it has not tried."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from virl.platform.city.streetview import Link


class StreetMemory:
    """Panoramas visited and links walked. Walking a link also walks it the other way."""

    def __init__(self) -> None:
        self._links: dict[str, tuple[Link, ...]] = {}
        self._walked: Counter[frozenset[str]] = Counter()

    def visit(self, pano_id: str, links: Iterable[Link]) -> None:
        """Remember the links that leave a panorama."""
        self._links[pano_id] = tuple(links)

    def walk(self, source: str, target: str) -> None:
        """Record that a link between two panoramas was walked."""
        self._walked[frozenset((source, target))] += 1

    def times_walked(self, source: str, target: str) -> int:
        """Return the number of times that a link was walked, either way."""
        return self._walked[frozenset((source, target))]

    def freshest(self, here: str, links: Sequence[Link]) -> tuple[Link, ...]:
        """Return the links that lead soonest to a way not yet walked; the least walked ones if none does.

        Args:
            here: the panorama that `links` leave.
            links: at least one.
        """
        ranks = [
            (self._hops_to_frontier(here, link), self.times_walked(here, link.pano_id)) for link in links
        ]
        best = min(ranks)
        return tuple(link for link, rank in zip(links, ranks, strict=True) if rank == best)

    def _hops_to_frontier(self, here: str, first: Link) -> float:
        """Return links to the nearest one not walked, over a first link; infinite without one."""
        if not self.times_walked(here, first.pano_id):
            return 0
        queue, seen = deque([(first.pano_id, 1)]), {here, first.pano_id}
        while queue:
            pano_id, hops = queue.popleft()
            for link in self._links.get(pano_id, ()):
                if link.pano_id in seen:
                    continue
                if not self.times_walked(pano_id, link.pano_id):
                    return hops
                seen.add(link.pano_id)
                queue.append((link.pano_id, hops + 1))
        return float("inf")
