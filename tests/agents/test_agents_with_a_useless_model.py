"""Agents whose model answers nonsense: each gives up with a result, and resuming tells it again."""

import json
from pathlib import Path

import pytest
from openai_server import ChatServer, text
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
        assert result["status"] == "gave up"
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


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["vivek", "aria", "diego"])
def test_a_benchmark_names_the_words_of_the_failure(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer([text("The moon is made of cheese.")]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        bench = ["bench", "agents", "--agent", agent, "--mind", "openai:test", "--limit", "1"]
        done = CliRunner().invoke(app, [*bench, "--out", str(tmp_path / "bench")])
        assert done.exit_code == 0, done.output
    [record] = [json.loads(line) for line in (tmp_path / "bench/records.jsonl").read_text().splitlines()]
    told = f"{record['reason']}{record['data'].get('fault', '')}"
    assert "openai:test gave no valid reply to " in told
