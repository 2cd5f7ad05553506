"""Results of runs from Python: steps, path, places, cost, tables, pages; runs in an event loop."""

import asyncio
from pathlib import Path

import pandas as pd
import pytest

import virl
from virl.errors import BadInput, JournalBroken
from virl.journal.journal import read_journal


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_a_run_is_read_as_it_was_finished_and_compared() -> None:
    done = virl.run("hiro", out="one")
    read = virl.read_run("one")
    assert read.steps == done.steps
    assert read.steps[0].views
    assert len(read.path) == len(read.steps)
    assert all(isinstance(at, virl.LatLng) for at in read.path)
    assert read.outcome
    assert (read.outcome.kind, read.answer, read.cost) == ("entered", done.answer, done.result.cost)
    assert done.result.place in read.places
    assert (read.left_out, read.report) == ((), Path("one/report.html"))
    frame = read.to_frame()
    assert list(frame["step"]) == [step.step for step in read.steps]
    assert frame["distance_m"].sum() == pytest.approx(done.result.distance_m)
    other = virl.run("hiro", seed=1, steps=2, out="two")
    both = virl.compare([done, "two"], out="both.html")
    assert list(both.to_frame()["run"]) == ["one", "two"]
    assert list(both.to_frame()["steps"]) == [done.result.steps, other.result.steps]
    assert isinstance(both.to_frame(), pd.DataFrame)
    page = both.page.read_text()
    assert "2 runs side by side" in page
    assert page.count("<h2>hiro, ") == 2
    assert "entered" in both._repr_html_()
    with pytest.raises(BadInput, match="no runs"):
        virl.compare([])
    with pytest.raises(JournalBroken):
        virl.read_run("nowhere")


@pytest.mark.slow
def test_runs_go_on_side_by_side_in_an_event_loop() -> None:
    async def all_of_them() -> list[virl.Finished]:
        return await asyncio.gather(*(virl.arun("hiro", steps=2, out=f"run{n}") for n in range(8)))

    done = asyncio.run(all_of_them())
    assert [one.folder.name for one in done] == [f"run{n}" for n in range(8)]
    assert {one.result.status for one in done} == {"gave up"}


@pytest.mark.slow
def test_a_run_that_is_cancelled_can_be_resumed() -> None:
    async def cancelled() -> None:
        running = asyncio.create_task(virl.arun("hiro", out="run"))
        while not (Path("run/journal.jsonl").is_file() and len(read_journal(Path("run"))) > 2):
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        read = virl.read_run("run")
        assert (read.result, read.outcome, read.answer, read.left_out) == (None, None, {}, ())
        assert read.cost.views == sum(len(step.views) for step in read.steps)
        assert "on the way" in read._repr_html_()

    asyncio.run(cancelled())
    assert virl.run("hiro", resume=True, out="run").result.status == "entered"


def test_lists_say_what_there_is_and_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert {"hiro", "diego"} <= set(virl.agents().names)
    assert virl.cities()[0].needs == ""
    assert "virlton" in virl.cities().names
    assert {one.kind for one in virl.models()} >= {"detector", "reader"}
    assert {"place-recognition", "agents"} <= set(virl.benchmarks().names)
    needs = {one.name: one.needs for one in virl.minds()}
    assert (needs["rules"], needs["openai:MODEL"]) == ("", "OPENAI_API_KEY")
    Path("odd.yaml").write_text("name: Odd\ncity: nowhere\nintention: Walk.\nbackground: x\nstart: x\n")
    assert all("odd.yaml" in fault for fault in virl.agents().faults)
    assert "odd.yaml" in virl.agents()._repr_html_()
    assert "virlton" in virl.cities()._repr_html_()
