"""Place localization: every panorama is looked from, every place is counted once, under its own types."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_dataset import HARMFUL, panorama_row, place_row, value, write_dataset
from made_streets import FRAME, MadeStreetView, plus_sign
from rich.console import Console

from benchmarks.place_localization.definition import BENCHMARK, LocalizationWorld, Options, episodes, run
from benchmarks.place_localization.score import score, show
from virl.bench.episode import Episode, Record
from virl.bench.resources import Resources
from virl.bench.run import Engine, run_benchmark
from virl.datasets.collect.dataset import PlaceRow
from virl.errors import BadInput
from virl.geo.globe import bearing, signed_turn
from virl.platform.city.city import City
from virl.platform.city.place_types import types_20
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection, Detector, LookScores

MIDDLE = FRAME.position(0, 0)


class Sees:
    """Draws a box around the middle of each view that looks toward a place, with a label for each place."""

    def __init__(self, *seen: tuple[PlaceRow, str], score: float = 0.9) -> None:
        self._seen = seen
        self._score = score
        self.looked: list[Camera] = []

    look_scores = LookScores(0.5, 0.55)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        assert tuple(labels) == types_20() or len(labels) == 1
        self.looked += [view.camera for view in views]
        return [self._boxes(view) for view in views]

    def _boxes(self, view: View) -> list[Detection]:
        return [
            Detection(label, self._score, (x - 4, 310, x + 4, 330))
            for place, label in self._seen
            if abs(off := signed_turn(view.camera.heading, bearing(MIDDLE, place.position))) < 20
            for x in (320 + off * view.camera.focal / 57.3,)
        ]


def options_of(folder: Path, **more: Any) -> Options:
    return Options.model_validate(
        {"cities": ("made",), "models": ("model",), "data": str(folder.parent)} | more
    )


def world(options: Options, detector: Detector, streets: MadeStreetView | None = None) -> LocalizationWorld:
    nowhere: Any = None
    city = City("made", "Made", MIDDLE, streets or plus_sign(), nowhere, nowhere)
    return LocalizationWorld(options, {"made": city}, {("model", "made"): detector})


def asked(*places: PlaceRow, pano_id: str = "c") -> Episode:
    payload = [place.model_dump(include={"id", "name", "types", "lat", "lng"}) for place in places]
    return Episode(pano_id, "made", "model", {"places": json.loads(json.dumps(payload))})


def record(
    hits: Sequence[tuple[str, str]],
    *places: PlaceRow,
    case: str = "c",
    confirmed: Sequence[tuple[str, str]] | None = None,
) -> Record:
    payload = [place.model_dump(include={"id", "name", "types", "lat", "lng"}) for place in places]
    data = {"position": [0, 0], "places": payload, "hits": hits, "confirmed": confirmed, "views": []}
    return Record(f"model/made/{case}", case, "made", "model", "done", json.loads(json.dumps(data)))


def test_distances_belong_to_the_places_that_are_left_after_the_filter(tmp_path: Path) -> None:
    # The published code makes its columns of distances before places are taken out, then reads them askew.
    folder = write_dataset(
        tmp_path / "made",
        panoramas=[panorama_row("far", 500), panorama_row("c", 0)],
        places=[
            place_row("atm", "atm", 5, 5),
            place_row("away", "bar", 60, 0),
            place_row("church", "church", 5, -5),
            place_row("near", "cafe store", 10, 10),
            place_row("edge", "bank", 24.9, 0),
            place_row("beyond", "bank", 25.1, 0),
        ],
    )
    (episode,) = episodes(options_of(folder), Resources())
    assert episode.case == "c"
    assert [(place["id"], place["types"]) for place in episode.payload["places"]] == [
        ("near", ["cafe"]),
        ("edge", ["bank"]),
    ]


def test_the_last_position_is_viewed_as_well(tmp_path: Path) -> None:
    # The published code leaves its loop before it looks from the last position.
    folder = write_dataset(
        tmp_path / "made",
        panoramas=[panorama_row("first", 0), panorama_row("last", 200)],
        places=[place_row("a", "bar", 5), place_row("b", "cafe", 205)],
    )
    options = options_of(folder)
    found = episodes(options, Resources())
    assert [episode.case for episode in found] == ["first", "last"]
    streets = MadeStreetView({"first": (0, 0), "last": (200, 0)}, ["first-last"])
    detector = Sees()
    for episode in found:
        run(episode, world(options, detector, streets))
    assert len(detector.looked) == 2 * 13


def test_thirteen_views_all_around_at_the_pitch_of_the_paper(tmp_path: Path) -> None:
    detector = Sees()
    result = run(asked(place_row("a", "bar", 10)), world(options_of(tmp_path), detector))
    assert sorted((camera.fov, camera.heading) for camera in detector.looked) == [
        *((60.0, 60.0 * step) for step in range(6)),
        *((90.0, 90.0 * step) for step in range(4)),
        *((120.0, 120.0 * step) for step in range(3)),
    ]
    assert {camera.pitch for camera in detector.looked} == {10.0}
    assert result.data["hits"] == []
    assert [(view["fov"], view["boxes"]) for view in result.data["views"]] == [(120.0, [])] * 3
    assert len(result.files) == 3  # what there was to see


def test_a_box_hits_the_nearest_place_behind_it_whatever_its_label(tmp_path: Path) -> None:
    near, behind = place_row("near", "bar", 0, 10), place_row("behind", "cafe", 0, 20)
    found = run(asked(behind, near), world(options_of(tmp_path), Sees((behind, "cafe"))))
    assert found.data["hits"] == [("near", "cafe")]
    assert found.data["confirmed"] is None
    (first, *_) = found.data["views"]
    (box,) = first["boxes"]
    assert (box["place"], box["right"], box["label"]) == ("near", False, "cafe")
    assert all(0 <= edge <= 1 for edge in box["box"])
    assert len(found.files) == len(found.data["views"]) == 3  # one of each width looks north


def test_a_box_where_no_place_is_hits_nothing(tmp_path: Path) -> None:
    west = place_row("west", "bar", -10)
    found = run(asked(place_row("east", "bar", 10)), world(options_of(tmp_path), Sees((west, "bar"))))
    assert found.data["hits"] == []
    assert {box["place"] for view in found.data["views"] for box in view["boxes"]} == {None}


def test_active_detection_counts_what_the_closer_look_confirms(tmp_path: Path) -> None:
    bar = place_row("bar", "bar", 10)
    active = options_of(tmp_path, active=True)
    sure = run(asked(bar), world(active, Sees((bar, "bar"))))
    assert sure.data["hits"] == sure.data["confirmed"] == [("bar", "bar")]
    unsure = run(asked(bar), world(active, Sees((bar, "bar"), score=0.5)))
    assert unsure.data["hits"] == [("bar", "bar")]
    assert unsure.data["confirmed"] == []


def test_a_place_counts_once_for_each_type_from_wherever_it_was_found() -> None:
    bank, cafe, gym = (
        place_row("bank", "bank", 0),
        place_row("both", "bank cafe", 0),
        place_row("gym", "gym", 0),
    )
    records = [
        record([("bank", "bar"), ("both", "cafe")], bank, cafe, case="a"),
        record([("bank", "bank")], bank, gym, case="b"),
        record([], cafe, case="c"),
    ]
    scores = score(records, Options())
    # bank: one of two; cafe: one of one; gym: none
    assert value(scores, "ar20") == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert value(scores, "ar10") == pytest.approx((1 / 2 + 1) / 2)
    assert value(scores, "recall") == pytest.approx(2 / 3)
    assert value(scores, "accuracy") == 1.0
    assert scores.notes == ("3 places near 3 panoramas",)
    assert not any(key.endswith("_active") for key in scores.tallies)
    (confusion,) = scores.confusions
    counts = {
        (a, b): n
        for a, row in zip(confusion.labels, confusion.counts, strict=True)
        for b, n in zip(confusion.labels, row, strict=True)
        if n
    }
    assert counts == {
        ("bank", "bar"): 1,
        ("bank", "bank"): 1,
        ("bank", "cafe"): 1,
        ("cafe", "cafe"): 1,
        ("gym", "not found"): 1,
    }


def test_with_active_detection_both_are_scored() -> None:
    bar = place_row("bar", "bar", 0)
    spa = place_row("spa", "spa", 0)
    scores = score(
        [record([("bar", "bar"), ("spa", "spa")], bar, spa, confirmed=[("bar", "bar")])], Options()
    )
    assert (value(scores, "ar20"), value(scores, "ar20_active")) == (1.0, 0.5)
    assert set(scores.tallies) <= {metric.key for metric in BENCHMARK.metrics}


def test_the_page_of_an_episode_tells_what_was_found() -> None:
    bar, spa = place_row("bar", "bar", 0, name=HARMFUL), place_row("spa", "spa", 0)
    shown = show(record([("bar", "bar"), ("spa", "gym")], bar, spa))
    assert (shown.outcome, shown.score) == ("1 of 2 places found", 0.5)
    assert shown.title == f"Around {HARMFUL} and 1 other place"
    assert [(point.label, point.score) for point in shown.points] == [(HARMFUL, 1.0), ("spa", 0.0)]


def test_a_city_without_places_of_the_types_is_named(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "made", panoramas=[panorama_row("c", 0)])
    with pytest.raises(BadInput, match=r"contains no places: run `virl collect places --city made"):
        episodes(options_of(folder), Resources())


@pytest.mark.slow
def test_from_a_data_set_to_the_results(tmp_path: Path, virlton_data: Path) -> None:
    options = Options(models=("simulated-low",), data=str(virlton_data), side_m=90, size=320, active=True)
    run_benchmark(
        "benchmarks.place_localization.definition:BENCHMARK",
        options,
        tmp_path,
        Console(quiet=True),
        engine=Engine("threads", workers=2),
    )
    results = json.loads((tmp_path / "results.json").read_text())
    (row,) = (row for row in results["rows"] if row["city"] == "virlton")
    assert row["episodes"]["failed"] == row["episodes"]["missing"] == 0
    assert row["episodes"]["done"] > 2
    mean, low, high = row["values"]["recall"]
    assert 0.5 < mean <= 1
    assert low <= mean <= high
    assert set(row["values"]) == {metric.key for metric in BENCHMARK.metrics}
    assert "V-IRL, table 3" in (tmp_path / "report.html").read_text()


def test_a_look_from_each_panorama_counts_apart_and_boxes_that_are_wrong_count() -> None:
    bar, cafe = place_row("a", "bar", 5), place_row("b", "cafe", 15)
    boxes = [
        {"place": "a", "right": True},
        {"place": "b", "right": False},
        {"place": None, "right": False},
    ]
    records = [
        replace(one, data=one.data | {"views": [{"boxes": some}]})
        for one, some in (
            (record([("a", "bar"), ("b", "bar")], bar, cafe, case="west"), boxes),
            (record([("a", "bar")], bar, case="east"), boxes[:1]),
            (record([], bar, case="north"), []),
        )
    ]
    scores = score(records, None)
    assert value(scores, "ar20") == pytest.approx((1 + 0) / 2)
    assert value(scores, "ar20_once") == pytest.approx((2 / 3 + 0) / 2)
    assert value(scores, "precision") == pytest.approx(2 / 3)
