"""Pictures from outside, checked by their header before they are decoded."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

import PIL.Image

MOST_PIXELS = 50_000_000
"""Of a picture; a larger one is not decoded. Chosen: twice what a good camera takes, 150 MB once decoded."""

MOST_PANORAMA_PIXELS = 140_000_000
"""Of a whole panorama: 16,384 x 8,192 is the largest that is published."""

MOST_BYTES = 500_000_000
"""Of a file that is opened; chosen: a whole panorama without compression."""

MOST_SCANS = 100
"""Of a JPEG; chosen: real progressive ones have about 10, and each takes as long as the whole picture."""

MOST_PARTS = 50_000
"""Segments of a JPEG and bytes between them, or chunks of a PNG; chosen: 400 MB in chunks of 8 kB."""

_JPEG, _PNG = b"\xff\xd8", b"\x89PNG"
_MARKER = re.compile(rb"\xff[^\xff\x00\xd0-\xd7]")  # neither a byte of a scan, nor where one is resumed
_SCAN, _END_OF_IMAGE, _SEQUENTIAL = 0xDA, 0xD9, (0xC0, 0xC1)

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
"""That are read. Not PostScript, for one, which Pillow hands to another program."""


class PictureFault(ValueError):
    """What should be a picture is none, is cut short, or has too many pixels."""


@contextmanager
def open_picture(
    source: Path | bytes, *, most_pixels: int = MOST_PIXELS, formats: tuple[str, ...] = FORMATS
) -> Iterator[PIL.Image.Image]:
    """Open a picture that has at most so many pixels; whatever fails in it or in the block is one fault.

    Args:
        source: a file, or its bytes.
        most_pixels: width times height, at most.
        formats: that are read, such as `("JPEG",)`.

    Raises:
        PictureFault: it cannot be read as such a picture.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)  # our own bound is lower
            with _checked(source) as file, PIL.Image.open(file, formats=formats) as picture:
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
def _checked(source: Path | bytes) -> Iterator[BinaryIO]:
    """Open a picture whose parts are few enough that Pillow reads them in a while.

    Raises:
        PictureFault: it has too many, or is no regular file, such as a pipe, or a very large one.
        OSError: it cannot be read.
    """
    if isinstance(source, bytes):
        _check_parts(source)
        yield BytesIO(source)
        return
    told = source.stat()  # before it is opened: opening a pipe waits for who writes
    if not S_ISREG(told.st_mode) or told.st_size > MOST_BYTES:
        raise PictureFault(f"not a readable picture (no regular file of at most {MOST_BYTES:,} bytes)")
    with source.open("rb") as file:
        if told.st_size:
            with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
                _check_parts(data)
        yield file


def _check_parts(data: bytes | mmap) -> None:
    if data[:2] == _JPEG:
        parts, scans = _jpeg_parts(data)
    else:
        parts, scans = _png_parts(data) if data[:4] == _PNG else 0, 0
    if parts > MOST_PARTS or scans > MOST_SCANS:
        raise PictureFault(f"not a readable picture ({scans} scans and {parts} parts, or more)")


def _jpeg_parts(data: bytes | mmap) -> tuple[int, int]:
    """Count segments, bytes between them, and scans, until there are too many.

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
    at, parts = 8, 0
    while at + 8 <= len(data) and parts <= MOST_PARTS:
        at, parts = at + 12 + int.from_bytes(data[at : at + 4], "big"), parts + 1
    return parts


def _check_size(picture: PIL.Image.Image, most_pixels: int) -> None:
    width, height = picture.size
    if width * height > most_pixels:
        raise PictureFault(
            f"too large a picture: {width} x {height} pixels, at most {most_pixels:,} are read"
        )
