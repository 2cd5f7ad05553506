"""The metrics of place localization and recognition: recall a type, and accuracy over types."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

TYPES_20 = (
    "bank",
    "restaurant",
    "supermarket",
    "bakery",
    "cafe",
    "pharmacy",
    "hospital",
    "spa",
    "convenience_store",
    "school",
    "library",
    "park",
    "lodging",
    "laundry",
    "movie_theater",
    "book_store",
    "clothing_store",
    "jewelry_store",
    "gym",
    "bar",
)
"""The types of V-IRL place localization (section 5.1), in the order of its settings."""

TYPES_10 = TYPES_20[:10]
"""Those of AR10 here: the first ten. The paper shows its ten as icons only, so its AR10 is another mean."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A place that was to be localized."""

    types: frozenset[str]
    """Which of the types asked for it is; not empty."""
    labels: frozenset[str]
    """Labels of the boxes that were matched to it; empty if none was."""

    @property
    def matched(self) -> bool:
        """Whether any box hit it."""
        return bool(self.labels)

    @property
    def detected(self) -> bool:
        """Whether a box hit it with one of its types."""
        return bool(self.labels & self.types)


def recall_by_type(places: Sequence[Sought]) -> dict[str, float]:
    """Share of the places of each type that were localized as that type; types without places are left out.

    A place of several types counts once for each (V-IRL, section 5.1: TP / (TP + FN)).
    """
    total = Counter(kind for place in places for kind in place.types)
    found = Counter(kind for place in places for kind in place.types & place.labels)
    return {kind: found[kind] / count for kind, count in sorted(total.items())}


def average_recall(recalls: Mapping[str, float], types: Collection[str] = TYPES_20) -> float | None:
    """Mean recall over those of `types` that have places; `None` if none has."""
    present = [recalls[kind] for kind in types if kind in recalls]
    return sum(present) / len(present) if present else None


def matched_recall(places: Sequence[Sought]) -> float:
    """Share of places that any box hit, whatever its label.

    Raises:
        ValueError: there are no places.
    """
    if not places:
        raise ValueError("no places to localize")
    return sum(place.matched for place in places) / len(places)


def labelling_accuracy(places: Sequence[Sought]) -> float | None:
    """Share of the places hit that were hit with one of their types; `None` if none was hit."""
    hit = [place for place in places if place.matched]
    return sum(place.detected for place in hit) / len(hit) if hit else None


@dataclass(frozen=True, slots=True)
class Judged:
    """An image or a question about a place, answered."""

    types: frozenset[str]
    """Of the place; not empty."""
    correct: bool


def accuracy_by_type(answers: Sequence[Judged]) -> dict[str, float]:
    """Accuracy of each type, where an answer for a place of k types weighs 1/k for each of them.

    V-IRL, sections 5.2 and 5.3: acc(c) = sum of correct/k over sum of 1/k.
    """
    weight: defaultdict[str, float] = defaultdict(float)
    right: defaultdict[str, float] = defaultdict(float)
    for answer in answers:
        share = 1 / len(answer.types)
        for kind in answer.types:
            weight[kind] += share
            right[kind] += share * answer.correct
    return {kind: right[kind] / weight[kind] for kind in sorted(weight)}


def mean_accuracy(answers: Sequence[Judged]) -> float:
    """mAcc: the mean over types of `accuracy_by_type`.

    Raises:
        ValueError: there are no answers.
    """
    accuracies = accuracy_by_type(answers)
    if not accuracies:
        raise ValueError("no answers to judge")
    return sum(accuracies.values()) / len(accuracies)


def recognized(types: frozenset[str], ranked: Sequence[str], k: int) -> Judged:
    """Whether one of the first `k` labels, likeliest first, is one of a place's types."""
    return Judged(types, bool(types & set(ranked[:k])))
