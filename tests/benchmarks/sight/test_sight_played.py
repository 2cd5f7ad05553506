"""A person plays a search, and is scored as any walker is."""

from pathlib import Path
from threading import Thread

import pytest
from rich.console import Console
from steered import LONG_S, decision

from benchmarks.sight.definition import Options
from benchmarks.sight.episodes import Search
from virl.agent.control import Control
from virl.bench.episode import Record
from virl.bench.play import episodes_to_play, play, played_by_human
from virl.platform.city.graph import whole_graph
from virl.platform.providers.cities import open_city

pytestmark = pytest.mark.slow

OPTIONS = Options(split="train", count=1, models=("human",), least_m=60, most_m=150, seed=2)


def test_a_search_that_is_played_right_is_a_success(tmp_path: Path) -> None:
    assert played_by_human("sight") == {"models": ["human"]}
    found = episodes_to_play("sight", OPTIONS)
    assert {episode.case.split("-")[0] for episode in found} == {"name", "looks", "wish"}
    search = Search.model_validate(found[0].payload)
    graph = whole_graph(open_city("virlstead"))
    ends = [graph.number(pano_id) for pano_id in search.reached]
    away = graph.distances_from([graph.number(search.start)])[0]
    path, _ = graph.shortest_path(graph.number(search.start), min(ends, key=lambda end: away[end]))

    control, records = Control(), list[Record]()
    player = Thread(
        target=lambda: records.extend(
            play("sight", OPTIONS, tmp_path / "run", Console(quiet=True), control, case=found[0].case)
        ),
        daemon=True,
    )
    player.start()
    for node in path[1:]:
        assert decision(control).question == search.told
        control.go(graph.ids[node])
    decision(control)
    assert control.look(0.0).pano_id == graph.ids[path[-1]]
    control.finish()
    player.join(LONG_S)
    [record] = records
    assert (record.model, record.status, record.data["success"]) == ("human", "done", True)
    assert record.data["decisions"] == search.decisions
