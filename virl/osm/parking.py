"""Parked cars from a seed, along streets where cars may park or usually do."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import shapely
from numpy.random import Generator
from shapely import LineString

from virl.geo.globe import Floats, normalize_heading
from virl.osm.extract import Tags
from virl.osm.spots import Spots
from virl.towns.plan.town_plan import Crossing, Furniture, Street

Side = Literal["left", "right"]
Manner = Literal["parallel", "diagonal", "perpendicular"]

# All chosen.
MOST = 3_000
"""Most parked cars of a town."""
TAKEN = {True: 0.6, False: 0.3}
"""Share of places with a car, where parking is mapped and where it is only usual."""
USUAL = frozenset({"residential", "unclassified", "living_street", "tertiary"})
"""Values of `highway` along which cars park unless the map says otherwise."""
USUAL_ROAD_M = 5.5
"""Metres of carriageway below which cars park only where it is mapped."""
STEP_M: Mapping[Manner, float] = {"parallel": 6.2, "diagonal": 3.4, "perpendicular": 2.7}
"""Metres along the kerb for each car, by manner."""
TURN_DEG: Mapping[Manner, float] = {"parallel": 0.0, "diagonal": 45.0, "perpendicular": 90.0}
"""Degrees between the car and the street, by manner."""
HALF_M: Mapping[Manner, float] = {"parallel": 0.95, "diagonal": 2.2, "perpendicular": 2.4}
"""Half of the metres that a car takes across the street, by manner."""
FREE_LANE_M = 1.3
"""Metres from the middle of the carriageway to a car that stay free."""
WALK_M = 1.2
"""Metres of the pavement that stay free."""
FROM_END_M, FROM_ZEBRA_M = 9.0, 7.5
OFF_THING_M, OFF_STOP_M, OFF_HOUSE_M, OFF_SIGHT_M, OFF_DOOR_M, OFF_ROAD_M = 2.8, 12.0, 1.4, 1.6, 3.2, 2.0
OFF_EYE_M = 3.4
"""Metres from a panorama that stay free: nearer, a car fills its view."""

FORBIDDEN = frozenset(
    {"no", "no_parking", "no_stopping", "none", "fire_lane", "separate", "drawn_separately"}
)
MANNERS: Mapping[str, Manner] = {
    "parallel": "parallel", "inline": "parallel", "marked": "parallel", "yes": "parallel", "lane": "parallel",
    "street_side": "parallel", "on_kerb": "parallel", "half_on_kerb": "parallel", "shoulder": "parallel",
    "diagonal": "diagonal", "perpendicular": "perpendicular", "orthogonal": "perpendicular",
}  # fmt: skip
"""Values of `parking:SIDE`, `parking:SIDE:orientation` and the older `parking:lane:SIDE`."""


def manner(tags: Tags, side: Side) -> tuple[Manner | None, bool]:
    """Return (manner of parking on a side, `None` for none; whether that is mapped)."""
    for where in (side, "both"):
        for key in (f"parking:{where}:orientation", f"parking:{where}", f"parking:lane:{where}"):
            value = tags.get(key, "")
            if value in FORBIDDEN:
                return None, True
            if value in MANNERS:
                return MANNERS[value], True
    return ("parallel" if tags.get("highway") in USUAL else None), False


def cars_of(
    streets: Sequence[Street],
    tags: Sequence[Tags],
    crossings: Sequence[Crossing],
    doors: Floats,
    stops: Floats,
    spots: Spots,
    seed: int,
) -> tuple[Furniture, ...]:
    """Return random parked cars that leave doors, crossings, junctions and signs free.

    Args:
        streets: of the town.
        tags: of the way of each street.
        crossings: zebras.
        doors: of shops and houses, metres, shape (n, 2).
        stops: of buses, metres, shape (n, 2).
        spots: what is taken.
        seed: any non-negative integer.
    """
    rng = np.random.default_rng([seed, 0xCA25])
    zebras: dict[int, list[float]] = {}
    for one in crossings:
        zebras.setdefault(one.street, []).append(one.along)
    rows = [
        row
        for number, (street, own) in enumerate(zip(streets, tags, strict=True))
        for side in ("right", "left")
        for row in _row(number, street, own, side, zebras.get(street.id, []), rng)
    ]
    if not rows:
        return ()
    found = np.array(rows, float)
    xy, street = found[:, :2], found[:, 3].astype(int)
    free = spots.off_streets(xy, OFF_ROAD_M, street)
    free &= spots.off_houses(xy, OFF_HOUSE_M) & spots.off_things(xy, OFF_THING_M)
    free &= spots.off_sights(xy, OFF_SIGHT_M, tall=False) & (spots.near_panoramas(xy) >= OFF_EYE_M)
    for points, margin in ((doors, OFF_DOOR_M), (stops, OFF_STOP_M)):
        if len(points):
            tree = shapely.STRtree(np.asarray(shapely.points(points)))
            free[tree.query(shapely.points(xy), predicate="dwithin", distance=margin)[0]] = False
    chosen = np.flatnonzero(free)
    if len(chosen) > MOST:
        chosen = np.sort(rng.choice(chosen, MOST, replace=False))
    looks = rng.integers(0, 997, len(chosen))
    return tuple(
        Furniture(
            f"seeded-car-{number + 1:05d}", "parked car", round(float(found[at, 0]), 2),
            round(float(found[at, 1]), 2), normalize_heading(float(found[at, 2])), int(look), is_mapped=False,
        )
        for number, (at, look) in enumerate(zip(chosen.tolist(), looks.tolist(), strict=True))
    )  # fmt: skip


def _row(
    number: int, street: Street, tags: Tags, side: Side, zebras: Sequence[float], rng: Generator
) -> list[tuple[float, float, float, int]]:
    """Return (x, y, heading in degrees, street) of the cars along one side of a street."""
    how, is_mapped = manner(tags, side)
    if how is None or street.road <= 0 or (not is_mapped and street.road < USUAL_ROAD_M):
        return []
    if not is_mapped and side == "left" and tags.get("oneway") == "yes":
        return []
    half = HALF_M[how]
    aside = max(street.road / 2 - half, FREE_LANE_M + half)
    if aside + half > street.road / 2 + max(street.pavement - WALK_M, 0.0):
        return []
    line = LineString(street.line)
    step = STEP_M[how]
    along = np.arange(FROM_END_M, line.length - FROM_END_M, step)
    along = along[rng.random(len(along)) < TAKEN[is_mapped]]
    along = along[[all(abs(at - zebra) > FROM_ZEBRA_M for zebra in zebras) for at in along]]
    if not len(along):
        return []
    here = shapely.get_coordinates(shapely.line_interpolate_point(line, along))
    ahead = shapely.get_coordinates(shapely.line_interpolate_point(line, along + 0.5))
    way = (ahead - here) / np.maximum(np.linalg.norm(ahead - here, axis=1, keepdims=True), 1e-9)
    right = np.stack([way[:, 1], -way[:, 0]], axis=1)
    sign = 1.0 if side == "right" else -1.0
    xy = here + sign * aside * right
    turn = np.degrees(np.arctan2(way[:, 0], way[:, 1])) + (0.0 if side == "right" else 180.0) + TURN_DEG[how]
    return [
        (float(x), float(y), float(heading), number)
        for (x, y), heading in zip(xy, turn.tolist(), strict=True)
    ]
