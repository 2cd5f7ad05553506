"""The file of a town that is rebuilt from OpenStreetMap, and a path in its place."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.geo.region import Region, position_fault
from virl.osm.box import MAX_RADIUS_M, RADIUS_M, SUFFIXES, ExtractPart, find_extract, region_around
from virl.platform.providers.provider import CityFile, Crowd, Position

INVENTED = "invented"
"""Word at the end of a city's path, after `,` or `@`, that asks for invented reviews, prices and homes."""


class OsmCity(CityFile):
    """The contents of a file of `platform/cities/` for a real town rebuilt from a map.

    Its `polygon` says which part of the extract to read, or `around` and `radius` do; by default, all of it.
    """

    extract: Path
    """Path of an OpenStreetMap extract; also looked for in `osm` of the user's data folder."""
    around: Position | None = None
    """Middle `[lat, lng]` of the square to read; `None` reads all, or the busiest town of a country."""
    radius: float = Field(default=RADIUS_M, ge=50, le=MAX_RADIUS_M)
    """Half the side in metres of the square to read."""
    names: str = Field(default="", pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]+)*)?$")
    """Language of the names of places and streets, such as `en` for `name:en`.
    Those without one, and by default all, have the name that is written on the spot."""
    life: Literal["mapped", "invented"] = "mapped"
    """Life of the town: `invented` adds reviews, ratings, prices, hidden attributes and homes."""
    seed: int = Field(default=0, ge=0)
    """Seed of the random numbers for what is invented."""
    crowd: Crowd = 1.0
    """People, cyclists, cars and cafe tables in views, as a factor on what is usual; 0 for none."""

    @property
    def part(self) -> Region | None:
        """Region to read, of the polygon or the square; `None` where the file names neither."""
        if self.polygon or not self.around:
            return self.region
        return region_around(self.around, self.radius)

    @property
    def map_file(self) -> Path:
        """Path of the extract."""
        return find_extract(self.extract)

    @property
    def extract_part(self) -> ExtractPart:
        """Extract, region to read, language of names and invented life, for the reader of extracts."""
        return ExtractPart(
            self.map_file, self.title, self.part, self.radius, self.names, self.life, self.seed
        )


def title_of(city: str) -> str:
    """Return the name of the town in a path: `data/helsinki.osm.pbf@60.17,24.94,800` gives `helsinki`."""
    path, _ = _split(city)
    name = Path(path).name
    return next(name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)) or name


def with_part(city: str, around: str | None, radius: float | None, *, invented: bool = False) -> str:
    """Return the path of an extract with the part to read appended, such as `FILE@60.17,24.94,800`.

    Args:
        city: path of an extract.
        around: latitude and longitude of the middle, as in `60.17,24.94`; `None` for all of the extract.
        radius: half the side of the square to read in metres; `None` for `RADIUS_M`.
        invented: True to invent reviews, ratings, prices and homes to rent.

    Raises:
        BadInput: the city is no extract, or there is a radius without a middle.
    """
    if around is None and radius is None and not invented:
        return city
    if not city.endswith(SUFFIXES):
        raise BadInput(
            f"--around, --radius and --invented-life are for an OpenStreetMap extract, not for {city!r}: "
            f"give --city a file that ends in {', '.join(SUFFIXES)}"
        )
    if around is None and radius is not None:
        raise BadInput("--radius needs --around LAT,LNG")
    parts = [around, None if radius is None else f"{radius:g}", INVENTED if invented else None]
    named = f"{city}@{','.join(part for part in parts if part is not None)}"
    city_of_path(named)
    return named


def city_of_path(city: str) -> OsmCity:
    """Return the city file for a path `FILE` or `FILE@[LAT,LNG[,RADIUS]][,invented]`.

    Raises:
        BadInput: the part is no position with a radius.
    """
    path, part = _split(city)
    name = title_of(city)
    square = part.removesuffix(INVENTED).removesuffix(",")
    around, radius = _parse_part(square) if square else (None, RADIUS_M)
    return OsmCity(
        title=name.replace("-", " ").replace("_", " ").title(),
        about=f"Rebuilt from {Path(path).name}",
        provider="osm",
        extract=Path(path),
        around=around,
        radius=radius,
        life="invented" if part.endswith(INVENTED) else "mapped",
    )


def _split(city: str) -> tuple[str, str]:
    """Return (file, part behind the `@`) of a given path; the part is empty without an `@`."""
    path, at, part = city.rpartition("@")
    return (path, part) if at and path.endswith(SUFFIXES) else (city, "")


def _parse_part(text: str) -> tuple[LatLng, float]:
    """Return (position, radius in metres) of a text such as `60.17,24.94,800`; else raise `BadInput`."""
    try:
        numbers = [float(number) for number in text.split(",")]
        lat, lng, radius = (*numbers, RADIUS_M) if len(numbers) == 2 else numbers
    except ValueError:
        raise BadInput(f"part {text!r}: must be LAT,LNG or LAT,LNG,RADIUS, such as 60.17,24.94,800") from None
    if fault := position_fault(LatLng(lat, lng)):
        raise BadInput(f"part {text!r}: {fault}")
    if not 50 <= radius <= MAX_RADIUS_M:
        raise BadInput(f"part {text!r}: the radius must be from 50 to {MAX_RADIUS_M:g} metres")
    return LatLng(lat, lng), radius
