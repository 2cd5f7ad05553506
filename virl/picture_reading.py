"""Pictures from outside, checked by their header before they are decoded."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import PIL.Image

MOST_PIXELS = 50_000_000
"""Of a picture; a larger one is not decoded. Chosen: twice what a good camera takes, 150 MB once decoded."""

MOST_PANORAMA_PIXELS = 140_000_000
"""Of a whole panorama: 16,384 x 8,192 is the largest that is published."""

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
            with PIL.Image.open(
                BytesIO(source) if isinstance(source, bytes) else source, formats=formats
            ) as picture:
                _check_size(picture, most_pixels)
                yield picture
    except PIL.Image.DecompressionBombError:
        raise PictureFault(f"too large a picture: at most {most_pixels:,} pixels are read") from None
    except PIL.UnidentifiedImageError as fault:
        raise PictureFault(f"not a readable picture (none of {', '.join(formats)})") from fault
    except PictureFault:
        raise
    except (OSError, SyntaxError, ValueError) as fault:  # what Pillow raises for broken files
        raise PictureFault(f"not a readable picture ({fault})") from fault


def _check_size(picture: PIL.Image.Image, most_pixels: int) -> None:
    width, height = picture.size
    if width * height > most_pixels:
        raise PictureFault(
            f"too large a picture: {width} x {height} pixels, at most {most_pixels:,} are read"
        )
