import hashlib
import math
from collections import Counter

import numpy as np
import pytest
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from shapely import LineString

from virl.towns.plan.layout import lay_out
from virl.towns.plan.town_plan import StreetPlan

SEEDS = [0, 1, 7]


@pytest.fixture(scope="module", params=SEEDS)
def plan(request: pytest.FixtureRequest) -> StreetPlan:
    return lay_out(request.param)


def fingerprint(plan: StreetPlan) -> str:
    """A hash over every number and word of a plan."""
    digest = hashlib.sha256()
    for street in plan.streets:
        digest.update(
            repr((street.id, street.name, street.start, street.end, street.road, street.pavement)).encode()
        )
        digest.update(street.line.tobytes())
    for array in (
        plan.junctions,
        *(getattr(plan.panoramas, name) for name in ("xy", "street", "source", "target")),
    ):
        digest.update(array.tobytes())
    for polygon in (*plan.blocks, *plan.parks):
        digest.update(shapely.to_wkb(polygon))
    for building in plan.buildings:
        digest.update(repr((building.id, building.height, building.variant)).encode())
        digest.update(shapely.to_wkb(building.footprint))
    digest.update(repr((plan.frontages, plan.furniture)).encode())
    return digest.hexdigest()


def degrees(plan: StreetPlan) -> np.ndarray:
    """How many streets end at each junction."""
    return np.bincount([end for street in plan.streets for end in (street.start, street.end)])


def bands(plan: StreetPlan, with_pavement: bool) -> np.ndarray:
    half = [street.road / 2 + street.pavement * with_pavement for street in plan.streets]
    return np.asarray(
        shapely.buffer([LineString(street.line) for street in plan.streets], half, cap_style="flat")
    )


def things(plan: StreetPlan, *kinds: str, but: bool = False) -> np.ndarray:
    return np.array([(item.x, item.y) for item in plan.furniture if (item.kind in kinds) != but])


def depth_of(points: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """For each (point, area) that meet: how far inside the area's edge the point is, in metres."""
    point, area = shapely.STRtree(areas).query(shapely.points(points), predicate="intersects")
    return shapely.distance(shapely.points(points)[point], shapely.boundary(areas[area]))


def shared_area(these: np.ndarray, those: np.ndarray) -> float:
    """The largest area that one of these shares with one of those."""
    first, second = shapely.STRtree(those).query(these, predicate="intersects")
    return float(shapely.area(shapely.intersection(these[first], those[second])).max(initial=0.0))


@pytest.mark.slow
def test_same_seed_same_bytes() -> None:
    assert fingerprint(lay_out(3)) == fingerprint(lay_out(3)) != fingerprint(lay_out(4))


@pytest.mark.slow
def test_the_city_is_as_big_as_it_should_be(plan: StreetPlan) -> None:
    assert len(plan.blocks) >= 120
    assert 3000 <= len(plan.panoramas.xy) <= 3600
    assert len(plan.parks) == 3
    assert max(park.area for park in plan.parks) > 5 * np.median([block.area for block in plan.blocks])
    width, height = np.ptp(plan.junctions, axis=0)
    assert 1100 < width < 1450
    assert 950 < height < 1250


def test_streets_join_their_junctions(plan: StreetPlan) -> None:
    assert [street.id for street in plan.streets] == list(range(len(plan.streets)))
    for street in plan.streets:
        np.testing.assert_array_equal(street.line[[0, -1]], plan.junctions[[street.start, street.end]])
        assert street.start != street.end


def test_streets_meet_at_junctions_alone(plan: StreetPlan) -> None:
    lines = np.array([LineString(street.line) for street in plan.streets])
    first, second = shapely.STRtree(lines).query(lines, predicate="crosses")
    crossings = shapely.intersection(lines[first], lines[second])
    assert (
        len(crossings) == 0
        or cKDTree(plan.junctions).query(shapely.get_coordinates(crossings))[0].max() < 0.01
    )


def test_crossings_of_three_four_and_five_ways_and_dead_ends(plan: StreetPlan) -> None:
    count = Counter(degrees(plan).tolist())
    assert count[1] >= 10
    assert count[3] >= 40
    assert count[4] >= 40
    assert count[5] >= 3
    assert max(count) <= 6


def test_junctions_keep_apart(plan: StreetPlan) -> None:
    assert cKDTree(plan.junctions).query(plan.junctions, 2)[0][:, 1].min() > 20.0


def test_the_grid_is_not_bare(plan: StreetPlan) -> None:
    """Streets run in many directions, and blocks differ in size."""
    way = np.array([street.line[-1] - street.line[0] for street in plan.streets])
    heading = np.degrees(np.arctan2(way[:, 0], way[:, 1])) % 90
    assert heading.std() > 10
    areas = [block.area for block in plan.blocks]
    assert np.std(areas) > 0.25 * np.mean(areas)


def test_names_go_on_along_a_line_and_are_not_reused(plan: StreetPlan) -> None:
    names = Counter(street.name for street in plan.streets)
    assert len(names) >= 30
    assert len({name.rsplit(" ", 1)[0] for name in names}) == len(names)
    assert np.median(list(names.values())) >= 5


def test_panoramas_are_ten_metres_apart(plan: StreetPlan) -> None:
    panoramas = plan.panoramas
    gaps = np.linalg.norm(panoramas.xy[panoramas.source] - panoramas.xy[panoramas.target], axis=1)
    assert 7.5 < gaps.min() <= gaps.max() < 13.0
    assert 9.8 < gaps.mean() < 10.2
    assert np.mean(np.abs(gaps - 10) < 1) > 0.95


def test_one_panorama_stands_on_each_junction(plan: StreetPlan) -> None:
    gap, nearest = cKDTree(plan.panoramas.xy).query(plan.junctions, 2)
    assert gap[:, 0].max() == 0.0
    assert gap[:, 1].min() > 5.0
    assert np.bincount(plan.panoramas.source)[nearest[:, 0]].tolist() == degrees(plan).tolist()


def test_panoramas_lie_on_their_streets(plan: StreetPlan) -> None:
    lines = np.array([LineString(street.line) for street in plan.streets])
    off = shapely.distance(lines[plan.panoramas.street], shapely.points(plan.panoramas.xy))
    assert off.max() < 0.01


def test_links_are_sorted_lead_both_ways_and_join_the_whole_city(plan: StreetPlan) -> None:
    source, target = plan.panoramas.source, plan.panoramas.target
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert {(b, a) for a, b in pairs} == set(pairs)
    count = len(plan.panoramas.xy)
    matrix = coo_array((np.ones(len(source)), (source, target)), shape=(count, count))
    assert connected_components(matrix, return_labels=False) == 1


@pytest.mark.slow
def test_blocks_lie_between_the_streets(plan: StreetPlan) -> None:
    blocks = np.array(plan.blocks)
    assert shapely.is_valid(blocks).all()
    assert shared_area(blocks, bands(plan, with_pavement=True)) < 0.5
    assert sum(block.area for block in plan.blocks) == pytest.approx(shapely.union_all(blocks).area, rel=1e-6)
    assert all(any(park.equals(block) for block in plan.blocks) for park in plan.parks)


def test_buildings_are_sound_apart_and_off_the_streets(plan: StreetPlan) -> None:
    footprints = np.array([building.footprint for building in plan.buildings])
    assert [building.id for building in plan.buildings] == list(range(len(footprints)))
    assert shapely.is_valid(footprints).all()
    assert (shapely.get_type_id(footprints) == 3).all()
    first, second = shapely.STRtree(footprints).query(footprints, predicate="overlaps")
    shared = shapely.area(shapely.intersection(footprints[first], footprints[second]))
    assert shared.max(initial=0.0) < 0.5
    assert shared_area(footprints, bands(plan, with_pavement=True)) < 0.1
    assert shared_area(footprints, np.array(plan.parks)) == 0.0
    storeys = (np.array([building.height for building in plan.buildings]) - 4.0) / 3.2
    np.testing.assert_allclose(storeys, np.round(storeys), atol=0.05)
    assert set(np.round(storeys)) == {2, 3, 4, 5, 6, 7}


@pytest.mark.slow
def test_fronts_lie_on_their_building_and_look_at_their_street(plan: StreetPlan) -> None:
    left, right = (np.array([getattr(front, end) for front in plan.frontages]) for end in ("left", "right"))
    run = right - left
    width = np.hypot(run[:, 0], run[:, 1])
    assert 4.0 < width.min() <= width.max() <= 14.01
    assert np.mean(width >= 7.0) > 0.9
    out = np.stack([run[:, 1], -run[:, 0]], axis=1) / width[:, None]
    middle = (left + right) / 2
    streets = [plan.streets[front.street] for front in plan.frontages]
    lines = np.array([LineString(street.line) for street in streets])
    now, nearer = (shapely.distance(lines, shapely.points(middle + step * out)) for step in (0.0, 1.0))
    assert np.mean(nearer < now - 0.9) > 0.97
    building_line = np.array([street.road / 2 + street.pavement for street in streets])
    assert (now > building_line - 0.2).all()  # round corners are drawn with few points
    assert np.mean(now < building_line + 1.0) > 0.97
    built = [front for front in plan.frontages if front.building is not None]
    walls = shapely.boundary([plan.buildings[front.building].footprint for front in built])
    ends = shapely.linestrings([[front.left, front.right] for front in built])
    assert (
        shapely.hausdorff_distance(ends, shapely.intersection(walls, shapely.buffer(ends, 0.06))).max() < 0.2
    )
    gardens = len(plan.frontages) - len(built)
    assert 0.01 < gardens / len(plan.frontages) < 0.15
    assert {front.building for front in built} == set(range(len(plan.buildings)))


def test_house_numbers_are_unique_and_odd_on_one_side(plan: StreetPlan) -> None:
    numbers = Counter((plan.streets[front.street].name, front.number) for front in plan.frontages)
    assert max(numbers.values()) == 1
    sides: dict[int, Counter[bool]] = {0: Counter(), 1: Counter()}
    for front in plan.frontages:
        line = plan.streets[front.street].line
        way, off = line[-1] - line[0], np.add(front.left, front.right) / 2 - line[0]
        sides[front.number % 2][bool(way[0] * off[1] - way[1] * off[0] > 0)] += 1
    assert sides[1][True] > 20 * sides[1][False]
    assert sides[0][False] > 20 * sides[0][True]


def test_shops_gather_in_some_streets_and_on_one_side_of_a_few(plan: StreetPlan) -> None:
    busy = np.array([front.commercial for front in plan.frontages])
    assert busy.min() >= 0.0
    assert busy.max() <= 1.0
    assert 400 < np.sum(busy > 0.5) < 1000
    assert np.mean(busy < 0.12) > 0.5
    avenue = [front.commercial for front in plan.frontages if plan.streets[front.street].road == 12.0]
    assert np.mean(avenue) > 3 * busy.mean()
    sides: dict[str, tuple[list[float], list[float]]] = {}
    for front in plan.frontages:
        sides.setdefault(plan.streets[front.street].name, ([], []))[front.number % 2].append(front.commercial)
    top = [
        sorted(np.mean(sorted(side)[-15:]) for side in pair)
        for pair in sides.values()
        if min(map(len, pair)) > 15
    ]
    assert sum(high > 0.6 and high > 1.5 * low for low, high in top) >= 1
    assert sum(low > 0.6 for low, _ in top) >= 2


def test_busier_buildings_are_taller(plan: StreetPlan) -> None:
    heights: dict[bool, list[float]] = {True: [], False: []}
    for front in plan.frontages:
        if front.building is not None:
            heights[front.commercial > 0.5].append(plan.buildings[front.building].height)
    assert np.mean(heights[True]) > np.mean(heights[False]) + 3.2


def test_there_is_furniture_of_every_kind(plan: StreetPlan) -> None:
    count = Counter(item.kind for item in plan.furniture)
    least = {"trash bin": 150, "fire hydrant": 90, "bench": 100, "mailbox": 45, "tree": 850}
    least |= {"street lamp": 900, "traffic light": 60, "parked car": 450, "bollard": 110, "planter": 75}
    assert set(count) == set(least)
    assert all(count[kind] >= number for kind, number in least.items()), count
    assert len({item.id for item in plan.furniture}) == len(plan.furniture)
    assert all(0 <= item.heading < 360 for item in plan.furniture)


def test_nothing_but_cars_stands_on_the_road(plan: StreetPlan) -> None:
    roads = bands(plan, with_pavement=False)
    assert depth_of(things(plan, "parked car", but=True), roads).max(initial=0.0) == 0.0
    cars = things(plan, "parked car")
    assert np.unique(shapely.STRtree(roads).query(shapely.points(cars), predicate="within")[0]).size == len(
        cars
    )


def test_furniture_is_clear_of_buildings_and_of_each_other(plan: StreetPlan) -> None:
    footprints = np.array([building.footprint for building in plan.buildings])
    assert depth_of(np.array([(item.x, item.y) for item in plan.furniture]), footprints).size == 0
    standing = things(plan, "parked car", but=True)
    assert cKDTree(standing).query(standing, 2)[0][:, 1].min() > 1.7
    cars = things(plan, "parked car")
    assert cKDTree(cars).query(cars, 2)[0][:, 1].min() > 3.5
    assert cKDTree(cars).query(standing)[0].min() > 1.4


def test_cars_park_along_the_kerb_away_from_junctions(plan: StreetPlan) -> None:
    cars = [item for item in plan.furniture if item.kind == "parked car"]
    xy = np.array([(car.x, car.y) for car in cars])
    assert cKDTree(plan.junctions).query(xy)[0].min() > 9.0
    lines = np.array([LineString(street.line) for street in plan.streets])
    _, street = shapely.STRtree(lines).query_nearest(shapely.points(xy), all_matches=False)
    for car, number in zip(cars, street, strict=True):
        line = lines[number]
        along = line.project(shapely.Point(car.x, car.y))
        before, after = line.interpolate(along - 1), line.interpolate(along + 1)
        way = math.degrees(math.atan2(after.x - before.x, after.y - before.y))
        off = (car.heading - way) % 180.0
        assert min(off, 180.0 - off) < 12.0
        kerb = plan.streets[number].road / 2 - line.distance(shapely.Point(car.x, car.y))
        assert 0.9 < kerb < 1.4


def test_street_trees_leave_the_middle_of_fronts_free(plan: StreetPlan) -> None:
    parks = shapely.union_all(plan.parks)
    trees = things(plan, "tree")
    in_park = shapely.contains_xy(parks, trees[:, 0], trees[:, 1])
    assert in_park.sum() > 100
    ends = np.array([front.left for front in plan.frontages])
    middles = np.array([np.add(front.left, front.right) / 2 for front in plan.frontages])
    street_trees = trees[~in_park]
    to_joint, to_middle = cKDTree(ends).query(street_trees)[0], cKDTree(middles).query(street_trees)[0]
    assert np.mean(to_joint < to_middle) > 0.95


def test_park_benches_stand_in_parks(plan: StreetPlan) -> None:
    benches = things(plan, "bench")
    inside = shapely.contains_xy(shapely.union_all(plan.parks), benches[:, 0], benches[:, 1])
    assert 30 <= inside.sum() < len(benches) - 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", [24, 26, 30, 31, 32])
def test_other_seeds_hang_together_too(seed: int) -> None:
    plan = lay_out(seed)
    test_links_are_sorted_lead_both_ways_and_join_the_whole_city(plan)
    test_junctions_keep_apart(plan)
    test_crossings_of_three_four_and_five_ways_and_dead_ends(plan)
    test_buildings_are_sound_apart_and_off_the_streets(plan)
    test_nothing_but_cars_stands_on_the_road(plan)
    test_the_city_is_as_big_as_it_should_be(plan)


def test_cycle_lanes_run_along_whole_streets_that_are_wide_enough(plan: StreetPlan) -> None:
    lanes = {street.name for street in plan.streets if any(street.cycle_lanes)}
    assert 1 <= len(lanes) <= 10
    of_these = [street for street in plan.streets if street.name in lanes]
    assert {street.cycle_lanes for street in of_these} == {(True, True)}
    assert min(street.road for street in of_these) >= 8


def test_beds_lie_in_parks_and_yards_off_streets_and_houses(plan: StreetPlan) -> None:
    beds = np.array([land.outline for land in plan.lands])
    assert {land.kind for land in plan.lands} == {"shrubs", "flowers"}
    ground = shapely.union_all([*bands(plan, with_pavement=True), *(one.footprint for one in plan.buildings)])
    assert not shapely.intersects(ground, beds).any()
    yards = sum(front.building is None for front in plan.frontages)
    assert shapely.within(beds, shapely.union_all(plan.parks)).sum() == len(beds) - yards
