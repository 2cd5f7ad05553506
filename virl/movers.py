"""Movers, which say what links leave a pose, and take them."""

from virl.platform.movement.base import Mover
from virl.platform.movement.open_mover import MOVERS, fit_mover, open_mover
from virl.platform.mover_choice import MoverChoice
from virl.platform.streetview import Link, Panorama, StreetView

__all__ = [
    "MOVERS",
    "Link",
    "Mover",
    "MoverChoice",
    "Panorama",
    "StreetView",
    "fit_mover",
    "open_mover",
]
