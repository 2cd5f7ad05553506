"""Providers of cities by name, and the fields that every file of `platform/cities/` may have."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from virl.errors import UnknownName
from virl.geo.globe import LatLng
from virl.geo.region import Region, position_fault, region_fault
from virl.money.ledger import Ledger
from virl.platform.city.city import City, MoverChoice
from virl.platform.city.left_out import LeftOut
from virl.registry import Registry, scan
from virl.settings.faults import spell_value
from virl.settings.model import Settings, load_settings

MIN_AREA_KM2, MAX_AREA_KM2 = 0.02, 30.0
"""Least and largest area of a district in square kilometres: a few blocks to a borough; chosen."""

Continent = Literal["Africa", "Asia", "Australia", "Europe", "North America", "South America"]
"""Names of the continents that a city file may have."""

_EXTENTS: dict[Continent, tuple[float, float, float, float]] = {
    "Africa": (-35, -26, 38, 58),
    "Asia": (-11, 25, 72, 180),
    "Australia": (-48, 112, 0, 180),
    "Europe": (34, -32, 72, 60),
    "North America": (7, -170, 72, -50),
    "South America": (-56, -92, 13, -34),
}
"""(south, west, north, east) of the streets of each continent, degrees.
To find swapped numbers (chosen: whole degrees around its land)."""

_SWAPPED = ": are latitude and longitude swapped?"
"""Question in errors about positions that lie on the wrong side of Earth."""


def _lies_within(position: LatLng, continent: Continent) -> bool:
    """Return whether a position is within the extent of a continent."""
    south, west, north, east = _EXTENTS[continent]
    return south <= position.lat <= north and west <= position.lng <= east


def _on_earth(position: LatLng) -> LatLng:
    """Return a position; raise `ValueError` unless its latitude and longitude are valid."""
    fault = position_fault(position)
    if fault:
        raise ValueError(fault)
    return position


def _time_zone(name: str) -> str:
    """Return the IANA name of a time zone; raise `ValueError` for an unknown one."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r} is not a time zone such as 'Asia/Tokyo'") from None
    return name


def _language(tag: str) -> str:
    """Return a BCP 47 language tag; raise `ValueError` for another form."""
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?", tag):
        raise ValueError(f"must be a language tag, such as ja or zh-HK, not {spell_value(tag)}")
    return tag


Position = Annotated[LatLng, AfterValidator(_on_earth)]
"""Position with a valid latitude and longitude."""
TimeZone = Annotated[str, AfterValidator(_time_zone)]
"""IANA name of a time zone that exists, such as `Asia/Tokyo`."""
Language = Annotated[str, AfterValidator(_language)]
"""BCP 47 tag of a language, such as `ja` or `zh-HK`."""
Name = Annotated[str, Field(min_length=1)]
"""Text that is not empty."""


class CityFile(Settings):
    """The fields that every file of `platform/cities/` may have, besides those of its provider.

    What is left out is `None`. A provider whose cities must say more makes those fields required.
    """

    invents_life: ClassVar[bool] = False
    """True if reviews, ratings and prices of the provider's cities are always invented."""

    title: Name
    """Name of the city as people write it."""
    about: str
    """Description of the city in a few words."""
    provider: str
    """Name of the provider that makes the city."""
    needs: str | None = None
    """Requirements for opening the city, in words; `None` for its provider's, empty for none."""
    city: Name | None = None
    """Name of the real city."""
    district: Name | None = None
    """Name of the district of the city."""
    continent: Continent | None = None
    """Continent of the city, which reveals swapped latitude and longitude; `None` for a city on none."""
    country: Name | None = None
    """Name of the country."""
    language: Language | None = None
    """Language of most shop signs: a BCP 47 tag such as `zh-HK`; `None` if not known."""
    time_zone: TimeZone | None = None
    """IANA name of the time zone, such as `Asia/Tokyo`; `None` if not known."""
    polygon: tuple[Position, ...] | None = None
    """Corners `[lat, lng]` of the district in WGS84 degrees, either way round.
    Its area is 0.02 to 30 square kilometres."""
    center: Position | None = None
    """Position `[lat, lng]` in the polygon where runs without a start begin; `None`: the provider's."""

    @property
    def place(self) -> str:
        """Names of district, city and country, or the file's description for a city on no continent."""
        parts = (self.district, self.city, self.country)
        return ", ".join(filter(None, parts)) if self.continent and all(parts) else self.about

    @property
    def mover(self) -> MoverChoice | None:
        """Mover that fits the city, as far as the file says; `None` for the provider's."""
        return None

    @property
    def map_file(self) -> Path | None:
        """Path of the extract that the whole city is built from; `None` for other cities."""
        return None

    @property
    def region(self) -> Region | None:
        """Region of the district; `None` without corners."""
        return Region(self.polygon) if self.polygon else None

    @field_validator("polygon")
    @classmethod
    def _is_a_district(
        cls, polygon: tuple[LatLng, ...] | None, info: ValidationInfo
    ) -> tuple[LatLng, ...] | None:
        """Return the corners; raise `ValueError` unless they form a district of fit size on its continent."""
        if polygon is None:
            return None
        # Fields are checked in their order: the continent is known before the corners.
        continent: Continent | None = info.data.get("continent")
        for corner in polygon:
            if continent and not _lies_within(corner, continent):
                swapped = _lies_within(LatLng(corner.lng, corner.lat), continent)
                raise ValueError(f"{corner} is not in {continent}{_SWAPPED if swapped else ''}")
        fault = region_fault(polygon)
        if fault:
            raise ValueError(str(fault))
        area = Region(polygon).area_m2 / 1e6
        if not MIN_AREA_KM2 <= area <= MAX_AREA_KM2:
            raise ValueError(f"{area:.3g} km2 is outside [{MIN_AREA_KM2:g}, {MAX_AREA_KM2:g}] km2")
        return polygon

    @field_validator("center")
    @classmethod
    def _is_inside(cls, center: LatLng | None, info: ValidationInfo) -> LatLng | None:
        """Return the centre; raise `ValueError` if it lies outside the polygon."""
        polygon = info.data.get("polygon")
        if center and polygon:
            region = Region(polygon)
            if not region.contains(center):
                swapped = region.contains(LatLng(center.lng, center.lat))
                raise ValueError(f"{center} is outside the polygon{_SWAPPED if swapped else ''}")
        return center


Crowd = Annotated[float, Field(ge=0, le=4)]
"""People, cyclists, cars and cafe tables in drawn views, as a factor on what is usual; 0 for none."""

FileT = TypeVar("FileT", bound=CityFile)


@dataclass(frozen=True, slots=True)
class Access:
    """The means and terms by which a run asks a city: ledger, cache, recording and dates."""

    ledger: Ledger = field(default_factory=Ledger)
    """Ledger of requests with the limit on dollars."""
    cache: Literal["off", "session", "ttl"] | None = None
    """Mode of the cache on disk: no replies, the run's, or all until they expire; `None`: the provider's."""
    session: str = ""
    """Name of the run, given again on resuming so that it finds its replies in the cache."""
    record: Path | None = None
    """Folder that replies are written to; `None` records nothing."""
    replay: Path | None = None
    """Folder that replies are read from instead of the network; `None` for the network."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Counts of the items and fields of replies and files that cannot be read."""
    as_of: date | None = None
    """Last day on which pictures may have been taken; `None` for that in the city's file."""
    day: date | None = None
    """Day of the run, for seasonal hours and openings; `None` for today."""
    crowd: float | None = None
    """People and traffic in drawn views, as a factor on what is usual; `None` for that of the city's file."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The rules for paths of files, such as map extracts, that a user may give in place of a city's name."""

    suffixes: tuple[str, ...]
    """Endings of the names of files that may stand for a city, such as `.osm.pbf`."""
    read: Callable[[str], CityFile]
    """Function from a path to its city file; raises `BadInput`."""
    name: Callable[[str], str]
    """Function from a path to the name of its city."""

    def fit(self, city: str) -> bool:
        """Return whether a given name is a path with one of the endings, at its end or before an `@`."""
        return city.rpartition("@")[0].endswith(self.suffixes) or city.endswith(self.suffixes)


@dataclass(frozen=True, slots=True)
class Provider(Generic[FileT]):
    """A kind of city: the model of its files, and the function that opens one.

    Each folder of `virl/platform/providers/` with a `provider.py` has one there, as `PROVIDER`, under the
    folder's name. Another package gives one by an entry point of the group `virl.providers`.
    """

    file: type[FileT]
    """Class of the contents of its city files."""
    open: Callable[[str, FileT, Access], City]
    """Function (name of the city, contents of its file, access) to the city; no service is asked yet."""
    needs: str = ""
    """Requirements in words, such as a key in a variable; empty if cities open anywhere.
    Empty also means for free. A city's file may say otherwise."""
    network: bool = False
    """True where the provider is asked over a network, so that replies can be recorded."""
    billed: bool | None = None
    """True where requests cost money; `None` if that is not known."""
    shareable: bool | None = None
    """True where pictures and texts may be shown to others; `None` if the terms must be read."""
    terms: str = ""
    """Terms under which the provider gives pictures and texts, in a sentence or two."""
    mover: str = "links"
    """Name of the mover that fits the provider's cities, for `virl.platform.movers.open_mover`."""
    paths: Paths | None = None
    """Rules for paths that stand for a city's name; `None` for none."""
    drawn: bool = False
    """True where virl draws the views of the provider's cities."""
    cities: Path | None = None
    """Folder of city files that come with the provider; `None` for those in `platform/cities/`."""

    @property
    def may_cost(self) -> bool:
        """Return whether requests to the provider cost money, or might."""
        return self.network if self.billed is None else self.billed


PROVIDERS: Registry[Provider[Any]] = Registry(
    kind="provider",
    group="virl.providers",
    expected=Provider,
    builtin=partial(scan, "virl.platform.providers", "provider", "PROVIDER"),
)
"""Providers of virl and of other packages, by name."""


def name_in(registry: Registry[Any]) -> AfterValidator:
    """Return a validator of a settings field that accepts only names of objects in a registry."""

    def check(name: str) -> str:
        """Return the name of an object; raise `ValueError` for an unknown one."""
        if name not in registry:
            raise ValueError(str(UnknownName(registry.kind, name, registry.names())))
        return name

    return AfterValidator(check)


class _Named(Settings):
    """The provider's name in a city file, which is read before all other fields."""

    model_config = ConfigDict(extra="ignore")

    provider: Annotated[str, name_in(PROVIDERS)]
    """Name of the provider that makes the city."""


def read_city(file: Path) -> CityFile:
    """Return the contents of a city's file, checked against the model of its provider.

    Raises:
        BadInput: the file is broken, or names no provider that there is.
        ModelUnavailable: its provider comes with a package that cannot be imported.
    """
    checked: CityFile = load_settings(file, PROVIDERS.find(load_settings(file, _Named).provider).file)
    return checked


def provider_of(city: CityFile) -> Provider[Any]:
    """Return the provider that a city's file names.

    Raises:
        ModelUnavailable: the provider comes with a package that cannot be imported.
    """
    return PROVIDERS.find(city.provider)
