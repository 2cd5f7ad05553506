"""The simulated detector: what a made city truly shows, less what the noise model makes of it.

It is no model and looks at no pixels. It stands in for one where no weights are at hand, so that what is
built on detectors can be run and scored.
"""

from collections.abc import Sequence

from virl.errors import ModelUnavailable
from virl.platform.city.city import Truth, Visible
from virl.platform.city.streetview import View
from virl.platform.perception.base import Detection, LookScores
from virl.platform.perception.images import as_view
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind
from virl.platform.perception.shared.labels import words_of
from virl.platform.perception.shared.noise import (
    NO_TRUTH,
    Draws,
    SimulatedSettings,
    chance_found,
    likeness,
    name_look,
    size_of,
)

NAME = "simulated"
SIGN = "sign"


class SimulatedDetector:
    """A detector that finds things of a made city by its truth, with the errors of a noise model.

    Safe to share between threads.

    The same thing in the same view is always judged alike, whatever else is looked at, before or beside it.

    Args:
        truth: of the city that the views are of.
        settings: of the noise.
        seed: another seed errs elsewhere, as often.
    """

    def __init__(self, truth: Truth, settings: SimulatedSettings, seed: int = 0) -> None:
        self._truth = truth
        self._settings = settings
        self._seed = seed

    @property
    def look_scores(self) -> LookScores:
        """Its own thresholds, from its file."""
        return self._settings.look_scores

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the things with one of `labels` in each view, best first; each thing with one label at most.

        Args:
            views: of the city that the truth is of; their pixels are not looked at.
            labels: kinds of things, or other words for them, and place types; case does not count, and
                underscores are spaces. Empty asks for all things that it knows. Other labels are never found.

        Raises:
            BadInput: a label is empty.
            NoStreetView: a view is of another city.
        """
        asked = self._kinds(labels)
        types = self._types(labels)
        may_seem = {
            kind
            for kind in (*self._settings.knows, *self._settings.confusions)
            if kind in asked or self._settings.confusions.get(kind, {}).keys() & asked.keys()
        }
        if types:
            may_seem.add(SIGN)
        return [self._look(as_view(view), asked, types, may_seem) for view in views]

    def _kinds(self, labels: Sequence[str]) -> dict[str, str]:
        """Return the kinds of things asked for, each with the first label that means it."""
        if not labels:
            return {kind: kind for kind in self._settings.knows}
        asked: dict[str, str] = {}
        for words, label in words_of(labels, NAME).items():
            kind = self._settings.synonyms.get(words, words)
            if kind in self._settings.knows:
                asked.setdefault(kind, label)
        return asked

    def _types(self, labels: Sequence[str]) -> dict[str, str]:
        """Return labels asked for that are no kind of thing, and so may be place types, by their words."""
        if not labels or self._settings.place_confusion is None:
            return {}
        known = {SIGN, *self._settings.knows, *self._settings.synonyms}
        return {words: label for words, label in words_of(labels, NAME).items() if words not in known}

    def _look(
        self, view: View, asked: dict[str, str], types: dict[str, str], may_seem: set[str]
    ) -> list[Detection]:
        """Return the detections in a view, after the noise, of the kinds and types asked for."""
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
        """Return the label and score for the place behind a sign; `None` where the sign is missed."""
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
        """Return the label and score for a thing; `None` where it is missed."""
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
        """Return a drawn score, [0, 1], around the mean at a share of the way between two ends."""
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
