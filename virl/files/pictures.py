"""Reading pictures from outside: checked by their headers before they are decoded, and converted to RGB."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO

import numpy as np
import PIL.Image
import PIL.ImageOps
from numpy.typing import NDArray

from virl.errors import BadInput

PictureLike = str | Path | PIL.Image.Image | NDArray[Any]
"""Forms of a picture that `rgb` reads: a path, a PIL image or an array."""

TAKEN = (
    "give a path, a PIL image, or an array of uint8 or of floats in [0, 1] with the shape (H, W, 3), (H, W), "
    "(H, W, 1) or (H, W, 4)"
)
"""Forms of a picture that `rgb` accepts, in words for messages."""

MOST_PIXELS = 50_000_000
"""Most pixels of a picture that is decoded. Chosen: twice what a good camera takes, 150 MB once decoded."""

MOST_PANORAMA_PIXELS = 140_000_000
"""Most pixels of a whole panorama: 16,384 x 8,192 is the largest that is published."""

MOST_BYTES = 500_000_000
"""Most bytes of a picture file that is opened; chosen: a whole panorama without compression."""

MOST_SCANS = 100
"""Most scans of a JPEG that is decoded; chosen: real ones have about 10, each as slow as a whole picture."""

MOST_PARTS = 50_000
"""Most segments of a JPEG, or chunks of a PNG, that is decoded; chosen: 400 MB in chunks of 8 kB."""

_JPEG, _PNG = b"\xff\xd8", b"\x89PNG"
_MARKER = re.compile(rb"\xff[^\xff\x00\xd0-\xd7]")  # start of a JPEG segment; not a restart within a scan
_SCAN, _END_OF_IMAGE, _SEQUENTIAL = 0xDA, 0xD9, (0xC0, 0xC1)

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
"""Pillow's names of picture formats that are read; PostScript is not, as Pillow runs a program for it."""


class PictureFault(ValueError):
    """An error: a file is no picture, is cut short, or has too many pixels."""


@contextmanager
def open_picture(
    source: Path | bytes, *, most_pixels: int = MOST_PIXELS, formats: tuple[str, ...] = FORMATS
) -> Iterator[PIL.Image.Image]:
    """Open a picture for the block; raise `PictureFault` for one too large or broken, in the block as well.

    Args:
        source: the path of a file, or its bytes.
        most_pixels: the greatest product of width and height.
        formats: Pillow's names of the formats that are read, such as `("JPEG",)`.

    Raises:
        PictureFault: the source cannot be read as such a picture.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)  # our own bound is lower
            with _open_checked(source) as file, PIL.Image.open(file, formats=formats) as picture:
                _check_size(picture, most_pixels)
                yield picture
    except PIL.Image.DecompressionBombError:
        raise PictureFault(f"too large a picture: at most {most_pixels:,} pixels are read") from None
    except PIL.UnidentifiedImageError as fault:
        raise PictureFault(f"not a readable picture (none of {', '.join(formats)})") from fault
    except PictureFault:
        raise
    except (OSError, SyntaxError, ValueError, EOFError) as fault:  # what Pillow raises for broken files
        raise PictureFault(f"not a readable picture ({fault})") from fault


@contextmanager
def _open_checked(source: Path | bytes) -> Iterator[BinaryIO]:
    """Open a picture's regular file, or its bytes; raise `PictureFault` for too many bytes or parts."""
    if isinstance(source, bytes):
        _check_parts(source)
        yield BytesIO(source)
        return
    status = source.stat()  # before it is opened: opening a pipe waits for a writer
    if not S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
        raise PictureFault(f"not a readable picture (no regular file of at most {MOST_BYTES:,} bytes)")
    with source.open("rb") as file:
        if status.st_size:
            with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
                _check_parts(data)
        yield file


def _check_parts(data: bytes | mmap) -> None:
    """Raise `PictureFault` for a picture with more scans or parts than Pillow reads quickly."""
    if data[:2] == _JPEG:
        parts, scans = _jpeg_parts(data)
    else:
        parts, scans = _png_parts(data) if data[:4] == _PNG else 0, 0
    if parts > MOST_PARTS or scans > MOST_SCANS:
        raise PictureFault(f"not a readable picture ({scans} scans and {parts} parts, or more)")


def _jpeg_parts(data: bytes | mmap) -> tuple[int, int]:
    """Return (number of parts, number of scans) of a JPEG, counted until one exceeds its limit.

    A decoder goes over the whole picture for each scan, unless the first one holds all components.
    """
    at, components, parts, scans = 2, 0, 0, 0
    while marker := _MARKER.search(data, at):
        kind = marker[0][1]
        parts += 1 if scans else 1 + marker.start() - at  # Pillow reads what is between one by one
        scans += kind == _SCAN
        if kind == _END_OF_IMAGE or parts > MOST_PARTS or scans > MOST_SCANS:
            break
        at = marker.end()
        size = int.from_bytes(data[at : at + 2], "big")
        if kind in _SEQUENTIAL:
            components = data[at + 7] if len(data) > at + 7 else 0
        if kind == _SCAN and components and data[at + 2 : at + 3] == bytes([components]):
            break
        at += max(2, size)
    else:
        parts += 0 if scans else max(0, len(data) - at)
    return parts, scans


def _png_parts(data: bytes | mmap) -> int:
    """Return the number of chunks of a PNG, counted until it exceeds `MOST_PARTS`."""
    at, parts = 8, 0
    while at + 8 <= len(data) and parts <= MOST_PARTS:
        at, parts = at + 12 + int.from_bytes(data[at : at + 4], "big"), parts + 1
    return parts


def _check_size(picture: PIL.Image.Image, most_pixels: int) -> None:
    """Raise `PictureFault` for a picture of more than `most_pixels` pixels."""
    width, height = picture.size
    if width * height > most_pixels:
        raise PictureFault(
            f"too large a picture: {width} x {height} pixels, at most {most_pixels:,} are read"
        )


def rgb(picture: object) -> NDArray[np.uint8]:
    """Return a picture, given as a path, PIL image or array, as RGB, uint8, shape (height, width, 3).

    Args:
        picture: the path of a file; a PIL image; or an array of uint8, or of floats in [0, 1]: RGB (H, W, 3),
            grayscale (H, W) or (H, W, 1), or RGBA (H, W, 4). Files and PIL images are turned as their EXIF
            says. Transparent parts become white.

    Raises:
        BadInput: the picture is none of these, has no pixels, or its file cannot be read.
    """
    if isinstance(picture, str | Path):
        path = Path(picture)
        if not path.is_file():
            raise BadInput(f"{path}: no such file")
        try:
            with open_picture(path, most_pixels=MOST_PANORAMA_PIXELS) as opened:
                return upright_rgb(opened)
        except PictureFault as fault:
            raise BadInput(f"{path}: {fault}") from fault
    if isinstance(picture, PIL.Image.Image):
        return upright_rgb(picture)
    if not isinstance(picture, np.ndarray):
        raise BadInput(f"{type(picture).__name__} is no picture: {TAKEN}")
    if picture.ndim not in {2, 3} or (picture.ndim == 3 and picture.shape[2] not in {1, 3, 4}):
        raise BadInput(f"an array of shape {picture.shape} is no picture: {TAKEN}")
    if picture.size == 0:
        raise BadInput(f"the picture has no pixels: its shape is {picture.shape}")
    pixels = _as_bytes(picture)
    if pixels.ndim == 2 or pixels.shape[2] == 1:
        return np.repeat(pixels.reshape(*pixels.shape[:2], 1), 3, axis=2)
    if pixels.shape[2] == 3:
        return pixels
    # Over a white background; rounded in integers, so that it is the same on every machine.
    colours, opaque = pixels[..., :3].astype(np.uint16), pixels[..., 3:].astype(np.uint16)
    return ((colours * opaque + 255 * (255 - opaque) + 127) // 255).astype(np.uint8)


def upright_rgb(opened: PIL.Image.Image) -> NDArray[np.uint8]:
    """Return a PIL image as RGB, uint8, shape (height, width, 3), turned as its EXIF says.

    Raises:
        BadInput: the image has no pixels, or more than 8 bits a channel.
    """
    if opened.mode.startswith(("I", "F")):
        raise BadInput(f"a PIL image of mode {opened.mode} is not read: convert it to 8 bits a channel first")
    upright = PIL.ImageOps.exif_transpose(opened)
    transparent = upright.mode in {"RGBA", "RGBa", "LA", "La", "PA"} or "transparency" in upright.info
    return rgb(np.array(upright.convert("RGBA" if transparent else "RGB")))


def _as_bytes(picture: NDArray[Any]) -> NDArray[np.uint8]:
    """Return an array as uint8, floats in [0, 1] scaled to 0 to 255; raise `BadInput` for other values."""
    if picture.dtype == np.uint8:
        return picture
    if not np.issubdtype(picture.dtype, np.floating):
        raise BadInput(f"an array of {picture.dtype} is no picture: {TAKEN}")
    low, high = float(picture.min()), float(picture.max())
    if not 0.0 <= low <= high <= 1.0:  # also false for nan
        raise BadInput(f"an array of floats from {low:g} to {high:g} is no picture: {TAKEN}")
    return np.asarray(np.rint(picture * 255.0), np.uint8)
