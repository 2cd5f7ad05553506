"""Runs in threads: nothing lost, nothing twice, nothing silently zero."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from made_benchmark import NAME, Options, tries
from rich.console import Console

from virl.bench.episode import Episode
from virl.bench.plan import choose, parse_shard
from virl.bench.records import FOLDER, slug
from virl.bench.report.write import write_reports
from virl.bench.resources import Terms
from virl.bench.run import Engine, Part, Unpaid, run_benchmark
from virl.errors import BadInput
from virl.money.book import Price
from virl.money.ledger import Ledger, account

QUIET = Console(quiet=True)


def run(out: Path, options: Options, *, resume: bool = False, part: Part | None = None, **engine: Any) -> Any:
    how = Engine(**({"name": "threads", "workers": 3, "first_wait_s": 0.001, "pictures": False} | engine))
    run_benchmark(NAME, options, out, QUIET, engine=how, part=part, resume=resume)
    return results(out)


def results(out: Path) -> Any:
    return json.loads((out / "results.json").read_text())


def records(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]


def rows(found: Any) -> dict[tuple[str, str], Any]:
    return {(row["model"], row["city"]): row for row in found["rows"]}


def test_every_episode_is_run_once_and_scored(tmp_path: Path) -> None:
    found = rows(run(tmp_path, Options()))
    assert Counter(record["id"] for record in records(tmp_path)) == Counter(
        f"{model}/{city}/case {number}"
        for model in ("sharp", "blunt")
        for city in ("north", "south")
        for number in range(6)
    )
    # sharp is wrong on bars alone; blunt on every second case: bars 1/2, banks 1/2, cafes 1/2
    assert found["sharp", ""]["values"]["macro"][0] == pytest.approx(2 / 3)
    assert found["blunt", ""]["values"]["plain"][0] == pytest.approx(0.5)
    assert found["sharp", "north"]["episodes"] == {"planned": 6, "done": 6, "failed": 0, "missing": 0}
    assert found["sharp", ""]["cost"] == {"requests": 24.0}


def test_failures_are_neither_zero_nor_dropped(tmp_path: Path) -> None:
    trouble = {"case 0": "never", "case 1": "bug", "case 2": "once"}
    folder = tmp_path / "seen"
    folder.mkdir()
    found = run(tmp_path / "out", Options(folder=str(folder), models=("sharp",), trouble=trouble))
    row = rows(found)["sharp", "north"]
    assert row["episodes"] == {"planned": 6, "done": 4, "failed": 2, "missing": 0}
    assert row["values"]["plain"][0] == pytest.approx(3 / 4)  # case 3 is the only wrong one that was scored
    kept = {record["id"]: record for record in records(tmp_path / "out")}
    assert kept["sharp/north/case 2"]["attempts"] == 2
    assert kept["sharp/north/case 0"]["attempts"] == 1  # what cannot pass is not tried again
    reasons = {one["id"]: (one["fault"], one["reason"]) for one in found["failures"]}
    assert reasons["sharp/south/case 0"] == ("NoImagery", "no picture there")
    assert reasons["sharp/south/case 1"][0] == "KeyError"


def test_what_may_pass_is_tried_so_often_and_no_more(tmp_path: Path) -> None:
    options = Options(folder=str(tmp_path), cities=("north",), models=("sharp",), trouble={"case 0": "once"})
    found = run(tmp_path / "out", options, attempts=1)
    assert found["failures"][0]["fault"] == "TryAgain"
    assert tries(tmp_path, "sharp/north/case 0") == 1


def test_resume_runs_what_is_left_and_what_failed(tmp_path: Path) -> None:
    options = Options(folder=str(tmp_path), trouble={"case 4": "once"})
    out = tmp_path / "out"
    run(out, options, attempts=1, part=Part(limit=5))
    counts = rows(results(out))["blunt", "south"]["episodes"]
    assert counts == {"planned": 6, "done": 4, "failed": 1, "missing": 1}
    found = run(out, options, resume=True)
    assert rows(found)["blunt", ""]["episodes"] == {"planned": 12, "done": 12, "failed": 0, "missing": 0}
    assert found["failures"] == []
    assert tries(tmp_path, "blunt/south/case 0") == 1
    assert tries(tmp_path, "blunt/south/case 4") == 2


@pytest.mark.slow
def test_a_resumed_run_equals_one_that_was_never_cut(tmp_path: Path) -> None:
    run(tmp_path / "whole", Options())
    run(tmp_path / "cut", Options(), part=Part(limit=2))
    path = tmp_path / "cut" / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-30])  # a kill in the middle of a line
    run(tmp_path / "cut", Options(), resume=True)
    whole, cut = results(tmp_path / "whole"), results(tmp_path / "cut")
    for found in (whole, cut):
        for row in found["rows"]:
            del row["seconds"]
    assert cut == whole


def test_a_second_run_is_refused_and_other_options_too(tmp_path: Path) -> None:
    run(tmp_path, Options(count=1))
    with pytest.raises(BadInput, match="--resume"):
        run(tmp_path, Options(count=1))
    with pytest.raises(BadInput, match="the settings differ"):
        run(tmp_path, Options(count=2), resume=True)


def test_a_shard_of_another_draw_is_not_mixed_with_this_one(tmp_path: Path) -> None:
    run(tmp_path, Options(), part=Part(shard=(1, 2)))
    before = records(tmp_path)
    with pytest.raises(BadInput, match="outside --limit and --shard"):
        run(tmp_path, Options(), part=Part(shard=(2, 2)), resume=True)
    assert records(tmp_path) == before
    run(tmp_path, Options(), part=Part(limit=1, shard=(1, 2)), resume=True)


@pytest.mark.slow
def test_shards_together_are_the_whole(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", Options())
    parts = [tmp_path / f"part{i}" for i in (1, 2, 3)]
    for number, out in enumerate(parts, start=1):
        run(out, Options(), part=Part(shard=(number, 3)))
    assert Counter(record["id"] for out in parts for record in records(out)) == Counter(
        record["id"] for record in records(tmp_path / "whole")
    )
    write_reports(parts, QUIET, tmp_path / "merged")
    merged = results(tmp_path / "merged")
    for found in (whole, merged):
        for row in found["rows"]:
            del row["seconds"]
    assert merged == whole


def test_an_empty_purse_ends_the_run_in_good_order(tmp_path: Path) -> None:
    options = Options(cities=("north",), models=("sharp",), trouble={"case 3": "unpaid"})
    with pytest.raises(Unpaid, match="higher --budget-usd"):
        run(tmp_path, options, workers=1)
    counts = rows(results(tmp_path))["sharp", "north"]["episodes"]
    assert counts == {"planned": 6, "done": 3, "failed": 0, "missing": 3}


def booked(out: Path) -> float:
    """Dollars in the book of a run."""
    return (
        sum(json.loads(line)["micro_usd"] for line in (out / "spending.jsonl").read_text().splitlines()) / 1e6
    )


@pytest.mark.parametrize("name", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_what_episodes_cost_is_what_the_book_says(name: str, tmp_path: Path) -> None:
    """Failed tries, failed episodes and those that a kill cut off are paid for too."""
    seen, out = tmp_path / "seen", tmp_path / "out"
    seen.mkdir()
    ledger = Ledger(book=out / "spending.jsonl")
    with account(f"{FOLDER}/{slug('sharp/north/case 3')}"):
        ledger.hold(Price("a", 1, 500_000), "static_image")  # as a kill leaves it
    ledger.hold(Price("a", 1, 250_000), "geocode")  # before the first episode
    trouble = {"case 0": "never", "case 1": "once"} | ({"case 2": "die once"} if name == "processes" else {})
    options = Options(
        folder=str(seen), models=("sharp",), cities=("north",), count=5, usd=0.01, trouble=trouble
    )
    found = run(out, options, name=name, resume=False)
    cost = {record["case"]: record["cost"]["usd"] for record in records(out)}
    again = 0.02 if name == "processes" else 0.01
    assert cost == pytest.approx(
        {"case 0": 0.01, "case 1": 0.02, "case 2": again, "case 3": 0.51, "case 4": 0.01}
    )
    (row,) = found["rows"]
    assert row["cost"]["usd"] == pytest.approx(sum(cost.values()))
    assert found["spent"][""]["usd"] == pytest.approx(booked(out)) == pytest.approx(row["cost"]["usd"] + 0.25)
    assert found["spent"][""]["unfinished_usd"] == pytest.approx(0.25)
    assert "paid $" in (out / "report.html").read_text()


@pytest.mark.parametrize("name", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_all_engines_keep_the_budget(name: str, tmp_path: Path) -> None:
    options = Options(models=("sharp",), cities=("north",), usd=0.01)
    with pytest.raises(Unpaid, match="higher --budget-usd"):
        run(tmp_path, options, name=name, workers=2, terms=Terms(budget_usd=0.035))
    assert booked(tmp_path) == pytest.approx(0.03)


def test_a_rate_is_not_kept_by_processes(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--engine threads"):
        run(tmp_path, Options(), name="processes", terms=Terms(requests_per_second=1.0))


def test_two_episodes_of_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'sharp/north/case 0' is repeated"):
        run(tmp_path, Options(models=("sharp", "sharp")))


@pytest.mark.parametrize("name", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_pictures_that_are_not_kept_are_not_drawn(name: str, tmp_path: Path) -> None:
    options = Options(count=1, cities=("north",), folder=str(tmp_path))
    run(tmp_path / "without", options, name=name)
    assert not (tmp_path / "drawn").exists()
    run(tmp_path / "with", options, name=name, pictures=True)
    assert (tmp_path / "drawn").exists()


def test_pictures_are_kept_below_the_run(tmp_path: Path) -> None:
    run(tmp_path, Options(count=1, cities=("north",)), pictures=True)
    for record in records(tmp_path):
        (file,) = record["files"]
        assert (tmp_path / file).read_bytes().startswith(b"\xff\xd8")


def test_a_part_has_all_models_of_a_case_and_a_limit_is_of_each() -> None:
    episodes = [Episode(f"c{n}", "here", model) for model in "ab" for n in range(7)]
    parts = [choose(episodes, 5, (number, 2)) for number in (1, 2)]
    first, second = ({one.case for one in part} for part in parts)
    assert first.isdisjoint(second)
    assert sorted(map(len, (first, second))) == [2, 3]
    assert [len(part) for part in parts] == [2 * len(first), 2 * len(second)]


def test_a_limit_draws_by_the_seed_and_a_larger_one_holds_a_smaller_one() -> None:
    episodes = [Episode(f"c{n:02d}", "here", "a") for n in range(40)]

    def cases(limit: int | None, seed: int = 0) -> list[str]:
        return [one.case for one in choose(episodes, limit, (1, 1), seed)]

    assert cases(None) == cases(40) == [one.case for one in episodes]
    assert cases(8) == sorted(cases(8)) != cases(None)[:8]
    assert cases(8)[-1] >= "c20"  # they are not all from the beginning
    assert set(cases(8)) < set(cases(20))
    assert cases(8) != cases(8, seed=1)


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_part_of_no_whole_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="I/N"):
        parse_shard(text)


ENDED = """
import sys, time
from pathlib import Path
from made_benchmark import NAME
from virl.bench.episode import Episode
from virl.bench.engine.processes import ProcessCrew
from virl.bench.engine.work import Job
from virl.bench.resources import Terms
from virl.money.ledger import Ledger

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    options = {"folder": str(folder), "trouble": {"case 0": "hold"}}
    crew = ProcessCrew(Job(NAME, options, Terms()), 1, Ledger())
    while not (seats := crew.events(1.0)):
        pass
    crew.give(seats[0].slot, Episode("case 0", "north", "sharp", {"number": 0}))
    while not (folder / "held").exists():
        time.sleep(0.05)
    END
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["crew.dismiss()", "import os; os.kill(os.getpid(), 9)"])
def test_processes_that_are_ended_leave_nothing_behind(end: str, tmp_path: Path) -> None:
    script = tmp_path / "ended.py"
    script.write_text(ENDED.replace("END", end))
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        capture_output=True,  # until the last process has closed it
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (tmp_path / "held").exists(), done.stderr
    assert "leaked" not in done.stderr
    assert "Traceback" not in done.stderr
