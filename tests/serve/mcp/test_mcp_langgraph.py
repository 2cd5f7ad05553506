"""LangGraph finds lunch over both transports, by `langchain-mcp-adapters` in an environment of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from served_mcp import over_http

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".venv-adapters" / "bin" / "python"
AGENT = Path(__file__).with_name("langgraph_lunch.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.is_file(), reason="no .venv-adapters: run make adapters-env"),
]


def lunch(*server: str) -> list[dict[str, Any]]:
    done = subprocess.run([PYTHON, AGENT, *server], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    messages: list[dict[str, Any]] = json.loads(done.stdout)
    return messages


def check(runs: Path, messages: list[dict[str, Any]]) -> None:
    [looked] = [one for one in messages if one["type"] == "tool" and one["name"] == "look"]
    assert [block["type"] for block in looked["content"]] == ["text", *["image"] * 4]
    [finished] = [one for one in messages if one["type"] == "tool" and one["name"] == "finish"]
    told = finished["artifact"]["structured_content"]
    assert told["status"] == "finished"
    [run] = runs.glob("mcp-*")
    result = json.loads((run / "result.json").read_text())
    assert result["place"]["id"] == told["place"]["id"]
    assert "restaurant" in result["place"]["types"]


def test_lunch_over_stdio(tmp_path: Path) -> None:
    check(tmp_path, lunch(sys.executable, "-m", "virl", "serve", "mcp", "--out", str(tmp_path)))


def test_lunch_over_http(tmp_path: Path) -> None:
    with over_http(tmp_path) as url:
        messages = lunch(url)
    check(tmp_path, messages)
