"""Draws a made city: pictures, whole panoramas, photos of shopfronts, and what can truly be seen."""

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import atan2, degrees, hypot, radians, tan
from threading import Lock
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints, normalize_heading
from virl.platform.city.city import Visible
from virl.platform.city.streetview import Box, Camera, Image
from virl.towns.plan.crowd import crowd_of
from virl.towns.plan.town_plan import CAMERA_HEIGHT_M, PHOTO_SIZE, CityPlan, Shop
from virl.towns.render import textures
from virl.towns.render.ahead import compile_ahead
from virl.towns.render.backdrop import shade_backdrop
from virl.towns.render.ground import GroundRasters, Grounds
from virl.towns.render.labelled import Labels, SeenThing, label_scene, seen_in, tally
from virl.towns.render.lens import Lens, aim_lens, fit_lens, lens_at, part_around, part_of
from virl.towns.render.light import TONES
from virl.towns.render.mesh import NOBODY
from virl.towns.render.raster import (
    NO_OWNER,
    GeometryBuffer,
    blank_drawing,
    draw,
    draw_in_sight,
    find_in_sight,
    mark_facing,
    mark_shown,
)
from virl.towns.render.scene import REACH_M, OwnedScene, Scene, Scenes
from virl.towns.render.shade import shade_quads
from virl.towns.render.skyline import Skyline, Skylines
from virl.towns.render.smooth import smooth_edges
from virl.towns.render.storefronts import drawn_text, letter, texture_size

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""Number of processor cores that this process may use."""
MOST_LETTERED = 4096
"""Largest number of signs of a town that are lettered before they are seen; chosen: two seconds, 110 MB."""

PHOTO_DISTANCE_M, PHOTO_FOV = 9.0, 70.0

_FACES: tuple[tuple[float, float], ...] = (
    (0.0, 0.0), (90.0, 0.0), (180.0, 0.0), (270.0, 0.0), (0.0, 90.0), (0.0, -90.0),
)  # fmt: skip
"""(turn, pitch) of each face of the cube, degrees."""

_FACE_FOV = 94.0
"""Field of view of a cube's face in degrees: 94, so that no sample falls off its edge."""
_RIM = 2
"""Width in pixels drawn around the samples of a face, for smoothing and mixing."""
_MARK = ((79.0, (158, 160, 162)), (79.7, (58, 60, 63)), (86.5, (158, 160, 162)), (86.9, (58, 60, 63)))
"""Degrees below the horizon from which the mark of the camera has a colour, RGB in [0, 255]."""


@dataclass(frozen=True, slots=True)
class FacePart:
    """A rectangle of one face of the cube, in pixels of the whole face."""

    left: int
    top: int
    width: int
    height: int


class CityRenderer:
    """A renderer of pictures of one city. Safe to use from several threads; equal calls give equal pixels.

    Meshes, ground and textures are made with the first picture, signs when they first come into view.

    Args:
        plan: what to draw. A sign with a character that no shipped font can draw stays blank.
    """

    def __init__(self, plan: CityPlan) -> None:
        """Prepare to draw a plan; its scenes, ground and letters are made when they are first needed."""
        self._plan = plan
        self._signs = plan.signs
        self._types = [shop.place.types for shop in plan.shops for _ in shop.signs]
        self._types += [()] * len(plan.street_signs)
        self._frontages = {frontage.id: frontage for frontage in plan.layout.frontages}
        self._streets = {street.id: street for street in plan.layout.streets}
        self._first_thing = len(self._signs)
        self._things = (*plan.layout.furniture, *crowd_of(plan))
        kinds = ["sign"] * len(self._signs) + [one.kind for one in self._things]
        every = np.array(kinds)
        self._owners = {kind: np.flatnonzero(every == kind) for kind in sorted(set(kinds))}
        self._scenes: Scenes | None = None
        self._table, size = textures.texture_table([texture_size(sign) for sign in self._signs])
        self._coverage = np.zeros(size, np.uint8)
        self._lettered = np.zeros(len(self._signs), bool)
        self._to_letter = len(self._signs)
        self._lock = Lock()
        self._grounds: Grounds | None = None
        self._skylines: Skylines | None = None

    def picture(self, x: float, y: float, camera: Camera) -> Image:
        """Return the picture through a camera at `x` metres east and `y` north of the city's origin."""
        return self._render(lens_at(x, y, camera))

    def pictures(self, views: Sequence[tuple[float, float, Camera]]) -> list[Image]:
        """Return the pictures that `picture` gives of several views, drawn by all cores at once.

        The first call letters all signs of the town, so that the later ones spend no time on it.

        Args:
            views: (metres east, metres north, camera) of each.
        """
        if self._to_letter and len(self._signs) <= MOST_LETTERED:
            self._letter(np.arange(len(self._signs)))
        drawn: list[Image | None] = [None] * len(views)
        left = iter(enumerate(views))

        def draw_on() -> None:
            """Draw views that no other thread has taken, until none is left."""
            for number, (x, y, camera) in left:
                drawn[number] = self.picture(x, y, camera)

        helpers = min(len(views), CORES) - 1
        others = [_threads().submit(draw_on) for _ in range(helpers)]
        draw_on()
        for other in others:
            other.result()
        return cast("list[Image]", drawn)

    def equirectangular(self, x: float, y: float, width: int = 2048, *, heading: float = 0.0) -> Image:
        """Return the whole panorama as one picture of `width` by `width` / 2 pixels.

        Columns run clockwise, 360 / `width` degrees each; the top row looks up, the bottom row down.

        Args:
            x: metres east of the city's origin.
            y: metres north of the city's origin.
            width: width of the picture, pixels.
            heading: degrees to which the centre column looks.
        """
        return self.equirectangular_part(x, y, width, 0, 0, (width, width // 2), heading=heading)

    def equirectangular_part(
        self,
        x: float,
        y: float,
        width: int,
        left: int,
        top: int,
        size: tuple[int, int],
        *,
        heading: float = 0.0,
    ) -> Image:
        """Return a part of the picture that `equirectangular` gives, of `size` columns and rows.

        Args:
            x: metres east of the city's origin.
            y: metres north of the city's origin.
            width: width of the whole picture, pixels.
            left: first column of the part; beyond the last column follows the first.
            top: first row of the part.
            size: (columns, rows) of the part.
            heading: degrees to which the centre column of the whole picture looks.
        """
        side = max(16, round(width / 3))

        def draw(face: int, window: FacePart) -> Image:
            """Return a part of a face of the cube, drawn from the panorama."""
            turn, pitch = _FACES[face]
            whole = aim_lens(x, y, heading + turn, pitch, _FACE_FOV, (side, side))
            return self._render(whole, window=window)

        return _mark_camera(_unroll(draw, side, width, left, top, size), width, top)

    def photo(self, shop: Shop) -> Image:
        """Return the photo of a place: its front from across the street, without street furniture."""
        frontage = self._frontages[shop.frontage]
        street = self._streets[frontage.street]
        (ax, ay), (bx, by) = frontage.left, frontage.right
        length = hypot(bx - ax, by - ay)
        # In a narrow street the camera stays a metre short of the houses across.
        away = min(PHOTO_DISTANCE_M, max(4.0, street.road + 2 * street.pavement - 1.0))
        out_x, out_y = (by - ay) / length, -(bx - ax) / length
        x, y = (ax + bx) / 2 + out_x * away, (ay + by) / 2 + out_y * away
        heading = normalize_heading(degrees(atan2(-out_x, -out_y)))
        return self._render(aim_lens(x, y, heading, 2.0, PHOTO_FOV, PHOTO_SIZE), furniture=False)

    def visible(
        self, x: float, y: float, camera: Camera, min_pixels: int = 12, kinds: Collection[str] | None = None
    ) -> list[Visible]:
        """Return signs and furniture of which the picture shows at least `min_pixels` pixels, nearest first.

        Args:
            x: metres east of the city's origin.
            y: metres north.
            camera: of the picture.
            min_pixels: fewer are not seen.
            kinds: the only kinds looked for; `None` looks for all. The fewer, the faster.
        """
        lens = lens_at(x, y, camera)
        owned = self._scene_around(lens)
        scene = owned.scene
        wanted = self._wanted_owners(kinds)
        order = _in_sight(scene, lens)
        mine = order[wanted[scene.owner[order]]]
        if not len(mine):
            return []
        # Only the part of the picture that may show what is looked for is drawn.
        window, (across, down) = part_around(lens, scene.corners[mine].reshape(-1, 3))
        order = _quads_before(scene, mine, window, order)
        owner = np.where(wanted, np.arange(len(wanted), dtype=np.int32), NOBODY)[scene.owner[order]]
        counts, bounds = np.zeros(len(wanted), np.int64), np.empty((len(wanted), 4), np.int64)
        tally(self._first_pass(scene, window, order).shown, owner, counts, bounds)
        # From the part to the whole picture, and from the last pixel to the end of the box.
        bounds += np.array([across, down, across + 1, down + 1])
        found = []
        for thing in np.flatnonzero(counts >= max(min_pixels, 1)).tolist():
            left, top, right, bottom = map(float, bounds[thing].tolist())
            box = (left, top, right, bottom)
            seen = int(counts[thing])
            alone = self._count_pixels_alone(scene, owned.members(thing), lens)
            found.append(self._name_visible(thing, box, x, y, seen / max(alone, seen)))
        return sorted(found, key=lambda seen: (seen.distance, seen.id))

    def render_labelled(
        self, lens: Lens, min_pixels: int = 12
    ) -> tuple[Image, list[tuple[SeenThing, float]]]:
        """Return (picture through a lens, its labelled things each with the visible share).

        Args:
            lens: the camera, at any height.
            min_pixels: a thing that shows fewer is left out.
        """
        scene = self._whole_scene
        drawing = self._first_pass(scene, lens, _in_sight(scene, lens))
        found = []
        for seen in seen_in(drawing, self.labels, min_pixels):
            whole = self._count_pixels_alone(scene, self.labels.members[seen.thing], lens)
            found.append((seen, seen.pixels / max(whole, seen.pixels)))
        return self._shade(scene, drawing, lens), found

    @cached_property
    def labels(self) -> Labels:
        """The labels that a detector can find in this city."""
        return label_scene(self._plan, self._whole_scene, self._things)

    def _wanted_owners(self, kinds: Collection[str] | None) -> NDArray[np.bool_]:
        """Return True for each owner index of these kinds; the last entry stands for no owner."""
        wanted = np.zeros(len(self._signs) + len(self._things) + 1, bool)
        for kind in self._owners if kinds is None else self._owners.keys() & set(kinds):
            wanted[self._owners[kind]] = True
        return wanted

    def _name_visible(self, owner: int, box: Box, x: float, y: float, share: float) -> Visible:
        """Return an owner as a visible sign or thing, with its metres from the camera."""
        if owner < self._first_thing:
            sign = self._signs[owner]
            mx, my = (sign.left[0] + sign.right[0]) / 2, (sign.left[1] + sign.right[1]) / 2
            mz = (sign.bottom + sign.top) / 2 - CAMERA_HEIGHT_M
            metres = float(np.sqrt((mx - x) ** 2 + (my - y) ** 2 + mz**2))
            types = self._types[owner]
            listed = sign.kind == "directory"
            return Visible(
                sign.id, "sign", drawn_text(sign), box, metres, share, sign.place_id or None, types, listed
            )
        thing = self._things[owner - self._first_thing]
        return Visible(thing.id, thing.kind, thing.kind, box, hypot(thing.x - x, thing.y - y), share)

    def _scene_around(self, lens: Lens) -> OwnedScene:
        """Return the scene of the quads that may be seen through a lens, made on first use."""
        with self._lock:
            return self._made_scenes().scene_around(lens.eye[0], lens.eye[1])

    @property
    def _whole_scene(self) -> Scene:
        """Scene with the quads of the whole city."""
        with self._lock:
            return self._made_scenes().whole.scene

    def _made_scenes(self) -> Scenes:
        """Return the scenes of the city, made on the first call; to be called within the lock."""
        if self._scenes is None:
            self._scenes = Scenes(self._plan, self._things)
        return self._scenes

    def _render(self, lens: Lens, *, furniture: bool = True, window: FacePart | None = None) -> Image:
        """Return the picture through a lens, or a part of it."""
        scene = self._scene_around(lens).scene
        part = lens if window is None else part_of(lens, window.left, window.top, window.width, window.height)
        owners = NO_OWNER if furniture else self._first_thing
        return self._shade(scene, self._draw_in_sight(scene, lens, part, owners), part)

    def _draw_in_sight(self, scene: Scene, lens: Lens, part: Lens, owners: int) -> GeometryBuffer:
        """Return the drawing of a part of a picture, without most hidden quads and owners from `owners` on.

        Quads of the owners from the number `owners` on are left out.
        """
        drawing = blank_drawing(np.empty(len(scene.seed), np.int64), part)
        drawn = draw_in_sight(drawing, scene, self._textures(), lens, part, REACH_M, owners)
        return drawing._replace(order=drawing.order[:drawn])

    def _shade(self, scene: Scene, drawing: GeometryBuffer, lens: Lens) -> Image:
        """Return the picture of a drawing: coloured and smoothed."""
        self._letter_signs(scene, drawing)
        drawn = self._textures()
        sharp = np.empty((lens.height, lens.width, 3), np.uint8)
        shade_quads(drawing, scene, drawn, lens, sharp)
        compile_ahead().wait()
        shade_backdrop(drawing, self._ground_around(lens), self._skyline_around(lens), drawn, lens, sharp)
        picture = sharp.copy()
        # From the sharp pixels into a copy, so that none is mixed from smoothed ones.
        smooth_edges(drawing, sharp, picture)
        cv2.LUT(picture, TONES, picture)
        return picture

    def _first_pass(self, scene: Scene, lens: Lens, order: Ints) -> GeometryBuffer:
        """Return a drawing, which tells for each pixel which of the quads in `order` it shows."""
        drawing = blank_drawing(order, lens)
        draw(drawing, 0, len(order), scene, self._textures(), lens)
        return drawing

    def _count_pixels_alone(self, scene: Scene, members: Ints, lens: Lens) -> int:
        """Return the number of pixels that a thing would cover if nothing hid or cropped it."""
        # Quads with one side are drawn from in front only, as in the picture.
        facing = np.empty(len(members), bool)
        mark_facing(scene, members, lens, facing)
        whole = fit_lens(lens, scene.corners[members].reshape(-1, 3))
        return int(np.count_nonzero(self._first_pass(scene, whole, members[facing]).depth))

    def _ground_around(self, lens: Lens) -> GroundRasters:
        """Return the rasters of the ground around a lens."""
        with self._lock:
            if self._grounds is None:
                self._grounds = Grounds(replace(self._plan.layout, furniture=self._things))
            return self._grounds.ground_around(lens.eye[0], lens.eye[1])

    def _skyline_around(self, lens: Lens) -> Skyline:
        """Return what stands around a lens beyond the drawn quads."""
        with self._lock:
            if self._skylines is None:
                self._skylines = Skylines(self._plan)
            return self._skylines.skyline_around(lens.eye[0], lens.eye[1])

    def _textures(self) -> textures.Textures:
        """Return the textures of the city: its tiles, and space for the letters of its signs."""
        with self._lock:
            return textures.Textures(self._table, textures.all_tiles(), self._coverage)

    def _letter_signs(self, scene: Scene, drawing: GeometryBuffer) -> None:
        """Draw the letters of those signs that a drawing shows and whose letters are not drawn yet."""
        if not self._to_letter:
            return
        signs = scene.texture[drawing.order] - len(textures.TILE_SETS)
        if self._lettered[signs[signs >= 0]].all():
            return
        shown = np.zeros(len(drawing.order), bool)
        mark_shown(drawing, shown)
        self._letter(np.unique(signs[shown & (signs >= 0)]).astype(np.int64))

    def _letter(self, signs: Ints) -> None:
        """Draw the letters of those signs, by their numbers, that have none yet."""
        with self._lock:
            # Looked up again within the lock: another thread may have lettered some meanwhile.
            for number in signs[~self._lettered[signs]]:
                chain = textures.letter_chain(letter(self._signs[number]))
                offset = self._table[len(textures.TILE_SETS) + number, 1]
                self._coverage[offset : offset + len(chain)] = chain
                self._lettered[number] = True
                self._to_letter -= 1


@cache
def _threads() -> ThreadPoolExecutor:
    """Return the threads that draw beside the one that asks for pictures."""
    return ThreadPoolExecutor(CORES, "virl-draw")


if hasattr(os, "register_at_fork"):
    # A forked process has the executor, but none of its threads.
    os.register_at_fork(after_in_child=_threads.cache_clear)


def _in_sight(scene: Scene, lens: Lens) -> Ints:
    """Return the indices of the quads that may be seen, nearest first."""
    chosen = np.empty(len(scene.seed), np.int64)
    return chosen[: find_in_sight(scene, lens, REACH_M, chosen)]


def _quads_before(scene: Scene, wanted: Ints, lens: Lens, order: Ints) -> Ints:
    """Return those quads of `order` that are no farther off than the farthest of the quads `wanted`."""

    def far_corners(quads: Ints, sign: int) -> Floats:
        """Return the metres to the nearest (-1) or farthest (1) point of quads."""
        spheres = scene.spheres[quads]
        away: Floats = np.linalg.norm(spheres[:, :3] - lens.eye, axis=1)
        return away + sign * spheres[:, 3]

    # The near side of a bounding sphere against the far side of the farthest wanted one.
    near: NDArray[np.bool_] = far_corners(order, -1) <= far_corners(wanted, 1).max()
    return order[near]


def _unroll(
    draw: Callable[[int, FacePart], Image], side: int, width: int, left: int, top: int, size: tuple[int, int]
) -> Image:
    """Return a part of an equirectangular picture, made of the needed parts of cube faces of `side` pixels.

    Args:
        draw: draws part of a face, by its place in `_FACES`.
        side: pixels of a face.
        width: pixels of the whole picture.
        left: its column at which the part begins; beyond the last one follows the first.
        top: its row at which the part begins.
        size: columns and rows of the part.
    """
    turn = (((np.arange(left, left + size[0]) % width) + 0.5) / width - 0.5) * 2 * np.pi
    pitch = (0.5 - (np.arange(top, top + size[1]) + 0.5) / (width // 2)) * np.pi
    east = np.cos(pitch)[:, None] * np.sin(turn)
    north = np.cos(pitch)[:, None] * np.cos(turn)
    up = np.broadcast_to(np.sin(pitch)[:, None], east.shape)
    largest = np.maximum(np.maximum(np.abs(east), np.abs(north)), np.abs(up))
    # Each face's depth, right and up among the axes; the last two look up and down.
    axes = (
        (north, east, up), (east, -north, up), (-north, -east, up), (-east, north, up), (up, east, -north),
        (-up, east, north),
    )  # fmt: skip
    picture = np.empty((size[1], size[0], 3), np.uint8)
    for face, (ahead, right, rise) in enumerate(axes):
        mine = ahead == largest
        if mine.any():
            columns, rows = _samples(ahead[mine], right[mine], rise[mine], side)
            window = _part_around(columns, rows, side)
            drawn = draw(face, window)
            picture[mine] = _mix_pixels(drawn, columns - window.left, rows - window.top)
    return picture


def _mark_camera(picture: Image, width: int, top: int) -> Image:
    """Return a part of a panorama with a round mark straight below, where the ground is drawn too large.

    Args:
        picture: the part.
        width: pixels of the whole picture.
        top: row at which the part begins.
    """
    down = (np.arange(top, top + len(picture)) + 0.5) / (width // 2) * 180.0 - 90.0
    for edge, colour in _MARK:
        share = np.clip((down - edge) * width / 360.0 + 0.5, 0.0, 1.0)[:, None, None]
        picture = np.rint(picture + share * (np.array(colour) - picture)).astype(np.uint8)
    return picture


def _samples(ahead: Floats, right: Floats, rise: Floats, side: int) -> tuple[Floats, Floats]:
    """Return (columns, rows) on a face of `side` pixels of directions by their parts ahead, right and up."""
    focal = side / 2 / tan(radians(_FACE_FOV / 2))
    return side / 2 + focal * right / ahead - 0.5, side / 2 - focal * rise / ahead - 0.5


def _part_around(columns: Floats, rows: Floats, side: int) -> FacePart:
    """Return the part of a face that holds samples, with a rim."""
    low_x, low_y = (max(int(np.floor(part.min())) - _RIM, 0) for part in (columns, rows))
    high_x, high_y = (min(int(np.floor(part.max())) + 2 + _RIM, side) for part in (columns, rows))
    return FacePart(low_x, low_y, high_x - low_x, high_y - low_y)


def _mix_pixels(drawn: Image, columns: Floats, rows: Floats) -> Image:
    """Return a picture's colours as uint8, shape (n, 3), interpolated at fractional columns and rows."""
    # OpenCV takes maps of at most 32,767 rows
    pad = -len(columns) % _ROW
    maps = [np.pad(part, (0, pad)).astype(np.float32).reshape(-1, _ROW) for part in (columns, rows)]
    mixed = cv2.remap(drawn, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(mixed, np.uint8).reshape(-1, 3)[: len(columns)]


_ROW = 1024
