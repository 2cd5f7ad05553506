"""The file of a city that is rebuilt from OpenStreetMap."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from virl.platform.providers.city_file import CityFile


class OsmCity(CityFile):
    """A file of `platform/cities/` for a twin. Its `polygon` says which part of the extract to read."""

    extract: Path
    """An OpenStreetMap extract; a path without a folder is looked for in the user's data folder too."""
    life: Literal["mapped", "invented"] = "mapped"
    """`invented` adds reviews, ratings, prices and rentals from the seed, and says so everywhere."""
    seed: int = Field(default=0, ge=0)
    """What invented life and parked cars come from."""
