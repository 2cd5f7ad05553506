"""What every file of `platform/cities/` says: where a city is, and which provider makes it."""

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from virl.geo.globe import LatLng
from virl.geo.region import Region, position_fault, region_fault
from virl.platform.city.city import MoverChoice
from virl.settings.faults import spell_value
from virl.settings.model import Settings

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
