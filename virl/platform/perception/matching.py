"""From a box in a view to the place that it shows."""

from collections.abc import Sequence

from rapidfuzz import fuzz, utils

from virl.geo.globe import LatLng, bearing, distance, in_sector, signed_turn
from virl.platform.city.names import is_numbered_otherwise, name_ratio, score_names, spelt
from virl.platform.city.places import Place
from virl.platform.city.streetview import Box, Camera

RADIUS_M = 20.0
"""Largest distance in metres from the camera to a place that can be matched (V-IRL's value for Hiro)."""
SLACK_DEG = 5.0
"""Degrees by which a place's direction may lie beside its box (V-IRL's value for Hiro)."""
RESEMBLES = 80.0
"""Likeness, 0 to 100, from which words in a box name a place there; chosen: one letter in five misread."""
SAME_NAME = 85.0
"""Likeness, 0 to 100, of a text to a place's whole name from which `look_up` takes it for that; chosen."""
MIN_LETTERS = 4
"""Least number of letters of a text and a name for one to be sought within the other; chosen."""


def match_place(
    camera: Camera,
    box: Box,
    position: LatLng,
    places: Sequence[Place],
    *,
    radius: float = RADIUS_M,
    slack: float = SLACK_DEG,
    text: str = "",
) -> Place | None:
    """Return the place in a box's direction that `text`, read in the box, names, else the nearest; or `None`.

    A place is a candidate if it lies within the radius and within the headings of the box's left and right
    edges, through the exact pinhole. The nearest candidate wins, as it would hide the others. One exception:
    if `text` was read in the box and clearly resembles the name of a candidate, that one wins. A place whose
    name differs from it in a number only is none: "Platform 3" was not read in front of "Platform 13".

    Args:
        camera: the camera of the picture with the box.
        box: left, top, right, bottom in pixels.
        position: of the camera.
        places: those to choose from, in any order.
        radius: largest distance from the camera to a candidate, metres.
        slack: degrees added on either side of the box, [0, 180].
        text: the words read in the box, if any.
    """
    candidates = [
        place
        for place in places
        if distance(position, place.position) <= radius
        and _lies_toward(place.position, position, camera.sector(box), slack)
        and not is_numbered_otherwise(text, place.name)
    ]
    if not candidates:
        return None
    nearest_first = sorted(candidates, key=lambda place: (distance(position, place.position), place.id))
    named = max(nearest_first, key=lambda place: resemblance(text, place.name))
    return named if resemblance(text, named.name) >= RESEMBLES else nearest_first[0]


def look_up(text: str, places: Sequence[Place]) -> Place | None:
    """Return the place whose whole name is most like a text; `None` if none is, or several are equally."""
    read = text.replace(" / ", " ")
    likeness = {place.id: name_ratio(read, place.name) for place in places}
    best = max(likeness.values(), default=0.0)
    named = [place for place in places if likeness[place.id] == best]
    return named[0] if len(named) == 1 and best >= SAME_NAME else None


def resemblance(text: str, name: str) -> float:
    """Return how well the shorter of text and name is found in the longer, [0, 100]; 0 if numbers differ."""
    read, known = utils.default_process(text), utils.default_process(name)
    if min(len(read), len(known)) < MIN_LETTERS:
        return 100.0 if read and spelt(text) == spelt(name) else 0.0
    return score_names(fuzz.partial_ratio, text, name)


def is_toward(camera: Camera, position: LatLng, place: LatLng, slack: float = SLACK_DEG) -> bool:
    """Return whether a place lies in a camera's field of view, or at most `slack` degrees beside it.

    Args:
        camera: of the view.
        position: of the camera.
        place: position of the place.
        slack: degrees added on either side, [0, 180].
    """
    return _lies_toward(place, position, camera.sector((0.0, 0.0, camera.width, camera.height)), slack)


def _lies_toward(place: LatLng, position: LatLng, sector: tuple[float, float], slack: float) -> bool:
    """Return whether a place seen from `position` lies in a sector, widened by `slack` degrees each side."""
    left, right = sector
    if abs(signed_turn(left, right)) + 2 * slack >= 360:
        return True
    return in_sector(bearing(position, place), left - slack, right + slack)
