"""Whole panoramas of pictures that lack sky or ground."""

import numpy as np

from virl.platform.streetview import Image


def whole_panorama(pixels: Image, sky: float | None = None) -> Image:
    """A panorama twice as wide as high, of a picture of another height: what it lacks is black.

    Args:
        pixels: RGB, a full turn wide.
        sky: share of the whole height that is cut off above it; by default half of what lacks.
    """
    height, width = pixels.shape[:2]
    width -= width % 2
    if height * 2 == width:
        return pixels[:, :width]
    whole = np.zeros((width // 2, width, 3), np.uint8)
    top = (width // 2 - height) // 2 if sky is None else round(sky * width / 2)
    first, last = max(top, 0), min(top + height, width // 2)
    whole[first:last] = pixels[first - top : last - top, :width]
    return whole
