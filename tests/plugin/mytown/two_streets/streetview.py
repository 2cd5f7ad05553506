"""Street view of a city: panoramas from a graph, and views that are drawn on demand."""

from collections.abc import Sequence
from math import radians, tan

import numpy as np

from virl.geo.globe import LatLng, bearing, distance, signed_turn
from virl.platform.city.graph import NavigationGraph, panorama_at, panorama_near
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, Image, Panorama, View

SKY, GROUND, SIGN = (190, 215, 240), (150, 150, 145), (200, 40, 40)
SIGN_WIDTH_M, SIGN_LOW_M, SIGN_HIGH_M = 3.0, 1.0, 2.0
"""Width of a sign, and its edges above the camera."""
SEEN_FROM_M = 25.0


class DrawnStreets:
    """A provider of street view; see `virl.platform.city.streetview.StreetView`."""

    def __init__(self, graph: NavigationGraph, shops: Sequence[Place]) -> None:
        self._graph = graph
        self._shops = shops

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """The panorama nearest to a position, or `None` if there is none within `radius` metres."""
        return panorama_near(self._graph, position, radius)

    def panorama(self, pano_id: str) -> Panorama:
        """The panorama with this id; raises `NoStreetView` if there is none."""
        return panorama_at(self._graph, self._graph.number(pano_id))

    def view(self, pano_id: str, camera: Camera) -> View:
        """Sky, ground and the signs of the shops around."""
        here = self.panorama(pano_id).position
        pixels = np.full((camera.height, camera.width, 3), SKY, np.uint8)
        # Upright things stay upright in these drawings, whatever the pitch.
        horizon = round(camera.height / 2 + camera.focal * tan(radians(np.clip(camera.pitch, -80, 80))))
        pixels[max(0, horizon) :] = GROUND
        for shop in self._shops:
            metres = distance(here, shop.position)
            turn = signed_turn(camera.heading, bearing(here, shop.position))
            if 0 < metres <= SEEN_FROM_M and abs(turn) < 75:
                _draw_sign(pixels, camera, horizon, turn, metres)
        return View(pano_id, camera, pixels)


def _draw_sign(pixels: Image, camera: Camera, horizon: int, turn: float, metres: float) -> None:
    scale = camera.focal / metres  # pixels in a metre
    middle = camera.width / 2 + camera.focal * tan(radians(turn))
    left, right = middle - SIGN_WIDTH_M / 2 * scale, middle + SIGN_WIDTH_M / 2 * scale
    top, bottom = horizon - SIGN_HIGH_M * scale, horizon - SIGN_LOW_M * scale
    rows = slice(max(0, round(top)), max(0, round(bottom)))
    pixels[rows, max(0, round(left)) : max(0, round(right))] = SIGN
