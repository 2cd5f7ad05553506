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
"""Role of a perception model; a `lexicon` tells place types by the words on signs."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text that was read in a picture."""

    text: str
    """The characters of the line, as read."""
    score: float
    """Confidence of the reading, [0, 1]."""
    box: Box
    """Box (left, top, right, bottom) around the line in pixels of the picture."""


@dataclass(frozen=True, slots=True)
class Detection:
    """An object that a detector found in a view."""

    label: str
    """Label of the object, such as a place type; one of those that were asked for."""
    score: float
    """Confidence of the detection, [0, 1]."""
    box: Box
    """Box (left, top, right, bottom) in pixels of the view."""
    text: str = ""
    """Words read on the object; empty where none were read."""


class Reader(Protocol):
    """A reader of text in pictures (OCR)."""

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in each picture, with boxes in its pixels, from top to bottom.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


@runtime_checkable
class BoxReader(Reader, Protocol):
    """A reader that can also read inside given boxes alone, which takes less time."""

    def read_inside(self, images: Sequence[Image], boxes: Sequence[Sequence[Box]]) -> list[list[TextLine]]:
        """Return the lines of text inside some boxes, in pixels, of each picture, from top to bottom.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


@dataclass(frozen=True, slots=True)
class LookScores:
    """The least scores, [0, 1], at which a detector's detections count; each detector has its own scale."""

    first: float
    """Least score at the first look, from which a closer look is worth while."""
    second: float
    """Least score at the closer look that confirms a detection."""
    by_label: Mapping[str, "LookScores"] = field(default_factory=dict)
    """Least scores of single labels, as `plain_label` spells these."""

    def of(self, label: str) -> "LookScores":
        """Return the least scores for a label: its own, or else those of the detector."""
        return self.by_label.get(plain_label(label), self)


def plain_label(label: str) -> str:
    """Return a label in lower case, with one space for each underscore or run of spaces."""
    return " ".join(label.replace("_", " ").lower().split())


class Detector(Protocol):
    """A finder of objects with given labels in views."""

    @property
    def look_scores(self) -> LookScores:
        """Least scores at which the detector's detections count, from its model file."""
        ...

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the objects with one of `labels`, or any known label if empty, in each view, best first.

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
        """Return a vector of length 1 for each of n pictures, shape (n, d).

        Raises:
            ModelUnavailable: the model or its weights are missing.
            BadInput: an array is no picture.
        """
        ...

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return a vector of length 1 for each of n texts, shape (n, d).

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...

    def recognize(self, images: Sequence[Image], labels: Sequence[str]) -> NDArray[np.float32]:
        """Return how well each of m labels fits each of n pictures, [0, 1], shape (n, m).

        A row sums to 1 for models trained with a softmax, not for those trained with a sigmoid.

        Raises:
            ModelUnavailable: the model or its weights are missing.
            BadInput: there are no labels, or an array is no picture.
        """
        ...


@dataclass(frozen=True, slots=True)
class Match:
    """Pairs of points, one in each of two pictures, that show the same."""

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
        """Return the points that the two pictures of each pair have in common, in the order of `pairs`.

        Raises:
            ModelUnavailable: the model or its weights are missing.
            BadInput: an array is no picture.
        """
        ...


Amount = Literal["many", "some", "no"]
"""Rough number of shopfronts in a view, in a word."""


@dataclass(frozen=True, slots=True)
class SceneDescription:
    """A description of a view in words, with some of it as data."""

    text: str
    """The description in words."""
    signs: tuple[str, ...] = ()
    """Words on each of the signs that `text` names, in the order of the text."""
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
        """Return a description of each view, as `describe` words it, with its signs and shopfronts as data.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


def describe_scenes(describer: Describer, views: Sequence[View], question: str) -> list[SceneDescription]:
    """Return a description of each view, with signs and shopfronts where the describer gives them.

    Args:
        describer: the model that describes the views.
        views: any number of them.
        question: what the descriptions are for; may be empty.
    """
    if isinstance(describer, SceneDescriber):
        return describer.describe_scenes(views, question)
    return [SceneDescription(text) for text in describer.describe(views, question)]


@dataclass(frozen=True, slots=True)
class Senses:
    """The perception models that an agent carries."""

    detector: Detector
    """Finder of objects in views."""
    describer: Describer
    """Model that describes views in words."""
    place_types: tuple[str, ...]
    """Place types that the detector can tell apart, sorted."""
