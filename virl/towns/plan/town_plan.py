"""The plan of a made city: everything that stands in it, in metres.

Plans are drawn by `streets`, `layout`, `furnish` and `shops`, and read by the views, the places, the maps
and the ground truth. x is metres east of the city's origin, y metres north, z metres above the road.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Self

import numpy as np
import shapely
from shapely import Polygon

from virl.geo.globe import Floats, Ints, LatLng, LocalFrame
from virl.platform.city.city import Listing
from virl.platform.city.places import Place

Point = tuple[float, float]
"""(east, north) of the plan's origin, metres."""

CAMERA_HEIGHT_M = 2.5
"""Height of a street-view car's camera, metres."""
SPACING_M = 10.0
"""Distance in metres between panoramas along a street, as in Street View."""
PHOTO_SIZE = 640, 480
"""(width, height) of a photo of a place, pixels; chosen."""


def to_positions(frame: LocalFrame, points: Floats) -> list[LatLng]:
    """Return points in metres east and north of a frame's origin, shape (n, 2), as positions."""
    lat, lng = frame.to_degrees(points[:, 0], points[:, 1])
    return [LatLng(*pair) for pair in zip(lat.tolist(), lng.tolist(), strict=True)]


@dataclass(frozen=True, slots=True)
class Street:
    """One stretch of street between two junctions (or a junction and a dead end)."""

    id: int
    """Index of the street in the plan."""
    name: str
    line: Floats
    """Centre line, metres east and north, shape (n, 2)."""
    start: int
    """Index of the junction at the first point of the line."""
    end: int
    """Index of the junction at the last point of the line."""
    road: float
    """Width of the carriageway in metres; 0 where only people walk."""
    pavement: float
    """Width of the pavement on each side, metres."""
    is_gravel: bool = False
    """True where the pavement is gravel or bare ground, not stone."""
    is_asphalt: bool = False
    """True for a way only for people that is asphalt, not stone."""
    has_kerb: bool = True
    """False for a road through open land, which has no kerb and, instead of a pavement, a verge of gravel."""
    cycle_lanes: tuple[bool, bool] = (False, False)
    """True where a cycle lane runs along the street, at its right and at its left."""


@dataclass(frozen=True, slots=True)
class Panoramas:
    """All panoramas of a plan, and the directed links between them, two for each pair."""

    xy: Floats
    """Metres east and north of each panorama, shape (n, 2)."""
    street: Ints
    """Index of the street of each panorama, shape (n,); at a junction, of one of its streets."""
    source: Ints
    """Index of the panorama where each link starts, shape (m,), sorted."""
    target: Ints
    """Index of the panorama where each link ends, shape (m,)."""

    @classmethod
    def of_streets(cls, streets: Sequence[Street], junctions: Floats) -> Self:
        """Return linked panoramas, first one on each junction (east, north), then more along each street."""
        xy, owner = [junctions], [np.zeros(len(junctions), np.int64)]
        pairs: set[tuple[int, int]] = set()
        count = len(junctions)
        for number, street in enumerate(streets):
            line = shapely.LineString(street.line)
            # A loop needs two panoramas besides its junction: with fewer, its links would coincide.
            pieces = max(3 if street.start == street.end else 1, round(line.length / SPACING_M))
            inner = shapely.line_interpolate_point(line, np.arange(1, pieces) / pieces, normalized=True)
            xy.append(np.round(shapely.get_coordinates(inner), 3))
            owner.append(np.full(pieces - 1, number))
            owner[0][[street.start, street.end]] = number
            chain = [street.start, *range(count, count + pieces - 1), street.end]
            pairs.update((min(a, b), max(a, b)) for a, b in pairwise(chain))
            count += pieces - 1
        return cls.of_pairs(np.concatenate(xy), np.concatenate(owner), pairs)

    @classmethod
    def of_pairs(cls, xy: Floats, street: Ints, pairs: Set[tuple[int, int]]) -> Self:
        """Return panoramas at points (east, north) on streets, linked both ways by pairs of their indices.

        Args:
            xy: metres east and north of each panorama, shape (n, 2).
            street: index of the street of each, shape (n,).
            pairs: indices of two linked panoramas, one pair for both directions.
        """
        links = np.array(sorted(pairs), np.int64).reshape(-1, 2)
        both = np.concatenate([links, links[:, ::-1]])
        both = both[np.lexsort((both[:, 1], both[:, 0]))]
        return cls(xy, street, both[:, 0], both[:, 1])


RoofShape = Literal["", "flat", "gabled", "hipped", "pyramidal", "dome", "mansard"]
"""Shapes of a roof; empty for flat or mansard, by the building's variant."""
BuildingUse = Literal["rooms", "hall", "shed"]
Rgb = tuple[float, float, float]
"""A colour, red, green and blue in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Building:
    """A building, or a piece of one, as an upright prism with a roof on it."""

    id: int
    footprint: Polygon
    """Outline on the ground, metres."""
    height: float
    """Height of the top of the walls above the ground, metres."""
    variant: int
    """Number from which material, colours and windows follow; the same for all pieces of a house."""
    base: float = 0.0
    """Height of the foot of the walls above the ground, metres; above 0 the ground below is open."""
    roof: RoofShape = ""
    """Shape of the roof; empty for flat or mansard, by the variant."""
    roof_height: float = 0.0
    """Height of the roof above the top of the walls, metres."""
    material: str = ""
    """Material of the walls, a name of `render/buildings.py`; empty for that of the variant."""
    paint: Rgb | None = None
    """Colour of the walls; `None` for that of the variant."""
    roof_paint: Rgb | None = None
    """Colour of the roof; `None` for that of the variant."""
    posts: tuple[Point, ...] = ()
    """Positions of the posts under a raised building, metres."""
    use: BuildingUse = "rooms"
    """Use of the building, which decides on windows: halls have few, sheds none."""


@dataclass(frozen=True, slots=True)
class Frontage:
    """A stretch of building line along a street: where a shop, a gate or a front door can be.

    Seen from the street, `left` and `right` are its ends; the way out is to the right-hand normal of
    left -> right, that is (dy, -dx).
    """

    id: int
    building: int | None
    """Index of the building behind the frontage; `None` for a garden or square."""
    street: int
    """Index of the street before the frontage."""
    left: Point
    """Left end as seen from the street, (east, north) in metres."""
    right: Point
    """Right end as seen from the street, (east, north) in metres."""
    number: int
    """House number on its street."""
    commercial: float
    """Busyness of the street at the frontage, [0, 1]; shops settle where it is busy."""


SignKind = Literal["fascia", "blade", "board", "directory", "plate", "signpost"]


@dataclass(frozen=True, slots=True)
class Sign:
    """A signboard on a building, on posts or over a street.

    A `fascia` lies on the front of a building, a `blade` stands out from it and is read from both sides,
    a `board` stands on two posts. A `directory` is one line of a board beside the entrance of a building,
    which names what is inside. A `plate` hangs over a street and names it, a `signpost` names a place to
    which the street leads, and how far it is.
    """

    id: str
    place_id: str
    """Id of the place that the sign names; empty for a street's plate and a signpost."""
    text: str
    tagline: str
    """Second, smaller line of text; may be empty."""
    kind: SignKind
    left: Point
    """Left end of the sign as a reader sees it, metres east and north."""
    right: Point
    """Right end of the sign as a reader sees it, metres east and north."""
    bottom: float
    """Height of the sign's lower edge above the ground, metres."""
    top: float
    """Height of the sign's upper edge above the ground, metres."""
    variant: int
    """Number from which the sign's font and colours follow."""


@dataclass(frozen=True, slots=True)
class Shop:
    """A place of the plan, such as a shop or a park, with its signs and its hidden attributes."""

    place: Place
    frontage: int
    """Index of the shop's frontage; -1 for a whole park."""
    signs: tuple[Sign, ...]
    attributes: Mapping[str, bool]
    """True or False for each hidden attribute, such as `quiet`, at which the reviews hint."""
    variant: int
    """Number from which the shop's window display, door and awning follow."""

    @property
    def has_own_sign(self) -> bool:
        """Return whether the place has a sign other than a line on a directory."""
        return any(sign.kind != "directory" for sign in self.signs)

    @property
    def is_on_directory(self) -> bool:
        """Return whether the place's name is a line on the directory of a building."""
        return any(sign.kind == "directory" for sign in self.signs)


FurnitureKind = Literal[
    "trash bin",
    "fire hydrant",
    "bench",
    "mailbox",
    "bollard",
    "planter",
    "tree",
    "street lamp",
    "traffic light",
    "parked car",
    "bicycle stand",
    "bus stop",
    "person",
    "bicycle",
    "car",
    "cafe table",
]
"""Kinds of street furniture; the last four come and go, and are no part of a layout."""


@dataclass(frozen=True, slots=True)
class Furniture:
    """One piece of street furniture, such as a bench or a parked car."""

    id: str
    kind: FurnitureKind
    x: float
    """Metres east of the plan's origin."""
    y: float
    """Metres north of the plan's origin."""
    heading: float
    """Direction that the front faces, degrees clockwise from north."""
    variant: int
    """Number from which the thing's colour and size follow."""
    is_mapped: bool = True
    """True unless a twin of a real place added the thing at random, such as a tree of a forest."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A zebra crossing on a street."""

    street: int
    """Index of the street that the zebra crosses."""
    along: float
    """Metres from the start of the street to the middle of the zebra."""


@dataclass(frozen=True, slots=True)
class Track:
    """A piece of railway on the ground, along a line."""

    line: Floats
    """Centre line, metres east and north, shape (n, 2)."""
    is_ballasted: bool
    """True where the rails lie in gravel, False in a street."""


BarrierKind = Literal["hedge", "wall", "fence"]


@dataclass(frozen=True, slots=True)
class Barrier:
    """A hedge, a wall or a fence along a line."""

    kind: BarrierKind
    line: Floats
    """Centre line, metres east and north, shape (n, 2)."""
    height: float
    """Height above the ground, metres."""
    variant: int
    """Number from which the barrier's material and colour follow."""


LandKind = Literal["meadow", "field", "vineyard", "wood", "shrubs", "flowers"]


@dataclass(frozen=True, slots=True)
class Land:
    """An area of green ground that is no lawn."""

    kind: LandKind
    outline: Polygon
    """Outline on the ground, metres."""


@dataclass(frozen=True, slots=True)
class StreetPlan:
    """A plan without places: its streets, panoramas, buildings and furniture."""

    frame: LocalFrame
    streets: tuple[Street, ...]
    junctions: Floats
    """Metres east and north of each junction, shape (k, 2)."""
    panoramas: Panoramas
    blocks: tuple[Polygon, ...] = ()
    """Outlines of the ground between streets and pavements, metres."""
    parks: tuple[Polygon, ...] = ()
    """Outlines of the parks, metres."""
    buildings: tuple[Building, ...] = ()
    frontages: tuple[Frontage, ...] = ()
    furniture: tuple[Furniture, ...] = ()
    paved_from: float = 1.0
    """Share of ground under houses, [0, 1], above which the rest is paved, and not lawn.
    That is the ground between houses outside parks."""
    waters: tuple[Polygon, ...] = ()
    """Outlines of waters, metres."""
    gravels: tuple[Polygon, ...] = ()
    """Outlines of sand, scree, bare rock and building sites, metres."""
    lands: tuple[Land, ...] = ()
    """Areas among the parks that are no lawn."""
    tracks: tuple[Track, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    crossings: tuple[Crossing, ...] | None = None
    """Zebra crossings; `None` for one at each way into a junction of three or more streets."""


@dataclass(frozen=True, slots=True)
class CityPlan:
    """The whole plan of a town: streets, places, homes to rent and signs."""

    seed: int
    """Seed from which the town grew."""
    layout: StreetPlan
    shops: tuple[Shop, ...]
    listings: tuple[Listing, ...] = ()
    street_signs: tuple[Sign, ...] = ()
    """Plates with street names, and signposts."""
    crowd: float = 0.0
    """Number of people, cyclists, cars and cafe tables in views, as a factor on what is usual."""

    @property
    def signs(self) -> list[Sign]:
        """All signs: first those of the shops, then those over streets."""
        return [*(sign for shop in self.shops for sign in shop.signs), *self.street_signs]
