"""Pieces of buildings: outlines, the parts that stand for them, and roofs on posts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import shapely
from shapely import Geometry

from virl.platform.providers.osm.extract import OsmExtract, Tags
from virl.platform.providers.osm.measures import metres, number
from virl.platform.providers.osm.roofs import roof_height, roof_shape

STOREY_M = 3.2
GROUND_FLOOR_M = 4.0
HIGHEST_M = 850.0  # the tallest building has 828: a taller height is a mistake in the data
HEAD_M = 2.2  # a part that begins lower is in the way of people, and drawn from the ground on; chosen
THINNEST_M = 0.3
WHOLLY = 0.9  # share of an outline that its parts cover, above which it is not drawn itself; chosen
SLIVER_M = 0.3  # what is left of an outline beside its parts is drawn if it is wider than twice this
ROOF_KINDS = frozenset({"roof", "carport"})
ROOF_M, SLAB_M = 4.0, 0.4  # usual height of a roof on posts, and its thickness; chosen

PILLARED_M = 6.5  # a wide part that begins higher is no storey on pillars; chosen
WIDE = 0.3  # of an outline: what is wide; chosen

FROM_OUTLINE = (
    "building", "building:colour", "building:color", "building:material", "roof:colour", "roof:material",
)  # fmt: skip
"""The tags that a part takes over from its building where it says nothing itself."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a building between two heights."""

    id: str
    """The id of the outline that it belongs to."""
    tags: Tags
    shape: Geometry
    """Metres."""
    base: float
    """Metres from the ground to where it begins: 0, or more than `HEAD_M`."""
    top: float | None
    """Metres from the ground to the top of its walls; `None` where it is not known."""
    is_part: bool = False


def pieces_of(extract: OsmExtract) -> list[Piece]:
    """Return all that is built: where parts cover an outline they stand for it."""
    outlines: list[int] = []
    parts: list[int] = []
    roofs: list[Piece] = []
    for area, tags in enumerate(extract.areas.tags):
        if tags.get("layer", "0").startswith("-") or tags.get("location") == "underground":
            continue
        kind = tags.get("building", "no")
        if kind in ROOF_KINDS or tags.get("man_made") == "canopy":
            roofs.append(_roof(extract, area))
        elif kind != "no":
            outlines.append(area)
        if kind not in ROOF_KINDS and tags.get("building:part", "no") != "no":
            parts.append(area)
    homes = _homes(extract, outlines, parts)
    of_outline: dict[int, list[Piece]] = {}
    loose: list[Piece] = []
    for part, home in zip(parts, homes, strict=True):
        piece = _part(extract, part, home)
        if piece:
            (of_outline.setdefault(home, []) if home >= 0 else loose).append(piece)
    whole = [piece for area in outlines for piece in _outline(extract, area, of_outline.get(area, []))]
    return [*whole, *loose, *roofs]


def tagged_height(tags: Tags) -> float | None:
    """Return the metres of a building whose height or levels are mapped; `None` if neither, or absurd."""
    height = metres(tags.get("height"))
    if height is None and (levels := number(tags.get("building:levels"))):
        height = GROUND_FLOOR_M + STOREY_M * (levels - 1)
    return height if height is not None and 1.5 <= height <= HIGHEST_M else None


def unread_heights(tags: Tags) -> list[str]:
    """Return the tags of a building that should tell its height and do not, such as `height=tall`."""
    told = (key for key in ("height", "building:levels") if key in tags)
    return [f"{key}={tags[key]}" for key in told if tagged_height({key: tags[key]}) is None]


def ridge_of(tags: Tags) -> float | None:
    """Return the metres of a building's highest point as tagged; `None` where they are not, or absurd."""
    return tagged_height(tags) if metres(tags.get("height")) is not None else None


def walls_top(tags: Tags, shape: Geometry, *, is_part: bool = False) -> float | None:
    """Return the metres of the walls: mapped heights include the roof, levels do not count those in it.

    Args:
        tags: of the building.
        shape: footprint, metres.
        is_part: whether it is a part of a building.
    """
    top = ridge_of(tags)
    if top is None:
        return tagged_height(tags)
    return max(top - roof_height(tags, roof_shape(tags, shape, top, is_part=is_part), shape), top / 3, 1.5)


def base_of(tags: Tags) -> float:
    """Return the metres from the ground to where a part begins; 0 where people could not stand below it."""
    base = metres(tags.get("min_height"))
    if base is None and (level := number(tags.get("building:min_level"))):
        base = GROUND_FLOOR_M + STOREY_M * (level - 1)
    return base if base is not None and HEAD_M < base <= HIGHEST_M else 0.0


def _roof(extract: OsmExtract, area: int) -> Piece:
    """Return a roof on posts: a slab."""
    name, tags, shape = extract.areas.ids[area], extract.areas.tags[area], extract.areas.shapes[area]
    top = tagged_height(tags) or ROOF_M
    base = max(metres(tags.get("min_height")) or 0.0, top - SLAB_M, HEAD_M + 0.1)
    tags = {"building": "roof", **tags, "roof:shape": "flat"}
    return Piece(name, tags, shape, base, max(top, base + THINNEST_M))


def _homes(extract: OsmExtract, outlines: Sequence[int], parts: Sequence[int]) -> list[int]:
    """Return the outline that each part lies in; -1 for none."""
    homes = [-1] * len(parts)
    if outlines and parts:
        shapes = extract.areas.shapes
        tree = shapely.STRtree(shapes[list(outlines)])
        points = shapely.point_on_surface(shapes[list(parts)])
        for part, outline in tree.query(points, predicate="within").T.tolist():
            homes[part] = outlines[outline]
    return homes


def _part(extract: OsmExtract, area: int, home: int) -> Piece | None:
    """Return a part, with what its building says; `None` where it ends below its beginning."""
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
    """Yield the pieces of a building: its parts, and what they leave of the outline."""
    name, tags, shape = extract.areas.ids[area], extract.areas.tags[area], extract.areas.shapes[area]
    parts = _brought_down(parts, shape)
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


def _brought_down(parts: Sequence[Piece], outline: Geometry) -> Sequence[Piece]:
    """Return parts with those brought down that would hang high over much open ground.

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
