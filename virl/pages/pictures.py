"""Pictures embedded in a page, shrunk so far that the page stays light."""

import base64
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

import PIL.Image

from virl.files.pictures import PictureFault, open_picture
from virl.files.writing import is_inside

BUDGET_BYTES = 4_200_000
"""Most bytes of all pictures on a page, before base64 adds a third: keeps pages below 6 MB; chosen."""

Grade = tuple[int, int]
"""A grade of pictures: (greatest width in pixels, WebP quality)."""

Grades = Sequence[Grade]
"""Grades of pictures to choose from, the best first."""

InFolder = tuple[Path, str]
"""A picture file as (folder, path within the folder)."""

_SAMPLE = 10  # pictures by which a grade is chosen; chosen: the views of a run differ little in size
VIEWS: Grades = ((480, 78), (400, 70), (320, 65), (240, 60), (160, 50))  # chosen


def embed(
    folder: Path, files: Iterable[str], grades: Grades = VIEWS, budget: int | None = None
) -> Mapping[str, str]:
    """Return {path: WebP data URI} of pictures in a folder, at most `budget` bytes (`None`: default).

    Args:
        folder: the folder of the run.
        files: paths in the folder, each as often as the page shows it.
        grades: grades to choose from, the best first.
        budget: most bytes of all pictures together; `None` for `BUDGET_BYTES`.
    """
    shown = list(files)
    # A picture that the page shows twice is in it twice.
    most = (BUDGET_BYTES if budget is None else budget) * len(set(shown)) // max(1, len(shown))
    found = embed_all(((folder, file) for file in shown), grades, most)
    return {file: data for (_, file), data in found.items()}


def embed_all(
    views: Iterable[InFolder], grades: Grades = VIEWS, budget: int | None = None
) -> Mapping[InFolder, str]:
    """Return {picture: WebP data URI} in the best grade that fits into `budget` bytes (`None`: default).

    A sample of the pictures tells the grade, so that each is made about once. One that is missing, is no
    picture, or lies outside its folder is left out. If not even the coarsest grade fits (beyond some 1,500
    views), every second, fourth, ... picture is taken.

    Args:
        views: the pictures, each (folder, path in the folder).
        grades: grades to choose from, the best first.
        budget: most bytes of all pictures together; `None` for `BUDGET_BYTES`.
    """
    most = BUDGET_BYTES if budget is None else budget
    every = list(dict.fromkeys(views))
    shrunk = cache(_shrink)
    sample = every[:: max(1, len(every) // _SAMPLE)]
    tries = [(grade, 1) for grade in grades]
    tries += [(grades[-1], 2**power) for power in range(1, len(every).bit_length() + 1)]
    for grade, stride in tries:
        mean = sum(len(shrunk(view, grade)) for view in sample) / max(1, len(sample))
        chosen = every[::stride]
        fits = mean * len(chosen) <= most
        if fits and (found := _fit_views(chosen, partial(shrunk, grade=grade), most)):
            return {view: _data_uri(picture, "webp") for view, picture in found}
    return {}


CROP_PX, CROP_MARGIN = 320, 0.35
"""Greatest width in pixels of a crop, and its margin as a share of its box's height; both chosen."""


def embed_crop(folder: Path, file: str, box: Sequence[float]) -> str:
    """Return a part of a picture file with a margin as a WebP data URI; empty if it cannot be read.

    Args:
        folder: the folder of the run.
        file: path of the picture in the folder.
        box: the part (left, top, right, bottom), pixels.
    """
    data = _shrink((folder, file), (CROP_PX, 72), box)
    return _data_uri(data, "webp") if data else ""


def jpeg_uri(picture: PIL.Image.Image, quality: int) -> str:
    """Return a picture as a data URI of a JPEG with a quality from 1 to 95."""
    jpeg = io.BytesIO()
    picture.save(jpeg, "JPEG", quality=quality, optimize=True)
    return _data_uri(jpeg.getvalue(), "jpeg")


def _data_uri(picture: bytes, kind: str) -> str:
    """Return the bytes of a picture as a data URI; `kind` is "jpeg" or "webp"."""
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def _box_with_margin(box: Sequence[float], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return a box with its margin as far as a picture of this size has it: left, top, right, bottom."""
    margin = CROP_MARGIN * (box[3] - box[1])
    left, top = (max(0, round(edge - margin)) for edge in box[:2])
    right, bottom = (min(most, round(edge + margin)) for edge, most in zip(box[2:], size, strict=True))
    return left, top, right, bottom


def _fit_views(
    views: Sequence[InFolder], shrunk: Callable[[InFolder], bytes], most: int
) -> list[tuple[InFolder, bytes]] | None:
    """Return (picture, its bytes by `shrunk`) of all usable pictures; `None` if these exceed `most` bytes."""
    fitting: list[tuple[InFolder, bytes]] = []
    size = 0
    with ThreadPoolExecutor() as pool:
        for view, picture in zip(views, pool.map(shrunk, views), strict=True):
            size += len(picture)
            if size > most:
                pool.shutdown(cancel_futures=True)
                return None
            if picture:
                fitting.append((view, picture))
    return fitting


def _shrink(view: InFolder, grade: Grade, box: Sequence[float] = ()) -> bytes:
    """Return a picture, or its part around a box, as WebP shrunk to a grade; empty if it cannot be read."""
    folder, name = view
    if not is_inside(folder, name):
        return b""
    width, quality = grade
    webp = io.BytesIO()
    try:
        with open_picture(folder / name, formats=("JPEG",)) as picture:
            if not box:
                picture.draft("RGB", (width, width))
            small = picture.convert("RGB")
            if box:
                small = small.crop(_box_with_margin(box, small.size))
            if small.width > width:
                height = max(1, round(small.height * width / small.width))
                small = small.resize((width, height), PIL.Image.Resampling.LANCZOS)
            small.save(webp, "WEBP", quality=quality)
    except PictureFault:
        return b""
    return webp.getvalue()
