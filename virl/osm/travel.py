"""Which mapped ways each mode of travel may use, and in which direction.

Left out: turn restrictions, barriers such as bollards, and rules that hold only at some hours
(`*:conditional`).
"""

from collections.abc import Callable, Mapping

from virl.osm.extract import Tags
from virl.osm.ways import ROADS, is_walk_network
from virl.platform.city.maps import TravelMode

Directions = tuple[bool, bool]
"""Two flags: a way may be used along its line, and against it."""

NEITHER, BOTH = (False, False), (True, True)

_MOTORWAYS = frozenset({"motorway", "motorway_link"})
_DRIVEN = ROADS | _MOTORWAYS
_CYCLED = ROADS | {"cycleway", "track", "path"}
_CYCLED_IF_ALLOWED = frozenset({"footway", "pedestrian", "bridleway", "busway"})
_YARDS = frozenset({"driveway", "parking_aisle", "emergency_access", "drive-through"})
"""Values of `service` of ways that cars do not take as short cuts."""

_ALLOWED = frozenset({"yes", "designated", "permissive", "official", "destination", "customers"})
_CLOSED_TO_BICYCLES = frozenset({"no", "private", "dismount", "use_sidepath", "forestry", "agricultural"})
_CLOSED_TO_CARS = frozenset(
    {"no", "private", "agricultural", "forestry", "delivery", "permit", "emergency", "military"}
    | {"bus", "psv", "taxi"}
)
_YES, _BACK = frozenset({"yes", "true", "1"}), frozenset({"-1", "reverse"})


def walking(tags: Tags) -> Directions:
    """Return the directions in which people may walk a way.

    Roads whose pavements are mapped as ways of their own are left to their pavements. Squares mapped as areas
    are walked around.
    """
    if tags.get("area") == "yes":
        is_square = tags.get("highway") in {"pedestrian", "footway"}
        tags = {key: value for key, value in tags.items() if key != "area"} if is_square else tags
    if tags.get("highway") == "cycleway" and tags.get("foot") in _ALLOWED:
        return BOTH
    return BOTH if is_walk_network(tags) else NEITHER


def cycling(tags: Tags) -> Directions:
    """Return the directions in which bicycles may ride a way; none on steps."""
    highway, bicycle = tags.get("highway"), tags.get("bicycle")
    if highway is None or tags.get("area") == "yes" or highway in _MOTORWAYS or highway == "steps":
        return NEITHER
    if bicycle in _CLOSED_TO_BICYCLES or (tags.get("motorroad") == "yes" and bicycle is None):
        return NEITHER
    if bicycle not in _ALLOWED:
        closed = _first(tags, "vehicle", "access") in _CLOSED_TO_BICYCLES
        if closed or highway not in _CYCLED or tags.get("service") in {"private", "emergency_access"}:
            return NEITHER
    elif highway not in _CYCLED | _CYCLED_IF_ALLOWED:
        return NEITHER
    return BOTH if _may_cycle_against(tags) else _one_way(tags, "oneway:bicycle", "oneway")


def driving(tags: Tags) -> Directions:
    """Return the directions in which a private car may drive a way."""
    highway = tags.get("highway")
    if highway not in _DRIVEN or tags.get("area") == "yes" or tags.get("service") in _YARDS:
        return NEITHER
    if _first(tags, "motorcar", "motor_vehicle", "vehicle", "access") in _CLOSED_TO_CARS:
        return NEITHER
    return _one_way(tags, "oneway:motor_vehicle", "oneway")


DIRECTIONS: Mapping[TravelMode, Callable[[Tags], Directions]] = {
    "walking": walking,
    "cycling": cycling,
    "driving": driving,
}
"""Function from a way's tags to its directions, by mode."""


def _first(tags: Tags, *keys: str) -> str | None:
    """Return the value of the first of these keys that a way has; `None` without any."""
    return next((tags[key] for key in keys if key in tags), None)


def _one_way(tags: Tags, *keys: str) -> Directions:
    """Return the directions by the first of these keys, or by kind of way."""
    said = _first(tags, *keys)
    if said in _BACK:
        return False, True
    implied = tags.get("junction") in {"roundabout", "circular"} or tags.get("highway") in _MOTORWAYS
    return (True, False) if said in _YES or (said is None and implied) else BOTH


def _may_cycle_against(tags: Tags) -> bool:
    """Return whether bicycles may ride against a one-way street."""
    if tags.get("oneway:bicycle") == "no":
        return True
    sides = ("cycleway", "cycleway:left", "cycleway:right", "cycleway:both")
    return any(
        tags.get(side, "").startswith("opposite") or tags.get(f"{side}:oneway") in {"no", "-1"}
        for side in sides
    )
