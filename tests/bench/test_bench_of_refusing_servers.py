"""Benchmarks before servers that refuse: their faults are in no mean, and a wrong key ends the run."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from openai_server import Behaviour, ChatServer, fault, text

import virl
from virl.errors import VirlError

GOOD = text(" FORWARD.")
BUDGET = fault(400, "Budget has been exceeded! Current cost: 10.02, Max budget: 10.0")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("refusal", "records", "words"),
    [
        (BUDGET, 3, "10.02"),
        (fault(401, "bad key"), 1, "bad key"),
        (fault(404, "no model m"), 1, "no model m"),
    ],
)
def test_a_server_that_refuses_all_is_in_no_mean(
    refusal: Behaviour, records: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer([GOOD, GOOD, refusal]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        options = {"agent": "velma", "mind": "openai:m"}
        out = tmp_path / "out"
        with pytest.raises(VirlError, match=words) if records == 1 else nullcontext():
            virl.run_benchmark("touchdown", options, out=out, workers=1, limit=3)
        assert len(server.requests) == 2 + records
    kept = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    assert [one["status"] for one in kept] == ["failed"] * records
    assert all(words in one["reason"] and not one["data"] for one in kept)
    with ChatServer([GOOD]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        virl.run_benchmark("touchdown", options, out=out, workers=1, limit=3, resume=True)
        assert len(server.requests) > 3, "failed episodes are run again"
