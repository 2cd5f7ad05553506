"""The features rule, with SIFT over the pixels of textured things."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from made_world import SIZE, Thing, camera_to, settings, sighting

from virl.errors import BadInput
from virl.platform.city.streetview import Image
from virl.platform.perception.active import Sighting
from virl.platform.perception.base import Match
from virl.platform.perception.memory import MemorySettings, VisualMemory

FAR = 30.0


class Sift:
    """Ratio test only; counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        self.asked += len(pairs)
        return [self._match(*pair) for pair in pairs]

    def _match(self, one: Image, other: Image) -> Match:
        sift = cv2.SIFT_create(200)
        (points, first), (others, second) = (
            sift.detectAndCompute(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), None) for image in (one, other)
        )
        if first is None or second is None or min(len(first), len(second)) < 2:
            return Match(np.empty((0, 2), np.float32), np.empty((0, 2), np.float32))
        good = [a for a, b in cv2.BFMatcher().knnMatch(first, second, k=2) if a.distance < 0.7 * b.distance]
        return Match(
            np.array([points[m.queryIdx].pt for m in good], np.float32).reshape(-1, 2),
            np.array([others[m.trainIdx].pt for m in good], np.float32).reshape(-1, 2),
        )


def painted(thing: Thing, x: float, y: float, seed: int) -> Sighting:
    """A view of a thing with a texture of its own on it, brighter from the left."""
    plain = sighting(thing, x, y, camera=camera_to(thing, x, y, fov=12.0))
    x0, y0, x1, y1 = (round(edge) for edge in plain.box)
    texture = np.random.default_rng(seed).uniform(0, 255, (24, 14, 3)).astype(np.uint8)
    pixels = np.full((SIZE, SIZE, 3), 90, np.uint8)
    pixels[y0:y1, x0:x1] = cv2.resize(texture, (x1 - x0, y1 - y0), interpolation=cv2.INTER_CUBIC)
    return replace(plain, view=replace(plain.view, pixels=pixels))


def folder_memory(folder: Path, matcher: Sift, **rules: bool) -> VisualMemory:
    return VisualMemory.open(folder, settings(features=True, **rules), matcher)


def crowded(**rules: bool) -> MemorySettings:
    return settings(box_range=False, **rules).model_copy(update={"density_per_m2": 0.03})


BIN, OTHER = Thing(4.0, 8.0), Thing(4.0, FAR)


def test_features_alone_tell_things_by_their_looks(tmp_path: Path) -> None:
    memory = folder_memory(tmp_path, Sift(), geometry=False)
    first = memory.add([painted(BIN, 0.0, 0.0, seed=1)])[0]
    same = memory.add([painted(BIN, 0.0, 2.0, seed=1)])[0]
    other = memory.add([painted(OTHER, 0.0, FAR - 8.0, seed=2)])[0]
    assert same.object_id == first.object_id
    assert same.comparisons[0].opinions[-1].rule == "features"
    assert other.new


def test_features_decide_where_geometry_cannot(tmp_path: Path) -> None:
    """Along one line of sight and without ranges, only the crops can tell."""
    thing = Thing(0.0, 10.0)
    for features in (True, False):
        memory = VisualMemory.open(tmp_path / str(features), crowded(features=features), Sift())
        memory.add([painted(thing, 0.0, 0.0, seed=3)])[0]
        verdict = memory.add([painted(thing, 0.0, 1.0, seed=3)])[0]
        assert verdict.new is not features


def test_geometry_overrules_look_alikes_and_saves_the_matching(tmp_path: Path) -> None:
    matcher = Sift()
    memory = folder_memory(tmp_path, matcher)
    memory.add([painted(BIN, 0.0, 0.0, seed=1)])[0]
    assert memory.add([painted(OTHER, 0.0, FAR - 8.0, seed=1)])[0].new
    assert not memory.add([painted(BIN, 0.0, 2.0, seed=1)])[0].new
    assert matcher.asked == 0


@pytest.mark.parametrize(("position_m", "new"), [(5.0, False), (3.0, True)])
def test_a_match_tips_the_scale_but_does_not_outvote_positions(
    tmp_path: Path, position_m: float, new: bool
) -> None:
    """Just as many matched points as needed, for two positions 12 m apart: better and worse known."""

    class Enough:
        def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
            points = np.zeros((settings().min_matches, 2), np.float32)
            return [Match(points, points) for _ in pairs]

    vague = settings(features=True).model_copy(update={"position_m": position_m})
    memory = VisualMemory.open(tmp_path, vague, Enough())
    memory.add([sighting(Thing(0.0, 10.0), 0.0, 0.0)])[0]
    verdict = memory.add([sighting(Thing(12.0, 10.0), 12.0, 0.0)])[0]
    geometry, features = verdict.comparisons[0].opinions
    assert (geometry.says, features.says) == ("no verdict", "same")
    assert verdict.new is new


def test_two_crops_of_one_look_around_take_the_objects_that_they_match(tmp_path: Path) -> None:
    memory = folder_memory(tmp_path, Sift(), geometry=False)
    near = Thing(4.0, 11.0)
    known = memory.add([painted(BIN, 0.0, 0.0, seed=1), painted(near, 0.0, 0.0, seed=2)])
    later = memory.add([painted(near, 0.0, 1.0, seed=2), painted(BIN, 0.0, 1.0, seed=1)])
    assert [verdict.object_id for verdict in later] == [known[1].object_id, known[0].object_id]


@pytest.mark.slow
def test_reopening_does_not_change_what_matches(tmp_path: Path) -> None:
    """Remembered crops are always compared as they are on the disk."""
    files = []
    for reopen in (False, True):
        memory = folder_memory(tmp_path / str(reopen), Sift(), geometry=False)
        for y in (0.0, 1.0, 2.0, 3.0):
            memory.add([painted(BIN, 0.0, y, seed=1), painted(Thing(-4.0, 9.0), 0.0, y, seed=2)])
            if reopen:
                memory = VisualMemory.open(memory.folder, matcher=Sift())
        files.append((memory.folder / "memory.jsonl").read_bytes())
    assert files[0] == files[1]


def test_without_a_matcher_the_rule_must_be_off(tmp_path: Path) -> None:
    memory = VisualMemory.open(tmp_path, settings(features=True))
    with pytest.raises(BadInput, match="matcher"):
        memory.add([painted(BIN, 0.0, 0.0, seed=1)])[0]
