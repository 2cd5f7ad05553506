"""How many threads work on pictures: networks on ONNX Runtime, and the drawing of views."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from virl.platform.city.streetview import Image, View
from virl.platform.perception.images import pixels_of

T = TypeVar("T")

EACH_CORE = -1  # ONNX Runtime's word for a thread for each core


def usual_threads() -> int:
    """Return the threads that the environment allows: processes side by side must share the cores."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdecimal() and int(said) else EACH_CORE


def cores(threads: int) -> int:
    """Return the number of threads; `EACH_CORE` is as many as there are cores."""
    return threads if threads > 0 else os.cpu_count() or 1


def look_at_each(views: Sequence[View], threads: int, look: Callable[[Image], T]) -> list[T]:
    """Return the results of `look` for the picture of each view, in order.

    Pictures that are drawn when first looked at are drawn side by side, and looked at meanwhile.

    Args:
        views: of any city.
        threads: at most.
        look: safe to share between threads.
    """
    with ThreadPoolExecutor(min(len(views), threads)) as pool:
        drawn = [pool.submit(pixels_of, view) for view in views]
        found = [pool.submit(look, picture.result()) for picture in drawn]
        return [one.result() for one in found]
