"""Symbols of places on maps: their shapes, and which one stands for which types of place."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from virl.pages.theme import TEMPLATES


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol of places, about 14 pixels wide."""

    words: frozenset[str]
    """Words of which one is in the name of a place type that it is for; empty if it is for any."""
    legend: str
    shape: tuple[tuple[tuple[float, float], ...], ...]
    """Polygons, each as corners (x, y) in pixels around the place."""

    @property
    def path(self) -> str:
        """Polygons as SVG path data."""
        return "".join(f"M{' '.join(f'{x:g},{y:g}' for x, y in corners)}z" for corners in self.shape)


@cache
def symbols() -> Mapping[str, Symbol]:
    """Return the symbols by name, those that go before others where there is no room for all first."""
    table = json.loads((TEMPLATES / "symbols.json").read_text(encoding="utf-8"))
    return {
        name: Symbol(
            frozenset(row["words"].split()),
            row["legend"],
            tuple(
                tuple((float(x), float(y)) for x, y in (pair.split(",") for pair in part.split()))
                for part in row["shape"].split("|")
            ),
        )
        for name, row in table.items()
    }


def symbol_of(types: Iterable[str]) -> str:
    """Return the name of the symbol for a place of some types, the most exact first."""
    for place_type in types:
        for name, symbol in symbols().items():
            if not symbol.words.isdisjoint(place_type.split("_")):
                return name
    return list(symbols())[-1]
