"""Exhibits that a report shows of a result: tables, bars, curves, maps and texts."""

from typing import Annotated, Literal

from pydantic import Field

from virl.files.json_reading import JsonRecord

Cell = str | int | float | None
"""A value of a table's cell; `None` for an empty cell."""


class TextExhibit(JsonRecord):
    """An exhibit of paragraphs of text, separated by empty lines."""

    kind: Literal["text"] = "text"
    title: str
    text: str


class TableExhibit(JsonRecord):
    """An exhibit of rows under column headings; columns of numbers are aligned to the right."""

    kind: Literal["table"] = "table"
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    picked: int | None = None
    """Index, from 0, of the row that was chosen; `None` if none was."""
    note: str = ""
    """Sentences below the table; may be empty."""


class Bar(JsonRecord):
    """A bar of a chart: its label and value."""

    label: str
    value: float = Field(ge=0)
    picked: bool = False
    """True if the bar stands for what was chosen."""


class BarsExhibit(JsonRecord):
    """An exhibit of values as bars side by side."""

    kind: Literal["bars"] = "bars"
    title: str
    unit: str
    bars: tuple[Bar, ...]


class Curve(JsonRecord):
    """A curve of a chart: its name, and one value at each of the chart's points."""

    name: str
    values: tuple[float | None, ...]
    """Values from left to right; `None` where there is none."""


class CurvesExhibit(JsonRecord):
    """An exhibit of values that change from point to point, such as over the hours of a day."""

    kind: Literal["curves"] = "curves"
    title: str
    unit: str
    points: tuple[str, ...]
    """Labels below the chart, from left to right."""
    curves: tuple[Curve, ...]
    low: float | None = None
    """Lower end of the vertical scale; `None` for the least value."""
    high: float | None = None
    """Upper end of the vertical scale; `None` for the greatest value."""


class MapLine(JsonRecord):
    """A route on a map, in WGS84 degrees."""

    points: tuple[tuple[float, float], ...]
    """Positions of the route, each (lat, lng) in degrees."""
    label: str = ""
    style: Literal["main", "other"] = "main"
    """Style of the line; main ones lie on top, and have arrows on pages."""


class MapPoint(JsonRecord):
    """A point on a map, in WGS84 degrees, with its label and text."""

    lat: float
    lng: float
    label: str
    text: str = ""
    """Text shown when the point is pointed at."""
    mark: str = ""
    """One or two characters drawn in the point, such as its number."""
    style: Literal["start", "pick", "candidate", "stop", "landmark", "beside"] = "candidate"


class MapExhibit(JsonRecord):
    """An exhibit of points and routes on a map of the city's streets."""

    kind: Literal["map"] = "map"
    title: str
    points: tuple[MapPoint, ...] = ()
    lines: tuple[MapLine, ...] = ()


Exhibit = Annotated[
    TextExhibit | TableExhibit | BarsExhibit | CurvesExhibit | MapExhibit, Field(discriminator="kind")
]
