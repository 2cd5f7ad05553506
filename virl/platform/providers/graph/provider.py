"""Cities that come out of data sets of street graphs."""

from typing import Literal

from virl.platform.city.city import City
from virl.platform.providers.provider import Access, CityFile, Provider


class GraphCity(CityFile):
    """A file of `platform/cities/` for the streets of a data set."""

    data: Literal["touchdown"]
    """Name of the data set, as `find_data` knows it."""


def _open(name: str, file: GraphCity, access: Access) -> City:
    """Return the city of a file, with its readers imported only now."""
    from virl.platform.providers.graph.city import find_data, open_graph_city  # noqa: PLC0415 - the graphs

    del access
    return open_graph_city(name, file.title, find_data(file.data))


PROVIDER = Provider(
    file=GraphCity,
    open=_open,
    needs="the data set Touchdown (`virl data`)",
    terms="Under the terms of the data set that the streets come from.",
)
