from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_town import made_town

from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng, distance
from virl.platform.city.places import Place, Places
from virl.platform.city.streetview import Image
from virl.towns.life.parks import NO_FRONTAGE
from virl.towns.life.shops import move_in
from virl.towns.places import OfflinePlaces
from virl.towns.plan.town_plan import Shop

TOWN = made_town()
SHOPS = move_in(TOWN, 2)


def photograph(shop: Shop) -> Image:
    return np.full((4, 6, 3), int(shop.place.id[-2:]), np.uint8)


@pytest.fixture(scope="module")
def places() -> Places:
    return OfflinePlaces(SHOPS, photograph)


positions = st.builds(
    TOWN.frame.position, st.floats(-300, 300, allow_nan=False), st.floats(-700, 700, allow_nan=False)
)


@given(positions, st.floats(1, 900), st.sets(st.sampled_from(["food", "bar", "store", "park", "zoo"])))
@pytest.mark.slow
def test_nearby_finds_what_a_full_look_finds(position: LatLng, radius: float, types: set[str]) -> None:
    found = OfflinePlaces(SHOPS[:60], photograph).nearby(position, radius, types)
    expected = sorted(
        (distance(position, shop.place.position), shop.place.id)
        for shop in SHOPS[:60]
        if not types or types & set(shop.place.types)
    )
    assert [place.id for place in found] == [name for away, name in expected if away <= radius]


def test_nearby_lists_closed_places_but_no_hours_nor_reviews(places):
    everything = places.nearby(TOWN.frame.origin, 5000)
    assert len(everything) == len(SHOPS)
    assert any(not place.is_open for place in everything)
    assert all(place.hours == () and place.reviews == () for place in everything)
    assert any(place.review_count > 0 for place in everything)


@pytest.mark.parametrize("radius", [0, -5, 50_001, float("nan")])
def test_nearby_refuses_a_radius_out_of_range(places, radius):
    with pytest.raises(BadInput, match="radius"):
        places.nearby(TOWN.frame.origin, radius)


def test_details_add_hours_and_reviews(places):
    shop = next(shop for shop in SHOPS if shop.place.reviews and shop.place.hours)
    assert places.details(shop.place.id) == shop.place


@pytest.mark.parametrize("ask", [lambda p: p.details("nowhere"), lambda p: p.photos("nowhere")])
def test_an_unknown_id_is_an_error(places, ask: Callable[[Places], object]):
    with pytest.raises(NotFound, match="nowhere"):
        ask(places)


def test_photos_come_from_the_photographer(places):
    (photo,) = places.photos(SHOPS[7].place.id, limit=3)
    assert (photo == photograph(SHOPS[7])).all()
    assert places.photos(SHOPS[7].place.id, limit=0) == []
    with pytest.raises(BadInput, match="limit -1"):
        places.photos(SHOPS[7].place.id, limit=-1)


def test_a_park_without_a_front_has_no_photo(places):
    park = next(shop for shop in SHOPS if shop.frontage == NO_FRONTAGE)
    assert places.photos(park.place.id) == []


@pytest.mark.parametrize("query", ["bakery", "bakeries", "Bakery in Virlton", "backery"])
def test_search_by_type_in_singular_plural_and_misspelt(places, query):
    found = places.search(query)
    assert {place.id for place in found} >= {s.place.id for s in SHOPS if s.place.types[0] == "bakery"}
    assert found[0].types[0] == "bakery"


def test_search_by_two_words_finds_those_with_both_first(places):
    found = places.search("book store")
    kinds = [place.types[0] for place in found]
    count = sum(shop.place.types[0] == "book_store" for shop in SHOPS)
    assert kinds[:count] == ["book_store"] * count


@pytest.mark.parametrize("step", [3, 50, 211, 400])
def test_search_by_its_own_name_finds_a_place_first(places, step):
    assert places.search(SHOPS[step].place.name)[0].name == SHOPS[step].place.name


def test_search_does_not_mind_accents_and_finds_parts_of_east_asian_names():
    position = LatLng(12.5, -38.25)
    some = [
        Shop(Place(name, name, ("restaurant",), position), -1, (), {}, 0)
        for name in ("Phở Hà Nội", "海風寿司", "Panadería Peña")
    ]
    places = OfflinePlaces(some, photograph)
    assert [place.name for place in places.search("pho ha noi")] == ["Phở Hà Nội"]
    assert [place.name for place in places.search("寿司")] == ["海風寿司"]
    assert [place.name for place in places.search("panaderia pena")] == ["Panadería Peña"]


def test_search_near_a_position_puts_the_nearest_first(places):
    here = TOWN.frame.position(100.0, 60.0)
    away = [distance(here, place.position) for place in places.search("pharmacy", here)]
    assert away == sorted(away)
    assert len(away) >= 10


def test_search_near_a_street_goes_by_the_way_from_there(places):
    found = places.search("pharmacy near Mill Street")
    there = places.search("Mill Street")[0].position
    away = [distance(there, place.position) for place in found]
    assert {place.types[0] for place in found} == {"pharmacy"}
    assert away == sorted(away)


def test_search_by_address(places):
    address = SHOPS[20].place.address
    assert address in {place.address for place in places.search(address)[:3]}


def test_search_that_nothing_answers_is_empty(places):
    assert places.search("xylophone tuner qqq") == []


@pytest.mark.parametrize("query", ["", "  ", "?!"])
def test_search_without_words_is_refused(places, query):
    with pytest.raises(BadInput, match="name what to look for"):
        places.search(query)


def test_search_returns_sixty_at_most(places):
    assert len(places.search("Virlton")) == 60
