"""The contracts of perception: small protocols; implementations are named in `platform/models/*.yaml`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from virl.platform.streetview import Box, Image, View


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text in a picture."""

    text: str
    score: float
    """Confidence, [0, 1]."""
    box: Box


@dataclass(frozen=True, slots=True)
class Detection:
    """A thing found in a view."""

    label: str
    """What it is, such as a place type."""
    score: float
    """Confidence, [0, 1]."""
    box: Box
    text: str = ""
    """The words read on it, where there are any."""


class Reader(Protocol):
    """Reads text (OCR)."""

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """The lines of text in each picture, in pixels of that picture, top to bottom.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


class Detector(Protocol):
    """Finds things in views."""

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """The things with one of `labels` in each view, best first; empty `labels` looks for all it knows.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


class Describer(Protocol):
    """Puts what a view shows into words."""

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        """A description of each view; `question` says what it is wanted for.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


@dataclass(frozen=True, slots=True)
class Senses:
    """The perception models that an agent carries."""

    detector: Detector
    describer: Describer
    place_types: tuple[str, ...]
    """The place types that the detector can tell apart, sorted."""
