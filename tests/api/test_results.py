"""Results of runs from Python: steps, path, places, cost, tables, pages; runs in an event loop."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
from langchain_core.outputs import ChatResult
from own_models import Dictated, zoe

import virl
from virl.api.langchain import runnable
from virl.errors import BadInput, JournalBroken


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


@pytest.mark.parametrize(
    "count", [pytest.param(6, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.soak)]
)
def test_runs_go_on_side_by_side_in_an_event_loop(count: int) -> None:
    async def all_of_them() -> list[virl.Finished]:
        return await asyncio.gather(*(virl.arun(zoe(), mind=Dictated()) for _ in range(count)))

    done = asyncio.run(all_of_them())
    assert len({one.folder for one in done}) == count
    assert {one.result.status for one in done} == {"finished"}


def leave_arun(model: Dictated) -> None:
    async def cancelled() -> None:
        running = asyncio.create_task(virl.arun(zoe(), mind=model, price=(1, 2), out="run"))
        while model.asked < 2:
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancelled())


def leave_stream(model: Dictated) -> None:
    stream = runnable(zoe(), mind=model, price=(1, 2), out="run").stream("Look.")
    while model.asked < 2:
        next(stream)
    del stream


@pytest.mark.slow
@pytest.mark.parametrize("leave", [leave_arun, leave_stream])
def test_a_run_that_is_left_can_be_resumed_and_its_money_is_booked(
    leave: Callable[[Dictated], None],
) -> None:
    model = Dictated(turns=40)
    leave(model)
    asked = model.asked
    read = virl.read_run("run")
    assert (read.result, read.outcome, read.answer, read.left_out) == (None, None, {}, ())
    assert "on the way" in read._repr_html_()
    model.turns = asked + 1
    done = virl.run(zoe(), mind=model, price=(1, 2), resume=True, out="run")  # its lock is free
    assert done.result.status == "finished"
    assert done.cost.usd == pytest.approx(model.asked * 120e-6)


@pytest.mark.slow
def test_a_run_is_watched_until_it_ends(capfd: pytest.CaptureFixture[str]) -> None:
    class Curious(Dictated):
        """A model that opens the page when it is asked."""

        def _generate(self, *given: Any, **more: Any) -> ChatResult:
            address = capfd.readouterr().err.partition("Watch at ")[2].strip()
            pages.append((address, httpx.get(address).text))
            return super()._generate(*given, **more)

    pages = list[tuple[str, str]]()
    done = virl.run(zoe(), mind=Curious(), watch=True)
    [(address, page)] = pages
    assert "<title>virl watch</title>" in page
    assert done.report.is_file()
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)


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
