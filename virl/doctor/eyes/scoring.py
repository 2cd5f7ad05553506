"""What a model found, held against the truth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, utils

from virl.doctor.eyes.labelled import LabelledThing, LabelledView
from virl.platform.perception.base import Detection, TextLine
from virl.platform.perception.overlap import intersection_over_union
from virl.platform.perception.signs import SIGN, group_lines

FoundT = TypeVar("FoundT")

SAME = 0.3
"""Least intersection over union of a box that shows a thing. Chosen: a reader boxes the words, which are
about half of the board that the truth boxes."""

READ = 80.0
"""Of 100: least resemblance of the words read to those of the sign. Chosen, as for landmarks."""


@dataclass(slots=True)
class Tally:
    """How often a model was right."""

    right: int = 0
    """Things found, each once."""
    found: int = 0
    """All that was reported and counts."""
    there: int = 0
    """Things that should be found."""
    of_label: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each label, the things found and those there."""

    @property
    def precision(self) -> float | None:
        """Share of what was reported that is right; `None` where nothing was."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Share of what is there that was found; `None` where nothing is."""
        return self.right / self.there if self.there else None


def score_detections(
    views: Sequence[LabelledView], found: Sequence[Sequence[Detection]], least: float
) -> Tally:
    """Boxes with one of a thing's labels, from a score on.

    Each box is for the thing that it overlaps most. Each thing is found once; a second box of it is wrong.
    Boxes of things that are hardly seen, and signs that tell of no type, do not count.
    """
    tally = Tally()
    for view, detections in zip(views, found, strict=True):
        sure = [one for one in detections if one.score >= least and _plain(one.label) != SIGN]
        _tally(
            tally,
            view.things,
            sorted(sure, key=lambda one: -one.score),
            lambda one, thing: (
                intersection_over_union(one.box, thing.box)
                if _plain(one.label) in {_plain(label) for label in thing.labels}
                else 0.0
            ),
            SAME,
        )
    return tally


def score_lines(views: Sequence[LabelledView], read: Sequence[Sequence[TextLine]]) -> Tally:
    """Words of signs. Groups of lines stand for signs, as agents read them."""
    tally = Tally()
    for view, lines in zip(views, read, strict=True):
        words = [" ".join(line.text for line in sign) for sign in group_lines(lines)]
        signs = [thing for thing in view.things if thing.text]
        _tally(tally, signs, words, lambda said, thing: _resemblance(said, thing.text), READ)
    return tally


def score_ranks(views: Sequence[LabelledView], scores: NDArray[np.float32], labels: Sequence[str]) -> Tally:
    """The best label of each view that is aimed at a place."""
    tally = Tally()
    for view, row in zip(views, scores, strict=True):
        best = labels[int(row.argmax())]
        is_right = best in view.place_types
        tally.right, tally.found, tally.there = tally.right + is_right, tally.found + 1, tally.there + 1
        for label in view.place_types[:1]:
            right, there = tally.of_label.get(label, (0, 0))
            tally.of_label[label] = right + is_right, there + 1
    return tally


def _tally(
    tally: Tally,
    things: Sequence[LabelledThing],
    found: Sequence[FoundT],
    fit: Callable[[FoundT, LabelledThing], float],
    least: float,
) -> None:
    hit: set[int] = set()
    for one in found:
        fits = [fit(one, thing) for thing in things]
        best = max(range(len(fits)), key=fits.__getitem__, default=None)
        if best is None or fits[best] < least:
            tally.found += 1
        elif things[best].clear:
            tally.found += 1
            tally.right += best not in hit
            hit.add(best)
    for number, thing in enumerate(things):
        if thing.clear:
            tally.there += 1
            right, there = tally.of_label.get(thing.labels[0], (0, 0))
            tally.of_label[thing.labels[0]] = right + (number in hit), there + 1


def _resemblance(said: str, text: str) -> float:
    read, known = utils.default_process(said), utils.default_process(text)
    return fuzz.partial_ratio(read, known) if min(len(read), len(known)) >= 3 else 0.0


def _plain(label: str) -> str:
    return label.strip().lower().replace("_", " ")
