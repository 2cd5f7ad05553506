"""The page of a run: its tables, bars for the rules, and every walk on a map.

One HTML file that needs nothing beside itself.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from benchmarks.counting.report import Section, section_data
from benchmarks.records import Record
from benchmarks.tables import cell_text
from virl.drawing.policy import content_policy
from virl.files import write_whole
from virl.geo import LatLng, LocalFrame

PAGE = "counting.html"

_TEMPLATES = Path(__file__).parent / "templates"


def write_page(
    out: Path, title: str, shown: Sequence[Section], notes: Sequence[str], records: Sequence[Record]
) -> Path:
    """Write `counting.html` into the folder of a run, and give its path.

    Raises:
        CannotWrite: the disk refuses.
    """
    style, script = _asset("counting.css"), _asset("counting.js")
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    data = {
        "sections": [section_data(section) for section in shown],
        "walks": [_walk_data(record) for record in records],
    }
    page = environment.get_template("counting.html.j2").render(
        csp=content_policy(style, script),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        title=title,
        notes=notes,
        sections=[(section.title, _heads(section), _cells(section)) for section in shown],
        data=Markup(_script_json(data)),  # noqa: S704 - escaped for a script element
    )
    path = out / PAGE
    write_whole(path, page.encode(), "go on with --resume")
    return path


def _heads(section: Section) -> list[str]:
    return ["", *(column.heading.replace("-\n", "").replace("\n", " ") for column in section.columns)]


def _cells(section: Section) -> list[list[list[str]]]:
    """The lines of each cell, row by row."""
    return [
        [
            [row.name, row.note],
            *(cell_text(row.values.get(column.key), column).split("\n") for column in section.columns),
        ]
        for row in section.rows
    ]


def _walk_data(record: Record) -> dict[str, object]:
    """A walk in metres to the right of and below its start."""
    frame = LocalFrame(LatLng(*record["walked"][0]))

    def point(position: Sequence[float]) -> list[float]:
        x, y = frame.point(LatLng(*position))
        return [round(x, 1), round(-y, 1)]

    required = set(record["required"])
    return {
        "id": record["id"],
        "kind": record["kind"],
        "path": [point(position) for position in record["walked"]],
        "things": {
            name: [*point(position), kind, name in required]
            for name, (kind, *position) in record["things"].items()
        },
        "counts": {
            key: [
                [*point(row["position"]), row["label"], row["outcome"], row["thing"], row["views"]]
                for row in rows
            ]
            for key, rows in record["reported"].items()
        },
    }


def _script_json(data: object) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
