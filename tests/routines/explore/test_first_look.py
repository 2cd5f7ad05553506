"""How many views Hiro takes at the start."""

import json
from pathlib import Path

import pytest
from made_characters import write_hiro
from typer.testing import CliRunner

from virl.cli.main import app


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "first"),
    [((), [-60, 0, 60]), (("--set", "explore.first_look=around"), [-150, -90, -30, 30, 90, 150])],
)
def test_the_first_look_is_ahead_or_all_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], first: list[int]
) -> None:
    monkeypatch.chdir(tmp_path)
    character = write_hiro(tmp_path, steps=1)
    done = CliRunner().invoke(app, ["run", str(character), "--out", "out", "--quiet", *more])
    assert done.exit_code == 0, done.output
    records = [json.loads(line) for line in Path("out/journal.jsonl").read_text().splitlines()]
    steps = [record for record in records if record["kind"] == "step"]
    turns = [_turns(step) for step in steps]
    assert turns[0] == first
    assert all(found == [-60, 0, 60] for found in turns[1:])
    assert len(turns) > 1
    reason = json.loads(Path("out/result.json").read_text())["reason"]
    assert "the limit of 1 steps is reached; " in reason
    assert reason.endswith(" m that he walked") or "that may be a restaurant stood on the " in reason


def _turns(step: dict) -> list[int]:  # type: ignore[type-arg]
    """Of its look around, degrees from where he faces, from left to right."""
    looks = [view["heading"] for view in step["views"] if view["purpose"] == "look"]
    return sorted(round((heading - step["pose"]["heading"] + 180) % 360 - 180) for heading in looks)
