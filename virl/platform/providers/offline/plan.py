"""The plan of a made city: everything that stands in it, in metres.

Plans are drawn by `streets`, `layout`, `furnish` and `shops`, and read by the views, the places, the maps
and the ground truth. x is metres east of the city's origin, y metres north, z metres above the road.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shapely import Polygon

from virl.geo import Floats, Ints, LocalFrame
from virl.platform.listings import Listing
from virl.platform.places import Place

Point = tuple[float, float]

CAMERA_HEIGHT_M = 2.5  # the height of a street-view car's camera
PHOTO_SIZE = 640, 480  # pixels of a photo of a place; chosen


@dataclass(frozen=True, slots=True)
class Street:
    """One stretch of street between two junctions (or a junction and a dead end)."""

    id: int
    name: str
    line: Floats
    """Centre line, shape (n, 2)."""
    start: int
    end: int
    """Indices of the junctions at its ends."""
    road: float
    """Width of the carriageway; 0 where there is none, only ground for people."""
    pavement: float
    """Width of the pavement on each side."""
    is_gravel: bool = False
    """True where the pavement is gravel or bare ground, and not stone."""


@dataclass(frozen=True, slots=True)
class Panoramas:
    """All panoramas and the links between them. Every link has its counterpart."""

    xy: Floats
    """Shape (n, 2)."""
    street: Ints
    """The street each stands on, shape (n,); at a junction, one of its streets."""
    source: Ints
    target: Ints
    """The two ends of each link, shape (m,) each, both ways present, sorted by source."""


RoofShape = Literal["", "flat", "gabled", "hipped", "pyramidal", "dome", "mansard"]
Rgb = tuple[float, float, float]
"""A colour, red, green and blue in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Building:
    """A building, or a piece of one, as an upright prism with a roof on it."""

    id: int
    footprint: Polygon
    height: float
    """Height of the walls, from the ground."""
    variant: int
    """Choice of material, colours and windows; any non-negative integer, one for all pieces of a house."""
    base: float = 0.0
    """Height at which the walls begin, from the ground: above 0 the ground below is open."""
    roof: RoofShape = ""
    """Empty: by the variant, flat or a mansard."""
    roof_height: float = 0.0
    """Height of the roof, from the top of the walls."""
    material: str = ""
    """Material of the walls, one of `render/buildings.py`'s; empty: by the variant."""
    paint: Rgb | None = None
    """Colour of the walls; `None`: by the variant."""
    roof_paint: Rgb | None = None
    """Colour of the roof; `None`: by the variant."""
    posts: tuple[Point, ...] = ()
    """The posts that it stands on where its base is above the ground."""


@dataclass(frozen=True, slots=True)
class Frontage:
    """A stretch of building line along a street: where a shop, a gate or a front door can be.

    Seen from the street, `left` and `right` are its ends; the way out is to the right-hand normal of
    left -> right, that is (dy, -dx).
    """

    id: int
    building: int | None
    """`None` where nothing is built: a garden or a square."""
    street: int
    left: Point
    right: Point
    number: int
    """House number on its street."""
    commercial: float
    """Busyness of the street here, [0, 1]: shops go where it is high."""


SignKind = Literal["fascia", "blade", "board", "directory", "plate", "signpost"]


@dataclass(frozen=True, slots=True)
class Sign:
    """A signboard.

    A `fascia` lies on the front of a building, a `blade` stands out from it and is read from both sides,
    a `board` stands on two posts. A `directory` is one line of a board beside the entrance of a building,
    which names what is inside. A `plate` hangs over a street and names it, a `signpost` names a place to
    which the street leads, and how far it is.
    """

    id: str
    place_id: str
    """Empty for a plate and a signpost."""
    text: str
    tagline: str
    """A second, smaller line; may be empty."""
    kind: SignKind
    left: Point
    right: Point
    """Its ends as a reader sees them."""
    bottom: float
    top: float
    variant: int
    """Choice of font and colours; any non-negative integer."""


@dataclass(frozen=True, slots=True)
class Shop:
    """A place with its front: what is drawn around the sign, and what only the city knows."""

    place: Place
    frontage: int
    signs: tuple[Sign, ...]
    attributes: Mapping[str, bool]
    """Hidden: what the reviews hint at."""
    variant: int
    """Choice of window display, door and awning; any non-negative integer."""

    @property
    def has_own_sign(self) -> bool:
        """Return whether it has a sign that is not just a line on a directory."""
        return any(sign.kind != "directory" for sign in self.signs)

    @property
    def is_on_directory(self) -> bool:
        """Return whether its name stands on a directory."""
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
]


@dataclass(frozen=True, slots=True)
class Furniture:
    """One thing that stands in the street."""

    id: str
    kind: FurnitureKind
    x: float
    y: float
    heading: float
    """The way its front faces: degrees clockwise from north."""
    variant: int
    """Choice of colour and size; any non-negative integer."""
    is_mapped: bool = True
    """False in a twin where it comes from a seed, such as a tree of a forest."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A zebra across a street."""

    street: int
    along: float
    """Metres from the start of the street to the middle of the zebra."""


@dataclass(frozen=True, slots=True)
class Track:
    """A piece of railway on the ground."""

    line: Floats
    """Its middle, shape (n, 2)."""
    is_ballasted: bool
    """True where it lies in gravel, and not in a street."""


BarrierKind = Literal["hedge", "wall", "fence"]


@dataclass(frozen=True, slots=True)
class Barrier:
    """A hedge, a wall or a fence along a line."""

    kind: BarrierKind
    line: Floats
    """Its middle, shape (n, 2)."""
    height: float
    variant: int
    """Choice of material and colour; any non-negative integer."""


@dataclass(frozen=True, slots=True)
class StreetPlan:
    """The first half of a plan: what is laid out before anyone moves in."""

    frame: LocalFrame
    streets: tuple[Street, ...]
    junctions: Floats
    """Shape (k, 2)."""
    panoramas: Panoramas
    blocks: tuple[Polygon, ...]
    """Ground between the streets, pavements left out."""
    parks: tuple[Polygon, ...]
    buildings: tuple[Building, ...]
    frontages: tuple[Frontage, ...]
    furniture: tuple[Furniture, ...]
    paved_from: float = 1.0
    """The share of ground under houses, [0, 1], above which what lies between them is paved outside parks;
    with less it is lawn."""
    waters: tuple[Polygon, ...] = ()
    gravels: tuple[Polygon, ...] = ()
    """Sand, scree, bare rock and building sites."""
    tracks: tuple[Track, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    crossings: tuple[Crossing, ...] | None = None
    """`None`: zebras lie at all junctions of three or more streets."""


@dataclass(frozen=True, slots=True)
class CityPlan:
    """A whole made city."""

    seed: int
    layout: StreetPlan
    shops: tuple[Shop, ...]
    listings: tuple[Listing, ...] = field(default=())
    street_signs: tuple[Sign, ...] = ()
    """Plates with the names of streets, and signposts."""

    @property
    def signs(self) -> list[Sign]:
        """All signs: those of the shops in their order, then those of streets."""
        return [*(sign for shop in self.shops for sign in shop.signs), *self.street_signs]
