"""Memory of the roads seen and not walked, and of what each promised."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, hypot
from types import MappingProxyType

import numpy as np

from virl.geo import LatLng, LocalFrame, destination, distance, distances, signed_turn
from virl.platform.perception.road_fronts import SeenFront, SeenRoad
from virl.platform.streetview import Link, Panorama, Pose

# Chosen in Helsinki and in four villages of Liechtenstein that no figure is reported of.
UNKNOWN = 0.15
"""Promise of a road down which nothing is seen, in fronts that stand where it begins. Each front seen around
where it leads, walked past or not, adds as much: shops stand where shops are."""
GREEN, USUAL_GREEN = 2.0, 0.35
"""Logarithm by which the promise of a road falls where all beside it is green, and the share that is usual:
the greener, the less is built 40 m ahead (r = -0.8 in Triesen and in Balzers)."""
AROUND_M = 80.0
"""Metres within which fronts count as around."""
AHEAD_M = 40.0
"""Metres down a road to where it is taken to lead."""
SAME_M = 8.0
"""Metres between two sightings within which they are taken for one front."""
FADES_M = 60.0
"""Metres in which the promise of a front falls to a third."""
START_M = 15.0
"""Metres added to each way."""
TURN_M = 4.0
"""Metres that a turn of 90 degrees counts as."""
PASSED_M = 22.0
"""Metres from a panorama visited within which a front was passed: its sign was read, it promises no more."""
DECLINED = 0.5
"""Share of its promise that a road keeps which was left for another."""

Glimpses = Mapping[tuple[str, str], SeenRoad]
"""Views down links, by the ids of the panoramas at their ends."""
NOTHING: Glimpses = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Prospect:
    """A road seen and not walked, and how to get there."""

    pano_id: str
    """The panorama that it leaves."""
    link: Link
    """Its first link."""
    first: Link
    """The link to take now to get there."""
    metres: float
    """To where it leaves."""
    promise: float
    """Fronts seen down it and not passed yet, the far ones counting less."""
    fronts: int
    """How many they are."""
    nearest: float | None
    """Metres from where it leaves to the nearest of them; `None` without any."""
    green: float | None
    """Share of plants beside it, [0, 1]; `None` if nobody looked."""
    cost: float
    """Metres to get there and to begin it, turns included."""

    @property
    def worth(self) -> float:
        """The promise for each metre of walking."""
        return self.promise / self.cost


class Prospects:
    """Roads seen from the panoramas visited, those not walked, and the fronts seen down each."""

    def __init__(self) -> None:
        self._seen: dict[str, Panorama] = {}
        self._links: dict[str, tuple[Link, ...]] = {}
        self._roads: dict[tuple[str, str], SeenRoad] = {}
        self._sighted: list[LatLng] = []
        self._declined: set[str] = set()
        self._visits: Counter[str] = Counter()

    def visit(self, panorama: Panorama, links: Sequence[Link], look: Callable[[Link], SeenRoad]) -> None:
        """Remember a panorama, and look down the roads that leave it for where the walker was not.

        Args:
            panorama: where the walker stands.
            links: the ways that leave it.
            look: says what is seen down a link.
        """
        self._seen[panorama.id] = panorama
        self._visits[panorama.id] += 1
        self._links[panorama.id] = tuple(links)
        for link in self.fresh(panorama.id):
            if (panorama.id, link.pano_id) not in self._roads:
                self._roads[panorama.id, link.pano_id] = look(link)
                self._sight(self._roads[panorama.id, link.pano_id].fronts)

    def _sight(self, fronts: Iterable[SeenFront]) -> None:
        """Remember the fronts that were not sighted before."""
        for front in fronts:
            if all(distance(front.position, one) > SAME_M for one in self._sighted):
                self._sighted.append(front.position)

    def leave(self, source: str, target: str) -> None:
        """Remember where the walker goes: one who goes back declines the roads that lead on."""
        if target in self._seen and self.fresh(source):
            self._declined.add(source)

    def is_new(self, pano_id: str) -> bool:
        """Return whether the walker came to a panorama for the first time."""
        return self._visits[pano_id] == 1

    def fresh(self, pano_id: str) -> tuple[Link, ...]:
        """Return the links of a panorama that lead where the walker never was."""
        return tuple(link for link in self._links[pano_id] if link.pano_id not in self._seen)

    def ways(self, pose: Pose, glimpsed: Glimpses = NOTHING) -> list[Prospect]:
        """Return the roads not walked that can be reached over those walked, the most worth first.

        Args:
            pose: where the walker stands.
            glimpsed: roads as they are seen now; not remembered.
        """
        known = self._roads if not glimpsed else {**self._roads, **glimpsed}
        frame = LocalFrame(self._seen[pose.pano_id].position)
        stood = np.array([frame.point(one.position) for one in self._seen.values()])
        ways = []
        for pano_id, (metres, first) in self._reached(pose.pano_id).items():
            here = pano_id == pose.pano_id
            for link in self.fresh(pano_id):
                turn = abs(signed_turn(pose.heading, link.heading)) / 90 * TURN_M if here else 0.0
                cost = START_M + metres + link.distance + turn
                lasting = DECLINED if pano_id in self._declined and not here else 1.0
                road = known.get((pano_id, link.pano_id), SeenRoad())
                aims = [frame.point(front.position) for front in road.fronts]
                left = [aim for aim in aims if np.hypot(*(stood - aim).T).min() >= PASSED_M]
                x, y = frame.point(self._seen[pano_id].position)
                far = [hypot(aim[0] - x, aim[1] - y) for aim in left]
                seen = sum(exp(-one / FADES_M) for one in far)
                promise = (self._expected(pano_id, link, road) + seen) * lasting
                nearest = min(far, default=None)
                ways.append(
                    Prospect(
                        pano_id, link, first or link, metres, promise, len(far), nearest, road.green, cost
                    )
                )
        return sorted(ways, key=lambda way: (-way.worth, way.cost, way.link.heading))

    def _expected(self, pano_id: str, link: Link, road: SeenRoad) -> float:
        """Return the fronts to expect down a road beside those seen, as `UNKNOWN`."""
        leads = destination(self._seen[pano_id].position, link.heading, AHEAD_M)
        lat, lng = zip(*self._sighted, strict=True) if self._sighted else ((), ())
        around = float(np.exp(-((distances(lat, lng, *leads) / AROUND_M) ** 2)).sum())
        green = USUAL_GREEN if road.green is None else road.green
        return UNKNOWN * (1 + around) * exp(GREEN * (USUAL_GREEN - green))

    def _reached(self, start: str) -> dict[str, tuple[float, Link | None]]:
        """Return the panoramas visited, each with the metres to it and the first link of the way."""
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
