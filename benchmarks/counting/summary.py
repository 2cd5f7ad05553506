"""What the report has of its own: tables of rules and noise, as a page, as JSON and in the terminal."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from virl.bench.benchmark import PageHead
from virl.bench.episode import Data, Record
from virl.bench.records import versions
from virl.files import write_whole

from .matching import RADIUS_M, VIRL_RANGE_M
from .options import Options
from .page import write_counting_page
from .report import CountingTable, counting_tables, table_data
from .tables import terminal_table
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
    """The walks of one detector in one city."""

    name: str
    """Tells them from the others of the run; empty where there are none."""
    walks: dict[str, Data]
    """What came of each, by its name; routes first."""


def write_page(path: Path, head: PageHead, records: Sequence[Record], options: Options) -> None:
    """Write the page, and its tables as JSON beside it."""
    groups = list(_groups(records))
    tables = list(_tables(groups, options))
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
    """The tables for the terminal."""
    made = _tables(list(_groups(records)), options)
    return [terminal_table(one.title, one.columns, one.rows) for one in made]


def _tables(groups: Sequence[CountedWalks], options: Options) -> Iterator[CountingTable]:
    for group in groups:
        yield from counting_tables(list(group.walks.values()), options.task.conditions, group.name)


def _groups(records: Sequence[Record]) -> Iterator[CountedWalks]:
    done = [record for record in records if record.is_scored]
    cells = list(dict.fromkeys((one.model, one.city) for one in done))
    for model, city in cells:
        own = [one for one in done if (one.model, one.city) == (model, city)]
        own.sort(key=lambda one: (one.data["kind"] == "region", one.case))
        name = f"{model}, {city}: " if len(cells) > 1 else ""
        yield CountedWalks(name, {one.case: one.data for one in own})
