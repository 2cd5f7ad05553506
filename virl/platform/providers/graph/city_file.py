"""The file of a city that comes out of a data set."""

from typing import Literal

from virl.platform.providers.city_file import CityFile


class GraphCity(CityFile):
    """A file of `platform/cities/` for the streets of a data set."""

    data: Literal["touchdown"]
    """The data set, as `find_data` knows it."""
