"""A person plays an episode of Map2seq, and is scored by the same rules."""

import json
from pathlib import Path
from threading import Thread

import pytest
from made_streets_data import write_made_data
from rich.console import Console
from steered import LONG_S, decision

from benchmarks.touchdown.options import Options
from virl.agent.control import Control
from virl.bench.episode import Record
from virl.bench.play import play, played_by_human
from virl.bench.run import run_benchmark
from virl.errors import BadInput


def test_a_walk_along_the_gold_path_is_a_success(tmp_path: Path) -> None:
    data = write_made_data(tmp_path / "data", 3)
    episode = json.loads((data / "map2seq_unseen" / "dev.jsonl").read_text().splitlines()[0])
    control, records = Control(), list[Record]()
    options = Options(agent="human", data=data)

    def played() -> None:
        where = tmp_path / "run"
        records.extend(
            play("touchdown", options, where, Console(quiet=True), control, case=str(episode["id"]))
        )

    thread = Thread(target=played, daemon=True)
    thread.start()
    path = episode["route_panoids"]
    while True:
        standing = decision(control)
        assert standing.pose is not None
        assert standing.question == episode["navigation_text"]
        at = path.index(standing.pose.pano_id)
        if at == len(path) - 1:
            break
        control.go(path[at + 1])
    with pytest.raises(BadInput, match="no views"):
        control.look(0.0)
    control.finish()
    thread.join(LONG_S)
    [record] = records
    assert (record.model, record.status) == ("human", "done")
    assert record.data["pano_path"] == path
    assert record.data["scores"]["tc"] == 1.0
    assert record.data["actions"][-1] == "stop"


def test_nobody_plays_without_a_control(tmp_path: Path) -> None:
    options = Options(agent="human", data=write_made_data(tmp_path / "data", 1))
    with pytest.raises(BadInput, match="a person who plays"):
        run_benchmark("touchdown", options, tmp_path / "run", Console(quiet=True))


def test_the_option_that_lets_a_person_play_is_the_benchmark_s() -> None:
    assert played_by_human("touchdown") == {"agent": "human"}
    assert played_by_human("vln") == {"models": ["human"]}
