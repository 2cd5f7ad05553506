"""Providers by name, what holds of each, and what every file of `platform/cities/` says."""

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

MIN_AREA_KM2, MAX_AREA_KM2 = 0.02, 30.0  # of a district: a few blocks to a borough; chosen

Continent = Literal["Africa", "Asia", "Australia", "Europe", "North America", "South America"]

_EXTENTS: dict[Continent, tuple[float, float, float, float]] = {
    "Africa": (-35, -26, 38, 58),
    "Asia": (-11, 25, 72, 180),
    "Australia": (-48, 112, 0, 180),
    "Europe": (34, -32, 72, 60),
    "North America": (7, -170, 72, -50),
    "South America": (-56, -92, 13, -34),
}
"""South, west, north and east of the streets of each continent, in degrees, to find swapped numbers (chosen:
whole degrees around its land)."""

_SWAPPED = ": are latitude and longitude swapped?"
"""Question in errors about positions on the wrong side of Earth."""


def _lies_within(position: LatLng, continent: Continent) -> bool:
    """Return whether a position is within a continent's extent."""
    south, west, north, east = _EXTENTS[continent]
    return south <= position.lat <= north and west <= position.lng <= east


def _on_earth(position: LatLng) -> LatLng:
    """Return a position, checked to have a valid latitude and longitude."""
    fault = position_fault(position)
    if fault:
        raise ValueError(fault)
    return position


def _time_zone(name: str) -> str:
    """Return the name of a time zone, checked to exist."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r} is not a time zone such as 'Asia/Tokyo'") from None
    return name


def _language(tag: str) -> str:
    """Return a BCP 47 language tag, checked for its form."""
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?", tag):
        raise ValueError(f"must be a language tag, such as ja or zh-HK, not {spell_value(tag)}")
    return tag


Position = Annotated[LatLng, AfterValidator(_on_earth)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
Language = Annotated[str, AfterValidator(_language)]
Name = Annotated[str, Field(min_length=1)]


class CityFile(Settings):
    """The fields that every file of `platform/cities/` may have; each provider's model adds what it needs.

    What is left out is `None`. A provider whose cities must say more makes those fields required.
    """

    invents_life: ClassVar[bool] = False
    """True if reviews, ratings and prices of its cities are invented anyway."""

    title: Name
    """The name as people write it."""
    about: str
    provider: str
    """The provider that makes the city."""
    needs: str | None = None
    """Requirements for opening it; `None` for those of its provider. Empty for nothing."""
    city: Name | None = None
    district: Name | None = None
    continent: Continent | None = None
    """The continent that it lies on, to find swapped numbers; `None` for what lies on none."""
    country: Name | None = None
    language: Language | None = None
    """The language that most of its shop signs are written in: a BCP 47 tag such as `zh-HK`."""
    time_zone: TimeZone | None = None
    """IANA name, such as `Asia/Tokyo`."""
    polygon: tuple[Position, ...] | None = None
    """Corners of the district, `[lat, lng]` in WGS84 degrees, either way round; 0.02 to 30 square
    kilometres."""
    center: Position | None = None
    """`[lat, lng]`; where one is put who names no start. Inside the polygon."""

    @property
    def place(self) -> str:
        """District, city and country of a city on a continent; else the file's description."""
        parts = (self.district, self.city, self.country)
        return ", ".join(filter(None, parts)) if self.continent and all(parts) else self.about

    @property
    def mover(self) -> MoverChoice | None:
        """The mover that fits the city, as far as its file says; `None` for that of the provider.

        `None` for the one that fits the provider.
        """
        return None

    @property
    def map_file(self) -> Path | None:
        """The OpenStreetMap extract that the whole city is built from; `None` if it is not built from one."""
        return None

    @property
    def region(self) -> Region | None:
        """The district; `None` without corners."""
        return Region(self.polygon) if self.polygon else None

    @field_validator("polygon")
    @classmethod
    def _is_a_district(
        cls, polygon: tuple[LatLng, ...] | None, info: ValidationInfo
    ) -> tuple[LatLng, ...] | None:
        """Check the corners: on the continent, a region, and of a possible area."""
        if polygon is None:
            return None
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
        """Check that the centre lies within the polygon."""
        polygon = info.data.get("polygon")
        if center and polygon:
            region = Region(polygon)
            if not region.contains(center):
                swapped = region.contains(LatLng(center.lng, center.lat))
                raise ValueError(f"{center} is outside the polygon{_SWAPPED if swapped else ''}")
        return center


FileT = TypeVar("FileT", bound=CityFile)


@dataclass(frozen=True, slots=True)
class Access:
    """The terms of asking a city: its ledger, cache, recording and dates."""

    ledger: Ledger = field(default_factory=Ledger)
    """Limit on dollars, and counts of requests."""
    cache: Literal["off", "session", "ttl"] | None = None
    """Mode of the cache on disk; by default the one in the provider's settings."""
    session: str = ""
    """Name of the run, given again on resuming to find its own replies in the cache."""
    record: Path | None = None
    """Folder to write replies to; `None` records nothing."""
    replay: Path | None = None
    """Folder to answer from without network; `None` asks the network."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Counts of what cannot be read in replies and files."""
    as_of: date | None = None
    """Last day of pictures, in place of that of the city's file; `None` keeps the file's."""
    day: date | None = None
    """Day of the run, for seasonal hours and openings; `None` for today."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths, such as those of map extracts, that may stand in place of a city file."""

    suffixes: tuple[str, ...]
    """Endings of the names of such files."""
    read: Callable[[str], CityFile]
    """Function from a path to its city file; raises `BadInput`."""
    name: Callable[[str], str]
    """Function from a path to the name of its city."""

    def fit(self, city: str) -> bool:
        """Return whether a given name is such a path, with or without a part behind an `@`."""
        return city.rpartition("@")[0].endswith(self.suffixes) or city.endswith(self.suffixes)


@dataclass(frozen=True, slots=True)
class Provider(Generic[FileT]):
    """A maker of cities: the model of its files, and the function that opens one.

    Each folder of `virl/platform/providers/` with a `provider.py` has one there, as `PROVIDER`, under the
    folder's name. Another package gives one by an entry point of the group `virl.providers`.
    """

    file: type[FileT]
    """The model of its city files."""
    open: Callable[[str, FileT, Access], City]
    """Function that makes the city of a name, a file and the access; it asks nothing yet."""
    needs: str = ""
    """The requirements beside virl, such as a variable with a key; empty if its cities open anywhere, for
    free. A city's file may say otherwise."""
    network: bool = False
    """True where the provider is asked over a network, so that replies can be recorded."""
    billed: bool | None = None
    """True where its requests cost money; `None` if that is not known."""
    shareable: bool | None = None
    """True where its pictures and texts may be shown to others; `None` if the terms have to be read."""
    terms: str = ""
    """Terms under which it gives pictures and texts, in a sentence or two."""
    mover: str = "links"
    """Name of the mover that fits its cities, for `virl.platform.movers.open_mover`."""
    paths: Paths | None = None
    """Paths that stand in place of a city's name; `None` for none."""
    drawn: bool = False
    """True where virl draws what is seen in its cities."""
    cities: Path | None = None
    """Folder of city files that come with it; `None` for those in `platform/cities/`."""

    @property
    def may_cost(self) -> bool:
        """Return whether its requests cost money, or might."""
        return self.network if self.billed is None else self.billed


PROVIDERS: Registry[Provider[Any]] = Registry(
    kind="provider",
    group="virl.providers",
    expected=Provider,
    builtin=partial(scan, "virl.platform.providers", "provider", "PROVIDER"),
)
"""virl's own providers and those of other packages, by name."""


def _check_provider(name: str) -> str:
    """Return the name of a provider, checked to exist."""
    if name not in PROVIDERS:
        raise ValueError(str(UnknownName("provider", name, PROVIDERS.names())))
    return name


class _Named(Settings):
    """The provider's name in a city file; read before the other fields."""

    model_config = ConfigDict(extra="ignore")

    provider: Annotated[str, AfterValidator(_check_provider)]


def read_city(file: Path) -> CityFile:
    """Return the settings in a city's file, checked by its provider.

    Raises:
        BadInput: the file is broken, or names no provider that there is.
        ModelUnavailable: its provider comes with a package that cannot be imported.
    """
    checked: CityFile = load_settings(file, PROVIDERS.find(load_settings(file, _Named).provider).file)
    return checked


def provider_of(city: CityFile) -> Provider[Any]:
    """Return the provider that makes a city.

    Raises:
        ModelUnavailable: as `read_city`.
    """
    return PROVIDERS.find(city.provider)
