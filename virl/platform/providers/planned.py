"""The plans of towns for export: of made cities, and of towns rebuilt from OpenStreetMap."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shapely import Polygon

from virl.errors import BadInput
from virl.extras import require
from virl.platform.providers.cities import city_settings, name_of_city
from virl.platform.providers.offline.city import plan_of
from virl.platform.providers.osm.city_file import OsmCity
from virl.towns.plan.town_plan import CityPlan


@dataclass(frozen=True, slots=True)
class ExportSource:
    """A town with its whole plan, ready for export."""

    name: str
    """Name for file names, such as `"helsinki"`."""
    city: str
    """Name or path that the city was given by; of a path only the file's name."""
    plan: CityPlan
    """Plan of the town: streets, houses, places and panoramas."""
    attribution: str = ""
    """Names that an export has to credit; empty for nobody."""
    licence: str = ""
    """Licence of the data; empty where there is none."""
    outline: Polygon | None = None
    """Outline of the part that was read of a larger town, metres; `None` for a whole town."""
    driven: Sequence[bool] | None = None
    """True for each street that is one-way for cars, along its line; `None` if every street is."""

    @property
    def is_real(self) -> bool:
        """Return whether the town exists, so that its street names are real and its streets no grid."""
        return self.driven is not None


def source_of(city: str) -> ExportSource:
    """Return the plan of a city for export, with the names to credit.

    The city is named by its name, or by the path of an extract, such as `helsinki.osm.pbf@60.17,24.94,300`.

    Raises:
        UnknownName: there is no such city.
        ModelUnavailable: the extra `osm` is missing.
        BadInput: it is another kind of city, or its extract cannot be read.
    """
    file = city_settings(city)
    if isinstance(file, OsmCity):
        return _rebuilt_town(city, file)
    plan = plan_of(file)
    if plan is None:
        raise BadInput(
            f"the city {city!r} cannot be exported: choose a made city, such as 'virlton', or an "
            "OpenStreetMap extract, such as town.osm.pbf"
        )
    return ExportSource(name_of_city(city), Path(city).name, plan)


def _rebuilt_town(city: str, file: OsmCity) -> ExportSource:
    """Return the plan, for export, of a town rebuilt from OpenStreetMap that a user named as `city`."""
    require("osm", what=f"exporting {city}")
    from virl.osm.cache import load_twin  # noqa: PLC0415 - needs the extra
    from virl.osm.mapped import LICENCE, credit, part_of  # noqa: PLC0415 - as above
    from virl.osm.ways import driving  # noqa: PLC0415 - as above

    extract = file.extract_part
    twin = load_twin(extract.file, part_of(extract), extract.names)
    tags = twin.extract.lines.tags
    driven = [driving(tags[way]) == (True, False) for way in twin.streets.way.tolist()]
    return ExportSource(
        name=name_of_city(city),
        city=Path(city).name,
        plan=twin.plan,
        attribution=credit(twin.extract.date),
        licence=LICENCE,
        outline=twin.extract.outline,
        driven=driven,
    )
