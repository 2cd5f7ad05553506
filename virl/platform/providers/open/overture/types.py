"""Overture's categories as Google's place types."""

from collections.abc import Iterable, Mapping
from functools import cache

from virl.osm.place_types import type_table
from virl.platform.city.place_types import types_named

OF_EVERY_PLACE = ("point_of_interest", "establishment")
"""Types that every place has."""


def types_of(categories: Iterable[str]) -> tuple[str, ...]:
    """Return place types for Overture's categories, the finest first; only general ones if none fits.

    Args:
        categories: of the place, the finest first.
    """
    found = [kind for category in categories for kind in _of_category(category)]
    return tuple(dict.fromkeys((*found, *OF_EVERY_PLACE)))


def _of_category(category: str) -> tuple[str, ...]:
    """Return the place types of one category, with the wider ones that each implies."""
    named = types_named("overture").get(category, (category,))
    return tuple(wider for kind in named for wider in _wider().get(kind, ()))


@cache
def _wider() -> Mapping[str, tuple[str, ...]]:
    """Return the type and the wider types that each place type comes with in OpenStreetMap."""
    found: dict[str, tuple[str, ...]] = {}
    for values in type_table().values():
        for types in values.values():
            for place, kind in enumerate(types):
                found.setdefault(kind, types[place:])
    return found
