"""The views of a report: made small enough that the page stays light, and embedded in it."""

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import PIL.Image

from virl.files import is_inside
from virl.picture_reading import PictureFault, open_picture

BUDGET_BYTES = 4_200_000
"""Bytes of all pictures together, before base64 adds a third: keeps the page under 6 MB. Chosen."""

Grade = tuple[int, int]
"""Width in pixels and JPEG quality."""

Grades = Sequence[Grade]
"""Grades to choose from, the best first."""

VIEWS: Grades = ((480, 78), (400, 70), (320, 65), (240, 60), (160, 50))  # chosen


def embed(
    folder: Path, files: Iterable[str], grades: Grades = VIEWS, budget: int | None = None
) -> Mapping[str, str]:
    """Return data URIs of the views of a run, in the best grade at which all fit the budget.

    A view that is missing, is no picture, or lies outside the folder is left out. Where not even the coarsest
    grade fits (beyond some 1,500 views), every second, fourth, ... view is taken.

    Args:
        folder: the run's.
        files: paths in it.
        grades: to choose from, the best first.
        budget: bytes of all together; `BUDGET_BYTES` by default.
    """
    most = BUDGET_BYTES if budget is None else budget
    names = list(dict.fromkeys(files))
    *better, coarsest = grades
    fitting = (_fit_views(folder, names, grade, most) for grade in better)
    jpegs = next((found for found in fitting if found is not None), None)
    if jpegs is None:
        jpegs = _thin_views(folder, names, coarsest, most)
    return {name: "data:image/jpeg;base64," + base64.b64encode(jpeg).decode() for name, jpeg in jpegs.items()}


def _fit_views(folder: Path, names: Sequence[str], grade: Grade, most: int) -> dict[str, bytes] | None:
    """Return all views in a grade; None if they have more than `most` bytes."""
    jpegs: dict[str, bytes] = {}
    size = 0
    for name in names:
        if jpeg := _shrunk(folder, name, grade):
            jpegs[name] = jpeg
            size += len(jpeg)
        if size > most:
            return None
    return jpegs


def _thin_views(folder: Path, names: Sequence[str], grade: Grade, most: int) -> dict[str, bytes]:
    """Return views in a grade that have at most `most` bytes: all, every second, fourth, ..."""
    jpegs: dict[int, bytes] = {}
    size, stride = 0, 1
    for index, name in enumerate(names):
        if index % stride == 0 and (jpeg := _shrunk(folder, name, grade)):
            jpegs[index] = jpeg
            size += len(jpeg)
        while size > most and stride < len(names):
            stride *= 2
            jpegs = {kept: jpeg for kept, jpeg in jpegs.items() if kept % stride == 0}
            size = sum(map(len, jpegs.values()))
    return {names[index]: jpeg for index, jpeg in jpegs.items()} if size <= most else {}


def _shrunk(folder: Path, name: str, grade: Grade) -> bytes:
    """Return a view as JPEG in a grade; empty if there is no such picture in the folder."""
    if not is_inside(folder, name):
        return b""
    width, quality = grade
    jpeg = io.BytesIO()
    try:
        with open_picture(folder / name, formats=("JPEG",)) as picture:
            picture.draft("RGB", (width, width))
            small = picture.convert("RGB")
            if small.width > width:
                height = max(1, round(small.height * width / small.width))
                small = small.resize((width, height), PIL.Image.Resampling.LANCZOS)
            small.save(jpeg, "JPEG", quality=quality, optimize=True)
    except PictureFault:
        return b""
    return jpeg.getvalue()
