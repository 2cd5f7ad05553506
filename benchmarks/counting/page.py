"""The page of a counting run: its tables, bars for the rules, and every walk on a map.

One HTML file that needs nothing beside itself.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from virl.bench.benchmark import Data
from virl.drawing.policy import content_policy, script_json
from virl.files import write_whole
from virl.geo import LatLng, LocalFrame

from .report import CountingTable, table_data
from .tables import cell_text

_TEMPLATES = Path(__file__).parent / "templates"


def write_counting_page(
    path: Path, title: str, tables: Sequence[CountingTable], notes: Sequence[str], walks: Mapping[str, Data]
) -> None:
    """Write the page.

    Args:
        path: of the HTML file.
        title: of the page.
        tables: in their order; bars are drawn for all that have repeats.
        notes: what a reader of the numbers has to know.
        walks: what came of each walk, by its name.

    Raises:
        CannotWrite: the disk refuses.
    """
    style, script = _asset("counting.css"), _asset("counting.js")
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    data = {
        "sections": [table_data(table) for table in tables],
        "walks": [_walk_data(name, walk) for name, walk in walks.items()],
    }
    page = environment.get_template("counting.html.j2").render(
        csp=content_policy(style, script),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        title=title,
        notes=notes,
        sections=[(table.title, table.has_rules, _heads(table), _cells(table)) for table in tables],
        data=Markup(script_json(data)),  # noqa: S704 - escaped for a script element
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


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
