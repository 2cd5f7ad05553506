"""The summary of a counting run: tables of rules and noise in the terminal, as JSON, and on a page."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.table import Table

from virl.bench.benchmark import Metric, PageHead
from virl.bench.episode import Data, Record
from virl.bench.records import versions
from virl.bench.report.dots import DotPlot, DotRow, axis_of, dot
from virl.bench.report.table import cell_text
from virl.bench.statistics import FEWEST_UNITS, Interval
from virl.files.writing import write_whole
from virl.geo.globe import LatLng, LocalFrame
from virl.journal.walk_map import town_ground
from virl.pages.map_svg import ground_data
from virl.pages.maps import map_figure
from virl.pages.marks import Mark
from virl.pages.paper import Extent, Paper, lay_out, on_paper
from virl.pages.shell import html_page, open_templates

from .matching import RADIUS_M, VIRL_RANGE_M
from .options import Options
from .report import CountingTable, counting_tables, table_data, terminal_table
from .trip import LEAST_PIXELS, LEAST_SEEN, REACH_M

FILE = "counting.html"
PANELS = (
    Metric("f1_more", "F1 more than by default"),
    Metric("precision", "precision"),
    Metric("recall", "recall"),
    Metric("repeats", "repeats"),
)
"""The metrics that the page draws, each on an axis of its own."""
_TOP = {"f1_more": 0.1, "repeats": 0.1}
"""Least end of a metric's axis, by key; others reach 1."""
_SHAPES = {
    "from": "pin",
    "walk": "dot",
    "truth": "small",
    "faint": "small",
    "right": "spot",
    "duplicate": "square",
    "false": "diamond",
}
"""Shape of each kind of mark on the map, by the last of its style classes."""
_LEGEND = (
    ("line main", "path walked"),
    ("pin from", "start"),
    ("walk", "look around"),
    ("ring truth", "true thing to be found"),
    ("ring truth faint", "true thing beyond that"),
    ("line sight", "from a report to its true thing"),
    ("right", "reported, right"),
    ("duplicate", "duplicate"),
    ("false", "false"),
)
_MARKS = tuple(Mark(0.0, 0.0, kind, "", shape) for kind, shape in _SHAPES.items())  # for the legend
CONSTANTS = {
    "reach_m": REACH_M,
    "least_seen": LEAST_SEEN,
    "least_pixels": LEAST_PIXELS,
    "radius_m": RADIUS_M,
    "virl_range_m": VIRL_RANGE_M,
}


@dataclass(frozen=True, slots=True)
class CountedWalks:
    """The counted walks of one detector in one city."""

    name: str
    """Detector and city, to set the walks apart; empty if the run has no others."""
    city: str
    walks: dict[str, Data]
    """Data of each walk by its name, routes first."""


def write_page(path: Path, head: PageHead, records: Sequence[Record], options: Options) -> None:
    """Write the page of a counting run, and its tables as JSON beside it.

    Args:
        path: of the page.
        head: title, notes and attribution.
        records: of the run.
        options: of the run.
    """
    groups = list(_group_walks(records))
    tables = list(_yield_tables(groups, options))
    walks = {
        f"{group.name}{name}": (group.city, walk) for group in groups for name, walk in group.walks.items()
    }
    write_counting_page(path, head.title, tables, head.notes, walks, head.attribution)
    data = {
        "constants": CONSTANTS,
        "versions": versions("opencv-python-headless", "shapely"),
        "sections": [table_data(table) for table in tables],
        **({"attribution": head.attribution} if head.attribution else {}),
    }
    beside = path.with_suffix(".json")
    write_whole(beside, json.dumps(data, indent=2, ensure_ascii=False).encode() + b"\n", "report again")


def tables(records: Sequence[Record], options: Options) -> list[Table]:
    """Return the tables on counting for the terminal."""
    return list(map(terminal_table, _yield_tables(list(_group_walks(records)), options)))


def _yield_tables(groups: Sequence[CountedWalks], options: Options) -> Iterator[CountingTable]:
    """Yield the tables of each group of walks."""
    for group in groups:
        yield from counting_tables(list(group.walks.values()), options.task.conditions, group.name)


def _group_walks(records: Sequence[Record]) -> Iterator[CountedWalks]:
    """Yield the scored walks of each detector and city."""
    done = [record for record in records if record.is_scored]
    cells = list(dict.fromkeys((one.model, one.city) for one in done))
    for model, city in cells:
        own = [one for one in done if (one.model, one.city) == (model, city)]
        own.sort(key=lambda one: (one.data["kind"] == "region", one.case))
        name = f"{model}, {city}: " if len(cells) > 1 else ""
        yield CountedWalks(name, city, {one.case: one.data for one in own})


def write_counting_page(
    path: Path,
    title: str,
    tables: Sequence[CountingTable],
    notes: Sequence[str],
    walks: Mapping[str, tuple[str, Data]],
    attribution: str = "",
) -> None:
    """Write the page of counted walks to an HTML file: tables, charts and maps.

    Args:
        path: of the HTML file.
        title: of the page.
        tables: in their order; charts are drawn of all that are of rules.
        notes: what a reader of the numbers has to know.
        walks: (city, what came of the walk) by the walk's name.
        attribution: whom the page has to name.

    Raises:
        CannotWrite: the disk refuses.
    """
    starts: dict[str, LatLng] = {}
    for city, walk in walks.values():
        starts.setdefault(city, LatLng(*walk["walked"][0]))
    papers = {city: _paper(city, start, walks) for city, start in starts.items()}
    places = tuple(place for paper in papers.values() for place in paper.places)
    page = html_page(
        open_templates(Path(__file__).parent / "templates"),
        "counting.html.j2",
        {
            "title": title,
            "notes": notes,
            "attribution": attribution,
            "few_units": FEWEST_UNITS,
            "legend": [
                replace(map_figure("", replace(paper, places=places), (), (), legend=_LEGEND), marks=_MARKS)
                for paper in [*papers.values()][:1]
            ],
            "sections": [(one, _dots(one), _plain_headings(one), _cells(one)) for one in tables],
        },
        styles=("charts.css",),
        scripts=("maps.js", "counting.js"),
        data={
            "walks": [_walk_data(name, city, walk, starts[city]) for name, (city, walk) in walks.items()],
            "grounds": {city: ground_data(paper) for city, paper in papers.items()},
            "shapes": _SHAPES,
        },
    )
    write_whole(path, page.encode("utf-8", "replace"), "report again")


def _dots(table: CountingTable) -> DotPlot | None:
    """Return a table on rules as dots: the default first, then by how much F1 is more; `None` for others."""
    if not table.has_rules:
        return None
    first, *others = [
        (row, {key: value for key, value in row.values.items() if isinstance(value, Interval)})
        for row in table.rows
    ]
    rows = [first, *sorted(others, key=lambda row: -row[1]["f1_more"].mean if "f1_more" in row[1] else 0.0)]
    axes = {
        one.key: axis_of(
            (end for _, values in rows if one.key in values for end in values[one.key]),
            is_share=True,
            top=_TOP.get(one.key, 1.0),
        )
        for one in PANELS
    }
    drawn = tuple(
        DotRow(
            row.name,
            row.note,
            "",
            tuple(dot(axes[one.key], values.get(one.key), one, table.walks) for one in PANELS),
        )
        for row, values in rows
    )
    return DotPlot(tuple((one.heading, axes[one.key]) for one in PANELS), (("", drawn),))


def _paper(city: str, origin: LatLng, walks: Mapping[str, tuple[str, Data]]) -> Paper:
    """Return the paper of a town's ground around its walks, in metres from an origin."""
    frame, extent = LocalFrame(origin), Extent(margin_m=120.0, beyond=0.0)
    points = [on_paper(frame, *at) for name, walk in walks.values() if name == city for at in walk["walked"]]
    return lay_out(frame, points, town_ground(city), extent=extent)


def _plain_headings(table: CountingTable) -> list[str]:
    """Return the headings of a table, each on one line."""
    return ["", *(column.heading.replace("-\n", "").replace("\n", " ") for column in table.columns)]


def _cells(table: CountingTable) -> list[list[list[str]]]:
    """Return the table's cells, row by row, each as a list of lines."""
    return [
        [
            [row.name, row.note],
            *(cell_text(row.values.get(one.key), one, table.walks).split("\n") for one in table.columns),
        ]
        for row in table.rows
    ]


def _walk_data(name: str, city: str, walk: Data, origin: LatLng) -> dict[str, object]:
    """Return a walk as the page draws it, in metres east and south of an origin."""
    frame = LocalFrame(origin)

    def point(position: Sequence[float]) -> list[float]:
        """Return a position (lat, lng) as metres east and south, rounded to 0.1."""
        x, y = frame.point(LatLng(*position))
        return [round(x, 1), round(-y, 1)]

    required = set(walk["required"])
    return {
        "id": name,
        "city": city,
        "kind": walk["kind"],
        "path": [point(position) for position in walk["walked"]],
        "things": {
            thing: [*point(position), kind, thing in required]
            for thing, (kind, *position) in walk["things"].items()
        },
        "counts": {
            key: [
                [*point(row["position"]), row["label"], row["outcome"], row["thing"], row["views"]]
                for row in rows
            ]
            for key, rows in walk["reported"].items()
        },
    }
