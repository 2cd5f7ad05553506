"""What covers the ground of a twin, and what comes from a seed: trees and parked cars."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
from PIL import features
from pydantic import ValidationError
from test_osm_buildings import opened, rebuilt, town, written
from written_extract import FRAME, Writer, box

from virl.journal.walk_map import ground_of
from virl.osm.extract import read_extract
from virl.osm.plan import Twin, build_twin
from virl.osm.unmapped import manner
from virl.pages.fonts import face_for, installed_faces
from virl.platform.providers.osm.city import open_twin, twin_statistics
from virl.platform.providers.osm.city_file import OsmCity
from virl.sheets.town_page import town_facts
from virl.towns.plan.town_plan import Street
from virl.towns.render.ground import Grounds
from virl.towns.render.segments import street_segments
from virl.towns.render.storefronts import letter


def seeded(twin: Twin, kind: str) -> np.ndarray:
    things = [one for one in twin.plan.layout.furniture if one.kind == kind and not one.is_mapped]
    return np.array([(p.x, p.y) for p in (written(twin, shapely.Point(t.x, t.y)) for t in things)]).reshape(
        -1, 2
    )


def test_squares_have_their_names_on_the_map(tmp_path: Path) -> None:
    made = town(tmp_path / "a.osm.pbf")
    made.way(*box(-90, 10, -40, 60), highway="pedestrian", area="yes", name="Old Market")
    made.way(*box(20, 10, 60, 60), highway="pedestrian", area="yes", name="Main Street")
    city = opened(made, tmp_path / "a.osm.pbf")
    names = sorted(area.name for area in ground_of(city).areas if area.kind == "square")
    assert names == ["", "Old Market"], "a street has its name along it"


def test_forests_orchards_and_rows_have_trees_that_are_counted_apart(tmp_path: Path) -> None:
    made = town(tmp_path / "a.osm.pbf")
    made.way(*box(-90, 10, -40, 60), landuse="forest")
    made.way(*box(-20, 10, 20, 50), landuse="orchard")
    made.way((40, 12), (90, 12), natural="tree_row")
    made.node(0, -12, natural="tree")
    made.way(*box(-70, 20, -60, 30), building="hut")
    twin = rebuilt(made, tmp_path / "a.osm.pbf")
    trees = seeded(twin, "tree")
    in_forest = shapely.contains_xy(shapely.box(-95, 5, -35, 65), trees[:, 0], trees[:, 1]).sum()
    assert in_forest > 15
    assert (np.abs(trees[:, 1] - 12) < 0.5).sum() >= 5
    assert shapely.distance(shapely.points(trees), shapely.box(-70, 20, -60, 30)).min() > 2.9
    known = twin_statistics(twin)
    assert known.furniture == {"tree": 1}
    assert known.filled["tree"] == len(trees)
    again = build_twin(read_extract(tmp_path / "a.osm.pbf"))
    assert again.plan.layout.furniture == twin.plan.layout.furniture


def test_the_truth_tells_what_is_mapped_from_what_is_filled_in(tmp_path: Path) -> None:
    made = town(tmp_path / "b.osm.pbf")
    made.way(*box(-90, 10, -40, 60), landuse="forest")
    made.node(0, -12, natural="tree")
    made.node(10, -12, amenity="waste_basket")
    city = opened(made, tmp_path / "b.osm.pbf")
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


def test_cars_keep_off_zebras_doors_lanes_and_forbidden_sides(tmp_path: Path) -> None:
    path = tmp_path / "c.osm.pbf"
    made = town(path)
    sides = {"parking__lane__left": "no_parking", "parking__lane__right": "parallel"}
    made.way((-300, -80), (0, -80), (300, -80), highway="residential", width="8", **sides)
    made.way((0, 0), (0, -80), highway="residential")
    made.node(-150, -80, highway="crossing", crossing="uncontrolled")
    made.node(-200, -88, entrance="main")
    twin = rebuilt(made, path)
    cars = seeded(twin, "parked car")
    mine = cars[np.abs(cars[:, 1] + 80) < 10]
    assert len(mine) > 20
    assert (mine[:, 1] < -80).all()  # on the right of a way to the east
    assert np.abs(mine[:, 1] + 80).min() > 2.0
    eyes = np.array(
        [(p.x, p.y) for p in (written(twin, shapely.Point(x)) for x in twin.plan.layout.panoramas.xy)]
    )
    away = np.linalg.norm(cars[:, None] - eyes[None], axis=2).min()
    assert away > 3.3


def test_zebras_are_painted_where_crossings_are_mapped_and_nowhere_else(tmp_path: Path) -> None:
    path = tmp_path / "d.osm.pbf"
    made = town(path)
    made.way((0, 0), (0, 80), highway="residential")
    made.way((-100, 0), (-100, 80), highway="residential")
    made.node(50, 0, highway="crossing", crossing="uncontrolled")
    made.node(70, 0, highway="crossing", crossing="unmarked")
    twin = rebuilt(made, path)
    [zebra] = twin.plan.layout.crossings or ()
    line = shapely.LineString(twin.plan.layout.streets[zebra.street].line)
    spot = written(twin, line.interpolate(zebra.along))
    assert (spot.x, spot.y) == (pytest.approx(50, abs=0.2), pytest.approx(0, abs=0.2))
    segments = street_segments(twin.plan.layout, twin.plan.layout.streets)
    painted = segments[(segments[:, 9] < 1e8) | (segments[:, 10] < 1e8)]
    assert len(painted) == 1
    assert painted[0, 4] == pytest.approx(4.8, abs=0.01)


@pytest.mark.slow
def test_water_gravel_grass_and_the_sea_lie_on_the_ground(tmp_path: Path) -> None:
    path = tmp_path / "e.osm.pbf"
    made = town(path)
    made.way(*box(-60, 20, -40, 40), natural="water")
    made.way(*box(-30, 20, -10, 40), natural="sand")
    made.way(*box(10, 20, 30, 40), leisure="park")
    made.way((-90, 50), (90, 50), railway="rail")
    made.way((-90, -10), (90, -10), railway="tram")
    made.way((-90, -12), (90, -12), railway="rail", tunnel="yes")
    made.way((120, 60), (-120, 60), natural="coastline")  # the sea is on its right, to the north
    made.way((-120, -20), (0, -20), (120, -20), highway="track")
    twin = rebuilt(made, path)
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


def test_lights_mapped_on_the_carriageway_stand_at_the_kerb(tmp_path: Path) -> None:
    path = tmp_path / "f.osm.pbf"
    made = town(path)
    made.node(-50, 0, highway="traffic_signals")
    made.node(-40, 1, highway="bus_stop")
    made.node(-30, 0, barrier="bollard")
    made.way(*box(20, 8, 26, 12), amenity="bicycle_parking")
    twin = rebuilt(made, path)
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


@pytest.mark.parametrize(
    "name", ["مطعم القدس", "מאפייה", "बेकरी", "ร้านอาหาร", "大酒店", "국밥", "Αρτοποιείο", "Хлеб"]
)
def test_names_in_their_own_scripts_have_signs(name: str, tmp_path: Path) -> None:
    if not features.check("raqm"):
        pytest.skip("Pillow has no Raqm without FriBiDi")
    path = tmp_path / "g.osm.pbf"
    made = town(path)
    made.way(*box(-40, 8, 0, 25), building="yes", building__levels="3")
    made.node(-20, 10, shop="bakery", name=name)
    twin = rebuilt(made, path)
    [shop] = twin.plan.shops
    assert shop.signs
    assert shop.signs[0].text == name


def test_an_extra_adds_scripts(tmp_path: Path) -> None:
    pytest.importorskip("fontpkg_noto_sans_tamil")
    name = "அடுமனை"
    if not features.check("raqm"):
        pytest.skip("Pillow has no Raqm without FriBiDi")
    [face] = [face for face in installed_faces() if "NotoSansTamil" in face]
    assert face_for(name, 0) == face
    path = tmp_path / "h.osm.pbf"
    made = town(path)
    made.way(*box(-40, 8, 0, 25), building="yes", building__levels="3")
    made.node(-20, 10, shop="bakery", name=name)
    [shop] = rebuilt(made, path).plan.shops
    assert shop.signs[0].text == name
    coverage = letter(shop.signs[0])
    assert 0.02 < (coverage > 127).mean() < 0.6


def test_names_are_those_of_the_language_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "i.osm.pbf"
    made = Writer(path)
    made.way((-100, 0), (100, 0), highway="residential", name="Iso Katu", name__en="Great Street")
    made.node(0, 12, shop="bakery", name="Leipomo", name__en="The Bakery", addr__street="Iso Katu",
              addr__housenumber="1")  # fmt: skip
    made.node(40, 12, shop="kiosk", name="Kioski")
    made.close()
    file = OsmCity(title="Town", about="", provider="osm", extract=path, names="en")
    city = open_twin("town", file)
    assert {place.name for place in city.places.nearby(city.center, 200)} == {"The Bakery", "Kioski"}
    assert city.places.search("Leipomo")[0].name == "The Bakery"
    assert city.places.search("The Bakery")[0].address == "Great Street 1"
    assert city.inventory
    assert {street.name for street in city.inventory.streets()} == {"Great Street"}
    local = open_twin("town", file.model_copy(update={"names": ""}))
    assert {place.name for place in local.places.nearby(city.center, 200)} == {"Leipomo", "Kioski"}
    with pytest.raises(ValidationError):
        OsmCity(title="Town", about="", provider="osm", extract=path, names="English!")


def ground_at(twin: Twin, raster: str, x: float, y: float) -> float:
    """Metres in a raster of distances, at a point of the writer."""
    ground = Grounds(twin.plan.layout).ground_around(0.0, 0.0)
    here = np.array(twin.plan.layout.frame.point(FRAME.position(x, y))) - ground.origin
    column, row = np.round(here * ground.per_cell).astype(int)
    return float(getattr(ground, raster)[row, column]) / 256


def laid(path: Path, *streets: Street) -> Twin:
    """A town with other streets."""
    made = rebuilt(town(path), path)
    layout = made.plan.layout
    lines = [written_back(made, street.line) for street in streets]
    moved = tuple(replace(street, line=line) for street, line in zip(streets, lines, strict=True))
    return replace(made, plan=replace(made.plan, layout=replace(layout, streets=moved)))


def written_back(twin: Twin, line: np.ndarray) -> np.ndarray:
    return np.array([twin.extract.frame.point(FRAME.position(*at)) for at in line.tolist()])


def street(
    number: int, line: list[tuple[float, float]], road: float, pavement: float, **more: bool
) -> Street:
    return Street(number, "", np.array(line, float), 0, 1, road, pavement, **more)


def test_a_pavement_is_as_wide_where_another_kerb_is_nearer(tmp_path: Path) -> None:
    wide = street(0, [(-60, 0), (60, 0)], 6.0, 9.0)
    narrow = street(1, [(0, 8), (60, 8)], 2.0, 1.0)
    twin = laid(tmp_path / "p.osm.pbf", wide, narrow)
    for x in np.arange(-40, 41, 2.5).tolist():
        assert ground_at(twin, "stone", x, 11.0) < -0.5, "ragged: the kerb of the narrow street is nearer"
        assert ground_at(twin, "stone", x, 13.0) > 0.5


def test_a_wide_pavement_leaves_a_gravel_path_its_lawn_but_no_kerbside(tmp_path: Path) -> None:
    wide = street(0, [(-60, 0), (60, 0)], 6.0, 9.0)
    path = street(1, [(-60, 9), (60, 9)], 0.0, 1.25, is_gravel=True)
    twin = laid(tmp_path / "g.osm.pbf", wide, path)
    assert ground_at(twin, "stone", 0, 9) > 0
    assert ground_at(twin, "stone", 0, 4.5) < 0


@pytest.mark.parametrize(("gap", "is_closed"), [(0.6, True), (2.4, False)])
def test_no_sliver_of_pavement_is_left_between_carriageways(
    gap: float, is_closed: bool, tmp_path: Path
) -> None:
    roads = [street(n, [(-60, y), (60, y)], 6.0, 1.0) for n, y in enumerate((0.0, 6.0 + gap))]
    twin = laid(tmp_path / "s.osm.pbf", *roads)
    ridge = max(ground_at(twin, "kerb", 0, y) for y in np.arange(2.0, 5.0 + gap, 0.25).tolist())
    assert (ridge < 0) == is_closed


def test_a_bend_widens_no_carriageway(tmp_path: Path) -> None:
    bent = street(0, [(-60, 0), (0, 0), (40, 20)], 6.0, 1.0)
    twin = laid(tmp_path / "b.osm.pbf", bent)
    line = shapely.LineString(bent.line)
    for x, y in ((-20, 5), (0, 5), (1, -5), (20, 15), (10, 0)):
        true = line.distance(shapely.Point(x, y)) - 3.0
        assert ground_at(twin, "kerb", x, y) == pytest.approx(true, abs=0.6)


@pytest.mark.slow
def test_the_edge_of_a_park_is_smooth(tmp_path: Path) -> None:
    made = town(tmp_path / "e.osm.pbf")
    corners = [(-80, 20), (80, 52), (80, 90), (-80, 90)]
    made.way(*corners, corners[0], leisure="park")
    twin = rebuilt(made, tmp_path / "e.osm.pbf")
    edge = shapely.LineString([(-80, 20), (80, 52)])
    ground = Grounds(replace(twin.plan.layout, paved_from=1.0)).ground_around(0.0, 0.0)
    rows, columns = np.indices(ground.parks.shape)
    xy = np.column_stack([columns.ravel(), rows.ravel()]) / ground.per_cell + ground.origin
    points = shapely.get_parts(written(twin, shapely.MultiPoint(xy)))
    x, y = shapely.get_x(points), shapely.get_y(points)
    true = shapely.distance(points, edge) * np.where(y > 20 + 0.2 * (x + 80), -1, 1)
    near = (np.abs(true) < 1.0) & (np.abs(x) < 70)
    off = ground.parks.ravel()[near] / 256 - true[near]
    assert near.sum() > 200
    assert np.std(off) < 0.25


def test_open_roads_have_verges_and_paths_their_surface(tmp_path: Path) -> None:
    path = tmp_path / "v.osm.pbf"
    made = town(path)
    for y, tags in ((-200, {}), (-260, {"sidewalk": "both"}), (-320, {"lit": "yes"})):
        made.way((0, y), (100, y), highway="tertiary", name=f"Road {y}", **tags)
        made.way((0, y), (0, y + 60 if y < -200 else 0), highway="residential")
    made.way((100, -200), (200, -200), highway="footway", name="plain")
    made.way((100, -260), (200, -260), highway="footway", name="sealed", surface="asphalt")
    made.way(*box(10, -300, 60, -270), landuse="vineyard")
    layout = rebuilt(made, path).plan.layout
    of = {street.name: street for street in layout.streets if street.name}
    assert [of[f"Road {y}"].has_kerb for y in (-200, -260, -320)] == [False, True, True]
    assert (of["plain"].is_gravel, of["sealed"].is_asphalt) == (True, True)
    assert [land.kind for land in layout.lands] == ["vineyard"]


def test_a_road_keeps_its_width_through_a_house(tmp_path: Path) -> None:
    path = tmp_path / "w.osm.pbf"
    made = town(path)
    made.way((0, 0), (0, 20), highway="service")
    made.way((0, 20), (0, 40), highway="service", tunnel="building_passage", name="Gate")
    made.way(*box(-30, 22, 30, 38), building="yes")
    [gate] = [one for one in rebuilt(made, path).plan.layout.streets if one.name == "Gate"]
    assert gate.road == pytest.approx(3.4)
