"""Agents whose model answers nonsense: each gives up with a result, and resuming tells it again."""

import json
from pathlib import Path

import pytest
from openai_server import ChatServer, fault, text
from typer.testing import CliRunner

from virl.cli.main import app


@pytest.mark.parametrize("agent", ["vivek", "diego", "june", pytest.param("ling", marks=pytest.mark.slow)])
def test_nonsense_is_the_models_failure_and_a_result(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    limits = ("--set", "limits.calls=3") if agent == "june" else ()
    with ChatServer([text("The moon is made of cheese.")]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        asked = ["run", agent, "--mind", "openai:test", "--out", str(out), *limits]
        done = CliRunner().invoke(app, asked)
        assert done.exit_code == 0, done.output
        result = json.loads((out / "result.json").read_text())
        assert (result["status"], result["outcome"]["kind"]) == (
            "gave up",
            "gave up" if agent == "june" else "no reply",
        )
        assert agent == "june" or "openai:test gave no valid reply to " in result["reason"]
        sent = len(server.requests)
        again = CliRunner().invoke(app, ["run", agent, "--out", str(out), "--resume"])
        assert again.exit_code == 0, again.output
        assert len(server.requests) == sent


def test_a_mind_that_cannot_answer_is_the_users_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer([text("Yes.")]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        asked = ["run", "vivek", "--mind", "openai-completion:m", "--out", str(tmp_path / "run")]
        done = CliRunner().invoke(app, asked)
        assert done.exit_code == 2
        assert "is a completion model and gives plain text only: choose a chat model" in done.output
        assert not server.requests


CASES = {
    "vivek": ({"correlation": 0.0, "pick_beaten_by": 1.0}, 1),
    "aria": ({"pick": None, "fits": False, "barred": False}, 1),
    "diego": ({"violations": {"no plan": 1}, "activities": 0, "filled": 0.0}, 1),
    "peng": ({"told": True, "read": False}, 8),  # one of those that are drawn is told in words
    "ling": ({"arrived": False, "first": False, "believes": False}, 1),
    "otto": ({"met": False}, 1),
    "hiro": ({"entered": None, "success": False, "spl": 0.0}, 1),
    "plain": ({"success": False}, 1),
}
"""The worst that can come of a case, by who is asked, and how many cases are run."""
OPTIONS = {
    "hiro": ("exploration", "--policy", "hiro"),
    "plain": ("sight", "--split", "train", "--kinds", "name", "--model", "plain"),
}


@pytest.mark.slow
@pytest.mark.parametrize("who", CASES)
def test_a_benchmark_scores_a_case_without_a_usable_reply_as_the_worst(
    who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worst, count = CASES[who]
    options = OPTIONS.get(who, ("agents", "--agent", who))
    said = "" if who == "otto" else "The moon is made of cheese."
    with ChatServer([text(said)]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        bench = ["bench", *options, "--mind", "openai:test", "--limit", str(count), "--engine", "threads"]
        done = CliRunner().invoke(app, [*bench, "--out", str(tmp_path / "bench")])
        assert done.exit_code == 0, done.output
    records = [json.loads(line) for line in (tmp_path / "bench/records.jsonl").read_text().splitlines()]
    failed = [record for record in records if record["status"] == "failed"]
    assert {record["model"].partition(",")[0] for record in failed} == {who}
    told = "the model said nothing more" if who == "otto" else "openai:test gave no valid reply to "
    for record in failed:
        assert told in record["reason"]
        assert worst.items() <= record["data"].items()
    counted = "1 episode" if len(failed) == 1 else f"{len(failed)} episodes"
    assert f"{counted} failed, included in means" in done.output
    results = json.loads((tmp_path / "bench/results.json").read_text())
    assert all(one["scored"] for one in results["failures"])


@pytest.mark.slow
def test_a_server_that_is_down_is_in_no_mean_of_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer([fault(400, "Budget has been exceeded!")]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        bench = ["bench", "agents", "--agent", "vivek", "--mind", "openai:test", "--limit", "1"]
        done = CliRunner().invoke(app, [*bench, "--engine", "threads", "--out", str(tmp_path / "bench")])
        assert done.exit_code == 0, done.output
    [record] = [json.loads(line) for line in (tmp_path / "bench/records.jsonl").read_text().splitlines()]
    assert (record["status"], record["data"]) == ("failed", {})
    assert "1 episode failed, not included in means" in done.output
