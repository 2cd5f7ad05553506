"""What covers the ground of a twin, and what comes from a seed: trees and parked cars."""

from collections import Counter

import numpy as np
import pytest
import shapely
from written_extract import FRAME, Writer, box, opened, rebuilt, written

from virl.journal.walk_map import ground_of
from virl.osm.extract import read_extract
from virl.osm.plan import Twin, build_twin
from virl.osm.unmapped import manner
from virl.platform.providers.osm.city import twin_statistics
from virl.sheets.town_page import town_facts
from virl.towns.render.ground import Grounds
from virl.towns.render.segments import street_segments


def seeded(twin: Twin, kind: str) -> np.ndarray:
    things = [one for one in twin.plan.layout.furniture if one.kind == kind and not one.is_mapped]
    return shapely.get_coordinates(written(twin, shapely.MultiPoint([(one.x, one.y) for one in things])))


def test_squares_have_their_names_on_the_map(made: Writer) -> None:
    made.way(*box(-90, 10, -40, 60), highway="pedestrian", area="yes", name="Old Market")
    made.way(*box(20, 10, 60, 60), highway="pedestrian", area="yes", name="Main Street")
    city = opened(made)
    names = sorted(area.name for area in ground_of(city).areas if area.kind == "square")
    assert names == ["", "Old Market"], "a street has its name along it"


def test_forests_orchards_and_rows_have_trees_that_are_counted_apart(made: Writer) -> None:
    made.way(*box(-90, 10, -40, 60), landuse="forest")
    made.way(*box(-20, 10, 20, 50), landuse="orchard")
    made.way((40, 12), (90, 12), natural="tree_row")
    made.node(0, -12, natural="tree")
    made.way(*box(-70, 20, -60, 30), building="hut")
    twin = rebuilt(made)
    trees = seeded(twin, "tree")
    in_forest = shapely.contains_xy(shapely.box(-95, 5, -35, 65), trees[:, 0], trees[:, 1]).sum()
    assert in_forest > 15
    assert (np.abs(trees[:, 1] - 12) < 0.5).sum() >= 5
    assert shapely.distance(shapely.points(trees), shapely.box(-70, 20, -60, 30)).min() > 2.9
    known = twin_statistics(twin)
    assert known.furniture == {"tree": 1}
    assert known.filled["tree"] == len(trees)
    again = build_twin(read_extract(made.path))
    assert again.plan.layout.furniture == twin.plan.layout.furniture


def test_the_truth_tells_what_is_mapped_from_what_is_filled_in(made: Writer) -> None:
    made.way(*box(-90, 10, -40, 60), landuse="forest")
    made.node(0, -12, natural="tree")
    made.node(10, -12, amenity="waste_basket")
    city = opened(made)
    assert city.truth
    kinds = Counter((thing.kind, thing.is_mapped) for thing in city.truth.things())
    assert kinds["tree", True] == kinds["trash bin", True] == 1
    assert kinds["tree", False] > 15
    assert ("trash bin", False) not in kinds
    facts = dict(town_facts(city).holdings)
    assert facts["Street furniture"] == "2"
    assert int(facts["Trees and cars from a seed"]) >= kinds["tree", False]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"parking:lane:both": "no_parking"}, (None, True)),
        ({"parking:lane:right": "perpendicular"}, ("perpendicular", True)),
        ({"parking:right": "street_side", "parking:right:orientation": "diagonal"}, ("diagonal", True)),
        ({"parking:both": "no", "highway": "residential"}, (None, True)),
        ({"highway": "residential"}, ("parallel", False)),
        ({"highway": "primary"}, (None, False)),
    ],
)
def test_how_cars_park(tags: dict[str, str], expected: tuple[str | None, bool]) -> None:
    assert manner(tags, "right") == expected


def test_cars_keep_off_zebras_doors_lanes_and_forbidden_sides(made: Writer) -> None:
    sides = {"parking__lane__left": "no_parking", "parking__lane__right": "parallel"}
    made.way((-300, -80), (0, -80), (300, -80), highway="residential", width="8", **sides)
    made.way((0, 0), (0, -80), highway="residential")
    made.node(-150, -80, highway="crossing", crossing="uncontrolled")
    made.node(-200, -88, entrance="main")
    twin = rebuilt(made)
    cars = seeded(twin, "parked car")
    mine = cars[np.abs(cars[:, 1] + 80) < 10]
    assert len(mine) > 20
    assert (mine[:, 1] < -80).all()  # on the right of a way to the east
    assert np.abs(mine[:, 1] + 80).min() > 2.0
    eyes = shapely.get_coordinates(written(twin, shapely.MultiPoint(twin.plan.layout.panoramas.xy)))
    away = np.linalg.norm(cars[:, None] - eyes[None], axis=2).min()
    assert away > 3.3


def test_zebras_are_painted_where_crossings_are_mapped_and_nowhere_else(made: Writer) -> None:
    made.way((0, 0), (0, 80), highway="residential")
    made.way((-100, 0), (-100, 80), highway="residential")
    made.node(50, 0, highway="crossing", crossing="uncontrolled")
    made.node(70, 0, highway="crossing", crossing="unmarked")
    twin = rebuilt(made)
    [zebra] = twin.plan.layout.crossings or ()
    line = shapely.LineString(twin.plan.layout.streets[zebra.street].line)
    spot = written(twin, line.interpolate(zebra.along))
    assert (spot.x, spot.y) == (pytest.approx(50, abs=0.2), pytest.approx(0, abs=0.2))
    segments = street_segments(twin.plan.layout, twin.plan.layout.streets)
    painted = segments[(segments[:, 9] < 1e8) | (segments[:, 10] < 1e8)]
    assert len(painted) == 1
    assert painted[0, 4] == pytest.approx(4.8, abs=0.01)


@pytest.mark.slow
def test_water_gravel_grass_and_the_sea_lie_on_the_ground(made: Writer) -> None:
    made.way(*box(-60, 20, -40, 40), natural="water")
    made.way(*box(-30, 20, -10, 40), natural="sand")
    made.way(*box(10, 20, 30, 40), leisure="park")
    made.way((-90, 50), (90, 50), railway="rail")
    made.way((-90, -10), (90, -10), railway="tram")
    made.way((-90, -12), (90, -12), railway="rail", tunnel="yes")
    made.way((120, 60), (-120, 60), natural="coastline")  # the sea is on its right, to the north
    made.way((-120, -20), (0, -20), (120, -20), highway="track")
    twin = rebuilt(made)
    layout = twin.plan.layout
    rails = [
        (one.is_ballasted, written(twin, shapely.LineString(one.line)).bounds[1]) for one in layout.tracks
    ]
    assert rails == [(True, pytest.approx(50, abs=0.5)), (False, pytest.approx(-10, abs=0.5))]
    sea = max(layout.waters, key=lambda area: area.area)
    assert written(twin, sea).bounds[1] == pytest.approx(60, abs=0.5)
    ground = Grounds(layout).ground_around(0.0, 0.0)

    def at(raster: np.ndarray, x: float, y: float) -> int:
        here = np.array(layout.frame.point(FRAME.position(x, y))) - ground.origin
        column, row = np.round(here * ground.per_cell).astype(int)
        return int(raster[row, column])

    assert at(ground.gravel, -20, 30) == 255
    assert at(ground.gravel, 0, 50) == 255
    assert at(ground.parks, 20, 30) < 0
    assert at(ground.water, -50, 30) == 255
    tracks = [street for street in layout.streets if street.is_gravel]
    assert tracks
    assert all(street.road == 0 for street in tracks)


def test_lights_mapped_on_the_carriageway_stand_at_the_kerb(made: Writer) -> None:
    made.node(-50, 0, highway="traffic_signals")
    made.node(-40, 1, highway="bus_stop")
    made.node(-30, 0, barrier="bollard")
    made.way(*box(20, 8, 26, 12), amenity="bicycle_parking")
    twin = rebuilt(made)
    spots = {
        one.kind: written(twin, shapely.Point(one.x, one.y))
        for one in twin.plan.layout.furniture
        if one.is_mapped
    }
    assert set(spots) == {"traffic light", "bus stop", "bollard", "bicycle stand"}
    assert spots["traffic light"].y == pytest.approx(-3.5, abs=0.1)
    assert spots["bus stop"].y == pytest.approx(3.5, abs=0.1)
    assert abs(spots["bollard"].y) < 0.1
    assert (spots["bicycle stand"].x, spots["bicycle stand"].y) == (
        pytest.approx(23, abs=0.2),
        pytest.approx(10, abs=0.2),
    )


def test_open_roads_have_verges_and_paths_their_surface(made: Writer) -> None:
    for y, tags in ((-200, {}), (-260, {"sidewalk": "both"}), (-320, {"lit": "yes"})):
        made.way((0, y), (100, y), highway="tertiary", name=f"Road {y}", **tags)
        made.way((0, y), (0, y + 60 if y < -200 else 0), highway="residential")
    made.way((100, -200), (200, -200), highway="footway", name="plain")
    made.way((100, -260), (200, -260), highway="footway", name="sealed", surface="asphalt")
    made.way(*box(10, -300, 60, -270), landuse="vineyard")
    made.way(*box(70, -300, 76, -290), landuse="flowerbed")
    made.way(*box(80, -300, 90, -290), natural="scrub")
    layout = rebuilt(made).plan.layout
    of = {street.name: street for street in layout.streets if street.name}
    assert [of[f"Road {y}"].has_kerb for y in (-200, -260, -320)] == [False, True, True]
    assert (of["plain"].is_gravel, of["sealed"].is_asphalt) == (True, True)
    assert [land.kind for land in layout.lands] == ["vineyard", "shrubs", "flowers"]


def test_a_wide_street_between_big_houses_has_kerbs(made: Writer) -> None:
    made.way((0, -200), (100, -200), highway="tertiary", name="Between")
    made.way((0, -200), (0, 0), highway="residential")
    for south, north in ((-280, -224), (-176, -120)):
        made.way(*box(10, south, 100, north), building="yes")
    [between] = [one for one in rebuilt(made).plan.layout.streets if one.name == "Between"]
    assert between.has_kerb


def test_rails_are_drawn_as_far_as_the_file_knows_them(made: Writer) -> None:
    made.way((-60, -30), (0, -30), (60, -30), railway="tram")
    made.way((-60, -60), (0, -60), (60, -60), highway="service", railway="tram")
    for way in made._ways[-2:]:
        way.nodes = [*way.nodes[:2], 999_999]
    [track] = rebuilt(made).plan.layout.tracks
    assert shapely.LineString(track.line).length == pytest.approx(60, abs=0.1)


def test_a_road_too_narrow_for_kerbs_is_a_paved_lane(made: Writer) -> None:
    for name, y, wall in (("Lane", -200, 1.6), ("Street", -300, 2.4)):
        made.way((0, y), (100, y), highway="residential", name=name, surface="asphalt")
        made.way((0, y), (0, y + 100 if name == "Street" else 0), highway="residential")
        made.way(*box(40, y + wall, 60, y + 20), building="yes")
    of = {one.name: one for one in rebuilt(made).plan.layout.streets}
    assert (of["Lane"].road, of["Lane"].pavement, of["Lane"].is_asphalt) == (0.0, 3.0, True)
    assert of["Street"].road == pytest.approx(2.98, abs=0.05)


def test_a_road_keeps_its_width_through_a_house(made: Writer) -> None:
    made.way((0, 0), (0, 20), highway="service")
    made.way((0, 20), (0, 40), highway="service", tunnel="building_passage", name="Gate")
    made.way(*box(-30, 22, 30, 38), building="yes")
    [gate] = [one for one in rebuilt(made).plan.layout.streets if one.name == "Gate"]
    assert gate.road == pytest.approx(3.4)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"cycleway": "lane"}, (True, True)),
        ({"cycleway": "lane", "oneway": "yes"}, (True, False)),
        ({"cycleway:both": "lane", "oneway": "yes"}, (True, True)),
        ({"cycleway:left": "lane", "cycleway:right": "track"}, (False, True)),
        ({"cycleway": "shared_lane"}, (False, False)),
    ],
)
def test_no_car_is_parked_by_chance_on_a_cycle_lane(
    made: Writer, tags: dict[str, str], expected: tuple[bool, bool]
) -> None:
    made.way((0, -200), (300, -200), highway="residential", name="Lane", width="9", **tags)
    made.way((0, -200), (0, 0), highway="residential")
    twin = rebuilt(made)
    assert [one.cycle_lanes for one in twin.plan.layout.streets if one.name == "Lane"] == [expected]
    x, y = seeded(twin, "parked car").T
    north = y[(x > 15) & (np.abs(y + 200) < 6)] > -200
    parked = not north.all(), north.any()
    has_left = tags.get("oneway") != "yes"
    assert parked == (not expected[0] and len(north) > 0, not expected[1] and has_left)
