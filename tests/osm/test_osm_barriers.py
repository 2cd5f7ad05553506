"""Hedges, walls and fences of a twin: where they stand, where they open, and what they hide."""

import numpy as np
import pytest
import shapely
from written_extract import Writer, box, opened, rebuilt, written

from virl.geo.globe import bearing
from virl.osm.plan import Twin
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.towns.plan.town_plan import Barrier
from virl.towns.render.barriers import barrier_mesh


def lines(twin: Twin, kind: str) -> shapely.Geometry:
    """What stands of a kind, in the metres that it was written in."""
    found = [shapely.LineString(one.line) for one in twin.plan.layout.barriers if one.kind == kind]
    return written(twin, shapely.MultiLineString(found))


@pytest.mark.parametrize(
    ("tags", "kind", "height"),
    [
        ({"barrier": "hedge"}, "hedge", 1.4),
        ({"barrier": "fence", "height": "2 m"}, "fence", 2.0),
        ({"barrier": "wall", "height": "90"}, "wall", 1.3),
        ({"barrier": "retaining_wall"}, "wall", 0.7),
    ],
)
def test_a_mapped_line_stands(tags: dict[str, str], kind: str, height: float, made: Writer) -> None:
    made.way((-60, 12), (60, 12), **tags)
    twin = rebuilt(made)
    assert {(one.kind, one.height) for one in twin.plan.layout.barriers} == {(kind, height)}
    assert lines(twin, kind).length == pytest.approx(120, abs=0.5)


def test_a_line_opens_at_gates_ways_and_houses(made: Writer) -> None:
    made.way((-60, 12), (60, 12), barrier="fence")
    made.node(-30, 12, barrier="gate")
    made.node(-10, 12, barrier="gate", width="5")
    made.way((10, 0), (10, 40), highway="service", service="driveway")
    made.way(*box(30, 8, 40, 16), building="yes")
    made.way((-60, -40), (60, -40), barrier="fence", layer="-1", tunnel="yes")
    fence = lines(rebuilt(made), "fence")
    for x, half in ((-30, 1.5), (-10, 2.5), (10, 1.5), (35, 5)):
        assert fence.distance(shapely.Point(x, 12)) == pytest.approx(half, abs=0.4)
    assert fence.distance(shapely.Point(0, 12)) < 0.1
    assert fence.bounds[1] > 11


def test_no_panorama_stands_in_a_hedge(made: Writer) -> None:
    made.way((-90, 1.5), (90, 1.5), barrier="hedge")
    twin = rebuilt(made)
    spots = shapely.points(twin.plan.layout.panoramas.xy)
    stretches = [shapely.LineString(one.line) for one in twin.plan.layout.barriers]
    assert not stretches or shapely.distance(spots, shapely.MultiLineString(stretches)).min() > 1.4


def seen(city: City) -> float:
    """The share of the bin that is seen from the panorama nearest to it."""
    assert city.truth
    bins = city.truth.things(["trash bin"])
    here = city.streetview.nearest(bins[0].position, 100)
    assert here
    camera = Camera(bearing(here.position, bins[0].position))
    found = city.truth.visible(here.id, camera, 1, ["trash bin"])
    return found[0].visible_fraction if found else 0.0


@pytest.mark.parametrize(("tags", "hidden"), [({}, False), ({"barrier": "wall", "height": "3"}, True)])
def test_the_truth_knows_what_a_wall_hides(tags: dict[str, str], hidden: bool, made: Writer) -> None:
    if tags:
        made.way((-60, 12), (60, 12), **tags)
    made.node(0, 15, amenity="waste_basket")
    city = opened(made)
    assert (seen(city) == 0.0) == hidden


def test_a_fence_hides_in_part(made: Writer) -> None:
    made.way((-60, 12), (60, 12), barrier="fence", height="2.6")
    made.node(0, 15, amenity="waste_basket")
    assert 0.02 < seen(opened(made)) < 0.75


def test_corners_of_a_hedge_are_closed() -> None:
    line = np.array([(0, 0), (6, 0), (6, 6), (0, 6), (0, 0)], float)
    sides = barrier_mesh([Barrier("hedge", line, 1.4, 0)]).corners[..., :2]
    points = {(round(x, 2), round(y, 2)) for x, y in sides.reshape(-1, 2).tolist()}
    outer, inner = ((-0.4, 6.4), (0.4, 5.6))
    assert points == {(x, y) for ring in (outer, inner) for x in ring for y in ring}
