"""Shapes that nobody builds: polygons of very many corners, and rings that cross themselves."""

import numpy as np
import pytest
from written_extract import Writer, box, opened, rebuilt

from virl.platform.city.streetview import Camera

CORNERS = 100_000  # of one polygon: a reader that compares each with each would not end


@pytest.mark.slow
@pytest.mark.parametrize("tags", [{"building": "yes"}, {"leisure": "park"}, {"natural": "water"}])
def test_a_polygon_of_very_many_corners_is_drawn(tags: dict[str, str], made: Writer) -> None:
    angle = np.linspace(0.0, 2 * np.pi, CORNERS, endpoint=False)
    away = 40.0 + 1.0 * np.sin(300 * angle)
    ring = np.column_stack([away * np.cos(angle), 60.0 + away * np.sin(angle)])
    made.way(*map(tuple, ring.tolist()), tuple(ring[0].tolist()), **tags)
    city = opened(made)
    here = city.streetview.nearest(city.center, 200.0)
    assert here
    assert city.streetview.view(here.id, Camera(0.0)).pixels.std() > 1


def test_a_ring_that_crosses_itself_is_mended(made: Writer) -> None:
    made.way((-30, 10), (-10, 30), (-10, 10), (-30, 30), (-30, 10), building="yes")
    made.way(*box(50, 10, 70, 30), building="yes")
    twin = rebuilt(made)
    assert [round(each.area) for each in twin.houses.footprints] == [400, 100, 100]
