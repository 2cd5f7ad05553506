import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virl.errors import BadInput, ModelUnavailable, NoImagery
from virl.geo import LatLng
from virl.platform.movement.discrete.actions import Action
from virl.platform.movement.discrete.rules import WalkState
from virl.platform.movement.instruction.velma.features import read_features, write_features
from virl.platform.movement.instruction.velma.observations import Direction, Observer, Sighting
from virl.platform.movement.instruction.velma.openclip import OpenClip
from virl.platform.movement.instruction.velma.scorer import EmbeddingScorer, StreetViews
from virl.platform.movement.instruction.velma.statistics import (
    gather_statistics,
    read_statistics,
    write_statistics,
)
from virl.platform.movement.instruction.velma.traffic import view_flow
from virl.platform.movement.instruction.velma.transcript import walk_so_far
from virl.platform.streetview import Panorama, View

MODEL = "colours/1"
RED, GREEN, BLUE = (220, 30, 30), (30, 220, 30), (30, 30, 220)
WORDS = {"red": RED, "green": GREEN, "blue": BLUE}


def unit(rows):
    rows = np.asarray(rows, float) - 93.0
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


class Colours:
    """Embeds a picture as its mean colour, and a text as the colour that it names."""

    def __init__(self):
        self.asked = []

    def images(self, images):
        return unit([image.reshape(-1, 3).mean(axis=0) for image in images])

    def texts(self, texts):
        self.asked += texts
        return unit([next(colour for word, colour in WORDS.items() if word in text) for text in texts])


class Plaza:
    """One panorama: green all round, red from 20 to 80 degrees, blue from 250 to 310."""

    def __init__(self):
        self.cameras = []

    def panorama(self, pano_id):
        return Panorama(pano_id, LatLng(0, 0), 0.0, ())

    def nearest(self, position, radius=50.0):
        return self.panorama("plaza")

    def view(self, pano_id, camera):
        if pano_id != "plaza":
            raise NoImagery(f"no picture of {pano_id}")
        self.cameras.append(camera)
        columns = (camera.heading + column_offsets(camera.fov, camera.width)) % 360
        red, blue = (columns >= 20) & (columns <= 80), (columns >= 250) & (columns <= 310)
        colours = np.where(red[:, None], RED, np.where(blue[:, None], BLUE, GREEN)).astype(np.uint8)
        pixels = np.broadcast_to(colours, (camera.height, camera.width, 3))
        return View(pano_id, camera, pixels)


def column_offsets(fov, width):
    """Degrees from the middle of a level view to each column."""
    focal = width / 2 / np.tan(np.radians(fov / 2))
    return np.degrees(np.arctan((np.arange(width) + 0.5 - width / 2) / focal))


@pytest.fixture(scope="module")
def training_area():
    rng = np.random.default_rng(0)
    views = unit(np.array(GREEN) + rng.normal(0, 8, (500, 3)))
    return gather_statistics([views[:200], views[200:]], MODEL), views


@pytest.mark.parametrize(
    ("heading", "red", "blue"),
    [
        (50, Direction.AHEAD, Direction.LEFT),
        (5, Direction.SLIGHTLY_RIGHT, Direction.LEFT),
        (95, Direction.SLIGHTLY_LEFT, None),
        (320, Direction.RIGHT, Direction.SLIGHTLY_LEFT),
        (140, Direction.LEFT, Direction.RIGHT),
        (230, None, Direction.SLIGHTLY_RIGHT),
    ],
)
def test_a_landmark_is_seen_in_the_one_direction_where_it_shows_best(training_area, heading, red, blue):
    street, colours = Plaza(), Colours()
    scorer = EmbeddingScorer(StreetViews(street, colours), colours, training_area[0])
    seen = scorer.visible("plaza", heading, ["a red door", "a green tree", "a blue van"])
    assert seen == [Sighting("a red door", red)] * bool(red) + [Sighting("a blue van", blue)] * bool(blue)
    assert [(camera.fov, camera.width, camera.height) for camera in street.cameras] == [(60.0, 800, 460)] * 5
    offsets = [(camera.heading - heading + 180) % 360 - 180 for camera in street.cameras]
    assert offsets == [-90, -45, 0, 45, 90]


def test_each_caption_is_embedded_once_as_a_picture_of_it(training_area):
    colours = Colours()
    scorer = EmbeddingScorer(StreetViews(Plaza(), colours), colours, training_area[0])
    for heading in (0, 90):
        scorer.visible("plaza", heading, ["a red door"])
    assert colours.asked == ["picture of a red door"]
    assert scorer.visible("nowhere", 0, []) == []
    with pytest.raises(NoImagery):
        scorer.visible("nowhere", 0, ["a red door"])


@pytest.mark.parametrize(("threshold", "visible"), [(1.999, True), (2.0, True), (2.001, False)])
def test_the_threshold_counts_deviations_above_the_mean(threshold, visible):
    caption = np.array([[1.0, 0.0]], np.float32)
    statistics = gather_statistics([np.array([[0.0, 1.0], [0.5, 0.8]], np.float32)], MODEL)

    class Fixed:
        def views(self, pano_id, headings):
            return np.array([[0.75, 0.0]] + [[0.1, 0.0]] * 4, np.float32)

        def texts(self, texts):
            return caption

    # mean 0.25, deviation 0.25, best view 0.75
    scorer = EmbeddingScorer(Fixed(), Fixed(), statistics, threshold)
    assert bool(scorer.visible("p", 0.0, ["x"])) == visible


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_statistics_are_those_of_the_scores_of_every_view(seed):
    rng = np.random.default_rng(seed)
    views = rng.normal(size=(60, 5)).astype(np.float32)
    captions = rng.normal(size=(4, 5)).astype(np.float32)
    scores = captions.astype(float) @ views.astype(float).T
    mean, deviation = gather_statistics([views[:7], views[7:]], MODEL).of(captions)
    assert mean == pytest.approx(scores.mean(axis=1), abs=1e-9)
    assert deviation == pytest.approx(scores.std(axis=1), abs=1e-7)


def test_statistics_need_a_view():
    with pytest.raises(BadInput, match="no views"):
        gather_statistics([], MODEL)


def test_statistics_come_back_from_their_file(training_area, tmp_path):
    file = tmp_path / "sub" / "statistics.npz"
    write_statistics(training_area[0], file)
    back = read_statistics(file, MODEL)
    assert np.array_equal(back.covariance, training_area[0].covariance)
    assert np.array_equal(back.mean, training_area[0].mean)
    assert (back.count, back.model) == (500, MODEL)


def rewritten(file, **changes):
    with np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    np.savez(file, **{name: value for name, value in (arrays | changes).items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": np.array(2)}, "version 2, wanted is velma-statistics version 1"),
        ({"kind": np.array("velma-features")}, "is velma-features"),
        ({"model": np.array("other")}, "made with other, and cannot be compared with colours/1"),
        ({"mean": None}, "holds no mean"),
        ({"mean": np.zeros(4)}, "do not fit together"),
        ({"covariance": np.full((3, 3), np.nan)}, "do not fit together"),
        ({"mean": np.array([{"a": 1}], dtype=object)}, "not a readable .npz file"),
    ],
)
def test_a_statistics_file_that_does_not_fit_is_named(training_area, tmp_path, changes, words):
    file = tmp_path / "statistics.npz"
    write_statistics(training_area[0], file)
    rewritten(file, **changes)
    with pytest.raises(BadInput, match=words) as caught:
        read_statistics(file, MODEL)
    assert "statistics.npz" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [None, b"", b"not a zip", b"\x80\x04N."])
def test_a_file_that_is_no_archive_is_named(tmp_path, content):
    file = tmp_path / "features.npz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadInput, match=r"features\.npz"):
        read_features(file)


def features(file, step=15):
    colours, headings = Colours(), np.arange(0.0, 360.0, step)
    rows = StreetViews(Plaza(), colours).views("plaza", headings)
    captions = {f"picture of a {word}": colours.texts([word])[0] for word in WORDS}
    write_features(file, MODEL, headings, {"plaza": rows}, captions)
    return read_features(file, MODEL)


@pytest.mark.parametrize("heading", [0, 50, 97, 280, 355])
def test_a_feature_file_sees_what_the_pictures_show(training_area, tmp_path, heading):
    kept, colours = features(tmp_path / "features.npz"), Colours()
    names = ["a red", "a blue", "a green"]
    live = EmbeddingScorer(StreetViews(Plaza(), colours), colours, training_area[0])
    stored = EmbeddingScorer(kept, kept, training_area[0])
    assert stored.visible("plaza", heading, names) == live.visible("plaza", heading, names)


def test_what_a_feature_file_lacks_is_named(tmp_path):
    kept = features(tmp_path / "features.npz")
    with pytest.raises(NoImagery, match="has no panorama 'elsewhere'"):
        kept.views("elsewhere", [0.0])
    with pytest.raises(BadInput, match="has no caption 'picture of a cat'"):
        kept.texts(["picture of a cat"])
    rewritten(tmp_path / "features.npz", headings=np.zeros(3))
    with pytest.raises(BadInput, match="do not fit together"):
        read_features(tmp_path / "features.npz")


def test_what_is_seen_is_told(training_area, crossing):
    colours = Colours()

    class Everywhere(Plaza):
        def view(self, pano_id, camera):
            return super().view("plaza", camera)

    scorer = EmbeddingScorer(StreetViews(Everywhere(), colours), colours, training_area[0])
    start = WalkState(crossing.number("s1"), 0.0)
    walk = walk_so_far(Observer(crossing, scorer), start, [Action.FORWARD], landmarks=["a red door"])
    assert walk.text == (
        "There is a red door slightly right.\n1. forward\n"
        "There is a 4-way intersection. There is a red door slightly right.\n2."
    )


@pytest.mark.parametrize(
    ("ahead", "behind", "flow"),
    [
        ("rear", "front", "with"),
        ("front", "rear", "against"),
        ("rear", "rear", "against"),  # a draw
        ("side", "front", "with"),
        ("side", "side", None),
    ],
)
def test_vehicles_tell_the_flow_of_traffic(crossing, ahead, behind, flow):
    sides = ["rear", "front", "side"]

    class Street:
        def views(self, pano_id, headings):
            assert list(headings) == [90.0, 270.0]
            return np.eye(3, dtype=np.float32)[[sides.index(ahead), sides.index(behind)]]

    class Captions:
        def texts(self, texts):
            return np.eye(3, dtype=np.float32)[[sides.index(text.split()[0]) for text in texts]]

    assert view_flow(crossing, Street(), Captions())(WalkState(0, 90.0)) == flow


def test_openclip_names_what_is_missing():
    code = (
        "import sys, json; sys.modules['torch'] = sys.modules['open_clip'] = None\n"
        "from virl.errors import ModelUnavailable\n"
        "from virl.platform.movement.instruction.velma.openclip import OpenClip\n"
        "try: OpenClip('ViT-B-32', 'nothing').texts(['x'])\n"
        "except ModelUnavailable as fault: print(json.dumps(str(fault)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "pip install 'virl[vision]'" in json.loads(done.stdout)
    assert OpenClip().name == "ViT-bigG-14/laion2b_s39b_b160k"


def test_openclip_names_weights_that_do_not_exist():
    pytest.importorskip("open_clip")
    with pytest.raises(ModelUnavailable, match="weights no-such-weights of ViT-B-32 cannot be loaded"):
        OpenClip("ViT-B-32", "no-such-weights", device="cpu").texts(["x"])
