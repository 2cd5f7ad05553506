"""The row of tools used at random, beside an agent's own."""

from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.agents.definition import BENCHMARK, Options
from virl.bench.records import RECORDS, read_records
from virl.bench.run import Engine, Part, run_benchmark


@pytest.mark.slow
def test_an_agent_and_its_tools_at_random_both_get_through_a_start(tmp_path: Path) -> None:
    options, quiet = Options(agent=("june",)), Console(quiet=True)
    run_benchmark(BENCHMARK.name, options, tmp_path, quiet, engine=Engine("threads"), part=Part(limit=1))
    records = {record["model"]: record for record in read_records(tmp_path / RECORDS).values()}
    assert {row: record["status"] for row, record in records.items()} == {
        "june": "done",
        "june_at_random": "done",
    }
    assert records["june_at_random"]["data"]["turns"] > 0
