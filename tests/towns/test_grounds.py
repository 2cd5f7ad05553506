"""The rasters of the ground, against plain arithmetic in each cell."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import shapely
from made_corner import bare_plan
from numpy.typing import NDArray

from virl.platform.city.streetview import Camera
from virl.platform.providers.offline.city import draw_plan
from virl.towns.plan.town_plan import (  # fmt: skip
    Building,
    CityPlan,
    Crossing,
    Furniture,
    Land,
    Street,
    StreetPlan,
    Track,
)
from virl.towns.render import ground as grounds
from virl.towns.render import squares
from virl.towns.render.ground import CELL_M, Grounds, lawns
from virl.towns.render.kerbs import FAR_M, measure_streets
from virl.towns.render.rasters import Beyond, uniform_distance
from virl.towns.render.renderer import CityRenderer
from virl.towns.render.segments import MARGIN_M, SEGMENT_FIELDS, street_segments

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
    corners = [(x, y) for x in range(5, 120, 12) for y in range(5, 295, 12)]
    dense = [Building(0, shapely.box(x, y, x + 10, y + 10), 6.0, 0) for x, y in corners]
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
        rim = int(found[r, c]) - 1
        rows, columns = (slice(max(0, at - rim), at + rim + 2) for at in (r, c))
        assert len(np.unique(kinds[rows, columns])) == 1
    assert found.max() > 5
    assert found[30, 90] > 4


def plan_of(*streets: Street) -> StreetPlan:
    """A plan of streets alone."""
    return replace(bare_plan().layout, streets=streets, frontages=())


def way(number: int, line: list[tuple[float, float]], road: float, pavement: float, **more: Any) -> Street:
    return Street(number, "", np.array(line, float), 2 * (number % 2), 1, road, pavement, **more)


def from_above(plan: StreetPlan, x: float, y: float) -> NDArray[np.uint8]:
    """A picture of the ground below a point."""
    return CityRenderer(CityPlan(0, plan, ())).picture(x, y, Camera(0.0, -90.0, 60.0, 48, 48))


def at(plan: StreetPlan, raster: str, x: float, y: float) -> float:
    """Metres in a raster, read between cells."""
    ground = Grounds(plan).ground_around(x, y)
    column, row = (np.array([x, y]) - ground.origin) * ground.per_cell
    c, r = int(column), int(row)
    four = getattr(ground, raster)[r : r + 2, c : c + 2].astype(float)
    return float([r + 1 - row, row - r] @ four @ [c + 1 - column, column - c]) / 256


def test_the_middle_of_a_narrow_path_is_of_one_material() -> None:
    plan = plan_of(way(0, [(-60, 0), (60, 0)], 0.0, 1.4, is_gravel=True))
    ground = Grounds(plan).ground_around(0.0, 0.0)
    row, first, last = ((np.array([0, -50, 50]) - ground.origin[[1, 0, 0]]) * ground.per_cell).astype(int)
    assert (ground.uniform[row, first:last] > 0).all()


def test_kinds_of_green_ground_grow_into_each_other() -> None:
    plan = plan_of(way(0, [(-60, -30), (60, -30)], 4.0, 0.0))
    lands = (Land("wood", shapely.Polygon([(-60, -9), (60, 9), (60, 60), (-60, 60)])),)
    green = replace(plan, parks=(shapely.box(-60, -20, 60, 60),), lands=lands, paved_from=0.5)
    border = from_above(green, 0.0, 0.0)[12:].astype(int)  # without the first clumps of the wood
    is_floor = border[..., 0] > border[..., 1]
    assert is_floor[:4].mean() > 0.6
    assert is_floor[-12:].mean() < 0.05
    # Tufts of either kind stand alone in the other.
    beside = (is_floor[:-2, 1:-1], is_floor[2:, 1:-1], is_floor[1:-1, :-2], is_floor[1:-1, 2:])
    alone = np.all([one != is_floor[1:-1, 1:-1] for one in beside], axis=0)
    assert alone.sum() > 20


def test_the_ground_of_a_square_is_that_of_the_whole_town(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = draw_plan(1, "Virlton").layout
    monkeypatch.setattr(squares, "WHOLE_M", 0.0)
    monkeypatch.setattr(squares, "SQUARE_M", 90.0)
    monkeypatch.setattr(grounds, "SEEN_M", 30.0)
    for x, y in plan.panoramas.xy[::300].tolist():
        near = Grounds(plan).ground_around(x, y)
        town = squares.Squares(plan)
        high = np.minimum(town.box_around(town.at(x, y), 30.0)[1], town.high)
        segments = street_segments(plan, plan.streets)
        whole = grounds.lay_ground(plan, segments, near.axis, near.origin, high)
        # But for the rim, where streets narrow towards others that begin beyond it.
        inner = np.s_[30:-30, 30:-30]
        for name in ("kerb", "parks", "stone", "shadow", "water", "gravel"):
            assert np.array_equal(getattr(near, name)[inner], getattr(whole, name)[inner]), name


def test_the_ground_is_paved_up_to_near_walls_and_yards_stay_green() -> None:
    plan = plan_of(way(0, [(-60, 0), (60, 0)], 8.0, 3.5))
    houses = (
        Building(0, shapely.box(-30, 7.8, 0, 20), 9.0, 0),
        Building(1, shapely.box(20, 10, 40, 20), 9.0, 1),
    )
    plan = replace(plan, buildings=houses)
    assert all(at(plan, "stone", x, 7.7) < 0 for x in np.arange(-29, -1, 0.9))
    assert at(plan, "stone", 30, 9.5) > 0  # the other house stands farther back
    assert at(plan, "stone", 10, 8.5) > 0


def test_slabs_of_a_square_lie_alike_whichever_way_is_nearest() -> None:
    ways = way(0, [(-40, 0), (40, 0)], 0.0, 9.0), way(1, [(-20, -30), (25, 30)], 0.0, 9.0)
    moved = ways[0], replace(ways[1], line=ways[1].line + np.array([3.0, 0.0]))
    seen = [from_above(replace(plan_of(*each), paved_from=-1.0), 3.0, 2.0) for each in (ways, moved)]
    assert np.abs(seen[0].astype(int) - seen[1]).max() < 4


@pytest.mark.parametrize(("x", "y", "is_laid"), [(6.2, 6.4, False), (-30.0, 4.8, True), (-30.0, 8.8, False)])
def test_slabs_follow_a_kerb_between_corners_alone(x: float, y: float, is_laid: bool) -> None:
    seen = []
    for start in (60.0, 60.7):
        lines = [[(-start, 0), (0, 0)], [(start, start / 10), (0, 0)], [(start / 8, start), (0, 0)]]
        plan = plan_of(*(way(number, line, 6.0, 9.0) for number, line in enumerate(lines)))
        seen.append(from_above(replace(plan, paved_from=-1.0), x, y).astype(int))
    assert (np.abs(seen[0] - seen[1]).max() > 15) == is_laid


@pytest.mark.parametrize("is_gravel", [True, False])
def test_a_path_beside_a_carriageway_leaves_its_kerb_straight(is_gravel: bool) -> None:
    path = way(1, [(-60, 3.5), (60, 5.0)], 0.0, 1.25, is_gravel=is_gravel)
    plan = plan_of(way(0, [(-60, 0), (60, 0)], 6.5, 2.2), path)
    assert max(abs(at(plan, "kerb", x, 3.25)) for x in np.arange(-40, 40, 0.7)) < 0.02


def test_a_carriageway_narrows_slowly_towards_a_narrower_one() -> None:
    line = [(-60.0, 0.0), (0.0, 0.0)]
    plan = plan_of(way(0, line, 8.0, 2.0), way(1, [(0, 0), (60, 0)], 5.0, 2.0))
    halves = [-at(plan, "kerb", x, 2.2) + 2.2 for x in np.arange(-30, 5, 0.5)]
    assert halves[0] == pytest.approx(4.0, abs=0.02)
    assert halves[-1] == pytest.approx(2.5, abs=0.02)
    assert max(np.abs(np.diff(halves))) < 0.15


def test_a_pavement_is_as_wide_where_another_kerb_is_nearer() -> None:
    plan = plan_of(way(0, [(-60, 0), (60, 0)], 6.0, 9.0), way(1, [(0, 8), (60, 8)], 2.0, 1.0))
    for x in np.arange(-40, 41, 2.5):
        assert at(plan, "stone", x, 11.0) < -0.5, "ragged: the kerb of the narrow street is nearer"
        assert at(plan, "stone", x, 13.0) > 0.5


@pytest.mark.parametrize(("gap", "is_closed"), [(0.6, True), (2.4, False)])
def test_no_sliver_of_pavement_is_left_between_carriageways(gap: float, is_closed: bool) -> None:
    plan = plan_of(*(way(n, [(-60, y), (60, y)], 6.0, 1.0) for n, y in enumerate((0.0, 6.0 + gap))))
    ridge = max(at(plan, "kerb", 0, y) for y in np.arange(2.0, 5.0 + gap, 0.25))
    assert (ridge < 0) == is_closed


def test_a_bend_widens_no_carriageway() -> None:
    bent = way(0, [(-60, 0), (0, 0), (40, 20)], 6.0, 1.0)
    for x, y in ((-20, 5), (0, 5), (1, -5), (20, 15), (10, 0)):
        true = shapely.LineString(bent.line).distance(shapely.Point(x, y)) - 3.0
        assert at(plan_of(bent), "kerb", x, y) == pytest.approx(true, abs=0.6)


@pytest.mark.slow
def test_the_edge_of_a_park_is_smooth() -> None:
    edge = shapely.LineString([(-80, 20), (80, 52)])
    park = shapely.Polygon([*edge.coords, (80, 90), (-80, 90)])
    plan = replace(plan_of(way(0, [(-100, 0), (100, 0)], 6.0, 2.0)), parks=(park,))
    ground = Grounds(plan).ground_around(0.0, 0.0)
    rows, columns = np.indices(ground.parks.shape)
    x, y = columns / ground.per_cell + ground.origin[0], rows / ground.per_cell + ground.origin[1]
    true = shapely.distance(shapely.points(x, y), edge) * np.where(y > 20 + 0.2 * (x + 80), -1, 1)
    near = (np.abs(true) < 1.0) & (np.abs(x) < 70)
    assert near.sum() > 200
    assert np.std(ground.parks[near] / 256 - true[near]) < 0.25


def test_the_edge_of_water_is_straight_between_cells() -> None:
    edge = shapely.LineString([(-50, 20), (50, 37)])
    lake = shapely.Polygon([*edge.coords, (50, 60), (-50, 60)])
    plan = replace(plan_of(way(0, [(-60, 0), (60, 0)], 6.0, 2.0)), waters=(lake,))
    across = np.arange(-1.5, 1.5, 0.05)
    shores = [
        across[np.argmax([at(plan, "water", x, 28.5 + 0.17 * x + off) > 127.5 / 256 for off in across])]
        for x in np.arange(-40, 40, 8.3)
    ]
    assert np.ptp(shores) < 0.3


def test_kinds_of_green_ground_look_different_and_lawns_do_not_repeat() -> None:
    plan = replace(plan_of(way(0, [(-90, 0), (90, 0)], 6.0, 2.0)), paved_from=0.3)
    spots = {"lawn": -60.0, "meadow": -20.0, "field": 20.0, "vineyard": 60.0}
    lands = tuple(Land(kind, shapely.box(x - 15, 10, x + 15, 60)) for kind, x in [*spots.items()][1:])  # type: ignore[arg-type]
    plan = replace(plan, lands=lands)
    colours = [from_above(plan, x, 35.0).mean(axis=(0, 1)) for x in spots.values()]
    assert min(np.abs(one - other).max() for i, one in enumerate(colours) for other in colours[:i]) > 3
    tones = [from_above(plan, -60.0 + 4 * step, 65.0).mean() for step in range(15)]
    assert np.ptp(tones) > 4


def test_a_road_without_a_kerb_has_a_shoulder_of_gravel() -> None:
    line = [(-60.0, 0.0), (60.0, 0.0)]
    bare, kerbed = (plan_of(way(0, line, 7.0, 2.2, has_kerb=is_kerbed)) for is_kerbed in (False, True))
    assert at(bare, "stone", 0, 4.5) > 1
    assert at(kerbed, "stone", 0, 4.5) < 0
    # By 0.1 m beyond the edge of the road a pale kerb stone is followed by a dark joint.
    sandy = [from_above(plan, 0.0, 3.7).reshape(-1, 3).astype(int) for plan in (bare, kerbed)]
    reds = [np.percentile(one[:, 0] - one[:, 2], 90) for one in sandy]
    assert reds[0] > reds[1] + 10


def whites(picture: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where a picture of a road shows paint."""
    return picture.min(axis=2) > 150


@pytest.mark.parametrize("y", [5.7, 20.0])
def test_a_trams_rails_lie_in_asphalt_on_a_pavement_and_on_a_lawn(y: float) -> None:
    line = [(-60.0, 0.0), (60.0, 0.0)]
    plan = replace(plan_of(way(0, line, 8.0, 3.5)), paved_from=0.3)
    bare, seen = (
        from_above(replace(plan, tracks=tracks), 0.0, y).astype(int)
        for tracks in ((), (Track(np.add(line, (0.0, y)), is_ballasted=False),))
    )
    assert np.abs(bare[21:27] - seen[21:27]).mean() > 15  # between the rails
    assert np.ptp(seen[21:27].mean(axis=(0, 1))) < 12  # grey
    tones = seen.mean(axis=(1, 2))
    assert tones[10:13].max() > tones[21:27].mean() + 15  # a rail at 0.76 m, and its groove
    assert tones[12:15].min() < tones[21:27].mean() - 15


def test_bays_are_painted_where_cars_are_parked_and_a_box_at_a_bus_stop() -> None:
    cars = [Furniture(f"c{x}", "parked car", x, -3.9, 90.0, 1) for x in (0.0, 12.4)]
    stop = Furniture("s", "bus stop", 0.0, 6.0, 0.0, 1)
    plan = plan_of(way(0, [(-60, 0), (60, 0)], 10.0, 3.0))
    seen = replace(plan, furniture=(*cars, stop))
    assert whites(from_above(seen, 3.1, -4.0))[24:40, 24].mean() > 0.9  # between bays, out of the shade
    assert whites(from_above(seen, 6.2, -3.0))[24].mean() > 0.9  # beside an empty one
    assert whites(from_above(seen, -2.0, 2.3))[24].mean() > 0.9  # the box of the stop
    assert not whites(from_above(seen, 20.0, -3.0)).any()
    assert not whites(from_above(plan, 6.2, -3.0)).any()


@pytest.mark.parametrize(
    ("road", "car", "turn", "is_there"),
    [(8.0, 0.0, 90, True), (12.0, -4.9, 90, True), (12.0, -4.9, 45, False), (8.0, -2.9, 90, False)],
)
def test_a_cycle_lane_lies_at_the_kerb_or_beside_parked_cars(
    road: float, car: float, turn: int, is_there: bool
) -> None:
    plan = plan_of(way(0, [(-70, 0), (70, 0)], road, 2.0, cycle_lanes=(True, False)))
    plan = replace(plan, furniture=(Furniture("c", "parked car", 40.0, car, turn, 1),) if car else ())
    assert whites(from_above(plan, -9.0, -2.5))[23:25].all() == is_there
    assert whites(from_above(plan, -10.0, -3.25))[16:32, 12:36].any() == is_there, "a bicycle"
    assert not whites(from_above(plan, 5.0, -3.25))[16:32].any()
    assert not whites(from_above(plan, -10.0, 2.5)).any(), "the other side"


def test_slabs_with_dots_lie_before_a_zebra() -> None:
    line = [(-60.0, 0.0), (60.0, 0.0)]
    plan = replace(plan_of(way(0, line, 6.0, 2.0)), crossings=(Crossing(0, 60.0),))
    town = CityRenderer(CityPlan(0, plan, ()))
    dotted, plain = (town.picture(x, 3.5, Camera(0.0, -90.0, 10.0, 48, 48)).astype(int) for x in (0.0, 8.0))
    assert np.ptp([(one[..., 0] - one[..., 2]).mean() for one in (dotted, plain)]) > 25
    assert dotted[..., 1].std() > plain[..., 1].std() + 10


def test_an_arrow_leads_to_a_stop_line_that_does_not_meet_the_centre_line() -> None:
    lines = [[(0, 0), (104, 0)], [(0, 300), (90, 300)], [(0, 600), (90, 600)]]
    plan = plan_of(*(way(number, line, 8.0, 2.0) for number, line in enumerate(lines)))
    assert whites(from_above(plan, 93.4, -2.0)).any()
    assert not whites(from_above(plan, 92.5, 0.0))[20:28, 14:36].any()
    assert whites(from_above(plan, 74.5, -2.0))[24, 20:28].all()
    assert not whites(from_above(plan, 74.5, 2.0)).any()


def test_the_face_of_a_kerb_shows_from_the_road_and_not_from_behind() -> None:
    line = [(-60.0, 0.0), (60.0, 0.0)]
    plans = [plan_of(way(0, line, 5.0, 2.0, has_kerb=has_kerb)) for has_kerb in (False, True)]
    plans = [replace(plan, crossings=(Crossing(0, 80.0),)) for plan in plans]

    def rows(y: float, heading: float, x: float = 0.0) -> float:
        """Rows of pixels of road that a kerb hides, seen from 4 m."""
        camera = Camera(heading, -32.0, 30.0, 120, 240)
        bare, kerbed = (CityRenderer(CityPlan(0, plan, ())).picture(x, y, camera) for plan in plans)
        is_road = (bare.max(axis=2) < 130) & (np.ptp(bare, axis=2) < 12)
        return float((is_road & (kerbed.max(axis=2) > 140)).sum(axis=0).mean())

    assert rows(-1.5, 0.0) > 2.5
    assert rows(6.5, 180.0) < 1
    assert rows(-1.5, 0.0, 20.0) < 0.5, "lowered at a zebra"


def test_no_kerb_burns_out_where_the_distance_to_it_is_no_longer_measured() -> None:
    street = plan_of(way(0, [(-30, 0), (30, 0)], 8.0, 2.0))
    plan = replace(street, gravels=(shapely.box(-25, 9, 25, 10.5),), paved_from=0.3)
    seen = CityRenderer(CityPlan(0, plan, ())).picture(0.0, -3.0, Camera(35.0, -7.2, 17.0, 96, 40))
    assert 170 < seen.max() < 220
