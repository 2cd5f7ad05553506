"""Parts of pictures side by side on sheets: a network goes over these, not over whole pictures."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor

import cv2
import numpy as np

from virl.platform.city.streetview import Box, Image

GAP = 16
"""Pixels between parts, so that nothing reaches from one into the next. Chosen."""
STEP = 32
"""The sides of a sheet are multiples of this: networks halve their pictures five times."""
WIDTH, HEIGHT = 320, 1024
"""Least width and usual height of a sheet, pixels. Chosen: few gaps beside parts of usual size."""
GREY = 128


@dataclass(frozen=True, slots=True)
class Crop:
    """A part of a picture."""

    picture: int
    """Number of the picture that it is cut from."""
    left: int
    """First column in the picture, pixels."""
    top: int
    """First row in the picture, pixels."""
    pixels: Image
    """The crop's pixels at full size."""
    zoom: float
    """Pixels of the sheet for each pixel of the picture."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height on the sheet, pixels."""
        height, width = self.pixels.shape[:2]
        return max(round(width * self.zoom), 1), max(round(height * self.zoom), 1)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A picture made of parts."""

    pixels: Image
    placed: tuple[tuple[Crop, int, int], ...]
    """Each part with its first column and row on the sheet."""

    def at(self, x: float, y: float) -> tuple[Crop, int, int] | None:
        """Return the part at a pixel or half a gap off, with its first column and row; `None` without one."""
        for part, left, top in self.placed:
            width, height = part.size
            if (
                abs(x - left - width / 2) <= (width + GAP) / 2
                and abs(y - top - height / 2) <= (height + GAP) / 2
            ):
                return part, left, top
        return None


def cut_part(
    number: int, picture: Image, box: Box, *, side: float, least: float, margin: float
) -> Crop | None:
    """Return the part of a picture in a box; `None` if nothing of it lies in the picture.

    Args:
        number: of the picture.
        picture: shape (H, W, 3).
        box: pixels; may reach beyond the picture.
        side: pixels that the shorter side of the box shall have on a sheet; no part is enlarged.
        least: zoom below which no part is shrunk, (0, 1].
        margin: what is added to each side, as a share of the shorter one.

    Returns:
        The part; `None` if nothing of the box is in the picture.
    """
    short = min(box[2] - box[0], box[3] - box[1])
    more = margin * short
    height, width = picture.shape[:2]
    left, right = max(floor(box[0] - more), 0), min(ceil(box[2] + more), width)
    top, bottom = max(floor(box[1] - more), 0), min(ceil(box[3] + more), height)
    if left >= right or top >= bottom:
        return None
    return Crop(
        number, left, top, picture[top:bottom, left:right], min(max(side / max(short, 1.0), least), 1.0)
    )


def lay_out(parts: Iterable[Crop]) -> Iterator[Sheet]:
    """Yield all parts on sheets, the highest first, in rows from the top."""
    placed: list[tuple[Crop, int, int]] = []
    left = top = row = 0
    for part in sorted(parts, key=lambda part: -part.size[1]):
        wide, high = part.size
        if left and left + wide > WIDTH:
            left, top, row = 0, top + row + GAP, 0
        if placed and top + high > HEIGHT:
            yield _sheet(placed)
            placed, left, top, row = [], 0, 0, 0
        placed.append((part, left, top))
        left, row = left + wide + GAP, max(row, high)
    if placed:
        yield _sheet(placed)


def _sheet(placed: Sequence[tuple[Crop, int, int]]) -> Sheet:
    """Return parts placed on one sheet, with grey between."""
    right = max(left + part.size[0] for part, left, _ in placed)
    bottom = max(top + part.size[1] for part, _, top in placed)
    pixels = np.full((_steps(bottom), _steps(right), 3), GREY, np.uint8)
    for part, left, top in placed:
        width, height = part.size
        pixels[top : top + height, left : left + width] = cv2.resize(
            part.pixels, (width, height), interpolation=cv2.INTER_AREA
        )
    return Sheet(pixels, tuple(placed))


def _steps(pixels: int) -> int:
    """Return pixels rounded up to a multiple of `STEP`."""
    return ceil(pixels / STEP) * STEP
