"""Previews against the truth: which ways, what is due, what counts as right, and a whole run."""

from pathlib import Path

import pytest
from made_life import virlton
from rich.console import Console

from benchmarks.preview.definition import Options
from benchmarks.preview.score import BENCH, LATIN, latin_names, score, show, told_against
from benchmarks.preview.ways import TrueWay, choose_ways, stands_of
from virl.bench.episode import Record
from virl.bench.report.runs import gather
from virl.bench.run import Engine, run_benchmark
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import Truth
from virl.platform.city.streetview import Camera
from virl.platform.perception.ground import find_zebras, ground_patch
from virl.routines.preview.facts import CROSSING, LANDMARK, Fact


def truth() -> Truth:
    found = virlton().truth
    assert found is not None
    return found


def fact(kind: str, at: LatLng, **more: object) -> Fact:
    data = {"along_m": 0.0, "side": "left", "off_m": 5.0, "clock": 10, "looks": 1} | more
    return Fact.model_validate({"kind": kind, "lat": at.lat, "lng": at.lng, **data})


@pytest.mark.slow
def test_ways_are_the_same_each_time_and_can_be_walked() -> None:
    ways = choose_ways(virlton(), 3, 7)
    assert ways == choose_ways(virlton(), 3, 7)
    assert ways != choose_ways(virlton(), 3, 8)
    for way in ways:
        stands = stands_of(virlton(), way)
        assert (stands[0].panorama.id, stands[-1].panorama.id) == (way.start, way.end)


@pytest.mark.slow
def test_the_truth_has_each_crossing_where_the_pictures_show_it() -> None:
    streetview, there = virlton().streetview, truth().crossings()
    assert len(there) > 100
    seen = 0
    for at in there[:: len(there) // 12]:
        near = streetview.nearest(at, 30.0)
        assert near is not None
        for link in near.links:
            view = streetview.view(near.id, Camera(link.heading, -20.0))
            for zebra in find_zebras(ground_patch(view)):
                apart = (zebra.aside**2 + zebra.ahead**2) ** 0.5
                assert min(abs(distance(near.position, one) - apart) for one in there) < 1.5
                seen += 1
    assert seen > 12


def test_what_is_told_is_held_against_the_truth() -> None:
    crossings = truth().crossings()
    bench, other = truth().things({BENCH})[:2]
    off = LatLng(crossings[0].lat + 0.0002, crossings[0].lng + 0.0002)
    facts = [
        fact(CROSSING, crossings[0]),
        fact(CROSSING, crossings[0]),  # the same once more
        fact(CROSSING, off),
        fact(BENCH, bench.position),
        fact(LANDMARK, off, place_id="a", name="A", side="left"),
        fact(LANDMARK, off, place_id="b", name="B", side="left"),
    ]
    way = TrueWay(
        (0, 1), frozenset({bench.id, other.id}), frozenset({"a", "b", "c"}), {"a": "left", "b": "right"}
    )
    data = told_against(facts, way, truth())
    assert [one["right"] for one in data[CROSSING]["told"]].count(True) == 1
    assert (data[CROSSING]["due"], list(data[CROSSING]["missed"])) == (2, ["1"])
    assert list(data[BENCH]["missed"]) == [other.id]
    assert [one["right"] for one in data[LANDMARK]["told"]] == [True, False]
    assert list(data[LANDMARK]["missed"]) == ["b", "c"]
    assert latin_names(data[LANDMARK], {"a": "Épicerie 12", "b": "Bar", "c": "서울 패션"}) == {
        "due": 2,
        "told": 1,
    }
    whole = data | {LATIN: {"due": 2, "told": 1}, "walked": [], "metres": 100.0}
    record = Record("way-01", "way-01", "virlton", "rendered", "done", whole)
    means = {
        key: sum(one.hit for one in tallies) / sum(one.weight for one in tallies)
        for key, tallies in score([record], Options()).tallies.items()
    }
    assert means["crossing_precision"] == pytest.approx(1 / 3)
    assert means["crossing_recall"] == means["bench_recall"] == means["latin_recall"] == 0.5
    assert means["landmark_precision"] == 0.5
    assert means["landmark_recall"] == pytest.approx(1 / 3)
    assert "3 told, 2 wrong, 1 of 2 left out" in show(record).outcome


@pytest.mark.slow
def test_a_whole_run(tmp_path: Path) -> None:
    engine, quiet = Engine("threads", workers=1), Console(quiet=True)
    run_benchmark("preview", Options(count=1, seed=6), tmp_path / "run", quiet, engine=engine)
    [record] = [record for run in gather([tmp_path / "run"]).runs for record in run.records]
    assert record.status == "done"
    told, left_out = record.data[CROSSING]["told"], record.data[CROSSING]["missed"]
    assert sum(one["right"] for one in told) > 0.8 * len(told)
    assert len(left_out) < 0.2 * record.data[CROSSING]["due"]
