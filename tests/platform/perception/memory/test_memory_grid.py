import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virl.geo.globe import LatLng, destination, distance
from virl.platform.perception.memory.log import PositionIndex

CENTERS = [LatLng(0.0, 0.0), LatLng(51.5, -0.12), LatLng(-36.8, 179.9999), LatLng(69.6, -180.0)]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.sampled_from(CENTERS), st.integers(0, 10_000), st.floats(1.0, 400.0))
def test_finds_exactly_what_a_scan_of_all_finds(center: LatLng, seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    grid, where = PositionIndex(), {}
    for i in range(60):
        where[f"n{i:02d}"] = destination(center, rng.uniform(0, 360), rng.uniform(0, 500))
        grid.put(f"n{i:02d}", where[f"n{i:02d}"])
    away = {name: distance(center, position) for name, position in where.items()}
    expected = sorted((name for name in where if away[name] <= radius), key=away.__getitem__)
    assert grid.ids_near(center, radius) == expected


def test_what_moves_is_found_at_its_new_place_only() -> None:
    grid = PositionIndex()
    grid.put("a", LatLng(10.0, 20.0))
    grid.put("a", LatLng(10.01, 20.0))
    assert grid.ids_near(LatLng(10.0, 20.0), 100.0) == []
    assert grid.ids_near(LatLng(10.01, 20.0), 1.0) == ["a"]


def test_what_is_removed_is_not_found() -> None:
    grid = PositionIndex()
    grid.put("a", LatLng(10.0, 20.0))
    grid.remove("a")
    grid.remove("a")
    assert grid.ids_near(LatLng(10.0, 20.0), 100.0) == []


@pytest.mark.parametrize("lat", [90.0, -90.0, 89.9999])
def test_the_poles_are_places_too(lat: float) -> None:
    grid = PositionIndex()
    grid.put("a", LatLng(lat, 170.0))
    assert grid.ids_near(LatLng(lat, -170.0), 30.0) == ["a"]
