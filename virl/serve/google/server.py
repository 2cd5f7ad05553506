"""The Google-compatible server of a city: its endpoints, and running it in the foreground or a thread."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.types import ASGIApp

from virl.platform.city.city import City
from virl.serve.city_server import Pools, ServedCity, Stats, serve_app, served_app
from virl.serve.gate import add_gate
from virl.serve.google.dispatch import Dispatcher, Endpoint, Handler
from virl.serve.google.geocoding import Geocoding
from virl.serve.google.options import ServeOptions
from virl.serve.google.pictures import FILES, Cache, Painter, PlacePhotos
from virl.serve.google.place_json import MAX_REVIEWS, PlaceWriter
from virl.serve.google.places_legacy import LegacyPlaces
from virl.serve.google.places_new import Autocomplete, NewPlaces
from virl.serve.google.routes_legacy import LegacyRoutes
from virl.serve.google.routes_new import Routes
from virl.serve.google.shown_places import TownClock, fine_places, odd_places
from virl.serve.google.streetview import StaticStreetView, TileStreetView
from virl.serve.google.ways import WayFinder
from virl.serve.google.wire import ApiRequest, Family, Pages, answer, failure, no_such_method
from virl.serve.running import LOOPBACK, Address

SCRIPT = Path(__file__).with_name("maps.js")
_OWN_CHECK = ("/maps/", "/v1/", "/directions/", "/distanceMatrix/", f"{FILES}/")
"""Beginnings of paths that the gate lets pass without a key: Google's, whose keys the dispatcher checks."""
PLACES, ROUTES = "google.maps.places.v1", "google.maps.routing.v2"
KEPT_TILES, KEPT_PHOTOS = 128, 64  # pictures in memory, about 1 MB each; chosen


def make_app(city: City, options: ServeOptions, stats: Stats, pools: Pools) -> ASGIApp:
    """Return the Google-compatible server of a city, as an ASGI application behind its gate.

    Args:
        city: the city that is served.
        options: access, faults, oddities and sizes.
        stats: counts of requests.
        pools: threads in which requests are answered.
    """
    app = FastAPI(
        title=f"Google-compatible server of {city.title}", docs_url=None, redoc_url=None, openapi_url=None
    )
    dispatcher = Dispatcher(options, stats, pools)
    for endpoint in endpoints(city, options):
        app.add_api_route(
            endpoint.path,
            dispatcher.handler_of(endpoint),
            methods=[endpoint.method],
            response_class=Response,
            response_model=None,
        )
    _add_stats(app, stats)
    _add_errors(app)
    return add_gate(app, options.gate, own_check=lambda path: path.startswith(_OWN_CHECK))


def endpoints(city: City, options: ServeOptions) -> list[Endpoint]:
    """Return all endpoints of a city's server."""
    painter = Painter(lossless=options.lossless)
    photos = PlacePhotos(city, painter, Cache(KEPT_PHOTOS), options.key)
    static = StaticStreetView(city, painter, options.odd)
    tiles = TileStreetView(city, painter, Cache(KEPT_TILES), options.max_zoom, options.seed, options.odd)
    static_path, street = "/maps/api/streetview", "/v1/streetview"
    return [
        _get("static_image", static_path, "picture", static.image, draws=True),
        replace(_get("static_metadata", f"{static_path}/metadata", "legacy", static.metadata), is_free=True),
        _post("tiles_session", "/v1/createSession", tiles.create_session),
        _post("tiles_pano_ids", f"{street}/panoIds", tiles.pano_ids),
        _get("tiles_metadata", f"{street}/metadata", "new", tiles.metadata),
        _get("tiles_tile", f"{street}/tiles/{{z}}/{{x}}/{{y}}", "new", tiles.tile, draws=True),
        _get("tiles_thumbnail", f"{street}/thumbnail", "new", tiles.thumbnail, draws=True),
        *_place_endpoints(city, photos, options),
        *_map_endpoints(city, options),
        *_script_endpoints(static, tiles, photos),
    ]


def _get(
    name: str, path: str, family: Family, handler: Handler, *lists: str, draws: bool = False
) -> Endpoint:
    """Return an endpoint for GET requests; legacy errors give an empty list for each name in `lists`."""
    return Endpoint(name, "GET", path, family, handler, lists=lists, draws=draws)


def _post(name: str, path: str, handler: Handler, message: str = "", family: Family = "new") -> Endpoint:
    """Return an endpoint for POST requests; their bodies are checked as the type `message`, if given."""
    return Endpoint(name, "POST", path, family, handler, message)


def _place_endpoints(city: City, photos: PlacePhotos, options: ServeOptions) -> list[Endpoint]:
    """Return the endpoints of Places (New), the legacy Places API and autocomplete."""
    clock = _town_clock(city, options)
    if {"closed", "bare"}.intersection(options.odd.rates):
        city = replace(city, places=odd_places(city.places, options.odd))
    fine = replace(city, places=fine_places(city.places)) if options.fine_types else city
    shown = None if options.lossless else MAX_REVIEWS
    new = NewPlaces(fine, PlaceWriter(fine, photos, shown, clock), Pages(0.0), options.odd)
    old = LegacyPlaces(city, photos, Pages(options.page_delay_s), shown, options.odd, clock)
    predict = Autocomplete(fine).predict
    v1, legacy, notices = "/v1/places", "/maps/api/place", "html_attributions"
    return [
        _post("places_nearby", f"{v1}:searchNearby", new.nearby, f"{PLACES}.SearchNearbyRequest"),
        _post("places_text", f"{v1}:searchText", new.text, f"{PLACES}.SearchTextRequest"),
        _post("places_autocomplete", f"{v1}:autocomplete", predict, f"{PLACES}.AutocompletePlacesRequest"),
        _get("places_details", f"{v1}/{{place}}", "new", new.details),
        _get("places_photo", f"{v1}/{{place}}/photos/{{photo}}/media", "new", photos.media, draws=True),
        _get("legacy_nearby", f"{legacy}/nearbysearch/json", "legacy", old.nearby, notices, "results"),
        _get("legacy_text", f"{legacy}/textsearch/json", "legacy", old.text, notices, "results"),
        _get("legacy_find", f"{legacy}/findplacefromtext/json", "legacy", old.find, "candidates"),
        _get("legacy_details", f"{legacy}/details/json", "legacy", old.details, notices),
        _get("legacy_photo", f"{legacy}/photo", "picture", photos.legacy, draws=True),
    ]


def _town_clock(city: City, options: ServeOptions) -> TownClock:
    """Return the clock of a city's town, which follows the clock of the options if they set one."""
    return TownClock(city.time_zone, options.now) if options.now else TownClock(city.time_zone)


def _map_endpoints(city: City, options: ServeOptions) -> list[Endpoint]:
    """Return the endpoints of geocoding, routes and matrices, new and legacy."""
    ways = WayFinder(city, _town_clock(city, options))
    new, old = Routes(ways), LegacyRoutes(ways)
    geocode = Geocoding(city, options.odd, options.country).geocode
    compute, matrix = "/directions/v2:computeRoutes", "/distanceMatrix/v2:computeRouteMatrix"
    api, found = "/maps/api", ("geocoded_waypoints", "routes")
    stops = ("origin_addresses", "destination_addresses")
    return [
        _get("geocode", f"{api}/geocode/json", "legacy", geocode, "results"),
        _post("routes_compute", compute, new.routes, f"{ROUTES}.ComputeRoutesRequest"),
        _post("routes_matrix", matrix, new.matrix, f"{ROUTES}.ComputeRouteMatrixRequest", "stream"),
        _get("legacy_directions", f"{api}/directions/json", "legacy", old.directions, *found),
        _get("legacy_matrix", f"{api}/distancematrix/json", "legacy", old.matrix, *stops, "rows"),
    ]


def _script_endpoints(static: StaticStreetView, tiles: TileStreetView, photos: PlacePhotos) -> list[Endpoint]:
    """Return the endpoints of the JavaScript API and of photos' files."""

    def script(_: ApiRequest) -> Response:
        """Return the JavaScript file, which reads its key and callback from its own address."""
        return Response(SCRIPT.read_bytes(), media_type="text/javascript; charset=UTF-8")

    loader = _get("js_script", "/maps/api/js", "picture", script)
    file = _get("photo_file", f"{FILES}/{{place}}/{{photo}}", "picture", photos.file, draws=True)
    return [
        *(replace(endpoint, is_free=True, needs_key=False) for endpoint in (loader, file)),
        _get("js_panorama", "/maps/api/js/panorama", "new", lambda asked: answer(tiles.metadata_json(asked))),
        _get("js_view", "/maps/api/js/view", "picture", static.image, draws=True),
    ]


def _add_stats(app: FastAPI, stats: Stats) -> None:
    """Add the paths `/stats` and `/stats/reset` to an app."""

    def reset(_: Request) -> Response:
        """Set all counts to zero, and return them as JSON."""
        stats.reset()
        return answer(stats.snapshot())

    app.add_route("/stats", lambda _: answer(stats.snapshot()), methods=["GET"])
    app.add_route("/stats/reset", reset, methods=["POST"])


def _add_errors(app: FastAPI) -> None:
    """Add handlers that answer unknown paths, wrong methods and internal errors in Google's form."""
    for code in (404, 405):
        app.add_exception_handler(code, lambda _, __: no_such_method())
    app.add_exception_handler(500, lambda _, __: failure(500, "new"))


DEFAULT_PORT = 8765


@contextmanager
def serve_city(
    city: City, options: ServeOptions | None = None, *, host: str = LOOPBACK, port: int = 0
) -> Iterator[ServedCity]:
    """Serve a city from a thread until the block ends; yield a `ServedCity` with URL and counts.

    Args:
        city: the city that is served.
        options: access, faults, oddities and sizes.
        host: the address to listen at; another than loopback needs a key in the options.
        port: the port; 0 takes a free one.

    Raises:
        BadInput: the port is taken, or the key is missing.
        VirlError: the server did not start.
    """
    options = options or ServeOptions()
    address = Address(host, port, options.key, options.limits)
    with served_app(partial(make_app, city, options), address) as city_served:
        yield city_served


def serve(
    city: City,
    options: ServeOptions,
    host: str = LOOPBACK,
    port: int = DEFAULT_PORT,
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a city until the process is interrupted; call `tell` with the URL once it is known.

    Args:
        city: the city that is served.
        options: access, faults, oddities and sizes.
        host: the address to listen at; another than loopback needs a key in the options.
        port: the port; 0 takes a free one.
        tell: called with the server's URL.

    Raises:
        BadInput: the port is taken, or the key is missing.
    """
    serve_app(partial(make_app, city, options), Address(host, port, options.key, options.limits), tell)
