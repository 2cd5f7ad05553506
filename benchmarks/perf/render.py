"""How fast are views drawn? Views a second on one core, from random panoramas of Virlton.

    python -m benchmarks.perf.render [--views 200] [--seed 0] [--json]

Every view is of another panorama, at a random heading, pitch 0 to 10 and fov 60 to 90, 640 by 640 pixels.
Compiling the kernels (kept on disk) and the first picture (which draws the ground and the textures) are
reported apart; lettering of signs that come into view is counted.
"""

import resource
import time

import numpy as np

from virl.platform.providers.offline.life.shops import move_in
from virl.platform.providers.offline.plan import CityPlan
from virl.platform.providers.offline.render.renderer import CityRenderer
from virl.platform.providers.offline.town.layout import lay_out
from virl.platform.streetview import Camera

from .figures import Figures, command, figures


def main() -> None:
    """Measure and print."""
    parser = command(__doc__)
    parser.add_argument("--views", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with figures(options) as found:
        _measure(found, options.views, options.seed)


def _measure(found: Figures, views: int, seed: int) -> None:
    layout = lay_out(seed)
    plan = CityPlan(seed, layout, move_in(layout, seed))
    before = _peak_mib()

    start = time.perf_counter()
    renderer = CityRenderer(plan)
    found["seconds"] = {"constructor": time.perf_counter() - start}
    found.show(f"constructor      {found['seconds']['constructor']:8.3f} s")
    xy = layout.panoramas.xy
    for name in ("first picture", "second picture"):
        start = time.perf_counter()
        renderer.picture(xy[0, 0], xy[0, 1], Camera(0.0))
        found["seconds"][name] = time.perf_counter() - start
        found.show(f"{name:16} {found['seconds'][name]:8.3f} s")

    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(xy), views, replace=views > len(xy))
    cameras = [
        Camera(float(rng.uniform(0, 360)), float(rng.uniform(0, 10)), float(rng.uniform(60, 90)))
        for _ in range(views)
    ]
    wall, cpu = time.perf_counter(), time.thread_time()
    for (x, y), camera in zip(xy[chosen], cameras, strict=True):
        renderer.picture(x, y, camera)
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    found["views_a_second"] = {"per core": views / cpu, "by the clock": views / wall}
    found["mib"] = _peak_mib() - before
    found.show(f"views a second   {views / cpu:8.1f} per core ({views / wall:.1f} by the clock)")
    found.show(f"memory           {found['mib']:8.0f} MiB more than plan and interpreter, at its peak")


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
