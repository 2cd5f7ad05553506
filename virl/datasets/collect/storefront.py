"""Whether a photo of a place shows its storefront."""

from typing import Protocol

from virl.platform.perception.base import Recognizer
from virl.platform.streetview import Image

LABELS = ("storefront", "indoor", "others")
STOREFRONT_SCORE = 0.92  # V-IRL's code


class Storefront(Protocol):
    """A judge of photos."""

    def score(self, photo: Image) -> float:
        """Return the likeness of a photo to a storefront, [0, 1]."""
        ...


class RecognizedStorefront:
    """A judge by a recognizer such as CLIP, over the labels of V-IRL's code."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer

    def score(self, photo: Image) -> float:
        """Return the likeness of a photo to a storefront rather than to the other labels, [0, 1]."""
        scores = self._recognizer.recognize([photo], LABELS)[0]
        return float(scores[0])
