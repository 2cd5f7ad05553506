"""How fast are views drawn? Views a second on one core, from random panoramas.

    python -m benchmarks.perf.render [--city FILE] [--views 200] [--walks] [--seed 0] [--json]

Every view is of another panorama, at a random heading, pitch 0 to 10 and fov 60 to 90, 640 by 640 pixels.
With `--walks`, five walks begin at random panoramas and go from link to link, with four views at each: as
agents look at a town that is too large for its ground to be kept whole.
Compiling the kernels (kept on disk) and the first picture (which draws the ground and the textures) are
reported apart; lettering of signs that come into view is counted.

With `--city`, Virlton and the city draw in turns, so that other programs slow both down alike. Before, a
process of its own opens the city without a twin in the cache, one opens it again, and one draws 20 views:
seconds of a core, and the most memory that each took. Peaks are those of the whole process, with Python.
"""

import argparse
import json
import os
import resource
import subprocess  # nosec B404
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from virl.platform.city.streetview import Camera
from virl.towns.plan.town_plan import CityPlan, Panoramas
from virl.towns.render.renderer import CityRenderer

from .figures import Figures, command, figures
from .plans import plan_of

ROUNDS = 5
LOOKS = 4  # at each panorama of a walk, as agents look around
FEW_VIEWS = 20

_OPEN = """
import json, resource, sys, time
from virl.platform.providers import open_city
from virl.platform.city.streetview import Camera
city = open_city(sys.argv[1])
city.streetview._key = ""  # so that no picture is kept, or was
names = city.street_map.panorama_ids()
count = int(sys.argv[2])
for number in range(count):
    city.streetview.view(names[number * len(names) // count], Camera(37.0 * number)).pixels
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
"""


def main() -> None:
    """Measure and print the views a second."""
    parser = command(__doc__)
    parser.add_argument("--city", help="an OpenStreetMap extract, or another city that is rendered")
    parser.add_argument("--views", type=int, default=200)
    parser.add_argument("--walks", action="store_true", help="walk from link to link, four views at each")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with figures(options) as found:
        _measure(found, options)


def _measure(found: Figures, options: argparse.Namespace) -> None:
    """Record and print the seconds to begin, views a second and memory of Virlton and another city."""
    if options.city:
        _measure_opening(found, options.city)
    before = _peak_mib()
    courses = {"virlton": _Course(plan_of("virlton"), options)}
    if options.city:
        courses[options.city] = _Course(plan_of(options.city), options)
    for name, course in courses.items():
        found["seconds"] = found.get("seconds", {}) | {name: course.begin()}
        for what, seconds in found["seconds"][name].items():
            found.show(f"{name}: {what:16} {seconds:8.3f} s")
    for turn in range(ROUNDS):
        for course in courses.values():
            course.draw(turn)
    found["views_a_second"] = {name: course.rates() for name, course in courses.items()}
    for name, rates in found["views_a_second"].items():
        clock = f"({rates['by the clock']:.1f} by the clock)"
        found.show(f"{name}: views a second {rates['per core']:8.1f} per core {clock}")
    if options.city:
        own, virlton = (found["views_a_second"][name]["per core"] for name in (options.city, "virlton"))
        found["of_virlton"] = own / virlton
        found.show(f"views a second of Virlton's: {found['of_virlton']:.0%}")
    found["mib"] = _peak_mib() - before
    found.show(f"memory           {found['mib']:8.0f} MiB more than the interpreter, at its peak")


class _Course:
    """Views of a town from random panoramas, or along random walks, drawn in parts."""

    def __init__(self, plan: CityPlan, options: argparse.Namespace) -> None:
        """Draw positions and cameras of `options.views` views in a town by chance."""
        views, panoramas = options.views, plan.layout.panoramas
        rng = np.random.default_rng(options.seed)
        xy = panoramas.xy
        self._start = xy[0]
        chosen = (
            _walk_panoramas(panoramas, views, rng)
            if options.walks
            else rng.choice(len(xy), views, views > len(xy))
        )
        self._spots = xy[chosen]
        self._cameras = [
            Camera(float(rng.uniform(0, 360)), float(rng.uniform(0, 10)), float(rng.uniform(60, 90)))
            for _ in range(views)
        ]
        self._wall = self._cpu = 0.0
        self._renderer = CityRenderer(plan)

    def begin(self) -> dict[str, float]:
        """Return the seconds of the first and the second picture."""
        seconds = {}
        x, y = self._start
        for name in ("first picture", "second picture"):
            start = time.perf_counter()
            self._renderer.picture(float(x), float(y), Camera(0.0))
            seconds[name] = time.perf_counter() - start
        return seconds

    def draw(self, turn: int) -> None:
        """Draw the part of the views with number `turn`, of `ROUNDS` parts, and add up its seconds."""
        wall, cpu = time.perf_counter(), time.thread_time()
        count = len(self._spots)
        for number in range(turn * count // ROUNDS, (turn + 1) * count // ROUNDS):
            x, y = self._spots[number]
            self._renderer.picture(float(x), float(y), self._cameras[number])
        self._wall += time.perf_counter() - wall
        self._cpu += time.thread_time() - cpu

    def rates(self) -> dict[str, float]:
        """Return the views a second drawn so far, per core and by the clock."""
        count = len(self._spots)
        return {"per core": count / self._cpu, "by the clock": count / self._wall}


def _walk_panoramas(panoramas: Panoramas, views: int, rng: np.random.Generator) -> list[int]:
    """Return the panorama of each view along random walks, `LOOKS` views at each panorama."""
    first = np.searchsorted(panoramas.source, np.arange(len(panoramas.xy) + 1))
    spots = []
    for turn in range(ROUNDS):
        here, before = int(rng.integers(len(panoramas.xy))), -1
        for look in range(views * (turn + 1) // ROUNDS - views * turn // ROUNDS):
            if look and look % LOOKS == 0:
                ways = panoramas.target[first[here] : first[here + 1]]
                onward = ways[ways != before]
                here, before = int(rng.choice(onward if len(onward) else ways)), here
            spots.append(here)
    return spots


def _measure_opening(found: Figures, city: str) -> None:
    """Record the seconds and memory of opening a city uncached, cached, and with some views drawn."""
    found["opened"] = {}
    with tempfile.TemporaryDirectory(prefix="virl-render-") as cache:
        for what, views in (("cold", 0), ("warm", 0), (f"{FEW_VIEWS} views", FEW_VIEWS)):
            code = [sys.executable, "-c", _OPEN, city, str(views)]
            done = subprocess.run(  # noqa: S603  # nosec B603
                code, env=os.environ | {"VIRL_CACHE": cache}, cwd=Path(__file__).parents[2], check=True,
                capture_output=True, text=True,
            )  # fmt: skip
            cpu, mib = json.loads(done.stdout)
            found["opened"][what] = {"seconds of a core": cpu, "mib": mib}
            found.show(f"opened, {what:9} {cpu:8.2f} s of a core, {mib:6.0f} MiB at its peak")


def _peak_mib() -> float:
    """Return the most memory that this process has had, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
