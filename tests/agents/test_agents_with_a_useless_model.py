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
