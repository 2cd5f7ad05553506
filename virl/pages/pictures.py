"""The views of a report: made small enough that the page stays light, and embedded in it."""

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import PIL.Image

from virl.files import is_inside
from virl.picture_reading import PictureFault, open_picture

BUDGET_BYTES = 4_200_000
"""For all pictures together, before base64 adds a third: keeps the page under 6 MB. Chosen."""

Grades = Sequence[tuple[int, int]]
"""Width in pixels and JPEG quality, best first."""

VIEWS: Grades = ((480, 78), (400, 70), (320, 65), (240, 60), (160, 50))  # chosen


def embed(
    folder: Path, files: Iterable[str], grades: Grades = VIEWS, budget: int | None = None
) -> Mapping[str, str]:
    """Data URIs of the views of a run, in the best grade at which all fit the budget.

    A view that is missing, is no picture, or lies outside the folder is left out. Beyond some 1,500 views the
    coarsest grade passes the budget, and is used all the same.

    Args:
        folder: the run's.
        files: paths in it.
        grades: to choose from, the best first.
        budget: bytes of all together; `BUDGET_BYTES` by default.
    """
    most = BUDGET_BYTES if budget is None else budget
    names = list(dict.fromkeys(files))
    jpegs: dict[str, bytes] = {}
    for width, quality in grades:
        jpegs = {}
        for name in names:
            if sum(map(len, jpegs.values())) > most and (width, quality) != grades[-1]:
                break
            if is_inside(folder, name) and (jpeg := _shrunk(folder / name, width, quality)):
                jpegs[name] = jpeg
        else:
            break
    return {name: "data:image/jpeg;base64," + base64.b64encode(jpeg).decode() for name, jpeg in jpegs.items()}


def _shrunk(path: Path, width: int, quality: int) -> bytes:
    """Empty if there is no such picture."""
    jpeg = io.BytesIO()
    try:
        with open_picture(path, formats=("JPEG",)) as picture:
            picture.draft("RGB", (width, width))
            small = picture.convert("RGB")
            if small.width > width:
                height = max(1, round(small.height * width / small.width))
                small = small.resize((width, height), PIL.Image.Resampling.LANCZOS)
            small.save(jpeg, "JPEG", quality=quality, optimize=True)
    except PictureFault:
        return b""
    return jpeg.getvalue()
