"""How much green, sky and water a picture shows, by its colours. A measure, and no judge of beauty."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.platform.streetview import Image

# Hue in OpenCV's half degrees, saturation and value of 255 (chosen: leaves and grass; clear sky and water).
GREEN_HUE, GREEN_SATURATION, GREEN_VALUE = (32, 85), 60, 40
BLUE_HUE, BLUE_SATURATION, BLUE_VALUE = (90, 130), 50, 70
CLOUD_SATURATION, CLOUD_VALUE = 40, 190
WATER_WIDTH = 0.5  # of the picture's width; chosen
HORIZON = 0.5  # of the picture's height at pitch 0: blue above it is sky, below it water


@dataclass(frozen=True, slots=True)
class Scenery:
    """Shares of a picture, each in [0, 1]."""

    green: float
    sky: float
    water: float


def scenery(picture: Image, horizon: float = HORIZON) -> Scenery:
    """What share of a picture is green, sky and water.

    A pixel is green by its hue; sky is what is blue or cloud and reaches down from the upper edge; water is
    what is blue below the horizon and lies across half of the picture: a car or an awning does not.

    Args:
        picture: RGB.
        horizon: its height in the picture as a share from above; may lie outside [0, 1].
    """
    hue, saturation, value = np.moveaxis(cv2.cvtColor(picture, cv2.COLOR_RGB2HSV), 2, 0)
    green = _between(hue, GREEN_HUE) & (saturation >= GREEN_SATURATION) & (value >= GREEN_VALUE)
    blue = _between(hue, BLUE_HUE) & (saturation >= BLUE_SATURATION) & (value >= BLUE_VALUE)
    cloud = (saturation <= CLOUD_SATURATION) & (value >= CLOUD_VALUE)
    rows = np.arange(picture.shape[0])[:, None] < horizon * picture.shape[0]
    sky, water = _from_the_top((blue | cloud) & rows), _wide(blue & ~rows)
    return Scenery(*(float(np.mean(part)) for part in (green, sky, water)))


def _between(hue: NDArray[Any], span: tuple[int, int]) -> NDArray[np.bool_]:
    return (hue >= span[0]) & (hue <= span[1])


def _from_the_top(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What of a mask is reached from the upper edge without leaving a column."""
    reached: NDArray[np.bool_] = np.logical_and.accumulate(mask, axis=0)
    return reached


def _wide(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The connected parts of a mask that lie across enough of the picture."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    wide = [
        label for label in range(1, count) if stats[label, cv2.CC_STAT_WIDTH] >= WATER_WIDTH * mask.shape[1]
    ]
    return np.isin(labels, wide)
