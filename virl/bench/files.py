"""The folders of episodes in the folder of a run, and pictures: kept of episodes, read from data sets."""

import hashlib
import io
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import PIL.Image

from virl.bench.episode import Episode
from virl.errors import BadInput
from virl.files.pictures import PictureFault, open_picture
from virl.files.writing import replace_file
from virl.platform.city.streetview import Camera, Image, View

FOLDER = "episodes"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")


def slug(identity: str) -> str:
    """Return a folder's name for an episode: readable, safe on any disk, and different for different ids."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", identity).strip("-.")[-60:]
    return f"{readable}-{hashlib.sha256(identity.encode()).hexdigest()[:10]}"


def keep_files(folder: Path, episode: Episode, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write an episode's pictures below the folder of its run.

    Args:
        folder: of the run.
        episode: names their folder.
        files: contents by file name.

    Returns:
        Their paths, relative to the folder, in the order of `files`.

    Raises:
        BadInput: a name is no plain file name.
        CannotWrite: the disk refuses.
    """
    if not files:
        return ()
    home = Path(FOLDER) / slug(episode.id)
    for name in files:
        if not _NAME.fullmatch(name):
            raise BadInput(f"{episode.id}: {name!r} is not a plain file name")
    for name, content in files.items():
        with replace_file(folder / home / name, "go on with --resume") as file:
            file.write(content)
    return tuple((home / name).as_posix() for name in files)


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
