"""How fast are views drawn? Views a second on one core, from random panoramas of Virlton.

    python -m benchmarks.perf.render [--views 200] [--seed 0]

Every view is of another panorama, at a random heading, pitch 0 to 10 and fov 60 to 90, 640 by 640 pixels.
Compiling the kernels (kept on disk) and the first picture (which draws the ground and the textures) are
reported apart; lettering of signs that come into view is counted.
"""

import argparse
import resource
import time

import numpy as np

from virl.platform.providers.offline.life.shops import move_in
from virl.platform.providers.offline.plan import CityPlan
from virl.platform.providers.offline.render.renderer import CityRenderer
from virl.platform.providers.offline.town.layout import lay_out
from virl.platform.streetview import Camera


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--views", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    layout = lay_out(options.seed)
    plan = CityPlan(options.seed, layout, move_in(layout, options.seed))
    before = _peak_mib()

    start = time.perf_counter()
    renderer = CityRenderer(plan)
    print(f"constructor      {time.perf_counter() - start:8.3f} s")
    xy = layout.panoramas.xy
    for name in ("first picture", "second picture"):
        start = time.perf_counter()
        renderer.picture(xy[0, 0], xy[0, 1], Camera(0.0))
        print(f"{name:16} {time.perf_counter() - start:8.3f} s")

    rng = np.random.default_rng(options.seed)
    chosen = rng.choice(len(xy), options.views, replace=options.views > len(xy))
    cameras = [
        Camera(float(rng.uniform(0, 360)), float(rng.uniform(0, 10)), float(rng.uniform(60, 90)))
        for _ in range(options.views)
    ]
    wall, cpu = time.perf_counter(), time.thread_time()
    for (x, y), camera in zip(xy[chosen], cameras, strict=True):
        renderer.picture(x, y, camera)
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    print(f"views a second   {options.views / cpu:8.1f} per core ({options.views / wall:.1f} by the clock)")
    print(f"memory           {_peak_mib() - before:8.0f} MiB more than plan and interpreter, at its peak")


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
