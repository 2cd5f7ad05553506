"""Areas that count as cities: parts of districts under names of their own, and groups of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import Field, field_validator

from virl import resources
from virl.errors import BadInput
from virl.geo.region import Region, region_fault
from virl.platform.providers.city_file import Name, Position
from virl.settings.faults import spell_value
from virl.settings.model import Settings, load_settings

AREAS = "platform/areas"
"""Folder of the files of areas, within the data."""


class Area(Settings):
    """Part of the district of a city, or its district in another outline."""

    of: Name
    """The city: a name in `platform/cities/`."""
    label: Name
    """The label that tells it from others of the city."""
    polygon: tuple[Position, ...]
    """Corners, `[lat, lng]` in WGS84 degrees, either way round."""

    @field_validator("polygon")
    @classmethod
    def _is_a_region(cls, polygon: tuple[Position, ...]) -> tuple[Position, ...]:
        """Check that the corners form a region."""
        if fault := region_fault(polygon):
            raise ValueError(str(fault))
        return polygon

    @property
    def region(self) -> Region:
        """The region that the area covers."""
        return Region(self.polygon)


class AreaGroup(Settings):
    """Areas under one name."""

    about: Name
    cities: tuple[Name, ...] = Field(min_length=1)


class AreaFile(Settings):
    """A file of `platform/areas/`."""

    areas: dict[Name, Area]
    groups: dict[Name, AreaGroup] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AreaBook:
    """All areas and groups, by name in alphabetical order."""

    areas: dict[str, Area]
    groups: dict[str, AreaGroup]

    def expand(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return names with each group replaced by its cities, none twice."""
        found = (
            city for name in names for city in (self.groups[name].cities if name in self.groups else (name,))
        )
        return tuple(dict.fromkeys(found))


def area_book() -> AreaBook:
    """Return all areas and groups of `platform/areas/`.

    Raises:
        BadInput: one is broken, or a group names an area that there is not.
    """
    areas: dict[str, Area] = {}
    groups: dict[str, AreaGroup] = {}
    for file in sorted(resources.data_folder(AREAS).glob("*.yaml")):
        read = load_settings(file, AreaFile)
        areas |= read.areas
        groups |= read.groups
        for name, group in read.groups.items():
            if unknown := [city for city in group.cities if city not in areas]:
                raise BadInput(f"{file}: groups: {name}: no area is called {spell_value(unknown[0])}")
    return AreaBook(dict(sorted(areas.items())), dict(sorted(groups.items())))
