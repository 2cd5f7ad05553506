"""Cities and areas by name, and the region that a city covers."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path

import shapely
from pydantic import Field, field_validator

from virl import resources
from virl.errors import BadInput, UnknownName, VirlError, nearest_name
from virl.geo.globe import LatLng, LocalFrame, distance
from virl.geo.region import Region, region_fault
from virl.platform.city.city import City
from virl.platform.city.interchange import in_metres
from virl.platform.providers.provider import (
    PROVIDERS,
    Access,
    CityFile,
    Name,
    Paths,
    Position,
    provider_of,
    read_city,
)
from virl.settings.faults import spell_value
from virl.settings.model import Settings, load_settings
from virl.settings.region_file import read_region

__all__ = [
    "CITIES",
    "Access",
    "all_cities",
    "city_names",
    "city_settings",
    "listed_cities",
    "name_of_city",
    "open_city",
    "open_known",
    "opened_city",
    "read_city",
    "region_called",
    "region_line",
    "title_of_city",
]

AREAS = "platform/areas"
"""Path of the folder of area files, relative to virl's data."""


class Area(Settings):
    """A part of a city's district, or the district with another outline."""

    of: Name
    """Name of the city in `platform/cities/` that the area belongs to."""
    label: Name
    """Label that tells the area from others of its city."""
    polygon: tuple[Position, ...]
    """Corners `[lat, lng]` in WGS84 degrees, either way round."""

    @field_validator("polygon")
    @classmethod
    def _is_a_region(cls, polygon: tuple[Position, ...]) -> tuple[Position, ...]:
        """Return the corners; raise `ValueError` unless they form a region."""
        if fault := region_fault(polygon):
            raise ValueError(str(fault))
        return polygon

    @property
    def region(self) -> Region:
        """The region that the area covers."""
        return Region(self.polygon)


class AreaGroup(Settings):
    """Several areas under one name."""

    about: Name
    """Description of the group in a few words."""
    cities: tuple[Name, ...] = Field(min_length=1)
    """Names of the areas of the group."""


class AreaBook(Settings):
    """Areas and groups of areas by name: those of a file of `platform/areas/`, or of all files, sorted."""

    areas: dict[Name, Area]
    """Areas by name."""
    groups: dict[Name, AreaGroup] = Field(default_factory=dict)
    """Groups of areas by name."""

    def expand(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return names of cities, areas and groups, with each group replaced by its areas; none twice."""
        cities = (self.groups[name].cities if name in self.groups else (name,) for name in names)
        return tuple(dict.fromkeys(chain.from_iterable(cities)))


def area_book() -> AreaBook:
    """Return all areas and groups of `platform/areas/`.

    Raises:
        BadInput: one is broken, or a group names an area that there is not.
    """
    areas: dict[str, Area] = {}
    groups: dict[str, AreaGroup] = {}
    for file in sorted(resources.data_folder(AREAS).glob("*.yaml")):
        read = load_settings(file, AreaBook)
        areas |= read.areas
        groups |= read.groups
        for name, group in read.groups.items():
            if unknown := [city for city in group.cities if city not in areas]:
                raise BadInput(f"{file}: groups: {name}: no area is called {spell_value(unknown[0])}")
    return AreaBook(areas=dict(sorted(areas.items())), groups=dict(sorted(groups.items())))


CITIES = "platform/cities"
"""Path of the folder of city files, relative to virl's data."""


def city_names() -> list[str]:
    """Return the names of all cities, virl's own and those of packages, sorted; without areas."""
    return sorted({*_own_files(), *_files_of_packages()})


def name_of_city(city: str) -> str:
    """Return a city's name, given that name, or the path of its file or of a map extract."""
    if paths := _paths_for(city):
        return paths.name(city)
    return Path(city).stem if _is_file(city) else city


@cache
def title_of_city(city: str) -> str:
    """Return the title of a known city, such as `New York, SoHo`; of another, `name_of_city` of it."""
    known = all_cities().get(city)
    return known.title if known else name_of_city(city)


def city_settings(name: str) -> CityFile:
    """Return the contents of the file of a city or area; open no city.

    The name is that of a file in `platform/cities/` or of one that comes with a provider, or that of an area
    in `platform/areas/`, or the path of a file that ends in `.yaml`, or of a map extract, such as
    `helsinki.osm.pbf@60.17,24.94,800`.

    Raises:
        UnknownName: there is no such city.
        BadInput: its file is broken, or two packages bring a city of this name.
        ModelUnavailable: its provider comes with a package that cannot be imported.
    """
    if paths := _paths_for(name):
        return paths.read(name)
    if not _is_file(name) and name not in _own_files() and (area := area_book().areas.get(name)):
        city = city_settings(area.of)
        return city.model_copy(
            update={
                "title": f"{city.title}, {city.district or 'district'} ({area.label})",
                "district": f"{city.district or city.title} ({area.label})",
                "polygon": area.polygon,
                "center": area.region.center,
            }
        )
    return read_city(_file_of(name))


def all_cities() -> dict[str, CityFile]:
    """Return the contents of the files of all cities, by name in alphabetical order.

    Cities of other packages that cannot be read are left out; `listed_cities` says which.

    Raises:
        BadInput: a file of `platform/cities/` is broken.
    """
    return listed_cities()[0]


def listed_cities() -> tuple[dict[str, CityFile], list[VirlError]]:
    """Return (contents of the files of all cities by name, errors of other packages and of their files).

    Raises:
        BadInput: a file of `platform/cities/` is broken.
    """
    found = {name: read_city(file) for name, file in _own_files().items()}
    faults = PROVIDERS.usable()[1]
    for name in sorted(_files_of_packages().keys() - found.keys()):
        try:
            found[name] = city_settings(name)
        except VirlError as fault:
            faults.append(fault)
    return dict(sorted(found.items())), faults


def region_line(file: Path) -> str:
    """Return a line about the region in a file: its corners, area and middle, and the nearest known city.

    Raises:
        BadInput: the file holds no region.
    """
    region = region_called(str(file))
    middle = region.center
    away, name, place = min(
        (distance(middle, city.center), name, city.place)
        for name, city in all_cities().items()
        if city.region and city.center
    )
    return (
        f"{file}: {len(region.corners)} corners, {region.area_m2 / 1e6:.3f} km2, middle {middle}, "
        f"{away / 1000:.1f} km from the middle of {name} ({place})"
    )


def region_called(text: str, folder: Path = Path()) -> Region:
    """Return the region that a text names: a city, an area, or a file of corners by its path in `folder`.

    Raises:
        BadInput: the text is neither, the city has no district, or the file holds no region.
    """
    if not (folder / text).exists() and text in {*city_names(), *area_book().areas}:
        region = city_settings(text).region
        if region is None:
            raise BadInput(f"{text} has no district: give a file of corners")
        return region
    return read_region(folder / text)


def open_city(name: str) -> City:
    """Open a city by its name, or by the path of its file or of a map extract.

    Raises:
        UnknownName: there is no such city.
        VirlError: its file is broken, or what its provider needs, such as a data set or a key, is missing.

    Examples:
        >>> virl.open_city("virlton").title
        'Virlton'
    """
    return _open(name, Access())


def open_known(name: str) -> City | None:
    """Return the city of a recorded run, for a page about it; `None` if it is no longer known here.

    Raises:
        VirlError: as `open_city`, for a city that is known by name.
    """
    try:
        return open_city(name)
    except VirlError:
        if name in {*city_names(), *area_book().areas}:
            raise
        return None


@contextmanager
def opened_city(name: str, access: Access) -> Iterator[City]:
    """Open a city for a `with` block, on the terms of `access`; close its connections after the block.

    Raises:
        BadInput: a city that is asked over no network is to be recorded or replayed, one without dated
            pictures is to be shown as of a day, or one that is not drawn is to have another crowd.
        VirlError: as `open_city`.
    """
    city = _open(name, access)
    try:
        yield city
    finally:
        city.close()


def _open(name: str, access: Access) -> City:
    """Open a city by name or path and return it, its gaps filled with facts of its file and provider."""
    settings = city_settings(name)
    provider = provider_of(settings)
    if not provider.network and (access.record or access.replay):
        raise BadInput(f"{name} needs no network: remove --record and --replay")
    if access.as_of:
        if "as_of" not in type(settings).model_fields:
            raise BadInput(f"{name} has no pictures of different days: remove --as-of")
        settings = settings.model_copy(update={"as_of": access.as_of})
    if access.crowd is not None:
        if "crowd" not in type(settings).model_fields:
            raise BadInput(f"{name} is not drawn by virl: remove crowd")
        settings = settings.model_copy(update={"crowd": access.crowd})
    city: City = provider.open(name_of_city(name), settings, access)
    city = replace(
        city,
        center=settings.center or city.center,
        time_zone=settings.time_zone or city.time_zone,
        language=settings.language,
        region=settings.region,
        shareable=provider.shareable if city.shareable is None else city.shareable,
        terms=city.terms or provider.terms,
        opened_as=name,
    )
    return replace(city, opened=city)


def _file_of(name: str) -> Path:
    """Return the path of a city's file, given its name or path; raise `UnknownName` for an unknown name."""
    if _is_file(name):
        return Path(name)
    if own := _own_files().get(name):
        return own
    brought = _files_of_packages().get(name, [])
    if not brought:
        areas, cities = list(area_book().areas), city_names()
        if nearest_name(name, [*cities, *areas]) in areas:
            raise UnknownName("area", name, areas)
        raise UnknownName("city", name, cities)
    if len(brought) > 1:
        raise BadInput(f"city {name!r} is {' and '.join(map(str, brought))}: give the path of one of them")
    return brought[0]


def _own_files() -> dict[str, Path]:
    """Return the files of `platform/cities/` by name."""
    return {file.stem: file for file in sorted(resources.data_folder(CITIES).glob("*.yaml"))}


def _files_of_packages() -> dict[str, list[Path]]:
    """Return the paths of providers' city files, by city name; more than one path is a conflict."""
    files: dict[str, list[Path]] = {}
    for provider in PROVIDERS.usable()[0].values():
        for file in sorted(provider.cities.glob("*.yaml")) if provider.cities else ():
            files.setdefault(file.stem, []).append(file)
    return files


def _paths_for(city: str) -> Paths | None:
    """Return the path rules of the provider that can open the path `city`; `None` if no provider can."""
    if "." not in city:
        return None
    rules = (provider.paths for provider in PROVIDERS.usable()[0].values())
    return next((paths for paths in rules if paths and paths.fit(city)), None)


def _is_file(city: str) -> bool:
    """Return whether a given name is the path of a YAML file."""
    return Path(city).suffix in {".yaml", ".yml"}


AROUND_STREETS_M = 15.0
"""Distance in metres beyond the outermost streets at which a city without a district ends; chosen."""


def region_of_city(city: City) -> Region:
    """Return the district of a city, or else the region around all its streets.

    Raises:
        BadInput: the city has no district, and its streets are not all known.
    """
    if city.region:
        return city.region
    if city.street_map is None:
        raise BadInput(f"{city.title} has no default district: give a `region:`")
    return around_streets(city.street_lines)


def around_streets(lines: Sequence[Sequence[LatLng]]) -> Region:
    """Return a convex region to `AROUND_STREETS_M` beyond centre lines, which have one position or more."""
    positions = [position for line in lines for position in line]
    frame = LocalFrame(positions[0])
    hull = shapely.MultiPoint(in_metres(frame, positions)).convex_hull
    outline = shapely.get_coordinates(hull.buffer(AROUND_STREETS_M, quad_segs=2).simplify(1.0))
    return Region(tuple(frame.position(*corner) for corner in outline.tolist()))
