"""Memory of the roads seen and not walked, and of what each promised."""

import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, hypot
from types import MappingProxyType

import numpy as np

from virl.geo.globe import LocalFrame, signed_turn
from virl.platform.city.streetview import Link, Panorama, Pose
from virl.platform.perception.road_sight import RoadSight

# Chosen in Helsinki and in four villages of Liechtenstein that no figure is reported of.
UNKNOWN = 0.3
"""Promise of a road down which nothing is seen, in fronts that stand where it begins."""
FADES_M = 60.0
"""Metres over which the promise of a front falls by a factor e."""
START_M = 15.0
"""Metres added to each way."""
TURN_M = 4.0
"""Metres that a turn of 90 degrees counts as."""
PASSED_M = 22.0
"""Metres from a panorama visited within which a front was passed: its sign was read, it promises no more."""
DECLINED = 0.5
"""Share of its promise that a road keeps which was left for another."""

Glimpses = Mapping[tuple[str, str], RoadSight]
"""Sights down links, by the ids of the panoramas at their ends."""
NOTHING: Glimpses = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Prospect:
    """A road that was seen and not walked, with the way to it."""

    pano_id: str
    """Id of the panorama that the road leaves."""
    link: Link
    """First link of the road."""
    first: Link
    """Link to take now to get to the road."""
    metres: float
    """Metres to the panorama that the road leaves."""
    promise: float
    """Number of fronts seen down the road and not passed, each weighed down by its distance."""
    fronts: int
    """Number of fronts seen down the road and not passed."""
    nearest: float | None
    """Metres from the road's panorama to the nearest such front; `None` without any."""
    cost: float
    """Metres to get to the road and to begin it, turns included."""
    sight: RoadSight = field(default_factory=RoadSight)
    """All that was seen down the road."""

    @property
    def worth(self) -> float:
        """Promise of the road for each metre of its cost."""
        return self.promise / self.cost


class Prospects:
    """Roads seen from the panoramas visited, those not walked, and the sight down each."""

    def __init__(self) -> None:
        self._seen: dict[str, Panorama] = {}
        self._links: dict[str, tuple[Link, ...]] = {}
        self._sights: dict[tuple[str, str], RoadSight] = {}
        self._declined: set[str] = set()
        self._visits: Counter[str] = Counter()

    def visit(self, panorama: Panorama, links: Sequence[Link], look: Callable[[Link], RoadSight]) -> None:
        """Record a panorama, and look down each of its roads that leads where the walker was not.

        Args:
            panorama: where the walker stands.
            links: the ways that leave it.
            look: gives the sight down a link.
        """
        self._seen[panorama.id] = panorama
        self._visits[panorama.id] += 1
        self._links[panorama.id] = tuple(links)
        for link in self.fresh(panorama.id):
            if (panorama.id, link.pano_id) not in self._sights:
                self._sights[panorama.id, link.pano_id] = look(link)

    def leave(self, source: str, target: str) -> None:
        """Record the panorama that the walker goes to; going back marks the roads onward as declined."""
        if target in self._seen and self.fresh(source):
            self._declined.add(source)

    def is_new(self, pano_id: str) -> bool:
        """Return whether the walker came to a panorama for the first time."""
        return self._visits[pano_id] == 1

    def fresh(self, pano_id: str) -> tuple[Link, ...]:
        """Return the links of a panorama that lead where the walker never was."""
        return tuple(link for link in self._links[pano_id] if link.pano_id not in self._seen)

    def ways(self, pose: Pose, glimpsed: Glimpses = NOTHING) -> list[Prospect]:
        """Return the roads not walked that can be reached over visited panoramas, the most worth first.

        Args:
            pose: where the walker stands.
            glimpsed: sights that count now and are not remembered.
        """
        known = {**self._sights, **glimpsed}
        frame = LocalFrame(self._seen[pose.pano_id].position)
        stood = np.array([frame.point(one.position) for one in self._seen.values()])
        ways = []
        for pano_id, (metres, first) in self._reach(pose.pano_id).items():
            here = pano_id == pose.pano_id
            for link in self.fresh(pano_id):
                turn = abs(signed_turn(pose.heading, link.heading)) / 90 * TURN_M if here else 0.0
                cost = START_M + metres + link.distance + turn
                lasting = DECLINED if pano_id in self._declined and not here else 1.0
                sight = known.get((pano_id, link.pano_id), RoadSight())
                aims = [frame.point(front.position) for front in sight.fronts]
                left = [aim for aim in aims if np.hypot(*(stood - aim).T).min() >= PASSED_M]
                x, y = frame.point(self._seen[pano_id].position)
                far = [hypot(aim[0] - x, aim[1] - y) for aim in left]
                promise = (UNKNOWN + sum(exp(-one / FADES_M) for one in far)) * lasting
                nearest = min(far, default=None)
                start = first or link
                ways.append(Prospect(pano_id, link, start, metres, promise, len(far), nearest, cost, sight))
        return sorted(ways, key=lambda way: (-way.worth, way.cost, way.link.heading))

    def _reach(self, start: str) -> dict[str, tuple[float, Link | None]]:
        """Return for each visited panorama the metres to it and the first link, `None` for the start."""
        best: dict[str, tuple[float, Link | None]] = {start: (0.0, None)}
        queue: list[tuple[float, str]] = [(0.0, start)]
        while queue:
            metres, pano_id = heapq.heappop(queue)
            if metres > best[pano_id][0]:
                continue
            for link in self._links[pano_id]:
                there = metres + link.distance
                if link.pano_id in self._seen and there < best.get(link.pano_id, (np.inf, None))[0]:
                    best[link.pano_id] = (there, best[pano_id][1] or link)
                    heapq.heappush(queue, (there, link.pano_id))
        return best
