"""Towns rebuilt from OpenStreetMap."""

from virl.extras import require
from virl.osm.box import SUFFIXES
from virl.platform.city.city import City
from virl.platform.providers.osm.city_file import OsmCity, city_of_path, title_of
from virl.platform.providers.provider import Access, Paths, Provider


def _open(name: str, file: OsmCity, access: Access) -> City:
    """Return the city of a file, with the reader of extracts imported only now."""
    require("osm", what=f"{name}, a town of OpenStreetMap,")
    from virl.platform.providers.osm.city import open_twin  # noqa: PLC0415 - needs the extra

    return open_twin(name, file, access)


PROVIDER = Provider(
    file=OsmCity,
    open=_open,
    needs="an OpenStreetMap extract, and virl[osm]",
    drawn=True,
    shareable=True,
    terms="© OpenStreetMap contributors, Open Database License 1.0 (openstreetmap.org/copyright): name them "
    "wherever you show a map, a view or a result.",
    paths=Paths(SUFFIXES, city_of_path, title_of),
)
