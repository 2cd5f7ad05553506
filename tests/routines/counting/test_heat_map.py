import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from virl.routines.counting.density import (
    LEAST_SHARE,
    heat,
    hexagon,
    hexagon_middle,
    largest_width,
    nearest_cells,
)

metres = st.floats(-5000, 5000)
SQUARE = shapely.box(0, 0, 1000, 1000)  # 100 hectares


@pytest.mark.slow
@given(st.lists(st.tuples(metres, metres), min_size=1, max_size=20), st.floats(10, 500))
def test_each_point_lies_in_its_hexagon(points: list[tuple[float, float]], width: float) -> None:
    xy = np.array(points)
    for point, (column, row) in zip(points, nearest_cells(xy, width).tolist(), strict=True):
        cell = hexagon(*hexagon_middle(column, row, width), width)
        assert cell.distance(shapely.Point(point)) < 1e-6 * width


def test_a_hexagon_is_as_wide_as_it_says_and_has_a_corner_to_the_north() -> None:
    west, south, east, north = hexagon(10, 20, 100).bounds
    assert (west, east) == pytest.approx((-40, 60))
    assert north - south == pytest.approx(200 / np.sqrt(3))
    assert hexagon(0, 0, 100).area == pytest.approx(100**2 * np.sqrt(3) / 2)


def test_hexagons_leave_no_gap_and_do_not_overlap() -> None:
    cells = [hexagon(*hexagon_middle(column, row, 100.0), 100.0) for column in range(3) for row in range(3)]
    assert shapely.union_all(cells).area == pytest.approx(sum(cell.area for cell in cells))


@pytest.mark.slow
@given(st.lists(st.tuples(metres, metres, st.integers(0, 2)), max_size=40))
def test_every_thing_in_the_region_is_counted_once_at_every_level(
    things: list[tuple[float, float, int]],
) -> None:
    points = np.array([(x, y) for x, y, _ in things]).reshape(-1, 2)
    levels = heat(points, [kind for *_, kind in things], 3, SQUARE)
    inside = [kind for x, y, kind in things if 0 <= x <= 1000 and 0 <= y <= 1000]
    for level in levels:
        totals = np.sum([cell.counts for cell in level.cells], axis=0) if level.cells else np.zeros(3)
        assert totals.tolist() == [inside.count(kind) for kind in range(3)]


def test_the_hexagons_of_each_level_are_half_as_wide() -> None:
    levels = heat(np.array([(500.0, 500.0)]), [0], 1, SQUARE)
    assert [level.name for level in levels] == ["City", "District", "Block"]
    assert [level.width for level in levels] == [100.0, 50.0, 25.0]


def test_a_full_hexagon_has_its_area_and_one_at_the_edge_what_lies_inside() -> None:
    inner, half, corner = (500.0, 500.0), (0.0, 500.0), (1000.0, 1000.0)
    level = heat(np.array([inner, half, corner]), [0, 0, 0], 1, SQUARE)[0]
    whole = 100**2 * np.sqrt(3) / 2 / 10_000
    areas = {round(cell.x): cell.hectares for cell in level.cells}
    assert max(areas.values()) == pytest.approx(whole)
    assert min(areas.values()) >= LEAST_SHARE * whole * (1 - 1e-9)
    exact = [hexagon(cell.x, cell.y, 100).intersection(SQUARE).area / 10_000 for cell in level.cells]
    assert [cell.hectares for cell in level.cells] == pytest.approx(
        [max(area, LEAST_SHARE * whole) for area in exact]
    )


@pytest.mark.parametrize(("hectares", "width"), [(1, 100), (18, 100), (150, 200), (340, 200), (3000, 500)])
def test_hexagons_grow_with_the_region_in_round_lengths(hectares: float, width: float) -> None:
    assert largest_width(hectares * 10_000) == width
