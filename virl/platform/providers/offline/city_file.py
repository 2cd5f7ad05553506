"""The file of a city that is made."""

from pydantic import Field

from virl.platform.providers.city_file import CityFile


class OfflineCity(CityFile):
    """A file of `platform/cities/` for a city that is made."""

    seed: int = Field(ge=0)
    """What the city grows from."""
    plates: bool = False
    """Whether plates with names of streets and house numbers hang over its junctions."""
