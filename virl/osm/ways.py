"""Which ways a person may walk, and which of them a street-view camera walked."""

import re
from collections.abc import Callable

from virl.osm.extract import Tags
from virl.osm.measures import is_at_ground

_NOT_WALKED = re.compile(
    "abandoned|bus_guideway|construction|cycleway|motor|no|planned|platform|proposed|raceway|razed|"
    "rest_area|services"
)
_FOOT_ALLOWED = frozenset({"yes", "designated", "permissive"})
_SIDEWALK_KEYS = ("sidewalk", "sidewalk:both", "sidewalk:left", "sidewalk:right")

ROADS = frozenset(
    {
        "trunk",
        "primary",
        "secondary",
        "tertiary",
        "unclassified",
        "residential",
        "living_street",
        "road",
        "trunk_link",
        "primary_link",
        "secondary_link",
        "tertiary_link",
        "service",
    }
)
"""Values of `highway` of roads."""
PATHS = frozenset({"pedestrian", "footway", "path", "steps", "track", "bridleway"})
"""Values of `highway` of paths."""
_PRIVATE_LANES = frozenset(
    {"driveway", "parking_aisle", "parking", "emergency_access", "private", "drive-through"}
)
_BESIDE_ROADS = frozenset({"sidewalk", "crossing", "traffic_island", "access_aisle", "link"})


def is_walkable(tags: Tags) -> bool:
    """Return whether a way is open to people on foot: osmnx 2.1's `walk` network without its sidewalk rule.

    osmnx drops roads whose pavements are mapped as ways of their own (`sidewalk=separate`), see
    `is_walk_network`. Unlike osmnx, `foot` overrules `access`, and `access=no` closes a way too.
    """
    highway = tags.get("highway")
    return (
        highway is not None
        and tags.get("area") != "yes"
        and not _NOT_WALKED.search(highway)
        and _admits_people(tags)
        and "private" not in tags.get("service", "")
    )


def _admits_people(tags: Tags) -> bool:
    """Return whether tags of access let people on foot pass."""
    foot, access = tags.get("foot", ""), tags.get("access", "")
    if foot in _FOOT_ALLOWED:
        return True
    return "no" not in foot and "private" not in foot and access != "no" and "private" not in access


def is_walk_network(tags: Tags) -> bool:
    """Return whether a way belongs to osmnx's `walk` network.

    A road whose pavements are ways of their own does not: people walk on these.
    """
    return is_walkable(tags) and not any("separate" in tags.get(key, "") for key in _SIDEWALK_KEYS)


def has_panoramas(tags: Tags) -> bool:
    """Return whether panoramas stand on a way, such as a street, and not a sidewalk or a tunnel.

    Sidewalks and crossings are left out, since the street beside them has panoramas; so are driveways and
    aisles of car parks, and whatever lies in a tunnel, a house or underground.
    """
    if not is_walkable(tags) or is_hidden(tags):
        return False
    highway = tags["highway"]
    if highway in ROADS:
        return tags.get("service") not in _PRIVATE_LANES
    return highway in PATHS and tags.get("footway", tags.get("path")) not in _BESIDE_ROADS


def is_hidden(tags: Tags) -> bool:
    """Return whether a way runs in a tunnel, indoors, or on another level than the ground."""
    if tags.get("tunnel", "no") not in {"no", "building_passage"} or tags.get("indoor", "no") != "no":
        return True
    return tags.get("layer", "").strip().startswith("-") or not is_at_ground(tags.get("level", ""))


def is_passage(tags: Tags) -> bool:
    """Return whether a way leads through houses at the ground, or below overhangs."""
    through = tags.get("tunnel") == "building_passage" or tags.get("covered", "no") != "no"
    return "highway" in tags and through


def is_bridge(tags: Tags) -> bool:
    """Return whether a way runs over a bridge."""
    return tags.get("bridge", "no") != "no"


WayFilter = Callable[[Tags], bool]
"""A function from a way's tags to whether it is kept."""
