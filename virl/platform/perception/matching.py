"""From a box in a view to the place that it shows."""

from collections.abc import Sequence

from rapidfuzz import fuzz, utils

from virl.geo.globe import LatLng, bearing, distance, in_sector, signed_turn
from virl.platform.city.names import is_numbered_otherwise, name_ratio, score_names, spelt
from virl.platform.city.places import Place
from virl.platform.city.streetview import Box, Camera

RADIUS_M = 20.0  # V-IRL's value for Hiro
"""Largest distance in metres from the camera to a place that can be matched."""
SLACK_DEG = 5.0  # V-IRL's value for Hiro
"""Angle in degrees by which a place may lie beside its box."""
RESEMBLES = 80.0  # chosen: of 100; lets one letter in five be misread
SAME_NAME = 85.0  # chosen: of 100; for names that are looked up with no regard to where the sign hangs
MIN_LETTERS = 4  # chosen: fewer letters are found by chance in many a name


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
    """Return the place that a box shows: the nearest one in the box's direction; `None` without one.

    A place is a candidate if it lies within the radius and within the headings of the box's left and right
    edges, through the exact pinhole. The nearest candidate wins, as it would hide the others. One exception:
    if `text` was read in the box and clearly resembles the name of a candidate, that one wins. A name is
    never looked for among places that are no candidates. A place whose name differs from it in a number only
    is none: "Platform 3" was not read in front of "Platform 13".

    Args:
        camera: the camera of the picture that the box lies in.
        box: pixels.
        position: where the camera stands.
        places: those to choose from, in any order.
        radius: metres.
        slack: degrees added on either side of the box, [0, 180].
        text: the words read in the box, if any.

    Returns:
        The place, or `None` if there is no candidate.
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
    """Return the place whose whole name is most like a text; `None` if no name, or more than one, is.

    `None` if no name, or more names, are as like it.
    """
    read = text.replace(" / ", " ")
    likeness = {place.id: name_ratio(read, place.name) for place in places}
    best = max(likeness.values(), default=0.0)
    named = [place for place in places if likeness[place.id] == best]
    return named[0] if len(named) == 1 and best >= SAME_NAME else None


def resemblance(text: str, name: str) -> float:
    """Return how well the shorter of a text and a name is found in the longer one, 0 to 100.

    However they are written (`virl.platform.city.names`); 0 if they differ in a number.
    """
    read, known = utils.default_process(text), utils.default_process(name)
    if min(len(read), len(known)) < MIN_LETTERS:
        return 100.0 if read and spelt(text) == spelt(name) else 0.0
    return score_names(fuzz.partial_ratio, text, name)


def is_toward(camera: Camera, position: LatLng, place: LatLng, slack: float = SLACK_DEG) -> bool:
    """Return whether a place lies in a view's field of view, give or take `slack` degrees.

    Args:
        camera: of the view.
        position: where it stands.
        place: where the place is.
        slack: as `match_place`.
    """
    return _lies_toward(place, position, camera.sector((0.0, 0.0, camera.width, camera.height)), slack)


def _lies_toward(place: LatLng, position: LatLng, sector: tuple[float, float], slack: float) -> bool:
    """Return whether a place lies in a sector of headings, give or take `slack` degrees."""
    left, right = sector
    if abs(signed_turn(left, right)) + 2 * slack >= 360:
        return True
    return in_sector(bearing(position, place), left - slack, right + slack)
