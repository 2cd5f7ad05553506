"""Pictures as they are sent: JPEG, or PNG where nothing may be lost."""

from collections.abc import Callable, Hashable
from threading import Lock

import numpy as np
from cachetools import LRUCache
from fastapi import Response

from virl.extras import Late
from virl.platform.city.streetview import Image

cv2 = Late("cv2", extra="eyes")

QUALITY = 90  # of JPEG; chosen, near what Google sends


class Painter:
    """A maker of responses from pictures.

    Args:
        lossless: send PNG instead of JPEG.
    """

    def __init__(self, *, lossless: bool) -> None:
        """Prepare to encode pictures, without loss if `lossless`."""
        self._lossless = lossless

    def picture(self, image: Image, code: int = 200) -> Response:
        """Return a response that holds a picture."""
        options = [] if self._lossless else [cv2.IMWRITE_JPEG_QUALITY, QUALITY]
        _, encoded = cv2.imencode(".png" if self._lossless else ".jpg", image[..., ::-1], options)
        kind = "image/png" if self._lossless else "image/jpeg"
        return Response(encoded.tobytes(), code, media_type=kind)


class PictureCache:
    """The pictures that were asked for last. Safe to use from several threads.

    Args:
        size: pictures kept.
    """

    def __init__(self, size: int) -> None:
        """Begin an empty cache of `size` pictures."""
        self._kept: LRUCache[Hashable, Image] = LRUCache(size)
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Image]) -> Image:
        """Return the picture with this key, made where it is not there."""
        with self._lock:
            kept = self._kept.get(key)
        if kept is None:
            kept = make()
            with self._lock:
                self._kept[key] = kept
        return kept


def shrink_to_fit(image: Image, max_width: int, max_height: int) -> Image:
    """Return a picture shrunk to fit, its proportions kept; never enlarged.

    Args:
        image: the picture.
        max_width: pixels.
        max_height: pixels.
    """
    height, width = image.shape[:2]
    scale = min(max_width / width, max_height / height, 1.0)
    if scale == 1.0:
        return image
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def no_imagery(width: int, height: int) -> Image:
    """Return the gray picture that stands for none: as Google, it says that there is no imagery."""
    image = np.full((height, width, 3), 228, np.uint8)
    scale = width / 640
    where = (round(width * 0.12), height // 2)
    cv2.putText(
        image, "Sorry, we have no imagery here.", where, cv2.FONT_HERSHEY_SIMPLEX, scale, (117,) * 3, 1
    )
    return image
