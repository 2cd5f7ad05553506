"""Draws a made city: pictures, whole panoramas, photos of shopfronts, and what can truly be seen."""

from dataclasses import dataclass
from math import atan2, cos, degrees, hypot, radians, sin, tan
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from virl.geo import normalize_heading
from virl.platform.city import Visible
from virl.platform.providers.offline.plan import CAMERA_HEIGHT_M, CityPlan, Shop
from virl.platform.providers.offline.render import textures
from virl.platform.providers.offline.render.backdrop import shade_backdrop
from virl.platform.providers.offline.render.buildings import building_mesh, door_mesh
from virl.platform.providers.offline.render.furniture import furniture_mesh
from virl.platform.providers.offline.render.ground import CELL_M, lay_ground
from virl.platform.providers.offline.render.lettering import letter, texture_size
from virl.platform.providers.offline.render.mesh import Quads, join
from virl.platform.providers.offline.render.panorama import FACE_FOV, FACES, unroll
from virl.platform.providers.offline.render.raster import BACKGROUND, MAX_CORNERS, cull, draw
from virl.platform.providers.offline.render.scene import Scene, build_scene
from virl.platform.providers.offline.render.shade import shade_quads
from virl.platform.providers.offline.render.smooth import smooth_edges
from virl.platform.providers.offline.render.storefronts import sign_mesh, storefront_mesh
from virl.platform.streetview import Camera, Image

Floats = NDArray[np.float64]

REACH_M = 300.0  # chosen: farther off, a street's end is behind its bends and in the haze
SMALLEST_PIXELS = 0.7  # a quad whose radius is below this many pixels is left out; chosen

PHOTO_DISTANCE_M, PHOTO_FOV, PHOTO_SIZE = 9.0, 70.0, (640, 480)

_BACKDROP = np.array([textures.TILE_INDEX[name] for name in ("asphalt", "slabs", "grass", "gravel", "clouds")])


@dataclass(frozen=True, slots=True)
class Lens:
    """A camera at a place, as the kernels take it.

    Args:
        eye: metres, (3,).
        frame: rows right, up, forward, (3, 3).
        focal, cx, cy: pixels.
        width, height: pixels.
    """

    eye: Floats
    frame: Floats
    focal: float
    cx: float
    cy: float
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the first pass found: for each pixel its depth and the place of its quad in `order`."""

    order: NDArray[np.int64]
    depth: NDArray[np.float32]
    shown: NDArray[np.int32]
    forms: Floats
    polygons: Floats
    counts: NDArray[np.int64]


def lens_at(x: float, y: float, camera: Camera) -> Lens:
    """The camera `CAMERA_HEIGHT_M` above a point of the ground, metres."""
    return _lens(x, y, camera.heading, camera.pitch, camera.fov, (camera.width, camera.height))


def _lens(x: float, y: float, heading: float, pitch: float, fov: float, size: tuple[int, int]) -> Lens:
    h, p = radians(heading), radians(pitch)
    frame = np.array(
        [
            [cos(h), -sin(h), 0.0],
            [-sin(p) * sin(h), -sin(p) * cos(h), cos(p)],
            [cos(p) * sin(h), cos(p) * cos(h), sin(p)],
        ]
    )
    width, height = size
    focal = width / 2 / tan(radians(fov / 2))
    return Lens(np.array([x, y, CAMERA_HEIGHT_M]), frame, focal, width / 2, height / 2, width, height)


class CityRenderer:
    """Pictures of one city. Safe to use from several threads; equal calls give equal pixels.

    Textures are drawn when first needed.

    Args:
        plan: what to draw.

    Raises:
        BadInput: a sign has a character that no shipped font can draw.
    """

    def __init__(self, plan: CityPlan) -> None:
        self._plan = plan
        self._signs = [sign for shop in plan.shops for sign in shop.signs]
        self._frontages = {frontage.id: frontage for frontage in plan.layout.frontages}
        self._streets = {street.id: street for street in plan.layout.streets}
        self._first_thing = len(self._signs)
        self._scene: Scene = build_scene(self._mesh())
        self._members = _members(self._scene.owner, len(self._signs) + len(plan.layout.furniture))
        self._ground = lay_ground(plan.layout)
        self._table, size = textures.texture_table([texture_size(sign) for sign in self._signs])
        self._coverage = np.zeros(size, np.uint8)
        self._lettered = np.zeros(len(self._signs), bool)
        self._texels: textures.Words | None = None
        self._lock = Lock()

    def picture(self, x: float, y: float, camera: Camera) -> Image:
        """The picture from `x` metres east and `y` north of the city's origin."""
        return self._render(lens_at(x, y, camera))

    def equirectangular(self, x: float, y: float, width: int = 2048, *, heading: float = 0.0) -> Image:
        """The whole panorama as one picture of `width` by `width` / 2 pixels.

        The centre column looks to `heading` (north by default); columns run clockwise, 360 / `width`
        degrees each; the top row looks up, the bottom row down.
        """
        side = max(16, round(width / 3))
        faces = [
            self._render(_lens(x, y, heading + turn, pitch, FACE_FOV, (side, side))) for turn, pitch in FACES
        ]
        return unroll(faces, width)

    def photo(self, shop: Shop) -> Image:
        """A place photo: its front from across the street, with the furniture of the street left out."""
        frontage = self._frontages[shop.frontage]
        street = self._streets[frontage.street]
        (ax, ay), (bx, by) = frontage.left, frontage.right
        length = hypot(bx - ax, by - ay)
        away = min(PHOTO_DISTANCE_M, max(4.0, street.road + 2 * street.pavement - 1.0))
        out_x, out_y = (by - ay) / length, -(bx - ax) / length
        x, y = (ax + bx) / 2 + out_x * away, (ay + by) / 2 + out_y * away
        heading = normalize_heading(degrees(atan2(-out_x, -out_y)))
        return self._render(_lens(x, y, heading, 2.0, PHOTO_FOV, PHOTO_SIZE), furniture=False)

    def visible(self, x: float, y: float, camera: Camera, min_pixels: int = 12) -> list[Visible]:
        """Signs and furniture of which the picture shows at least `min_pixels` pixels, nearest first."""
        lens = lens_at(x, y, camera)
        drawing = self._draw(lens)
        rows, columns = np.nonzero(drawing.shown >= 0)
        owner = self._scene.owner[drawing.order[drawing.shown[rows, columns]]]
        known = owner >= 0
        rows, columns, owner = rows[known], columns[known], owner[known]
        counts = np.bincount(owner, minlength=len(self._members) - 1)
        found = []
        for thing in np.flatnonzero(counts >= max(min_pixels, 1)):
            mine = owner == thing
            r, c = rows[mine], columns[mine]
            box = (float(c.min()), float(r.min()), float(c.max() + 1), float(r.max() + 1))
            alone = max(self._alone(int(thing), lens), int(counts[thing]))
            found.append(self._named(int(thing), box, x, y, int(counts[thing]) / alone))
        return sorted(found, key=lambda seen: (seen.distance, seen.id))

    def _named(
        self, owner: int, box: tuple[float, float, float, float], x: float, y: float, share: float
    ) -> Visible:
        if owner < self._first_thing:
            sign = self._signs[owner]
            mx, my = (sign.left[0] + sign.right[0]) / 2, (sign.left[1] + sign.right[1]) / 2
            mz = (sign.bottom + sign.top) / 2 - CAMERA_HEIGHT_M
            metres = float(np.sqrt((mx - x) ** 2 + (my - y) ** 2 + mz**2))
            return Visible(sign.id, "sign", sign.text, box, metres, share, sign.place_id)
        thing = self._plan.layout.furniture[owner - self._first_thing]
        return Visible(thing.id, thing.kind, thing.kind, box, hypot(thing.x - x, thing.y - y), share)

    def _mesh(self) -> Quads:
        layout, shops = self._plan.layout, self._plan.shops
        return join(
            [
                building_mesh(layout.buildings),
                door_mesh(layout.frontages, {shop.frontage for shop in shops}),
                storefront_mesh(shops, self._frontages),
                sign_mesh(self._signs, len(textures.TILE_SETS), 0),
                furniture_mesh(layout.furniture, self._first_thing),
            ]
        )

    def _render(self, lens: Lens, *, furniture: bool = True) -> Image:
        drawing = self._draw(lens, furniture=furniture)
        texels = self._textures(drawing)
        scene, ground = self._scene, self._ground
        sharp = np.empty((lens.height, lens.width, 3), np.uint8)
        shade_quads(
            drawing.order, drawing.shown, drawing.forms, scene.uv, scene.texture, scene.paint, scene.ink,
            scene.light, scene.mode, scene.seed, self._table, texels, self._coverage, lens.focal, sharp,
        )  # fmt: skip
        shade_backdrop(
            drawing.shown, lens.eye, lens.frame, lens.focal, lens.cx, lens.cy, ground.origin, CELL_M,
            ground.kerb, ground.green, ground.nearest, ground.shadow, ground.segments,
            self._table, texels, _BACKDROP, sharp,
        )  # fmt: skip
        picture = np.empty_like(sharp)
        smooth_edges(
            drawing.order, drawing.shown, drawing.forms, drawing.polygons, drawing.counts, scene.mode, sharp, picture
        )
        return picture

    def _draw(self, lens: Lens, *, furniture: bool = True) -> Drawing:
        scene = self._scene
        half_tan = np.array([lens.cx, lens.cy]) / lens.focal
        chosen, distance = np.empty(len(scene.seed), np.int64), np.empty(len(scene.seed))
        found = cull(
            lens.eye, lens.frame, half_tan, scene.cells, scene.starts, scene.spheres, scene.planes, scene.mode,
            REACH_M, SMALLEST_PIXELS / lens.focal, chosen, distance,
        )  # fmt: skip
        order = chosen[:found][np.argsort(distance[:found], kind="stable")]
        if not furniture:
            order = order[scene.owner[order] < self._first_thing]
        return self._first_pass(lens, order)

    def _first_pass(self, lens: Lens, order: NDArray[np.int64]) -> Drawing:
        scene = self._scene
        texels = self._tiles()
        drawing = Drawing(
            order,
            np.zeros((lens.height, lens.width), np.float32),
            np.full((lens.height, lens.width), BACKGROUND, np.int32),
            np.empty((len(order), 9)),
            np.empty((len(order), MAX_CORNERS, 2)),
            np.zeros(len(order), np.int64),
        )
        draw(
            order, scene.corners, scene.uv, scene.texture, scene.mode, self._table, texels, lens.eye, lens.frame,
            lens.focal, lens.cx, lens.cy, drawing.depth, drawing.shown, drawing.forms, drawing.polygons,
            drawing.counts,
        )  # fmt: skip
        return drawing

    def _alone(self, owner: int, lens: Lens) -> int:
        """Pixels that a thing would cover with nothing before it, in a picture three times as wide and high."""
        scene = self._scene
        members = self._members[owner]
        away = scene.spheres[members, :3] - lens.eye
        faces = (scene.mode[members] != 0) | (np.sum(away * scene.planes[members], axis=1) < 0)
        wide = Lens(
            lens.eye, lens.frame, lens.focal, lens.cx + lens.width, lens.cy + lens.height, 3 * lens.width,
            3 * lens.height,
        )  # fmt: skip
        return int(np.count_nonzero(self._first_pass(wide, members[faces]).depth))

    def _tiles(self) -> textures.Words:
        if self._texels is None:
            with self._lock:
                if self._texels is None:
                    self._texels = textures.draw_tiles()
        return self._texels

    def _textures(self, drawing: Drawing) -> textures.Words:
        """The tiles, after the signs that a drawing shows have been lettered."""
        shown = np.zeros(len(drawing.order) + 1, bool)
        shown[drawing.shown] = True  # the last entry is the background's
        signs = self._scene.texture[drawing.order[shown[:-1]]] - len(textures.TILE_SETS)
        wanted = np.unique(signs[signs >= 0])
        if not self._lettered[wanted].all():
            with self._lock:
                for number in wanted[~self._lettered[wanted]]:
                    chain = textures.letter_chain(letter(self._signs[number]))
                    offset = self._table[len(textures.TILE_SETS) + number, 1]
                    self._coverage[offset : offset + len(chain)] = chain
                    self._lettered[number] = True
        return self._tiles()


def _members(owner: NDArray[np.int32], count: int) -> list[NDArray[np.int64]]:
    """The quads of each owner, and an empty last entry."""
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(count + 1))
    return [order[a:b] for a, b in zip(bounds, [*bounds[1:], bounds[-1]], strict=True)]
