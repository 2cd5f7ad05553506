"""Pieces of buildings: outlines, the parts that stand for them, and the shapes of their roofs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import radians, tan

import shapely
from shapely import Geometry

from virl.osm.extract import OsmExtract, Tags
from virl.osm.tags import metres, number
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
"""Shape of the drawn roof for each value of `roof:shape`; chosen."""

PITCHED = frozenset(
    {
        "barn", "bungalow", "cabin", "chapel", "church", "cowshed", "detached", "farm", "farm_auxiliary",
        "house", "hut", "semidetached_house", "stable", "terrace",
    }
)  # fmt: skip
"""Values of `building` for houses with a gabled roof, where its shape is not mapped."""
SMALL_M2 = (45.0, 420.0)
"""Least and largest ground area in square metres of a family house, which gets a gabled roof; chosen."""
LOW_M = 11.0
"""Largest height in metres of a family house, which gets a gabled roof; chosen."""
PITCH_DEG: Mapping[RoofShape, float] = {"gabled": 35.0, "hipped": 35.0, "pyramidal": 45.0, "dome": 45.0}
"""Usual pitch in degrees of each shape of roof; chosen."""
ROOF_STOREY_M = 2.6
"""Height in metres of each storey that the tag `roof:levels` counts; chosen."""
MANSARD_M = 2.6
"""Height in metres of a mansard roof, where not tagged."""
HIGHEST_ROOF_M = 120.0
"""Largest tagged height in metres of a roof that is believed."""
GENTLEST_M = 1.0
"""Least height in metres of a roof that is not flat."""
USUALLY_M = 7.0
"""Largest height in metres of a roof whose height is not tagged; chosen."""


def roof_shape(tags: Tags, footprint: shapely.Geometry, height: float, *, is_part: bool = False) -> RoofShape:
    """Return a roof's shape, such as "gabled", by tags, kind and size of the building; empty if unknown.

    Args:
        tags: of the building.
        footprint: of the building, metres.
        height: of its walls, metres.
        is_part: whether it is mapped as a part of a building: such a part is flat unless tagged.
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
    """Return the metres from the walls' top to the roof's: tagged or usual; 0 if flat or of unknown shape.

    Args:
        tags: of the building.
        shape: of the roof.
        footprint: of the building, metres.
    """
    if shape in {"", "flat"}:
        return 0.0
    tagged = metres(tags.get("roof:height"))
    if tagged is None and (levels := number(tags.get("roof:levels"))):
        tagged = ROOF_STOREY_M * levels
    if tagged is not None and GENTLEST_M <= tagged <= HIGHEST_ROOF_M:
        return tagged
    if shape == "mansard":
        return MANSARD_M
    return min(max(GENTLEST_M, half_width(footprint) * tan(radians(PITCH_DEG[shape]))), USUALLY_M)


def half_width(footprint: shapely.Geometry) -> float:
    """Return half of the shorter side, metres, of the smallest rectangle around a footprint; 0 for a line."""
    corners = shapely.get_coordinates(shapely.oriented_envelope(footprint))
    if len(corners) < 4:
        return 0.0
    first, second = (float(((corners[n + 1] - corners[n]) ** 2).sum() ** 0.5) for n in (0, 1))
    return min(first, second) / 2


STOREY_M = 3.2
"""Height of a storey in metres, where only the number of levels is tagged."""
GROUND_FLOOR_M = 4.0
"""Height of a ground floor in metres, where only the number of levels is tagged."""
HIGHEST_M = 850.0
"""Largest believed height in metres: the tallest building has 828."""
HEAD_M = 2.2
"""Height in metres of a building part's foot above the ground up to which it is drawn as 0; chosen."""
THINNEST_M = 0.3
"""Least height in metres of a part that is drawn."""
WHOLLY = 0.9
"""Least share of a building's outline, [0, 1], that its parts cover for them alone to be drawn."""
SLIVER_M = 0.3
"""Half the width in metres up to which a strip of an outline that no part covers is not drawn."""
ROOF_KINDS = frozenset({"roof", "carport"})
"""Values of `building` for roofs on posts."""
ROOF_M, SLAB_M = 4.0, 0.4
"""Height in metres of a roof on posts, where not tagged, and its thickness; chosen."""
DEEPEST_M = 3.0
"""Largest tagged thickness in metres of a roof on posts, from which rooms are told; chosen."""

PILLARED_M = 6.5
"""Largest height in metres of the foot of a part that stands on pillars; chosen."""
WIDE = 0.3
"""Largest share of an outline, [0, 1], that high parts may overhang; above it they reach down; chosen."""

FROM_OUTLINE = (
    "building", "building:colour", "building:color", "building:material", "roof:colour", "roof:material",
)  # fmt: skip
"""Keys of tags that a part takes over from its building unless it has its own."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a building: a footprint between two heights."""

    id: str
    """Id of the building's outline that the piece belongs to, such as `w34`."""
    tags: Tags
    """Tags of the piece; a building part takes over some that it lacks from its building."""
    shape: Geometry
    """Footprint of the piece in metres."""
    base: float
    """Height in metres of the piece's foot above the ground: 0, or more than `HEAD_M`."""
    top: float | None
    """Height in metres of the top of the walls above the ground; `None` where not known."""
    is_part: bool = False
    """True if it is mapped as a part of a building."""


def pieces_of(extract: OsmExtract) -> list[Piece]:
    """Return all pieces of an extract's buildings; mapped parts stand for the outline that they cover."""
    outlines: list[int] = []
    parts: list[int] = []
    roofs: list[Piece] = []
    for area, tags in enumerate(extract.areas.tags):
        if tags.get("layer", "0").startswith("-") or tags.get("location") == "underground":
            continue
        kind = tags.get("building", "no")
        if kind in ROOF_KINDS or tags.get("man_made") == "canopy":
            roofs.append(_roof_on_posts(extract, area))
        elif kind != "no":
            outlines.append(area)
        if kind not in ROOF_KINDS and tags.get("building:part", "no") != "no":
            parts.append(area)
    home_of: dict[int, int] = {}
    if outlines and parts:
        # By a point inside: the edges of a part may stick out of its outline.
        points = shapely.point_on_surface(extract.areas.shapes[parts])
        tree = shapely.STRtree(extract.areas.shapes[outlines])
        for part, outline in tree.query(points, predicate="within").T.tolist():
            home_of[parts[part]] = outlines[outline]
    of_outline: dict[int, list[Piece]] = {}
    loose: list[Piece] = []
    for part in parts:
        home = home_of.get(part, -1)
        piece = _part(extract, part, home)
        if piece:
            (of_outline.setdefault(home, []) if home >= 0 else loose).append(piece)
    whole = [piece for area in outlines for piece in _outline(extract, area, of_outline.get(area, []))]
    return [*whole, *loose, *roofs]


def tagged_height(tags: Tags) -> float | None:
    """Return a building's height in metres by its tagged height or levels; `None` without or if absurd."""
    height = metres(tags.get("height"))
    if height is None and (levels := number(tags.get("building:levels"))):
        height = GROUND_FLOOR_M + STOREY_M * (levels - 1)
    return height if height is not None and 1.5 <= height <= HIGHEST_M else None


def unread_heights(tags: Tags) -> list[str]:
    """Return the tags of a building that should tell a height and do not, such as `height=tall`."""
    told = (key for key in ("height", "building:levels") if key in tags)
    return [f"{key}={tags[key]}" for key in told if tagged_height({key: tags[key]}) is None]


def ridge_of(tags: Tags) -> float | None:
    """Return the height in metres of a building's highest point; `None` where not tagged or absurd."""
    return tagged_height(tags) if metres(tags.get("height")) is not None else None


def walls_top(tags: Tags, shape: Geometry, *, is_part: bool = False) -> float | None:
    """Return the metres from the ground to the top of a building's walls; `None` where not tagged.

    Args:
        tags: of the building.
        shape: footprint of the building, metres.
        is_part: whether it is mapped as a part of a building.
    """
    top = ridge_of(tags)
    if top is None:
        return tagged_height(tags)
    # Walls keep a third of the height, whatever roof is tagged.
    return max(top - roof_height(tags, roof_shape(tags, shape, top, is_part=is_part), shape), top / 3, 1.5)


def base_of(tags: Tags) -> float:
    """Return the metres from the ground to the foot of a building's part; 0 if nobody could stand below."""
    base = metres(tags.get("min_height"))
    if base is None and (level := number(tags.get("building:min_level"))):
        base = GROUND_FLOOR_M + STOREY_M * (level - 1)
    return base if base is not None and HEAD_M < base <= HIGHEST_M else 0.0


def _roof_on_posts(extract: OsmExtract, area: int) -> Piece:
    """Return the roof on posts that the area of this index is, as a thin piece at tagged or usual height."""
    name, tags, shape = extract.areas.ids[area], extract.areas.tags[area], extract.areas.shapes[area]
    top = tagged_height(tags) or ROOF_M
    low = metres(tags.get("min_height")) or top
    # Above `HEAD_M`: a foot below that is drawn on the ground.
    base = max(low if low > top else min(max(low, top - DEEPEST_M), top - SLAB_M), HEAD_M + 0.1)
    tags = {"building": "roof", **tags, "roof:shape": "flat"}
    return Piece(name, tags, shape, base, max(top, base + THINNEST_M))


def _part(extract: OsmExtract, area: int, home: int) -> Piece | None:
    """Return the part of index `area` with tags of the outline `home` (-1: none); `None` for one too thin."""
    own, shape = extract.areas.tags[area], extract.areas.shapes[area]
    around: Mapping[str, str] = extract.areas.tags[home] if home >= 0 else {}
    tags = {key: around[key] for key in FROM_OUTLINE if key in around} | dict(own)
    base, top = base_of(own), walls_top(own, shape, is_part=True)
    if top is None:
        top = walls_top(around, shape, is_part=True)
        if base and (top is None or top < base + THINNEST_M):
            top = base + STOREY_M
    if top is not None and top < base + THINNEST_M:
        return None
    named = extract.areas.ids[home if home >= 0 else area]
    return Piece(named, {"building": "yes", **tags}, shape, base, top, is_part=True)


def _outline(extract: OsmExtract, area: int, parts: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the pieces of the building with index `area`: its parts, and the rest of its outline."""
    name, tags, shape = extract.areas.ids[area], extract.areas.tags[area], extract.areas.shapes[area]
    parts = _lower_floating_parts(parts, shape)
    yield from parts
    top = walls_top(tags, shape)
    if not parts:
        yield Piece(name, tags, shape, 0.0, top)
        return
    covered = shapely.intersection(shapely.union_all([part.shape for part in parts]), shape)
    if covered.area >= WHOLLY * shape.area:
        return
    standing = shapely.union_all([part.shape for part in parts if part.base == 0])
    rest = shapely.difference(shape, standing)
    over = [
        part.base
        for part in parts
        if part.base and shapely.covers(rest, shapely.point_on_surface(part.shape))
    ]
    if over:  # what is below a tower ends where the tower begins
        top = min(over) if top is None else min(top, *over)
    rest = shapely.buffer(shapely.buffer(rest, -SLIVER_M, join_style="mitre"), SLIVER_M, join_style="mitre")
    if not rest.is_empty:
        yield Piece(name, {**tags, "roof:shape": tags.get("roof:shape", "flat")}, rest, 0.0, top)


def _lower_floating_parts(parts: Sequence[Piece], outline: Geometry) -> Sequence[Piece]:
    """Return a building's parts, set on the ground if they would hang high over much open ground.

    On a slope storeys are counted from its foot, and parts are often mapped without those below them.
    """
    standing = shapely.union_all([part.shape for part in parts if part.base == 0])
    high = [
        part
        for part in parts
        if part.base > PILLARED_M
        and shapely.difference(part.shape, standing).area > 0.5 * shapely.area(part.shape)
    ]
    lower = shapely.union_all([part.shape for part in parts if 0 < part.base <= PILLARED_M])
    hanging = [part for part in high if not shapely.covers(lower, shapely.point_on_surface(part.shape))]
    covered = shapely.difference(shapely.union_all([part.shape for part in hanging]), standing)
    if covered.area <= WIDE * shapely.area(outline):
        return parts
    return [replace(part, base=0.0) if part in hanging else part for part in parts]
