import numpy as np
import pytest
import shapely
from made_walk import FRAME

from virl.geo.globe import distance
from virl.narrate.walk import no_streets, street_in, streets_by_addresses
from virl.platform.city.places import Place
from virl.platform.providers.offline.city import kept_plan
from virl.towns.places import OfflinePlaces

WAY = [FRAME.position(10.0 * k, 0.0) for k in range(11)]  # 100 m to the east


class Doors:
    """Places by address, at points in metres east and north."""

    def __init__(self, doors):
        self.places = [
            Place(str(number), "Shop", ("shop",), FRAME.position(x, y), address)
            for number, (address, x, y) in enumerate(doors)
        ]

    def nearby(self, position, radius, types=(), *, whole=None):
        return [place for place in self.places if distance(position, place.position) <= radius]


@pytest.mark.parametrize(
    ("doors", "name"),
    [
        ([("3 Mill Lane, Town", 40, 8), ("5 Mill Lane", 60, -8)], "Mill Lane"),
        ([("3 Mill Lane", 40, 8)], None),
        ([("3 Mill Lane", 5, 8), ("5 Mill Lane", 95, 8)], None),
        ([("3 Mill Lane", 40, 25), ("5 Mill Lane", 60, 25)], None),
        ([("3 Mill Lane", 30, 8), ("5 Mill Lane", 40, 8), ("1 Oak Row", 60, 8), ("2 Oak Row", 70, 8)], None),
        ([(f"{k} Mill Lane", 10 * k, 8) for k in range(2, 8)] + [("1 Oak Row", 60, 8)], "Mill Lane"),
        ([("Mill Lane", 40, 8), ("The Old Mill", 50, 8)], None),
        ([], None),
    ],
)
def test_a_street_is_named_by_the_addresses_beside_the_way(doors, name):
    assert streets_by_addresses(Doors(doors))(WAY) == name


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("18 Harbor Street, Virlton", "Harbor Street"),
        ("4b Elm Row", "Elm Row"),
        ("12-14 High St", "High St"),
        ("Town", None),
        ("", None),
    ],
)
def test_the_street_of_an_address(address, name):
    assert street_in(address) == name


def test_nobody_knows_without_maps():
    assert no_streets(WAY) is None


@pytest.mark.slow
def test_streets_of_the_made_city_are_named_rightly_or_not_at_all():
    plan = kept_plan(1)
    street_of = streets_by_addresses(OfflinePlaces(plan.shops, lambda *_: None))
    rng = np.random.default_rng(2)
    named = right = 0
    for number in rng.permutation(len(plan.layout.streets)):
        line = shapely.LineString(plan.layout.streets[number].line)
        if line.length < 60:
            continue
        way = [
            plan.layout.frame.position(*line.interpolate(at).coords[0])
            for at in np.arange(0, line.length, 10)
        ]
        name = street_of(way)
        named += name is not None
        right += name == plan.layout.streets[number].name
        if named == 80:
            break
    assert named == 80
    assert right >= 74  # corner shops stand in the other street
