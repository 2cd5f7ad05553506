import json
import random
from pathlib import Path
from typing import Any

import pytest
from made_errands import RingMaps, open_run, peng, ring_city

from virl.errors import BadInput, NoRoute
from virl.journal.journal import Journal, read_journal
from virl.journal.records import AnyRecord, EndRecord, NoteRecord, StepRecord
from virl.journal.report import write_report
from virl.platform.city.outcome import Outcome
from virl.routines.errands.routine import run as run_errands

STOPS = ["30 Ring Road", "5 Ring Road", "12 Ring Road"]


def run_peng(folder: Path, errands: dict[str, Any], **more: Any) -> EndRecord:
    journal, run = open_run(folder)
    with journal:
        run_errands(peng(run, errands, **more))
    end = read_journal(folder)[-1]
    assert isinstance(end, EndRecord)
    return end


@pytest.mark.parametrize(
    ("end", "numbers", "metres", "given"),
    [
        ("open", [2, 3, 1], 50 + 70 + 180, 100 + 150 + 70),
        ("home", [2, 3, 1], 50 + 70 + 180 + 100, 320 + 120),
        ("29 Ring Road", [2, 3, 1], 50 + 70 + 180 + 10, 320 + 170),
        ("2 Ring Road", [1, 3, 2], 100 + 180 + 70 + 30, 320 + 100),
    ],
)
def test_the_best_order_is_taken_for_the_end_that_was_asked_for(
    tmp_path: Path, end: str, numbers: list[int], metres: float, given: float
) -> None:
    result = run_peng(tmp_path / "run", {"stops": STOPS, "end": end}).result
    assert (result.status, result.outcome.kind) == ("finished", "finished")
    assert result.answer["numbers"] == numbers
    assert result.answer["metres"] == pytest.approx(metres)
    assert result.distance_m == pytest.approx(metres, abs=1)
    assert result.answer["metres_given"] == pytest.approx(given)
    assert result.answer["shortest"]


def test_cars_that_may_go_one_way_only_take_another_order(tmp_path: Path) -> None:
    errands = {"stops": STOPS, "travel": "driving", "walk": False}
    result = run_peng(tmp_path / "run", errands).result
    assert result.answer["numbers"] == [2, 3, 1]
    assert result.answer["metres"] == pytest.approx(300)
    assert result.answer["metres_given"] == pytest.approx(300 + 150 + 70)
    assert result.steps == 0
    assert "220 m less than in the order given" in result.reason


@pytest.mark.slow
def test_the_result_shows_map_saving_and_legs(tmp_path: Path) -> None:
    end = run_peng(tmp_path / "run", {"stops": STOPS, "end": "home"})
    city_map, bars, legs = end.exhibits
    assert city_map.kind == "map"
    assert [(point.mark, point.label) for point in city_map.points] == [
        ("", "0 Ring Road"), ("1", "5 Ring Road"), ("2", "12 Ring Road"), ("3", "30 Ring Road"),
    ]  # fmt: skip
    assert len(city_map.lines[0].points) > 10
    assert bars.kind == "bars"
    assert [round(bar.value * 60 * 1.35, -1) for bar in bars.bars] == [400, 440]
    assert bars.bars[0].picked
    assert legs.kind == "table"
    assert [row[1] for row in legs.rows] == ["5 Ring Road", "12 Ring Road", "30 Ring Road", "0 Ring Road"]
    assert legs.rows[-1][3] == "09:05"
    page = write_report(tmp_path / "run", ring_city()).read_text()
    assert "Legs" in page


@pytest.mark.slow
def test_errands_are_read_from_words_and_looked_up_among_places(tmp_path: Path) -> None:
    text = "Buy bread, hand in a form at 30 Ring Road, read at the City Library and come back home."
    end = run_peng(tmp_path / "run", {"text": text})
    assert sorted(end.result.answer["order"]) == ["30 Ring Road", "City Library", "Golden Crust"]  # type: ignore[call-overload]
    assert end.result.answer["end"] == "0 Ring Road"
    legs = end.exhibits[2]
    assert legs.kind == "table"
    assert ("Golden Crust", "Buy bread") in [row[1:3] for row in legs.rows]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stop", "fault"),
    [
        ("77 Ring Road", "no address matches '77 Ring Road'"),
        ("Riverside Library", "no place in Ringville matches 'Riverside Library'"),
        ("zoo", "no place in Ringville matches 'zoo'"),
    ],
)
def test_what_is_nowhere_to_be_found_is_left_out_and_named(tmp_path: Path, stop: str, fault: str) -> None:
    result = run_peng(tmp_path / "run", {"stops": [*STOPS, stop]}).result
    assert (result.status, len(result.answer["order"])) == ("gave up", 3)  # type: ignore[arg-type]
    assert f"Left out: {fault}" in result.reason
    for errands in ({"stops": [stop]}, {"stops": STOPS, "end": stop}):
        with pytest.raises(BadInput, match=f"errands: {fault}"):
            run_peng(tmp_path / str(len(errands)), errands)


def test_an_errand_at_a_place_that_has_closed_is_left_out_and_told(tmp_path: Path) -> None:
    end = run_peng(tmp_path / "run", {"stops": [*STOPS, "Old Crust"], "end": "home"})
    assert (end.result.status, len(end.result.answer["order"])) == ("gave up", 3)  # type: ignore[arg-type]
    assert "Left out: 'Old Crust' in Ringville has closed." in end.result.reason
    assert end.result.outcome == Outcome("missed", end.result.reason)
    notes = [one for one in read_journal(tmp_path / "run") if isinstance(one, NoteRecord)]
    assert "Left out: 'Old Crust' in Ringville has closed." in [note.text for note in notes]
    with pytest.raises(BadInput, match="'Old Crust' in Ringville has closed"):
        run_peng(tmp_path / "only", {"stops": ["Old Crust"]})


def test_two_stops_that_no_way_joins_are_named(tmp_path: Path) -> None:
    with pytest.raises(NoRoute, match="no way leads walking from 0 Ring Road to 99 Far Away"):
        run_peng(tmp_path / "run", {"stops": [*STOPS, "99 Far Away"]})


def test_one_errand_and_two_at_one_place_are_fine(tmp_path: Path) -> None:
    one = run_peng(tmp_path / "one", {"stops": STOPS[:1]}).result
    assert (one.status, one.answer["numbers"], one.distance_m) == ("finished", [1], pytest.approx(100, abs=1))
    assert "1 errand in 1.2 min, 100 m on foot: the order given is the shortest." in one.reason
    two = run_peng(tmp_path / "two", {"stops": [STOPS[1], STOPS[1]], "end": "home"}).result
    assert (two.answer["reached"], two.distance_m) == (3, pytest.approx(100, abs=1))


def test_the_limit_of_steps_ends_the_walk(tmp_path: Path) -> None:
    result = run_peng(tmp_path / "run", {"stops": STOPS, "end": "home"}, steps=8).result
    assert (result.status, result.steps, result.answer["reached"]) == ("gave up", 8, 1)
    assert "3 of 4 not reached: the limit of 8 steps" in result.reason
    assert [claim.arrived for claim in result.claims if claim.kind == "arrival"] == [True]
    assert result.outcome == Outcome("limit", result.reason)
    [*_, last] = [one for one in read_journal(tmp_path / "run") if isinstance(one, StepRecord)]
    assert (last.outcome.kind, last.outcome.what, last.outcome.limit) == ("limit", "steps", 8)


def without_time(record: AnyRecord) -> dict[str, Any]:
    data = record.model_dump(mode="json", exclude={"seconds"})
    data.get("result", {}).get("cost", {}).pop("seconds", None)
    return data


class Killed(BaseException):
    """Stands for a kill."""


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_and_asks_for_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    errands = {"text": "Buy bread, 30 Ring Road, 12 Ring Road and back home.", "travel": "cycling"}
    run_peng(tmp_path / "whole", errands)
    chance, city, folder = random.Random(seed), ring_city(), tmp_path / "run"
    append = Journal.append
    refused: list[AnyRecord] = []
    for _ in range(4):
        left = [chance.randrange(1, 14)]

        def die_soon(journal: Journal, record: Any, left: list[int] = left) -> None:
            if not left[0]:
                refused.append(record)
                raise Killed
            left[0] -= 1
            append(journal, record)

        with monkeypatch.context() as patch:
            patch.setattr(Journal, "append", die_soon)
            with pytest.raises(Killed):
                run_peng(folder, errands, city=city)
    run_peng(folder, errands, city=city)
    whole, resumed = (list(map(without_time, read_journal(tmp_path / name))) for name in ("whole", "run"))
    assert resumed == whole
    assert isinstance(city.maps, RingMaps)
    lost = sum(isinstance(record, NoteRecord) and record.topic == "order" for record in refused)
    assert city.maps.asked.count("matrix") == 1 + lost
    assert json.loads((folder / "result.json").read_text())["answer"]["reached"] == 4
    records = read_journal(folder)
    arrivals = [note for note in records if isinstance(note, NoteRecord) and note.topic == "arrival"]
    assert [len(note.views) for note in arrivals] == [1] * 4
    assert sum(isinstance(record, StepRecord) for record in records) == 41
