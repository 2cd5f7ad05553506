import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_town import made_town
from shapely import Point, Polygon, box

from virl.errors import BadInput
from virl.towns.listings import OfflineListings, let_homes

TOWN = made_town()
HOMES = let_homes(TOWN, 5)
EVERYWHERE = box(-39.0, 12.0, -38.0, 13.0)
ANY_PRICE = (0.0, 1e6)


def rentals() -> OfflineListings:
    return OfflineListings(HOMES)


def test_there_are_homes_with_ids_of_their_own():
    assert len(HOMES) >= 60
    assert len({home.id for home in HOMES}) == len(HOMES)
    assert {home.bedrooms for home in HOMES} == {0, 1, 2, 3, 4}
    assert {"Apartment", "Townhouse"} <= {home.property_type for home in HOMES}


def test_same_seed_same_homes():
    assert let_homes(TOWN, 5) == HOMES
    assert let_homes(TOWN, 6) != HOMES


def test_few_fronts_few_homes():
    assert 1 <= len(let_homes(made_town(streets=1, fronts=6), 0)) <= 12
    assert let_homes(made_town(streets=0), 0) == ()


def test_rents_grow_with_area_and_are_plausible():
    area, price = [home.area for home in HOMES], [home.price for home in HOMES]
    assert np.corrcoef(area, price)[0, 1] > 0.8
    assert min(price) >= 600
    assert max(price) <= 6000
    assert all(home.price % 25 == 0 and 1880 <= home.year_built <= 2026 for home in HOMES)
    assert all(20 <= home.area <= 200 and 1 <= home.bathrooms <= 3 for home in HOMES)


def test_the_middle_of_town_costs_more():
    away = [np.hypot(*TOWN.frame.point(home.position)) for home in HOMES]
    per_m2 = [home.price / home.area for home in HOMES]
    assert np.corrcoef(away, per_m2)[0, 1] < -0.1


def test_homes_are_off_the_busy_streets():
    fronts = {(front.number, TOWN.streets[front.street].name): [] for front in TOWN.frontages}
    for front in TOWN.frontages:
        fronts[front.number, TOWN.streets[front.street].name].append(front)
    calm = np.quantile([front.commercial for front in TOWN.frontages], 0.62)
    for home in HOMES:
        number, street = home.address.split(",")[0].split(" ", 1)
        assert any(
            front.commercial <= calm and front.building is not None for front in fronts[int(number), street]
        )


def test_rentals_are_cheapest_first():
    prices = [home.price for home in rentals().rentals(EVERYWHERE, ANY_PRICE)]
    assert prices == sorted(home.price for home in HOMES)


@given(
    st.floats(-300, 300), st.floats(-700, 700), st.floats(1, 400), st.integers(500, 4000),
    st.integers(0, 3000), st.none() | st.integers(0, 5),
)  # fmt: skip
def test_rentals_filter_as_a_full_look_does(x, y, half, lowest, span, bedrooms):
    south_west, north_east = TOWN.frame.position(x - half, y - half), TOWN.frame.position(x + half, y + half)
    area = box(south_west.lng, south_west.lat, north_east.lng, north_east.lat)
    found = rentals().rentals(area, (lowest, lowest + span), bedrooms)
    expected = {
        home.id
        for home in HOMES
        if area.covers(Point(home.position.lng, home.position.lat))
        and lowest <= home.price <= lowest + span
        and (bedrooms is None or home.bedrooms == bedrooms)
    }
    assert {home.id for home in found} == expected
    assert len(found) == len(expected)


def test_a_price_range_upside_down_is_refused():
    with pytest.raises(BadInput, match="lowest rent first"):
        rentals().rentals(EVERYWHERE, (2000, 1000))


@pytest.mark.parametrize("area", [Polygon(), Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])])
def test_an_area_that_is_no_polygon_is_refused(area):
    with pytest.raises(BadInput, match="polygon"):
        rentals().rentals(area, ANY_PRICE)
