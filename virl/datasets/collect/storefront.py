"""Whether a photo of a place shows its storefront."""

from typing import Protocol

from virl.platform.city.streetview import Image
from virl.platform.perception.base import Recognizer

LABELS = ("storefront", "indoor", "others")
"""Labels between which a photo is judged."""
STOREFRONT_SCORE = 0.92  # V-IRL's code
"""Least score of a photo that shows a storefront, [0, 1]."""


class Storefront(Protocol):
    """A judge of whether photos show storefronts."""

    def score(self, photo: Image) -> float:
        """Return how much a photo looks like a storefront, [0, 1]."""
        ...


class RecognizedStorefront:
    """A judge by a recognizer such as CLIP, over the labels of V-IRL's code."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer

    def score(self, photo: Image) -> float:
        """Return how much a photo looks like a storefront rather than the other labels, [0, 1]."""
        scores = self._recognizer.recognize([photo], LABELS)[0]
        return float(scores[0])
