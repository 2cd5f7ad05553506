"""VELMA on 400 episodes over real HTTP: faults are met, a kill costs nothing, nothing is asked twice."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import pytest
from made_streets_data import write_made_data
from openai_server import Behaviour, ChatServer, Request, fault, text

from virl.platform.movers.discrete.oracle import gold_actions
from virl.platform.providers.graph.touchdown import read_episodes, read_touchdown

EPISODES = 400
HOPELESS = 100
"""Every so many episodes one gets nothing but junk."""
CHECKOUT = Path(__file__).parents[3]


@dataclass
class Walker:
    """A scripted model that knows the gold actions, and the faults that it makes."""

    gold: Mapping[int, list[str]]
    asked: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Times that each step of each episode was asked for."""
    answered: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Times that it got its right answer."""
    lock: Lock = field(default_factory=Lock)

    def __call__(self, request: Request) -> Behaviour:
        content = request.messages[-1]["content"]
        said = content if isinstance(content, str) else "".join(block["text"] for block in content)
        episode = int(re.findall(r"Walk number (\d+)\.", said)[-1])
        step = int(re.findall(r"(\d+)\.\s*$", said)[-1])
        with self.lock:
            self.asked[episode, step] += 1
            first = self.asked[episode, step] == 1
        chance = (episode * 31 + step * 17) % 40
        if episode % HOPELESS == HOPELESS - 1:
            return text("Let us jump!")
        if first and chance in (0, 1, 2):
            return (fault(500), fault(429, retry_after="0"), text(""))[chance]
        if first and chance == 3:
            return text("\N{DANCER} I would say: perhaps")
        with self.lock:
            self.answered[episode, step] += 1
        return text(f" {self.gold[episode][step - 1].upper()}.")


def command(data: Path, out: Path, *more: str) -> list[str]:
    options = [
        "--agent",
        "velma",
        "--form",
        "text",
        "--mind",
        "openai:test",
        "--data",
        str(data),
        "--out",
        str(out),
    ]
    return [sys.executable, "-m", "benchmarks.touchdown", *options, "--workers", "8", "--shots", "0", *more]


def environment(server: ChatServer, cache: Path) -> dict[str, str]:
    own = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-hidden", "VIRL_CACHE": str(cache)}
    return os.environ | own


def known_gold(data: Path) -> dict[int, list[str]]:
    graph = read_touchdown(data / "graph")
    episodes = read_episodes(data / "map2seq_unseen" / "dev.jsonl")
    gold = {episode.id: gold_actions(graph, episode.path, episode.heading) for episode in episodes}
    return {int(identity) - 1000: [action.value for action in actions] for identity, actions in gold.items()}


@pytest.mark.slow
def test_400_episodes_with_faults_and_a_kill(tmp_path: Path) -> None:
    data, out = write_made_data(tmp_path / "data", EPISODES), tmp_path / "out"
    walker = Walker(known_gold(data))
    with ChatServer([walker]) as server:
        env = environment(server, tmp_path / "cache")
        killed = subprocess.Popen(command(data, out), env=env, cwd=CHECKOUT, stdout=subprocess.DEVNULL)
        records = out / "records.jsonl"
        while killed.poll() is None and not (records.is_file() and records.read_bytes().count(b"\n") > 100):
            time.sleep(0.05)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        before = sum(walker.answered.values())
        assert 100 < before < 3000
        done = subprocess.run(
            command(data, out, "--resume"), env=env, cwd=CHECKOUT, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    results = json.loads((out / "results.json").read_text())
    (row,) = results["rows"]
    assert row["episodes"] == {"planned": 400, "done": 396, "failed": 4, "missing": 0}
    assert row["values"]["tc"][0] == pytest.approx(0.99)  # those that failed count as not completed
    # A reply that was on its way when the process died cannot have been kept: one a worker at most.
    again = [step for step, times in walker.answered.items() if times > 1]
    assert len(again) <= 8
    assert all(times <= 2 for times in walker.answered.values())
    kept = [json.loads(line) for line in records.read_text().splitlines()]
    assert len({record["id"] for record in kept}) == EPISODES
    refused = [told for record in kept for told in record["data"].get("decisions", ()) if told.get("refused")]
    assert len(refused) > 50
    assert "sk-hidden" not in "".join(path.read_text() for path in out.iterdir() if path.is_file())
