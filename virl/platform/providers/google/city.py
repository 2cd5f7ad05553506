"""A city of Google Maps."""

from virl.errors import BadInput, ProviderError
from virl.geo.globe import LatLng
from virl.platform.city.city import Capabilities, City, PanoramaPage
from virl.platform.city.maps import Maps
from virl.platform.providers.google.city_file import GoogleCity, GoogleOptions, fit_mover
from virl.platform.providers.google.client import Call, GoogleHttp, open_google_http
from virl.platform.providers.google.maps import GoogleMaps, corners
from virl.platform.providers.google.places import GooglePlaces, GooglePlacesInFull, PlacesApi
from virl.platform.providers.google.places_new import NewPlaces
from virl.platform.providers.google.settings import at_base_url, load_google_settings
from virl.platform.providers.google.streetview import GoogleStreetView
from virl.platform.providers.google.tiles import THUMBNAIL
from virl.platform.providers.google.ways_new import RoutesApi
from virl.platform.providers.provider import Access, CityFile

_PAGE = Call("maps_js")
"""Call that stands for one load of street view in a web page (Maps JavaScript API), to book its price."""


def google_city(name: str, file: GoogleCity, access: Access) -> City:
    """Return the city of a file; Google's host is that of `VIRL_GOOGLE_BASE_URL`, or else that of the file.

    Args:
        name: name by which `open_city` opens the city.
        file: contents of the city's file.
        access: ledger, cache and recordings of the run.

    Raises:
        ProviderError: there is no key, and no replay; or as `open_google`.
        BadInput: the settings are broken, or a folder cannot be used.
    """
    http = _client(file.google, access)
    try:
        return open_google(name, file.title, file.center, file.google, http, file)
    except BaseException:
        http.close()
        raise


def google_parts(
    file: CityFile, options: GoogleOptions, access: Access
) -> tuple[GooglePlaces[PlacesApi], Maps, GoogleHttp]:
    """Return Google's (places, maps, HTTP client to close) for a city with pictures of another provider.

    Args:
        file: contents of the city's file, which has a center.
        options: options for asking Google.
        access: ledger, cache and recordings of the run.

    Raises:
        ProviderError: as `google_city`.
        BadInput: as `google_city`.
    """
    http = _client(options, access)
    return *_services(http, options, file, file.center or LatLng(0.0, 0.0)), http


def open_google(
    name: str,
    title: str,
    center: LatLng,
    options: GoogleOptions | None = None,
    http: GoogleHttp | None = None,
    settings: GoogleCity | None = None,
) -> City:
    """Return a city of Google Maps with this centre; nothing is asked yet.

    Args:
        name: name by which `open_city` opens the city.
        title: name of the city as people write it.
        center: middle of the city; a search that names no position looks around it.
        options: options for asking Google; by default those of `GoogleOptions`.
        http: client of Google; by default with the key and the settings of this machine.
        settings: contents of the city's file, far from whose district addresses are not found; `None` finds
            them anywhere.

    Raises:
        ProviderError: there is no `GOOGLE_MAPS_API_KEY`, or `api: legacy` lacks its client library.
        BadInput: the settings are broken.
    """
    options = options or GoogleOptions()
    http = http or open_google_http()
    if http.settings.map_tiles is False and options.imagery == "tiles":
        raise BadInput("`imagery: tiles` needs Map Tiles, and `map_tiles` is false: change one of the two")
    streetview = GoogleStreetView(http, options)
    places, maps = _services(http, options, settings, center)
    endpoint = http.settings.endpoint(_PAGE.endpoint)
    maps_js = (http.settings.base_url or endpoint.base).rstrip("/") + endpoint.prefix
    page = PanoramaPage(maps_js, lambda: http.pay(http.request(_PAGE)), options.outdoor)
    return City(
        name=name,
        title=title,
        center=center,
        streetview=streetview,
        places=places,
        maps=maps,
        capabilities=Capabilities(
            is_drawn=options.drawn,
            cheap_view=THUMBNAIL if options.thumbnails and http.settings.map_tiles is not False else None,
            visual_memory=options.visual_memory,
            panorama_page=None if http.keeping.replay else page,
            fit_mover=lambda start, asked: fit_mover(
                streetview, options, map_tiles=streetview.is_linked, start=start, asked=asked
            ),
        ),
        ledger=http.ledger,
        left_out=http.keeping.left_out,
        credits=http.credits,
        close=http.close,
    )


def _client(options: GoogleOptions, access: Access) -> GoogleHttp:
    """Return a run's client of Google, for the host in the settings or, without one, in the city's file."""
    settings = load_google_settings()
    if options.base_url and settings.base_url is None:
        settings = at_base_url(settings, options.base_url)
    return open_google_http(settings, access)


def _services(
    http: GoogleHttp, options: GoogleOptions, file: CityFile | None, center: LatLng
) -> tuple[GooglePlaces[PlacesApi], Maps]:
    """Return Google's (places, maps) of the API generation that `options` names, for a city at a centre."""
    district = corners(file.polygon) if file and file.polygon else None
    zone = file.time_zone if file else None
    if (options.api or http.settings.api) == "new":
        places = GooglePlacesInFull(NewPlaces(http, options), center, options)
        return places, GoogleMaps(http, district, RoutesApi(http), zone)
    try:
        from virl.platform.providers.google.places_legacy import LegacyPlaces  # noqa: PLC0415
        from virl.platform.providers.google.ways_legacy import LegacyWays  # noqa: PLC0415
    except ModuleNotFoundError as fault:
        raise ProviderError(
            "Google's legacy web services",
            f"the package {fault.name!r} is missing",
            "pip install 'virl[google]', or set `api: new`",
        ) from None
    legacy = GooglePlaces(LegacyPlaces(http, options), center, options)
    return legacy, GoogleMaps(http, district, LegacyWays(http), zone)
