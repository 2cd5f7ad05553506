"""A run that is killed anywhere between a hold and its record goes on, paid to the cent and asked once."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from openai_server import Behaviour, ChatServer, Request, tool_calls
from warm_cache import warm_cache

TURNS = 3
TRUE = 110 * 100 / 1e6
"""Dollars that a turn costs: 100 tokens in and 10 out, at 100 dollars a million."""
CHARACTER = """
name: Tess
city: virlton
start: 91 Station Street
background: Curious.
intention: Tess wants to know where she is.
tools: [where_am_i]
"""
KILLED = """
import os, signal, sys
from virl.cli.main import app
from virl.journal.journal import Journal
from virl.money.book import Book

method, when, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
owner = {"enter": Book, "append": Journal}[method]
real, calls = getattr(owner, method), 0

def dying(self, record):
    global calls
    calls += 1
    if calls == number and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    real(self, record)
    if calls == number:
        os.kill(os.getpid(), signal.SIGKILL)

setattr(owner, method, dying)
app(sys.argv[4:])
"""


def turn(request: Request) -> int:
    """The turn that a request asks for, from 0 on."""
    return sum(message["role"] == "assistant" for message in request.messages)


def next_turn(request: Request) -> Behaviour:
    if turn(request) < TURNS - 1:
        return tool_calls(("where_am_i", {}))
    return tool_calls(("finish", {"answer": "On Station Street.", "succeeded": True}))


class Town:
    """A run of one character before a server, killed and resumed in processes of its own."""

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.folder, self.server = folder, server
        (folder / "tess.yaml").write_text(CHARACTER)
        self._env = os.environ | {
            "OPENAI_API_KEY": "sk-any",
            "VIRL_BASE_URL": server.url,
            "VIRL_CACHE": warm_cache(folder / "cache"),
        }

    def run(self, *killed: str, resume: bool = False) -> "subprocess.CompletedProcess[str]":
        mind = "openai:gpt-5-mini?price=100,100&max_tokens=1000"
        asked = ["run", "tess.yaml", "--mind", mind, "--out", "run", "--quiet", "--budget-usd", "5"]
        start = ["-c", KILLED, *killed] if killed else ["-m", "virl"]
        return subprocess.run(
            [sys.executable, *start, *asked, *(["--resume"] if resume else [])],
            cwd=self.folder,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    @property
    def book(self) -> list[dict[str, Any]]:
        path = self.folder / "run" / "spending.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def cost(self) -> dict[str, Any]:
        cost: dict[str, Any] = json.loads((self.folder / "run" / "result.json").read_text())["cost"]
        return cost

    @property
    def asked(self) -> Counter[int]:
        return Counter(map(turn, self.server.requests))


def booked(entries: list[dict[str, Any]]) -> float:
    return sum(entry["micro_usd"] for entry in entries) / 1e6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "when", "number", "times", "paid"),
    [
        pytest.param("enter", "before", 3, 1, "once", id="before the hold"),
        pytest.param("enter", "after", 3, 1, "held", id="after the hold"),
        pytest.param("enter", "before", 4, 2, "held", id="before it is settled"),
        pytest.param("enter", "after", 4, 2, "twice", id="after it is settled"),
        pytest.param("append", "before", 3, 1, "once", id="before the record"),
        pytest.param("append", "after", 3, 1, "once", id="after the record"),
    ],
)
def test_a_kill_in_the_second_turn(
    method: str, when: str, number: int, times: int, paid: str, tmp_path: Path
) -> None:
    with ChatServer([next_turn]) as server:
        town = Town(tmp_path, server)
        assert town.run(method, when, str(number)).returncode == -signal.SIGKILL
        held = town.book[2]["micro_usd"] / 1e6 if len(town.book) > 2 else 0.0
        done = town.run(resume=True)
    assert done.returncode == 0, done.stderr
    assert town.asked == {0: 1, 1: times, 2: 1}
    extra = {"once": 0.0, "held": held, "twice": TRUE}[paid]
    assert town.cost["usd"] == pytest.approx(booked(town.book)) == pytest.approx(TURNS * TRUE + extra)
    assert "less than the journal" not in done.stderr


@pytest.mark.soak
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("method", "number"), [*(("enter", n) for n in range(1, 7)), *(("append", n) for n in range(1, 7))]
)
def test_a_kill_at_any_point(method: str, number: int, when: str, tmp_path: Path) -> None:
    with ChatServer([next_turn]) as server:
        town = Town(tmp_path, server)
        assert town.run(method, when, str(number)).returncode == -signal.SIGKILL
        first = town.book
        begun = (tmp_path / "run" / "journal.jsonl").exists()
        assert town.run(resume=begun).returncode == 0
    holds, settled = (sum(bool(entry.get("sent")) is sent for entry in town.book) for sent in (True, False))
    held = first[-1]["micro_usd"] / 1e6 if first and first[-1].get("sent") else 0.0
    assert holds - settled == bool(held)
    assert town.cost["usd"] == pytest.approx(booked(town.book)) == pytest.approx(settled * TRUE + held)
    assert sorted(town.asked) == [0, 1, 2]
    assert sum(town.asked.values()) <= TURNS + (method == "enter")


@pytest.mark.slow
def test_a_book_that_lost_lines_is_brought_up_to_the_journal(tmp_path: Path) -> None:
    with ChatServer([next_turn]) as server:
        town = Town(tmp_path, server)
        assert town.run("append", "after", "4").returncode == -signal.SIGKILL
        (tmp_path / "run" / "spending.jsonl").unlink()
        done = town.run(resume=True)
    assert done.returncode == 0, done.stderr
    assert f"${2 * TRUE:.4f} less than the journal" in done.stderr.replace("\n", " ")
    assert town.cost["usd"] == pytest.approx(booked(town.book)) == pytest.approx(TURNS * TRUE)
    assert town.asked == {0: 1, 1: 1, 2: 1}
