"""The files of `platform/cities/`: where a city is, and which provider makes it."""

from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from virl.geo import LatLng
from virl.platform.providers.google.options import GoogleOptions
from virl.region import Region, position_fault, region_fault
from virl.settings import Settings, load_settings

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


def _within(position: LatLng, continent: Continent) -> bool:
    south, west, north, east = _EXTENTS[continent]
    return south <= position.lat <= north and west <= position.lng <= east


def _on_earth(position: LatLng) -> LatLng:
    fault = position_fault(position)
    if fault:
        raise ValueError(fault)
    return position


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r} is not a time zone such as 'Asia/Tokyo'") from None
    return name


Position = Annotated[LatLng, AfterValidator(_on_earth)]


class CityFile(Settings):
    """What every file of `platform/cities/` says."""

    title: str = Field(min_length=1)
    """The name as people write it."""
    about: str

    @property
    def place(self) -> str:
        """Where it is, in one line."""
        return self.about


class OfflineCity(CityFile):
    """A file of `platform/cities/` for a city that is made."""

    provider: Literal["offline"]
    seed: int = Field(ge=0)
    """What the city grows from."""


class GraphCity(CityFile):
    """A file of `platform/cities/` for the streets of a data set."""

    provider: Literal["graph"]
    data: Literal["touchdown"]
    """The data set, as `find_data` knows it."""


class GoogleCity(CityFile):
    """A file of `platform/cities/` for a district of a real city."""

    provider: Literal["google"]
    city: str = Field(min_length=1)
    district: str = Field(min_length=1)
    continent: Continent | None = None
    """Where it lies, to find swapped numbers; `None` for what lies on none."""
    country: str = Field(min_length=1)
    language: str = Field(pattern=r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$")
    """What most of its shop signs are written in: a BCP 47 tag such as `zh-HK`."""
    google: GoogleOptions = GoogleOptions()
    """How Google is asked, where it should differ from the defaults."""
    time_zone: Annotated[str, AfterValidator(_time_zone)]
    """IANA name, such as `Asia/Tokyo`."""
    polygon: tuple[Position, ...]
    """Corners of the district, `[lat, lng]` in WGS84 degrees, either way round; 0.02 to 30 square
    kilometres."""
    center: Position
    """`[lat, lng]`; where one is put who names no start. Inside the polygon."""

    @property
    def place(self) -> str:
        """District, city and country."""
        return f"{self.district}, {self.city}, {self.country}"

    @property
    def region(self) -> Region:
        """The district."""
        return Region(self.polygon)

    @field_validator("polygon")
    @classmethod
    def _is_a_district(cls, polygon: tuple[LatLng, ...], info: ValidationInfo) -> tuple[LatLng, ...]:
        continent: Continent | None = info.data.get("continent")
        for corner in polygon:
            if continent and not _within(corner, continent):
                swapped = _within(LatLng(corner.lng, corner.lat), continent)
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
    def _is_inside(cls, center: LatLng, info: ValidationInfo) -> LatLng:
        if "polygon" in info.data:
            region = Region(info.data["polygon"])
            if not region.contains(center):
                swapped = region.contains(LatLng(center.lng, center.lat))
                raise ValueError(f"{center} is outside the polygon{_SWAPPED if swapped else ''}")
        return center


CitySettings = OfflineCity | GraphCity | GoogleCity
"""A file of `platform/cities/`; `provider` tells which."""

_KINDS: dict[str, type[CitySettings]] = {"offline": OfflineCity, "graph": GraphCity, "google": GoogleCity}


class _Kind(Settings):
    """What tells the kinds apart; it is read first, so that a fault in the rest is named for its own kind."""

    model_config = ConfigDict(extra="ignore")

    provider: Literal["offline", "graph", "google"]


def read_city(file: Path) -> CitySettings:
    """Read a file of `platform/cities/`.

    Raises:
        BadInput: the file is broken.
    """
    return load_settings(file, _KINDS[load_settings(file, _Kind).provider])
