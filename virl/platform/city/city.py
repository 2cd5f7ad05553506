"""A city: one provider each of street view, places, maps and listings, and the mover that fits it."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Protocol, Self

from shapely import Polygon

from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.money.ledger import Ledger
from virl.pages.notebooks import card, length_m, map_image
from virl.platform.city.inventory import Inventory, MappedStreet
from virl.platform.city.left_out import LeftOut
from virl.platform.city.maps import Maps
from virl.platform.city.places import Places
from virl.platform.city.streetview import Box, Camera, Panorama, Pose, StreetView, View, relocate


@dataclass(frozen=True, slots=True)
class Listing:
    """A home to rent, as its provider lists it."""

    id: str
    """Id that the provider gives the listing."""
    address: str
    """Address in one line."""
    position: LatLng
    price: float
    """Rent in dollars a month."""
    property_type: str
    """Kind of home, such as `"Apartment"` or `"Townhouse"`."""
    bedrooms: int | None
    """Number of bedrooms, 0 for a studio; `None` where it is not known."""
    bathrooms: float | None = None
    """Number of bathrooms; `None` where it is not known."""
    area: float | None = None
    """Floor area in square metres; `None` where it is not known."""
    year_built: int | None = None
    """Year in which the home was built; `None` where it is not known."""


class Listings(Protocol):
    """A provider of homes to rent."""

    def rentals(
        self, area: Polygon, price: tuple[float, float], bedrooms: int | None = None
    ) -> list[Listing]:
        """Return homes in an area at `price` (least, most) dollars a month, with `bedrooms`, cheapest first.

        Args:
            area: polygon whose points are (longitude, latitude) in degrees, as in GeoJSON.
            price: lowest and highest rent in dollars a month, both included.
            bedrooms: exact number of bedrooms; `None` takes any number, unknown ones too.
        """
        ...


MOST_COUNTED = 12
"""Largest number of panoramas around a start whose links are counted; chosen: about 120 m of street."""
LONELY_SHARE = 0.25
"""Share, [0, 1], of panoramas with fewer than two links above which a walk by links would stall; chosen."""
MOVERS_WITHOUT_LINKS = ("grid", "web")
"""Names of the movers that need no links between panoramas."""


@dataclass(frozen=True, slots=True)
class MoverChoice:
    """A mover for a city by its name, with the reason for the choice."""

    name: str
    """Name of the mover, such as `links` or `grid`."""
    reason: str
    """Reason for the choice, as part of a sentence."""
    works: tuple[str, ...] = ()
    """Names of all movers that work in the city; empty if every one does."""


@dataclass(frozen=True, slots=True)
class LinkDensity:
    """The number of panoramas that links lead to around a start, and how many of them have few links."""

    seen: int
    """Number of panoramas reached by links, the start included; at most `MOST_COUNTED`."""
    lonely: int
    """Number of the panoramas of `seen` with fewer than two links."""

    @property
    def are_thin(self) -> bool:
        """Return whether links are too few to walk by: few panoramas `seen`, or many of these `lonely`."""
        return self.seen < MOST_COUNTED or self.lonely > LONELY_SHARE * self.seen

    @property
    def summary(self) -> str:
        """Counts of the panoramas and of those with few links, as part of a sentence."""
        if self.seen < MOST_COUNTED:
            return f"links lead to {self.seen - 1} panoramas around the start only"
        return f"{self.lonely} of {self.seen} panoramas around the start have fewer than two links"


def links_around(streetview: StreetView, start: Panorama) -> LinkDensity:
    """Count the panoramas that links lead to from a start, up to `MOST_COUNTED`, and those with few links."""
    found, ahead = {start.id: start}, deque([start])
    while ahead and len(found) < MOST_COUNTED:
        for link in ahead.popleft().links:
            if link.pano_id not in found and len(found) < MOST_COUNTED:
                found[link.pano_id] = streetview.panorama(link.pano_id)
                ahead.append(found[link.pano_id])
    return LinkDensity(len(found), sum(len(panorama.links) < 2 for panorama in found.values()))


@dataclass(frozen=True, slots=True)
class Visible:
    """A sign or a piece of street furniture that a view truly shows."""

    id: str
    """Id of the sign or piece of furniture, the same in every view; for furniture, `Thing.id`."""
    kind: str
    """`"sign"`, or a sort of street furniture such as `"trash bin"`."""
    label: str
    """Words of a sign, empty where no font can draw them; for furniture, the same as `kind`."""
    box: Box
    """Box around the part that can be seen, pixels (left, top, right, bottom)."""
    distance: float
    """Distance from the camera in metres."""
    visible_fraction: float
    """Share, (0, 1], of the thing's pixels that are seen: the others are hidden or outside the view."""
    place_id: str | None = None
    """Id of the place that a sign belongs to; `None` for furniture."""
    place_types: tuple[str, ...] = ()
    """Types of the place that a sign belongs to; empty for furniture."""
    on_directory: bool = False
    """True where the sign is a line on a building's directory: its place is somewhere inside."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A piece of street furniture of a town, such as a bench or a parked car, where it truly stands."""

    id: str
    """Id of the thing in `Visible`, the same from wherever it is seen."""
    kind: str
    """Sort of street furniture, such as `"trash bin"`."""
    position: LatLng
    is_mapped: bool = True
    """False for a thing on no map, drawn from a random seed, such as a parked car or a tree in a forest."""


class Truth(Protocol):
    """The ground truth of a town that virl draws, for scoring only: no agent may ask it."""

    def visible(
        self, pano_id: str, camera: Camera, min_pixels: int = 12, kinds: Collection[str] | None = None
    ) -> list[Visible]:
        """Return signs and furniture of `kinds` with `min_pixels` or more pixels in a view, nearest first.

        Args:
            pano_id: id of the panorama where the camera stands.
            camera: direction, field of view and size of the view.
            min_pixels: number of pixels below which something counts as not seen.
            kinds: the only kinds looked for, such as `{"sign", "trash bin"}`; `None` looks for all. The
                fewer, the faster.

        Raises:
            NoStreetView: there is no such panorama.
        """
        ...

    def things(self, kinds: Collection[str] | None = None) -> list[Thing]:
        """Return all street furniture of these kinds, `None` for all, sorted by id."""
        ...

    def crossings(self) -> list[LatLng]:
        """Return the positions of the middles of all marked crossings."""
        ...

    def attributes(self, place_id: str) -> Mapping[str, bool]:
        """Return the attributes of a place that no agent is told, such as `{"spicy": False}`; empty if none.

        Raises:
            NotFound: no place has this id.
        """
        ...


@dataclass(frozen=True, slots=True)
class PanoramaPage:
    """The data that the mover `web` needs to show a city's street view in a web page."""

    maps_js: str
    """URL of Google's Maps JavaScript API."""
    pay: Callable[[], None]
    """Function that books the price of a panorama in the page, before it loads; raises `BudgetExceeded`."""
    outdoor: bool = True
    """True to leave out links to panoramas that were taken indoors."""


class StreetMap(Protocol):
    """The lines of all streets and the ids of all panoramas of a city, where all are known at once."""

    def lines(self) -> Sequence[Sequence[LatLng]]:
        """Return the centre line of each street, as positions."""
        ...

    def panorama_ids(self) -> Sequence[str]:
        """Return the ids of all panoramas, in a fixed order."""
        ...


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The abilities of a city beyond street view, places and maps, as its provider declares them."""

    has_reviews: bool = True
    """True where places can have reviews, ratings and prices; False for places of a map alone."""
    has_free_lookup: bool = False
    """True where an agent may look up every sign that it reads, as that costs nothing.
    Names of real shops rarely tell what they are."""
    is_drawn: bool = False
    """True where virl draws the views but does not know what they show: a made town behind a server."""
    looks: int = 0
    """Version of the looks of the views that virl draws; 0 where it draws none."""
    cheap_view: tuple[int, int] | None = None
    """Largest (width, height) in pixels of a view that costs less; `None` if all cost alike."""
    visual_memory: str = "default"
    """Name of the file in `platform/memory/` with the settings of visual memory for this city.
    They expect panoramas to be placed as inexactly as the city's are."""
    panorama_page: PanoramaPage | None = None
    """Data for a web page of street view, for the mover `web`; `None` where there is no such page."""
    fit_mover: Callable[[Panorama, str | None], MoverChoice] | None = None
    """Function (start, mover asked for or `None`) to a fitting mover; the field is `None` if any mover fits.
    It raises `BadInput` for a mover that does not work."""


@dataclass(frozen=True, slots=True)
class City:
    """A city: its name, its street view, places, maps and listings, and facts about the city itself."""

    name: str
    """Name by which `open_city` opens the city."""
    title: str
    """Name of the city as people write it."""
    center: LatLng
    """Position of the middle of the city."""
    streetview: StreetView
    """Provider of panoramas, links and views."""
    places: Places
    """Provider of shops and other places, to search or list nearby."""
    maps: Maps
    """Provider of addresses, routes and travel times."""
    listings: Listings | None = None
    """Provider of homes to rent; `None` where nobody lists any."""
    truth: Truth | None = None
    """Ground truth of views, for scoring; `None` where it is not known."""
    street_map: StreetMap | None = None
    """Lines of all streets and ids of all panoramas; `None` where these are not known at once."""
    inventory: Inventory | None = None
    """Streets, houses, places and things of the whole city, for pages and exports; `None` if not known."""
    life: Sequence[LatLng] = field(default=(), compare=False)
    """Positions of the named shops and amenities, where all are known at once; else empty."""
    choice: str = ""
    """Words for errors on how to choose another part of the provider's area; empty if there is no choice."""
    capabilities: Capabilities = Capabilities()
    """Abilities beyond street view, places and maps, which not every city has."""
    ledger: Ledger | None = None
    """Ledger of the requests and their costs; `None` for a city that is not asked over a network."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Counts of the parts of replies and files that could not be read in this city."""
    time_zone: str | None = None
    """IANA name, such as `Asia/Tokyo`; `None` for a made city, which has no time zone of its own."""
    language: str | None = None
    """Language of most shop signs: a BCP 47 tag such as `zh-HK`; `None` where it is not known."""
    region: Region | None = None
    """Outline and name of the city's district; `None` for a city without a district."""
    shareable: bool | None = None
    """True where pictures and texts of the city may be shown to others; `None` if the terms must be read."""
    terms: str = ""
    """Terms under which the provider gives pictures and texts, in a sentence or two."""
    attribution: str = ""
    """Names that every page about the city has to credit; empty for nobody."""
    credits: Callable[[], str] = lambda: ""
    """Function that returns further names to credit for the pictures known by now; empty for nobody."""
    invented: str = ""
    """The invented parts of a real town, such as `reviews and ratings are invented`; empty for nothing."""
    close: Callable[[], None] = lambda: None
    """Function that closes the city's connections; does nothing where there are none."""
    opened_as: str = ""
    """The name, or the path of a file, that the city was opened by."""
    opened: "City | None" = field(default=None, compare=False, repr=False)
    """The city as `open_city` made it, even in a copy with other parts; `None` if made otherwise."""

    @property
    def panorama_ids(self) -> Sequence[str]:
        """Ids of the panoramas known so far, in a fixed order; empty for a city without a street map."""
        return self.street_map.panorama_ids() if self.street_map else ()

    @property
    def street_lines(self) -> Sequence[Sequence[LatLng]]:
        """Centre line of each street, as positions; empty where they are not known at once."""
        return self.street_map.lines() if self.street_map else ()

    @property
    def mapped_streets(self) -> Sequence[MappedStreet]:
        """All streets with their names and classes; empty where these are not known at once."""
        return self.inventory.streets() if self.inventory else ()

    @property
    def is_as_opened(self) -> bool:
        """Return whether the city is still as `open_city` made it, with no part replaced by another."""
        made = self.opened
        return made is not None and all(
            getattr(self, part.name) is getattr(made, part.name)
            for part in fields(self)
            if part.name != "opened"
        )

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        """Return this city itself, as its connections, caches and budget cannot be copied."""
        return self

    def look(
        self,
        at: LatLng | Pose,
        heading: float | None = None,
        *,
        pitch: float = 0.0,
        fov: float = 90.0,
        width: int = 640,
        height: int = 640,
    ) -> View:
        """Return the view from a pose, or from the panorama nearest to a position; in degrees and pixels.

        Args:
            at: a pose, such as that of a walk's step, or any position within 800 m of a panorama.
            heading: degrees clockwise from north; by default that of the pose, and north from a position.
            pitch: degrees above the horizon, in [-90, 90].
            fov: horizontal field of view in degrees, in [10, 120].
            width: width of the view in pixels, in [16, 2048].
            height: height of the view in pixels, in [16, 2048].

        Raises:
            NoStreetView: there is no panorama so near.
            NoImagery: it has no picture.
            BadInput: a number is out of its range.

        Examples:
            >>> town.look(town.center, heading=90, width=64, height=64).pixels.shape
            (64, 64, 3)
        """
        ahead = at.heading if isinstance(at, Pose) else 0.0
        faced = ahead if heading is None else heading
        camera = Camera(heading=faced, pitch=pitch, fov=fov, width=width, height=height)
        pano_id = at.pano_id if isinstance(at, Pose) else relocate(self.streetview, at, "the position").id
        return self.streetview.view(pano_id, camera)

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the map, counts of what the city holds, and whose data it is."""
        facts: list[tuple[str, object]] = [("middle", self.center), ("time zone", self.time_zone)]
        lines = self.street_lines
        if self.street_map:
            facts.append(("panoramas", f"{len(self.panorama_ids):,}"))
            facts.append(("streets", f"{sum(map(length_m, lines)) / 1000:,.1f} km"))
        if self.inventory:
            facts.append(("houses", f"{len(self.inventory.houses()):,}"))
            facts.append(("places", f"{len(self.inventory.places()):,}"))
        may_show = {True: "yes", False: "no", None: "as the terms say"}[self.shareable]
        facts.append(("may be shown to others", may_show))
        picture = map_image(f"Map of {self.title}", streets=lines)
        return card(self.title, facts, picture=picture, notes=(self.notice, self.terms))

    @property
    def lacks(self) -> str:
        """Sentence that the city has no reviews, ratings or prices; empty for a city that can have some."""
        return "" if self.capabilities.has_reviews else f"{self.title} has no reviews, ratings or prices"

    @property
    def notice(self) -> str:
        """Notice for every page and result about the city: whose data it shows, and what is invented."""
        return "; ".join(part for part in (self.attribution, self.credits(), self.invented) if part)
