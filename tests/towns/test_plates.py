"""Plates over junctions name each street that leaves them, with its house numbers up to the next one."""

import re
from collections import Counter

import numpy as np
import pytest
from junction_looks import looks_down

from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers.cities import open_city
from virl.platform.providers.offline.city import kept_plan
from virl.towns.plan.town_plan import CityPlan


@pytest.fixture(scope="module")
def plan() -> CityPlan:
    return kept_plan(2, "Virlham", ("plates",))


@pytest.fixture(scope="module")
def town() -> City:
    return open_city("virlham")


def test_each_street_that_leaves_a_junction_of_three_has_a_plate(plan: CityPlan) -> None:
    ways = Counter(end for street in plan.layout.streets for end in (street.start, street.end))
    expected = sum(ways[end] > 2 for street in plan.layout.streets for end in (street.start, street.end))
    assert len(plan.street_signs) == expected > 500
    assert len({plate.id for plate in plan.street_signs}) == expected
    streets = {street.id: street for street in plan.layout.streets}
    for plate in plan.street_signs:
        street = streets[int(plate.id.split("-")[1])]
        assert plate.text == street.name
        numbers = [front.number for front in plan.layout.frontages if front.street == street.id]
        assert plate.tagline == (f"{min(numbers)}-{max(numbers)}" if numbers else "")
        middle = (np.array(plate.left) + np.array(plate.right)) / 2
        assert min(np.linalg.norm(plan.layout.junctions[[street.start, street.end]] - middle, axis=1)) < 14.5


def test_all_else_of_the_town_is_as_without_plates(plan: CityPlan) -> None:
    bare = kept_plan(2, "Virlham")
    assert bare.street_signs == ()
    assert [shop.signs for shop in bare.shops] == [shop.signs for shop in plan.shops]
    assert bare.layout.furniture == plan.layout.furniture


@pytest.mark.slow
def test_plates_are_in_the_truth_and_belong_to_no_place(town: City) -> None:
    assert town.truth is not None
    here = town.streetview.panorama("vt-00060")
    assert here.is_crossing
    for link in here.links:
        camera = Camera(link.heading, 3.0, 20.0, 640, 480)
        seen = town.truth.visible(here.id, camera, kinds={"sign"})
        nearest = next(sign for sign in seen if sign.id.endswith("-plate"))
        assert re.search(r"Street|Boulevard", nearest.label)
        assert nearest.place_id is None
        assert nearest.place_types == ()
        assert nearest.visible_fraction > 0.9


@pytest.mark.slow
def test_plates_are_read_from_the_middle_of_junctions(town: City) -> None:
    reader = Models(ModelOptions(truth=town.truth)).reader("sign-reader")
    plan, read, asked = kept_plan(2, "Virlham", ("plates",)), 0, 0
    for pano_id, camera in looks_down(town, range(40, 70), junctions=12):
        words = {line.text for line in reader.read([town.streetview.view(pano_id, camera).pixels])[0]}
        asked += 1
        read += any({plate.text, plate.tagline} <= words for plate in plan.street_signs)
    assert asked > 30
    assert read > 0.8 * asked
