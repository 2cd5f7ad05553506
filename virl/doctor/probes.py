"""What is asked to find out whether a key reaches a service: for each service the cheapest question there is.

- `free`: Google's price list has the request at 0 dollars.
- `refused`: a request without what it must have, which Google refuses. Refused for its content it shows that
  the key was taken, as long as the same request with a wrong key is refused for the key.
- `paid`: a request that is billed; the last resort, and the only way to see a picture come.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from virl.errors import NoStreetView
from virl.geo.globe import LatLng, destination
from virl.platform.city.streetview import Camera
from virl.platform.providers.google.client import Call, GoogleHttp, price_of
from virl.platform.providers.google.maps import geocode
from virl.platform.providers.google.places_new import SERVICE, Album
from virl.platform.providers.google.settings import GoogleSettings
from virl.platform.providers.google.static import nearest_of, static_view
from virl.platform.providers.google.tiles import PanoramaTiles
from virl.platform.providers.google.ways_new import RoutesApi
from virl.platform.providers.http.replies import CamelBody, read_body

Way = Literal["free", "refused", "paid"]

RADIUS_M = 50.0  # as relocation has it by default
WALK_M = 200.0  # length of the route that is asked for; chosen
SMALL = 64  # pixels of a side of the picture that is asked for; chosen
_NOBODY = "no-such-panorama"


class _Id(CamelBody):
    """A place in an answer, of which only its id is read."""

    id: str = Field(min_length=1)


class _Ids(CamelBody):
    """An answer to a search for places, of which only the ids are read."""

    places: tuple[_Id, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to one endpoint of Google that shows whether the key may ask it."""

    endpoint: str
    """Name of the endpoint in `platform/providers/google.yaml`."""
    asks: str
    """Words on what the probe asks for."""
    way: Way
    ask: Callable[[GoogleHttp, LatLng], str]
    """Function that asks at a position, and says in a few words what was answered."""
    bills: tuple[Call, ...] = ()
    """The calls that Google bills if it answers them; their parameters do not matter."""

    def usd(self, settings: GoogleSettings) -> float:
        """Return the dollars of the calls in `bills` by list price, each sent once."""
        return sum(price_of(settings, call).micro_usd for call in self.bills) / 1e6


def probes(settings: GoogleSettings) -> tuple[Probe, ...]:
    """Return the probes of the services that the settings use, free ones first, then by price."""
    own = _NEW if settings.api == "new" else _LEGACY
    return tuple(sorted((*_BOTH, *own), key=lambda probe: (probe.way == "paid", probe.usd(settings))))


def _ask_panorama_links(http: GoogleHttp, _: LatLng) -> str:
    """Ask for a session and for a panorama that does not exist; return words on the answer."""
    try:
        PanoramaTiles(http).capture(_NOBODY)
    except NoStreetView:
        return "a session, and that no panorama has this id"
    return "a session and a panorama"


def _ask_picture(http: GoogleHttp, here: LatLng) -> str:
    """Ask for a small street picture at a position, and return words on its size."""
    view = static_view(http, _panorama_at(http, here), Camera(0.0, width=SMALL, height=SMALL))
    return f"a picture of {view.shape[1]}x{view.shape[0]} pixels"


def _ask_tile(http: GoogleHttp, here: LatLng) -> str:
    """Ask for one tile of the panorama nearest to a position, and return words on its size."""
    tiles = PanoramaTiles(http)
    pixels = tiles.tile(tiles.capture(_panorama_at(http, here)), 0, (0, 0))
    return f"a tile of {pixels.shape[1]}x{pixels.shape[0]} pixels"


def _ask_address(http: GoogleHttp, here: LatLng) -> str:
    """Ask for the address of a position, given as text, and return words on the answer."""
    geocode(http, f"{here.lat},{here.lng}")
    return "a position"


def _probe_nearby(http: GoogleHttp, here: LatLng) -> str:
    """Ask for one place near a position, and return words on the answer."""
    circle = {"center": {"latitude": here.lat, "longitude": here.lng}, "radius": RADIUS_M}
    reply = http.json(
        http.request(replace(_NEARBY, body={"locationRestriction": {"circle": circle}, "maxResultCount": 1}))
    )
    return "a place" if read_body(_Ids, reply, SERVICE).places else "no place"


def _ask_photo(http: GoogleHttp, here: LatLng) -> str:
    """Ask for a photo of a place near a position, and return words on the answer."""
    place = _some_place(http, here)
    if not place:
        return "no place, so no photo"
    reply = http.json(http.request(replace(_PHOTO_NAMES, path=place)))
    photos = read_body(Album, reply, SERVICE).photos
    if not photos:
        return "a place without photos"
    http.bytes(http.request(replace(_PHOTO, path=f"{photos[0].name}/media")))
    return "a photo"


def _ask_route(http: GoogleHttp, here: LatLng) -> str:
    """Ask for a route of `WALK_M` metres eastward from a position, and return words on the answer."""
    RoutesApi(http).route([here, destination(here, 90.0, WALK_M)])
    return "a route"


def _legacy_probe(name: str, *points: str) -> Probe:
    """Return a probe of a legacy service, which takes the position as each parameter in `points`."""

    def ask(http: GoogleHttp, here: LatLng) -> str:
        """Ask the legacy service at a position, and return the status of its answer."""
        query = dict.fromkeys(points, f"{here.lat},{here.lng}")
        reply = http.json(http.request(Call(name, query={**query, "radius": f"{RADIUS_M:g}"})))
        return str(reply.get("status", "an answer"))

    return Probe(name, "one request", "paid", ask, (Call(name),))


def _panorama_at(http: GoogleHttp, here: LatLng) -> str:
    """Return the id of the panorama nearest to a position; raise NoStreetView if there is none."""
    found = nearest_of(http, here, RADIUS_M, outdoor=True)
    if found is None:
        raise NoStreetView(f"no panorama within {RADIUS_M:g} m of {here}")
    return found.id


def _some_place(http: GoogleHttp, here: LatLng) -> str | None:
    """Return the id of a restaurant near a position; `None` if there is none."""
    circle = {"center": {"latitude": here.lat, "longitude": here.lng}, "radius": WALK_M}
    body = {"textQuery": "restaurant", "pageSize": 1, "locationBias": {"circle": circle}}
    reply = http.json(http.request(replace(_TEXT_IDS, body=body)))
    places = read_body(_Ids, reply, SERVICE).places
    return places[0].id if places else None


def _refused_probe(name: str, asks: str, call: Call) -> Probe:
    """Return a probe whose call lacks what it needs, so that Google refuses it for its content."""

    def ask(http: GoogleHttp, _: LatLng) -> str:
        """Send the call; return that it was answered, which is unexpected."""
        http.json(http.request(call))
        return "an answer, which may be billed"

    return Probe(name, asks, "refused", ask, (call,))


_TEXT_IDS = Call("places_text", fields="places.id")
_NEARBY = Call("places_nearby", fields="places.id")
_PHOTO_NAMES = Call("places_details", fields="id,photos")
_PHOTO = Call("places_photo", query={"maxWidthPx": str(SMALL)})
_NO_STOPS = Call("routes_compute", body={}, fields="routes.distanceMeters")

_BOTH = (
    Probe(
        "static_metadata",
        "the panorama at a position",
        "free",
        lambda http, here: (
            "a panorama's id" if nearest_of(http, here, RADIUS_M, outdoor=True) else "no panorama near there"
        ),
    ),
    Probe("tiles_metadata", "a session, and a panorama that is not there", "free", _ask_panorama_links),
    _refused_probe("geocode", "a request without an address", Call("geocode")),
    Probe("static_image", "one picture", "paid", _ask_picture, (Call("static_image"),)),
    Probe("tiles_tile", "one tile", "paid", _ask_tile, (Call("tiles_tile"),)),
    Probe("geocode", "one address", "paid", _ask_address, (Call("geocode"),)),
)
_NEW = (
    Probe(
        "places_text",
        "ids of a text search",
        "free",
        lambda http, here: "a place's id" if _some_place(http, here) else "no place",
    ),
    _refused_probe("routes_compute", "a route without stops", _NO_STOPS),
    Probe("places_nearby", "one nearby search", "paid", _probe_nearby, (_NEARBY,)),
    Probe("places_photo", "names of photos, and one photo", "paid", _ask_photo, (_PHOTO_NAMES, _PHOTO)),
    Probe("routes_compute", "one route", "paid", _ask_route, (_NO_STOPS,)),
)
_LEGACY = (
    _refused_probe("legacy_nearby", "a search without a position", Call("legacy_nearby")),
    _refused_probe("legacy_directions", "a route without stops", Call("legacy_directions")),
    _refused_probe("legacy_matrix", "a matrix without stops", Call("legacy_matrix")),
    _legacy_probe("legacy_nearby", "location"),
    _legacy_probe("legacy_directions", "origin", "destination"),
    _legacy_probe("legacy_matrix", "origins", "destinations"),
)
