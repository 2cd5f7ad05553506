"""The made benchmark, whose first case fails and counts all the same, with a page of its own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import made_benchmark
from made_benchmark import BENCHMARK, Options, tries
from rich.table import Table

from virl.bench.benchmark import OwnPage, PageHead, Published
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.errors import BadInput, MindFailed

NAME = "made_failures:FAILING"


def tables(records: Sequence[Record], options: Options) -> list[Table]:
    table = Table("cases of its own")
    table.add_row(f"{len(records)} of {options.count}")
    return [table]


def run(episode: Episode, world: made_benchmark.World) -> EpisodeResult:
    """The first try of the first case gets no usable reply."""
    result = made_benchmark.run(episode, world)
    if episode.case == "case 0" and tries(Path(world.options.folder), episode.id) == 1:
        return replace(result, data=result.data | {"right": False}, failure=MindFailed("no\nusable reply"))
    return result


def write_page(path: Path, head: PageHead, records: Sequence[Record], options: Options) -> None:
    if options.text == "no data":
        raise BadInput("the data is not there")
    cells = "\n".join("|".join(row) for row in head.rows)
    path.write_text(f"{head.title}\n{cells}\n{[record.id for record in records]}")


FAILING = replace(
    BENCHMARK,
    run=run,
    page=OwnPage("own.html", "A page of <its> own", write_page, tables),
    published=(
        Published("everywhere", {"plain": 0.25}, "table 1"),
        Published("in the north", {"plain": 0.5}, "table 2", "north"),
        Published("in the west", {"plain": 0.75}, "table 3", "west"),
    ),
)
