"""The contracts of perception: small protocols; implementations are named in `platform/models/*.yaml`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from virl.platform.city.streetview import Box, Image, View

Embeddings = NDArray[np.float32]
"""Embeddings as rows of length 1, shape (n, d)."""

Role = Literal["describer", "detector", "lexicon", "matcher", "reader", "recognizer"]
"""Roles of models; all but the lexicon, which detectors share, are protocols below."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text in a picture."""

    text: str
    score: float
    """Confidence of the reading, [0, 1]."""
    box: Box


@dataclass(frozen=True, slots=True)
class Detection:
    """A thing found in a view."""

    label: str
    """Label of the thing, such as a place type."""
    score: float
    """Confidence of the detection, [0, 1]."""
    box: Box
    """Box (left, top, right, bottom) in pixels of the view."""
    text: str = ""
    """Words read on the thing; empty where there are none."""


class Reader(Protocol):
    """A reader of text in pictures (OCR)."""

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in each picture, in pixels of that picture, top to bottom.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


@runtime_checkable
class BoxReader(Reader, Protocol):
    """A reader that can also look inside boxes alone, which takes less time."""

    def read_inside(self, images: Sequence[Image], boxes: Sequence[Sequence[Box]]) -> list[list[TextLine]]:
        """Return the lines of text inside some boxes of each picture, in its pixels, top to bottom.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


@dataclass(frozen=True, slots=True)
class LookScores:
    """The least scores, [0, 1], at which a detector's finds count; each detector has its own scale."""

    first: float
    """Least score at the first look, from which a closer look is worth while."""
    second: float
    """Least score at the closer look that confirms a find."""
    by_label: Mapping[str, "LookScores"] = field(default_factory=dict)
    """Least scores of single labels, as `plain_label` spells these."""

    def of(self, label: str) -> "LookScores":
        """Return the least scores for a label."""
        return self.by_label.get(plain_label(label), self)


def plain_label(label: str) -> str:
    """Return a label in lower case, with single spaces for underscores and other spaces."""
    return " ".join(label.replace("_", " ").lower().split())


class Detector(Protocol):
    """A finder of things with given labels in views."""

    @property
    def look_scores(self) -> LookScores:
        """Least scores of the detector's finds, from its model file."""
        ...

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the things with one of `labels` in each view, best first.

        Empty `labels` looks for all it knows.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


class Recognizer(Protocol):
    """A measure of how well words fit pictures, such as CLIP."""

    @property
    def name(self) -> str:
        """Name under which the embeddings are stored, different for models with other embeddings."""
        ...

    def embed_images(self, images: Sequence[Image]) -> Embeddings:
        """Return one vector of length 1 a picture, shape (n, d).

        Raises:
            ModelUnavailable: the model or its weights are missing.
            BadInput: a picture is none.
        """
        ...

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return one vector of length 1 a text, shape (n, d).

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...

    def recognize(self, images: Sequence[Image], labels: Sequence[str]) -> NDArray[np.float32]:
        """Return how well each label fits each picture, shape (n, m), in [0, 1].

        Over labels they sum to 1 for models trained with a softmax, not for those trained with a sigmoid.

        Raises:
            ModelUnavailable: the model or its weights are missing.
            BadInput: there are no labels, or a picture is none.
        """
        ...


@dataclass(frozen=True, slots=True)
class Match:
    """Points in two pictures that show the same, paired."""

    first: NDArray[np.float32]
    """Pixels (x, y) in the first picture, shape (n, 2)."""
    second: NDArray[np.float32]
    """Pixels (x, y) in the second picture, shape (n, 2), in the same order."""

    @property
    def count(self) -> int:
        """Number of pairs of points."""
        return len(self.first)


class Matcher(Protocol):
    """A finder of points that two pictures have in common."""

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        """Return the points in common of each pair of pictures.

        Raises:
            ModelUnavailable: the model or its weights are missing.
            BadInput: a picture is none.
        """
        ...


Amount = Literal["many", "some", "no"]
"""Rough numbers of things, in words."""


@dataclass(frozen=True, slots=True)
class SceneDescription:
    """A description of a view in words, with some of it as data."""

    text: str
    signs: tuple[str, ...] = ()
    """Words on the signs that the text names, in its order."""
    shopfronts: Amount | None = None
    """Rough number of shopfronts in the view; `None` where not judged."""


class Describer(Protocol):
    """A model that describes in words what a view shows."""

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        """Return a description of each view; `question` says what the description is for.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


@runtime_checkable
class SceneDescriber(Describer, Protocol):
    """A describer that also returns the signs and shopfronts of its text as data."""

    def describe_scenes(self, views: Sequence[View], question: str = "") -> list[SceneDescription]:
        """Return a description of each view, in the words of `describe` and as data.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


def describe_scenes(describer: Describer, views: Sequence[View], question: str) -> list[SceneDescription]:
    """Return a description of each view, with data where the describer has any.

    Args:
        describer: of views.
        views: any number.
        question: to answer of each; may be empty.
    """
    if isinstance(describer, SceneDescriber):
        return describer.describe_scenes(views, question)
    return [SceneDescription(text) for text in describer.describe(views, question)]


@dataclass(frozen=True, slots=True)
class Senses:
    """The perception models that an agent carries."""

    detector: Detector
    describer: Describer
    place_types: tuple[str, ...]
    """Place types that the detector can tell apart, sorted."""
