"""Parts of panoramas: pictures that show less than a full turn of the whole that they were cut from."""

from virl.platform.city.streetview import Attitude, Camera
from virl.platform.providers.pictures.flat import check_shown
from virl.platform.providers.pictures.picture import FULL_TURN, Picture
from virl.platform.providers.pictures.projection import sample_points

_GRID = 3600, 1800
"""Columns and rows of points at which a panorama is looked up to be shown or not (chosen)."""


def whole_attitude(held: Picture, left: float | None) -> Attitude:
    """Return the attitude of the whole panorama that a picture is, or is cut from.

    Args:
        held: the picture.
        left: share of the whole width that is cut off to the left of it; `None` for a whole panorama.
    """
    turn = 0.0 if left is None else (left - 0.5) * FULL_TURN + held.fov / 2
    return Attitude((held.attitude.heading - turn) % FULL_TURN, held.attitude.pitch, held.attitude.roll)


def check_part(held: Picture, left: float, camera: Camera) -> None:
    """Check that a part of a panorama shows enough of a view.

    Args:
        held: the picture, with its attitude.
        left: share of the panorama where the part begins, [0, 1).
        camera: of the view.

    Raises:
        NoImagery: it shows less than half of it.
    """
    across, _ = sample_points(whole_attitude(held, left), camera, *_GRID)
    shown = (across / _GRID[0] - left) % 1 <= held.fov / FULL_TURN
    check_shown(shown, held.fov, held.attitude.heading, camera)
