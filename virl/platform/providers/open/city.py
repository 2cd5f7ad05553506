"""Puts a city of open data together: street view from a service, places and maps from open data."""

from collections.abc import Callable
from contextlib import ExitStack

from virl import resources
from virl.platform.city.city import City
from virl.platform.city.places import NoPlaces
from virl.platform.providers.open.city_file import OpenCity
from virl.platform.providers.open.explored import Explored, Extent
from virl.platform.providers.open.ground import ground_of
from virl.platform.providers.open.kept import KeptPictures
from virl.platform.providers.open.on_the_way import MapsOnTheWay, StreetsOnTheWay
from virl.platform.providers.open.pictures import open_pictures, picture_settings
from virl.platform.providers.open.settings import load_open_settings
from virl.platform.providers.open.shots import ShotLists
from virl.platform.providers.open.streetview import OpenStreetView
from virl.platform.providers.provider import Access

FOLDER = "open"
"""Folder within the user's data folder that has a folder for each service."""


def open_city_of_parts(name: str, file: OpenCity, access: Access) -> City:
    """Return the city of a file; no service is asked yet.

    Args:
        name: of the city.
        file: of the city.
        access: how it is reached.

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
    explored = Explored(
        ShotLists(client.shots, folder / "lists" if folder else None, own.keep_days),
        extent,
        ground.ways,
        folder / "walked" if folder else None,
        settings.may_keep,
    )
    kept = KeptPictures(folder / "pictures" if folder else None, file.streetview, settings)
    named = f"Pictures: contributors of {own.title}"
    return City(
        name=name,
        title=file.title,
        center=file.center,
        attribution="; ".join(filter(None, (named, ground.attribution))),
        credits=explored.credits,
        time_zone=ground.time_zone,
        streetview=OpenStreetView(own.title, explored, client, kept),
        places=ground.places,
        maps=ground.whole_maps or MapsOnTheWay(explored, ground.maps),
        street_map=StreetsOnTheWay(explored),
        ledger=access.ledger,
        left_out=access.left_out,
        reviewed=file.places == "google",
        directory=file.places != "google" and not isinstance(ground.places, NoPlaces),
        shareable=False if file.asks_google else None,
        close=_close_all(service.close, ground.close),
    )


def _close_all(*parts: Callable[[], None]) -> Callable[[], None]:
    """Return a function that runs all functions, even where one raises an error."""

    def close() -> None:
        with ExitStack() as every:
            for part in parts:
                every.callback(part)

    return close
