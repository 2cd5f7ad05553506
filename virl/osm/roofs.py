"""The roof of each house: its shape and how high it rises over the walls."""

from collections.abc import Mapping
from math import radians, tan

import shapely

from virl.osm.extract import Tags
from virl.osm.measures import metres, number
from virl.towns.plan.town_plan import RoofShape

SHAPES: Mapping[str, RoofShape] = {
    "flat": "flat", "terrace": "flat", "sawtooth": "flat", "skillion": "flat", "lean_to": "flat",
    "gabled": "gabled", "pitched": "gabled", "saltbox": "gabled", "gambrel": "gabled", "round": "gabled",
    "barrel": "gabled", "quadruple_saltbox": "gabled", "double_saltbox": "gabled",
    "hipped": "hipped", "half-hipped": "hipped", "half_hipped": "hipped", "side_hipped": "hipped",
    "hipped-and-gabled": "hipped", "gabled_row": "hipped", "bellcast_gable": "gabled",
    "mansard": "mansard", "pyramidal": "pyramidal", "cone": "pyramidal", "conical": "pyramidal",
    "spire": "pyramidal", "dome": "dome", "onion": "dome",
}  # fmt: skip
"""Drawn shape for each value of `roof:shape`; chosen."""

PITCHED = frozenset(
    {
        "barn", "bungalow", "cabin", "chapel", "church", "cowshed", "detached", "farm", "farm_auxiliary",
        "house", "hut", "semidetached_house", "stable", "terrace",
    }
)  # fmt: skip
"""Kinds of house with a gabled roof, where its shape is not mapped."""
SMALL_M2 = (45.0, 420.0)
"""Least and largest square metres of a family house, which has a gabled roof; chosen."""
LOW_M = 11.0
"""Largest height in metres of such a house."""
PITCH_DEG: Mapping[RoofShape, float] = {"gabled": 35.0, "hipped": 35.0, "pyramidal": 45.0, "dome": 45.0}
"""Usual pitch in degrees by shape; chosen."""
ROOF_STOREY_M = 2.6
"""Metres of each of `roof:levels`; chosen."""
MANSARD_M = 2.6
HIGHEST_M = 120.0
GENTLEST_M = 1.0
USUALLY_M = 7.0
"""Largest rise of an untagged roof in metres; chosen."""


def roof_shape(tags: Tags, footprint: shapely.Geometry, height: float, *, is_part: bool = False) -> RoofShape:
    """Return the shape of a roof; empty where neither tags nor kind tell it.

    Args:
        tags: of the house.
        footprint: of it, in metres.
        height: of its walls, in metres.
        is_part: whether it is mapped as a part of a house: such a part is flat unless tagged.
    """
    tagged = tags.get("roof:shape", "")
    if tagged in SHAPES:
        return SHAPES[tagged]
    if is_part:
        return "flat"
    kind = tags.get("building", "yes")
    if kind in PITCHED:
        return "gabled"
    small = SMALL_M2[0] <= float(shapely.area(footprint)) <= SMALL_M2[1] and height <= LOW_M
    return "gabled" if kind in {"yes", "residential"} and small else ""


def roof_height(tags: Tags, shape: RoofShape, footprint: shapely.Geometry) -> float:
    """Return the metres from the top of the walls to that of the roof: tagged or usual.

    Args:
        tags: of the building.
        shape: of the roof.
        footprint: metres.
    """
    if shape in {"", "flat"}:
        return 0.0
    tagged = metres(tags.get("roof:height"))
    if tagged is None and (levels := number(tags.get("roof:levels"))):
        tagged = ROOF_STOREY_M * levels
    if tagged is not None and GENTLEST_M <= tagged <= HIGHEST_M:
        return tagged
    if shape == "mansard":
        return MANSARD_M
    return min(max(GENTLEST_M, half_width(footprint) * tan(radians(PITCH_DEG[shape]))), USUALLY_M)


def half_width(footprint: shapely.Geometry) -> float:
    """Return half of the shorter side of the smallest rectangle around a footprint, in metres."""
    corners = shapely.get_coordinates(shapely.oriented_envelope(footprint))
    if len(corners) < 4:
        return 0.0
    first, second = (float(((corners[n + 1] - corners[n]) ** 2).sum() ** 0.5) for n in (0, 1))
    return min(first, second) / 2
