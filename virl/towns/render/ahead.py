"""Compiles half of the kernels in a second process, while the first opens its city and compiles the others.

Numba compiles in one thread at a time. What it compiles it keeps on disk, so the first process reads what the
second has made. That happens once for each version of this package on a machine.
"""

import os
import subprocess  # nosec B404
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

from virl.geo.globe import LatLng, LocalFrame
from virl.towns.plan.town_plan import Panoramas, Street, StreetPlan
from virl.towns.render.backdrop import shade_backdrop
from virl.towns.render.ground import Grounds
from virl.towns.render.lens import aim_lens
from virl.towns.render.raster import blank_drawing
from virl.towns.render.skyline import HIGH, WIDE, Skyline, Weather
from virl.towns.render.smooth import smooth_edges
from virl.towns.render.textures import Textures, texture_table

LONGEST_S = 60.0
"""Largest time in seconds to wait for the second process that compiles; chosen: six times what it takes."""


_STARTS = Lock()
"""Lock without which threads that draw at the same time would start a process each: `cache` has none."""


class Ahead:
    """A handle on the second process that compiles kernels; on none if all are compiled, or with one core."""

    def __init__(self, process: subprocess.Popen[bytes] | None) -> None:
        """Keep the process that compiles, to wait for; `None` if none was needed."""
        self._process = process

    def wait(self) -> None:
        """Wait, at most `LONGEST_S` seconds, until the process ends; kernels not done compile when called."""
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LONGEST_S)


def compile_ahead() -> Ahead:
    """Return the handle on the process that compiles kernels, which the first call starts."""
    with _STARTS:
        return _start()


@cache
def _start() -> Ahead:
    """Start the process that compiles kernels, if one is needed; return the handle on it."""
    if (os.cpu_count() or 1) < 2 or is_kept():
        return Ahead(None)
    nothing = subprocess.DEVNULL
    command = [sys.executable, "-m", __name__]
    return Ahead(subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing))  # noqa: S603 # nosec B603


def compile_now() -> None:
    """Compile all kernels that the second process is for, by drawing one black pixel."""
    lens = aim_lens(0.0, 0.0, 0.0, 0.0, 90.0, (1, 1))
    table, size = texture_table([])
    textures = Textures(table, np.zeros(1, np.uint32), np.zeros(size, np.uint8))
    drawing = blank_drawing(np.zeros(0, np.int64), lens)
    picture = np.zeros((1, 1, 3), np.uint8)
    skyline = Skyline(np.zeros((4, HIGH, WIDE, 4), np.uint8), Weather(0.0, 0.0, 1.0, 1.0, 1.0), 1)
    shade_backdrop(drawing, Grounds(_one_street()).ground_around(0.0, 0.0), skyline, textures, lens, picture)
    smooth_edges(drawing, picture, picture.copy())


def is_kept() -> bool:
    """Return whether the kernel that takes longest to compile is on disk already."""
    kept = Path(shade_backdrop.stats.cache_path)  # type: ignore[attr-defined] # Numba's, for each kernel
    return any(kept.glob(f"*{shade_backdrop.__qualname__}-*.nbi"))


def _one_street() -> StreetPlan:
    """Return the plan of a town of one street."""
    line, nothing = np.array([(-1.0, 0.0), (1.0, 0.0)]), np.zeros(0, np.int64)
    return StreetPlan(
        frame=LocalFrame(LatLng(0.0, 0.0)),
        streets=(Street(0, "", line, 0, 1, 7.0, 3.0),),
        junctions=line,
        panoramas=Panoramas(line[:0], nothing, nothing, nothing),
    )


if __name__ == "__main__":
    compile_now()
