"""The ways of an extract: who may use each, which have panoramas, and the network that they make.

Left out of the modes of travel: turn restrictions, barriers such as bollards, and rules that hold only at
some hours (`*:conditional`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from virl.geo.flat import line_strings
from virl.geo.globe import Floats, Ints
from virl.osm.extract import OsmExtract, OsmObjects, Shapes, Tags
from virl.osm.tags import is_at_ground
from virl.platform.city.maps import TravelMode

_NOT_WALKED = re.compile(
    "abandoned|bus_guideway|construction|cycleway|motor|no|planned|platform|proposed|raceway|razed|"
    "rest_area|services"
)
"""Pattern searched for in values of `highway`; a match closes the way to people on foot, as in osmnx."""
_FOOT_ALLOWED = frozenset({"yes", "designated", "permissive"})
"""Values of `foot` that let people pass whatever `access` says."""
_SIDEWALK_KEYS = ("sidewalk", "sidewalk:both", "sidewalk:left", "sidewalk:right")
"""Keys of tags that tell on which sides of a road a pavement is."""

ROADS = frozenset(
    {
        *("trunk", "primary", "secondary", "tertiary", "unclassified", "residential", "living_street"),
        *("road", "trunk_link", "primary_link", "secondary_link", "tertiary_link", "service"),
    }
)
"""Values of the tag `highway` for roads open to cars and people on foot."""
PATHS = frozenset({"pedestrian", "footway", "path", "steps", "track", "bridleway"})
"""Values of the tag `highway` for ways without a carriageway on which panoramas stand."""
_PRIVATE_LANES = frozenset(
    {"driveway", "parking_aisle", "parking", "emergency_access", "private", "drive-through"}
)
"""Values of the tag `service` for lanes without panoramas."""
_BESIDE_ROADS = frozenset({"sidewalk", "crossing", "traffic_island", "access_aisle", "link"})
"""Values of the tag `footway` for ways without panoramas, since the road beside has them."""


def is_walkable(tags: Tags) -> bool:
    """Return whether a way is open to people on foot: osmnx 2.1's `walk` network without its sidewalk rule.

    osmnx drops roads whose pavements are mapped as ways of their own (`sidewalk=separate`), see
    `is_walk_network`. Unlike osmnx, `foot` overrules `access`, and `access=no` closes a way too.
    """
    highway, foot, access = tags.get("highway"), tags.get("foot", ""), tags.get("access", "")
    is_closed = "no" in foot or "private" in foot or access == "no" or "private" in access
    return (
        highway is not None
        and tags.get("area") != "yes"
        # searched for and not matched, as osmnx does: `motor` is found in motorway and motorway_link
        and not _NOT_WALKED.search(highway)
        and (foot in _FOOT_ALLOWED or not is_closed)
        and "private" not in tags.get("service", "")
    )


def is_walk_network(tags: Tags) -> bool:
    """Return whether a way is in osmnx's `walk` network: walkable, with no pavement mapped as its own way."""
    return is_walkable(tags) and not any("separate" in tags.get(key, "") for key in _SIDEWALK_KEYS)


def is_pavement_unknown(tags: Tags) -> bool:
    """Return whether no tag tells if a road has pavements."""
    return not any(key in tags for key in _SIDEWALK_KEYS)


def cycle_lanes(tags: Tags) -> tuple[bool, bool]:
    """Return whether a cycle lane is painted along the right-hand and the left-hand side of a road.

    One for both sides, `cycleway=lane`, means those on which cars drive: of a one-way road, one.
    """
    both = "lane" in {tags.get("cycleway:both"), tags.get("cycleway")}
    forth, back = BOTH if "cycleway:both" in tags else _one_way(tags, "oneway")
    right, left = (tags.get(f"cycleway:{side}") == "lane" for side in ("right", "left"))
    return right or (both and forth), left or (both and back)


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
    """Return whether a way runs in a tunnel, indoors, underground, or on another level than the ground."""
    if tags.get("tunnel", "no") not in {"no", "building_passage"} or tags.get("indoor", "no") != "no":
        return True
    return tags.get("layer", "").strip().startswith("-") or not is_at_ground(tags.get("level", ""))


def is_passage(tags: Tags) -> bool:
    """Return whether a way leads through a house at the ground, or below a roof or overhang."""
    through = tags.get("tunnel") == "building_passage" or tags.get("covered", "no") != "no"
    return "highway" in tags and through


def is_bridge(tags: Tags) -> bool:
    """Return whether a way runs over a bridge."""
    return tags.get("bridge", "no") != "no"


WayFilter = Callable[[Tags], bool]
"""A function from the tags of a way to True if the way is kept."""


Directions = tuple[bool, bool]
"""(True if a way may be used along its line, True if against it)."""

NEITHER, BOTH = (False, False), (True, True)
"""`Directions` of a way that is closed, and of one that is open both ways."""

_MOTORWAYS = frozenset({"motorway", "motorway_link"})
"""Values of `highway` for motorways."""
_DRIVEN = ROADS | _MOTORWAYS
"""Values of `highway` for ways that cars may use."""
_CYCLED = ROADS | {"cycleway", "track", "path"}
"""Values of `highway` for ways that bicycles may use unless another tag forbids it."""
_CYCLED_IF_ALLOWED = frozenset({"footway", "pedestrian", "bridleway", "busway"})
"""Values of `highway` for ways that bicycles may use only where a tag allows it."""
_YARDS = frozenset({"driveway", "parking_aisle", "emergency_access", "drive-through"})
"""Values of the tag `service` for ways that cars do not take as short cuts."""

_ALLOWED = frozenset({"yes", "designated", "permissive", "official", "destination", "customers"})
"""Values of `bicycle` and `foot` that open a way which is closed by its kind."""
_CLOSED_TO_BICYCLES = frozenset({"no", "private", "dismount", "use_sidepath", "forestry", "agricultural"})
"""Values of `bicycle`, `vehicle` and `access` for ways that bicycles may not use."""
_CLOSED_TO_CARS = frozenset(
    {"no", "private", "agricultural", "forestry", "delivery", "permit", "emergency", "military"}
    | {"bus", "psv", "taxi"}
)
"""Values of `motorcar`, `motor_vehicle`, `vehicle` and `access` for ways that private cars may not use."""
_YES, _BACK = frozenset({"yes", "true", "1"}), frozenset({"-1", "reverse"})
"""Values of `oneway` for a way that is open along its line only, and against its line only."""


def walking(tags: Tags) -> Directions:
    """Return `BOTH` if people may walk a way or the outline of a square, else `NEITHER`."""
    if tags.get("area") == "yes":
        is_square = tags.get("highway") in {"pedestrian", "footway"}
        # Its outline is a way like others; `is_walkable` refuses areas, whose middle has no nodes.
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
"""Function from a way's tags to the directions it may be used in, by mode of travel."""


def _first(tags: Tags, *keys: str) -> str | None:
    """Return the value of the first present one of some tag keys; `None` if all are missing."""
    return next((tags[key] for key in keys if key in tags), None)


def _one_way(tags: Tags, *keys: str) -> Directions:
    """Return a way's directions by the first of the tag keys it has, else by kind, as on a roundabout."""
    said = _first(tags, *keys)
    if said in _BACK:
        return False, True
    # Mappers leave `oneway` out where the kind of way implies it.
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


@dataclass(frozen=True)
class WayNetwork:
    """Stretches of way between junctions and dead ends: n stretches, k junctions."""

    junctions: Floats
    """Metres east and north of each junction, shape (k, 2)."""
    lines: tuple[Floats, ...]
    """Points in metres of each stretch from `start` to `end`, shape (m, 2) each."""
    start: Ints
    """Index of the junction where each stretch starts, shape (n,)."""
    end: Ints
    """Index of the junction where each stretch ends, shape (n,)."""
    way: Ints
    """Index of the extract's line that each stretch belongs to, shape (n,)."""

    @cached_property
    def length(self) -> Floats:
        """Length of each stretch in metres, shape (n,)."""
        return np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in self.lines])

    @cached_property
    def shapes(self) -> Shapes:
        """Each stretch as a line in metres, shape (n,)."""
        return line_strings(self.lines)


def way_network(extract: OsmExtract, kept: WayFilter) -> WayNetwork:
    """Return the network of an extract's ways, inside its outline, whose tags the filter `kept` accepts."""
    ways = [number for number, tags in enumerate(extract.lines.tags) if kept(tags)]
    points, nodes, runs = _runs(extract, ways)
    uses = np.bincount(nodes, minlength=len(points))
    for _, run in runs:  # an end is a junction, and so is a node that a way passes twice
        uses[[run[0], run[-1]]] += 1
    lines, start, end, way = [], [], [], []
    for number, run in runs:
        for first, last in pairwise(np.flatnonzero(uses[run] > 1)):
            piece = run[first : last + 1]
            lines.append(points[piece])
            start.append(piece[0])
            end.append(piece[-1])
            way.append(number)
    ends, index = np.unique(np.array([start, end], np.int64), return_inverse=True)
    index = index.reshape(2, -1)
    return WayNetwork(points[ends], tuple(lines), index[0], index[1], np.array(way, np.int64))


def only_ways(extract: OsmExtract) -> OsmExtract:
    """Return an extract reduced to its lines with the tag `highway`, all that a way network needs."""
    ways = [number for number, tags in enumerate(extract.lines.tags) if "highway" in tags]
    lines = extract.lines
    nothing = OsmObjects((), (), np.empty(0, object))
    return replace(
        extract,
        points=nothing,
        lines=OsmObjects(
            tuple(lines.ids[way] for way in ways), tuple(lines.tags[way] for way in ways), lines.shapes[ways]
        ),
        line_nodes=tuple(extract.line_nodes[way] for way in ways),
        areas=nothing,
    )


def largest_part(network: WayNetwork) -> WayNetwork:
    """Return the connected part of a network with the greatest length in metres."""
    count = len(network.junctions)
    links = coo_array((np.ones(len(network.lines)), (network.start, network.end)), shape=(count, count))
    _, part = connected_components(links, directed=False)
    if not len(network.lines):
        return network
    metres = np.bincount(part[network.start], weights=network.length)
    return select_stretches(network, np.flatnonzero(part[network.start] == metres.argmax()))


def select_stretches(network: WayNetwork, stretches: Sequence[int] | Ints) -> WayNetwork:
    """Return the network of those stretches of another one that have these indices, with their junctions."""
    stretches = np.asarray(stretches, np.int64)
    ends = np.stack([network.start[stretches], network.end[stretches]])
    used, index = np.unique(ends, return_inverse=True)
    index = index.reshape(2, -1)
    lines = tuple(network.lines[number] for number in stretches)
    return WayNetwork(network.junctions[used], lines, index[0], index[1], network.way[stretches])


def _runs(extract: OsmExtract, ways: Sequence[int]) -> tuple[Floats, Ints, list[tuple[int, Ints]]]:
    """Return (node positions in metres (k, 2), nodes of all runs joined, (way, nodes) of runs inside).

    A run is consecutive nodes of a way; ways and nodes are given by index.
    """
    if not ways:
        return np.empty((0, 2)), np.empty(0, np.int64), []
    corners, owner = shapely.get_coordinates(extract.lines.shapes[ways], return_index=True)
    refs = np.concatenate([np.array(extract.line_nodes[way], np.int64) for way in ways])
    _, first, nodes = np.unique(refs, return_index=True, return_inverse=True)
    points = corners[first]
    outline = extract.outline
    shapely.prepare(outline)
    inside = shapely.intersects_xy(outline, corners[:, 0], corners[:, 1])
    breaks = (owner[1:] != owner[:-1]) | (inside[1:] != inside[:-1])
    bounds = np.concatenate([[0], np.flatnonzero(breaks) + 1, [len(owner)]])
    runs = []
    for low, high in pairwise(bounds):
        if inside[low] and high - low > 1:
            runs.append((ways[owner[low]], nodes[low:high]))
    used = np.concatenate([run for _, run in runs]) if runs else np.empty(0, np.int64)
    return points, used, runs
