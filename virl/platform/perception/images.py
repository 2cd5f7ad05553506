"""Pictures and parts of them as the models of perception take them, and how many threads look at them."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil, floor, isfinite
from typing import TypeVar

from virl.errors import BadInput
from virl.files.pictures import (
    MOST_PANORAMA_PIXELS,
    PictureFault,
    PictureLike,
    open_picture,
    rgb,
    upright_rgb,
)
from virl.platform.city.streetview import Box, Image, View, view_of_picture


def as_view(picture: View | PictureLike) -> View:
    """Return a view as it is, or another picture as a view of no known place."""
    return picture if isinstance(picture, View) else view_of_picture(rgb(picture))


def pixels_of(picture: View | PictureLike) -> Image:
    """Return the RGB pixels of a view or of another picture, shape (height, width, 3)."""
    return rgb(picture.pixels if isinstance(picture, View) else picture)


def decode(data: bytes) -> Image:
    """Return the RGB picture in a file's bytes (JPEG, PNG, WebP ...), turned as its EXIF says.

    Raises:
        BadInput: the bytes are no picture, are cut short, or hold more than `MOST_PANORAMA_PIXELS`.
    """
    try:
        with open_picture(data, most_pixels=MOST_PANORAMA_PIXELS) as opened:
            return upright_rgb(opened)
    except PictureFault as fault:
        raise BadInput(f"{len(data)} bytes that are {fault}") from fault


def crop(image: Image, box: Box, margin: float = 0.0) -> Image:
    """Return the part of a picture in a box widened on each side by `margin`, a share of the box's size.

    Args:
        image: RGB, shape (H, W, 3).
        box: left, top, right, bottom in pixels; what lies outside the picture is left out.
        margin: width of the margin on each side, as a share of the box's width and height.

    Raises:
        BadInput: the box is no box, or nothing of it lies in the picture.
    """
    height, width = image.shape[:2]
    if clip_box(box, width, height) is None:
        raise BadInput(f"box {tuple(box)} is outside the picture of {width} x {height} pixels")
    left, top, right, bottom = box
    wider, higher = margin * (right - left), margin * (bottom - top)
    left, right = max(left - wider, 0.0), min(right + wider, width)
    top, bottom = max(top - higher, 0.0), min(bottom + higher, height)
    return image[floor(top) : ceil(bottom), floor(left) : ceil(right)]


def clip_box(box: Box, width: int, height: int) -> Box | None:
    """Return the part of a box inside a picture; `None` if there is none or the box is not finite.

    Args:
        box: left, top, right, bottom in pixels.
        width: of the picture, pixels.
        height: of the picture, pixels.
    """
    if not all(map(isfinite, box)):
        return None
    left, right = (min(max(x, 0.0), float(width)) for x in (box[0], box[2]))
    top, bottom = (min(max(y, 0.0), float(height)) for y in (box[1], box[3]))
    return (left, top, right, bottom) if left < right and top < bottom else None


def same_size_batches(pictures: Sequence[Image], size: int) -> Iterator[list[int]]:
    """Yield lists of indices of at most `size` pictures of one shape, so that no batch needs padding."""
    # Padding changes what a model sees: a picture would score differently in different company.
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for i, picture in enumerate(pictures):
        by_shape.setdefault(picture.shape, []).append(i)
    for indices in by_shape.values():
        for first in range(0, len(indices), size):
            yield indices[first : first + size]


Fingerprint = tuple[tuple[int, ...], bytes]
"""(shape, digest of the pixels) of a picture."""


def fingerprint(image: Image) -> Fingerprint:
    """Return a key that is equal for pictures of equal shape and pixels, and differs for others."""
    return image.shape, hashlib.blake2b(image.tobytes(), digest_size=16).digest()


T = TypeVar("T")

EACH_CORE = -1
"""Number that asks ONNX Runtime for a thread for each core."""


def usual_threads() -> int:
    """Return the number of threads that `OMP_NUM_THREADS` allows; `EACH_CORE` if it names none."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdecimal() and int(said) else EACH_CORE


def cores(threads: int) -> int:
    """Return `threads`, or the number of the machine's cores if it is not above 0 (`EACH_CORE`)."""
    return threads if threads > 0 else os.cpu_count() or 1


def look_at_each(views: Sequence[View], threads: int, look: Callable[[Image], T]) -> list[T]:
    """Return the results of `look` for the picture of each view, in order, computed by several threads.

    Args:
        views: at least one.
        threads: largest number of threads.
        look: function of a picture, safe to share between threads.
    """
    with ThreadPoolExecutor(min(len(views), threads)) as pool:
        # Pictures may be drawn when first asked for: side by side, while others are looked at.
        drawn = [pool.submit(pixels_of, view) for view in views]
        found = [pool.submit(look, picture.result()) for picture in drawn]
        return [one.result() for one in found]
