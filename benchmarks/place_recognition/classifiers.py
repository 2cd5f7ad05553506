"""Models that rank place types for a photo: recognizers, and detectors by their best box."""

from collections.abc import Callable, Sequence

from virl.bench.model_roles import is_model
from virl.bench.pictures import photo_view
from virl.bench.resources import Resources
from virl.errors import UnknownName
from virl.platform.perception.models import model_names
from virl.platform.streetview import Image

Classifier = Callable[[Image, Sequence[str]], list[str]]
"""Ranks labels for an image, the likeliest first; those that it finds no sign of are left out."""


def open_classifier(name: str, resources: Resources) -> Classifier:
    """A model in `platform/models` that can rank labels: a recognizer or a detector.

    Raises:
        UnknownName: there is no such model.
        ModelUnavailable: it cannot be loaded.
    """
    if is_model("detector", name):
        return _by_boxes(name, resources)
    if is_model("recognizer", name):
        return _by_likeness(name, resources)
    known = [*model_names("recognizer"), *model_names("detector")]
    raise UnknownName("recognizer or detector", name, known)


def _by_likeness(name: str, resources: Resources) -> Classifier:
    recognizer = resources.recognizer(name)

    def rank(image: Image, labels: Sequence[str]) -> list[str]:
        words = [label.replace("_", " ") for label in labels]  # V-IRL: the bare name of the type
        scores = recognizer.recognize([image], words)[0]
        return [labels[number] for number in (-scores).argsort(kind="stable").tolist()]

    return rank


def _by_boxes(name: str, resources: Resources) -> Classifier:
    detector = resources.detector(name)

    def rank(image: Image, labels: Sequence[str]) -> list[str]:
        found = sorted(detector.detect([photo_view(image)], labels)[0], key=lambda one: -one.score)
        return list(dict.fromkeys(one.label for one in found))

    return rank
