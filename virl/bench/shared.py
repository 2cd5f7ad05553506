"""Models that are somewhere else: behind a batcher of this process, or on another machine.

Each has the protocol of its role (`virl.platform.perception.base`) and puts every question to one function,
`Asked`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import (
    Detection,
    Embeddings,
    LookScores,
    Match,
    SceneDescription,
    TextLine,
    describe_scenes,
)

Question = tuple[Any, ...]
"""Name of a method, then its arguments after the first."""

Asked = Callable[[Question, Sequence[Any]], Sequence[Any]]
"""A function that puts a question about some items; one result an item."""

_SCENES = "describe_scenes"


@dataclass(frozen=True, slots=True)
class SharedDetector:
    """A detector."""

    ask: Asked
    look_scores: LookScores
    """The meaning of the scores, as `Detector.look_scores`."""

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the detections of the labels in each view."""
        return list(self.ask(("detect", tuple(labels)), views))


@dataclass(frozen=True, slots=True)
class SharedReader:
    """A reader."""

    ask: Asked

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in each image."""
        return list(self.ask(("read",), images))


@dataclass(frozen=True, slots=True)
class SharedMatcher:
    """A matcher."""

    ask: Asked

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        """Return the match of each pair of images."""
        return list(self.ask(("match",), pairs))


@dataclass(frozen=True, slots=True)
class SharedDescriber:
    """A describer."""

    ask: Asked

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        """Return a description of each view, or an answer to the question about it."""
        return list(self.ask(("describe", question), views))

    def describe_scenes(self, views: Sequence[View], question: str = "") -> list[SceneDescription]:
        """Return a description of each view's scene."""
        return list(self.ask((_SCENES, question), views))


@dataclass(frozen=True, slots=True)
class SharedRecognizer:
    """A recognizer."""

    ask: Asked
    name: str
    """Name of the recognizer's embeddings."""

    def embed_images(self, images: Sequence[Image]) -> Embeddings:
        """Return the embeddings of the images."""
        return _stack_rows(self.ask(("embed_images",), images))

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return the embeddings of the texts."""
        return _stack_rows(self.ask(("embed_texts",), texts))

    def recognize(self, images: Sequence[Image], labels: Sequence[str]) -> NDArray[np.float32]:
        """Return the scores of the labels for each image."""
        return _stack_rows(self.ask(("recognize", tuple(labels)), images))


def question_to(model: Any) -> Callable[[Question, Sequence[Any]], Sequence[Any]]:
    """Return a function that puts questions to a model of this process."""

    def ask(question: Question, items: Sequence[Any]) -> Sequence[Any]:
        """Return the model's results for items; the question is a method and its further arguments."""
        method, *arguments = question
        if method == _SCENES:  # not every describer has this method
            return describe_scenes(model, items, *arguments)
        results: Sequence[Any] = getattr(model, method)(items, *arguments)
        return results

    return ask


def _stack_rows(rows: Sequence[Any]) -> NDArray[np.float32]:
    """Return the rows as an array of float32, shape (rows, values); (0, 0) without rows."""
    return np.stack(rows) if len(rows) else np.zeros((0, 0), np.float32)
