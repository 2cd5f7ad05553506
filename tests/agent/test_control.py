"""A control: pause, step, look around and steer runs of real agents in Virlton."""

from itertools import pairwise
from pathlib import Path

import pytest
from steered import run_of

from virl.agent.control import Control
from virl.errors import BadInput, RunStopped
from virl.journal.journal import read_journal
from virl.journal.records import StepRecord


def steps_of(folder: Path) -> list[StepRecord]:
    return [record for record in read_journal(folder) if isinstance(record, StepRecord)]


def test_a_new_control_is_running_and_nowhere() -> None:
    standing = Control().snapshot()
    assert (standing.state, standing.pose, standing.links, standing.waiting) == ("running", None, (), False)


@pytest.mark.slow
def test_a_run_is_paused_stepped_looked_at_and_goes_on(tmp_path: Path) -> None:
    run = run_of("hiro", tmp_path / "run")
    run.control.pause()
    run.start()
    run.until(lambda standing: standing.state == "paused" and standing.pose is not None)
    view = run.control.look(90.0, 10.0, 60.0)
    standing = run.control.snapshot()
    assert standing.pose is not None
    assert (view.pano_id, view.camera.heading, view.camera.fov) == (standing.pose.pano_id, 90.0, 60.0)
    before = len(steps_of(tmp_path / "run"))
    run.control.step()
    run.until(lambda standing: standing.state == "paused")
    assert len(steps_of(tmp_path / "run")) == before + 1
    with pytest.raises(BadInput, match="outside"):
        run.control.look(0.0, fov=500.0)
    run.control.resume()
    result = run.end().result
    assert (result.status, result.outcome.kind, result.outcome.what) == (
        "entered",
        "entered",
        result.place.name,
    )
    assert run.control.snapshot().state == "ended"
    with pytest.raises(BadInput, match="pause the run"):
        run.control.look(0.0)
    with pytest.raises(BadInput, match="has ended"):
        run.control.take_over()


@pytest.mark.slow
def test_a_user_takes_over_and_hands_back(tmp_path: Path) -> None:
    run_of("hiro", tmp_path / "own").start().end()
    own = steps_of(tmp_path / "own")
    run = run_of("hiro", tmp_path / "run")
    run.control.take_over()
    run.start()
    gone = []
    for _ in range(3):
        standing = run.decision()
        assert standing.state == "yours"
        assert all(way.description for way in standing.links)
        with pytest.raises(BadInput, match="no link leads"):
            run.control.go("nowhere")
        other = [way for way in standing.links if way.pano_id != own[len(gone)].next_pano_id]
        gone.append((other or standing.links)[0].pano_id)
        run.control.go(gone[-1])
        with pytest.raises(BadInput, match="waits for no decision"):
            run.control.go(gone[-1])
    run.decision()
    run.control.hand_back()
    finished = run.end()
    steps = steps_of(tmp_path / "run")
    assert [step.pose.pano_id for step in steps[1:4]] == gone
    assert gone != [step.pose.pano_id for step in own[1:4]]
    assert [step.decided_by for step in steps[:4]] == ["user", "user", "user", ""]
    assert not any(step.decided_by for step in own)
    assert steps[0].decided.startswith("the user goes ")
    assert steps[0].seconds < finished.result.cost.seconds
    assert finished.result.status in ("entered", "gave up")


@pytest.mark.slow
def test_a_run_that_is_stopped_is_resumed_where_the_user_left_it(tmp_path: Path) -> None:
    run = run_of("hiro", tmp_path / "run")
    run.control.take_over()
    run.start()
    for _ in range(2):
        standing = run.decision()
        assert standing.pose is not None
        run.control.go(standing.links[-1].pano_id)
    run.decision()
    run.control.stop()
    assert isinstance(run.cut_short(), RunStopped)
    before = steps_of(tmp_path / "run")
    assert "--resume" in run.control.snapshot().error
    again = run_of("hiro", tmp_path / "run", resume=True).start().end()
    steps = steps_of(tmp_path / "run")
    assert steps[: len(before)] == before
    assert steps[len(before)].pose.pano_id == before[-1].next_pano_id
    assert again.result.status in ("entered", "gave up")


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["peng", "rx399", "imani", "ling"])
def test_every_walk_can_be_steered_and_resumed(agent: str, tmp_path: Path) -> None:
    walk = folder = tmp_path / "run"
    if agent == "imani":
        walk = folder / "consulted" / "round"  # RX-399 walks for her
    limits = {"limits.steps": 12}
    own = run_of(agent, folder, fields=limits)
    own.control.take_over()
    own.start()
    gone: list[str] = []
    for number in range(5):
        standing = own.decision()
        assert standing.pose is not None
        if gone:
            assert standing.pose.pano_id == gone[-1]
        gone.append(standing.links[number % len(standing.links)].pano_id)
        own.control.go(gone[-1])
    own.decision()
    own.control.stop()
    assert isinstance(own.cut_short(), RunStopped)
    before = steps_of(walk)
    assert [step.decided_by for step in before] == ["user"] * 5
    assert [step.next_pano_id for step in before] == gone

    again = run_of(agent, folder, resume=True)
    again.control.take_over()
    again.start()
    standing = again.decision()
    assert standing.pose is not None
    assert standing.pose.pano_id == gone[-1]
    again.control.go(standing.links[0].pano_id)
    again.decision()
    again.control.hand_back()
    result = again.end().result
    steps = steps_of(walk)
    assert steps[:5] == before
    assert [step.step for step in steps] == list(range(len(steps)))
    assert [step.decided_by for step in steps[:6]] == ["user"] * 6
    assert not any(step.decided_by for step in steps[6:])
    assert all(one.next_pano_id == two.pose.pano_id for one, two in pairwise(steps) if one.next_pano_id)
    assert result.steps <= 12
    assert result.status in ("finished", "gave up")
    assert "decided by the user" in (walk / "report.html").read_text()
