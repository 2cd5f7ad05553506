"""Whole agents at the strict fake of each provider, from the command line; it answers as the rules do."""

import json
from pathlib import Path
from typing import Any

import pytest
from chaos.jobs import dealt
from strict_models import ModelServer, Request, Said, calls, says
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl.cli.main import app
from virl.mind.base import Prompt
from virl.mind.llm import LLMMind
from virl.mind.rules import RuleMind

MODELS = {
    "openai": ("openai:gpt-5-mini", "OPENAI_BASE_URL"),
    "anthropic": ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL"),
    "google_genai": ("google_genai:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL"),
    "ollama": ("ollama:llama3.2-vision", "OLLAMA_HOST"),
}
OTHERS = ("VIRL_BASE_URL", "VIRL_API_KEY", "GEMINI_API_KEY", *(variable for _, variable in MODELS.values()))
AGENTS = {
    "hiro": ("--set", "limits.steps=6"),
    "peng": (),
    "diego": (),
    "mira": (),
}
SHIFT = dealt(range(len(AGENTS)))
"""Each provider has one of the agents, and another one from run to run."""
TURNS = [
    calls(("look", {"direction": "front"})),
    calls(("read_signs", {"direction": "front"}), ("where_am_i", {})),
    calls(("finish", {"answer": "There is a street.", "succeeded": True})),
]


class AsTheRules:
    """Answers typed questions as the rules do, and has the turns of a script where tools are offered."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._asked: tuple[Prompt[Any], dict[str, object]] | None = None
        self._turn = 0
        ask = LLMMind.ask

        def noting(mind: LLMMind, prompt: Prompt[Any], *, images: Any = (), **inputs: object) -> Any:
            self._asked = (prompt, inputs)
            return ask(mind, prompt, images=images, **inputs)

        monkeypatch.setattr(LLMMind, "ask", noting)

    def __call__(self, request: Request) -> Said:
        if request.body.get("tools"):
            self._turn += 1
            return TURNS[self._turn - 1]
        assert self._asked
        prompt, inputs = self._asked
        return says(RuleMind().ask(prompt, **inputs).model_dump(mode="json"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One for all: what an agent saw and read with one provider need not be drawn for the next."""
    return warm_cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: str) -> None:
    for name in OTHERS:
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, f"marker-of-{name.lower()}-0123456789")
    monkeypatch.setenv("VIRL_CACHE", cache)
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(MODELS)), ids=MODELS)
def test_an_agent_runs_to_its_end(number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    provider, agent = list(MODELS)[number], list(AGENTS)[(number + SHIFT) % len(AGENTS)]
    model, variable = MODELS[provider]
    out = tmp_path / "run"
    with ModelServer(provider, [AsTheRules(monkeypatch)]) as server:
        monkeypatch.setenv(variable, server.url)
        done = CliRunner().invoke(app, ["run", agent, "--mind", model, "--out", str(out), *AGENTS[agent]])
        assert done.exit_code == 0, f"{done.output}{done.exception!r}"
        assert server.refusals == []
        sent = len(server.requests)
    first = json.loads((out / "journal.jsonl").read_text().splitlines()[0])
    settings = first["mind_settings"]
    assert (settings["max_tokens"], settings["timeout"]) == (16_384, 120)
    assert settings.get("seed") == (None if provider == "anthropic" else 0)
    result = json.loads((out / "result.json").read_text())
    cost = result["cost"]
    assert cost["llm_calls"] == sent > 0
    assert (cost["input_tokens"], cost["output_tokens"]) == (100 * sent, 10 * sent)
    assert (cost["usd"] > 0) == (provider != "ollama")
    assert result["status"] in ("entered", "finished", "gave up")
    assert agent == "hiro" or result["status"] == "finished"
    assert not list(tmp_path.rglob("*.cut-*"))
