"""The file of a district that Google is asked about: options for asking, and the mover that fits."""

from typing import Literal

from pydantic import Field

from virl.errors import BadInput
from virl.geo.region import Region
from virl.platform.city.city import MOVERS_WITHOUT_LINKS, MoverChoice, links_around
from virl.platform.city.streetview import Panorama, StreetView
from virl.platform.providers.google.settings import load_google_settings
from virl.platform.providers.http.settings import HOST
from virl.platform.providers.provider import CityFile, Language, Name, Position, TimeZone
from virl.settings.model import Settings

Imagery = Literal["static", "tiles"]
"""Sources of views: pictures of Street View Static, or tiles of panoramas."""

KEPT_PANORAMAS = 8
"""Default number of panoramas kept in memory; chosen: one of 3328x1664 pixels takes 33 MB."""
NEARBY_REQUESTS = 4
"""Default largest number of requests for one nearby search; chosen: at most 14 cents."""
PAGE_WAIT_S = 2.0
"""Seconds to wait before a further legacy page; chosen: Google makes it ready after "a short delay"."""


class GoogleOptions(Settings):
    """The options of a city for asking Google; `docs/reference/google.md` says what each costs."""

    base_url: str | None = Field(default=None, pattern=HOST)
    """Host that replaces all of Google's, such as `http://127.0.0.1:8765`; `None` for Google.
    `VIRL_GOOGLE_BASE_URL` goes before it."""
    imagery: Imagery = "static"
    """Source of views: `static`, one paid request a view, or `tiles`, paid tiles that views are cut from."""
    zoom: int = Field(default=3, ge=0, le=5)
    """Zoom level of the tiles; 3 is 3328 pixels around for Google's own panoramas."""
    panoramas_kept: int = Field(default=KEPT_PANORAMAS, ge=1)
    """Largest number of panoramas made of tiles that are kept in memory."""
    thumbnails: bool = True
    """True to take thumbnails of Map Tiles as views, with `imagery: static`.
    They have at most 600 by 250 pixels and cost 0.2 cents instead of 0.7."""
    outdoor: bool = True
    """True to leave indoor panoramas out of links and of searches for the nearest panorama."""
    links: Literal["whole", "thin"] | None = None
    """Reach of Google's links: `whole` if they lead to all its panoramas, else `thin`; `None`: find out.
    By default looked at where a run starts. Where they are thin, the mover is `hybrid` unless another is
    asked for."""
    drawn: bool = False
    """True if virl draws the pictures, as of a town that `virl serve google` serves.
    Signs are then read where virl's own detector sees them."""
    keep_closed: bool = False
    """True to list closed and not yet opened places too, marked as not open."""
    nearby_requests: int = Field(default=NEARBY_REQUESTS, ge=1)
    """Largest number of requests for one question for nearby places.
    With the legacy API, of circles, of up to three paid requests each for each type."""
    search_pages: int = Field(default=3, ge=1, le=3)
    """Largest number of pages of 20 places for a text search; each is a paid request."""
    page_wait: float = Field(default=PAGE_WAIT_S, ge=0)
    """Seconds to wait before a further page of the legacy API is asked for."""
    visual_memory: str = "street-view"
    """Name in `platform/memory/` of visual-memory settings, for agents that count objects in this city."""
    language: str | None = None
    """BCP 47 tag of the language of names and reviews, such as `en`; `None` lets Google choose."""
    api: Literal["new", "legacy"] | None = None
    """Generation of Places and Routes that is asked; `None` as in `platform/providers/google.yaml`."""


NO_TILES = "`map_tiles` in platform/providers/google.yaml is false, so no links are known"
"""Reason shown for taking a mover that needs no links: the settings exclude Map Tiles."""
REFUSED = "the key may not use the Map Tiles API, so no links are known"
"""Reason shown for taking a mover that needs no links: the key may not use Map Tiles."""


def known_mover(options: GoogleOptions, map_tiles: bool | None) -> MoverChoice | None:
    """Return the mover that options and the right to Map Tiles decide; `None` if links must be looked at.

    The key may use Map Tiles or not, by `map_tiles`; `None` if that is not known.
    """
    if map_tiles is False:
        return MoverChoice("grid", NO_TILES, MOVERS_WITHOUT_LINKS)
    if options.links == "thin":
        return MoverChoice("hybrid", "the city file says that links are thin here")
    if options.links == "whole" and map_tiles:
        return MoverChoice("links", "the city file says that links are whole here")
    return None


def fit_mover(
    streetview: StreetView, options: GoogleOptions, *, map_tiles: bool, start: Panorama, asked: str | None
) -> MoverChoice:
    """Return the mover asked for, if the key allows it, or else the one that fits the links around the start.

    Args:
        streetview: provider that is asked about the links around the start, if nothing else decides.
        options: options of the city.
        map_tiles: True if the key may use Map Tiles.
        start: panorama where the run begins.
        asked: name of the mover that the user asks for; `None` if the user leaves it open.

    Raises:
        BadInput: the mover asked for does not work with this key.
    """
    if not map_tiles:
        if asked and asked not in MOVERS_WITHOUT_LINKS:
            works = " or ".join(MOVERS_WITHOUT_LINKS)
            raise BadInput(
                f"mover {asked!r} needs the Map Tiles API, which the key may not use: choose {works}"
            )
        return MoverChoice(asked or "grid", REFUSED, MOVERS_WITHOUT_LINKS)
    if asked:
        return MoverChoice(asked, "you asked for it")
    if known := known_mover(options, map_tiles):
        return known
    around = links_around(streetview, start)
    return MoverChoice("hybrid" if around.are_thin else "links", around.summary)


class GoogleCity(CityFile):
    """A file of `platform/cities/` for a district of a real city."""

    city: Name
    district: Name
    country: Name
    language: Language
    google: GoogleOptions = GoogleOptions()
    """Options of Google that differ from the defaults."""
    time_zone: TimeZone
    polygon: tuple[Position, ...]
    center: Position

    @property
    def mover(self) -> MoverChoice:
        """Mover that fits the city, as far as known before Google is asked."""
        later = (
            "until a run starts; then hybrid where links are thin around the start, and grid if the key may "
            "not use Map Tiles"
        )
        return known_mover(self.google, load_google_settings().map_tiles) or MoverChoice("links", later)

    @property
    def region(self) -> Region:
        """Polygon that bounds the district."""
        return Region(self.polygon)
