"""What a walker has seen of a city: where it was, and which ways it has not taken yet."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from virl.geo import LatLng, destination, distances, signed_turn
from virl.platform.streetview import Link, Panorama, Pose

AHEAD_M, KNOWN_M = 100.0, 150.0
"""Metres down a way to where it is taken to lead, and from there to the junctions that were visited near by.
Chosen in Virlham."""
ELSEWHERE_DEG = 90.0
"""Counts as the turn towards a way that leaves another panorama. Chosen: as much as a turn to the side."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """A way that was seen and not taken yet, and how to get to it."""

    pano_id: str
    """The panorama that it leaves."""
    link: Link
    """Its first link."""
    first: Link
    """The link to take now, from where the walker stands, to get there."""
    junctions: int
    """How many junctions are passed before it, the one it leaves included."""
    metres: float
    """To where it leaves."""
    turn: float
    """Degrees that the walker turns to take it at once, [0, 180]; `ELSEWHERE_DEG` if it leaves elsewhere."""


class SeenMap:
    """A map of the panoramas visited, the links between them, and the ways that leave them.

    It knows what the walker saw and nothing else.
    """

    def __init__(self) -> None:
        self._seen: dict[str, Panorama] = {}
        self._visits: dict[str, int] = {}
        self._junctions: list[LatLng] = []

    def visit(self, panorama: Panorama) -> None:
        """Write down that the walker came to a panorama."""
        if panorama.is_crossing and panorama.id not in self._seen:
            self._junctions.append(panorama.position)
        self._seen[panorama.id] = panorama
        self._visits[panorama.id] = self._visits.get(panorama.id, 0) + 1

    def visits(self, pano_id: str) -> int:
        """How often the walker came to a panorama."""
        return self._visits.get(pano_id, 0)

    def known_ahead(self, way: Frontier) -> int:
        """How many junctions were visited near to where a way leads.

        Args:
            way: one of `frontiers`.
        """
        if not self._junctions:
            return 0
        there = destination(self._seen[way.pano_id].position, way.link.heading, AHEAD_M)
        lat, lng = zip(*self._junctions, strict=True)
        return int(np.count_nonzero(distances(lat, lng, *there) < KNOWN_M))

    @property
    def visited(self) -> Iterable[Panorama]:
        """The panoramas visited, in the order of the first visit."""
        return self._seen.values()

    def frontiers(self, pose: Pose, links: Iterable[Link]) -> list[Frontier]:
        """The ways not taken yet that can be reached over what was walked, the nearest first.

        Near means few junctions, then few metres.

        Args:
            pose: where the walker stands, and which way it faces; it has visited the panorama.
            links: those that it may take there.
        """
        here = tuple(links)
        best: dict[str, tuple[int, float]] = {pose.pano_id: (0, 0.0)}
        queue: list[tuple[int, float, str, Link | None]] = [(0, 0.0, pose.pano_id, None)]
        found: list[Frontier] = []
        while queue:
            junctions, metres, pano_id, first = heapq.heappop(queue)
            if (junctions, metres) > best[pano_id]:
                continue
            is_here = pano_id == pose.pano_id
            for link in here if is_here else self._seen[pano_id].links:
                start = first or link
                if link.pano_id not in self._seen:
                    turn = abs(signed_turn(pose.heading, link.heading)) if is_here else ELSEWHERE_DEG
                    found.append(Frontier(pano_id, link, start, junctions, metres, turn))
                    continue
                cost = (junctions + self._seen[link.pano_id].is_crossing, metres + link.distance)
                if link.pano_id not in best or cost < best[link.pano_id]:
                    best[link.pano_id] = cost
                    heapq.heappush(queue, (*cost, link.pano_id, start))
        return found
