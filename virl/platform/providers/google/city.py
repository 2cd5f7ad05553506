"""A city of Google Maps."""

from virl.errors import BadInput, ProviderError
from virl.geo.globe import LatLng
from virl.platform.city.city import Capabilities, City, PanoramaPage
from virl.platform.city.maps import Maps
from virl.platform.city.streetview import StreetView
from virl.platform.providers.google.city_file import GoogleCity, GoogleOptions, fit_mover
from virl.platform.providers.google.client import Call, GoogleHttp, open_google_http
from virl.platform.providers.google.maps import Corners, GoogleMaps, corners
from virl.platform.providers.google.places import GooglePlaces, GooglePlacesInFull, PlacesApi
from virl.platform.providers.google.places_new import NewPlaces
from virl.platform.providers.google.settings import at_base_url, load_google_settings
from virl.platform.providers.google.streetview import GoogleStreetView, KeyedStreetView, LinklessStreetView
from virl.platform.providers.google.tiles import THUMBNAIL
from virl.platform.providers.google.ways_new import RoutesApi
from virl.platform.providers.provider import Access, CityFile

_PAGE = Call("maps_js")
"""Request for the Maps JavaScript API, which pages load."""


def google_city(name: str, file: GoogleCity, access: Access) -> City:
    """Return the city of a file, asked at the host that `VIRL_GOOGLE_BASE_URL` or the file names.

    Args:
        name: of the city.
        file: of the city.
        access: how it is reached.

    Raises:
        ProviderError: there is no key, and no replay; or as `open_google`.
        BadInput: the settings are broken, or a folder cannot be used.
    """
    http = _way(file.google, access)
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
        file: of the city; has a center.
        options: how Google is asked.
        access: with the ledger.

    Raises:
        ProviderError: as `google_city`.
        BadInput: as `google_city`.
    """
    http = _way(options, access)
    district = corners(file.polygon) if file.polygon else None
    places, maps = _services(http, options, district, file.time_zone)
    center = file.center or LatLng(0.0, 0.0)
    return _places(places, center, options), maps, http


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
        name: what `open_city` calls it.
        title: the name as people write it.
        center: its middle; a search that names no position looks around it.
        options: how to ask.
        http: the way to Google; by default with the key and the settings of this machine.
        settings: the city's file; an address far from its district is not found.

    Raises:
        ProviderError: there is no `GOOGLE_MAPS_API_KEY`, or `api: legacy` lacks its client library.
        BadInput: the settings are broken.
    """
    chosen = options or GoogleOptions()
    way = http or open_google_http()
    streetview = _street_view(way, chosen)
    district, zone = (corners(settings.polygon), settings.time_zone) if settings else (None, None)
    places, maps = _services(way, chosen, district, zone)
    return City(
        name=name,
        title=title,
        center=center,
        streetview=streetview,
        places=_places(places, center, chosen),
        maps=maps,
        capabilities=Capabilities(
            is_drawn=chosen.drawn,
            cheap_view=THUMBNAIL if chosen.thumbnails and way.settings.map_tiles is not False else None,
            visual_memory=chosen.visual_memory,
            panorama_page=_panorama_page(way, chosen),
            fit_mover=lambda start, asked: fit_mover(
                streetview, chosen, map_tiles=_is_linked(streetview), start=start, asked=asked
            ),
        ),
        ledger=way.ledger,
        left_out=way.keeping.left_out,
        credits=way.credits.line,
        close=way.close,
    )


def _way(options: GoogleOptions, access: Access) -> GoogleHttp:
    """Return the HTTP client of a run, for the host that a city's file names."""
    settings = load_google_settings()
    if options.base_url and settings.base_url is None:
        settings = at_base_url(settings, options.base_url)
    return open_google_http(settings, access)


def _places(api: PlacesApi, center: LatLng, options: GoogleOptions) -> GooglePlaces[PlacesApi]:
    """Return Google's places over one generation of the API, with details in full where it can."""
    closed, requests = options.keep_closed, options.nearby_requests
    if isinstance(api, NewPlaces):
        return GooglePlacesInFull(api, center, keep_closed=closed, nearby_requests=requests)
    return GooglePlaces(api, center, keep_closed=closed, nearby_requests=requests)


def _panorama_page(http: GoogleHttp, options: GoogleOptions) -> PanoramaPage | None:
    """Return the page that shows street view, at the same host as all requests; `None` in a replay."""
    if http.is_replay:
        return None
    endpoint = http.settings.endpoint(_PAGE.endpoint)
    address = (http.settings.base_url or endpoint.base).rstrip("/") + endpoint.prefix
    return PanoramaPage(address, lambda: http.pay(http.request(_PAGE)), options.outdoor)


def _street_view(http: GoogleHttp, options: GoogleOptions) -> StreetView:
    """Return street view, with links if the key may use Map Tiles; asked on first use if that is unknown."""
    linkless = LinklessStreetView(http, outdoor=options.outdoor)
    if http.settings.map_tiles is False:
        if options.imagery == "tiles":
            raise BadInput(
                "`imagery: tiles` needs Map Tiles, and `map_tiles` is false: change one of the two"
            )
        return linkless
    linked = GoogleStreetView(
        http,
        imagery=options.imagery,
        zoom=options.zoom,
        outdoor=options.outdoor,
        panoramas_kept=options.panoramas_kept,
        thumbnails=options.thumbnails,
    )
    return linked if http.settings.map_tiles else KeyedStreetView(linked, linkless, options.imagery)


def _is_linked(streetview: StreetView) -> bool:
    """Return whether a street view of Google has links; it may have to be asked."""
    if isinstance(streetview, KeyedStreetView):
        return streetview.is_linked
    return isinstance(streetview, GoogleStreetView)


def _services(
    http: GoogleHttp, options: GoogleOptions, district: Corners | None, zone: str | None
) -> tuple[PlacesApi, Maps]:
    """Return (places, maps) of the generation of Google's services that is chosen."""
    if (options.api or http.settings.api) == "new":
        places: PlacesApi = NewPlaces(http, options.language, pages=options.search_pages)
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
    places = LegacyPlaces(http, options.language, pages=options.search_pages, page_wait=options.page_wait)
    return places, GoogleMaps(http, district, LegacyWays(http), zone)
