"""The rasters of the ground, against plain arithmetic in each cell."""

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from virl.towns.plan.town_plan import Building
from virl.towns.render.ground import CELL_M, FAR_M, lawns, measure_streets
from virl.towns.render.rasters import UNIFORM_CELLS, Beyond, uniform_distance
from virl.towns.render.segments import MARGIN_M, SEGMENT_FIELDS

ORIGIN = np.array([-13.0, 7.0])
SHAPE = (140, 170)


def random_segments(seed: int, paths: float) -> NDArray[np.float64]:
    """Streets at random, some along an axis, a share of them paths of gravel."""
    rng = np.random.default_rng(seed)
    made = np.zeros((14, SEGMENT_FIELDS))
    made[:, :2] = ORIGIN + rng.uniform((-10, -10), (140, 120), (14, 2))
    angles = rng.choice([0, np.pi / 2, np.pi, *rng.uniform(0, 2 * np.pi, 9)], 14)
    made[:, 2:4] = np.stack([np.cos(angles), np.sin(angles)], 1)
    made[:, 4], made[:, 7], made[:, 8] = (
        rng.uniform(0.5, 40, 14),
        rng.uniform(1, 5, 14),
        rng.uniform(0, 4, 14),
    )
    made[:, 12] = rng.random(14) < paths
    return made


def off_each(segments: NDArray[np.float64]) -> NDArray[np.float64]:
    """Metres from each cell to each line, (segments, rows, columns)."""
    ys, xs = np.mgrid[: SHAPE[0], : SHAPE[1]] * CELL_M
    cells = shapely.points(xs + ORIGIN[0], ys + ORIGIN[1])
    ends = segments[:, :2] + segments[:, 2:4] * segments[:, 4:5]
    lines = shapely.linestrings(np.stack([segments[:, :2], ends], 1))
    return np.asarray(shapely.distance(lines[:, None, None], cells[None]))


@pytest.mark.parametrize(("seed", "paths"), [(1, 0.0), (2, 0.0), (3, 0.5), (4, 1.0)])
def test_distances_to_kerbs_are_those_to_the_lines(seed: int, paths: float) -> None:
    segments = random_segments(seed, paths)
    found = measure_streets(segments, ORIGIN, SHAPE)
    away = off_each(segments) - segments[:, 7, None, None]
    reach = (segments[:, 8] + MARGIN_M)[:, None, None]
    surely = np.where(away <= reach, away, FAR_M).min(axis=0)
    perhaps = np.where(away <= reach + 2 * CELL_M, away, FAR_M).min(axis=0)
    near, kerb = surely < FAR_M, found.kerb / 256.0
    assert near.mean() > 0.3
    assert (kerb[near] <= surely[near] + 0.01).all()
    assert (kerb[near] >= perhaps[near] - 1.0).all()  # lowered where carriageways come together
    assert (np.abs(kerb - surely)[near] < 0.01).mean() > 0.8
    owner = np.take_along_axis(away, found.nearest[None].astype(int), 0)[0]
    assert (owner[near] <= surely[near] + 1.0).all()
    assert (kerb[perhaps == FAR_M] == FAR_M).all()


def test_a_wide_pavement_ends_where_a_path_of_gravel_is_nearer() -> None:
    street, path = np.zeros((2, SEGMENT_FIELDS))
    street[[1, 2, 4, 7, 8]] = 10, 1, 120, 3, 20
    path[[1, 2, 4, 7, 8, 12]] = 26, 1, 120, 0, 1, 1
    found = measure_streets(np.array([street, path]), np.zeros(2), (60, 160))
    stone = found.stone[:, 80] / 256.0
    ys = np.arange(60) * CELL_M
    assert (stone[(ys > 13.5) & (ys < 18.5)] < 0).all()  # nearer to the kerb at y = 13
    assert (stone[(ys > 20.5) & (ys < 30)] > 0).all()  # nearer to the path at y = 26
    alone = measure_streets(street[None], np.zeros(2), (60, 160)).stone[:, 80] / 256.0
    assert (alone[(ys > 13.5) & (ys < 32.5)] < 0).all()


@pytest.mark.slow
def test_lawns_lie_in_parks_and_between_scattered_houses() -> None:
    shape = (400, 403)  # 300 m; not a multiple of the coarse cells
    park = shapely.box(200, 200, 260, 260).difference(shapely.box(220, 220, 240, 240))
    dense = [house(x, y) for x in range(5, 120, 12) for y in range(5, 295, 12)]
    found = lawns([park], 0.3, dense, np.zeros(2), shape)
    ys, xs = np.mgrid[: shape[0], : shape[1]] * CELL_M
    cells = shapely.points(xs, ys)
    apart = shapely.distance(cells, park.boundary) > 2 * CELL_M
    assert (found[(shapely.contains(park, cells)) & apart] < 0).all()
    assert (found[(xs > 20) & (xs < 80) & (ys > 80) & (ys < 220)] > 0).all()
    assert (found[xs > 190] < 0).all()
    paved = lawns([park], -0.1, dense, np.zeros(2), shape)
    assert (paved[~shapely.contains(park, cells) & apart] > 0).all()
    assert (paved[shapely.contains(park, cells) & apart] < 0).all()


def test_ground_that_is_said_to_be_uniform_is() -> None:
    rng = np.random.default_rng(6)
    shape = (81, 100)
    parks = np.full(shape, -500, np.int16)
    parks[20:40, 60:] = 500
    water, gravel = np.zeros((2, *shape), np.uint8)
    water[rng.integers(0, 81, 3), rng.integers(0, 60, 3)] = 255
    gravel[60:62, :50] = 255
    kerb, stone = np.full((2, *shape), 30_000, np.int16)
    kerb[:, 5], stone[:8] = -100, -100
    beyond = Beyond(stone, parks, water, gravel, np.zeros((1, SEGMENT_FIELDS)), has_paths=False)
    found = uniform_distance(kerb, np.zeros(shape, np.uint32), beyond)
    kinds = (parks < 0) + 2 * (water > 127) + 4 * (gravel > 127) + 8 * (stone < 0) + 16 * (kerb < 0)
    for r, c in np.argwhere(found > 0):
        rim = (int(found[r, c]) - 1) * UNIFORM_CELLS
        rows, columns = (
            slice(max(0, UNIFORM_CELLS * at - rim), UNIFORM_CELLS * (at + 1) + rim + 1) for at in (r, c)
        )
        assert len(np.unique(kinds[rows, columns])) == 1
    assert found.max() > 5
    assert found[30 // UNIFORM_CELLS, 90 // UNIFORM_CELLS] > 2


def house(x: float, y: float) -> Building:
    return Building(0, shapely.box(x, y, x + 10, y + 10), 6.0, 0)
