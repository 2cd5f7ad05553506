"""Pictures at the door: whatever comes in leaves as RGB, or is refused in one line."""

from collections.abc import Iterator, Sequence
from math import ceil, floor, isfinite

import numpy as np
from PIL import ImageOps

from virl.errors import BadInput
from virl.picture_reading import MOST_PANORAMA_PIXELS, PictureFault, open_picture
from virl.platform.streetview import Box, Image


def rgb(image: object) -> Image:
    """A picture as RGB, uint8, shape (H, W, 3).

    Args:
        image: an array of uint8: RGB (H, W, 3), grayscale (H, W) or (H, W, 1), or RGBA (H, W, 4), whose
            transparent parts become white.

    Raises:
        BadInput: it is no such array, or has no pixels.
    """
    if not isinstance(image, np.ndarray):
        raise BadInput(f"a picture must be an array of uint8, not {type(image).__name__}")
    if image.dtype != np.uint8:
        raise BadInput(f"a picture must have uint8 values (0 to 255), not {image.dtype}")
    if image.ndim not in {2, 3} or (image.ndim == 3 and image.shape[2] not in {1, 3, 4}):
        raise BadInput(f"a picture must have the shape (H, W, 3), not {image.shape}")
    if image.size == 0:
        raise BadInput(f"the picture has no pixels: its shape is {image.shape}")
    if image.ndim == 2 or image.shape[2] == 1:
        return np.repeat(image.reshape(*image.shape[:2], 1), 3, axis=2)
    return _on_white(image) if image.shape[2] == 4 else image


def decode(data: bytes) -> Image:
    """The picture in a file's bytes (JPEG, PNG, WebP ...), turned as its EXIF says.

    Raises:
        BadInput: the bytes are no picture, are cut short, or hold more than `MOST_PANORAMA_PIXELS`.
    """
    try:
        with open_picture(data, most_pixels=MOST_PANORAMA_PIXELS) as opened:
            upright = ImageOps.exif_transpose(opened)
            transparent = upright.mode in {"RGBA", "LA", "PA"} or "transparency" in upright.info
            return rgb(np.array(upright.convert("RGBA" if transparent else "RGB")))
    except PictureFault as fault:
        raise BadInput(f"{len(data)} bytes that are {fault}") from fault


def crop(image: Image, box: Box, margin: float = 0.0) -> Image:
    """The part of a picture that a box shows; whole pixels, those on its edges included.

    Args:
        image: RGB, shape (H, W, 3).
        box: pixels; what lies outside the picture is left out.
        margin: what is added on each side, as a share of the box's own width and height.

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
    """The part of a box that lies in a picture of this size, or `None` if there is none."""
    if not all(map(isfinite, box)):
        return None
    left, right = (min(max(x, 0.0), float(width)) for x in (box[0], box[2]))
    top, bottom = (min(max(y, 0.0), float(height)) for y in (box[1], box[3]))
    return (left, top, right, bottom) if left < right and top < bottom else None


def _on_white(image: Image) -> Image:
    colours, opaque = image[..., :3].astype(np.uint16), image[..., 3:].astype(np.uint16)
    blended: Image = ((colours * opaque + 255 * (255 - opaque) + 127) // 255).astype(np.uint8)
    return blended


def same_size_batches(pictures: Sequence[Image], size: int) -> Iterator[list[int]]:
    """Indices of at most `size` pictures of one shape, so that a batch needs no padding.

    Padding changes what a model sees: with it, a picture would score differently in different company.
    """
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for i, picture in enumerate(pictures):
        by_shape.setdefault(picture.shape, []).append(i)
    for indices in by_shape.values():
        for first in range(0, len(indices), size):
            yield indices[first : first + size]
