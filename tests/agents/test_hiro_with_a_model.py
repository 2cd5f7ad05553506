"""Hiro with a language model, over real HTTP, from the command line."""

import json
from pathlib import Path

import pytest
from made_characters import write_hiro
from openai_server import Behaviour, ChatServer, Request, fault, reply
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl.cli.main import app

KEY = "sk-marker-0123456789abcdef"
REPLIES = {
    "PlaceType": {"place_type": "restaurant"},
    "RoadChoice": {"index": 0, "reason": "It looks lively."},
    "PlaceSummary": {"summary": "Mild food."},
    "PlaceDecision": {"action": "continue", "reason": "Not today."},
}


def model(request: Request) -> Behaviour:
    """Answers whichever of Hiro's four questions is asked."""
    asked = json.dumps(request.body["response_format"])
    return reply(next(fields for name, fields in REPLIES.items() if name in asked))


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def run_at(server: ChatServer, monkeypatch: pytest.MonkeyPatch, folder: Path, *more: str) -> tuple[int, str]:
    monkeypatch.setenv("VIRL_BASE_URL", server.url)
    arguments = ["run", str(write_hiro(folder, steps=2)), "--mind", "openai:gpt-5-mini", *more]
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, f"{done.output}{done.exception!r}"


@pytest.mark.slow
def test_a_model_is_asked_with_pictures_and_paid_for_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with ChatServer([model]) as server:
        code, output = run_at(server, monkeypatch, tmp_path, "--out", str(tmp_path / "first"))
        assert code == 0, output
        sent = len(server.requests)
        result = json.loads((tmp_path / "first" / "result.json").read_text())
        assert result["cost"]["llm_calls"] == sent
        assert result["cost"]["input_tokens"] == 100 * sent
        assert result["cost"]["usd"] > 0
        [true] = result["truth"]["checked"]
        assert true["claimed"] == "no restaurant that fits"
        assert "Known because" in (tmp_path / "first/report.html").read_text()
        said = [json.dumps(request.body) for request in server.requests]
        assert not any("Known because" in one or true["true"] in one for one in said)
        assert any("image_url" in json.dumps(request.messages) for request in server.requests)

        code, output = run_at(server, monkeypatch, tmp_path, "--out", str(tmp_path / "second"))
        assert code == 0, output
        assert len(server.requests) == sent, "the second run must be answered from the cache"
        again = json.loads((tmp_path / "second" / "result.json").read_text())
        assert again["cost"]["llm_cached"] == sent
        assert again["cost"]["usd"] == 0
        assert (again["steps"], again["reason"]) == (result["steps"], result["reason"])
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(left) > 5
    assert not [path for path in left if KEY.encode() in path.read_bytes()], "the key is written nowhere"


@pytest.mark.slow
def test_a_run_that_lost_its_model_goes_on_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = tmp_path / "run"
    no_key = fault(401, f"Incorrect API key provided: {KEY}", "invalid_api_key")
    with ChatServer([model, no_key, model]) as server:
        code, output = run_at(server, monkeypatch, tmp_path, "--out", str(out))
        assert code == 2
        assert KEY not in output
        failed = len(server.requests)
        code, output = run_at(server, monkeypatch, tmp_path, "--out", str(out), "--resume")
        assert code == 0, output
        asked = [json.dumps(request.body["response_format"]) for request in server.requests[failed:]]
    assert not any("PlaceType" in question for question in asked), "that was paid for before"
    assert json.loads((out / "result.json").read_text())["steps"] == 2
