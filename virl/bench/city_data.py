"""The data set that a per-city benchmark asks about: the user's, or in a made city one made on the spot."""

from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from pydantic import Field

from virl.bench.benchmark import BenchOptions
from virl.bench.records import slug
from virl.bench.resources import Resources
from virl.console import SafeConsole, print_plain
from virl.datasets.collect.collection import (
    Collection,
    collect_city_places,
    collect_city_questions,
    collect_city_routes,
    collecting_bar,
    sole_writer,
)
from virl.datasets.collect.dataset import CARD, PLACES, QUESTIONS, ROUTES, DataSet, open_dataset
from virl.datasets.collect.places import PlacesSettings
from virl.datasets.collect.routes import RoutesSettings
from virl.errors import BadInput, VirlError
from virl.geo import globe
from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.platform.city.city import City
from virl.platform.providers.cities import name_of_city, region_of_city
from virl.resources import cache_home, data_home

MADE_ROUTES = 20
"""Number of routes collected for a made city. Chosen: twice the number V-IRL has for a district."""


class Uncollected(VirlError):
    """The error that a made city has no data set yet, and that the run is not allowed to collect one."""


class CityOptions(BenchOptions):
    """Options of the benchmarks that ask about one city's data set at a time."""

    data: str = ""
    """Folder with the data set of each city in a folder of its name (see `virl collect`). By default
    `collected` in your data folder; virl collects missing data sets of made cities itself."""
    side_m: float = Field(0.0, ge=0)
    """Use only a square of this side in metres around the city's centre; 0 for no limit."""


def city_data(
    options: CityOptions,
    name: str,
    resources: Resources,
    *,
    needs: Literal["places", "images", "questions", "routes"] = "places",
) -> DataSet:
    """Return a city's data set, cut to `side_m`; if none exists, collect a made city's with `needs` in it.

    Args:
        options: where it is, and how much of it.
        name: of the city.
        resources: opens the city.
        needs: what is asked about; a data set that is made here gets it.

    Raises:
        BadInput: there is none, and the city is not a made one; or it is broken, or nothing is left of it.
        Uncollected: there is none yet, and the resources may collect none.
    """
    home = Path(options.data).resolve() if options.data else data_home() / "collected"
    if options.data and not home.is_dir():
        raise BadInput(f"--data {options.data}: no such folder")
    folder = home / name_of_city(name)
    if not folder.is_dir() and resources.city(name).truth is not None:
        opened = resources.city(name)
        is_object = name in resources.objects  # no fingerprint tells the parts of two apart
        home = resources.terms.out if is_object else cache_home()
        known = slug(name) if is_object else name_of_city(name)
        folder = home / "collected" / f"{known}-{_fingerprint(opened)}"
        _collect(folder, opened, needs, may_collect=resources.may_collect)
    elif not folder.is_dir():
        raise BadInput(
            f"{folder}: no data set of {name}: run `virl collect places --city {name} --out {folder}`"
        )
    data = open_dataset(folder)
    if options.side_m:
        data = _cut(data, square_around(resources.city(name).center, options.side_m))
    found = {
        "places": bool(data.places),
        "images": any(place.image for place in data.places),
        "questions": bool(data.questions),
        "routes": bool(data.routes),
    }
    if not found[needs]:
        kind = {"questions": "vqa", "routes": "routes"}.get(needs, "places")
        collect = f"run `virl collect {kind} --city {name} --out {data.folder}`"
        remedy = "give a larger --side-m" if options.side_m else collect
        raise BadInput(f"{data.folder}: contains no {needs}: {remedy}")
    return data


def square_around(center: LatLng, side: float) -> Region:
    """Return a square region around a position, `side` metres long and aligned to north."""
    half = side / 2
    south, north = (globe.destination(center, heading, half).lat for heading in (180.0, 0.0))
    west, east = (globe.destination(center, heading, half).lng for heading in (270.0, 90.0))
    corners = ((south, west), (south, east), (north, east), (north, west))
    return Region(tuple(LatLng(lat, lng) for lat, lng in corners))


def _fingerprint(city: City) -> str:
    """Return a digest of a made city's number of panoramas and of its places within 1 km of the centre."""
    near = [
        (place.id, place.name, place.types, place.position, place.review_count)
        for place in city.places.nearby(city.center, 1000.0)
    ]
    return blake2b(repr((len(city.panorama_ids), near)).encode(), digest_size=6).hexdigest()


def _collect(folder: Path, city: City, needs: str, *, may_collect: bool) -> None:
    """Collect a made city's missing data of the kind `needs`; raise `Uncollected` unless `may_collect`."""
    rows = {"questions": QUESTIONS, "routes": ROUTES}.get(needs, PLACES)
    if not ((folder / CARD).is_file() and (folder / rows).is_file()):
        takes = f"about {'2 min' if needs == 'routes' else '20 s'} and 50 MB"  # measured in Virlton
        work = f"the data set of {city.title}: once, {takes}, in {folder}"
        if not may_collect:
            raise Uncollected(f"virl first collects {work}")
        print_plain(SafeConsole(stderr=True), f"collecting {work}")
    # Of a complete data set this finds nothing left to collect.
    with sole_writer(folder), collecting_bar(SafeConsole(stderr=True)) as progress:
        collection = Collection(folder, city, "offline", region_of_city(city))
        collect_city_places(collection, PlacesSettings(), "cpu", allow_downloads=False, progress=progress)
        if needs == "questions":
            collect_city_questions(collection, 0, progress)
        if needs == "routes":
            collect_city_routes(collection, RoutesSettings(count=MADE_ROUTES), progress)


def _cut(data: DataSet, region: Region) -> DataSet:
    """Return a data set cut to a region: panoramas, places, their questions, and routes that end in it."""
    places = tuple(place for place in data.places if region.contains(place.position))
    kept = {place.id for place in places}
    cut = replace(
        data,
        panoramas=tuple(one for one in data.panoramas if region.contains(one.position)),
        places=places,
        routes=tuple(route for route in data.routes if region.contains(route.destination)),
        questions=tuple(question for question in data.questions if question.id in kept),
    )
    if not cut.panoramas:
        raise BadInput(f"{data.folder}: contains no panorama in the square: give a larger --side-m")
    return cut
