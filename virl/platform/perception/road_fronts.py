"""The fronts of shops down a road, seen from afar by their boards."""

from dataclasses import dataclass

from virl.geo import LatLng, destination
from virl.platform.perception.base import Detector
from virl.platform.perception.signs import SIGN
from virl.platform.streetview import Camera, View

BOARD_M = 0.95
"""Height of a board over a shop: the distance by it is within 15 % of the true one for half of the boards
in Helsinki, Triesen and Mauren."""
REACH_M = 200.0  # chosen: farther boards are a few pixels high
FAR_FOV = 22.5  # chosen: at 600 pixels a board in 200 m is 7 pixels high
_WIDTH, _HEIGHT = 600, 250
"""Pixels of a view far down a road; chosen: the most that Google sells as a cheap thumbnail."""


@dataclass(frozen=True, slots=True)
class SeenFront:
    """A front seen down a road."""

    position: LatLng
    """Position by its direction and the height of its board."""
    metres: float
    """Distance from the camera."""


def far_camera(heading: float) -> Camera:
    """Return the camera that shows the far fronts of a road."""
    return Camera(heading, fov=FAR_FOV, width=_WIDTH, height=_HEIGHT)


def fronts_in(view: View, here: LatLng, finder: Detector) -> tuple[SeenFront, ...]:
    """Return the fronts that a view shows within `REACH_M`, by its pixels alone.

    Args:
        view: down a road.
        here: where its camera stands.
        finder: finds boards and calls them signs, such as `front-finder`.

    Raises:
        ModelUnavailable: the finder's model is missing.
    """
    fronts = []
    for board in finder.detect([view], [SIGN])[0]:
        left, top, right, bottom = board.box
        metres = BOARD_M * view.camera.focal / max(bottom - top, 1.0)
        if metres <= REACH_M:
            heading, _ = view.camera.direction((left + right) / 2, (top + bottom) / 2)
            fronts.append(SeenFront(destination(here, heading, metres), metres))
    return tuple(fronts)
