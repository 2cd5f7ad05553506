import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virl.errors import BadInput
from virl.platform.city.streetview import Image
from virl.platform.perception.matchers.sift import SiftMatcher, SiftSettings
from virl.platform.perception.models import Models, read_model
from virl.platform.perception.registry import MatcherSettings


def scene(seed: int, size: int = 240) -> Image:
    """Rectangles and discs in many colours, as sharp and as irregular as a street."""
    chance = np.random.default_rng(seed)
    picture = np.full((size, size, 3), 128, np.uint8)
    for _ in range(120):
        x, y = chance.integers(0, size, 2).tolist()
        colour = chance.integers(0, 256, 3).tolist()
        if chance.random() < 0.5:
            w, h = chance.integers(6, 40, 2).tolist()
            cv2.rectangle(picture, (x, y), (x + w, y + h), colour, -1)
        else:
            cv2.circle(picture, (x, y), int(chance.integers(4, 20)), colour, -1)
    return cv2.GaussianBlur(picture, (3, 3), 0)


def warped(picture: Image, matrix: np.ndarray, size: int = 240) -> Image:
    return cv2.warpPerspective(picture, matrix, (size, size), borderValue=(128, 128, 128))


def turned(degrees: float, scale: float = 1.0, size: int = 240) -> np.ndarray:
    return np.vstack([cv2.getRotationMatrix2D((size / 2, size / 2), degrees, scale), [0, 0, 1]])


TILTED = cv2.getPerspectiveTransform(
    np.array([(0, 0), (240, 0), (240, 240), (0, 240)], np.float32),
    np.array([(20, 10), (215, 35), (225, 200), (5, 230)], np.float32),
)


@pytest.fixture(scope="module")
def sift_settings() -> SiftSettings:
    found = read_model("matcher", "sift")
    assert isinstance(found, SiftSettings)
    return found


@pytest.fixture(scope="module", params=["fundamental", "homography"])
def matcher(request, sift_settings) -> SiftMatcher:
    return SiftMatcher(sift_settings.model_copy(update={"geometry": request.param}))


def errors(match, matrix) -> np.ndarray:
    """Pixels between where points of the first picture truly went and where they were found."""
    went = cv2.perspectiveTransform(match.first[None].astype(np.float64), matrix)[0]
    return np.linalg.norm(went - match.second, axis=1)


@pytest.mark.parametrize(
    "matrix",
    [turned(0), turned(30), turned(90), turned(0, 0.6), turned(0, 1.5), turned(-20, 0.8), TILTED],
    ids=["same", "turned", "on its side", "smaller", "larger", "turned and smaller", "tilted"],
)
def test_points_are_found_where_they_went(matcher, sift_settings, matrix):
    first = scene(1)
    (match,) = matcher.match([(first, warped(first, matrix))])
    assert match.count >= sift_settings.min_matches
    assert np.mean(errors(match, matrix) < 2) > 0.9
    for points in (match.first, match.second):
        assert points.shape == (match.count, 2)
        assert points.min() >= -0.5
        assert points.max() <= 240


def test_no_point_is_matched_twice(matcher):
    first = scene(1)
    (match,) = matcher.match([(first, warped(first, TILTED))])
    for points in (match.first, match.second):
        assert len(np.unique(points, axis=0)) > 0.8 * match.count  # a keypoint may have two directions


@pytest.mark.slow
def test_different_pictures_have_few_points_in_common(matcher, sift_settings):
    counts = [match.count for match in matcher.match([(scene(2 * i), scene(2 * i + 1)) for i in range(1, 6)])]
    assert max(counts) < sift_settings.min_matches


def test_a_darker_picture_is_the_same(matcher, sift_settings):
    first = scene(3)
    darker = (first * 0.6 + 10).astype(np.uint8)
    (match,) = matcher.match([(first, darker)])
    assert match.count >= sift_settings.min_matches
    assert np.mean(errors(match, turned(0)) < 1) > 0.95


def test_pairs_are_independent_and_results_repeat(matcher):
    a, b, c = scene(1), warped(scene(1), TILTED), scene(4)
    together = matcher.match([(a, b), (a, c), (c, b)])
    for pair, match in zip([(a, b), (a, c), (c, b)], together, strict=True):
        (alone,) = matcher.match([tuple(picture.copy() for picture in pair)])
        np.testing.assert_array_equal(alone.first, match.first)
        np.testing.assert_array_equal(alone.second, match.second)
    assert matcher.match([]) == []


@pytest.mark.slow
def test_the_ratio_test_and_the_geometry_drop_pairs(sift_settings):
    def count(**changes):
        matcher = SiftMatcher(sift_settings.model_copy(update=changes))
        return matcher.match([(scene(1), warped(scene(1), TILTED))])[0].count

    assert count(ratio=0.5) < count(ratio=0.8)
    assert count(error=0.2) < count(error=3.0)
    assert count(keypoints=50) <= 50 < count()


@pytest.mark.parametrize(
    "other",
    [np.full((60, 60, 3), 90, np.uint8), np.zeros((1, 1, 3), np.uint8), scene(1)[:3, :3], scene(1)[:, :1]],
    ids=["plain", "a pixel", "nine pixels", "a column"],
)
def test_a_picture_with_nothing_on_it_matches_nothing(matcher, other):
    for pair in ((scene(1), other), (other, scene(1)), (other, other)):
        assert matcher.match([pair])[0].count == 0


def test_points_on_a_line_fit_no_geometry(matcher):
    picture = np.full((100, 400, 3), 128, np.uint8)
    chance = np.random.default_rng(0)
    for x in range(20, 390, 25):
        cv2.circle(picture, (x, 50), 7, chance.integers(0, 256, 3).tolist(), -1)
    (match,) = matcher.match([(picture, picture.copy())])
    assert np.all(errors(match, turned(0)) < 1)


def test_gray_and_transparent_pictures_are_matched(matcher):
    first = scene(1)
    gray = cv2.cvtColor(first, cv2.COLOR_RGB2GRAY)
    clear = np.dstack([first, np.full(first.shape[:2], 255, np.uint8)])
    for other in (gray, gray[..., None], clear):
        assert matcher.match([(first, other)])[0].count > 50


@pytest.mark.parametrize(
    "other",
    [
        np.zeros((0, 5, 3), np.uint8),
        np.full((5, 5, 3), 9.0),
        np.zeros((5, 5, 2), np.uint8),
        "photo.jpg",
        None,
    ],
    ids=["no pixels", "floats", "two channels", "a name", "nothing"],
)
def test_what_is_no_picture_is_refused_in_one_line(matcher, other):
    with pytest.raises(BadInput) as refused:
        matcher.match([(scene(1), other)])
    assert "\n" not in str(refused.value)


@pytest.mark.slow
@settings(max_examples=12)
@given(degrees=st.floats(-180, 180), scale=st.floats(0.6, 1.4))
def test_any_turn_and_size_is_seen_through(degrees, scale):
    matcher, matrix = Models().matcher("sift"), turned(degrees, scale)
    first = scene(5)
    (match,) = matcher.match([(first, warped(first, matrix))])
    assert match.count >= 20
    assert np.median(errors(match, matrix)) < 1


def test_the_files_of_all_matchers_say_what_their_matches_are_worth():
    for name in ("sift", "lightglue", "lightglue-disk"):
        assert isinstance(read_model("matcher", name), MatcherSettings)


@pytest.mark.slow
def test_what_is_kept_of_a_picture_is_not_taken_for_another(sift_settings) -> None:
    """Of the same bytes in another shape, and after more pictures than are kept."""
    matcher, picture = SiftMatcher(sift_settings), scene(1)
    flat = picture.reshape(120, 480, 3)
    first = matcher.match([(picture, picture)])[0]
    assert first.count >= sift_settings.min_matches
    assert matcher.match([(flat, flat)])[0].first[:, 0].max() > 240
    others = [np.full((16, 16, 3), level, np.uint8) for level in range(70)]
    matcher.match([(picture, other) for other in others])
    again = matcher.match([(picture.copy(), picture)])[0]
    assert np.array_equal(again.first, first.first)
    assert np.array_equal(again.second, first.second)
