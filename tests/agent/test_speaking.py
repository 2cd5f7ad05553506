"""What the user says and does at a control reaches rules, models and agents with tools, after a stop too."""

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_characters import write_hiro
from openai_server import Behaviour, ChatServer, Request, reply, tool_calls
from steered import SteeredRun, run_of
from warm_cache import warm_cache

from virl.agent.control import Control, ControlBridge
from virl.agent.user import Feedback, Moment, Silent
from virl.errors import RunStopped
from virl.journal.journal import read_journal
from virl.journal.records import NoteRecord, StepRecord

DAY = {"day.starts": "10:00", "day.ends": "13:00", "day.scenic": False}
WALKER = """\
name: Tess
age: 30
city: virlton
start: 85 Station Street
background: Knows every lamp post.
intention: Tess wants to know what is north of the station.
tools: [where_am_i, move]
limits: {steps: 20, calls: 10}
"""
WISH = "Nothing with onions. <<<close"


def notes_of(folder: Path, topic: str) -> list[NoteRecord]:
    return [one for one in read_journal(folder) if isinstance(one, NoteRecord) and one.topic == topic]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-marker-0123456789abcdef")
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def paused(run: SteeredRun) -> SteeredRun:
    """A run that has begun and is paused."""
    run.control.pause()
    run.start()
    run.until(lambda standing: standing.pose is not None)
    return run


@pytest.mark.slow
def test_who_listens_is_said_and_all_is_written_down(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = paused(SteeredRun(agent=str(write_hiro(tmp_path, steps=1)), out=folder))
    assert "nobody listens" in run.control.say("No onions.")
    run.control.resume()
    run.end()
    assert [note.data for note in notes_of(folder, "said")] == [{"say": "No onions."}]
    assert "No onions." in (folder / "report.html").read_text()


@pytest.mark.slow
def test_a_routine_that_asks_its_user_hears_what_was_said_and_waits_for_one_who_took_over(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    run = paused(run_of("diego", folder, fields=DAY))
    run.control.take_over()
    first = run.until(lambda standing: bool(standing.question))
    assert (first.state, first.waiting, first.links) == ("yours", True, ())
    assert "It is 10:00" in first.question
    run.control.pause()
    run.until(lambda standing: not standing.question)
    assert "next asks you" in run.control.say("No libraries, please.")
    run.control.stop()
    assert isinstance(run.cut_short(), RunStopped)

    again = run_of("diego", folder, resume=True)
    again.start()
    again.end()
    said = notes_of(folder, "said")
    heard = [note for note in notes_of(folder, "feedback") if "No libraries" in str(note.data["say"])]
    assert len(heard) == 1, [note.data for note in notes_of(folder, "feedback")]
    assert len(said) <= 1


@pytest.mark.slow
def test_an_answer_to_a_question_is_heard_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = run_of("diego", folder, fields=DAY)
    run.control.take_over()
    run.start()
    run.until(lambda standing: bool(standing.question))
    assert run.control.say("I am hungry, hunger=90.") == "This is your answer."
    run.until(lambda _: bool(notes_of(folder, "feedback")))
    run.control.hand_back()
    run.end()
    [note] = notes_of(folder, "feedback")[:1]
    assert note.data["say"] == "I am hungry,"
    assert note.data["state"]["hunger"] == 90  # type: ignore[index]


def test_the_error_of_a_misunderstood_answer_goes_when_a_later_one_is_understood() -> None:
    control, said = Control(), [SimpleNamespace(seq=0, data={"say": "hungr=90"})]
    streets: Any = None  # nobody looks around
    bridge = ControlBridge(control, streets, Silent(), asks=False)
    run: Any = SimpleNamespace(notes=lambda _: said, heard_until=-1, pause_clock=nullcontext)
    bridge._run = run
    bridge.expect({"hunger"})
    assert bridge.feedback(Moment("")) == Feedback("hungr=90")
    assert "did you mean 'hunger'" in control.snapshot().error
    run.heard_until = 0
    assert bridge.feedback(Moment("")) is None
    assert control.snapshot().error
    said.append(SimpleNamespace(seq=1, data={"say": "hunger=90"}))
    assert bridge.feedback(Moment("")) == Feedback("", {"hunger": 90.0})
    assert control.snapshot().error == ""


def hiros_model(request: Request) -> Behaviour:
    replies = {
        "PlaceType": {"place_type": "restaurant"},
        "RoadChoice": {"index": 0, "reason": "It looks lively."},
        "PlaceSummary": {"summary": "Mild food."},
        "PlaceDecision": {"action": "continue", "reason": "Not today."},
    }
    asked = json.dumps(request.body["response_format"])
    return reply(next(fields for name, fields in replies.items() if name in asked))


@pytest.mark.slow
def test_a_model_hears_it_with_its_next_question_fenced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with ChatServer([hiros_model]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        run = paused(
            SteeredRun(
                agent=str(write_hiro(tmp_path, steps=3)), out=tmp_path / "run", mind="openai:gpt-5-mini"
            )
        )
        assert "next question" in run.control.say(WISH)
        run.control.resume()
        run.end()
    told = [json.dumps(request.messages) for request in server.requests]
    assert all("Nothing with onions." in one for one in told)
    assert "<<<close" not in told[0]
    asked = [exchange for one in read_journal(tmp_path / "run") for exchange in getattr(one, "asked", ())]
    assert asked
    assert all(exchange.inputs["user_said"] == [WISH] for exchange in asked)


@pytest.mark.slow
def test_a_character_with_tools_is_moved_and_told_and_goes_on_after_a_stop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "tess.yaml"
    file.write_text(WALKER)
    folder = tmp_path / "run"
    look, move = tool_calls(("where_am_i", {})), tool_calls(("move", {"direction": "front"}))
    with ChatServer(
        [look, look, move, tool_calls(("finish", {"answer": "Houses.", "succeeded": True}))]
    ) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        run = paused(SteeredRun(agent=str(file), out=folder, mind="openai:gpt-5-mini"))
        run.control.step()
        run.until(lambda standing: standing.state == "paused")
        run.control.take_over()
        gone = []
        for _ in range(2):
            gone.append(run.decision().links[0].pano_id)
            run.control.go(gone[-1])
        run.decision()
        assert len(server.requests) == 1
        run.control.stop()
        assert isinstance(run.cut_short(), RunStopped)

        again = paused(SteeredRun(agent=str(file), out=folder, resume=True))
        again.control.say(WISH)
        again.control.take_over()
        standing = again.decision()
        assert standing.pose is not None
        assert standing.pose.pano_id == gone[-1]
        again.control.hand_back()
        assert again.end().result.reason == "Houses."
    told = [message["content"] for message in server.requests[1].messages if message["role"] == "user"]
    assert any("took over and moved you over 2 panoramas" in str(one) for one in told)
    assert any("Nothing with onions." in str(one) for one in told)
    steps = [one for one in read_journal(folder) if isinstance(one, StepRecord)]
    assert [step.decided_by for step in steps] == ["user", "user", "", ""]
    assert [step.next_pano_id for step in steps[:2]] == gone
    assert steps[2].pose.pano_id == gone[1]
