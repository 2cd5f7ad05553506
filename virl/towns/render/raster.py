"""Compiled kernels, first pass: which quads may be seen, and which one does each pixel show?

Camera coordinates: X right, Y up, Z forward. What the second pass needs of a drawn quad are its three
linear forms over pixel coordinates (x, y):

    W = 1 / k, S * k = s, T * k = t,   where the ray (x - cx, cy - y, focal) * k hits the quad's plane

and s, t run along its edges 0 -> 1 and 0 -> 3. The form W also orders quads by depth: greater is nearer.
"""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.towns.render.hidden import blank_tiles, is_cell_hidden, is_sphere_hidden, note_farthest
from virl.towns.render.kernel import array_part, inline_kernel, kernel, part
from virl.towns.render.lens import NEAR_M, Lens
from virl.towns.render.mesh import CARD, CUTOUT, DETAIL, FIGURE, FRONT_ONLY, Singles
from virl.towns.render.scene import Scene
from virl.towns.render.surfaces import SIDE
from virl.towns.render.textures import Textures, Words, column_start, row_start

Triple = tuple[float, float, float]

MAX_CORNERS = 5
"""Largest number of corners of a quad that the near plane has cut."""
SIDE_BITS = SIDE.bit_length() - 1

SMALLEST_PIXELS = 1.0
"""Radius in pixels below which a quad is not drawn; chosen."""
LEAST_PIXELS = 5.0, 12.0
"""Radii in smallest pixels below which a `DETAIL` and a `TUFT` are not drawn; chosen: a railing is left out
from 80 m on at 640 pixels and from 11 m on at 84, grass from 12 m on and always."""
FAR_M, METRE_PIXELS = 80.0, 1.0
"""Distance in metres, or size of a metre in pixels, from which on flat pictures stand for trees; chosen."""
EDGE_ON, HEAD_ON = 0.34, 0.9238
"""Sines of 20 and of 67.5 degrees, between a line of sight and a card: leaves show above, figures too."""
NO_OWNER = 1 << 30
"""Number greater than that of any owner."""
_STAGES_M = ((-1e30, 30.0), (30.0, 90.0), (90.0, 1e30))
"""Ranges of distance in metres: quads of one are drawn before those of the next are looked at; chosen."""

BACKGROUND = -1
"""Value of `shown` at a pixel that no quad covers: ground or sky."""


class GeometryBuffer(NamedTuple):
    """The result of the first pass: which quad each pixel shows, and how far off it is.

    Args:
        order: the m quads that were drawn, nearest first, (m,).
        depth: the form W of the quad that a pixel shows, or 0, (height, width).
        shown: its place in `order`, or `BACKGROUND`, (height, width).
        forms: W, S and T, each as (constant, per x, per y), (m, 9).
        polygons: outlines in the picture, (m, `MAX_CORNERS`, 2).
        counts: corners of each outline, 0 if nothing of it is before the camera, (m,); below 0 for a
            cutout, whose outline says little.
    """

    order: Ints
    depth: Singles
    shown: NDArray[np.int32]
    forms: Floats
    polygons: Floats
    counts: Ints


class _Line(NamedTuple):
    """A quad on a row of pixels: index, W (1 / depth), S and T (place on it / depth), and their growth."""

    k: int
    w: float
    s: float
    t: float
    dw: float
    ds: float
    dt: float


class Stage(NamedTuple):
    """A stage of a drawing: quads in a range of distances, without those of owners from a number on.

    Args:
        low: metres from the eye to a quad's middle less half its radius, from which on.
        high: such metres, up to but without which.
        reach: metres to the middle of a quad beyond which nothing is drawn.
        owners: number of the first owner whose quads, like those of later ones, are left out.
    """

    low: float
    high: float
    reach: float
    owners: int


def blank_drawing(order: Ints, lens: Lens) -> GeometryBuffer:
    """Return an empty drawing, in which no pixel shows any of the quads of `order`, nearest first."""
    shape = (lens.height, lens.width)
    return GeometryBuffer(
        order,
        np.zeros(shape, np.float32),
        np.full(shape, BACKGROUND, np.int32),
        np.empty((len(order), 9)),
        np.empty((len(order), MAX_CORNERS, 2)),
        np.empty(len(order), np.int64),
    )


@kernel
def project(corners: Singles, lens: Lens, seen: Floats, polygon: Floats) -> int:
    """Write a quad's outline in the picture, and return its number of corners; 0 if all is behind.

    Args:
        corners: metres, (4, 3).
        lens: the camera.
        seen: receives the corners in camera coordinates, (4, 3).
        polygon: receives the outline in pixels, (`MAX_CORNERS`, 2).

    Returns:
        The number of corners of the outline, 0 if all is behind the near plane.
    """
    eye, frame = lens.eye, lens.frame
    for i in range(4):
        x, y, z = corners[i, 0] - eye[0], corners[i, 1] - eye[1], corners[i, 2] - eye[2]
        for axis in range(3):
            seen[i, axis] = x * frame[axis, 0] + y * frame[axis, 1] + z * frame[axis, 2]
    count = 0
    for i in range(4):
        j = (i + 1) & 3
        z, next_z = seen[i, 2], seen[j, 2]
        if z >= NEAR_M:
            scale = lens.focal / z
            polygon[count, 0], polygon[count, 1] = lens.cx + seen[i, 0] * scale, lens.cy - seen[i, 1] * scale
            count += 1
        # The side is cut at the near plane: what lies behind the eye would be projected upside down.
        if (z >= NEAR_M) != (next_z >= NEAR_M):
            share = (NEAR_M - z) / (next_z - z)
            scale = lens.focal / NEAR_M
            polygon[count, 0] = lens.cx + (seen[i, 0] + share * (seen[j, 0] - seen[i, 0])) * scale
            polygon[count, 1] = lens.cy - (seen[i, 1] + share * (seen[j, 1] - seen[i, 1])) * scale
            count += 1
    return count


@kernel
def linear_forms(seen: Floats, lens: Lens, forms: Floats) -> bool:
    """Return whether a quad is not edge-on; write W (1 / depth), S, T (place on it / depth) to `forms`.

    Args:
        seen: corners in camera coordinates, (4, 3).
        lens: of the camera.
        forms: (3, 3); is written.
    """
    o = (seen[0, 0], seen[0, 1], seen[0, 2])
    e1 = (seen[1, 0] - o[0], seen[1, 1] - o[1], seen[1, 2] - o[2])
    e2 = (seen[3, 0] - o[0], seen[3, 1] - o[1], seen[3, 2] - o[2])
    normal = _cross(e1, e2)
    area = _dot(normal, normal)
    depth = _dot(normal, o)
    # The plane goes through the eye, so that it is seen edge-on and covers nothing.
    if depth * depth <= 1e-12 * area:
        return False
    g1, g2 = _cross(e2, normal), _cross(normal, e1)
    s0, t0 = _dot(g1, o) / area, _dot(g2, o) / area
    for row, v, scale in ((0, normal, depth), (3, g1, area), (6, g2, area)):
        forms[row] = (lens.focal * v[2] - lens.cx * v[0] + lens.cy * v[1]) / scale
        forms[row + 1] = v[0] / scale
        forms[row + 2] = -v[1] / scale
    for i in range(3):
        forms[3 + i] -= s0 * forms[i]
        forms[6 + i] -= t0 * forms[i]
    return True


@part
def _cross(a: Triple, b: Triple) -> Triple:
    """Return the cross product of two vectors."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@part
def _dot(a: Triple, b: Triple) -> float:
    """Return the dot product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline_kernel
def _pixels_between(low: float, high: float, size: int) -> tuple[int, int]:
    """Return (first, end) of the pixels of `size` whose centres lie in [low, high)."""
    return max(0, ceil(max(low, -1.0) - 0.5)), min(size, ceil(min(high, size + 1.0) - 0.5))


@part
def _span(polygon: Floats, count: int, y: float, width: int) -> tuple[int, int]:
    """Return (first, end) of the pixels of a row whose centres a convex polygon covers."""
    left, right = 1e30, -1e30
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        y0, y1 = polygon[i, 1], polygon[j, 1]
        # Half open, so that an outline that passes a corner right on the row is crossed there once.
        if (y0 <= y) != (y1 <= y):
            x = polygon[i, 0] + (y - y0) / (y1 - y0) * (polygon[j, 0] - polygon[i, 0])
            left, right = min(left, x), max(right, x)
    return _pixels_between(left, right, width)


@kernel
def draw(
    drawing: GeometryBuffer, begin: int, stop: int, scene: Scene, textures: Textures, lens: Lens
) -> None:
    """Draw into `drawing` the quads `begin` up to but without `stop` of its list `order`.

    Args:
        drawing: is changed.
        begin: number of quads that are drawn already.
        stop: number of quads that are drawn afterwards.
        scene: quads of the city.
        textures: of the city.
        lens: of the camera.
    """
    _draw(drawing, begin, stop, scene, textures, lens, np.empty((4, 3)))


@part
def _draw(
    drawing: GeometryBuffer, begin: int, stop: int, scene: Scene, textures: Textures, lens: Lens, seen: Floats
) -> None:
    """Draw quads as `draw` does."""
    order, depth, shown, forms = drawing.order, drawing.depth, drawing.shown, drawing.forms
    polygons, counts = drawing.polygons, drawing.counts
    corners, uv, texture, mode = scene.corners, scene.uv, scene.texture, scene.mode
    table, texels = textures.table, textures.texels
    height, width = shown.shape
    for k in range(begin, stop):
        q = order[k]
        polygon, form = polygons[k], forms[k]
        counts[k] = 0
        count = project(corners[q], lens, seen, polygon)
        if count < 3:
            continue
        left, right, top, bottom = 1e30, -1e30, 1e30, -1e30
        for i in range(count):
            left, right = min(left, polygon[i, 0]), max(right, polygon[i, 0])
            top, bottom = min(top, polygon[i, 1]), max(bottom, polygon[i, 1])
        first_row, end_row = _pixels_between(top, bottom, height)
        first, end = _pixels_between(left, right, width)
        # What falls between the middles of pixels, as most that is far off does, needs no forms.
        if first_row >= end_row or first >= end or not linear_forms(seen, lens, form):
            continue
        # A cutout has holes, so that its outline is no edge to be smoothed: the sign of its count says so.
        cutout = mode[q] >= CUTOUT
        counts[k] = -count if cutout else count
        for row in range(first_row, end_row):
            first, end = _span(polygon, count, row + 0.5, width)
            if first >= end:
                continue
            start = form[0] + form[1] * (first + 0.5) + form[2] * (row + 0.5)
            if cutout:
                s = form[3] + form[4] * (first + 0.5) + form[5] * (row + 0.5)
                t = form[6] + form[7] * (first + 0.5) + form[8] * (row + 0.5)
                line = _Line(k, start, s, t, form[1], form[4], form[7])
                _fill_cutout(
                    line,
                    uv[q],
                    table[texture[q]],
                    texels,
                    depth[row, first:end],
                    shown[row, first:end],
                    26 if mode[q] == FIGURE else 128,
                )
            else:
                _fill(k, np.float32(start), np.float32(form[1]), depth[row, first:end], shown[row, first:end])


@kernel
def draw_in_sight(
    drawing: GeometryBuffer,
    scene: Scene,
    textures: Textures,
    whole: Lens,
    lens: Lens,
    reach: float,
    owners: int,
) -> int:
    """Draw into `drawing` what may be seen, without most of what is hidden; return the number of quads.

    Args:
        drawing: is changed; its `order` has room for all quads of the scene.
        scene: quads of the city.
        textures: of the city.
        whole: the camera.
        lens: that of the part of its picture which is drawn; the camera again for all of it.
        reach: metres to the middle of a quad beyond which nothing is drawn.
        owners: number of the first owner whose quads, like those of later ones, are left out.
    """
    cells = _cells_in_sight(scene, whole, reach)
    distance = np.empty(len(drawing.order))
    drawn = 0
    for low, high in _STAGES_M:
        chosen = drawing.order[drawn:]
        stage = Stage(low, high, reach, owners)
        found = _cull(scene, cells, whole, lens, stage, drawing.depth, chosen, distance)
        draw(drawing, drawn, drawn + found, scene, textures, lens)
        drawn += found
    return drawn


@kernel
def find_in_sight(scene: Scene, lens: Lens, reach: float, chosen: Ints) -> int:
    """Write the quads that may be seen to `chosen`, nearest first; return how many.

    Args:
        scene: the quads.
        lens: the camera.
        reach: metres to the middle of a quad beyond which it is not seen.
        chosen: receives their indices, (n,).
    """
    everything, nothing = Stage(-1e30, 1e30, reach, NO_OWNER), np.empty((0, 0), np.float32)
    distance = np.empty(len(chosen))
    return _cull(
        scene, _cells_in_sight(scene, lens, reach), lens, lens, everything, nothing, chosen, distance
    )


@array_part
def _sort_nearest(distance: Floats, quads: Ints) -> None:
    """Sort quads by distance, and those equally far by number, both in place."""
    count = len(quads)
    if count == 0:
        return
    # First into as many ranges of distance as there are quads, which leaves little to be moved.
    low, far, numbers = distance.min(), distance.copy(), quads.copy()
    per = (count - 1) / max(distance.max() - low, 1e-9)
    starts = np.zeros(count + 1, np.int64)
    for i in range(count):
        starts[int((far[i] - low) * per) + 1] += 1
    for i in range(count):
        starts[i + 1] += starts[i]
    for i in range(count):
        which = int((far[i] - low) * per)
        distance[starts[which]], quads[starts[which]] = far[i], numbers[i]
        starts[which] += 1
    for i in range(1, count):
        key, quad = distance[i], quads[i]
        j = i - 1
        while j >= 0 and (distance[j] > key or (distance[j] == key and quads[j] > quad)):
            distance[j + 1], quads[j + 1] = distance[j], quads[j]
            j -= 1
        distance[j + 1], quads[j + 1] = key, quad


@kernel
def mark_shown(drawing: GeometryBuffer, marks: NDArray[np.bool_]) -> None:
    """Set `marks` to True, in place, at the index in `order` of each quad that some pixel shows."""
    shown = drawing.shown
    for row in range(shown.shape[0]):
        for column in range(shown.shape[1]):
            if shown[row, column] >= 0:
                marks[shown[row, column]] = True


@inline_kernel
def _fill(k: int, start: np.float32, slope: np.float32, depth: Singles, shown: NDArray[np.int32]) -> None:
    """Write quad `k` to a row's pixels where it is nearest; `start`, `slope`: of 1 / depth in the row."""
    for i in range(len(depth)):
        # W grows as depth falls, and runs linearly over the row: no division a pixel.
        w = start + np.float32(i) * slope
        if w > depth[i]:
            depth[i] = w
            shown[i] = k


@part
def _fill_cutout(
    line: _Line, uv: Singles, entry: Ints, texels: Words, depth: Singles, shown: NDArray[np.int32], least: int
) -> None:
    """Write a quad to the pixels of a row where it is the nearest and its opacity, of 255, at `least` so."""
    # S and T are linear in the picture only when divided by depth, so each pixel divides by its own W.
    s, t = line.s / line.w, line.t / line.w
    across = abs((line.ds - s * line.dw) / line.w * uv[2]) * SIDE
    across = max(across, abs((line.dt - t * line.dw) / line.w * uv[3]) * SIDE)
    offset, bits = entry[1], SIDE_BITS
    while across > 1.5 and bits > 2:
        offset += 1 << (2 * bits)
        across *= 0.5
        bits -= 1
    side = 1 << bits
    for i in range(len(depth)):
        w = line.w + i * line.dw
        # Hidden pixels are skipped before the texture is looked up.
        if np.float32(w) <= depth[i]:
            continue
        column = int((uv[0] + (line.s + i * line.ds) / w * uv[2]) * side) & (side - 1)
        row = int((uv[1] + (line.t + i * line.dt) / w * uv[3]) * side) & (side - 1)
        if texels[offset + row_start(row, bits) + column_start(column)] >> np.uint32(24) >= least:
            depth[i] = np.float32(w)
            shown[i] = line.k


@inline_kernel
def faces(
    mode: int, nx: float, ny: float, nz: float, x: float, y: float, z: float, far: float, flat: float
) -> bool:
    """Return whether a quad shows its face to the eye.

    Args:
        mode: of the quad.
        nx: of its normal, east.
        ny: north.
        nz: up.
        x: metres east of the eye.
        y: metres north of the eye.
        z: metres above the eye.
        far: metres from the eye.
        flat: metres from which on flat pictures stand for trees.
    """
    toward = -(x * nx + y * ny + z * nz)
    if mode == FRONT_ONLY:
        return toward > 0.0
    if mode == CARD:
        return far < flat + 4.0 and abs(toward) >= EDGE_ON * far
    if mode < CARD or mode >= DETAIL:
        return True
    # Turned about the upright alone, whatever the camera's height.
    toward = -(x * nx + y * ny)
    head_on = toward * toward >= HEAD_ON * HEAD_ON * (x * x + y * y) * (nx * nx + ny * ny)
    return head_on and (toward > 0.0 if mode == FIGURE else far >= flat)


@kernel
def mark_facing(scene: Scene, members: Ints, lens: Lens, marks: NDArray[np.bool_]) -> None:
    """Set `marks`, in place, to whether each quad in `members` shows its face to the camera.

    Args:
        scene: the quads.
        members: indices of those that are asked for, (n,).
        lens: of the camera.
        marks: is written, (n,).
    """
    planes, spheres, mode, eye = scene.planes, scene.spheres, scene.mode, lens.eye
    flat = min(FAR_M, lens.focal / METRE_PIXELS)
    for i in range(len(members)):
        q = members[i]
        x, y, z = spheres[q, 0] - eye[0], spheres[q, 1] - eye[1], spheres[q, 2] - eye[2]
        far = sqrt(x * x + y * y + z * z)
        marks[i] = faces(mode[q], planes[q, 0], planes[q, 1], planes[q, 2], x, y, z, far, flat)


@array_part
def _cells_in_sight(scene: Scene, lens: Lens, reach: float) -> Ints:
    """Return the numbers of the cells of which a picture may show something within `reach` metres."""
    cells, found = scene.cells, 0
    eye_x, eye_y, eye_z = lens.eye[0], lens.eye[1], lens.eye[2]
    frame, wide, tall = lens.frame, lens.cx / lens.focal, lens.cy / lens.focal
    chosen = np.empty(len(cells), np.int64)
    for cell in range(len(cells)):
        x, y, z = cells[cell, 0] - eye_x, cells[cell, 1] - eye_y, cells[cell, 2] - eye_z
        most = reach + cells[cell, 3]
        if x * x + y * y <= most * most and _in_sight(frame, wide, tall, x, y, z, cells[cell, 3]):
            chosen[found] = cell
            found += 1
    return chosen[:found]


@array_part
def _cull(
    scene: Scene,
    within: Ints,
    whole: Lens,
    lens: Lens,
    stage: Stage,
    depth: Singles,
    chosen: Ints,
    distance: Floats,
) -> int:
    """Write the quads of a stage that may be seen to `chosen`, nearest first; return how many.

    Args:
        scene: the quads.
        within: numbers of the cells that are looked at.
        whole: the camera.
        lens: that of the part of its picture which is drawn; the camera again for all of it.
        stage: what is looked at.
        depth: the form W of what each pixel of the part shows after the stages before, (height, width).
        chosen: receives the indices of the quads, (n,).
        distance: scratch, (n,).
    """
    tiles = blank_tiles(lens.height, lens.width)
    if stage.low > 0:
        note_farthest(depth, tiles)
    cells, starts, spheres, owner = scene.cells, scene.starts, scene.spheres, scene.owner
    eye_x, eye_y, eye_z = whole.eye[0], whole.eye[1], whole.eye[2]
    low, high, reach, smallest = stage.low, stage.high, stage.reach, SMALLEST_PIXELS / whole.focal
    planes, mode, owners = scene.planes, scene.mode, stage.owners
    frame, wide, tall = whole.frame, whole.cx / whole.focal, whole.cy / whole.focal
    flat = min(FAR_M, whole.focal / METRE_PIXELS)
    found = 0
    for cell in within:
        x, y, z = cells[cell, 0] - eye_x, cells[cell, 1] - eye_y, cells[cell, 2] - eye_z
        far, radius = sqrt(x * x + y * y + z * z), cells[cell, 3]
        # Whole cells first, which spares a look at most quads.
        if far - radius >= high or far + radius < low:
            continue
        if low > 0 and is_cell_hidden(tiles, cells[cell], lens):
            continue
        least = smallest * (far - radius)
        for q in range(starts[cell], starts[cell + 1]):
            # Those that follow are smaller still.
            if spheres[q, 3] < least:
                break
            x, y, z = spheres[q, 0] - eye_x, spheres[q, 1] - eye_y, spheres[q, 2] - eye_z
            far = sqrt(x * x + y * y + z * z)
            key = far - 0.5 * spheres[q, 3]
            if key < low or key >= high or far > reach or spheres[q, 3] < smallest * far:
                continue
            # Before what is read from more arrays, which may be far off in memory.
            if not _in_sight(frame, wide, tall, x, y, z, spheres[q, 3]):
                continue
            is_tiny = mode[q] >= DETAIL and spheres[q, 3] < LEAST_PIXELS[mode[q] - DETAIL] * smallest * far
            if is_tiny or not faces(mode[q], planes[q, 0], planes[q, 1], planes[q, 2], x, y, z, far, flat):
                continue
            if owner[q] < owners and (low <= 0 or not is_sphere_hidden(tiles, lens, x, y, z, spheres[q, 3])):
                chosen[found], distance[found] = q, key
                found += 1
    _sort_nearest(distance[:found], chosen[:found])
    return found


@inline_kernel
def _in_sight(frame: Floats, wide: float, high: float, x: float, y: float, z: float, radius: float) -> bool:
    """Return whether a sphere around a point relative to the eye may be in the picture.

    `wide` and `high` are the tangents of half the fields of view.
    """
    # The sides of the picture slant: a sphere reaches over them by its radius over their cosine.
    ahead = x * frame[2, 0] + y * frame[2, 1] + z * frame[2, 2]
    right = abs(x * frame[0, 0] + y * frame[0, 1] + z * frame[0, 2])
    up = abs(x * frame[1, 0] + y * frame[1, 1] + z * frame[1, 2])
    return bool(
        ahead >= -radius
        and right <= ahead * wide + radius * sqrt(1 + wide * wide)
        and up <= ahead * high + radius * sqrt(1 + high * high)
    )
