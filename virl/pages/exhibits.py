"""What a report shows of a result: tables, bars, curves, maps and texts; written with the end of a run."""

from typing import Annotated, Literal

from pydantic import Field

from virl.files.json_reading import JsonRecord

Cell = str | int | float | None
"""Value of a table's cell; `None` for an empty one."""


class TextExhibit(JsonRecord):
    """A few paragraphs, an empty line between them."""

    kind: Literal["text"] = "text"
    title: str
    text: str


class TableExhibit(JsonRecord):
    """Rows under headings; numbers are set to the right."""

    kind: Literal["table"] = "table"
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    picked: int | None = None
    """The row that was chosen, from 0."""
    note: str = ""


class Bar(JsonRecord):
    """One bar."""

    label: str
    value: float = Field(ge=0)
    picked: bool = False


class BarsExhibit(JsonRecord):
    """Quantities side by side."""

    kind: Literal["bars"] = "bars"
    title: str
    unit: str
    bars: tuple[Bar, ...]


class Curve(JsonRecord):
    """One line of a chart: a value at each of the chart's points, `None` where there is none."""

    name: str
    values: tuple[float | None, ...]


class CurvesExhibit(JsonRecord):
    """Quantities that change from point to point, such as over the hours of a day."""

    kind: Literal["curves"] = "curves"
    title: str
    unit: str
    points: tuple[str, ...]
    """Labels below the chart, from left to right."""
    curves: tuple[Curve, ...]
    low: float | None = None
    high: float | None = None
    """Ends of the scale; by default those of the values."""


class MapLine(JsonRecord):
    """A way on a map, WGS84 degrees."""

    points: tuple[tuple[float, float], ...]
    """(lat, lng)."""
    label: str = ""
    style: Literal["main", "other"] = "main"


class MapPoint(JsonRecord):
    """A thing on a map, WGS84 degrees."""

    lat: float
    lng: float
    label: str
    text: str = ""
    """Text about the point."""
    mark: str = ""
    """A character or two that stand in it, such as its number."""
    style: Literal["start", "pick", "candidate", "stop", "landmark"] = "candidate"


class MapExhibit(JsonRecord):
    """Points and ways on the streets of the city."""

    kind: Literal["map"] = "map"
    title: str
    points: tuple[MapPoint, ...] = ()
    lines: tuple[MapLine, ...] = ()


Exhibit = Annotated[
    TextExhibit | TableExhibit | BarsExhibit | CurvesExhibit | MapExhibit, Field(discriminator="kind")
]
