"""Buildings of an extract: their footprints, how high they stand, and what they look like."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import PIL.ImageColor
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from shapely import Geometry, LineString, Polygon

from virl.geo.globe import Floats
from virl.osm.extract import OsmExtract, Shapes, Tags
from virl.osm.parts import Piece, pieces_of
from virl.osm.tags import metres
from virl.osm.ways import ROADS, is_hidden, is_passage
from virl.towns.plan.town_plan import BuildingUse, Rgb

PAVED_FROM, AROUND_M = 0.2, 60.0
"""Share of ground under houses, [0, 1], above which a town's open ground is paved, and half the side in
metres of the square in which it is measured; chosen by eye."""
SMALLEST_M2 = 6.0
"""Least area in square metres of a building: a smaller one, a box in the street, is dropped; chosen."""
TOLERANCE_M = 0.15
"""Largest distance in metres that simplifying an outline may move its walls."""
NEIGHBOURS = 8
"""Number of nearest buildings of known height from whose median an unknown height is guessed."""
NEIGHBOURHOOD_M = 120.0
"""Largest distance in metres to a building from which a height is taken."""

USUAL_M: Mapping[str, float] = {
    "apartments": 14.0, "barn": 7.0, "bungalow": 4.5, "cabin": 3.5, "carport": 2.8, "cathedral": 25.0,
    "chapel": 8.0, "church": 16.0, "commercial": 11.0, "detached": 6.5, "farm": 6.5, "garage": 3.0,
    "garages": 3.0, "greenhouse": 3.5, "hospital": 16.0, "hotel": 16.0, "house": 6.5, "hut": 3.0,
    "industrial": 8.0, "kiosk": 3.2, "mosque": 12.0, "office": 16.0, "public": 12.0, "residential": 9.0,
    "retail": 8.0, "roof": 4.0, "school": 10.0, "semidetached_house": 6.5, "service": 3.0, "shed": 2.6,
    "stable": 4.5, "temple": 10.0, "terrace": 7.0, "tower": 25.0, "train_station": 10.0, "university": 14.0,
    "warehouse": 8.0,
}  # fmt: skip
"""Height in metres by value of the tag `building`, where no height is mapped; chosen."""
DEFAULT_M = 7.0
"""Height in metres of a building whose height is unknown and whose kind `USUAL_M` does not list."""
LOW = frozenset(
    {"garage", "garages", "carport", "shed", "hut", "roof", "kiosk", "service", "greenhouse", "cabin"}
)
"""Values of `building` for kinds that are not raised to the height of neighbours."""

HALLS = frozenset(
    {"industrial", "warehouse", "hangar", "barn", "stable", "cowshed", "farm_auxiliary", "sports_hall",
     "supermarket", "manufacture", "depot", "parking"}
)  # fmt: skip
"""Values of `building` for halls, which have no windows of rooms at the ground."""
SHEDS = frozenset({"garage", "garages", "carport", "shed", "hut", "service", "transformer_tower", "silo"})
"""Values of `building` for sheds, which have no windows."""

_FOOT_M, _ROAD_M = 2.6, 3.8
"""Widths in metres of a passage for people and of one for a road, where not tagged; chosen."""
_WIDTHS_M = (1.8, 7.0)
"""Least and largest width in metres of a passage."""
_CLEAR_M = 3.4
"""Usual clear height in metres of a passage, from the ground to the rooms above; chosen."""
_LINTEL_M = 0.8
"""Least height in metres of the rooms left above the passage through a low house; chosen."""
_LOWEST_M = 2.3
"""Least clear height in metres of a passage, however low its house is."""
_BEYOND_M = 1.5
"""Metres that a passage is cut beyond both ends of its way, for walls at an angle."""
_SMALLEST_PASSAGE_M2 = 1.5
"""Least area in square metres of a piece of house beside a passage, or of a room over it, that is kept."""

_COLOUR_KEYS = ("building:colour", "building:color", "building:facade:colour")
"""Keys of tags with the colour of a wall; the first one present counts."""
_ROOF_COLOUR_KEYS = ("roof:colour", "roof:color")
"""Keys of tags with the colour of a roof; the first one present counts."""
_SOFTENED = 0.12
"""Share of white, [0, 1], mixed into a wall's tagged colour, since façades are paler; chosen."""
_TOLD_BY_TOWN = 10
"""Least number of houses with tagged materials in a town for its others to take one of these; chosen."""

_WALLS: Mapping[str, str] = {
    "brick": "brick", "bricks": "brick", "masonry": "brick", "brickwork": "brick", "clay": "brick",
    "stone": "stone", "sandstone": "stone", "limestone": "stone", "granite": "stone", "marble": "stone",
    "slate": "stone", "plaster": "plaster", "stucco": "plaster", "rendered": "plaster", "render": "plaster",
    "plastered": "plaster", "adobe": "plaster", "mud": "plaster", "loam": "plaster",
    "concrete": "concrete", "cement_block": "concrete", "cement": "concrete", "panel": "concrete",
    "reinforced_concrete": "concrete", "glass": "concrete", "mirror": "concrete", "steel": "concrete",
    "metal": "concrete", "metal_plates": "concrete", "aluminium": "concrete", "copper": "concrete",
    "gold": "concrete", "wood": "wood", "timber_framing": "wood", "timber": "wood", "vinyl": "wood",
    "tiles": "tiles", "tile": "tiles", "plastic": "tiles",
}  # fmt: skip
"""Wall material of the renderer for each value of `building:material`; chosen."""

_MATERIAL_RGB: Mapping[str, Rgb] = {
    "glass": (0.62, 0.72, 0.80), "mirror": (0.66, 0.74, 0.80), "steel": (0.66, 0.68, 0.70),
    "metal": (0.66, 0.68, 0.70), "metal_plates": (0.60, 0.62, 0.65), "aluminium": (0.76, 0.77, 0.79),
    "copper": (0.47, 0.66, 0.58), "gold": (0.83, 0.69, 0.33), "sandstone": (0.84, 0.74, 0.55),
    "marble": (0.92, 0.91, 0.88), "granite": (0.60, 0.57, 0.56), "slate": (0.40, 0.43, 0.47),
}  # fmt: skip
"""Wall colour, red, green and blue in [0, 1], by value of `building:material`; chosen."""

_ROOF_RGB: Mapping[str, Rgb] = {
    "roof_tiles": (0.58, 0.31, 0.23), "tile": (0.58, 0.31, 0.23), "tiles": (0.58, 0.31, 0.23),
    "brick": (0.55, 0.30, 0.24), "clay": (0.58, 0.31, 0.23), "slate": (0.32, 0.34, 0.38),
    "metal": (0.48, 0.50, 0.53), "tin": (0.55, 0.57, 0.60), "metal_sheet": (0.48, 0.50, 0.53),
    "zinc": (0.56, 0.59, 0.62), "steel": (0.48, 0.50, 0.53), "copper": (0.47, 0.66, 0.58),
    "concrete": (0.62, 0.62, 0.61), "stone": (0.50, 0.49, 0.47), "asphalt": (0.27, 0.27, 0.29),
    "asphalt_shingle": (0.31, 0.30, 0.31), "tar_paper": (0.24, 0.24, 0.26), "bitumen": (0.24, 0.24, 0.26),
    "eternit": (0.52, 0.53, 0.54), "fibre_cement": (0.52, 0.53, 0.54), "gravel": (0.60, 0.58, 0.55),
    "wood": (0.45, 0.34, 0.24), "thatch": (0.58, 0.49, 0.33), "grass": (0.36, 0.45, 0.24),
    "glass": (0.62, 0.72, 0.80), "plastic": (0.72, 0.74, 0.76), "solar_panels": (0.14, 0.18, 0.28),
    "gold": (0.83, 0.69, 0.33), "acrylic_glass": (0.68, 0.76, 0.82), "plants": (0.36, 0.45, 0.24),
}  # fmt: skip
"""Roof colour, red, green and blue in [0, 1], by value of `roof:material`; chosen."""

_USUAL_WALLS: Mapping[str, tuple[str, ...]] = {
    "barn": ("wood",), "stable": ("wood",), "shed": ("wood",), "hut": ("wood",), "cabin": ("wood",),
    "farm_auxiliary": ("wood",), "cowshed": ("wood",), "boathouse": ("wood",),
    "garage": ("plaster", "concrete"), "garages": ("concrete", "plaster"), "carport": ("wood",),
    "house": ("plaster", "plaster", "plaster", "wood"), "detached": ("plaster", "plaster", "plaster", "wood"),
    "semidetached_house": ("plaster",), "terrace": ("plaster", "brick"), "bungalow": ("plaster", "wood"),
    "farm": ("plaster", "wood"), "church": ("stone", "plaster"), "cathedral": ("stone",),
    "chapel": ("plaster", "stone"), "mosque": ("stone",), "temple": ("stone",), "castle": ("stone",),
    "industrial": ("concrete", "tiles"), "warehouse": ("concrete", "tiles"), "parking": ("concrete",),
    "transformer_tower": ("concrete", "plaster"), "service": ("concrete", "plaster"),
}  # fmt: skip
"""Wall materials to choose from by value of `building`; chosen. Other kinds get one of the town's."""


@dataclass(frozen=True, slots=True)
class Overhangs:
    """Pieces of houses over open ground, as sequences of length n: rooms over passages, roofs on posts."""

    ids: tuple[str, ...]
    """Id of the building that each piece belongs to, such as `w34`."""
    tags: tuple[Tags, ...]
    """Tags of each piece."""
    footprints: Shapes
    """Outline of each piece on the ground, polygons in metres, shape (n,)."""
    bases: Floats
    """Metres from the ground to the underside, shape (n,)."""
    heights: Floats
    """Metres from the ground to the top of the walls, shape (n,)."""
    passages: NDArray[np.bool_]
    """True where a passage lies below, shape (n,)."""


@dataclass(frozen=True, slots=True)
class Houses:
    """Buildings, or pieces of them, that stand on the ground, as sequences of length n."""

    ids: tuple[str, ...]
    """Id of the building that each piece belongs to, such as `w34`."""
    tags: tuple[Tags, ...]
    """Tags of each piece."""
    footprints: Shapes
    """Polygons in metres, with courtyards as holes, shape (n,)."""
    heights: Floats
    """Height of each piece's walls in metres, shape (n,)."""
    known: NDArray[np.bool_]
    """True where the data give the height or the number of levels, shape (n,)."""
    parts: NDArray[np.bool_]
    """True for a `building:part` with an outline of its own, shape (n,)."""
    above: Overhangs
    """Pieces that hang over open ground."""

    @property
    def obstacles(self) -> Shapes:
        """Outlines in metres of all ground where nobody can stand: below rooms over passages, too."""
        return np.concatenate([self.footprints, self.above.footprints[self.above.passages]])

    @property
    def all_ids(self) -> tuple[str, ...]:
        """Ids of the pieces on the ground, then of those above; see `ids`."""
        return self.ids + self.above.ids

    @property
    def all_tags(self) -> tuple[Tags, ...]:
        """Tags of all pieces, in the order of `all_ids`."""
        return self.tags + self.above.tags


def houses_of(extract: OsmExtract) -> Houses:
    """Return all buildings of an extract, those with mapped parts as these parts."""
    pieces = pieces_of(extract)
    shapes = np.array([piece.shape for piece in pieces], object)
    polygons, owner = shapely.get_parts(
        shapely.make_valid(shapely.simplify(shapes, TOLERANCE_M)), return_index=True
    )
    usable = (shapely.get_type_id(polygons) == shapely.GeometryType.POLYGON) & (
        shapely.area(polygons) >= SMALLEST_M2
    )
    # Counterclockwise: along each wall the open lies to the right, as fronts expect.
    polygons = shapely.orient_polygons(polygons[usable], exterior_cw=False)
    pieces = [pieces[number] for number in owner[usable].tolist()]
    heights, known = _heights(pieces, polygons)
    passages = [
        _passage_ground(shape, tags)
        for tags, shape in zip(extract.lines.tags, extract.lines.shapes, strict=True)
        if is_passage(tags) and not is_hidden(tags) and shape.length > 0
    ]
    return _houses_of_pieces(pieces, polygons, heights, known, np.array(passages, object))


def _houses_of_pieces(
    pieces: Sequence[Piece], polygons: Shapes, heights: Floats, known: NDArray[np.bool_],
    passages: Shapes,
) -> Houses:  # fmt: skip
    """Return the houses made of n pieces: those on the ground, with `passages` cut out, and those above.

    `polygons`, `heights` in metres and `known`, True for a mapped height, have shape (n,).
    """
    cuts: dict[int, list[Polygon]] = {}
    for passage, number in shapely.STRtree(polygons).query(passages, predicate="intersects").T.tolist():
        cuts.setdefault(number, []).append(passages[passage])
    standing: list[tuple[int, Polygon]] = []
    above, rooms = list[tuple[int, Polygon, float]](), list[tuple[int, Polygon, float]]()
    for number, (piece, polygon) in enumerate(zip(pieces, polygons.tolist(), strict=True)):
        if piece.base:
            above.append((number, polygon, piece.base))
        elif number not in cuts:
            standing.append((number, polygon))
        else:
            ground = shapely.union_all(cuts[number])
            # A low house keeps a lintel above its passage, and its passage stays high enough to walk.
            clear = max(min(_CLEAR_M, heights[number] - _LINTEL_M), _LOWEST_M)
            standing += [(number, part) for part in _polygons(shapely.difference(polygon, ground))]
            rooms += [(number, room, clear) for room in _polygons(shapely.intersection(polygon, ground))]
    raised = [*above, *rooms]
    owner, over = [number for number, _ in standing], [number for number, *_ in raised]
    return Houses(
        tuple(pieces[number].id for number in owner),
        tuple(pieces[number].tags for number in owner),
        np.array([polygon for _, polygon in standing], object),
        heights[owner],
        known[owner],
        np.array([pieces[number].is_part for number in owner], bool),
        Overhangs(
            tuple(pieces[number].id for number in over),
            tuple(pieces[number].tags for number in over),
            np.array([polygon for _, polygon, _ in raised], object),
            np.array([base for *_, base in raised], float),
            heights[over],
            np.arange(len(over)) >= len(above),
        ),
    )


def _heights(pieces: Sequence[Piece], polygons: Shapes) -> tuple[Floats, NDArray[np.bool_]]:
    """Return (wall height of each piece in metres, by kind and neighbours where not mapped; True if mapped).

    `polygons` are the footprints of the n pieces; both arrays have shape (n,).
    """
    tagged = np.array([piece.top or np.nan for piece in pieces], float)
    known = ~np.isnan(tagged)
    kinds = [piece.tags.get("building", "yes") for piece in pieces]
    usual = np.array([USUAL_M.get(kind, np.nan) for kind in kinds], float)
    low = np.array([kind in LOW for kind in kinds], bool)
    whole = np.array([not piece.is_part and piece.base == 0 for piece in pieces], bool)
    heights = np.where(known, tagged, usual)
    # Sheds, and parts of a building, say nothing of how high the houses around are.
    model = np.flatnonzero(known & ~low & whole)
    unknown = np.flatnonzero(~known & ~low)
    if len(model) and len(unknown):
        middles = shapely.get_coordinates(shapely.centroid(polygons))
        away, near = cKDTree(middles[model]).query(middles[unknown], k=min(NEIGHBOURS, len(model)))
        away, near = away.reshape(len(unknown), -1), near.reshape(len(unknown), -1)
        around = np.where(away <= NEIGHBOURHOOD_M, tagged[model][near], np.nan)
        # With fewer than three the median would be one odd house.
        some = (~np.isnan(around)).sum(axis=1) >= 3
        median = np.full(len(unknown), np.nan)
        if some.any():
            median[some] = np.nanmedian(around[some], axis=1)
        # Neither its kind nor its street alone tells how high a house is: where both are known, their mean.
        own = usual[unknown]
        heights[unknown] = np.where(
            np.isnan(own), median, np.where(np.isnan(median), own, (own + median) / 2)
        )
    return np.where(np.isnan(heights), DEFAULT_M, heights), known


def built_share(footprints: shapely.STRtree, at: Floats) -> float:
    """Return the share of ground under houses, [0, 1], in a square around a point in metres."""
    square = shapely.box(*(at - AROUND_M), *(at + AROUND_M))
    near = footprints.geometries[footprints.query(square)]
    return float(shapely.area(shapely.intersection(near, square)).sum() / square.area)


def passage_width(tags: Tags) -> float:
    """Return the width in metres of a passage through houses along a way: as tagged, or usual."""
    usual = _ROAD_M if tags.get("highway") in ROADS else _FOOT_M
    return min(max(metres(tags.get("width")) or usual, _WIDTHS_M[0]), _WIDTHS_M[1])


def _passage_ground(line: LineString, tags: Tags) -> Polygon:
    """Return the ground of a passage along a way, in metres: a bit longer than the way."""
    xy = shapely.get_coordinates(line)
    # Longer, lest a thin wall stays where the way ends at the edge of the house.
    first, last = xy[0] - xy[1], xy[-1] - xy[-2]
    xy[0] += first / max(float(np.hypot(*first)), 1e-6) * _BEYOND_M
    xy[-1] += last / max(float(np.hypot(*last)), 1e-6) * _BEYOND_M
    return LineString(xy).buffer(passage_width(tags) / 2, cap_style="flat", join_style="mitre")


def _polygons(shape: Geometry) -> Iterator[Polygon]:
    """Yield a shape's polygons of at least `_SMALLEST_PASSAGE_M2` square metres, counterclockwise."""
    for part in shapely.get_parts(shapely.make_valid(shape)):
        if isinstance(part, Polygon) and part.area >= _SMALLEST_PASSAGE_M2:
            yield shapely.orient_polygons(part, exterior_cw=False)


def use_of(tags: Tags) -> BuildingUse:
    """Return what a building's windows are for, by its kind."""
    kind = tags.get("building", "")
    return "hall" if kind in HALLS else "shed" if kind in SHEDS else "rooms"


@dataclass(frozen=True, slots=True)
class Outside:
    """Material and colours of a house; empty or `None` where no tag says."""

    material: str
    """Wall material of the renderer, such as `brick`; empty where it is not known."""
    paint: Rgb | None
    """Colour of the walls, RGB in [0, 1]; `None` where no tag says."""
    roof_paint: Rgb | None
    """Colour of the roof, RGB in [0, 1]; `None` where no tag says."""


@dataclass(frozen=True, slots=True)
class Looks:
    """The materials and colours of houses, and the tags that could not be read."""

    of_house: tuple[Outside, ...]
    """Material and colours of each house, in the order of the houses."""
    unread: Mapping[str, int]
    """Number of houses for each tag that cannot be read, such as `building:colour=light red`."""


def looks_of(tags: Sequence[Tags], names: Sequence[str]) -> Looks:
    """Return houses' materials and colours: tagged, else drawn by kind and town, alike for equal `names`."""
    unread: Counter[str] = Counter()
    tagged = [_read_outside(one, unread) for one in tags]
    town = [look.material for look in tagged if look.material]
    if len(town) < _TOLD_BY_TOWN:
        town = []
    return Looks(
        tuple(
            look if look.material or look.paint else _guess_material(look, one, town, name)
            for look, one, name in zip(tagged, tags, names, strict=True)
        ),
        dict(unread),
    )


def colour(text: str) -> Rgb | None:
    """Return (red, green, blue), each in [0, 1], of a CSS colour name or hex code; `None` for other texts."""
    name = text.split(";", maxsplit=1)[0].strip().lower()
    if not name.startswith("#"):
        name = name.replace("_", "").replace(" ", "").replace("-", "")
        if not name.isalpha():
            return None
    try:
        red, green, blue, *_ = PIL.ImageColor.getrgb(name)
    except ValueError:
        return None
    return red / 255, green / 255, blue / 255


def _read_outside(tags: Tags, unread: Counter[str]) -> Outside:
    """Return the material and colours of a house by its tags; count in `unread` those that make no sense."""
    named = _first_value(tags.get("building:material", ""))
    material = _WALLS.get(named, "")
    if named and not material:
        unread[f"building:material={named}"] += 1
    paint = _colour_of(tags, _COLOUR_KEYS, unread)
    if paint:
        red, green, blue = (part + (1 - part) * _SOFTENED for part in paint)
        paint = red, green, blue
    roofing = _first_value(tags.get("roof:material", ""))
    if roofing and roofing not in _ROOF_RGB:
        unread[f"roof:material={roofing}"] += 1
    roof_paint = _colour_of(tags, _ROOF_COLOUR_KEYS, unread) or _ROOF_RGB.get(roofing)
    return Outside(material, paint or _MATERIAL_RGB.get(named), roof_paint)


def _colour_of(tags: Tags, keys: Sequence[str], unread: Counter[str]) -> Rgb | None:
    """Return the colour in the first present key's tag; `None` if absent, or unreadable and then counted."""
    for key in keys:
        if key in tags:
            found = colour(tags[key])
            if found is None:
                unread[f"{key}={tags[key]}"] += 1
            return found
    return None


def _first_value(text: str) -> str:
    """Return the first of a tag's values separated by `;`, in small letters and with `_` for spaces."""
    return text.split(";", maxsplit=1)[0].strip().lower().replace(" ", "_")


def _guess_material(look: Outside, tags: Tags, town: Sequence[str], name: str) -> Outside:
    """Add a wall material of its kind, else of `town`, if any, to a house's looks; equal names look alike."""
    choices = _USUAL_WALLS.get(tags.get("building", ""), town)
    if not choices:
        return look
    # By the name, so that the pieces of one building look alike.
    return Outside(Random(f"walls of {name}").choice(choices), look.paint, look.roof_paint)
