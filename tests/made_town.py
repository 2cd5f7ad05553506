"""A town drawn by hand: straight streets from west to east, a front every ten metres, one park."""

import numpy as np
from shapely import Polygon, box

from virl.geo.globe import LatLng, LocalFrame
from virl.towns.plan.town_plan import Frontage, Panoramas, Street, StreetPlan

STREET_GAP_M = 90.0
FRONT_M = 10.0
SETBACK_M = 7.0
PARK: Polygon = box(-60.0, 97.0, 60.0, 173.0)


def made_town(streets: int = 14, fronts: int = 48) -> StreetPlan:
    """A town of so many streets with so many fronts on each side; busiest in the middle."""
    names = [f"{stem} Street" for stem in ("Harbor", "Mill", "Elm", "Quay", "Oak", "Fern", "Hill")]
    ways = [
        Street(index, names[index % len(names)], _line(_y(index, streets), fronts), 0, 1, 7.0, 3.0)
        for index in range(streets)
    ]
    found: list[Frontage] = []
    for way in ways:
        for side in (1, -1):
            for step in range(fronts):
                found.append(_front(len(found), way, side, step, fronts))
    nothing = Panoramas(np.zeros((0, 2)), *(np.zeros(0, dtype=np.int64) for _ in range(3)))
    return StreetPlan(
        frame=LocalFrame(LatLng(12.5, -38.25)),
        streets=tuple(ways),
        junctions=np.zeros((0, 2)),
        panoramas=nothing,
        parks=(PARK,),
        frontages=tuple(found),
    )


def _y(index: int, streets: int) -> float:
    return (index - streets // 2) * STREET_GAP_M


def _line(y: float, fronts: int) -> np.ndarray:
    half = fronts * FRONT_M / 2
    return np.array([(-half, y), (half, y)])


def _front(number: int, way: Street, side: int, step: int, fronts: int) -> Frontage:
    west, y = way.line[0, 0] + step * FRONT_M, way.line[0, 1] + side * SETBACK_M
    ends = (float(west), float(y)), (float(west + FRONT_M), float(y))
    left, right = ends if side > 0 else ends[::-1]
    reach = (fronts * FRONT_M / 2) ** 2
    busy = float(np.exp(-(west**2 + y**2) / reach)) * (1.0 if way.id % 3 == 0 else 0.5)
    garden = number % 37 == 5
    return Frontage(number, None if garden else number, way.id, left, right, 2 * step + (side > 0), busy)
