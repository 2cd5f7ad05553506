"""Every agent with a real llama.cpp server and a model of random weights: each ends within its limits."""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from small_model import OPTIONS, SmallModel
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl.agent.character_file import agent_names
from virl.cli.main import app

for package in ("gguf", "xllamacpp"):
    pytest.importorskip(package, reason=f"needs {package}: make test-llama")

CALLS, STEPS, BUDGET_USD = 5, 12, 2.0
ASK_NOTHING = {"imani", "rx399"}
"""Agents whose routines put no question to a model."""
NO_VALID_REPLY = "openai:small gave no valid reply to "
BEYOND_SCHEMA = re.compile("rate each of the|the directions do not name")
"""Faults of whole replies that fit their schemas."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run."""

    kind: str
    """`finished`, `gave up` or `no valid reply`; else the exit code."""
    told: str
    steps: int
    usd: float
    turns: int
    """Replies that a tool agent and those that it consulted took."""
    valid: int
    """Calls of tools that went well, and typed replies that fit."""

    @property
    def holds(self) -> bool:
        """Whether it is an end in words, within all limits."""
        kept = self.steps <= STEPS and self.turns <= CALLS and self.usd <= BUDGET_USD
        return kept and not self.kind.isdecimal() and bool(self.told.strip())


def run(agent: str, url: str, out: Path, *options: str, budget_usd: float = BUDGET_USD) -> Ended:
    """Run an agent with the model at a server."""
    mind = ("--mind", f"openai:small{OPTIONS}", "--budget-usd", str(budget_usd), "--out", str(out))
    limits = ("--set", f"limits.calls={CALLS}", "--set", f"limits.steps={STEPS}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRL_BASE_URL", url)
        patch.setenv("VIRL_CACHE", warm_cache(Path(f"{out}-cache")))
        done = CliRunner().invoke(app, ["run", agent, *mind, *limits, *options])
    records = [record for journal in out.rglob("journal.jsonl") for record in _lines(journal)]
    asked = [one for record in records for one in record.get("asked", ())]
    typed = [one for one in asked if one["prompt"] != "tool-agent" and "error" not in one["reply"]]
    called = [one for one in records if one.get("topic") == "tool" and not one["data"]["failed"]]
    turns = sum(one["attempts"] for one in asked if one["prompt"] == "tool-agent")
    paid = [one.get("micro_usd", 0) for one in _lines(out / "spending.jsonl")]
    told = next((line for line in done.output.splitlines() if line.startswith("virl: ")), "")
    kind, steps = str(done.exit_code), sum(record["kind"] == "step" for record in records) - 1
    if done.exit_code == 0:
        result = json.loads((out / "result.json").read_text())
        kind, told, steps = result["status"], result["reason"], result["steps"]
        kind = "no valid reply" if told.startswith(NO_VALID_REPLY) else kind
    return Ended(kind, told, steps, sum(paid) / 1e6, turns, len(typed) + len(called))


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with SmallModel(tmp_path_factory.mktemp("model")) as model:
        yield model.url


@pytest.mark.slow
@pytest.mark.parametrize("agent", agent_names())
def test_an_agent_comes_to_an_end_in_words_and_within_its_limits(
    agent: str, url: str, tmp_path: Path
) -> None:
    ended = run(agent, url, tmp_path / "run")
    sys.stdout.write(f"{agent}: {ended}\n")
    assert ended.holds
    assert ended.valid or agent in ASK_NOTHING or BEYOND_SCHEMA.search(ended.told)


@pytest.mark.slow
def test_a_budget_holds_and_the_run_goes_on_with_more(url: str, tmp_path: Path) -> None:
    whole = run("aria", url, tmp_path / "whole")
    budget_usd = 0.7 * whole.usd
    ended = run("aria", url, tmp_path / "run", budget_usd=budget_usd)
    assert ended.usd <= budget_usd
    assert "budget" in ended.told
    assert run("aria", url, tmp_path / "run", "--resume").told == whole.told


@pytest.mark.soak
@pytest.mark.parametrize("wild", [False, True])
def test_all_agents_with_five_models(wild: bool, tmp_path: Path) -> None:
    if os.environ.get("SOAK_JOBS", "llama") not in ("", "llama"):
        pytest.skip("only other jobs were asked for")
    found: dict[str, Counter[str]] = {}
    for seed in range(5):
        with SmallModel(tmp_path, seed=seed, wild=wild) as model:
            for agent in agent_names():
                ended = run(agent, model.url, tmp_path / f"{agent}-{seed}", "--seed", str(seed))
                found.setdefault(agent, Counter())[ended.kind] += 1
                sys.stdout.write(f"{seed} {agent}: {ended}\n")
                assert ended.holds
    sys.stdout.write("".join(f"{agent}: {dict(ends)}\n" for agent, ends in found.items()))
