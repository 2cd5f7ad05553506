"""The service of docs/how-to/service.md: streams, budgets, and a restart in the middle of a run."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "service.md"
ANNA, BEN = ({"Authorization": f"Bearer {token}"} for token in ("anna-7c1e", "ben-90d2"))


@contextmanager
def served(folder: Path) -> Iterator[tuple[httpx.Client, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(PAGE.parents[2])})
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            for _ in range(300):
                try:
                    client.get("/openapi.json")
                    break
                except httpx.ConnectError:
                    time.sleep(0.1)
            yield client, process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_service_streams_keeps_budgets_and_survives_a_kill(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    [program] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    [clients] = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (tmp_path / "service.py").write_text(program)
    (tmp_path / "clients.json").write_text(clients)
    order = {"agent": "rx399", "budget_usd": 0.6}  # looks at views for seconds: it is killed before its end
    with served(tmp_path) as (client, process):
        assert client.post("/runs", json=order, headers={"Authorization": "Bearer x"}).status_code == 401
        assert client.post("/runs", json={"agent": "../x"}, headers=BEN).status_code == 422
        begun = client.post("/runs", json=order, headers=BEN)
        run = begun.json()["run"]
        refused = client.post("/runs", json=order, headers=BEN)  # 0.6 of 1 dollar are reserved
        assert (begun.status_code, refused.status_code) == (201, 402)
        assert refused.json()["detail"] == "0.40 dollars are left of your budget"
        assert client.get(f"/runs/{run}/steps", headers=ANNA).status_code == 404
        with client.stream("GET", f"/runs/{run}/steps", headers=BEN) as answer:
            first = json.loads(next(answer.iter_lines()))
            process.kill()
    assert (first["kind"], first["step"]) == ("step", 0)
    assert not (tmp_path / "runs" / run / "run" / "result.json").exists()
    with served(tmp_path) as (client, _):
        with client.stream("GET", f"/runs/{run}/steps", headers=BEN) as answer:
            told = [json.loads(line) for line in answer.iter_lines()]
        assert client.post("/runs", json=order, headers=BEN).status_code == 201  # the first cost nothing
    assert [one["step"] for one in told[:-1]] == list(range(len(told) - 1))
    assert told[-1]["kind"] == "end"
