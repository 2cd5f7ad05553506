"""A round of counting: what it writes, how it ends, and that a kill at any point changes nothing."""

import csv
import io
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_street import FRAME, FURNITURE, PANORAMAS, made_agent, made_character
from rich.console import Console

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.going_on import onward_pose
from virl.agent.terminal import Story
from virl.errors import BadInput, UnknownName
from virl.geo.region import Region
from virl.journal.journal import read_journal
from virl.journal.records import StepRecord
from virl.platform.city.city import Capabilities
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import Step
from virl.platform.navigators.point import PointNavigator, plan_path
from virl.platform.navigators.region import RegionNavigator
from virl.routines.counting.rounds import count_along, open_counter
from virl.routines.counting.routine import onward_by_hop, route_of

ROUTE = made_character(route=["East End"], limits={"steps": 60})


def along(folder: Path, character: Character = ROUTE, **how: Any) -> None:
    with made_agent(folder, character, **how) as agent:
        go_along(agent)


def go_along(agent: Agent) -> None:
    """RX-399's round on the made street."""
    plan = plan_path(agent.city.streetview, route_of(agent))
    limit = agent.character.limits.steps
    navigator = PointNavigator(agent.city.streetview, agent.mover, plan, max_steps=limit + 1)
    count_along(agent, navigator.walk, onward_pose)


def go_all_over(agent: Agent) -> None:
    """Imani's round on the made street."""
    corners = [(-5.0, -9.0), (200.0, -9.0), (200.0, 9.0), (-5.0, 9.0)]
    region = Region(tuple(FRAME.position(*corner) for corner in corners))
    navigator = RegionNavigator(agent.city.streetview, region, file=agent.run.folder / "region.jsonl")
    count_along(agent, navigator.walk, onward_by_hop)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    along(folder)
    return folder


@pytest.mark.parametrize(("limit", "kind"), [(60, "finished"), (5, "limit")])
def test_a_round_of_an_earlier_version_that_was_killed_before_its_end_is_ended(
    tmp_path: Path, limit: int, kind: str
) -> None:
    """Its journal has no outcomes: how the walk ended is told by the number of its last step."""
    character = made_character(route=["East End"], limits={"steps": limit})
    along(tmp_path, character)
    before = result_of(tmp_path)
    journal = tmp_path / "journal.jsonl"
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    old = [{key: value for key, value in one.items() if key != "outcome"} for one in records[:-1]]
    journal.write_text("".join(f"{json.dumps(one)}\n" for one in old))
    along(tmp_path, character, resume=True)
    after = result_of(tmp_path)
    assert [after[key] for key in ("status", "reason", "found")] == [
        before[key] for key in ("status", "reason", "found")
    ]
    assert after["outcome"]["kind"] == kind


def result_of(folder: Path) -> dict[str, object]:
    result: dict[str, object] = json.loads((folder / "result.json").read_text())
    return result


def steps_of(folder: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    return [
        {key: value for key, value in record.items() if key != "seconds"}
        for record in records
        if record["kind"] == "step"
    ]


@pytest.mark.slow
def test_the_end_of_a_route_is_told_with_its_counts(whole: Path) -> None:
    result = result_of(whole)
    assert result["status"] == "finished"
    assert result["steps"] == PANORAMAS - 1
    assert result["reason"] == "1 of 1 destinations reached"
    assert result["outcome"] == {"kind": "arrived", "reason": result["reason"], "what": "", "limit": None}
    assert result["found"] == {"trash bin": 3, "bench": 1, "fire hydrant": 0}


@pytest.mark.slow
def test_tables_for_other_programs_lie_beside_the_journal(whole: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((whole / "objects.csv").read_text())))
    features = json.loads((whole / "objects.geojson").read_text())["features"]
    assert sorted(row["label"] for row in rows) == sorted(thing.kind for thing in FURNITURE[:4])
    assert [feature["id"] for feature in features] == [row["id"] for row in rows]
    assert not list((whole / "views").iterdir()), "views are kept in memory/, where something was found"


def test_each_step_names_what_was_seen_there(whole: Path) -> None:
    sightings = [thing for step in steps_of(whole) for thing in step["objects"]]
    assert sum(thing["new"] for thing in sightings) == 4
    assert len(sightings) > 8
    kept = [thing["picture"] for thing in sightings if thing["picture"]]
    assert all((whole / picture).is_file() for picture in kept)
    views = [view for step in steps_of(whole) for view in step["views"]]
    assert [view["file"] for view in views] == kept
    assert {view["purpose"] for view in views} == {"closer"}


def test_all_views_are_kept_where_that_is_asked(tmp_path: Path) -> None:
    character = made_character(
        route=["East End"], count={"things": ["bench"], "keep": "all"}, limits={"steps": 2}
    )
    along(tmp_path / "run", character)
    assert len(list((tmp_path / "run/views").glob("*.jpg"))) == 3 * 3


def test_the_limit_of_steps_is_kept_and_told(tmp_path: Path) -> None:
    character = made_character(route=["East End"], limits={"steps": 5})
    along(tmp_path / "run", character)
    result = result_of(tmp_path / "run")
    assert (result["status"], result["steps"]) == ("gave up", 5)
    assert str(result["reason"]).startswith("the limit of 5 steps is reached; destination 1 is ")
    assert result["outcome"] == {"kind": "limit", "reason": result["reason"], "what": "steps", "limit": 5}


@pytest.mark.slow
def test_a_limit_that_is_just_enough_is_no_reason_to_give_up(tmp_path: Path) -> None:
    character = made_character(route=["East End"], limits={"steps": PANORAMAS - 1})
    along(tmp_path / "run", character)
    assert result_of(tmp_path / "run")["status"] == "finished"


@pytest.mark.slow
def test_a_destination_that_is_skipped_is_named(tmp_path: Path) -> None:
    character = made_character(route=["East End", {"lat": 51.9, "lng": -0.12}])
    along(tmp_path / "run", character)
    result = result_of(tmp_path / "run")
    assert result["status"] == "finished"
    assert str(result["reason"]).startswith("1 of 2 destinations reached; 2: no street view within 50 m")
    assert result["outcome"]["kind"] == "finished"
    assert steps_of(tmp_path / "run")[-1]["outcome"]["kind"] == "missed"


@pytest.mark.slow
def test_a_region_is_covered(tmp_path: Path) -> None:
    with made_agent(tmp_path / "run") as agent:
        go_all_over(agent)
    result = result_of(tmp_path / "run")
    assert (result["status"], result["steps"]) == ("finished", PANORAMAS - 1)
    assert result["found"] == {"trash bin": 3, "bench": 1, "fire hydrant": 0}
    assert sorted(step["pose"]["pano_id"] for step in steps_of(tmp_path / "run")) == sorted(
        f"p{number}" for number in range(PANORAMAS)
    )


def cut(whole: Path, folder: Path, steps: int, *, ahead: bool) -> None:
    """A copy of a run as a kill after so many steps leaves it; `ahead`: memory has one step more."""
    shutil.copytree(whole, folder)
    for name in ("result.json", "objects.csv", "objects.geojson"):
        (folder / name).unlink()
    journal, memory = folder / "journal.jsonl", folder / "memory/memory.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[: 1 + steps]))
    names = {f"step-{step}" for step in range(steps + ahead)} | {None}
    lines = [
        line
        for line in memory.read_bytes().splitlines(keepends=True)
        if json.loads(line).get("name") in names
    ]
    memory.write_bytes(b"".join(lines))
    if steps + ahead < 1 or len(lines) < 2:
        shutil.rmtree(folder / "memory")


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("steps", [0, 1, 5, 6, 9, PANORAMAS - 1, PANORAMAS])
def test_killed_after_any_step_it_ends_as_if_it_had_not_been(
    whole: Path, tmp_path: Path, steps: int, ahead: bool
) -> None:
    folder = tmp_path / "run"
    cut(whole, folder, steps, ahead=ahead)
    along(folder, resume=True)
    assert steps_of(folder) == steps_of(whole)
    for name in ("objects.csv", "objects.geojson", "memory/memory.jsonl"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    endings = [result_of(one) for one in (folder, whole)]
    assert [(end["status"], end["reason"], end["found"]) for end in endings[:1]] == [
        (end["status"], end["reason"], end["found"]) for end in endings[1:]
    ]


def test_a_resumed_walk_that_is_over_is_not_walked_again(whole: Path, tmp_path: Path) -> None:
    def nowhere(start: Pose, trail: Sequence[str]) -> Iterator[Step]:
        raise AssertionError("the walk is over")

    folder = tmp_path / "run"
    cut(whole, folder, PANORAMAS, ahead=False)
    with made_agent(folder, ROUTE, resume=True) as agent:
        count_along(agent, nowhere, onward_pose)
    assert result_of(folder)["found"] == result_of(whole)["found"]


@pytest.mark.slow
def test_new_things_are_told_once_with_their_numbers(tmp_path: Path) -> None:
    console = Console(record=True, width=100, file=io.StringIO())
    with Story(console) as story:
        along(tmp_path / "run", ROUTE, audience=story)
    text = console.export_text()
    assert [text.count(f"found trash bin {number} at 51.") for number in (1, 2, 3, 4)] == [1, 1, 1, 0]
    assert text.count("found bench 1 at 51.") == 1
    assert "Detector: " in text
    assert "No language model" not in text
    (row,) = (line for line in text.splitlines() if line.strip().startswith("fire hydrant"))
    assert row.split()[-1] == "0"


@pytest.mark.slow
def test_numbers_go_on_where_a_run_was_cut(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    cut(whole, folder, 3, ahead=False)
    console = Console(record=True, width=100, file=io.StringIO())
    steps = [record for record in read_journal(folder) if isinstance(record, StepRecord)]
    before = sum(thing.new and thing.label == "trash bin" for step in steps for thing in step.objects)
    with Story(console) as story:
        along(folder, resume=True, audience=story)
    text = console.export_text()
    assert before >= 1
    assert f"found trash bin {before} at" not in text
    assert f"found trash bin {before + 1} at" in text


def test_what_is_missing_in_a_character_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"counter: `count:` is missing"):
        along(tmp_path / "a", made_character(count=None, route=["East End"]))
    with pytest.raises(BadInput, match=r"counter: `route:` is missing"):
        along(tmp_path / "b", made_character())
    with pytest.raises(BadInput, match=r"route: entry 2: no such address: Nowhere"):
        along(tmp_path / "c", made_character(route=["East End", "Nowhere"]))
    lost = made_character(route=["East End"], count={"things": ["bench"], "memory": "loci"})
    with pytest.raises(UnknownName, match="memory settings 'loci'"):
        along(tmp_path / "d", lost)


@pytest.mark.slow
def test_the_bar_knows_how_much_there_is(tmp_path: Path) -> None:
    bars = []

    class Kept(Story):
        def progress(self, doing: str, done: int, total: int) -> None:
            super().progress(doing, done, total)
            [now] = self._progress.tasks
            bars.append((now.description, now.completed, now.total))

    with (
        Kept(Console(file=io.StringIO())) as story,
        made_agent(tmp_path / "run", audience=story) as agent,
    ):
        agent.run.progress("looking for panoramas", 40, 90)
        agent.run.progress("walking", 0, PANORAMAS - 1)
        go_all_over(agent)
    assert bars[0] == ("looking for panoramas", 40, 90)
    assert bars[-2:] == [("walking", PANORAMAS - 2, PANORAMAS - 1), ("working", PANORAMAS - 2, None)]


@pytest.mark.parametrize(("count", "metres"), [({}, 1.5), ({"memory": "default"}, 0.5)])
def test_memory_expects_what_the_city_says_of_its_panoramas(
    tmp_path: Path, count: dict[str, Any], metres: float
) -> None:
    asked = made_character(route=["East End"], count={"things": ["bench"], **count})
    with made_agent(tmp_path, asked) as agent:
        real = replace(
            agent, city=replace(agent.city, capabilities=Capabilities(visual_memory="street-view"))
        )
        assert open_counter(real).memory.settings.position_m == metres
