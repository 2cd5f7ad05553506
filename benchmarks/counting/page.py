"""The page of a counting run: its tables, bars for the rules, and every walk on a map.

One HTML file that needs nothing beside itself.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from virl.bench.episode import Data
from virl.drawing.shell import html_page, open_templates
from virl.files import write_whole
from virl.geo import LatLng, LocalFrame

from .report import CountingTable, table_data
from .tables import cell_text


def write_counting_page(
    path: Path,
    title: str,
    tables: Sequence[CountingTable],
    notes: Sequence[str],
    walks: Mapping[str, Data],
    attribution: str = "",
) -> None:
    """Write the page.

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
    data = {
        "sections": [table_data(table) for table in tables],
        "walks": [_walk_data(name, walk) for name, walk in walks.items()],
    }
    page = html_page(
        open_templates(Path(__file__).parent / "templates"),
        "counting.html.j2",
        {
            "title": title,
            "notes": notes,
            "attribution": attribution,
            "sections": [(table.title, table.has_rules, _heads(table), _cells(table)) for table in tables],
        },
        styles=("base.css", "counting.css"),
        scripts=("counting.js",),
        data=data,
    )
    write_whole(path, page.encode("utf-8", "replace"), "report again")


def _heads(table: CountingTable) -> list[str]:
    return ["", *(column.heading.replace("-\n", "").replace("\n", " ") for column in table.columns)]


def _cells(table: CountingTable) -> list[list[list[str]]]:
    """The lines of each cell, row by row."""
    return [
        [
            [row.name, row.note],
            *(cell_text(row.values.get(column.key), column).split("\n") for column in table.columns),
        ]
        for row in table.rows
    ]


def _walk_data(name: str, walk: Data) -> dict[str, object]:
    """A walk in metres to the right of and below its start."""
    frame = LocalFrame(LatLng(*walk["walked"][0]))

    def point(position: Sequence[float]) -> list[float]:
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
