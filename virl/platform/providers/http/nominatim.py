"""Positions and addresses from Nominatim, in one line as their country writes them.

The public server allows one request a second and no bulk.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from virl.errors import NotFound
from virl.geo.globe import LatLng, distance
from virl.osm.box import Box, square_around
from virl.platform.city.maps import Address
from virl.platform.providers.http.osm_servers import MapServer, MapServiceSettings, load_open_maps, map_judge
from virl.platform.providers.http.replies import (
    ExpectedBody,
    HttpFault,
    HttpReply,
    Latitude,
    Longitude,
    ReplyBody,
)
from virl.platform.providers.http.service import Tell
from virl.platform.providers.http.settings import Timeouts
from virl.platform.providers.http.stored_replies import Keeping

_CODES = """
ad ae ag am as au az bb bd bf bh bj bl bm bn bz ca cc cd cg ci ck cn cx dj dm dz eg fj fk fm fr ga gb gf
gg gh gi gm gn gp gs gu gy hk hm ie im in io iq je jm jp ke kh kn kr ky la lb lk ls lu ma mc mf mg mh mm
mp mq mr ms mt mu mv mw my na nc ne nf ng nr nu nz om pf pg ph pk pm pr re rw sa sc sg sh sl sn tc tf tg
th tk tm tn to tt tv tw tz ug um us vg vi vn wf ye yt za zm zw
"""
NUMBER_FIRST = frozenset(_CODES.split())
"""Codes of the countries whose house numbers stand before the street.
By the templates of OpenCage's address-formatting 1.3.2; in the others, and in unknown ones, they stand
after it."""

_ROADS = ("road", "pedestrian", "footway", "square")
"""Names of the fields of a reply that may hold the street, the surest first."""
_TOWNS = ("city", "town", "village", "municipality")
"""Names of the fields of a reply that may hold the town; countries differ ("Place Output Formats")."""
_PARTS = ("neighbourhood", "quarter", "hamlet", "suburb")
"""Names of the fields of a reply with a part of a town, smallest first, for want of a street's name."""


def written_address(parts: Mapping[str, str], name: str = "") -> str:
    """Return an address in one line: street and number in the order of its country, then the town.

    A number without a street belongs to the smallest part of the town, or to the town itself. An address
    without street and number begins with a name, or else with that part.

    Args:
        parts: parts of an address by Nominatim's levels, with its `country_code`.
        name: name of the place at the address; may be empty.
    """
    road, town, part = (
        next((parts[level] for level in levels if parts.get(level)), "")
        for levels in (_ROADS, _TOWNS, _PARTS)
    )
    number = parts.get("house_number", "")
    if road and number and parts.get("country_code", "").casefold() in NUMBER_FIRST:
        house = f"{number} {road}"
    elif road or number:
        house = f"{road or part or town} {number}".strip()
    else:
        house = name or part
    town = "" if not road and not part and number else town or part
    return ", ".join(dict.fromkeys(one for one in (house, town) if one))


MATCHES = 5
"""Largest number of places that a search returns."""
LARGEST_MB = 1.0
"""Largest size of a reply in megabytes."""
MARGIN_M = 5_000.0
"""Distance in metres around the district within which an address counts; chosen as for Google."""
HOUSE = 18
"""Zoom level of a reverse search that finds houses."""
ELSE = "try again later, or give --box S,W,N,E instead"
"""Advice in errors about a Nominatim server that does not answer."""


class _Described(ReplyBody):
    """The name and address of a place in a reply of Nominatim."""

    display_name: str = ""
    name: str = ""
    address: dict[str, str] = Field(default_factory=dict)

    @property
    def address_text(self) -> str:
        """Address in one line, or else the name."""
        return written_address(self.address, self.name) or self.display_name


class Match(_Described):
    """A place that a search finds."""

    lat: Latitude
    lon: Longitude
    boundingbox: tuple[Latitude, Latitude, Longitude, Longitude] | None = None
    """(south, north, west, east) in degrees; `None` where not told."""
    addresstype: str = ""

    @property
    def position(self) -> LatLng:
        """Position of the middle of the place."""
        return LatLng(self.lat, self.lon)

    @property
    def box(self) -> Box:
        """Box around the whole place, or the point of its middle where its extent is not known."""
        south, north, west, east = self.boundingbox or (self.lat, self.lat, self.lon, self.lon)
        return Box(south, west, north, east)

    @property
    def fitting_box(self) -> Box:
        """Box around the whole place; if no public server takes its size, a square around its middle."""
        own = self.box
        usual = own.south < own.north and own.width > 0 and own.fits
        return own if usual else square_around(self.position)

    def __str__(self) -> str:
        """Return the name of the place, with the kind of its address in brackets if that is told."""
        return f"{self.display_name} ({self.addresstype})" if self.addresstype else self.display_name


class _Reverse(_Described):
    """The reply to a reverse search: a place with position, or an error."""

    lat: Latitude | None = None
    lon: Longitude | None = None
    error: Any = None


def _judge(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
    """Return a reply of a search or a reverse search if it is good, or else its fault."""
    # The reply "Unable to geocode" to a reverse search, an object, comes with either status.
    return map_judge(200, *((404,) if expected.kind == "object" else ()))(expected, reply)


class Nominatim:
    """A client of a Nominatim server: addresses of OpenStreetMap.

    Args:
        settings: URL, pace and policy of the service.
        keeping: cache, recording and ledger.
        district: box farther than `MARGIN_M` from which addresses are not found; `None` for all the world.
        url: URL of its search; by default that of `VIRL_NOMINATIM_URL`, or the public server.
        tell: function that shows a line before each pause, for a command that its user waits for.

    Raises:
        BadInput: the URL is none.
    """

    def __init__(
        self,
        settings: MapServiceSettings,
        keeping: Keeping,
        district: Box | None = None,
        url: str | None = None,
        tell: Tell | None = None,
    ) -> None:
        """Make the client of `url`, or of `settings`, for addresses near `district` (`None`: anywhere)."""
        self._server = MapServer(settings, keeping, url, judge=_judge, tell=tell, remedy=ELSE)
        self._around = district.grow(MARGIN_M) if district else None
        self.title, self.close = self._server.title, self._server.close

    def search(self, query: Mapping[str, str]) -> list[Match]:
        """Return the places that match a query such as `{"q": "Vaduz", "limit": "5"}`, most important first.

        Raises:
            ProviderError: the server does not answer, refuses, or answers nonsense.
        """
        asked = {"q": query["q"], "format": "jsonv2", **query}
        return self._server.service.array(self._server.request("nominatim_search", asked), Match)

    def find(self, address: str) -> LatLng:
        """Return the position of an address, street or place in or near the district.

        Raises:
            NotFound: nothing matches.
            ProviderError: as `search`.
        """
        query = {"q": address, "limit": "1"}
        if self._around:
            south, west, north, east = self._around.degrees
            query["viewbox"] = f"{west:.6f},{south:.6f},{east:.6f},{north:.6f}"
            query["bounded"] = "1"
        found = self.search(query)
        if not found:
            raise NotFound(
                f"no address or place matches {address!r}: write it as in 'Main Street 5, Town', or give "
                "latitude and longitude"
            )
        return found[0].position

    def nearest(self, position: LatLng, radius: float) -> Address | None:
        """Return the address nearest to a position within `radius` metres; `None` if there is none.

        Raises:
            ProviderError: as `search`.
        """
        query = {
            "lat": f"{position.lat:.6f}",
            "lon": f"{position.lng:.6f}",
            "zoom": str(HOUSE),
            # Without it, shops and other points of interest would be found as well.
            "layer": "address",
            "format": "jsonv2",
        }
        request = self._server.request(
            "nominatim_reverse", query, url=self._server.url.url_beside("reverse"), path="reverse"
        )
        found = self._server.service.read(request, _Reverse)
        if found.error or found.lat is None or found.lon is None:
            return None
        there = LatLng(found.lat, found.lon)
        return Address(found.address_text, there) if distance(position, there) <= radius else None


def find_places(name: str, tell: Tell) -> list[Match]:
    """Return the places with a name such as `"Kallio, Helsinki"`, most important first; tell of each pause.

    Asks the server of `VIRL_NOMINATIM_URL`, by default the public one.

    Raises:
        NotFound: nothing has this name.
        ProviderError: the server did not answer, refused, or answered nonsense.
    """
    settings = load_open_maps().nominatim.patient(Timeouts(), LARGEST_MB)
    nominatim = Nominatim(settings, Keeping(), tell=tell)
    try:
        found = nominatim.search({"q": name, "limit": str(MATCHES)})
    finally:
        nominatim.close()
    if not found:
        raise NotFound(
            f"--place {name!r}: {nominatim.title} knows no such place: write it otherwise, or give --box"
        )
    return found
