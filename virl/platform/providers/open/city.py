"""Cities of open data, put together of street view from a picture service, places and maps."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from virl import resources
from virl.extras import require
from virl.geo.globe import LatLng
from virl.osm.box import Box, ExtractPart, box_around, find_extract, region_around, square_around
from virl.platform.city.city import Capabilities, City
from virl.platform.city.graph import GraphMaps, NavigationGraph
from virl.platform.city.maps import Maps
from virl.platform.city.places import NoPlaces, Places
from virl.platform.providers.google.city import google_parts
from virl.platform.providers.http.nominatim import Nominatim
from virl.platform.providers.http.osm_servers import CACHE, OpenMapsSettings, load_open_maps
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.open.city_file import OpenCity
from virl.platform.providers.open.maps import Addresses, OpenMaps
from virl.platform.providers.open.osrm import OsrmWays
from virl.platform.providers.open.places import TiledPlaces
from virl.platform.providers.open.shots import (
    KeptPictures,
    ShotLists,
    load_open_settings,
    open_pictures,
    picture_settings,
)
from virl.platform.providers.open.streetview import (
    ExploredGraph,
    Extent,
    GrowingMaps,
    GrowingStreetMap,
    OpenStreetView,
)
from virl.platform.providers.open.valhalla import ValhallaWays
from virl.platform.providers.provider import Access

if TYPE_CHECKING:
    from virl.osm.mapped import MappedTown


OSM_CREDIT = "© OpenStreetMap contributors (ODbL 1.0)"
"""Credit of services that do not give the date of their data."""
GOOGLE_CREDIT = "Google Maps"
"""Credit of Google's places and maps."""


@dataclass(frozen=True, slots=True)
class CityGround:
    """The places, maps and walkable ways of a city, without pictures, as `ground_of` makes them."""

    places: Places
    """Provider of places."""
    maps: Callable[[NavigationGraph], Maps]
    """Function from a panorama graph to the maps over it."""
    ways: Sequence[Sequence[LatLng]] = ()
    """Walkable ways as positions, split at junctions; empty where they are not all known."""
    attribution: str = ""
    """Names to credit for places and maps."""
    time_zone: str | None = None
    """IANA name of the time zone; `None` where it is not known."""
    whole_maps: Maps | None = None
    """Maps that need no panoramas, in place of `maps`; `None` for `maps`."""
    close: Callable[[], None] = lambda: None
    """Function that closes the connections."""


def ground_of(name: str, file: OpenCity, access: Access) -> CityGround:
    """Return the places and maps that a city's file names; no service is asked yet.

    Args:
        name: name of the city, for errors.
        file: contents of the city's file.
        access: ledger, cache and recordings of the run.

    Raises:
        BadInput: the extract is missing, cannot be read, or holds no street here; or a URL is none.
        ModelUnavailable: a package that reads it is missing.
        ProviderError: Google is asked, and there is no key and no replay.
    """
    builder = _GroundBuilder(name, file, access)
    try:
        return builder.build()
    except BaseException:
        builder.close()
        raise


class _GroundBuilder:
    """A builder of the places and maps that a city's file names, with their connections and credits."""

    def __init__(self, name: str, file: OpenCity, access: Access) -> None:
        """Prepare to build places and maps for a city's file; nothing is opened yet."""
        self._name, self._file, self._access = name, file, access
        self._closing = ExitStack()
        self._credits: list[str] = []
        self.close = self._closing.close

    def build(self) -> CityGround:
        """Return the places, maps and ways of the city."""
        town = self._town()
        google: tuple[Places, Maps] | None = None
        if self._file.asks_google:
            self._credits.append(GOOGLE_CREDIT)
            google_places, google_maps, http = google_parts(self._file, self._file.google, self._access)
            self._closing.callback(http.close)
            google = google_places, google_maps
        services = load_open_maps()
        keeping = Keeping.of(self._access, CACHE)
        self._closing.callback(keeping.close)
        places = self._places(town, google, services, keeping)
        whole = google[1] if google and self._file.maps == "google" else None
        return CityGround(
            places=places,
            maps=GraphMaps if whole else self._maps(town, services, keeping),
            ways=town.ways if town else (),
            attribution="; ".join(dict.fromkeys(self._credits)),
            time_zone=town.time_zone if town else None,
            whole_maps=whole,
            close=self.close,
        )

    def _town(self) -> "MappedTown | None":
        """Return the map of the city's extract; `None` without one."""
        file = self._file
        if file.extract is None:
            return None
        require("osm", what=f"the map of {self._name}")
        from virl.osm.mapped import mapped_town  # noqa: PLC0415 - needs the extra

        town = mapped_town(
            ExtractPart(
                find_extract(file.extract),
                file.title,
                part=file.region or region_around(file.center, max(file.reach_m, 50.0)),
            ),
            self._access.day,
        )
        self._credits.append(town.attribution)
        return town

    def _places(
        self,
        town: "MappedTown | None",
        google: tuple[Places, Maps] | None,
        services: OpenMapsSettings,
        keeping: Keeping,
    ) -> Places:
        """Return the provider of places that the city's file names: the extract, Google or another source."""
        if self._file.places == "google" and google:
            return google[0]
        if self._file.places == "osm":
            return town.places if town else NoPlaces(self._name)
        district = district_of(self._file)
        if self._file.places == "overture" and (files := self._file.overture_files):
            require("overture", "pyarrow", what=f"reading {files}")
            from virl.platform.providers.open.overture import OverturePlaces  # noqa: PLC0415 - needs the extra

            overture = OverturePlaces(files)
            self._credits.append(overture.credit(district))
            return TiledPlaces(overture, district)
        require("osm", what=f"the places of {self._name}")
        from virl.platform.providers.open.overpass import OverpassPlaces  # noqa: PLC0415 - needs the extra

        source = OverpassPlaces(services.overpass, keeping, self._file.overpass_url, self._access.day)
        self._closing.callback(source.close)
        self._credits.append(OSM_CREDIT)
        return TiledPlaces(source, district)

    def _maps(
        self, town: "MappedTown | None", services: OpenMapsSettings, keeping: Keeping
    ) -> Callable[[NavigationGraph], Maps]:
        """Return a function from a panorama graph to the maps that the file names."""
        file = self._file
        if file.maps == "osm":
            return town.maps if town else GraphMaps
        ways: OsrmWays | ValhallaWays
        if file.maps == "osrm":
            ways = OsrmWays(services.osrm, keeping, file.osrm_url)
        else:
            ways = ValhallaWays(services.valhalla, keeping, file.valhalla_url)
        self._closing.callback(ways.close)
        self._credits.append(OSM_CREDIT)
        addresses: Addresses
        if town:
            addresses = town.addresses
        else:
            addresses = Nominatim(services.nominatim, keeping, district_of(file), file.nominatim_url)
            self._closing.callback(addresses.close)
        return lambda panoramas: OpenMaps(addresses, ways, GraphMaps(panoramas))


def district_of(file: OpenCity) -> Box:
    """Return the box around a city's polygon or, without one, the square `2 * reach_m` around its center."""
    if file.region is None:
        return square_around(file.center, 2 * file.reach_m)
    return box_around(file.region)


FOLDER = "open"
"""Name of the folder in the user's data folder with a folder for each picture service."""


def open_city_of_parts(name: str, file: OpenCity, access: Access) -> City:
    """Return the city of a file that names its sources of pictures, places and maps; none is asked yet.

    Args:
        name: name by which `open_city` opens the city.
        file: contents of the city's file.
        access: ledger, cache and recordings of the run.

    Raises:
        BadInput: the settings or the extract are broken, or a folder cannot be used.
        ProviderError: there is no token, and no replay.
    """
    settings = load_open_settings()
    own = picture_settings(file.streetview, file.picture_url)
    client, service = open_pictures(file.streetview, own, access)
    try:
        ground = ground_of(name, file, access)
    except BaseException:
        service.close()
        raise
    keeps = access.cache != "off" and not service.keeping.is_recorded
    folder = resources.data_home() / FOLDER / file.streetview if keeps else None
    extent = Extent(file.center, file.region, file.reach_m, file.as_of)
    explored = ExploredGraph(
        ShotLists(client.shots, folder / "lists" if folder else None, own.keep_days),
        extent,
        ground.ways,
        folder / "walked" if folder else None,
        settings.may_keep,
    )
    kept = KeptPictures(folder / "pictures" if folder else None, file.streetview, settings)
    named = f"Pictures: contributors of {own.title}"

    def close() -> None:
        """Close both clients, even where one raises an error."""
        with ExitStack() as every:
            every.callback(service.close)
            every.callback(ground.close)

    return City(
        name=name,
        title=file.title,
        center=file.center,
        attribution="; ".join(filter(None, (named, ground.attribution))),
        credits=explored.credits,
        time_zone=ground.time_zone,
        streetview=OpenStreetView(own.title, explored, client, kept),
        places=ground.places,
        maps=ground.whole_maps or GrowingMaps(explored, ground.maps),
        street_map=GrowingStreetMap(explored),
        ledger=access.ledger,
        left_out=access.left_out,
        capabilities=Capabilities(
            has_reviews=file.places == "google",
            has_free_lookup=file.places != "google" and not isinstance(ground.places, NoPlaces),
        ),
        shareable=False if file.asks_google else None,
        close=close,
    )
