import re
import unicodedata
from collections import Counter
from math import dist

import numpy as np
import pytest
from made_town import PARK, made_town
from shapely import LineString, Point

from virl.pages.fonts import face_for
from virl.platform.city.places import DAYS, parse_hours
from virl.towns.life.parks import NO_FRONTAGE
from virl.towns.life.shops import move_in
from virl.towns.life.signs import all_sign_characters, units
from virl.towns.life.trades import trades_table
from virl.towns.plan.town_plan import Shop, Sign, StreetPlan

LOCALIZATION_TYPES = {
    "bank", "restaurant", "supermarket", "bakery", "cafe", "pharmacy", "hospital", "spa", "convenience_store",
    "school", "library", "park", "lodging", "laundry", "movie_theater", "book_store", "clothing_store",
    "jewelry_store", "gym", "bar",
}  # fmt: skip


@pytest.fixture(scope="module")
def town() -> StreetPlan:
    return made_town()


@pytest.fixture(scope="module", params=[0, 7])
def shops(town: StreetPlan, request: pytest.FixtureRequest) -> tuple[Shop, ...]:
    return move_in(town, request.param)


def restaurants(shops: tuple[Shop, ...]) -> list[Shop]:
    return [shop for shop in shops if shop.place.types[0] == "restaurant"]


def is_wide(text: str) -> bool:
    return any(unicodedata.east_asian_width(glyph) in "WF" for glyph in text)


@pytest.mark.slow
def test_every_localization_type_has_at_least_nine_places(shops):
    count = Counter(shop.place.types[0] for shop in shops)
    assert {kind for kind in LOCALIZATION_TYPES if count[kind] < 9} == set()
    assert len(count) >= 45
    assert len(shops) >= 500
    assert 290 <= count["restaurant"] <= 330


def test_the_most_specific_type_comes_first(shops):
    types = {shop.place.types for shop in shops}
    assert ("bakery", "store", "food") in types
    assert not any(kinds[0] in {"store", "food", "health"} for kinds in types)


def test_ids_names_and_fronts_are_given_once(shops):
    assert len({shop.place.id for shop in shops}) == len(shops)
    assert len({shop.place.name for shop in shops}) == len(shops)
    assert len({sign.id for shop in shops for sign in shop.signs}) == sum(len(shop.signs) for shop in shops)
    fronts = [shop.frontage for shop in shops if shop.frontage != NO_FRONTAGE]
    assert len(set(fronts)) == len(fronts)


@pytest.mark.slow
def test_same_seed_same_town_other_seed_other_town(town):
    assert move_in(town, 3) == move_in(town, 3)
    assert {shop.place.name for shop in move_in(town, 3)} != {shop.place.name for shop in move_in(town, 4)}


def test_few_fronts_take_few_trades():
    shops = move_in(made_town(streets=2, fronts=12), 0)
    assert 10 <= len(shops) <= 40
    assert len({shop.frontage for shop in shops if shop.frontage >= 0}) >= len(shops) - 1


def test_a_town_without_fronts_has_no_shops():
    assert move_in(made_town(streets=0), 0) == ()


def test_names_are_of_many_scripts_but_mostly_latin(shops):
    names = [shop.place.name for shop in shops]
    scripts = {unicodedata.name(glyph).split()[0] for name in names for glyph in name if glyph.isalpha()}
    certain = {"LATIN", "CJK", "HANGUL", "CYRILLIC"}
    assert certain <= scripts <= certain | {"GREEK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}
    assert 0.07 <= np.mean([is_wide(name) for name in names]) <= 0.18
    assert any(is_wide(name) and re.search("[A-Za-z]{3}", name) for name in names)
    latin = [name for name in names if not is_wide(name)]
    assert np.mean([len(name) <= 22 for name in latin]) > 0.93


def test_every_sign_can_be_lettered(shops):
    known = set(all_sign_characters())
    for shop in shops:
        for sign in shop.signs:
            assert set(sign.text + sign.tagline) <= known
            face_for(sign.text, sign.variant)
            face_for(sign.tagline, sign.variant)


def test_places_stand_two_metres_behind_their_front(town, shops):
    fronts = {front.id: front for front in town.frontages}
    for shop in shops:
        if shop.frontage == NO_FRONTAGE:
            assert Point(town.frame.point(shop.place.position)).within(PARK)
            continue
        front = fronts[shop.frontage]
        middle = (front.left[0] + front.right[0]) / 2, (front.left[1] + front.right[1]) / 2
        point = town.frame.point(shop.place.position)
        street = next(street for street in town.streets if street.id == front.street)
        assert dist(point, middle) == pytest.approx(2.0, abs=0.01)
        assert abs(point[1] - street.line[0, 1]) > abs(middle[1] - street.line[0, 1])
        assert shop.place.address == f"{front.number} {street.name}, Virlton"


def outward(sign: Sign) -> np.ndarray:
    """The way a sign faces: to the right of left -> right."""
    dx, dy = np.subtract(sign.right, sign.left)
    return np.array([dy, -dx]) / np.hypot(dx, dy)


def test_fascias_lie_within_their_front_and_face_the_street(town, shops):
    fronts = {front.id: front for front in town.frontages}
    for shop in shops:
        for sign in (sign for sign in shop.signs if sign.kind == "fascia"):
            front = fronts[shop.frontage]
            street = LineString(next(street.line for street in town.streets if street.id == front.street))
            middle = np.add(sign.left, sign.right) / 2
            assert street.distance(Point(middle + outward(sign))) < street.distance(Point(middle))
            wall = LineString([front.left, front.right])
            for end in (sign.left, sign.right):
                assert wall.distance(Point(end)) == pytest.approx(0.12, abs=0.002)
            assert 2.9 <= sign.bottom <= 3.1
            assert 0.745 <= sign.top - sign.bottom <= 0.955
            assert dist(sign.left, sign.right) >= 0.30 * units(sign.text) or units(sign.text) > 28


def test_blades_stand_out_above_the_fascia(town, shops):
    fronts = {front.id: front for front in town.frontages}
    bladed = [shop for shop in shops if len(shop.signs) == 2 and shop.signs[1].kind == "blade"]
    assert 0.68 <= len(bladed) / len(shops) <= 0.82
    for shop in bladed:
        fascia, blade = shop.signs
        front = fronts[shop.frontage]
        wall = np.subtract(front.right, front.left)
        assert np.dot(np.subtract(blade.right, blade.left), wall) == pytest.approx(0.0, abs=0.02)
        assert 0.89 <= dist(blade.left, blade.right) <= 2.01
        assert blade.bottom >= max(3.6, fascia.top)
        assert np.dot(np.subtract(blade.right, blade.left), outward(fascia)) > 0
        assert units(blade.text) <= 9


def test_boards_face_out_of_the_park(shops):
    parks = [shop for shop in shops if shop.frontage == NO_FRONTAGE]
    assert len(parks) == 1
    for sign in parks[0].signs:
        middle = np.add(sign.left, sign.right) / 2
        assert sign.kind == "board"
        assert sign.bottom == 1.2
        assert Point(middle).within(PARK)
        assert not Point(middle + 2 * outward(sign)).within(PARK)


def test_parks_are_where_nothing_is_built(town, shops):
    gardens = {front.id for front in town.frontages if front.building is None} | {NO_FRONTAGE}
    assert all((shop.place.types[0] == "park") == (shop.frontage in gardens) for shop in shops)


def test_restaurants_gather_and_leave_districts_without(town, shops):
    points = np.array([town.frame.point(shop.place.position) for shop in restaurants(shops)])
    away = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    near = (away < 80).sum(axis=1) - 1
    assert np.median(near) >= 5
    assert near.max() / len(points) <= 0.45
    fronts = np.array([front.left for front in town.frontages])
    to_food = np.hypot(*(fronts[:, None] - points[None]).transpose(2, 0, 1)).min(axis=1)
    assert np.mean(to_food > 25) > 0.1


def test_about_half_of_the_restaurants_are_spicy_by_kitchen(shops):
    spicy = [shop.attributes["spicy"] for shop in restaurants(shops)]
    assert 0.38 <= np.mean(spicy) <= 0.65
    mild_and_open = [s for s in restaurants(shops) if not s.attributes["spicy"] and s.place.is_open]
    assert len(mild_and_open) >= 20


def test_attributes_fit_the_type(shops):
    food = {"spicy", "cheap", "quiet", "authentic", "vegetarian", "friendly", "quick"}
    for shop in shops:
        assert all(isinstance(value, bool) for value in shop.attributes.values())
        if shop.place.types[0] in {"restaurant", "cafe", "bakery", "bar", "meal_takeaway"}:
            assert food <= set(shop.attributes)


def test_price_levels_agree_with_cheap(shops):
    for shop in shops:
        level = shop.place.price_level
        assert (level is None) == ("cheap" not in shop.attributes)
        if level is not None:
            assert (level == 1) == shop.attributes["cheap"]
            assert 1 <= level <= 4


def test_hours_are_of_the_week_and_bars_close_after_midnight(shops):
    for shop in shops:
        hours = shop.place.hours
        assert bool(hours) == shop.place.is_open
        assert list(hours) == sorted(hours, key=lambda stretch: (stretch.day, stretch.opens))
        assert all(0 <= h.day <= 6 and 0 <= h.opens < h.closes <= 2880 and h.opens < 1440 for h in hours)
    bars = [shop.place for shop in shops if shop.place.types[0] == "bar" and shop.place.is_open]
    assert any(bar.open_at(5, 30) for bar in bars)
    closed_a_day = [shop for shop in shops if 0 < len({h.day for h in shop.place.hours}) < 7]
    assert len(closed_a_day) > len(shops) / 4


def test_patterns_of_hours_run_over_the_end_of_the_week():
    hours = parse_hours("sat-mon 11:30-14:30+17:00-25:00, wed 9:00-12:00")
    assert [str(stretch) for stretch in hours] == [
        "mon 11:30-14:30", "mon 17:00-01:00", "wed 09:00-12:00",
        "sat 11:30-14:30", "sat 17:00-01:00", "sun 11:30-14:30", "sun 17:00-01:00",
    ]  # fmt: skip
    assert all(parse_hours(pattern) for patterns in trades_table().hours.values() for pattern in patterns)
    assert {DAYS[stretch.day] for stretch in parse_hours("fri-thu 0:00-24:00")} == set(DAYS)


def test_some_places_have_closed_and_some_are_unreviewed(shops):
    closed = [shop for shop in shops if not shop.place.is_open]
    unreviewed = [shop.place for shop in shops if shop.place.rating is None]
    assert 0.015 <= len(closed) / len(shops) <= 0.07
    assert 0.01 <= len(unreviewed) / len(shops) <= 0.055
    assert all(place.review_count == 0 and place.reviews == () for place in unreviewed)


def test_review_counts_have_a_long_tail(shops):
    counts = np.array([shop.place.review_count for shop in shops if shop.place.rating is not None])
    assert counts.min() >= 5
    assert counts.max() <= 2000
    assert counts.max() > 10 * np.median(counts)
    assert all(shop.place.review_count >= len(shop.place.reviews) for shop in shops)


@pytest.mark.slow
def test_a_town_of_another_name_has_the_same_shops_at_its_own_addresses(town: StreetPlan) -> None:
    here, there = move_in(town, 3), move_in(town, 3, "Elsewhere")
    assert [shop.place.name for shop in there] == [shop.place.name for shop in here]
    assert [shop.place.address for shop in there] == [
        shop.place.address.replace(", Virlton", ", Elsewhere") for shop in here
    ]
