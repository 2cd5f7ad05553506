"""The exhibits of a result as the report's page shows them, side by side where they are narrow."""

from collections.abc import Sequence
from dataclasses import dataclass

from virl.drawing.charts import BarRow, Plot, draw_bars, draw_curves
from virl.drawing.exhibits import BarsExhibit, Cell, CurvesExhibit, Exhibit, MapExhibit, TableExhibit
from virl.drawing.maps import DrawnMap, draw_map
from virl.drawing.numbers import column_digits, written
from virl.geo import LatLng

NARROW_COLUMNS = 3
"""Columns up to which a table fits beside something; chosen."""


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A cell of a table."""

    text: str
    number: float | None
    """By which rows are sorted; `None` in columns of words."""


@dataclass(frozen=True, slots=True)
class DrawnTable:
    """A table with its numbers written out."""

    numeric: tuple[bool, ...]
    """Which columns hold numbers."""
    rows: tuple[tuple[DrawnCell, ...], ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """An exhibit and how it is drawn."""

    exhibit: Exhibit
    wide: bool
    """Whether it has the whole width of the page."""
    figure: DrawnMap | DrawnTable | Plot | tuple[BarRow, ...] | None
    """`None` for a text, and where there is nothing to draw."""


def draw_exhibits(exhibits: Sequence[Exhibit], streets: Sequence[Sequence[LatLng]]) -> list[Drawn]:
    """Lay out exhibits, in their order.

    Args:
        exhibits: of a result.
        streets: centre lines, for maps.
    """
    widths = _widths(exhibits)
    return [
        Drawn(exhibit, wide, _figure(exhibit, streets, wide=wide))
        for exhibit, wide in zip(exhibits, widths, strict=True)
    ]


def _widths(exhibits: Sequence[Exhibit]) -> list[bool]:
    """Whether each is wide; narrow ones come in pairs."""
    widths: list[bool] = []
    while len(widths) < len(exhibits):
        pair = exhibits[len(widths) : len(widths) + 2]
        widths += [False, False] if len(pair) == 2 and all(map(_is_narrow, pair)) else [True]
    return widths


def _is_narrow(exhibit: Exhibit) -> bool:
    if isinstance(exhibit, TableExhibit):
        return len(exhibit.columns) <= NARROW_COLUMNS
    return not isinstance(exhibit, CurvesExhibit)


def _figure(
    exhibit: Exhibit, streets: Sequence[Sequence[LatLng]], *, wide: bool
) -> DrawnMap | DrawnTable | Plot | tuple[BarRow, ...] | None:
    match exhibit:
        case MapExhibit():
            return draw_map(exhibit, streets, wide=wide)
        case BarsExhibit():
            return draw_bars(exhibit)
        case CurvesExhibit():
            return draw_curves(exhibit)
        case TableExhibit():
            return _table(exhibit)
        case _:
            return None


def _table(exhibit: TableExhibit) -> DrawnTable:
    digits = [
        column_digits(row[number] for row in exhibit.rows if number < len(row))
        for number in range(len(exhibit.columns))
    ]
    rows = tuple(tuple(map(_cell, row, digits)) for row in exhibit.rows)
    return DrawnTable(tuple(places is not None for places in digits), rows)


def _cell(cell: Cell, digits: int | None) -> DrawnCell:
    if cell is None:
        return DrawnCell("\N{EN DASH}", None)
    if isinstance(cell, str):
        return DrawnCell(cell, None)
    return (
        DrawnCell(written(cell, digits or 0), float(cell))
        if digits is not None
        else DrawnCell(f"{cell:g}", None)
    )
