"""Gardens before a twin's detached houses, which no map has."""

import pytest
import shapely
from shapely import LineString
from written_extract import Writer, box, rebuilt

from virl.towns.plan.town_plan import StreetPlan


def row_of_houses(made: Writer, front: float, deep: float = 10.0) -> StreetPlan:
    """The layout of two streets, and of eight houses whose fronts stand some metres north of the second."""
    made.way((-100, 0), (-100, 60), (100, 60), highway="residential", sidewalk="both")
    for x in range(-80, 80, 20):
        made.way(*box(x, 60 + front, x + 12, 60 + front + deep), building="house")
    return rebuilt(made).plan.layout


def test_gardens_have_a_path_to_the_door_and_a_gap_in_the_hedge(made: Writer) -> None:
    layout = row_of_houses(made, 13.0)
    street, paths = layout.streets[-1], shapely.MultiPolygon(layout.gravels)
    fences = shapely.MultiLineString([one.line for one in layout.barriers])
    houses = shapely.union_all([one.footprint for one in layout.buildings])
    edge = street.road / 2 + street.pavement
    assert len(layout.gravels) == len(layout.lands) == 8
    assert {one.kind for one in layout.barriers} == {"hedge", "fence"}
    assert all(house.footprint.distance(paths) < 0.1 for house in layout.buildings)
    assert min(one.distance(fences) for one in (paths, houses)) > 0.2
    # None ends in the open: all go back along the side of a house.
    assert max(houses.distance(LineString(one.line)) for one in layout.barriers) < 0.5
    for path in layout.gravels:
        assert edge - 1 < path.distance(LineString(street.line)) < edge
        assert min(path.distance(land.outline) for land in layout.lands) > 0.2
    for point in shapely.points(layout.panoramas.xy):
        assert point.distance(fences) > edge


@pytest.mark.parametrize(
    ("front", "deep", "tags"),
    [
        (7.0, 10.0, {}),
        (13.0, 60.0, {}),
        (13.0, 10.0, {"barrier": "fence"}),
        (13.0, 10.0, {"highway": "service"}),
    ],
)
def test_some_houses_have_no_garden(front: float, deep: float, tags: dict[str, str], made: Writer) -> None:
    """Those at the pavement, large ones, and those behind something that is mapped."""
    if tags:
        made.way((-90, 70), (90, 70), **tags)
    layout = row_of_houses(made, front, deep)
    assert not layout.gravels
    assert not layout.lands
