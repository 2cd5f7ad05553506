"""Files of runs and of benchmarks: journals, and what reports are made of."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from made_benchmark import NAME, Options
from made_run import keep_made_run
from rich.console import Console

from fuzz.mutate import mutate_json, mutate_json_lines
from fuzz.session import Kind
from virl.bench.plan import PLAN
from virl.bench.records import RECORDS, SETTINGS
from virl.bench.report.write import write_reports
from virl.bench.run import Engine, run_benchmark
from virl.journal.gallery import write_gallery
from virl.journal.journal import JOURNAL, Journal, read_journal
from virl.journal.report import write_report
from virl.narrate.run import read_record


@contextmanager
def journal_kinds(folder: Path) -> Iterator[list[Kind]]:
    """The kinds."""
    yield [_journal(folder / "run"), *_bench(folder / "bench")]


def _journal(folder: Path) -> Kind:
    keep_made_run(folder, size=64, steps=6, ended=False)
    good = [(folder / JOURNAL).read_bytes()]
    ended = keep_made_run(folder.with_name("ended"), size=64)
    shutil.copytree(ended, folder, dirs_exist_ok=True)
    good.append((ended / JOURNAL).read_bytes())

    def read(data: bytes) -> None:
        (folder / JOURNAL).write_bytes(data)
        _, _, left_out = write_gallery([folder], folder.parent / "gallery.html")
        for one in left_out:
            assert len(one.why.splitlines()) == 1, one.why
        read_journal(folder)
        write_report(folder)
        Journal.resume(folder)[0].close()

    return Kind("journal", good, read, mutate_json_lines, 12)


def _bench(folder: Path) -> Iterator[Kind]:
    console = Console(quiet=True)
    options = Options(cities=("north",), models=("sharp",), count=3)
    run_benchmark(NAME, options, folder, console, engine=Engine("threads", 1))
    for name in (SETTINGS, PLAN, RECORDS):
        good = (folder / name).read_bytes()

        def read(data: bytes, name: str = name, good: bytes = good) -> None:
            (folder / name).write_bytes(data)
            try:
                write_reports([folder], console)
            finally:
                (folder / name).write_bytes(good)

        mutate = mutate_json_lines if name == RECORDS else mutate_json
        yield Kind(f"bench-{name.split('.')[0]}", [good], read, mutate, 4)
    yield _narrated(folder.with_name("narrated"))


def _narrated(folder: Path) -> Kind:
    folder.mkdir()
    good = b'{"id": "7", "start": ["a", 0.0], "pano_path": ["a", "b"]}\n'

    def read(data: bytes) -> None:
        (folder / RECORDS).write_bytes(data)
        read_record(folder, "7")

    return Kind("narrate-records", [good], read, mutate_json_lines, 3)
