import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virl.errors import BadInput, NoImagery
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Panorama, View
from virl.platform.movers.discrete.actions import Action, WalkState
from virl.platform.navigators.velma.prompt import walk_so_far
from virl.platform.navigators.velma.verbalizer import Direction, Observer, VisibleLandmark
from virl.platform.navigators.velma.vision import (
    EmbeddingScorer,
    StreetViews,
    gather_statistics,
    read_features,
    read_statistics,
    vehicle_flow,
    view_flow,
    write_features,
    write_statistics,
)
from virl.platform.perception.base import Detection, LookScores
from virl.platform.perception.embeddings import open_store

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

    def embed_images(self, images):
        return unit([image.reshape(-1, 3).mean(axis=0) for image in images])

    def embed_texts(self, texts):
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
    assert seen == [VisibleLandmark("a red door", red)] * bool(red) + [
        VisibleLandmark("a blue van", blue)
    ] * bool(blue)
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

        def embed_texts(self, texts):
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
    mean, deviation = gather_statistics([views[:7], views[7:]], MODEL).of_scores(captions)
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
        ({"version": np.array(2)}, "version 2, not velma-statistics version 1"),
        ({"kind": np.array("velma-features")}, "is velma-features"),
        ({"model": np.array("other")}, "made with other, not colours/1"),
        ({"mean": None}, "contains no mean"),
        ({"mean": np.zeros(4)}, "the sizes of mean and covariance differ"),
        ({"covariance": np.full((3, 3), np.nan)}, "the sizes of mean and covariance differ"),
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
    captions = {f"picture of a {word}": colours.embed_texts([word])[0] for word in WORDS}
    write_features(file, MODEL, headings, {"plaza": rows}, captions)
    return read_features(file, MODEL)


@pytest.mark.slow
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
        kept.embed_texts(["picture of a cat"])
    rewritten(tmp_path / "features.npz", headings=np.zeros(3))
    with pytest.raises(BadInput, match="the sizes of the arrays differ"):
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
        def embed_texts(self, texts):
            return np.eye(3, dtype=np.float32)[[sides.index(text.split()[0]) for text in texts]]

    assert view_flow(crossing, Street(), Captions())(WalkState(0, 90.0)) == flow


def unit_rows(rng, count, dimension):
    rows = rng.normal(size=(count, dimension)) + 0.3
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class Given:
    """Views and captions whose embeddings were made by hand."""

    def __init__(self, views, captions):
        self.rows, self.captions = views, captions

    def views(self, pano_id, headings):
        return self.rows

    def embed_texts(self, texts):
        return np.stack([self.captions[text] for text in texts])


@given(st.integers(0, 10_000), st.integers(2, 6), st.floats(-1.0, 4.0))
@settings(max_examples=60)
def test_visible_is_what_the_definition_says(seed, dimension, threshold):
    rng = np.random.default_rng(seed)
    reference, seen = unit_rows(rng, 40, dimension), unit_rows(rng, 5, dimension)
    names = ["a bank", "a bench", "a church"]
    rows = dict(zip([f"picture of {name}" for name in names], unit_rows(rng, 3, dimension), strict=True))
    expected, close = [], False
    for name in names:
        text = rows[f"picture of {name}"].astype(float)
        over_area = reference.astype(float) @ text
        scores = seen.astype(float) @ text
        z = (scores.max() - over_area.mean()) / over_area.std()
        close |= abs(z - threshold) < 1e-4
        if z >= threshold:
            expected.append(VisibleLandmark(name, tuple(Direction)[int(scores.argmax())]))
    shown = Given(seen, rows)
    scorer = EmbeddingScorer(shown, shown, gather_statistics([reference], MODEL), threshold)
    assert close or scorer.visible("p", 0.0, names) == expected
    assert close or scorer.visible("p", 0.0, names[::-1]) == expected[::-1]


@given(st.integers(0, 10_000), st.floats(0.1, 3.0))
@settings(max_examples=30)
def test_a_higher_threshold_shows_a_part_of_what_a_lower_one_shows(seed, threshold):
    rng = np.random.default_rng(seed)
    names = [f"thing {number}" for number in range(6)]
    captions = dict(zip([f"picture of {name}" for name in names], unit_rows(rng, 6, 4), strict=True))
    shown = Given(unit_rows(rng, 5, 4), captions)
    statistics = gather_statistics([unit_rows(rng, 30, 4)], MODEL)
    low, high = (
        EmbeddingScorer(shown, shown, statistics, t).visible("p", 0.0, names)
        for t in (threshold, threshold + 1)
    )
    assert [sighting for sighting in low if sighting in high] == high


def test_where_all_reference_views_are_alike_only_something_else_stands_out():
    same = np.tile(np.array([[1.0, 0.0]], np.float32), (10, 1))
    statistics = gather_statistics([same], MODEL)
    captions = {
        "picture of x": np.array([1.0, 0.0], np.float32),
        "picture of y": np.array([0.0, 1.0], np.float32),
    }
    other = np.array([[1.0, 0.0], [0.6, 0.8], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], np.float32)
    seen = EmbeddingScorer(Given(other, captions), Given(other, captions), statistics).visible(
        "p", 0, ["x", "y"]
    )
    assert seen == [VisibleLandmark("y", Direction.SLIGHTLY_LEFT)]


def test_views_are_embedded_together_and_kept_on_disk(training_area, tmp_path):
    street, batches = Plaza(), []

    class Counting(Colours):
        def embed_images(self, images):
            batches.append(len(images))
            return super().embed_images(images)

    store = open_store("plaza", MODEL, tmp_path)
    scorer = EmbeddingScorer(StreetViews(street, Counting(), store), Colours(), training_area[0])
    first = scorer.visible("plaza", 50, ["a red door"])
    assert batches == [5]
    assert scorer.visible("plaza", 50, ["a red door"]) == first
    assert batches == [5]
    scorer.visible("plaza", 95, ["a red door"])  # sees 5, 50, 95 and 140 again
    assert batches == [5, 1]
    again = EmbeddingScorer(StreetViews(Plaza(), Counting(), store), Colours(), training_area[0])
    assert again.visible("plaza", 50, ["a red door"]) == first
    assert batches == [5, 1]


class Traffic:
    """Ahead (90 degrees) and behind: vehicles as boxes of one colour, which says which side they show."""

    SIDES = ("rear", "front", "side")

    def __init__(self, ahead, behind):
        self.shown = {90.0: ahead, 270.0: behind}
        self.batches = []

    def view(self, pano_id, camera):
        pixels = np.full((camera.height, camera.width, 3), 255, np.uint8)
        for number, (_, side, _) in enumerate(self.shown[camera.heading]):
            pixels[100:200, 100 * number + 10 : 100 * number + 90] = self.SIDES.index(side)
        return View(pano_id, camera, pixels)

    look_scores = LookScores(0.5, 0.5)

    def detect(self, views, labels):
        assert list(labels) == ["car", "truck", "bus"]
        return [
            [
                Detection(label, score, (100.0 * number + 10, 100.0, 100.0 * number + 90, 200.0))
                for number, (label, _, score) in enumerate(self.shown[view.camera.heading])
            ]
            for view in views
        ]

    def embed_images(self, images):
        self.batches.append(len(images))
        assert all((image == image[0, 0]).all() for image in images)  # what was cut out is the vehicle alone
        return np.eye(3, dtype=np.float32)[[image[0, 0, 0] for image in images]]

    def embed_texts(self, texts):
        return np.eye(3, dtype=np.float32)[[self.SIDES.index(text.split()[0]) for text in texts]]


@pytest.mark.parametrize(
    ("ahead", "behind", "flow"),
    [
        ([("car", "rear", 0.9)], [], "with"),
        ([("car", "front", 0.9)], [], "against"),
        ([], [("bus", "front", 0.9)], "with"),
        ([("car", "rear", 0.9)], [("car", "rear", 0.9)], "against"),  # a draw
        ([("car", "rear", 0.9), ("truck", "rear", 0.4)], [("car", "rear", 0.9)], "with"),
        ([("car", "rear", 0.9), ("car", "front", 0.4)], [], "with"),  # the surest of its kind
        ([("car", "front", 0.4), ("car", "rear", 0.9)], [], "with"),
        ([("car", "side", 0.9)], [("truck", "front", 0.5)], "with"),
        ([("car", "side", 0.9)], [("car", "side", 0.9)], None),
        ([], [], None),
        ([("tram", "rear", 0.9)], [], None),
    ],
)
def test_vehicles_that_a_detector_finds_tell_the_flow_of_traffic(crossing, ahead, behind, flow):
    traffic = Traffic(ahead, behind)
    assert vehicle_flow(crossing, traffic, traffic, traffic, traffic)(WalkState(0, 90.0)) == flow
    assert len(traffic.batches) <= 1
