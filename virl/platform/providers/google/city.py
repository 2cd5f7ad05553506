"""A city of Google Maps."""

from pathlib import Path

from virl.budget import Budget
from virl.errors import ProviderError
from virl.geo import LatLng
from virl.platform.city import City
from virl.platform.maps import Maps
from virl.platform.providers.city_file import GoogleCity
from virl.platform.providers.google.http import GoogleHttp, open_google_http
from virl.platform.providers.google.maps import Corners, GoogleMaps, corners
from virl.platform.providers.google.options import GoogleOptions
from virl.platform.providers.google.places import GooglePlaces, PlacesApi
from virl.platform.providers.google.places_new import NewPlaces
from virl.platform.providers.google.settings import CacheMode, at_base_url, load_google_settings
from virl.platform.providers.google.streetview import GoogleStreetView


def way_to(
    settings: GoogleCity,
    *,
    budget: Budget | None = None,
    cache: CacheMode | None = None,
    session: str = "",
    record: Path | None = None,
    replay: Path | None = None,
) -> GoogleHttp:
    """The way to the host that a city's file names; `VIRL_GOOGLE_BASE_URL` goes before it. Close it.

    Args:
        settings: the city's file.
        budget: as `open_google_http` takes it, like all that follow.
        cache: the mode.
        session: the run's name.
        record: the folder to write replies to.
        replay: the folder to answer from.

    Raises:
        ProviderError: there is no key, and no replay.
        BadInput: the settings are broken, or a folder cannot be used.
    """
    google = load_google_settings()
    if settings.google.base_url and google.base_url is None:
        google = at_base_url(google, settings.google.base_url)
    return open_google_http(google, budget=budget, cache=cache, session=session, record=record, replay=replay)


def google_city(name: str, settings: GoogleCity, http: GoogleHttp | None = None) -> City:
    """The city of a file.

    Raises:
        ProviderError: as `open_google`.
        BadInput: as `open_google`.
    """
    return open_google(
        name=name,
        title=settings.title,
        center=settings.center,
        options=settings.google,
        http=http or way_to(settings),
        settings=settings,
    )


def open_google(
    name: str,
    title: str,
    center: LatLng,
    options: GoogleOptions | None = None,
    http: GoogleHttp | None = None,
    settings: GoogleCity | None = None,
) -> City:
    """A city of Google Maps. Opening it asks nothing.

    Args:
        name: what `open_city` calls it.
        title: the name as people write it.
        center: its middle; a search that names no position looks around it.
        options: how to ask.
        http: the way to Google; by default with the key and the settings of this machine.
        settings: the city's file; an address in its district is preferred to one of the same name elsewhere.

    Raises:
        ProviderError: there is no `GOOGLE_MAPS_API_KEY`, or `api: legacy` lacks its client library.
        BadInput: the settings are broken.
    """
    chosen = options or GoogleOptions()
    way = http or open_google_http()
    places, maps = _services(way, chosen, corners(settings.polygon) if settings else None)
    return City(
        name=name,
        title=title,
        center=center,
        streetview=GoogleStreetView(
            way,
            imagery=chosen.imagery,
            zoom=chosen.zoom,
            outdoor=chosen.outdoor,
            panoramas_kept=chosen.panoramas_kept,
        ),
        places=GooglePlaces(
            places, center, keep_closed=chosen.keep_closed, nearby_requests=chosen.nearby_requests
        ),
        maps=maps,
        meter=way.meter,
    )


def _services(http: GoogleHttp, options: GoogleOptions, district: Corners | None) -> tuple[PlacesApi, Maps]:
    if (options.api or http.settings.api) == "new":
        return NewPlaces(http, options.language, pages=options.search_pages), GoogleMaps(http, district)
    try:
        from virl.platform.providers.google.legacy_maps import LegacyWays  # noqa: PLC0415
        from virl.platform.providers.google.legacy_places import LegacyPlaces  # noqa: PLC0415
    except ModuleNotFoundError as fault:
        raise ProviderError(
            "Google's legacy web services",
            f"the package {fault.name!r} is missing",
            "pip install 'virl[google]', or set `api: new`",
        ) from None
    places = LegacyPlaces(http, options.language, pages=options.search_pages, page_wait=options.page_wait)
    return places, GoogleMaps(http, district, LegacyWays(http))
