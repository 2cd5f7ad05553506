"""One vocabulary of place types for both generations of Google's Places.

It is the names that both use, which is nearly all; where they differ, those of the legacy API, which the made
city and V-IRL's data use as well. Finer types that only Places (New) knows, such as `ramen_restaurant`, stay,
before the coarse type that they imply.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from virl.platform.city.place_types import by_type, place_table, types_96, types_marked


@dataclass(frozen=True, slots=True)
class TypeTable:
    """The columns of the table of place types that concern Google; the table's head explains them."""

    dropped: frozenset[str]
    renamed: Mapping[str, str]
    implied: Mapping[str, str]
    """Types implied by the ends of names, by end."""
    asked_as: Mapping[str, tuple[str, ...]]
    also_asked: Mapping[str, tuple[str, ...]]
    searchable: frozenset[str]
    taken: frozenset[str]
    """Types that a search of Places (New) accepts."""
    half: frozenset[str]


@cache
def type_table() -> TypeTable:
    """Return Google's columns of the table of place types."""
    return TypeTable(
        dropped=types_marked("says_nothing"),
        renamed=by_type("old"),
        implied={end: name for name, end in by_type("name_ends").items()},
        asked_as=by_type("asked_as"),
        also_asked=by_type("asked_too"),
        searchable=types_96(),
        taken=frozenset(name for name, row in place_table().types.items() if row.google == "A"),
        half=types_marked("busy"),
    )


def normal_types(given: Iterable[str], primary: str | None = None) -> tuple[str, ...]:
    """Return types of either API in virl's vocabulary, the most specific first.

    Args:
        given: the types of a place.
        primary: the one that Places (New) calls its primary type.
    """
    names = [primary, *given] if primary else list(given)
    kept = [_normal(name) for name in names if name not in type_table().dropped]
    implied = [parent for name in kept if (parent := _implied_type(name))]
    known = [name for name in kept if name in type_table().searchable or name in type_table().asked_as]
    finer = [name for name in kept if name not in known]
    first = kept[:1]
    return tuple(dict.fromkeys([*first, *finer, *known, *implied]))


def asked_types(wanted: Collection[str]) -> list[str]:
    """Return the types to ask Places (New) for; empty if it knows none."""
    table = type_table()
    asked: dict[str, None] = {}
    for name in sorted(wanted):
        if name in table.asked_as:
            asked |= dict.fromkeys(table.asked_as[name])
        elif name in table.searchable or name in table.taken:
            asked |= dict.fromkeys((name, *table.also_asked.get(name, ())))
    return list(asked)


def asked_legacy_types(wanted: Collection[str]) -> list[str]:
    """Return the types to ask the legacy API for, one by one; empty if it knows none."""
    table = type_table()
    asked = (one for name in sorted(wanted) for one in table.asked_as.get(name, (_normal(name),)))
    return [one for one in dict.fromkeys(asked) if one in table.searchable]


def known_as(wanted: Collection[str]) -> frozenset[str]:
    """Return types in virl's vocabulary, to compare with those of places."""
    return frozenset(wanted).union(map(_normal, wanted))


def _normal(name: str) -> str:
    """Return a type's name in virl's vocabulary."""
    return type_table().renamed.get(name, name)


def _implied_type(name: str) -> str | None:
    """Return the type that the end of a name implies; `None` for a searchable type or no known end."""
    if name in type_table().searchable:
        return None
    return next((parent for end, parent in type_table().implied.items() if name.endswith(end)), None)
