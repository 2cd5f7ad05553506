"""What makes and draws towns: part of the key of whatever is kept of them."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
from PIL import features

from virl.extras import missing_packages
from virl.pages.fonts import FONT_FOLDER, installed_faces
from virl.platform.city.place_types import table_file


def picture_key(town: str) -> str:
    """Return the key of a town's pictures in caches, without their cameras; empty where none are kept.

    Args:
        town: tells its plan from those of all others; empty gives an empty key.
    """
    if not town or missing_packages(("numba",)):  # without numba no picture is drawn
        return ""
    return f"{maker()} {version('numba')} {town}"


@cache
def maker() -> str:
    """Return a digest of the code and fonts that make and draw towns."""
    # Which names have a sign depends on the fonts, and on Raqm.
    others = " ".join((np.__version__, str(features.check("raqm")), *installed_faces()))
    digest = hashlib.sha256(others.encode())
    for file in sources():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def sources() -> list[Path]:
    """Return the files of the code and fonts that a made town depends on."""
    here = Path(__file__).parent
    virl = here.parent
    own = (file for file in here.rglob("*") if file.is_file() and file.parent.name != "__pycache__")
    fonts = (FONT_FOLDER.parent / "fonts.py", *FONT_FOLDER.iterdir())
    below = (*(virl / "platform" / "city").glob("*"), *(virl / "geo").glob("*"))
    made = virl / "platform" / "providers" / "offline" / "city.py"
    return sorted([*own, *fonts, *(file for file in below if file.is_file()), made, table_file()])
