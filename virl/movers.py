"""Movers, which say what links leave a pose, and take them."""

from virl.platform.city.city import MoverChoice
from virl.platform.city.streetview import Link, Panorama, StreetView
from virl.platform.movers.base import Mover
from virl.platform.movers.open_mover import MOVERS, fit_mover, open_mover

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
