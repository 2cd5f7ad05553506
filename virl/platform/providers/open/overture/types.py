"""Overture's categories as Google's place types."""

from collections.abc import Iterable, Mapping
from functools import cache

import yaml

from virl.platform.providers.osm.place_types import type_table
from virl.resources import data_folder

OF_EVERY_PLACE = ("point_of_interest", "establishment")


def types_of(categories: Iterable[str]) -> tuple[str, ...]:
    """The types of a place, the finest first; those of any place alone if no category has one.

    Args:
        categories: of the place, the finest first.
    """
    found = [kind for category in categories for kind in _of_category(category)]
    return tuple(dict.fromkeys((*found, *OF_EVERY_PLACE)))


def _of_category(category: str) -> tuple[str, ...]:
    named = overture_types().get(category, (category,))
    return tuple(wider for kind in named for wider in _wider().get(kind, ()))


@cache
def overture_types() -> Mapping[str, tuple[str, ...]]:
    """The types of categories that are called otherwise, from `platform/overture/place_types.yaml`."""
    text = (data_folder("platform/overture") / "place_types.yaml").read_text(encoding="utf-8")
    return {category: tuple(types) for category, types in yaml.safe_load(text).items()}


@cache
def _wider() -> Mapping[str, tuple[str, ...]]:
    """Each type that places of OpenStreetMap have, with the wider ones that it comes with there."""
    found: dict[str, tuple[str, ...]] = {}
    for values in type_table().values():
        for types in values.values():
            for place, kind in enumerate(types):
                found.setdefault(kind, types[place:])
    return found
