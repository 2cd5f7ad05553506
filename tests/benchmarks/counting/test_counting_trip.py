"""What should have been seen, what a sighting shows, and replays of what was seen."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from benchmarks.counting.replay import OnceMatcher, remember, to_reported
from benchmarks.counting.trip import required_things, take_trip, thing_shown
from benchmarks.counting.variants import DEFAULT, NO_RULES, rules_of
from benchmarks.counting.walks import choose_walks
from virl.geo.globe import LatLng
from virl.platform.city.city import City, Thing, Visible
from virl.platform.city.streetview import Camera, Image, View
from virl.platform.perception.active import Look, Sighting
from virl.platform.perception.base import Match
from virl.platform.perception.memory import VisualMemory, memory_settings
from virl.platform.perception.models import ModelOptions, Models
from virl.routines.counting.rounds import Counter

KINDS = ("trash bin", "fire hydrant", "bench")
VIEW = View("p", Camera(0.0), np.zeros((640, 640, 3), np.uint8))


@dataclass
class MadeTruth:
    """Shows the same in every view."""

    shown: Sequence[Visible]
    least: int = 0

    def visible(
        self, pano_id: str, camera: Camera, min_pixels: int = 12, kinds: Collection[str] | None = None
    ) -> list[Visible]:
        self.least = min_pixels
        return [one for one in self.shown if kinds is None or one.kind in kinds]

    def things(self, kinds: Collection[str] | None = None) -> list[Thing]:
        return []

    def attributes(self, place_id: str) -> Mapping[str, bool]:
        return {}


def visible(name: str, distance: float, fraction: float, kind: str = "bin") -> Visible:
    return Visible(name, kind, kind, (100.0, 100.0, 200.0, 200.0), distance, fraction)


def test_near_things_that_are_half_seen_are_required() -> None:
    truth = MadeTruth(
        [
            visible("near", 20.0, 0.5),
            visible("far", 20.1, 1.0),
            visible("hidden", 5.0, 0.49),
            visible("other", 5.0, 1.0, "tree"),
        ]
    )
    assert required_things(truth, Look((VIEW,), ((),), (), ()), ["bin"]) == {"near"}
    assert truth.least == 100


@pytest.mark.parametrize(
    ("box", "label", "shown"),
    [
        ((100.0, 100.0, 200.0, 200.0), "bin", "a"),
        ((100.0, 100.0, 200.0, 151.0), "bin", "a"),
        ((100.0, 100.0, 200.0, 149.0), "bin", None),
        ((100.0, 100.0, 200.0, 200.0), "bench", None),
    ],
)
def test_a_sighting_shows_the_thing_of_its_label_that_it_is_on(
    box: tuple[float, float, float, float], label: str, shown: str | None
) -> None:
    sighting = Sighting(label, 0.9, VIEW, box, LatLng(51.5, -0.12))
    assert thing_shown(MadeTruth([visible("a", 9.0, 1.0)]), sighting) == shown


class CountingMatcher:
    def __init__(self) -> None:
        self.pairs: list[tuple[Image, Image]] = []

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        self.pairs += pairs
        return [Match(np.full((1, 2), a[0, 0, 0]), np.full((1, 2), b[0, 0, 0])) for a, b in pairs]


def test_each_pair_of_pictures_is_matched_once() -> None:
    a, b, c = (np.full((4, 4, 3), level, np.uint8) for level in (1, 2, 3))
    inner = CountingMatcher()
    matcher = OnceMatcher(inner)
    first = matcher.match([(a, b), (a.copy(), b), (a.copy(), c)])
    again = matcher.match([(a.copy(), b.copy()), (b, a)])
    assert len(inner.pairs) == 3
    assert inner.pairs[0][0] is inner.pairs[1][0]  # so that its matcher looks at it once
    assert [match.second[0, 0] for match in first] == [2, 2, 3]
    assert [match.first[0, 0] for match in again] == [1, 2]


@pytest.mark.slow
def test_a_replay_reports_what_the_counter_did(virlton: City, tmp_path: Path) -> None:
    assert virlton.truth is not None
    detector = Models(ModelOptions(truth=virlton.truth)).detector("simulated")
    settings = memory_settings().model_copy(update={"rules": rules_of(DEFAULT)})
    memory = VisualMemory.open(tmp_path / "memory", settings)
    counter = Counter(virlton.streetview, detector, memory, KINDS)
    walk = choose_walks(virlton, 2, 0, 3)[1]
    trip = take_trip(virlton, virlton.truth, counter, walk)
    seeing, matcher = trip.seen["active"], CountingMatcher()
    known = [to_reported(thing, seeing.shown) for thing in memory.objects()]
    assert known
    assert remember(seeing, settings, DEFAULT, matcher) == known
    assert len(remember(seeing, settings, NO_RULES.rules, matcher)) == len(seeing.shown) > len(known)
    assert matcher.pairs == []
    assert trip.required <= {thing.id for thing in virlton.truth.things(KINDS)}
