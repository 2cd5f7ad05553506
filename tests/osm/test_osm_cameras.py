"""How far panoramas stand from walls and parked cars in twins."""

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from real_data import real_data
from written_extract import Writer, box, rebuilt, written

from virl.geo.globe import LatLng
from virl.osm.box import region_around
from virl.osm.extract import read_extract
from virl.osm.plan import Twin, build_twin
from virl.towns.plan.furnish import EYE_M, metres_to_cars


def room(twin: Twin) -> NDArray[np.float64]:
    """The metres from each panorama to what closes its way: houses, rooms over passages, walls and fences."""
    layout = twin.plan.layout
    barriers = [shapely.LineString(one.line) for one in layout.barriers]
    rooms = twin.houses.above.footprints[twin.houses.above.passages]
    walls = shapely.STRtree([*twin.houses.footprints, *rooms, *barriers])
    eyes = shapely.points(layout.panoramas.xy)
    return np.asarray(walls.query_nearest(eyes, all_matches=False, return_distance=True)[1])


def at(twin: Twin, east: float, north: float) -> shapely.Point:
    """The panorama nearest to a point, in the metres that both were written in."""
    points = shapely.get_parts(written(twin, shapely.MultiPoint(twin.plan.layout.panoramas.xy)))
    near: shapely.Point = points[shapely.distance(points, shapely.Point(east, north)).argmin()]
    return near


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "around", "narrow"),
    [("helsinki.osm.pbf", None, 1), ("liechtenstein.osm.pbf", LatLng(47.139286, 9.522796), 0)],
)
def test_cameras_of_real_towns_keep_off_walls_and_cars(name: str, around: LatLng | None, narrow: int) -> None:
    part = region_around(around, 700) if around else None
    twin = build_twin(read_extract(real_data("osm") / name, part))
    layout = twin.plan.layout
    cars = [(one.x, one.y, one.heading) for one in layout.furniture if one.kind == "parked car"]
    assert (room(twin) < EYE_M).sum() == narrow
    assert metres_to_cars(np.array(cars), layout.panoramas.xy).min() >= EYE_M


@pytest.fixture
def village(made: Writer) -> Twin:
    """Two houses, 3 m apart, with three paths 0.9 m from their walls and one through a passage."""
    for x, more in ((-50.9, {}), (-20, {"tunnel": "building_passage"}), (-0.9, {}), (50.9, {})):
        made.way((x, 0), (x, 8), highway="footway")
        made.way((x, 8), (x, 52), highway="footway", **more)
        made.way((x, 52), (x, 60), highway="footway")
    made.way((-50.9, 60), (-20, 60), (-0.9, 60), (50.9, 60), highway="footway")
    made.way((-52.6, 5), (-52.6, 55), barrier="fence")
    made.way(*box(-50, 8, -3, 52), building="yes", height="9")
    made.way(*box(0, 8, 50, 52), building="yes", height="9")
    return rebuilt(made)


@pytest.mark.parametrize(
    ("path", "east"),
    [
        pytest.param(50.9, (51.8, 52.1), id="off the wall"),
        pytest.param(-0.9, (-1.6, -1.4), id="in the middle of a lane"),
        pytest.param(-50.9, (-51.4, -51.2), id="between a wall and a fence"),
    ],
)
def test_a_camera_steps_aside(path: float, east: tuple[float, float], village: Twin) -> None:
    assert east[0] <= at(village, path, 30).x <= east[1]


def test_only_in_narrow_lanes_is_a_camera_near_a_wall(village: Twin) -> None:
    points = shapely.get_parts(written(village, shapely.MultiPoint(village.plan.layout.panoramas.xy)))
    near = points[room(village) < EYE_M]
    assert len(near)
    assert {round(point.x) for point in near} <= {-51, -2, -1}
