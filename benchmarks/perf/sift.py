"""Do SIFT matches tell the same thing from another one of its kind?

Walks down streets of a made city, looks closer at every bin, hydrant, bench and mailbox, as active detection
does, and matches pairs of crops: of one thing seen from two panoramas, and of two things of a kind, those
that stand near each other first. The threshold is chosen on the even walks and reported on the odd ones, and
their ROC is drawn with the threshold marked:
`python -m benchmarks.perf.sift [--city NAME] [--walks N] [--matcher NAME] [--compare] [--draw roc.svg]`.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from virl.geo import LatLng, distance, signed_turn
from virl.platform.city import City, Truth
from virl.platform.perception.base import Matcher
from virl.platform.perception.images import crop
from virl.platform.perception.look import closer_camera, sweep_cameras
from virl.platform.perception.matchers.sift import SiftMatcher, SiftSettings
from virl.platform.perception.models import Models, read_model
from virl.platform.perception.shared.matcher_settings import MatcherSettings
from virl.platform.providers import open_city
from virl.platform.streetview import Box, Camera, Image

from .figures import Figures, command, figures
from .roc import FALSE_RATE, Curve, Scores, draw_roc

KINDS = ("trash bin", "fire hydrant", "bench", "mailbox")
WALKS = 100
PAIRS = 300  # at most, of a half and of a class
STEPS = 5  # links of a walk
SWEEP = 320  # pixels of the pictures in which things are looked for; they are looked at in twice the size
MIN_SIDE = 6  # pixels of a box worth a closer look
MIN_SEEN = 0.5  # share of a thing that must be visible
APART_M = 30.0  # V-IRL compares sightings less than this apart
NEAR_M = 60.0  # two things of a kind this near are the pairs that a walk would confuse
BESIDE_M = 25.0  # two things this near are what positions may leave undecided
TURNS = ((0.0, 30.0), (30.0, 60.0), (60.0, 180.0))
"""Groups of pairs: degrees between the directions in which the two views look at the thing."""


@dataclass(frozen=True, slots=True, eq=False)
class ThingView:
    """A thing, looked at closer."""

    walk: int
    pano_id: str
    position: LatLng
    """Of the camera."""
    place: LatLng
    """Of the thing."""
    thing: str
    kind: str
    heading: float
    """Of the way from the camera to the thing."""
    pixels: Image
    box: Box


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sights."""

    first: ThingView
    second: ThingView

    @property
    def turn(self) -> float:
        """Degrees between the directions in which they look, [0, 180]."""
        return abs(signed_turn(self.first.heading, self.second.heading))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    options = _options(arguments)
    with figures(options) as found:
        _run(options, found)
    return 0


def _run(options: argparse.Namespace, found: Figures) -> None:
    city = open_city(options.city)
    if city.truth is None:
        raise SystemExit(f"{city.title} has no ground truth: choose a made city")
    began = time.perf_counter()
    sights = list(look(city, city.truth, options.walks, options.seed))
    took = time.perf_counter() - began
    halves = [[sight for sight in sights if sight.walk % 2 == half] for half in (0, 1)]
    chance = Random(options.seed)
    pairs = [
        (same, other_pairs(half, len(same), chance)) for half in halves if (same := same_pairs(half, chance))
    ]
    found["sights"], found["matchers"] = len(sights), {}
    found.show(
        f"{len(sights)} sights on {options.walks} walks through {city.title}, {took:.0f} s to see them"
    )
    settings = read_model("matcher", options.matcher)
    if not isinstance(settings, MatcherSettings):
        raise SystemExit(f"{options.matcher} is not a matcher")
    margins = (0.0, settings.margin) if options.compare else (settings.margin,)
    curves = [
        _report(found, f"{name}, margin {margin:g}", matcher, pairs, margin)
        for name, matcher in _matchers(options.matcher, settings, compare=options.compare)
        for margin in margins
    ]
    draw_roc(curves, options.draw)
    found.show(f"\nROC, threshold marked: {options.draw}")


def look(city: City, truth: Truth, walks: int, seed: int) -> Iterator[ThingView]:
    """Closer looks at the things that stand along random walks."""
    chance = Random(seed)
    streets = city.street_map
    places = {thing.id: thing.position for thing in truth.things(KINDS)}
    starts = chance.sample(list(streets.panorama_ids()) if streets else [], walks)
    for walk, start in enumerate(starts):
        for pano_id in _walk(city, start, chance):
            position = city.streetview.panorama(pano_id).position
            for camera in sweep_cameras(None, fov=90.0, width=SWEEP, height=SWEEP):
                for thing in truth.visible(pano_id, camera):
                    if (
                        thing.kind in KINDS
                        and thing.visible_fraction >= MIN_SEEN
                        and _side(thing.box) >= MIN_SIDE
                    ):
                        closer = replace(closer_camera(camera, thing.box), width=640, height=640)
                        box = _box(truth, pano_id, closer, thing.id)
                        if box:
                            pixels = city.streetview.view(pano_id, closer).pixels
                            heading = closer.direction((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)[0]
                            yield ThingView(
                                walk,
                                pano_id,
                                position,
                                places[thing.id],
                                thing.id,
                                thing.kind,
                                heading,
                                pixels,
                                box,
                            )


def same_pairs(sights: Sequence[ThingView], chance: Random) -> list[Pair]:
    """Pairs of sights of one thing, from two panoramas."""
    pairs = [
        Pair(a, b)
        for a, b in combinations(sights, 2)
        if a.thing == b.thing and a.pano_id != b.pano_id and distance(a.position, b.position) <= APART_M
    ]
    return chance.sample(pairs, min(len(pairs), PAIRS))


def other_pairs(sights: Sequence[ThingView], number: int, chance: Random) -> list[Pair]:
    """So many pairs of two things of a kind, from two panoramas: those near each other, then any."""
    pairs = [
        Pair(a, b)
        for a, b in combinations(sights, 2)
        if a.thing != b.thing and a.kind == b.kind and a.pano_id != b.pano_id
    ]
    near = [pair for pair in pairs if distance(pair.first.position, pair.second.position) <= NEAR_M]
    far = [pair for pair in pairs if distance(pair.first.position, pair.second.position) > NEAR_M]
    chance.shuffle(near)
    return near[:number] + chance.sample(far, max(number - len(near), 0))


def score(matcher: Matcher, pairs: tuple[list[Pair], list[Pair]], margin: float) -> Scores:
    """The matches of the pairs that show the same, and of the others."""
    sights = {id(sight): sight for group in pairs for pair in group for sight in (pair.first, pair.second)}
    crops = {key: crop(sight.pixels, sight.box, margin) for key, sight in sights.items()}
    same, other = (
        matcher.match([(crops[id(pair.first)], crops[id(pair.second)]) for pair in group]) for group in pairs
    )
    return Scores(
        np.array([match.count for match in same], float), np.array([match.count for match in other], float)
    )


def _report(
    found: Figures, name: str, matcher: Matcher, pairs: list[tuple[list[Pair], list[Pair]]], margin: float
) -> Curve:
    began = time.perf_counter()
    chosen_on, reported_on = (score(matcher, half, margin) for half in pairs)
    each = (time.perf_counter() - began) / sum(len(group) for half in pairs for group in half)
    told: dict[str, Any] = {"seconds_a_pair": each, "area": reported_on.area}
    found["matchers"][name] = told
    found.show(f"\n{name}: {1000 * each:.0f} ms a pair, its share of finding keypoints included")
    for half, scores in (("chosen on", chosen_on), ("reported on", reported_on)):
        found.show(f"  {half}: {len(scores.same)} same, {len(scores.other)} others; area {scores.area:.3f}")
    for label, threshold in (
        (f"at most {FALSE_RATE:.0%} false", chosen_on.threshold),
        ("Youden", chosen_on.youden),
    ):
        (true, false), (true_there, false_there) = reported_on.rates(threshold), chosen_on.rates(threshold)
        told[label] = {"threshold": threshold, "true": float(true), "false": float(false)}
        found.show(
            f"  {label}: {threshold} matches; true {true:.1%}, false {false:.1%} on the other half "
            f"(true {true_there:.1%}, false {false_there:.1%} where it was chosen)"
        )
    beside = np.array([_are_beside(pair) for pair in pairs[1][1]])
    if beside.any():
        false = float(np.mean(reported_on.other[beside] >= chosen_on.threshold))
        told["false_beside"] = false
        found.show(
            f"  of {beside.sum()} others within {BESIDE_M:g} m: false {false:.1%} at {chosen_on.threshold}"
        )
    turns = np.array([pair.turn for pair in pairs[1][0]])
    for low, high in TURNS:
        some = Scores(reported_on.same[(turns >= low) & (turns < high)], reported_on.other)
        if len(some.same):
            true = some.rates(chosen_on.threshold)[0]
            told[f"{low:g} to {high:g} degrees apart"] = {"area": some.area, "true": float(true)}
            found.show(
                f"  seen from {low:g} to {high:g} degrees apart: {len(some.same)} same, "
                f"area {some.area:.3f}, true {true:.1%} at {chosen_on.threshold}"
            )
    return Curve(name, reported_on, chosen_on.threshold)


def _are_beside(pair: Pair) -> bool:
    """Whether the things of a pair stand side by side."""
    return distance(pair.first.place, pair.second.place) <= BESIDE_M


def _matchers(name: str, settings: MatcherSettings, *, compare: bool) -> Iterator[tuple[str, Matcher]]:
    if compare and isinstance(settings, SiftSettings):
        yield f"{name}, homography", SiftMatcher(settings.model_copy(update={"geometry": "homography"}))
        yield (
            f"{name}, fundamental matrix",
            SiftMatcher(settings.model_copy(update={"geometry": "fundamental"})),
        )
    else:
        yield name, Models().matcher(name)


def _walk(city: City, start: str, chance: Random) -> list[str]:
    """Panoramas along a street, straight on where that is possible."""
    walk, heading = [start], chance.uniform(0, 360)
    for _ in range(STEPS):
        links = [link for link in city.streetview.panorama(walk[-1]).links if link.pano_id not in walk]
        if not links:
            break
        link = min(links, key=lambda link: abs(signed_turn(heading, link.heading)))
        walk.append(link.pano_id)
        heading = link.heading
    return walk


def _box(truth: Truth, pano_id: str, camera: Camera, thing: str) -> Box | None:
    return next((seen.box for seen in truth.visible(pano_id, camera) if seen.id == thing), None)


def _side(box: Box) -> float:
    return min(box[2] - box[0], box[3] - box[1])


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command(__doc__)
    parser.add_argument("--city", default="virlton", help="a made city")
    parser.add_argument("--walks", type=int, default=WALKS, help="walks of six panoramas")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the walks and pairs")
    parser.add_argument("--matcher", default="sift", help="matcher (see `virl models`)")
    parser.add_argument(
        "--draw", type=Path, default=Path("runs/sift-roc.svg"), help="file for the drawing of the ROC curve"
    )
    parser.add_argument(
        "--compare", action="store_true", help="compare both geometries, with and without a margin"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
