"""The quads of a plan with their owners: all at once, or of a large plan what is in reach of a square."""

from functools import cached_property, lru_cache

import numpy as np
import shapely

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import CityPlan
from virl.towns.render.barriers import barrier_mesh, track_mesh
from virl.towns.render.buildings import building_mesh, door_mesh, walls_of
from virl.towns.render.furniture import furniture_mesh
from virl.towns.render.mesh import Quads, join
from virl.towns.render.scene import build_scene
from virl.towns.render.squares import Square, Squares, bounds_of, find_touching, pick
from virl.towns.render.storefronts import sign_mesh, storefront_mesh

REACH_M = 300.0
"""Metres beyond which nothing is drawn; chosen: bends and haze hide the rest of a street."""
MARGIN_M = 20.0
"""Metres around a thing's outline within which the middles of its quads lie; chosen: half of half a wire is
3, eaves and steps are less."""
KEPT_SQUARES = 4
"""Squares whose quads are kept in memory; chosen: those that meet at a corner."""


class OwnedScene:
    """A scene, and which of its quads belong to whom.

    Args:
        mesh: its quads.
    """

    def __init__(self, mesh: Quads) -> None:
        self.scene = build_scene(mesh)
        self._by_owner = np.argsort(self.scene.owner, kind="stable")
        self._owners = self.scene.owner[self._by_owner]

    def members(self, owner: int) -> Ints:
        """Return the indices of the quads of a sign or thing, in order."""
        first, end = np.searchsorted(self._owners, (owner, owner + 1))
        return self._by_owner[first:end]


class Scenes:
    """The scenes of a plan. From any point in a square, its scene looks the same as that of the whole plan.

    Args:
        plan: what to draw.
    """

    def __init__(self, plan: CityPlan) -> None:
        layout = plan.layout
        self._plan = plan
        self._signs = plan.signs
        self._walls = walls_of(layout.buildings)
        self._taken = {shop.frontage for shop in plan.shops}
        self._squares = Squares(layout)
        self._near = lru_cache(maxsize=KEPT_SQUARES)(self._make_near)
        self._buildings = shapely.bounds(np.array([one.footprint for one in layout.buildings], object))
        self._frontages = bounds_of([(one.left, one.right) for one in layout.frontages])
        self._boards = bounds_of([(one.left, one.right) for one in self._signs])
        self._furniture = bounds_of([((one.x, one.y),) for one in layout.furniture])
        self._tracks = bounds_of([one.line for one in layout.tracks])
        self._barriers = bounds_of([one.line for one in layout.barriers])

    def scene_around(self, x: float, y: float) -> OwnedScene:
        """Return a scene with all that may be seen from a point, metres."""
        return self.whole if self._squares.is_one else self._near(self._squares.at(x, y))

    @cached_property
    def whole(self) -> OwnedScene:
        """All of the plan."""
        return self._make(np.full(2, -np.inf), np.full(2, np.inf))

    def _make_near(self, square: Square) -> OwnedScene:
        """Return the scene of a square."""
        return self._make(*self._squares.box_around(square, REACH_M + MARGIN_M))

    def _make(self, low: Floats, high: Floats) -> OwnedScene:
        """Return the scene of all that touches a box, metres."""
        layout = self._plan.layout
        houses, furniture, boards = (
            find_touching(bounds, low, high) for bounds in (self._buildings, self._furniture, self._boards)
        )
        signs = pick(self._signs, boards)
        frontages = pick(layout.frontages, find_touching(self._frontages, low, high))
        return OwnedScene(
            join(
                [
                    building_mesh(pick(layout.buildings, houses), signs, self._walls.of_buildings(houses)),
                    door_mesh(frontages, self._taken),
                    storefront_mesh(self._plan.shops, {one.id: one for one in frontages}),
                    sign_mesh(signs, boards),
                    furniture_mesh(pick(layout.furniture, furniture), len(self._signs) + furniture),
                    track_mesh(pick(layout.tracks, find_touching(self._tracks, low, high))),
                    barrier_mesh(pick(layout.barriers, find_touching(self._barriers, low, high))),
                ]
            )
        )
