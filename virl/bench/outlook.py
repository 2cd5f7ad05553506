"""What a run is going to do and how long it may take, said before it begins."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from virl.bench.benchmark import AnyBenchmark
from virl.bench.progress import expected_seconds
from virl.pages.numbers import count_noun, show_duration


def outlook(
    benchmark: AnyBenchmark, left: int, workers: int, done: Sequence[Mapping[str, Any]], out: Path
) -> Iterator[str]:
    """Yield the lines that say what is left to run, how long it takes and what it may cost.

    Args:
        benchmark: what is run.
        left: episodes still to run.
        workers: how many of them side by side, 1 or more.
        done: records of those that have been run.
        out: folder of the run.
    """
    finished = sum(record["status"] == "done" for record in done)
    if not left:
        yield f"{out}: already finished, {count_noun(finished, 'episode')} done: nothing is run again"
        return
    before = f"{finished:,} done before, " if finished else ""
    side_by_side = f", {min(workers, left)} at a time" if min(workers, left) > 1 else ""
    yield f"{before}{left:,} {'episode' if left == 1 else 'episodes'} to run{side_by_side}; writes {out}"
    each = seconds_each(benchmark, done)
    if each:
        source = "as those before" if finished else "as measured with the default options on one core"
        cores = (
            workers if finished else min(workers, os.cpu_count() or 1)
        )  # what was run has shared the cores
        whole = expected_seconds(left, each, min(cores, left))
        yield f"about {show_duration(whole)} if each takes {_show_seconds(each)}, {source}"


def seconds_each(benchmark: AnyBenchmark, done: Sequence[Mapping[str, Any]]) -> float:
    """Return seconds an episode takes, by those that were run, else as the benchmark states; 0 if unknown."""
    seconds = [float(record["seconds"]) for record in done if record["status"] == "done"]
    return sum(seconds) / len(seconds) if seconds else benchmark.typical_s


def _show_seconds(seconds: float) -> str:
    """Return seconds as text, with one decimal below 10 s."""
    return f"{seconds:.1f} s" if seconds < 10 else show_duration(seconds)
