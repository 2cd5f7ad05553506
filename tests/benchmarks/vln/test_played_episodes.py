"""A person plays episodes of VLN, and is scored as any walker is."""

from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from rich.console import Console
from steered import LONG_S, decision

from benchmarks.vln.definition import BENCHMARK, Options
from benchmarks.vln.score import score_of
from virl.agent.control import Control, Standing
from virl.bench.episode import Record
from virl.bench.play import play
from virl.bench.resources import Resources
from virl.bench.run import run_benchmark
from virl.errors import BadInput, VirlError

pytestmark = pytest.mark.slow


class Played:
    """Episodes that are played in a thread."""

    def __init__(self, options: Options, out: Path, **more: Any) -> None:
        self.control = Control()
        self.records: list[Record] = []
        self.fault: VirlError | None = None
        self._thread = Thread(target=self._play, args=(options, out), kwargs=more, daemon=True)
        self._thread.start()

    def _play(self, options: Options, out: Path, **more: Any) -> None:
        try:
            self.records = play("vln", options, out, Console(quiet=True), self.control, **more)
        except VirlError as fault:
            self.fault = fault

    def decision(self) -> Standing:
        return decision(self.control)

    def end(self) -> list[Record]:
        self._thread.join(LONG_S)
        assert not self._thread.is_alive()
        return self.records


def test_a_route_that_is_played_right_is_scored_as_a_success(virlton_data: Path, tmp_path: Path) -> None:
    options = Options(models=("human",), data=str(virlton_data))
    with closing(Resources()) as resources:
        first, *_ = BENCHMARK.episodes(options, resources)
    route = first.payload["route"]
    played = Played(options, tmp_path / "run", case=first.case)
    for pano_id in route["pano_ids"][1:]:
        standing = played.decision()
        assert standing.state == "yours"
        assert standing.question == route["instruction"]
        assert standing.can_finish
        played.control.go(pano_id)
    standing = played.decision()
    assert standing.pose is not None
    view = played.control.look(standing.pose.heading)
    assert view.pano_id == route["pano_ids"][-1]
    played.control.finish()
    [record] = played.end()
    assert (record.model, record.case, record.status) == ("human", first.case, "done")
    assert score_of(record.data).success == 1.0
    assert BENCHMARK.score([record], options).tallies["success"][0].hit == 1.0
    assert record.data["ending"] == "stopped"
    assert (tmp_path / "run" / "report.html").is_file()


def test_one_who_stops_at_once_fails_and_a_play_that_is_stopped_goes_on(
    virlton_data: Path, tmp_path: Path
) -> None:
    options = Options(models=("human",), data=str(virlton_data))
    played = Played(options, tmp_path / "run")
    played.decision()
    with pytest.raises(BadInput, match="no link leads"):
        played.control.go("nowhere")
    played.control.hand_back()
    played.decision()
    played.control.stop()
    assert played.end() == []
    assert played.fault is not None
    assert "--resume" in str(played.fault)

    again = Played(options, tmp_path / "run", resume=True)
    for _ in range(2):
        again.decision()
        again.control.finish()
    records = again.end()
    assert [score_of(record.data).success for record in records] == [0.0, 0.0]


def test_nobody_plays_without_a_control(virlton_data: Path, tmp_path: Path) -> None:
    options = Options(models=("human",), data=str(virlton_data))
    with pytest.raises(BadInput, match="a person who plays"):
        run_benchmark("vln", options, tmp_path / "run", Console(quiet=True))
