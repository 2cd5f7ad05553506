"""Pictures of benchmarks: those of episodes, as they are kept, and photos of data sets, as they are read."""

import io
from pathlib import Path

import numpy as np
import PIL.Image

from virl.errors import BadInput
from virl.files.pictures import PictureFault, open_picture
from virl.platform.city.streetview import Camera, Image, View

QUALITY = 80  # chosen: signs stay legible, a view of 640 x 480 takes some 60 kB
PHOTO_FOV = 60.0
"""Degrees; taken for a photo's, of which nothing is known. Chosen: a telephone's camera."""


def jpeg(image: Image | View) -> bytes:
    """Return a picture or a view as JPEG, for `EpisodeResult.files`."""
    pixels = image.pixels if isinstance(image, View) else image
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def read_photo(path: str) -> Image:
    """Read a photo of a data set.

    Raises:
        BadInput: it is no picture, or too large.
    """
    try:
        with open_picture(Path(path)) as photo:
            return np.asarray(photo.convert("RGB"))
    except PictureFault as fault:
        raise BadInput(f"{path}: {fault}: download or collect it again") from fault


def photo_view(image: Image) -> View:
    """Return a photo as a view from nowhere in particular."""
    height, width = image.shape[:2]
    return View("photo", Camera(0.0, fov=PHOTO_FOV, width=width, height=height), image)
