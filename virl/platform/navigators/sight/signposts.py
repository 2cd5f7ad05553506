"""Signposts: words on a sign that name a place and how far it is, so that it does not stand here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from virl.platform.city.streetview import Camera
from virl.platform.navigators.tourist.signs import Sign, signs_of
from virl.platform.perception.base import TextLine

# A reader takes an "m" for an "n" or "rn" at times.
_DISTANCE = re.compile(r"(?<!\d)(?P<far>\d{1,4})\s?(?P<unit>km|m|rn|n)\W*\Z", re.IGNORECASE)
_KM_M = 1000


@dataclass(frozen=True, slots=True)
class Pointer:
    """A line of a signpost: the name of a place and the metres to it."""

    name: str
    metres: int
    """Metres to the place, as the signpost says."""


def pointer_in(text: str) -> Pointer | None:
    """Return the pointer in a line such as `Museum of Tides 300 m`; `None` without a name or distance."""
    found = _DISTANCE.search(text)
    name = text[: found.start()].strip(" -\u2013:,.") if found else ""
    if found is None or not name:
        return None
    scale = _KM_M if found["unit"].casefold() == "km" else 1
    return Pointer(name, int(found["far"]) * scale)


def signs_and_pointers(camera: Camera, lines: Sequence[TextLine]) -> Iterator[Sign]:
    """Yield the signs of a view, as `signs_of`; first the lines that point somewhere, each as one sign."""
    pointers = [line for line in lines if pointer_in(line.text)]
    for line in pointers:
        yield from signs_of(camera, [line])
    yield from signs_of(camera, [line for line in lines if line not in pointers])
