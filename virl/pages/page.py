"""Exhibits laid out for the report's page: texts, tables, maps, and charts of bars and curves.

Narrow ones stand side by side. Bars are shares of a width, curves are points in SVG units.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from virl.pages.exhibits import BarsExhibit, Cell, Curve, CurvesExhibit, Exhibit, MapExhibit, TableExhibit
from virl.pages.ground import MapGround
from virl.pages.maps import NARROW, WIDE, MapFigure, draw_map
from virl.pages.numbers import column_digits, digits_for, tick_digits, ticks, write_number

# The looks of a chart of curves, in its own pixels; all chosen.
_WIDTH, _HEIGHT = 720.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 26.0, 12.0, 30.0  # margins
_LETTER = 7.0  # about the width of a letter
_GAP = 14.0  # between two labels below the chart
_APART = 15.0  # between the middles of two names at the ends of curves
_LONGEST = 24  # letters of a name that stands at the end of its curve


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar of a chart, with its length as a share of the longest."""

    label: str
    text: str
    """Value with its unit."""
    share: float
    """Length of the bar as a share of the longest, [0, 1]."""
    picked: bool


@dataclass(frozen=True, slots=True)
class Dot:
    """A value of a curve, drawn as a dot at (x, y) in SVG units."""

    x: float
    y: float
    title: str
    """Text shown when the dot is pointed at."""


@dataclass(frozen=True, slots=True)
class Line:
    """A curve as SVG lines, in pieces between missing values."""

    name: str
    pieces: tuple[str, ...]
    """Value of SVG's attribute `points` for each piece."""
    dots: tuple[Dot, ...]
    texts: tuple[str, ...]
    """Values as text, one for each of the chart's points; empty where there is none."""
    end: tuple[float, float] | None = None
    """Position of the name at the curve's end, SVG units; `None` if the name stands below the chart."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart of curves, laid out in SVG units, y downwards."""

    width: float
    height: float
    left: float
    """Left end of the horizontal rules, SVG units."""
    right: float
    """Right end of the horizontal rules, SVG units."""
    base: float
    """Vertical position of the labels below the chart, SVG units."""
    rules: tuple[tuple[float, str], ...]
    """(vertical position in SVG units, text) of each tick."""
    labels: tuple[tuple[float, str], ...]
    """(horizontal position, text) of each label; overlapping ones are left out."""
    lines: tuple[Line, ...]


NARROW_COLUMNS = 3
"""Most columns of a table that fits beside something else; chosen."""


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A cell of a table as text, with its number for sorting."""

    text: str
    number: float | None
    """Number by which rows are sorted; `None` in columns of words."""


@dataclass(frozen=True, slots=True)
class DrawnTable:
    """A table with its numbers written as text."""

    numeric: tuple[bool, ...]
    """True for each column that holds numbers."""
    rows: tuple[tuple[DrawnCell, ...], ...]


@dataclass(frozen=True, slots=True)
class LaidOutExhibit:
    """An exhibit with its drawing, ready for the template."""

    exhibit: Exhibit
    wide: bool
    """True if the exhibit takes the whole width of the page."""
    figure: MapFigure | DrawnTable | Plot | tuple[BarRow, ...] | None
    """Drawing of the exhibit; `None` for a text, and for a map or curves without any value."""


def draw_exhibits(exhibits: Sequence[Exhibit], ground: MapGround) -> list[LaidOutExhibit]:
    """Return exhibits with their drawings and widths, in the same order; `ground` is for maps."""
    widths: list[bool] = []
    # Two narrow neighbours share a row; any other exhibit has one of its own.
    while len(widths) < len(exhibits):
        pair = exhibits[len(widths) : len(widths) + 2]
        widths += [False, False] if len(pair) == 2 and all(map(_is_narrow, pair)) else [True]
    return [
        LaidOutExhibit(exhibit, wide, _figure(exhibit, ground, wide=wide))
        for exhibit, wide in zip(exhibits, widths, strict=True)
    ]


def _is_narrow(exhibit: Exhibit) -> bool:
    """Return whether an exhibit may stand beside another: no curves, no table with many columns."""
    if isinstance(exhibit, TableExhibit):
        return len(exhibit.columns) <= NARROW_COLUMNS
    return not isinstance(exhibit, CurvesExhibit)


def _figure(
    exhibit: Exhibit, ground: MapGround, *, wide: bool
) -> MapFigure | DrawnTable | Plot | tuple[BarRow, ...] | None:
    """Return the drawing of an exhibit; `None` for a text, and if there is nothing to draw."""
    match exhibit:
        case MapExhibit():
            return draw_map(exhibit, ground, across=WIDE if wide else NARROW)
        case BarsExhibit():
            return draw_bars(exhibit)
        case CurvesExhibit():
            return draw_curves(exhibit)
        case TableExhibit():
            digits = [
                column_digits(row[number] for row in exhibit.rows if number < len(row))
                for number in range(len(exhibit.columns))
            ]
            rows = tuple(tuple(map(_cell, row, digits)) for row in exhibit.rows)
            return DrawnTable(tuple(places is not None for places in digits), rows)
        case _:
            return None


def _cell(cell: Cell, digits: int | None) -> DrawnCell:
    """Return a cell as text; numbers have `digits` after the point, `None` in columns of words."""
    if cell is None:
        return DrawnCell("\N{EN DASH}", None)
    if isinstance(cell, str):
        return DrawnCell(cell, None)
    if digits is None:
        return DrawnCell(f"{cell:g}", None)
    return DrawnCell(write_number(cell, digits), float(cell))


def draw_bars(exhibit: BarsExhibit) -> tuple[BarRow, ...]:
    """Return the bars of a chart with texts and lengths, the longest of length 1."""
    longest = max((bar.value for bar in exhibit.bars), default=0.0)
    digits = digits_for(bar.value for bar in exhibit.bars)
    return tuple(
        BarRow(
            bar.label,
            f"{write_number(bar.value, digits)} {exhibit.unit}".strip(),
            bar.value / longest if longest else 0.0,
            bar.picked,
        )
        for bar in exhibit.bars
    )


def draw_curves(exhibit: CurvesExhibit) -> Plot | None:
    """Return the curves of a chart, laid out; `None` if none has a value."""
    values = [value for curve in exhibit.curves for value in curve.values if value is not None]
    if not values:
        return None
    count = max([len(exhibit.points), *(len(curve.values) for curve in exhibit.curves)])
    low = min(values) if exhibit.low is None else exhibit.low
    high = max(values) if exhibit.high is None else exhibit.high
    if low >= high:  # a scale needs an extent, also for one value
        room = max(abs(low), 1.0) / 10
        low, high = low - room, low + room
    names = [len(curve.name) for curve in exhibit.curves]
    named = max(names) <= _LONGEST
    axes = _Axes(count, low, high, _WIDTH - _RIGHT - (_LETTER * max(names) if named else 0))
    # Labels that would overlap are left out: every second, third, ... stays.
    widest = max((len(label) * _LETTER + _GAP for label in exhibit.points), default=_GAP)
    every = max(1, ceil(widest / axes.spacing))
    digits, marks = digits_for(values), ticks(axes.low, axes.high)
    mark_digits = tick_digits(marks)
    return Plot(
        _WIDTH,
        _HEIGHT,
        _LEFT,
        axes.right,
        _HEIGHT - _BOTTOM / 3,
        tuple((axes.y(mark), write_number(mark, mark_digits)) for mark in marks),
        tuple((axes.x(index), exhibit.points[index]) for index in range(0, len(exhibit.points), every)),
        tuple(_name_ends([_line(exhibit, curve, axes, digits) for curve in exhibit.curves], named=named)),
    )


def _name_ends(lines: Sequence[Line], *, named: bool) -> Iterator[Line]:
    """Yield the lines, if `named` with room for their names beside their ends, none over another."""
    last, ends = -_APART, {}
    for number, line in sorted(enumerate(lines), key=lambda one: one[1].dots[-1].y if one[1].dots else 0.0):
        if named and line.dots:
            last = max(last + _APART, line.dots[-1].y)
            ends[number] = (line.dots[-1].x + _APART / 2, last + _APART / 4)
    for number, line in enumerate(lines):
        yield replace(line, end=ends.get(number))


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of a chart, which turn values into SVG units."""

    count: int
    """Number of the chart's points, from left to right."""
    low: float
    high: float
    right: float
    """Right end of the chart, SVG units."""

    @property
    def spacing(self) -> float:
        """Horizontal distance between two neighbouring points, SVG units."""
        return (self.right - _LEFT) / max(self.count - 1, 1)

    def x(self, index: int) -> float:
        """Return the horizontal position of a point, SVG units; a single one is in the middle."""
        return _LEFT + index * self.spacing if self.count > 1 else (_LEFT + self.right) / 2

    def y(self, value: float) -> float:
        """Return the vertical position of a value, SVG units, within the scale."""
        share = (self.high - min(max(value, self.low), self.high)) / (self.high - self.low)
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * share


def _line(exhibit: CurvesExhibit, curve: Curve, axes: _Axes, digits: int) -> Line:
    """Return a curve as SVG lines and dots, with `digits` after the point in the texts of its values."""
    names = [*exhibit.points, *map(str, range(len(exhibit.points) + 1, axes.count + 1))]
    texts = ["" if value is None else write_number(value, digits) for value in curve.values]
    dots = [
        None
        if value is None
        else Dot(axes.x(index), axes.y(value), f"{curve.name}, {names[index]}: {texts[index]} {exhibit.unit}")
        for index, value in enumerate(curve.values)
    ]
    texts += [""] * (axes.count - len(texts))
    return Line(curve.name, tuple(_pieces(dots)), tuple(dot for dot in dots if dot), tuple(texts))


def _pieces(dots: Sequence[Dot | None]) -> Iterator[str]:
    """Yield the SVG `points` of each run of dots without gaps; `None` is a gap."""
    piece: list[str] = []
    for dot in [*dots, None]:
        if dot:
            piece.append(f"{dot.x:.1f},{dot.y:.1f}")
        elif piece:
            yield " ".join(piece)
            piece = []
