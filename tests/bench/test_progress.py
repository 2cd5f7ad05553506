"""What a run says of its length: before it, during it, and where there is nothing left to do."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from made_benchmark import BENCHMARK, NAME, Options
from rich.console import Console

from virl.bench.dry_run import dry_run
from virl.bench.plan import RunProgress, expected_seconds, outlook
from virl.bench.run import Engine, Part, run_benchmark
from virl.errors import BadInput, ModelUnavailable
from virl.pages.numbers import show_duration

FAST = Engine(name="threads", workers=2, pictures=False)


def told_by(run: object, *arguments: object, **more: object) -> str:
    said = io.StringIO()
    run(*arguments, Console(file=said, width=200), **more)  # type: ignore[operator]
    return said.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (8, "8 s"), (60, "1 min"), (138.2, "2 min 18 s"), (4800, "1 h 20 min"), (7200, "2 h")],
)
def test_durations_are_written_as_people_say_them(seconds: float, text: str) -> None:
    assert show_duration(seconds) == text


def test_workers_share_the_time() -> None:
    assert expected_seconds(1570, 3.0, 1) == 4710
    assert expected_seconds(5, 3.0, 2) == 9
    assert expected_seconds(0, 3.0, 2) == 0


def test_a_run_that_is_not_on_a_terminal_says_now_and_then_how_far_it_is() -> None:
    now = 0.0
    said = io.StringIO()
    with RunProgress(Console(file=said), "made", ["a"] * 100, clock=lambda: now) as progress:
        for _ in range(100):
            now += 3.0
            progress.count_episode("a", 3.0, failed=now == 6.0)
    lines = said.getvalue().splitlines()
    assert lines[0] == "5 of 100 episodes done, 1 failed; about 4 min 45 s left"
    assert 3 <= len(lines) <= 6, "each pause is twice the one before"


def test_a_bar_estimates_what_is_left() -> None:
    now = 0.0
    said = io.StringIO()
    console = Console(file=said, force_terminal=True, width=100)
    with RunProgress(console, "made", ["a"] * 4, lambda: now) as progress:
        now = 10.0
        progress.count_episode("a", 10.0, failed=False)
    assert "about 30 s left" in said.getvalue()


def test_an_estimate_is_by_model_and_says_why_it_grew() -> None:
    now = 0.0
    said = io.StringIO()
    with RunProgress(Console(file=said), "made", ["quick"] * 10 + ["slow"] * 5, lambda: now) as progress:
        for model, seconds in (("quick", 15.0), ("quick", 15.0), ("slow", 200.0)):
            now += seconds / 2  # two at a time
            progress.count_episode(model, seconds, failed=False)
    first, second = said.getvalue().splitlines()
    assert first == "2 of 15 episodes done; about 1 min 38 s left"
    assert second == (
        "3 of 15 episodes done; about 7 min 40 s left (more than at first: slow takes 3 min 20 s each)"
    )


def test_a_narrow_terminal_has_the_reason_whole_and_once() -> None:
    now, said = 0.0, io.StringIO()
    console = Console(file=said, force_terminal=True, width=80)
    with RunProgress(console, "made", ["quick"] * 10 + ["slow"] * 5, lambda: now) as progress:
        for model, seconds in (("quick", 15.0), ("slow", 200.0), ("slow", 200.0)):
            now += seconds
            progress.count_episode(model, seconds, failed=False)
    assert " ".join(said.getvalue().split()).count("slow takes 3 min 20 s each") == 1


@pytest.mark.slow
def test_a_run_says_first_how_much_there_is_to_do_and_where_it_writes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = told_by(run_benchmark, NAME, Options(), out, engine=FAST, part=Part(limit=2))
    assert told.startswith(f"8 episodes to run, 2 at a time; writes {out}\n")
    told = told_by(run_benchmark, NAME, Options(), out, engine=FAST, resume=True)
    assert f"8 done before, 16 episodes to run, 2 at a time; writes {out}\n" in told
    told = told_by(run_benchmark, NAME, Options(), out, engine=FAST, resume=True)
    assert told.startswith(f"{out}: already finished, 24 episodes done: nothing is run again\n")


def test_a_stated_duration_is_used_until_episodes_were_run(tmp_path: Path) -> None:
    stated = replace(BENCHMARK, typical_s=3.0)
    assert list(outlook(stated, 1570, 1, [], tmp_path))[1:] == [
        "about 1 h 18 min if each takes 3.0 s, as measured with the default options on one core"
    ]
    done = [{"status": "done", "seconds": 60.0}, {"status": "failed", "seconds": 0.1}]
    assert list(outlook(stated, 10, 2, done, tmp_path)) == [
        f"1 done before, 10 episodes to run, 2 at a time; writes {tmp_path}",
        "about 5 min if each takes 1 min, as those before",
    ]


def test_a_dry_run_checks_and_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "seen"
    folder.mkdir()
    told = told_by(dry_run, NAME, Options(folder=str(folder)), tmp_path / "out", engine=FAST)
    assert f"24 episodes to run, 2 at a time; writes {tmp_path / 'out'}\n" in told
    assert "cost: $0, no paid service is asked\n" in told
    assert told.endswith("nothing was run\n")
    assert list(tmp_path.iterdir()) == [folder]
    assert not list(folder.iterdir())


def test_a_dry_run_refuses_what_the_run_would_refuse(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="not installed"):
        told_by(dry_run, NAME, Options(matcher="lightglue"), tmp_path / "out", engine=FAST)
    assert not list(tmp_path.iterdir())
    told_by(run_benchmark, NAME, Options(), tmp_path / "out", engine=FAST, part=Part(limit=1))
    with pytest.raises(BadInput, match="already contains a run"):
        told_by(dry_run, NAME, Options(), tmp_path / "out", engine=FAST)
    told = told_by(dry_run, NAME, Options(), tmp_path / "out", engine=FAST, resume=True)
    assert "4 done before, 20 episodes to run" in told
