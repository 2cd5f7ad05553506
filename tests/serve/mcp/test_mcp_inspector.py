"""The inspector of the protocol, without a browser, over both transports."""

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from served_mcp import over_http

INSPECTOR = ["npx", "--yes", "@modelcontextprotocol/inspector@2.12.0", "--cli"]

pytestmark = pytest.mark.slow


@cache
def lacking() -> str:
    """Why the inspector cannot be run; empty if it can."""
    if shutil.which("npx") is None:
        return "npx is missing"
    try:
        done = subprocess.run(
            [*INSPECTOR, "--help"], capture_output=True, text=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return "npx does not get the inspector"
    return "" if done.returncode == 0 else "npx does not get the inspector"


def inspect(*asked: str) -> dict[str, Any]:
    if reason := lacking():
        pytest.skip(reason)
    done = subprocess.run([*INSPECTOR, *asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_the_inspector_over_stdio(tmp_path: Path) -> None:
    server = [sys.executable, "-m", "virl", "serve", "mcp", "--out", str(tmp_path)]
    assert len(inspect(*server, "--method", "tools/list")["tools"]) == 20


def test_the_inspector_over_http(tmp_path: Path) -> None:
    with over_http(tmp_path) as url:
        server = [url, "--transport", "http"]
        opened = inspect(*server, "--method", "tools/call", "--tool-name", "open_city")
        session = opened["structuredContent"]["session"]
        looked = inspect(
            *server, "--method", "tools/call", "--tool-name", "look", "--tool-arg", "direction=front"
        )
        assert [block["type"] for block in looked["content"]] == ["text", "image"]
        uri = f"virl://sessions/{session}/map"
        assert (
            inspect(*server, "--method", "resources/read", "--uri", uri)["contents"][0]["mimeType"]
            == "image/png"
        )
        assert inspect(*server, "--method", "prompts/list")["prompts"][0]["name"] == "aria"
