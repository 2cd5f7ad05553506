"""The quads of a town with their owners, lit and sorted into cells: of a large town square by square."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import CityPlan, Furniture
from virl.towns.render.barriers import barrier_mesh, track_mesh
from virl.towns.render.bays import plan_bays
from virl.towns.render.buildings import building_mesh, door_mesh
from virl.towns.render.displays import KINDS, kind_of
from virl.towns.render.fronts import storefront_mesh
from virl.towns.render.furniture import furniture_mesh
from virl.towns.render.light import brightness
from virl.towns.render.mesh import CARD, Quads, Singles, face_normals, join
from virl.towns.render.ornaments import ornament_mesh
from virl.towns.render.squares import Index, Square, Squares, bounds_of, pick
from virl.towns.render.storefronts import sign_mesh, spans_of
from virl.towns.render.sunlight import REACH_M as SHADOW_M
from virl.towns.render.sunlight import cast_shade, cut_walls, share_of_shade
from virl.towns.render.walls import walls_of
from virl.towns.render.woods import DEEP_M, grass_mesh, plant_mesh

CELL_M = 24.0
"""Side in metres of a cell of ground by which quads are sorted; chosen: the fastest of 12 to 32."""


class Scene(NamedTuple):
    """A lit mesh of n quads, sorted by cells of the ground, and in each of them from large to small.

    Args:
        corners, uv, texture, paint, ink, owner, mode, seed: as in `Quads`.
        light: RGB, (n, 3).
        planes: the mesh's normals; of cards, whose light is that of the whole crown, their planes', (n, 3).
        spheres: centre and radius, (n, 4).
        cells: centre and radius of a sphere, and both corners of a box, around the quads of each of the c
            cells that hold any, (c, 10).
        starts: first quad of each cell, and n, (c + 1,).
    """

    corners: Singles
    uv: Singles
    texture: NDArray[np.int32]
    paint: Singles
    ink: Singles
    owner: NDArray[np.int32]
    mode: NDArray[np.uint8]
    seed: NDArray[np.uint32]
    light: Singles
    planes: Singles
    spheres: Singles
    cells: Singles
    starts: Ints


def build_scene(mesh: Quads, shaded: Singles) -> Scene:
    """Return a mesh sorted by cells of the ground and by size, and lit; `shaded`: share of each, (n,)."""
    middle = mesh.corners.mean(axis=1)
    spread = mesh.corners - middle[:, None]
    radius = np.sqrt(np.einsum("ncj,ncj->nc", spread, spread).max(axis=1))
    cell = np.floor(middle[:, :2] / CELL_M).astype(np.int64)
    key = (cell[:, 1] << 32) + cell[:, 0]
    order = np.lexsort((-radius, key))
    corners = mesh.corners[order]
    spheres = np.column_stack([middle, radius])[order].astype(np.float32)
    normal, mode = mesh.normal[order], mesh.mode[order]
    planes, is_card = normal.copy(), mode == CARD
    planes[is_card] = face_normals(corners[is_card])
    starts = np.flatnonzero(np.diff(key[order], prepend=np.int64(-1) << 62))
    return Scene(
        corners=corners,
        uv=mesh.uv[order],
        texture=mesh.texture[order],
        paint=mesh.paint[order],
        ink=mesh.ink[order],
        owner=mesh.owner[order],
        mode=mode,
        seed=mesh.seed[order],
        light=brightness(normal, shaded[order]),
        planes=planes,
        spheres=spheres,
        cells=_cells(corners, spheres, starts),
        starts=np.append(starts, len(order)),
    )


def _cells(corners: Singles, spheres: Singles, starts: NDArray[np.intp]) -> Singles:
    """Return (centre and radius of a sphere, both corners of a box) around each cell's quads, metres."""
    if not len(spheres):
        return np.empty((0, 10), np.float32)
    reach = spheres[:, 3:]
    low = np.minimum.reduceat(spheres[:, :3] - reach, starts)
    high = np.maximum.reduceat(spheres[:, :3] + reach, starts)
    radius = np.linalg.norm(high - low, axis=1) / 2
    box = np.minimum.reduceat(corners.min(1), starts), np.maximum.reduceat(corners.max(1), starts)
    return np.column_stack([(low + high) / 2, radius, *box]).astype(np.float32)


REACH_M = 300.0
"""Distance in metres beyond which nothing is drawn; chosen: bends and haze hide the rest of a street."""
MARGIN_M = 20.0
"""Distance in metres around a thing's outline within which its quads' middles lie.
Chosen: half of half a wire is 3, eaves and steps are less."""
GRASS_REACH_M = 60.0
"""Distance in metres from a square to the farthest tufts of grass; chosen: they show up to 13 m at 640 pixels
and 90 degrees of view, and up to 50 at 30 degrees."""
KEPT_SQUARES = 4
"""Number of squares whose quads are kept in memory; chosen: those that meet at a corner."""


class OwnedScene:
    """A scene with an index of the quads of each sign or thing.

    Args:
        mesh: its quads.
        shaded: share of shade on each, (n,).
    """

    def __init__(self, mesh: Quads, shaded: Singles) -> None:
        """Build the scene of a mesh, and sort its quads by owner."""
        self.scene = build_scene(mesh, shaded)
        self._by_owner = np.argsort(self.scene.owner, kind="stable")
        self._owners = self.scene.owner[self._by_owner]

    def members(self, owner: int) -> Ints:
        """Return the indices of the quads of a sign or thing by its number, in order."""
        first, end = np.searchsorted(self._owners, (owner, owner + 1))
        return self._by_owner[first:end]


class Scenes:
    """The scenes around the squares of a plan; from a point in its square each looks like the whole plan.

    Args:
        plan: what to draw.
        things: its furniture, with its crowd; `None` for that of its layout.
    """

    def __init__(self, plan: CityPlan, things: Sequence[Furniture] | None = None) -> None:
        """Keep the plan and measure its walls; no scene is built yet."""
        layout = plan.layout
        self._plan = plan
        self._signs = plan.signs
        self._walls = walls_of(layout.buildings, self._signs)
        self._taken = {shop.frontage for shop in plan.shops}
        self._spans = spans_of(self._signs, layout)
        shops = [one.place for one in plan.shops]
        self._institutions = {one.id for one in shops if KINDS[kind_of(one.types)].portal}
        self._squares = Squares(layout)
        self._near = lru_cache(maxsize=KEPT_SQUARES)(self._make_near)
        self._buildings = Index(layout.buildings, shapely.bounds([one.footprint for one in layout.buildings]))
        self._fronted = np.array([one.building for one in layout.frontages], float)
        self._frontages = Index(
            layout.frontages, bounds_of([(one.left, one.right) for one in layout.frontages])
        )
        self._boards = Index(self._signs, bounds_of([(one.left, one.right) for one in self._signs]))
        self._things = layout.furniture if things is None else things
        self._furniture = Index(self._things, bounds_of([((one.x, one.y),) for one in self._things]))
        self._streets = Index(layout.streets, bounds_of([one.line for one in layout.streets]))
        self._tracks = Index(layout.tracks, bounds_of([one.line for one in layout.tracks]))
        self._barriers = Index(layout.barriers, bounds_of([one.line for one in layout.barriers]))

    def scene_around(self, x: float, y: float) -> OwnedScene:
        """Return the scene with all that may be seen from a point, metres."""
        return self.whole if self._squares.is_one else self._near(self._squares.at(x, y))

    @cached_property
    def whole(self) -> OwnedScene:
        """Scene of the whole plan, made on first use."""
        return self._make(np.full(2, -np.inf), np.full(2, np.inf))

    def _make_near(self, square: Square) -> OwnedScene:
        """Return the scene of all that may be seen from within a square."""
        return self._make(*self._squares.box_around(square, REACH_M + MARGIN_M))

    def _make(self, low: Floats, high: Floats) -> OwnedScene:
        """Return the scene of all that touches the box from `low` to `high`, metres."""
        # In a call of its own, after which the parts of the mesh are free again.
        return OwnedScene(*self._mesh_within(low, high))

    def _mesh_within(self, low: Floats, high: Floats) -> tuple[Quads, Singles]:
        """Return (mesh of what touches the box from `low` to `high`, metres, share of shade on each quad)."""
        layout = self._plan.layout
        numbers, boards = self._buildings.find_numbers(low, high), self._boards.find_numbers(low, high)
        furniture = self._furniture.find_numbers(low, high)
        lawn = low + REACH_M + MARGIN_M - GRASS_REACH_M, high - REACH_M - MARGIN_M + GRASS_REACH_M
        low = np.maximum(low, self._squares.low)
        high = np.maximum(np.minimum(high, self._squares.high), low)
        signs = pick(self._signs, boards)
        streets, around = (self._streets.find(low - far, high + far) for far in (0.0, DEEP_M))
        houses_here = pick(layout.buildings, numbers)
        walls = self._walls.of_buildings(numbers)
        own = pick(layout.frontages, np.flatnonzero(np.isin(self._fronted, numbers)))
        bays = plan_bays(walls, own, streets, self._taken, self._signs)
        shade = cast_shade(self._buildings.find(low - SHADOW_M, high + SHADOW_M), low, high)
        houses, on_houses = cut_walls(
            join(
                [
                    building_mesh(houses_here, signs, walls, bays),
                    door_mesh(walls, bays),
                    ornament_mesh(signs, walls, bays),
                    storefront_mesh(
                        self._plan.shops, {one.id: one for one in self._frontages.find(low, high)}
                    ),
                ]
            ),
            shade,
        )
        rest = join(
            [
                sign_mesh(signs, boards, self._spans, self._institutions),
                furniture_mesh(pick(self._things, furniture), len(self._signs) + furniture),
                track_mesh(self._tracks.find(low, high)),
                barrier_mesh(self._barriers.find(low, high)),
                plant_mesh(layout.lands, around, houses_here, low, high),
                grass_mesh(layout, streets, houses_here, *(np.clip(at, low, high) for at in lawn)),
            ]
        )
        on_rest = share_of_shade(rest, shade)
        return join([houses, rest]), np.concatenate([on_houses, on_rest])
