"""How many threads work on pictures: networks on ONNX Runtime, and the drawing of views."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from virl.platform.streetview import Image, View

EACH_CORE = -1  # ONNX Runtime's word for a thread for each core


def usual_threads() -> int:
    """What the environment allows: processes that run side by side must not take every core each."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdecimal() and int(said) else EACH_CORE


def pixels_of(views: Sequence[View], threads: int) -> list[Image]:
    """The pictures of views, several drawn at once where they are drawn when first looked at.

    Args:
        views: of any city.
        threads: at most; `EACH_CORE` is as many as there are cores.
    """
    many = min(len(views), threads if threads > 0 else os.cpu_count() or 1)
    if many < 2:
        return [view.pixels for view in views]
    with ThreadPoolExecutor(many) as pool:
        return list(pool.map(lambda view: view.pixels, views))
