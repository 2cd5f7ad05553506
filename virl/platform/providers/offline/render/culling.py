"""Compiled kernel, before the first pass: which quads may be seen at all?"""

from math import sqrt

from virl.geo import Floats, Ints
from virl.platform.providers.offline.render.kernel import inlined, kernel
from virl.platform.providers.offline.render.lens import Lens
from virl.platform.providers.offline.render.mesh import FRONT_ONLY
from virl.platform.providers.offline.render.scene import Scene


@kernel
def cull(lens: Lens, scene: Scene, reach: float, smallest: float, chosen: Ints, distance: Floats) -> int:
    """Find the quads that may be seen.

    Args:
        lens: the camera.
        scene: the quads.
        reach: metres beyond which nothing is drawn.
        smallest: radius over distance below which a quad is left out.
        chosen: receives the indices of the quads, (n,).
        distance: receives their distances, (n,).

    Returns:
        How many there are.
    """
    cells, starts = scene.cells, scene.starts
    spheres, planes, mode = scene.spheres, scene.planes, scene.mode
    eye_x, eye_y, eye_z = lens.eye[0], lens.eye[1], lens.eye[2]
    frame, wide, high = lens.frame, lens.cx / lens.focal, lens.cy / lens.focal
    found = 0
    for cell in range(len(cells)):
        x, y, z = cells[cell, 0] - eye_x, cells[cell, 1] - eye_y, cells[cell, 2] - eye_z
        if sqrt(x * x + y * y) - cells[cell, 3] > reach or not _in_sight(
            frame, wide, high, x, y, z, cells[cell, 3]
        ):
            continue
        for q in range(starts[cell], starts[cell + 1]):
            x, y, z = spheres[q, 0] - eye_x, spheres[q, 1] - eye_y, spheres[q, 2] - eye_z
            far = sqrt(x * x + y * y + z * z)
            if far > reach or spheres[q, 3] < smallest * far:
                continue
            if mode[q] == FRONT_ONLY and x * planes[q, 0] + y * planes[q, 1] + z * planes[q, 2] >= 0.0:
                continue
            if _in_sight(frame, wide, high, x, y, z, spheres[q, 3]):
                chosen[found] = q
                distance[found] = far - 0.5 * spheres[q, 3]
                found += 1
    return found


@inlined
def _in_sight(frame: Floats, wide: float, high: float, x: float, y: float, z: float, radius: float) -> bool:
    """Whether some of a sphere around a point relative to the eye may be in the picture.

    `wide` and `high` are the tangents of half the fields of view.
    """
    ahead = x * frame[2, 0] + y * frame[2, 1] + z * frame[2, 2]
    right = abs(x * frame[0, 0] + y * frame[0, 1] + z * frame[0, 2])
    up = abs(x * frame[1, 0] + y * frame[1, 1] + z * frame[1, 2])
    return bool(
        ahead >= -radius
        and right <= ahead * wide + radius * sqrt(1 + wide * wide)
        and up <= ahead * high + radius * sqrt(1 + high * high)
    )
