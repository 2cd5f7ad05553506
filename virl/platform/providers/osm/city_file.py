"""The file of a town that is rebuilt from OpenStreetMap, and a path in its place."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from virl.errors import BadInput
from virl.geo import LatLng, LocalFrame
from virl.platform.providers.city_file import CityFile, Position
from virl.region import Region, position_fault
from virl.resources import data_home

SUFFIXES = (".osm.pbf", ".osm", ".osm.gz", ".osm.bz2")
DATA = "osm"
"""The folder of extracts in the user's data folder."""
INVENTED = "invented"
"""Suffix of a path that asks for invented life."""
RADIUS_M = 600.0  # of the part of an extract that is read around a position; chosen: ten minutes' walk across
BUSY_KEYS = ("shop", "amenity")
"""Keys of what makes a part of a town lively, where it has a name."""
MAX_RADIUS_M = 5000.0  # chosen: flat metres stay exact, and a city of this size opens within a minute


class OsmCity(CityFile):
    """A file of `platform/cities/` for a twin.

    Its `polygon` says which part of the extract to read, or `around` and `radius` do; by default, all of it.
    """

    extract: Path
    """An OpenStreetMap extract; looked for in the folder `osm` of the user's data folder too."""
    around: Position | None = None
    """`[lat, lng]`: the middle of the square to read."""
    radius: float = Field(default=RADIUS_M, ge=50, le=MAX_RADIUS_M)
    """Half the side of that square, in metres."""
    names: str = Field(default="", pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]+)*)?$")
    """Language of the names of places and streets, such as `en` for `name:en`; those without one, and
    by default all, have the name that is written on the spot."""
    life: Literal["mapped", "invented"] = "mapped"
    """`invented` adds reviews, ratings, prices, hidden attributes and homes to rent, which no map has."""
    seed: int = Field(default=0, ge=0)
    """Seed of what is invented."""

    @property
    def part(self) -> Region | None:
        """The part of the extract to read; `None` for all of it."""
        if self.polygon or not self.around:
            return self.region
        frame, half = LocalFrame(self.around), self.radius
        corners = ((-half, -half), (half, -half), (half, half), (-half, half))
        return Region(tuple(frame.position(*corner) for corner in corners))

    @property
    def map_file(self) -> Path | None:
        """The extract."""
        return self.file

    @property
    def file(self) -> Path:
        """The extract: as it is given, or in the user's data folder if only there.

        The one in the data folder may have another suffix: a downloaded `helsinki.osm.gz` serves for
        `helsinki.osm.pbf`.
        """
        if self.extract.exists():
            return self.extract
        kept = data_home() / DATA / self.extract
        stem = next((kept.name.removesuffix(one) for one in SUFFIXES if kept.name.endswith(one)), kept.name)
        others = (kept.with_name(stem + suffix) for suffix in SUFFIXES)
        return next((path for path in (kept, *others) if path.exists()), self.extract)


def title_of(city: str) -> str:
    """Return the name of the town of a path: `data/helsinki.osm.pbf@60.17,24.94,800` gives `helsinki`."""
    path, _ = _split(city)
    name = Path(path).name
    return next(name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)) or name


def with_part(city: str, around: str | None, radius: float | None, *, invented: bool = False) -> str:
    """Return the given path of a city, with the part of it to read.

    Args:
        city: a path of an extract.
        around: latitude and longitude, as in `60.17,24.94`; `None` for all of the extract.
        radius: metres; `None` for `RADIUS_M`.
        invented: whether reviews, ratings, prices and homes to rent are invented.

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
    """Return the city file that stands for a path of an extract.

    `FILE` or `FILE@[LAT,LNG[,RADIUS]][,invented]`.

    Raises:
        BadInput: the part is no position with a radius.
    """
    path, part = _split(city)
    name = title_of(city)
    square = part.removesuffix(INVENTED).removesuffix(",")
    around, radius = _part(square) if square else (None, RADIUS_M)
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
    path, at, part = city.rpartition("@")
    return (path, part) if at and path.endswith(SUFFIXES) else (city, "")


def _part(text: str) -> tuple[LatLng, float]:
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
