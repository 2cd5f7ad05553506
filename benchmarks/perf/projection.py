"""How fast are views cut out of a panorama? Views a second beside py360convert, in the same run.

    python -m benchmarks.perf.projection [--views 100] [--width 3328] [--seed 0] [--fov 60] [--json]

Every view is at a random heading, 800 by 460 pixels, bilinear, out of one panorama of noise. `moving pitch`
draws a pitch in [-30, 30] for each view, so that no rays are shared between views; the others look level, as
the views along a street do. Both sides run on one thread and are timed by the processor's clock.
py360convert is no part of virl: `pip install py360convert`. The exit code is 1 where virl is not ten times as
fast.
"""

import sys
import time
from collections.abc import Callable, Sequence

import cv2
import numpy as np

from virl.platform.city.streetview import Camera, Image
from virl.platform.providers.pictures.projection import equirectangular, perspective

from .figures import Figures, command, figures

SIZE = (800, 460)  # of the views that VELMA shows to CLIP
GOAL = 10.0  # times the views a second of py360convert


def main() -> int:
    """Measure and print the views a second; return 1 if virl misses `GOAL`, else 0."""
    parser = command(__doc__)
    parser.add_argument(
        "--views", type=int, default=100, help="views to make with virl; py360convert makes a tenth"
    )
    parser.add_argument("--width", type=int, default=3328, help="width of the panorama in pixels")
    parser.add_argument("--fov", type=float, default=60.0, help="field of view in degrees")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        import py360convert  # noqa: PLC0415 - only this comparison needs it
    except ImportError:
        sys.exit("py360convert is missing: pip install py360convert")

    rng = np.random.default_rng(options.seed)
    pixels = rng.integers(0, 256, (options.width // 2, options.width, 3), dtype=np.uint8)
    width, height = SIZE
    headings = rng.uniform(-180, 180, options.views).tolist()
    level = [Camera(heading, 0.0, options.fov, width, height) for heading in headings]
    moving = [Camera(one.heading, float(rng.uniform(-30, 30)), one.fov, width, height) for one in level]

    def theirs(camera: Camera) -> None:
        """Draw a camera's view with py360convert."""
        fov = (camera.fov, camera.vertical_fov)
        turn = (camera.heading + 180) % 360 - 180
        py360convert.e2p(pixels, fov, turn, camera.pitch, (height, width), mode="bilinear")

    with figures(options) as found:
        return _compare(found, theirs, pixels, level, moving)


def _compare(
    found: Figures,
    theirs: Callable[[Camera], None],
    pixels: Image,
    level: Sequence[Camera],
    moving: Sequence[Camera],
) -> int:
    """Record the views a second of py360convert (`theirs`) and virl; return 1 if virl misses the goal."""
    width, height = SIZE
    found.show(f"{width}x{height} views out of {pixels.shape[1]}x{pixels.shape[0]}; OpenCV {cv2.__version__}")
    cv2.setNumThreads(1)
    panorama = equirectangular(pixels)
    base = _views_a_second(theirs, level[: max(len(level) // 10, 3)])
    found["views_a_second"] = {"py360convert": base}
    found.show(f"py360convert.e2p   {base:8.1f} views a second")
    ratios = []
    for name, cameras in (("level", level), ("moving pitch", moving)):
        rate = _views_a_second(lambda camera: perspective(panorama, camera), cameras)
        ratios.append(rate / base)
        found["views_a_second"][name] = rate
        found.show(f"virl, {name:12} {rate:8.1f} views a second: {rate / base:.1f} times")
    found["least_ratio"] = min(ratios)
    found.show(f"least ratio {min(ratios):.1f}; the goal is {GOAL:g}")
    return int(min(ratios) < GOAL)


def _views_a_second(draw: Callable[[Camera], object], cameras: Sequence[Camera]) -> float:
    """Return the views a second that `draw` makes of the cameras, by processor time."""
    draw(cameras[0])
    start = time.process_time()
    for camera in cameras:
        draw(camera)
    return len(cameras) / (time.process_time() - start)


if __name__ == "__main__":
    sys.exit(main())
