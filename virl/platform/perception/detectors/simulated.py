"""The simulated detector: what a made city truly shows, with the errors of a noise model.

It is no model and looks at no pixels. It stands in for one where no weights are at hand, so that what is
built on detectors can be run and scored. What it gets wrong are curves over the size of a thing in the
picture, and drawn chance. Every draw is a hash of the seed, the camera, the thing and what is drawn, so it
depends on nothing else: neither on what was drawn before nor on the views that are looked at together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import exp, log, sqrt
from statistics import NormalDist
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from virl.errors import ModelUnavailable
from virl.platform.city.city import Truth, Visible
from virl.platform.city.place_types import place_table
from virl.platform.city.streetview import Box, Camera, View
from virl.platform.perception.base import Detection, plain_label
from virl.platform.perception.detections import SettingsDetector, words_of
from virl.platform.perception.images import as_view
from virl.platform.perception.models import Models
from virl.platform.perception.registry import DetectorSettings, Kind, Needs
from virl.platform.perception.signs import SIGN

CAMERA_STEP_DEG = 1.0
"""Step in degrees to which a camera's angles are rounded, so that like cameras err alike; chosen."""
JITTER_LIMIT = 2.5
"""Largest move of a box's edge in standard deviations; chosen."""

Share = Annotated[float, Field(ge=0, le=1)]
"""Share or chance, [0, 1]."""

NO_TRUTH = (
    "the simulated detector needs the ground truth of a made city, and this city has none: choose another "
    "with --detector, such as grounding-dino, owlv2 or recorded (see `virl models`)"
)
"""Error text for a city without ground truth."""

_NORMAL = NormalDist()
"""Standard normal distribution."""


class SimulatedSettings(DetectorSettings):
    """Settings of the detector; `platform/models/simulated.yaml` gives the reasons for the values.

    The size of an object is the square root of the area of its box, in pixels.
    """

    kind: Literal["simulated"]
    knows: tuple[str, ...]
    """Names of the kinds of objects that the detector can find."""
    synonyms: dict[str, str] = Field(default_factory=dict)
    """Kinds of objects, by other words for the same: {synonym: kind}."""
    min_pixels: int = Field(ge=1)
    """Least number of visible pixels of an object that can be found."""
    found: float = Field(gt=0, le=1)
    """Chance, [0, 1], that a large object in plain sight is found."""
    half_size: float = Field(gt=0)
    """Size in pixels (square root of the box's area) at which the chance of a find is half of `found`."""
    size_width: float = Field(gt=0)
    """Width of the logistic fall of the chance over the logarithm of the size."""
    half_seen: float = Field(gt=0, lt=1)
    """Visible share, [0, 1], at which the chance `found` has fallen to half."""
    seen_width: float = Field(gt=0)
    """Width of the logistic fall of the chance over the visible share."""
    hardness: float = Field(ge=0, le=1)
    """Correlation of looks at one object, [0, 1]: with 0 each look is anew, with 1 all give the same."""
    confusions: dict[str, dict[str, Share]] = Field(default_factory=dict)
    """Chances that a tiny object of a kind is taken for another, by its kind and the other."""
    place_confusion: Share | None = None
    """Chance, [0, 1], that a tiny sign's place is taken for another type; `None` if it knows no places."""
    confusion_half_size: float = Field(gt=0)
    """Size in pixels at which the chances of confusion have fallen to half."""
    confusion_width: float = Field(gt=0)
    """Width of the logistic fall of the chances of confusion, as `size_width`."""
    score: tuple[Share, Share]
    """Mean scores of a true detection: where the chance to find the object is 0, and where it is 1."""
    false_score: tuple[Share, Share]
    """Mean scores of a false detection: of a large look-alike, and of a tiny one."""
    score_spread: float = Field(ge=0)
    """Standard deviation of a detection's score."""
    box_jitter: float = Field(ge=0, le=0.15)
    """Standard deviation of a box's edges, as a share of the box's width or height."""

    def needs(self) -> Needs:
        """Return the requirements: the ground truth of a city."""
        return Needs(truth=NO_TRUTH)

    def unknown(self, labels: Sequence[str]) -> list[str]:
        """Return those of some labels that are neither a known kind of object nor a type of place."""
        known = {*self.knows, *self.synonyms}
        if self.place_confusion is not None:
            known |= {plain_label(one) for one in place_table().types}
        return [one for one in labels if plain_label(one) not in known]

    @model_validator(mode="after")
    def _names_what_it_knows(self) -> Self:
        """Check that synonyms and confusions lead to known kinds of objects."""
        named = {*self.synonyms.values(), *(kind for row in self.confusions.values() for kind in row)}
        if unknown := named - set(self.knows):
            raise ValueError(f"{min(unknown)!r} should be among what the detector knows")
        return self


def size_of(box: Box) -> float:
    """Return the size of a box: the square root of its area, in pixels."""
    return sqrt((box[2] - box[0]) * (box[3] - box[1]))


def chance_found(size: float, seen: float, settings: SimulatedSettings) -> float:
    """Return the chance, [0, 1], to find an object of a size in pixels, of which the share `seen` is visible.

    Args:
        size: size of its box in pixels, above 0.
        seen: visible share of it, (0, 1].
        settings: of the noise.
    """
    by_size = _logistic(log(size / settings.half_size) / settings.size_width)
    by_sight = _logistic((seen - settings.half_seen) / settings.seen_width)
    return settings.found * by_size * by_sight


def likeness(size: float, settings: SimulatedSettings) -> float:
    """Return the factor, [0, 1], on chances of confusion at a size of an object in pixels: less if larger."""
    return 1 - _logistic(log(size / settings.confusion_half_size) / settings.confusion_width)


@dataclass(frozen=True, slots=True)
class Draws:
    """A source of random numbers for one object in one view, the same each time."""

    seed: int
    """Seed of the detector."""
    view_key: str
    """Key of the panorama and the camera of the view."""
    object_id: str
    """Id of the object."""
    hardness: float
    """Correlation of the numbers between views of the object, [0, 1]."""

    def happens(self, event: str, chance: float) -> bool:
        """Return whether a named event of this chance, [0, 1], happens to the object in the view."""
        return self.share(event) < chance

    def share(self, name: str) -> float:
        """Return the uniform random number, [0, 1], with a name; correlated between views of the object."""
        return _NORMAL.cdf(self.normal(name))

    def normal(self, name: str) -> float:
        """Return the standard normal random number with a name; correlated between views of the object."""
        own, new = self._draw_normal(name, ""), self._draw_normal(name, self.view_key)
        return sqrt(self.hardness) * own + sqrt(1 - self.hardness) * new

    def _draw_normal(self, name: str, view_key: str) -> float:
        """Return a standard normal number that depends on seed, object, name and view key alone."""
        text = "\n".join((str(self.seed), self.object_id, name, view_key))
        number = int.from_bytes(blake2b(text.encode(), digest_size=6).digest(), "big")
        return _NORMAL.inv_cdf((number + 0.5) / 2**48)

    def jitter(self, box: Box, camera: Camera, jitter: float) -> Box:
        """Return a box with its edges moved at random by about `jitter` of its size; cut edges stay in place.

        Args:
            box: left, top, right, bottom in pixels, inside the view.
            camera: of the view.
            jitter: standard deviation of an edge, as a share of the box's width or height.
        """
        sides = (box[2] - box[0], box[3] - box[1])
        ends = (float(camera.width), float(camera.height))
        edges = []
        for i, edge in enumerate(box):
            end = ends[i % 2]
            off = min(max(self._draw_normal(f"edge {i}", self.view_key), -JITTER_LIMIT), JITTER_LIMIT)
            moved = min(max(edge + off * jitter * sides[i % 2], 0.0), end)
            edges.append(edge if edge in {0.0, end} else moved)
        left, top, right, bottom = edges
        return left, top, right, bottom


def name_look(pano_id: str, camera: Camera) -> str:
    """Return a key of a view: its panorama, and its camera with angles to the nearest degree."""
    heading, pitch, fov = (
        round(angle / CAMERA_STEP_DEG) for angle in (camera.heading, camera.pitch, camera.fov)
    )
    turn = round(360.0 / CAMERA_STEP_DEG)
    return f"{pano_id} {heading % turn} {pitch} {fov} {camera.width}x{camera.height}"


def _logistic(x: float) -> float:
    """Return the logistic function of a number, (0, 1)."""
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


NAME = "simulated"
"""Name of the detector."""


class SimulatedDetector(SettingsDetector[SimulatedSettings]):
    """A detector of a made city's objects by its ground truth, with errors; safe to share between threads."""

    def __init__(self, truth: Truth, settings: SimulatedSettings, seed: int = 0) -> None:
        """Use a city's ground truth, and random errors from a seed; each seed gives other errors."""
        self._truth = truth
        self._settings = settings
        self._seed = seed

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the objects with one of `labels` in each view, best first; each object has one label.

        Labels are kinds of objects, or other words for them, and place types; case does not count, and
        underscores are spaces. None asks for all known kinds. Other labels are never found.

        Raises:
            BadInput: a label is empty.
            NoStreetView: a view is of another city.
        """
        asked = self._kinds(labels)
        types = self._types(labels)
        # Kinds of objects that are, or can be taken for, one that was asked for: no others are looked up.
        may_seem = {
            kind
            for kind in (*self._settings.knows, *self._settings.confusions)
            if kind in asked or self._settings.confusions.get(kind, {}).keys() & asked.keys()
        }
        if types:
            may_seem.add(SIGN)
        return [self._look(as_view(view), asked, types, may_seem) for view in views]

    def _kinds(self, labels: Sequence[str]) -> dict[str, str]:
        """Return {kind of object: first label that means the kind} for all kinds asked for."""
        if not labels:
            return {kind: kind for kind in self._settings.knows}
        asked: dict[str, str] = {}
        for words, label in words_of(labels, NAME).items():
            kind = self._settings.synonyms.get(words, words)
            if kind in self._settings.knows:
                asked.setdefault(kind, label)
        return asked

    def _types(self, labels: Sequence[str]) -> dict[str, str]:
        """Return {words: label} of the labels that are no kind of object, and so may be place types."""
        if not labels or self._settings.place_confusion is None:
            return {}
        known = {SIGN, *self._settings.knows, *self._settings.synonyms}
        return {words: label for words, label in words_of(labels, NAME).items() if words not in known}

    def _look(
        self, view: View, asked: dict[str, str], types: dict[str, str], may_seem: set[str]
    ) -> list[Detection]:
        """Return detections, with errors, of asked kinds and types; only `may_seem` kinds are looked at."""
        if not may_seem:
            return []
        look = name_look(view.pano_id, view.camera)
        things = self._truth.visible(view.pano_id, view.camera, self._settings.min_pixels, may_seem)
        found = []
        for thing in things:
            draws = Draws(self._seed, look, thing.id, self._settings.hardness)
            is_sign = thing.kind == SIGN
            seems = self._read(thing, draws, types) if is_sign else self._judge(thing, draws, asked)
            if seems:
                label, score = seems
                box = draws.jitter(thing.box, view.camera, self._settings.box_jitter)
                found.append(Detection(label, score, box))
        return sorted(found, key=lambda one: (-one.score, one.box))

    def _read(self, sign: Visible, draws: Draws, types: dict[str, str]) -> tuple[str, float] | None:
        """Return (label, score) that a sign gets, rightly or not; `None` if it gets no label of `types`."""
        settings, size = self._settings, size_of(sign.box)
        chance, alike = chance_found(size, sign.visible_fraction, settings), likeness(size, settings)
        right = [words for kind in sign.place_types if (words := kind.replace("_", " ")) in types]
        others = sorted(types.keys() - set(right))
        if not draws.happens("found", chance):
            return None
        if others and draws.happens("taken for another", (settings.place_confusion or 0.0) * alike):
            other = others[min(int(draws.share("which") * len(others)), len(others) - 1)]
            return types[other], self._score(settings.false_score, alike, draws)
        return (types[right[0]], self._score(settings.score, chance, draws)) if right else None

    def _judge(self, thing: Visible, draws: Draws, asked: dict[str, str]) -> tuple[str, float] | None:
        """Return (label, score) for an object; `None` where it is missed or of no kind in `asked`."""
        settings, size = self._settings, size_of(thing.box)
        chance = chance_found(size, thing.visible_fraction, settings)
        if thing.kind in asked and draws.happens("found", chance):
            return asked[thing.kind], self._score(settings.score, chance, draws)
        alike = likeness(size, settings)
        for other, most in settings.confusions.get(thing.kind, {}).items():
            if other in asked and draws.happens(f"taken for {other}", most * alike):
                return asked[other], self._score(settings.false_score, alike, draws)
        return None

    def _score(self, ends: tuple[float, float], share: float, draws: Draws) -> float:
        """Return a random score, [0, 1], with a mean `share` of the way from the first end to the second."""
        mean = ends[0] + (ends[1] - ends[0]) * share
        return min(max(mean + self._settings.score_spread * draws.normal("score"), 0.0), 1.0)


def open_simulated(settings: SimulatedSettings, models: Models) -> SimulatedDetector:
    """Open the detector over the ground truth in the models' options.

    Raises:
        ModelUnavailable: there is no ground truth.
    """
    if models.options.truth is None:
        raise ModelUnavailable(NO_TRUTH)
    return SimulatedDetector(models.options.truth, settings, models.options.seed)


KIND = Kind("detector", SimulatedSettings, open_simulated)
