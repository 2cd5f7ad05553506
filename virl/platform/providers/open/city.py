"""Cities of open data, put together of street view from a picture service, places and maps."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from virl import resources
from virl.extras import require
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
from virl.platform.providers.open.streetview import ExploredGraph, Extent, GrowingMaps, OpenStreetView
from virl.platform.providers.open.valhalla import ValhallaWays
from virl.platform.providers.provider import Access

if TYPE_CHECKING:
    from virl.osm.mapped import MappedTown


OSM_CREDIT = "© OpenStreetMap contributors (ODbL 1.0)"
"""Credit line for data of OpenStreetMap by services that do not give its date."""


FOLDER = "open"
"""Name of the folder, in the user's data folder, that holds a folder for each picture service."""


def district_of(file: OpenCity) -> Box:
    """Return the box around a city's polygon or, without one, the square `2 * reach_m` around its center."""
    if file.region is None:
        return square_around(file.center, 2 * file.reach_m)
    return box_around(file.region)


def open_city_of_parts(name: str, file: OpenCity, access: Access) -> City:
    """Return the city of a file that names its sources of pictures, places and maps; none is asked yet.

    Args:
        name: name by which `open_city` opens the city.
        file: contents of the city's file.
        access: ledger, cache and recordings of the run.

    Raises:
        BadInput: the settings or the extract are broken, the extract is missing or holds no street here, a
            URL is none, or a folder cannot be used.
        ModelUnavailable: a package that reads the extract is missing.
        ProviderError: there is no token or key of a service that is asked, and no replay.
    """
    builder = _CityBuilder(name, file, access)
    try:
        return builder.build()
    except BaseException:
        builder.close()
        raise


class _CityBuilder:
    """A builder of the city of a file, with the connections to close and the names to credit."""

    def __init__(self, name: str, file: OpenCity, access: Access) -> None:
        """Prepare to build the city of a file; nothing is opened yet."""
        self._name, self._file, self._access = name, file, access
        self._closing = ExitStack()
        self._credits: list[str] = []
        self.close = self._closing.close

    def build(self) -> City:
        """Return the city, put together of the sources that its file names."""
        file, settings = self._file, load_open_settings()
        own = picture_settings(file.streetview, file.picture_url)
        client, service = open_pictures(file.streetview, own, self._access)
        self._closing.callback(service.close)
        self._credits.append(f"Pictures: contributors of {own.title}")
        town = self._town()
        google: tuple[Places, Maps] | None = None
        if file.asks_google:
            self._credits.append("Google Maps")
            google_places, google_maps, http = google_parts(file, file.google, self._access)
            self._closing.callback(http.close)
            google = google_places, google_maps
        services, keeping = load_open_maps(), Keeping.of(self._access, CACHE)
        self._closing.callback(keeping.close)
        places = self._places(town, google, services, keeping)
        keeps = self._access.cache != "off" and not service.keeping.is_recorded
        folder = resources.data_home() / FOLDER / file.streetview if keeps else None
        explored = ExploredGraph(
            ShotLists(client.shots, folder / "lists" if folder else None, own.keep_days),
            Extent(file.center, file.region, file.reach_m, file.as_of),
            town.ways if town else (),
            folder / "walked" if folder else None,
            settings.may_keep,
        )
        kept = KeptPictures(folder / "pictures" if folder else None, file.streetview, settings)
        whole = google[1] if google and file.maps == "google" else None
        maps = whole or GrowingMaps(explored, self._maps(town, services, keeping))
        return City(
            name=self._name,
            title=file.title,
            center=file.center,
            attribution="; ".join(dict.fromkeys(self._credits)),
            credits=explored.credits,
            time_zone=town.time_zone if town else None,
            streetview=OpenStreetView(own.title, explored, client, kept),
            places=places,
            maps=maps,
            street_map=explored,
            ledger=self._access.ledger,
            left_out=self._access.left_out,
            capabilities=Capabilities(
                has_reviews=file.places == "google",
                has_free_lookup=file.places != "google" and not isinstance(places, NoPlaces),
            ),
            shareable=False if file.asks_google else None,
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
