"""Draws the pictures of uploads: as the camera that took them saw the town."""

from dataclasses import dataclass

import cv2
import numpy as np

from servers.uploads.uploads import FLAT_FOV, Upload
from virl.errors import BadInput
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, Image
from virl.serve.google.pictures import Cache
from virl.serve.google.streetview import PanoramaParts, tilted_part

FLAT_SIZE = 1280, 960
KEPT = 64  # pictures in memory; chosen


@dataclass(frozen=True)
class Painting:
    """Draws panoramas and flat pictures.

    Args:
        city: what they show.
        width: pixels of a panorama.

    Raises:
        BadInput: the city has no whole panoramas.
    """

    city: City
    width: int
    _cache: Cache[Image]

    @classmethod
    def of(cls, city: City, width: int) -> "Painting":
        """Return the painting of a city that has whole panoramas."""
        if not isinstance(city.streetview, PanoramaParts):
            raise BadInput(f"{city.name} has no whole panoramas: serve a made town or a twin")
        return cls(city, width, Cache(KEPT))

    def whole(self, upload: Upload, width: int) -> Image:
        """A picture so many pixels wide."""
        if upload.flat:
            return resized(self._cache.get((upload.key, 0), lambda: self._flat(upload)), width)
        size = width, width // 2
        return self._cache.get((upload.key, width), lambda: self.part(upload, width, 0, 0, size))

    def part(self, upload: Upload, width: int, left: int, top: int, size: tuple[int, int]) -> Image:
        """Part of a panorama so many pixels wide; its middle column faces what the camera faced."""
        parts = self.city.streetview
        assert isinstance(parts, PanoramaParts)  # `of` has seen to it

        def level(left: int, top: int, size: tuple[int, int]) -> Image:
            return parts.panorama_part(upload.pano_id, width, left, top, size)

        if upload.held.is_level:
            return level((round(upload.held.heading / 360 * width) + left) % width, top, size)
        return tilted_part(level, upload.held, width, left, top, size)

    def _flat(self, upload: Upload) -> Image:
        """Level, whatever the tilt of the drive."""
        camera = Camera(upload.held.heading, 0.0, FLAT_FOV, *FLAT_SIZE)
        return self.city.streetview.view(upload.pano_id, camera).pixels


def resized(image: Image, width: int) -> Image:
    """A picture so many pixels wide, its proportions kept; never enlarged."""
    if image.shape[1] <= width:
        return image
    size = width, round(image.shape[0] * width / image.shape[1])
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
