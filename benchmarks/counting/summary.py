"""The summary of a counting run: tables of rules and noise in the terminal, as JSON, and on a page."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from virl.bench.benchmark import PageHead
from virl.bench.episode import Data, Record
from virl.bench.records import versions
from virl.bench.report.page import Bar
from virl.bench.report.table import cell_text
from virl.bench.statistics import Interval
from virl.files.writing import write_whole
from virl.geo.globe import LatLng, LocalFrame
from virl.pages.shell import html_page, open_templates

from .matching import RADIUS_M, VIRL_RANGE_M
from .options import Options
from .report import CountingTable, counting_tables, table_data, terminal_table
from .trip import LEAST_PIXELS, LEAST_SEEN, REACH_M

FILE = "counting.html"
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
    walks = {f"{group.name}{name}": walk for group in groups for name, walk in group.walks.items()}
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
        yield CountedWalks(name, {one.case: one.data for one in own})


def write_counting_page(
    path: Path,
    title: str,
    tables: Sequence[CountingTable],
    notes: Sequence[str],
    walks: Mapping[str, Data],
    attribution: str = "",
) -> None:
    """Write the page of counted walks to an HTML file: tables, bars and maps.

    Args:
        path: of the HTML file.
        title: of the page.
        tables: in their order; bars are drawn for all that have repeats.
        notes: what a reader of the numbers has to know.
        walks: what came of each walk, by its name.
        attribution: whom the page has to name.

    Raises:
        CannotWrite: the disk refuses.
    """
    page = html_page(
        open_templates(Path(__file__).parent / "templates"),
        "counting.html.j2",
        {
            "title": title,
            "notes": notes,
            "attribution": attribution,
            "sections": [(one.title, _bars(one), _plain_headings(one), _cells(one)) for one in tables],
        },
        styles=("charts.css",),
        scripts=("maps.js", "counting.js"),
        data={"walks": [_walk_data(name, walk) for name, walk in walks.items()]},
    )
    write_whole(path, page.encode("utf-8", "replace"), "report again")


def _bars(table: CountingTable) -> list[tuple[str, list[Bar]]]:
    """Return (name, bars) of a table's rows on rules; 100 percent is 1, or the most repeats if larger."""
    drawn = {
        row.name: [
            (series, kind, value)
            for series, kind in enumerate(("precision", "recall", "repeats"))
            if isinstance(value := row.values.get(kind), Interval)
        ]
        for row in table.rows
        if table.has_rules
    }
    share = 100 / max([1.0, *(value.high for bars in drawn.values() for *_, value in bars)])
    return [
        (
            name,
            [
                Bar(
                    series,
                    kind,
                    share * value.mean,
                    share * value.low,
                    share * value.high,
                    f"{value.mean:.2f}",
                )
                for series, kind, value in bars
            ],
        )
        for name, bars in drawn.items()
    ]


def _plain_headings(table: CountingTable) -> list[str]:
    """Return the headings of a table, each on one line."""
    return ["", *(column.heading.replace("-\n", "").replace("\n", " ") for column in table.columns)]


def _cells(table: CountingTable) -> list[list[list[str]]]:
    """Return the table's cells, row by row, each as a list of lines."""
    return [
        [
            [row.name, row.note],
            *(cell_text(row.values.get(column.key), column).split("\n") for column in table.columns),
        ]
        for row in table.rows
    ]


def _walk_data(name: str, walk: Data) -> dict[str, object]:
    """Return a walk as the page draws it, in metres east and south of its start."""
    frame = LocalFrame(LatLng(*walk["walked"][0]))

    def point(position: Sequence[float]) -> list[float]:
        """Return a position (lat, lng) as metres east and south, rounded to 0.1."""
        x, y = frame.point(LatLng(*position))
        return [round(x, 1), round(-y, 1)]

    required = set(walk["required"])
    return {
        "id": name,
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
