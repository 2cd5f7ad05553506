"""The detector that virl trained: the weights that ship find things in towns, and say what is wrong."""

from pathlib import Path

import numpy as np
import pytest

from virl.errors import BadInput, ModelUnavailable
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.cameras import intersection_over_union
from virl.platform.perception.detectors.rendered import CLASSES, WEIGHTS, RenderedDetector, RenderedSettings
from virl.platform.perception.images import EACH_CORE, cores, look_at_each, usual_threads
from virl.platform.perception.models import Models, read_model
from virl.platform.perception.standing import check_without_truth

LARGEST_BYTES = 8_000_000
LOOKS = [(number, heading) for number in (40, 400, 900, 1500, 2100) for heading in (0.0, 120.0, 240.0)]


@pytest.fixture(scope="module")
def detector() -> RenderedDetector:
    opened = Models().detector("rendered")
    assert isinstance(opened, RenderedDetector)
    return opened


@pytest.fixture(scope="module")
def views(virlton: City) -> list[View]:
    return [virlton.streetview.view(f"vt-{n:05d}", Camera(heading=heading)) for n, heading in LOOKS]


def test_the_weights_that_ship_are_small() -> None:
    assert WEIGHTS.stat().st_size < LARGEST_BYTES


@pytest.mark.slow
def test_it_finds_most_of_what_stands_near(
    virlton: City, detector: RenderedDetector, views: list[View]
) -> None:
    found = there = 0
    for view, detections in zip(views, detector.detect(views), strict=True):
        for thing in virlton.truth.visible(view.pano_id, view.camera) if virlton.truth else []:
            left, top, right, bottom = thing.box
            if min(right - left, bottom - top) < 20 or thing.visible_fraction < 0.7 or thing.distance > 40:
                continue
            there += 1
            found += any(
                one.label == thing.kind and intersection_over_union(one.box, thing.box) >= 0.5
                for one in detections
            )
    assert there >= 20
    assert found / there >= 0.6


@pytest.mark.slow
def test_equal_views_give_equal_boxes_in_any_batch(detector: RenderedDetector, views: list[View]) -> None:
    some = views[:3]
    together = detector.detect(some)
    assert together == detector.detect(some)
    for view, detections in zip(some, together, strict=True):
        (alone,) = detector.detect([view])
        assert [one.label for one in alone] == [one.label for one in detections]
        assert np.array([one.box for one in alone]) == pytest.approx(
            np.array([one.box for one in detections]), abs=0.05
        )


@pytest.mark.slow
def test_a_leg_of_a_bench_is_no_bin(virlton: City) -> None:
    legs = [("vt-02155", Camera(159.15, -11.33, 30.0)), ("vt-00098", Camera(249.69, -11.5, 30.0))]
    views = [virlton.streetview.view(pano_id, camera) for pano_id, camera in legs]
    settings = read_model("detector", "rendered")
    assert isinstance(settings, RenderedSettings)
    labels = ["trash bin", "bench"]
    with_legs = RenderedDetector(settings.model_copy(update={"parts": {}})).detect(views, labels)
    for before, after in zip(with_legs, RenderedDetector(settings).detect(views, labels), strict=True):
        gone = [one for one in before if one not in after]
        assert gone
        assert {one.label for one in gone} == {"trash bin"}
        assert any(one.label == "bench" for one in after)


@pytest.mark.slow
def test_labels_are_asked_for_by_other_words_too(detector: RenderedDetector, views: list[View]) -> None:
    everything = detector.detect(views)
    assert {one.label for found in everything for one in found} <= set(CLASSES) - {"directory"}
    trees = [one.box for found in detector.detect(views, ["Tree"]) for one in found]
    assert trees == [one.box for found in everything for one in found if one.label == "tree"]
    cars = {one.label for found in detector.detect(views, ["car", "sea_gull"]) for one in found}
    assert cars <= {"car"}
    assert detector.detect(views[:2], ["sea gull"]) == [[], []]
    with pytest.raises(BadInput, match="is empty"):
        detector.detect(views[:1], [" "])


@pytest.mark.slow
def test_boxes_lie_in_pictures_of_any_shape(detector: RenderedDetector) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (200, 700, 3), np.uint8)
    found, blank = detector.find([noise, np.zeros((1, 1, 3), np.uint8)], 0.001)
    assert found.boxes.shape == (len(found.scores), 4)
    assert blank.boxes.shape == (len(blank.scores), 4)


def settings_for(weights: Path) -> RenderedSettings:
    settings = read_model("detector", "rendered")
    assert isinstance(settings, RenderedSettings)
    return settings.model_copy(update={"weights": str(weights)})


@pytest.mark.parametrize(
    ("content", "told"), [(None, "are missing"), (b"no network", "cannot be read")], ids=["missing", "broken"]
)
def test_wrong_weights_are_told_in_one_line(content: bytes | None, told: str, tmp_path: Path) -> None:
    file = tmp_path / "weights.onnx"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ModelUnavailable, match=told) as fault:
        RenderedDetector(settings_for(file)).find([np.zeros((8, 8, 3), np.uint8)])
    assert "\n" not in str(fault.value)
    assert str(file) in str(fault.value)


def test_a_network_of_another_kind_is_refused() -> None:
    import rapidocr

    other = next((Path(rapidocr.__file__).parent / "models").glob("*det_small.onnx"))
    with pytest.raises(ModelUnavailable, match="not of this version's detector"):
        RenderedDetector(settings_for(other)).find([np.zeros((8, 8, 3), np.uint8)])


def test_threads_are_those_that_the_environment_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert usual_threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert usual_threads() == EACH_CORE


def test_cities_that_are_not_drawn_refuse_it_but_not_who_uses_it_in_drawn_ones_alone(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"knows only towns that virl draws.*owlv2") as told:
        check_without_truth("detector", "rendered")
    assert "\n" not in str(told.value)
    check_without_truth("reader", "sign-reader")
    text = Path("platform/models/rendered.yaml").read_text().replace("only_drawn: true", "only_drawn: false")
    (tmp_path / "anywhere.yaml").write_text(text)
    check_without_truth("detector", str(tmp_path / "anywhere.yaml"))


@pytest.mark.parametrize("threads", [1, 3, cores(EACH_CORE)])
def test_views_that_are_drawn_side_by_side_are_those_drawn_in_turn(virlton: City, threads: int) -> None:
    def drawn() -> list[View]:
        return [
            virlton.streetview.view("vt-00040", Camera(heading, width=96, height=96))
            for heading in (0, 90, 180)
        ]

    side_by_side = look_at_each(drawn(), threads, np.copy)
    assert all(np.array_equal(one, view.pixels) for one, view in zip(side_by_side, drawn(), strict=True))


@pytest.mark.slow
def test_threads_find_what_one_finds(views: list[View]) -> None:
    settings = read_model("detector", "rendered")
    assert isinstance(settings, RenderedSettings)
    alone, three = (
        RenderedDetector(settings.model_copy(update={"threads": threads, "batch": 1})).detect(views)
        for threads in (1, 3)
    )
    assert alone == three
