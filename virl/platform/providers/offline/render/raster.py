"""Compiled kernels, first pass: which quad does each pixel show?

All kernels are deterministic, hold no lock of the interpreter and keep no state, so several threads may
draw at once. Camera coordinates: X right, Y up, Z forward. What the second pass needs of a drawn quad are
its three linear forms over pixel coordinates (x, y):

    W = 1 / k, S * k = s, T * k = t,   where the ray (x - cx, cy - y, focal) * k hits the quad's plane

and s, t run along its edges 0 -> 1 and 0 -> 3. The form W also orders quads by depth: greater is nearer.
"""

from math import ceil, sqrt

import numpy as np
from virl.platform.providers.offline.render.kernel import inlined, kernel

from virl.platform.providers.offline.render.mesh import CUTOUT, FRONT_ONLY

NEAR_M = 0.08  # chosen: nothing stands nearer to a panorama
MAX_CORNERS = 5  # a quad cut by the near plane

BACKGROUND = -1
"""Marks a pixel that no quad covers: ground or sky."""


@kernel
def cull(eye, frame, half_tan, cells, starts, spheres, planes, mode, reach, smallest, chosen, distance):
    """Write the indices of the quads that may be seen to `chosen`, and their distances; return how many.

    Args:
        eye: camera position, (3,).
        frame: rows right, up, forward, (3, 3).
        half_tan: tangents of half the horizontal and vertical fov.
        cells: centre and radius of the grid's cells, (c, 4).
        starts: first quad of each cell and the end, (c + 1,).
        spheres: centre and radius of the quads, (n, 4).
        planes: unit normal of the quads, (n, 3).
        mode: how quads are drawn, (n,).
        reach: metres beyond which nothing is drawn.
        smallest: radius over distance below which a quad is left out.
    """
    slack_x = sqrt(1 + half_tan[0] ** 2)
    slack_y = sqrt(1 + half_tan[1] ** 2)
    found = 0
    for cell in range(len(cells)):
        if starts[cell] == starts[cell + 1]:
            continue
        radius = cells[cell, 3]
        dx, dy, dz = cells[cell, 0] - eye[0], cells[cell, 1] - eye[1], cells[cell, 2] - eye[2]
        if sqrt(dx * dx + dy * dy) - radius > reach:
            continue
        z = dx * frame[2, 0] + dy * frame[2, 1] + dz * frame[2, 2]
        if z < -radius:
            continue
        x = dx * frame[0, 0] + dy * frame[0, 1] + dz * frame[0, 2]
        if abs(x) > z * half_tan[0] + radius * slack_x:
            continue
        for q in range(starts[cell], starts[cell + 1]):
            radius = spheres[q, 3]
            dx, dy, dz = spheres[q, 0] - eye[0], spheres[q, 1] - eye[1], spheres[q, 2] - eye[2]
            far = sqrt(dx * dx + dy * dy + dz * dz)
            if far > reach or radius < smallest * far:
                continue
            if mode[q] == FRONT_ONLY and dx * planes[q, 0] + dy * planes[q, 1] + dz * planes[q, 2] >= 0.0:
                continue
            z = dx * frame[2, 0] + dy * frame[2, 1] + dz * frame[2, 2]
            if z < -radius:
                continue
            x = dx * frame[0, 0] + dy * frame[0, 1] + dz * frame[0, 2]
            y = dx * frame[1, 0] + dy * frame[1, 1] + dz * frame[1, 2]
            if abs(x) > z * half_tan[0] + radius * slack_x or abs(y) > z * half_tan[1] + radius * slack_y:
                continue
            chosen[found] = q
            distance[found] = far - 0.5 * radius
            found += 1
    return found


@kernel
def project(corners, eye, frame, focal, cx, cy, seen, polygon):
    """Write the picture polygon of a quad cut at the near plane; return its number of corners, 0 if hidden.

    `seen` (4, 3) receives the corners in camera coordinates.
    """
    for i in range(4):
        dx, dy, dz = corners[i, 0] - eye[0], corners[i, 1] - eye[1], corners[i, 2] - eye[2]
        for axis in range(3):
            seen[i, axis] = dx * frame[axis, 0] + dy * frame[axis, 1] + dz * frame[axis, 2]
    count = 0
    for i in range(4):
        j = (i + 1) & 3
        z, next_z = seen[i, 2], seen[j, 2]
        if z >= NEAR_M:
            scale = focal / z
            polygon[count, 0], polygon[count, 1] = cx + seen[i, 0] * scale, cy - seen[i, 1] * scale
            count += 1
        if (z >= NEAR_M) != (next_z >= NEAR_M):
            share = (NEAR_M - z) / (next_z - z)
            scale = focal / NEAR_M
            polygon[count, 0] = cx + (seen[i, 0] + share * (seen[j, 0] - seen[i, 0])) * scale
            polygon[count, 1] = cy - (seen[i, 1] + share * (seen[j, 1] - seen[i, 1])) * scale
            count += 1
    return count


@kernel
def linear_forms(seen, focal, cx, cy, forms):
    """Write W, S and T of a quad in camera coordinates as (constant, per x, per y).

    Returns:
        Whether its plane is seen at an angle at all.
    """
    o = (seen[0, 0], seen[0, 1], seen[0, 2])
    e1 = (seen[1, 0] - o[0], seen[1, 1] - o[1], seen[1, 2] - o[2])
    e2 = (seen[3, 0] - o[0], seen[3, 1] - o[1], seen[3, 2] - o[2])
    normal = _cross(e1, e2)
    area = _dot(normal, normal)
    depth = _dot(normal, o)
    if depth * depth <= 1e-12 * area:
        return False
    g1, g2 = _cross(e2, normal), _cross(normal, e1)
    s0, t0 = _dot(g1, o) / area, _dot(g2, o) / area
    for row, v, scale in ((0, normal, depth), (3, g1, area), (6, g2, area)):
        forms[row] = (focal * v[2] - cx * v[0] + cy * v[1]) / scale
        forms[row + 1] = v[0] / scale
        forms[row + 2] = -v[1] / scale
    for i in range(3):
        forms[3 + i] -= s0 * forms[i]
        forms[6 + i] -= t0 * forms[i]
    return True


@kernel
def _cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def _span(polygon, count, y, width):
    """First pixel and end of the pixels of a row whose centres a convex polygon covers."""
    left, right = 1e30, -1e30
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        y0, y1 = polygon[i, 1], polygon[j, 1]
        if (y0 <= y) != (y1 <= y):
            x = polygon[i, 0] + (y - y0) / (y1 - y0) * (polygon[j, 0] - polygon[i, 0])
            left, right = min(left, x), max(right, x)
    if left > right:
        return 0, 0
    first = max(0, int(ceil(max(left, -1.0) - 0.5)))
    end = min(width, int(ceil(min(right, width + 1.0) - 0.5)))
    return first, end


@inlined
def _rows(polygon, count, height):
    top, bottom = 1e30, -1e30
    for i in range(count):
        top, bottom = min(top, polygon[i, 1]), max(bottom, polygon[i, 1])
    first = max(0, int(ceil(max(top, -1.0) - 0.5)))
    return first, min(height, int(ceil(min(bottom, height + 1.0) - 0.5)))


@kernel
def draw(
    order, corners, uv, texture, mode, table, texels, eye, frame, focal, cx, cy,
    depth, shown, forms, polygons, counts,
):  # fmt: skip
    """Draw quads in order into `depth` (the form W, 0 where nothing is) and `shown` (place in `order`)."""
    height, width = depth.shape
    seen = np.empty((4, 3))
    for k in range(len(order)):
        q = order[k]
        polygon, form = polygons[k], forms[k]
        counts[k] = 0
        count = project(corners[q], eye, frame, focal, cx, cy, seen, polygon)
        if count < 3 or not linear_forms(seen, focal, cx, cy, form):
            continue
        counts[k] = count
        first_row, end_row = _rows(polygon, count, height)
        if mode[q] == CUTOUT:
            for row in range(first_row, end_row):
                first, end = _span(polygon, count, row + 0.5, width)
                if first < end:
                    _fill_cutout(
                        k, row, first, end, form, uv[q], table[texture[q]], texels, depth[row], shown[row]
                    )
            continue
        slope = np.float32(form[1])
        for row in range(first_row, end_row):
            first, end = _span(polygon, count, row + 0.5, width)
            if first < end:
                start = np.float32(form[0] + form[1] * (first + 0.5) + form[2] * (row + 0.5))
                _fill(k, start, slope, depth[row, first:end], shown[row, first:end])


@inlined
def _fill(k, start, slope, depth, shown):
    for i in range(len(depth)):
        w = start + np.float32(i) * slope
        if w > depth[i]:
            depth[i] = w
            shown[i] = k


@kernel
def _fill_cutout(k, row, first, end, form, uv, entry, texels, depth, shown):
    """Fill where the texture's opacity is at least a half, at the mip level that fits the row's start."""
    y = row + 0.5
    wide, high = entry[2], entry[3]
    w = form[0] + form[1] * (first + 0.5) + form[2] * y
    s = (form[3] + form[4] * (first + 0.5) + form[5] * y) / w
    t = (form[6] + form[7] * (first + 0.5) + form[8] * y) / w
    across = max(
        abs((form[4] - s * form[1]) / w * uv[2]) * wide, abs((form[7] - t * form[1]) / w * uv[3]) * high
    )
    level, offset = 0, entry[1]
    while across > 1.5 and level + 1 < entry[4]:
        offset += wide * high
        wide, high = max(1, wide >> 1), max(1, high >> 1)
        across *= 0.5
        level += 1
    for x in range(first, end):
        w = form[0] + form[1] * (x + 0.5) + form[2] * y
        if np.float32(w) <= depth[x]:
            continue
        s = (form[3] + form[4] * (x + 0.5) + form[5] * y) / w
        t = (form[6] + form[7] * (x + 0.5) + form[8] * y) / w
        column = int((uv[0] + s * uv[2]) * wide) & (wide - 1)
        line = int((uv[1] + t * uv[3]) * high) & (high - 1)
        if texels[offset + line * wide + column] >> np.uint32(25):
            depth[x] = np.float32(w)
            shown[x] = k
