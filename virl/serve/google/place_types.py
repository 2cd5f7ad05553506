"""The place types that Places (New) knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from virl.platform.city.place_types import by_type
from virl.platform.city.places import Place
from virl.serve.google.wire import invalid


@dataclass(frozen=True, slots=True)
class NewTypes:
    """The types of Places (New)."""

    narrow: frozenset[str]
    """Google's table A."""
    wide: frozenset[str]
    """Google's table B."""
    renamed: Mapping[str, str]
    fine: Mapping[str, tuple[str, ...]]
    """Finer types of what a made town calls a place."""


def _read_types() -> NewTypes:
    """Read the tables of Google's place types."""
    tables = by_type("google")
    return NewTypes(
        narrow=frozenset(name for name, table in tables.items() if table == "A"),
        wide=frozenset(name for name, table in tables.items() if table == "B"),
        renamed=by_type("new"),
        fine=by_type("fine"),
    )


TYPES = _read_types()
ALWAYS = ("point_of_interest", "establishment")  # what all places are


def check_types(types: Iterable[str], *, also_wide: bool = False) -> None:
    """Refuse types that a request may not name.

    Args:
        types: what it names.
        also_wide: whether it may name those of table B too.

    Raises:
        Refused: it may not.
    """
    known = TYPES.narrow | TYPES.wide if also_wide else TYPES.narrow
    unknown = sorted(set(types) - known)
    if unknown:
        raise invalid(f"Unsupported types: {', '.join(unknown)}.")


def types_of(place: Place) -> list[str]:
    """Return the types of a place that Places (New) knows, the finest first, each once, `ALWAYS` last."""
    return list(_known_types(place.types))


def primary_type(place: Place) -> str | None:
    """Return the finest type of a place, of table A; `None` where it has none of those."""
    return next((kind for kind in _known_types(place.types) if kind in TYPES.narrow), None)


@lru_cache(maxsize=10_000)
def _known_types(types: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types that Google's new API knows, with those that all places have."""
    named = (TYPES.renamed.get(kind, kind) for kind in types)
    known = (kind for kind in named if kind in TYPES.narrow or kind in TYPES.wide)
    return tuple(dict.fromkeys((*known, *ALWAYS)))


def display_name(kind: str) -> str:
    """Return a type in words, such as `Japanese Restaurant`."""
    return kind.replace("_", " ").title()
