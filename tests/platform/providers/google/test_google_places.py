import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_google import ScriptedGoogle, client, good
from served_google import FlatPhotos, Google, google_over

from virl.errors import BadInput, NotFound, ProviderError
from virl.geo import globe
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.places import (
    OpeningHours,
    Place,
    RatedPlaces,
    Review,
    closed_among,
    complete_to,
    each_photo,
    nearby_in_full,
)
from virl.platform.city.streetview import Image
from virl.platform.providers import open_city
from virl.platform.providers.google import places_legacy, places_new
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.client import Call, price_of
from virl.platform.providers.google.nearby import NearbyResult, PlaceKinds, cover_circle
from virl.platform.providers.google.places import (
    GooglePlaces,
    asked_legacy_types,
    asked_types,
    merge_places,
    normal_types,
    opening_hours,
    type_table,
)
from virl.platform.providers.google.settings import load_google_settings
from virl.platform.providers.http.replies import Notes, read_body
from virl.serve.google.options import ServeOptions

NEW = GoogleOptions(api="new")
OLD = GoogleOptions(api="legacy", page_wait=0.0)
ENOUGH = 200  # requests: more than any question here needs


@pytest.fixture(scope="module")
def virlton() -> City:
    city = open_city("virlton")
    return replace(city, places=FlatPhotos(city.places))


def open_ones(places: list[Place]) -> list[Place]:
    return [place for place in places if place.is_open]


@pytest.mark.slow
def test_listed_places_are_those_of_the_city_itself(virlton: City, fresh: Google) -> None:
    assert fresh.city.places.nearby(virlton.center, 90) == open_ones(
        virlton.places.nearby(virlton.center, 90)
    )
    for query in ("Mode Chabrol", "bakery", "Cross Avenue"):
        found = fresh.city.places.search(query, virlton.center)
        assert found == open_ones(virlton.places.search(query, virlton.center))
        assert len(found) > 0


def test_details_are_those_of_the_city_itself(virlton: City, fresh: Google) -> None:
    for listed in virlton.places.nearby(virlton.center, 150)[::5]:
        assert fresh.city.places.details(listed.id) == virlton.places.details(listed.id)


@pytest.mark.slow
def test_a_crowded_circle_is_asked_in_parts_until_nothing_is_missing(virlton: City, google: Google) -> None:
    for options, requests in ((NEW, 60), (OLD, 40)):
        patient = google.reopened(options.model_copy(update={"nearby_requests": ENOUGH}))
        google.asked()
        found = patient.city.places.nearby(virlton.center, 200)
        assert found == open_ones(virlton.places.nearby(virlton.center, 200))
        assert len(found) > 60
        assert 3 < sum(google.asked().values()) <= requests


def test_an_impatient_search_says_what_may_be_missing(
    virlton: City, google: Google, caplog: pytest.LogCaptureFixture
) -> None:
    hasty = google.reopened(GoogleOptions(nearby_requests=1))
    google.asked()
    found = hasty.city.places.nearby(virlton.center, 200)
    assert google.asked() == {"places_nearby": 1}
    nearest = virlton.places.nearby(virlton.center, 200)[:20]
    assert found == open_ones(nearest)
    assert "may be missing after 1 requests; raise nearby_requests" in caplog.text


def test_places_in_full_need_no_details(virlton: City, fresh: Google) -> None:
    city = fresh.reopened(NEW).city
    told = nearby_in_full(city.places, virlton.center, 40)
    assert set(fresh.asked()) == {"places_nearby"}
    assert told
    for place in told:
        own = virlton.places.details(place.id)
        assert city.places.details(place.id) == place
        assert (place.hours, place.is_open) == (own.hours, own.is_open)
        assert bool(place.reviews) == bool(own.reviews)
    assert fresh.asked() == {}


@pytest.mark.slow
def test_the_best_rated_places_of_a_crowd_come_with_one_search(virlton: City, google: Google) -> None:
    city, reach = google.reopened(NEW).city, 1200.0
    assert isinstance(city.places, RatedPlaces)
    google.asked()
    told = city.places.nearby_rated(virlton.center, reach, ["restaurant"], 4.5)
    assert google.asked() == {"places_text": -(-len(told) // 20)}
    all_of_them = open_ones(virlton.places.nearby(virlton.center, reach, ["restaurant"]))
    assert len(all_of_them) > 200
    assert [place.id for place in told] == [one.id for one in all_of_them if (one.rating or 0.0) >= 4.5]
    assert complete_to(told) == reach
    assert [city.places.details(place.id) for place in told] == told
    cheap = city.places.nearby_rated(virlton.center, reach, ["restaurant"], 4.5, 1)
    assert [place.id for place in cheap] == [one.id for one in told if one.price_level == 1]
    google.asked()
    too_many = city.places.nearby_rated(virlton.center, reach, ["restaurant"], 3.0)
    assert 50 < len(too_many) <= 60
    assert complete_to(too_many) == 0.0, "as many as a text search tells"
    assert google.asked() == {"places_text": 3}
    assert city.places.nearby_rated(virlton.center, reach, ["no_such_type"], 4.5) == []


def test_a_photo_that_is_not_taken_is_not_paid(virlton: City, fresh: Google) -> None:
    place = virlton.places.nearby(virlton.center, 50)[0]
    for options in (NEW, OLD):
        places = fresh.reopened(options).city.places
        fresh.asked()
        photo = next(each_photo(places, place.id, 10), None)
        asked = fresh.asked()
        assert sum(count for name, count in asked.items() if name.endswith("_photo")) == (photo is not None)


def test_what_each_operation_costs(virlton: City, fresh: Google, api: str) -> None:
    places, place = fresh.city.places, virlton.places.nearby(virlton.center, 50)[0]
    costs = {}
    for name, ask in {
        "nearby": lambda: places.nearby(virlton.center, 50),
        "typed": lambda: places.nearby(virlton.center, 50, ["cafe"]),
        "unknown type": lambda: places.nearby(virlton.center, 50, ["no_such_type"]),
        "search": lambda: places.search(place.name),
        "details": lambda: places.details(place.id),
        "photo": lambda: places.photos(place.id),
    }.items():
        ask()
        asked = fresh.asked()
        asked.pop("photo_file", None)  # the redirect's target, which Google does not bill
        costs[name] = (asked, fresh.http.ledger.take().usd)
    kind = "places" if api == "new" else "legacy"
    assert costs == {
        "nearby": ({f"{kind}_nearby": 1}, 0.035 if api == "new" else 0.040),
        "typed": ({f"{kind}_nearby": 1}, 0.035 if api == "new" else 0.040),
        "unknown type": ({}, 0),
        "search": ({f"{kind}_text": 1}, 0.035 if api == "new" else 0.040),
        "details": ({f"{kind}_details": 1}, 0.025),
        "photo": ({f"{kind}_details": 1, f"{kind}_photo": 1}, 0.012 if api == "new" else 0.032),
    }


def test_a_search_takes_as_many_pages_as_allowed(google: Google) -> None:
    for options, kind in ((NEW, "places_text"), (OLD, "legacy_text")):
        asked = []
        for pages in (1, 3):
            google.asked()
            found = google.reopened(options.model_copy(update={"search_pages": pages})).city.places.search(
                "store"
            )
            asked.append((google.asked()[kind], len(found) > 20))
        assert asked == [(1, False), (3, True)]


def test_many_types_are_asked_in_groups(virlton: City, google: Google) -> None:
    everything = sorted(
        {one for place in virlton.places.nearby(virlton.center, 50_000) for one in place.types}
    )
    google.asked()
    found = google.reopened().city.places.nearby(virlton.center, 60, everything)
    assert google.asked() == {"places_nearby": 2}
    assert found == open_ones(virlton.places.nearby(virlton.center, 60))


def test_closed_places_are_kept_where_one_asks_for_them(virlton: City, google: Google) -> None:
    closed = next(place for place in virlton.places.nearby(virlton.center, 5000) if not place.is_open)
    for options in (NEW, OLD):
        dropping = google.reopened(options).city.places
        keeping = google.reopened(options.model_copy(update={"keep_closed": True})).city.places
        assert closed not in dropping.nearby(closed.position, 10)
        assert closed in keeping.nearby(closed.position, 10)
        assert closed.id not in [place.id for place in dropping.search(closed.name)]
        assert closed.id in [place.id for place in closed_among(dropping.search(closed.name))]
        assert closed.id in [place.id for place in keeping.search(closed.name)]


@pytest.mark.parametrize("api", ["new", "legacy"])
def test_photos_are_limited_in_height_too(virlton: City, api: str) -> None:
    class TallPhotos(FlatPhotos):
        def photos(self, place_id: str, limit: int = 1) -> list[Image]:
            return [np.zeros((3000, 600, 3), np.uint8)]

    place = virlton.places.nearby(virlton.center, 50)[0]
    city = replace(virlton, places=TallPhotos(virlton.places))
    with google_over(city, NEW if api == "new" else OLD) as google:
        (photo,) = google.city.places.photos(place.id)
    assert photo.shape == (1024, 205, 3)


def test_photos_are_the_pictures_served(virlton: City, fresh: Google) -> None:
    place = virlton.places.nearby(virlton.center, 50)[0]
    (photo,) = fresh.city.places.photos(place.id, 3)
    assert np.array_equal(photo, virlton.places.photos(place.id)[0])
    with pytest.raises(BadInput, match="limit -1"):
        fresh.city.places.photos(place.id, -1)


@pytest.mark.parametrize("bad", ["", ".", "../x", "a/b", "a b?x=1", "ChIJ#"])
def test_odd_ids_find_nothing(fresh: Google, bad: str) -> None:
    with pytest.raises(NotFound, match="no place has the id"):
        fresh.city.places.details(bad)


def test_refuses_what_makes_no_sense(fresh: Google) -> None:
    for radius in (0, -1, 50_001, float("nan")):
        with pytest.raises(BadInput, match="radius"):
            fresh.city.places.nearby(fresh.city.center, radius)
    with pytest.raises(BadInput, match="query"):
        fresh.city.places.search(" ")
    assert fresh.asked() == {}


@pytest.mark.slow
def test_a_further_page_is_asked_again_until_it_is_ready(virlton: City) -> None:
    slow = ServeOptions(lossless=True, page_delay_s=0.3)
    with google_over(virlton, GoogleOptions(api="legacy", page_wait=0.2), slow) as google:
        found = google.city.places.search("restaurant")
        assert len(found) > 40
        assert google.server.stats()["good"]["legacy_text"] == 3
        assert 3 <= google.asked()["legacy_text"] <= 5
        hasty = google.reopened(GoogleOptions(api="legacy", page_wait=0.0))
        with pytest.raises(ProviderError, match="INVALID_REQUEST"):
            hasty.city.places.search("store")


NEW_BODY = {
    "id": "ChIJj61dQgK6j4AR4GeTYWZsKWw",
    "displayName": {"text": "Noodle Corner", "languageCode": "en"},
    "types": ["ramen_restaurant", "restaurant", "food", "point_of_interest", "establishment"],
    "primaryType": "ramen_restaurant",
    "location": {"latitude": 40.7, "longitude": -74.0},
    "formattedAddress": "1 Main St, New York, NY 10001, USA",
    "rating": 4.4,
    "userRatingCount": 120,
    "priceLevel": "PRICE_LEVEL_MODERATE",
    "businessStatus": "OPERATIONAL",
    "regularOpeningHours": {
        "openNow": True,
        "periods": [
            {"open": {"day": 0, "hour": 11, "minute": 30}, "close": {"day": 0, "hour": 22}},
            {"open": {"day": 5, "hour": 18}, "close": {"day": 6, "hour": 2, "minute": 0}},
        ],
    },
    "reviews": [
        {
            "rating": 5,
            "text": {"text": "Broth!", "languageCode": "en"},
            "originalText": {"text": "Brühe!", "languageCode": "de"},
            "authorAttribution": {"displayName": "A. Guest", "uri": "https://example.org"},
        },
        {"rating": 2},
    ],
}
ENDLESS = {
    "periods": [
        {"open": {"day": 1, "hour": 9, "minute": 0}, "close": {"day": 1, "hour": 17, "minute": 0}},
        {"open": {"day": 2, "hour": 9, "minute": 0}},
    ]
}
LEGACY_BODY = {
    "place_id": "ChIJj61dQgK6j4AR4GeTYWZsKWw",
    "name": "Noodle Corner",
    "types": ["restaurant", "food", "point_of_interest", "establishment"],
    "geometry": {"location": {"lat": 40.7, "lng": -74.0}},
    "formatted_address": "1 Main St, New York, NY 10001, USA",
    "rating": 4.4,
    "user_ratings_total": 120,
    "price_level": 2,
    "business_status": "OPERATIONAL",
    "opening_hours": {
        "periods": [
            {"open": {"day": 0, "time": "1130"}, "close": {"day": 0, "time": "2200"}},
            {"open": {"day": 5, "time": "1800"}, "close": {"day": 6, "time": "0200"}},
        ],
    },
    "reviews": [{"rating": 5, "text": "Broth!", "author_name": "A. Guest"}, {"rating": 2}],
}


def test_both_generations_tell_of_a_place_in_the_same_words() -> None:
    new, old = read_new(NEW_BODY), places_legacy.read_place(LEGACY_BODY)
    assert old == Place(
        id="ChIJj61dQgK6j4AR4GeTYWZsKWw",
        name="Noodle Corner",
        types=("restaurant", "food"),
        position=LatLng(40.7, -74.0),
        address="1 Main St, New York, NY 10001, USA",
        rating=4.4,
        review_count=120,
        price_level=2,
        hours=(OpeningHours(4, 1080, 1560), OpeningHours(6, 690, 1320)),
        reviews=(Review(5.0, "Broth!", "A. Guest"), Review(2.0, "")),
    )
    assert new == replace(old, types=("ramen_restaurant", "restaurant", "food"))


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"businessStatus": "CLOSED_PERMANENTLY"}, "is_open", False),
        ({"businessStatus": "FUTURE_OPENING"}, "is_open", False),
        ({"businessStatus": "CLOSED_TEMPORARILY"}, "is_open", False),
        ({"priceLevel": "PRICE_LEVEL_UNSPECIFIED"}, "price_level", None),
        ({"priceLevel": "PRICE_LEVEL_FREE"}, "price_level", 0),
        ({"priceLevel": "PRICE_LEVEL_VERY_EXPENSIVE"}, "price_level", 4),
        ({"rating": None}, "rating", None),
    ],
)
def test_reads_enums(changes: dict[str, object], field: str, value: object) -> None:
    assert getattr(read_new(NEW_BODY | changes), field) == value


def read_new(body: object, notes: Notes | None = None) -> Place:
    return read_body(places_new._Place, body, places_new.SERVICE, notes).place


@pytest.mark.parametrize(
    ("read", "body", "changes", "left"),
    [
        (read_new, "new", {"rating": "inf"}, {"rating": None}),
        (read_new, "new", {"rating": -1}, {"rating": None}),
        (read_new, "new", {"userRatingCount": 10**400}, {"review_count": 0}),
        (read_new, "new", {"userRatingCount": 11.6}, {"review_count": 12}),
        (read_new, "new", {"types": "cafe"}, {"types": ("ramen_restaurant", "restaurant")}),
        (read_new, "new", {"reviews": [{"text": {"text": "3"}}]}, {"reviews": ()}),
        (read_new, "new", {"regularOpeningHours": {"periods": [{"close": {}}]}}, {"hours": ()}),
        (read_new, "new", {"regularOpeningHours": ENDLESS}, {"hours": (OpeningHours(0, 540, 1020),)}),
        (
            read_new,
            "new",
            {"regularOpeningHours": {"periods": [{"open": {}, "close": {"minute": 10**12}}]}},
            {"hours": ()},
        ),
        (places_legacy.read_place, "old", {"price_level": 5}, {"price_level": None}),
        (
            places_legacy.read_place,
            "old",
            {"opening_hours": {"periods": [{"open": {"day": 7, "time": "1130"}}]}},
            {"hours": ()},
        ),
        (
            places_legacy.read_place,
            "old",
            {"opening_hours": {"periods": [{"open": {"day": 0, "time": "9960"}}]}},
            {"hours": ()},
        ),
    ],
)
def test_what_does_not_fit_of_a_place_is_left_out_and_told(
    read: Callable[[object, Notes], Place], body: str, changes: dict[str, object], left: dict[str, object]
) -> None:
    notes = list[str]()
    place = read(
        (NEW_BODY if body == "new" else LEGACY_BODY) | changes, lambda reason, _: notes.append(reason)
    )
    usual = read_new(NEW_BODY) if body == "new" else places_legacy.read_place(LEGACY_BODY)
    assert place == replace(usual, **left)
    assert len(notes) == (0 if left == {"review_count": 12} else 1), notes


@pytest.mark.parametrize(
    "changes",
    [
        {"location": {"latitude": "nan", "longitude": 0}},
        {"location": {"latitude": 91, "longitude": 0}},
        {"location": None},
        {"displayName": "text"},
        {"displayName": None},
    ],
)
def test_a_place_that_lacks_what_it_must_have_is_left_out_of_a_search_that_is_paid_once(
    changes: dict[str, object],
) -> None:
    good_ones = [NEW_BODY | {"id": f"place {number}"} for number in range(19)]
    reply = {"places": [*good_ones[:3], NEW_BODY | {"id": "odd"} | changes, *good_ones[3:]]}
    with ScriptedGoogle([good(reply)]) as server, client(server) as http:
        found = places_new.NewPlaces(http).places_within(LatLng(40.7, -74.0), 500, PlaceKinds())
        [told] = http.keeping.left_out.omissions()
    assert [place.id for place in found.places] == [one["id"] for one in good_ones]
    assert found.complete < 500  # 20 came: there may be more
    assert len(server.requests) == 1
    assert (told.source, told.count) == ("Places API (New): places_nearby", 1)
    assert "(in odd)" in told.reasons[0]


def prices(currency: str, low: int, high: int | None) -> dict[str, object]:
    ends = {"startPrice": low, "endPrice": high}
    return {name: {"currencyCode": currency, "units": str(end)} for name, end in ends.items() if end}


@pytest.mark.parametrize(
    ("told", "level", "fact"),
    [
        (prices("USD", 1, 10), 1, "USD 1 to 10"),
        (prices("GBP", 20, 30), 3, "GBP 20 to 30"),
        (prices("EUR", 100, None), 4, "EUR 100 or more"),
        (prices("JPY", 1000, 2000), None, "JPY 1000 to 2000"),
    ],
)
def test_a_price_range_is_kept_as_amounts_and_gives_a_level_that_is_marked(
    told: dict[str, object], level: int | None, fact: str
) -> None:
    place = read_new(NEW_BODY | {"priceLevel": None, "priceRange": told})
    facts = {"price range": fact} | ({"price level": "derived from the price range"} if level else {})
    assert (place.price_level, dict(place.facts)) == (level, facts)
    assert read_new(NEW_BODY | {"priceRange": told}).price_level == 2
    odd = read_new(NEW_BODY | {"priceLevel": None, "priceRange": told | {"endPrice": {"units": 3}}})
    assert (odd.price_level, odd.facts) == (None, ())


def test_what_costs_no_more_becomes_facts() -> None:
    told = {
        "websiteUri": "https://example.org",
        "nationalPhoneNumber": "020 1",
        "accessibilityOptions": {"wheelchairAccessibleEntrance": False},
        "servesVegetarianFood": True,
    }
    assert dict(read_new(NEW_BODY | told).facts) == {
        "phone": "020 1",
        "website": "https://example.org",
        "wheelchair": "no",
        "diet": "vegetarian yes",
    }
    settings = load_google_settings()
    listed, detailed = (
        price_of(settings, Call("places_nearby", fields=places_new._mask(fields))).sku
        for fields in (places_new._LISTED, places_new._DETAILED)
    )
    assert (listed, detailed) == ("nearby-enterprise", "nearby-atmosphere")


def test_the_same_odd_part_of_several_places_is_counted_for_each_however_often_it_is_read() -> None:
    hours = {"regularOpeningHours": {"periods": [{"close": {}}]}, "reviews": [{"rating": "x"}, {"rating": 3}]}
    reply = {"places": [NEW_BODY | hours | {"id": str(number), "rating": "x"} for number in range(4)]}
    with ScriptedGoogle([good(reply)]) as server, client(server) as http:
        for _ in range(2):
            found = places_new.NewPlaces(http).places_within(LatLng(40.7, -74.0), 500, PlaceKinds())
            assert len(found.places) == 4
        [told] = http.keeping.left_out.omissions()
    assert told.count == 12


@pytest.mark.parametrize("name", ["hotel", "pub", "coffee_shop", "asian_restaurant"])
def test_types_that_google_gives_can_be_asked_for(name: str) -> None:
    given = NEW_BODY | {"types": [name], "primaryType": name}
    with ScriptedGoogle([good({"places": [given]})]) as server, client(server) as http:
        api = places_new.NewPlaces(http)
        [place] = GooglePlaces(api, LatLng(40.7, -74.0)).nearby(LatLng(40.7, -74.0), 50, [name])
    assert place.name == "Noodle Corner"
    assert name in json.loads(server.requests[0].body)["includedTypes"]
    assert asked_legacy_types([name]) or name == "asian_restaurant"


def test_opening_hours_around_the_clock_and_over_the_end_of_the_week() -> None:
    assert opening_hours([(0, 0, None)]) == tuple(OpeningHours(day, 0, 1440) for day in range(7))
    assert opening_hours([(1, 540, (1, 1020)), (2, 540, None)]) == (OpeningHours(0, 540, 1020),)
    assert opening_hours([(0, 1200, (1, 120))]) == (OpeningHours(6, 1200, 1560),)
    assert opening_hours([(1, 0, (2, 0))]) == (OpeningHours(0, 0, 1440),)
    from_monday_to_thursday = opening_hours([(1, 480, (4, 1080))])
    assert from_monday_to_thursday == (
        OpeningHours(0, 480, 1440),
        OpeningHours(1, 0, 1440),
        OpeningHours(2, 0, 2520),
    )


@given(
    opens=st.integers(0, 7 * 1440 - 1),
    length=st.integers(1, 7 * 1440 - 1),
    when=st.integers(0, 7 * 1440 - 1),
)
def test_a_place_is_open_just_between_opening_and_closing(opens: int, length: int, when: int) -> None:
    closes = (opens + length) % (7 * 1440)
    hours = opening_hours([((opens // 1440), opens % 1440, (closes // 1440, closes % 1440))])
    place = Place("id", "name", (), LatLng(0, 0), hours=hours)
    google_day, minute = divmod(when, 1440)
    assert place.open_at((google_day + 6) % 7, minute) == ((when - opens) % (7 * 1440) < length)


def test_double_entries_are_merged() -> None:
    def entry(place_id: str, name: str, metres: float, reviews: int) -> Place:
        position = globe.destination(LatLng(10, 20), 90, metres)
        return Place(place_id, name, (), position, review_count=reviews)

    entries = [
        entry("a", "Corner Café", 0, 3),
        entry("b", "Bank", 5, 1),
        entry("c", "CORNER CAFÉ", 10, 50),
        entry("d", "Corner Café", 300, 2),
        entry("b", "Bank", 5, 1),
        entry("e", "Bank", 6, 0),
    ]
    assert [place.id for place in merge_places(entries)] == ["c", "b", "d"]


@given(
    spots=st.lists(st.tuples(st.floats(0, 360), st.floats(0, 500)), max_size=150, unique=True),
    radius=st.floats(20, 400),
)
def test_parts_cover_a_circle(spots: list[tuple[float, float]], radius: float) -> None:
    center = LatLng(41.0, -38.0)
    places = [Place(str(i), "", (), globe.destination(center, *spot)) for i, spot in enumerate(spots)]

    def ask(middle: LatLng, reach: float) -> NearbyResult:
        away = sorted((globe.distance(middle, place.position), int(place.id)) for place in places)
        near = [(metres, i) for metres, i in away if metres <= reach]
        complete = reach if len(near) <= 20 else near[20][0] - 1e-6
        return NearbyResult([places[i] for _, i in near[:20]], complete)

    told = cover_circle(ask, center, radius, 3000)
    assert told.complete == radius
    found = {place.id for place in told.places}
    assert found >= {place.id for place in places if globe.distance(center, place.position) <= radius}


def test_the_vocabulary_is_one() -> None:
    table = type_table()
    known = table.searchable | table.taken | table.asked_as.keys()
    assert set(table.renamed.values()) <= known
    assert set(table.implied.values()) <= known
    assert not table.renamed.keys() & table.searchable
    assert set(table.also_asked) <= table.searchable
    assert not table.asked_as.keys() & table.searchable
    renamed_to = {(name, parent) for parent, names in table.also_asked.items() for name in names}
    assert all(table.renamed[name] == parent for name, parent in renamed_to)


def test_every_type_of_the_made_city_can_be_asked_and_stays_as_it_is(virlton: City) -> None:
    for place in virlton.places.nearby(virlton.center, 50_000):
        assert normal_types([*place.types, "point_of_interest", "establishment"]) == place.types
        for name in place.types:
            assert asked_types([name])
            assert asked_legacy_types([name])


@pytest.mark.parametrize(
    ("given_types", "primary", "normal"),
    [
        (["store", "hair_salon", "point_of_interest"], "hair_salon", ("hair_care", "store")),
        (["sushi_restaurant", "restaurant", "food"], None, ("sushi_restaurant", "restaurant", "food")),
        (["candy_store", "food_store"], "candy_store", ("candy_store", "food", "store")),
        (["coffee_shop", "cafe", "food"], None, ("cafe", "food")),
        (["dog_park", "park"], "dog_park", ("dog_park", "park")),
        (["establishment"], None, ()),
    ],
)
def test_types_become_those_of_the_vocabulary(
    given_types: list[str], primary: str | None, normal: tuple[str, ...]
) -> None:
    assert normal_types(given_types, primary) == normal


def test_coarse_types_are_asked_by_what_they_hold() -> None:
    assert asked_types(["place_of_worship"]) == ["church", "mosque", "synagogue", "hindu_temple"]
    assert asked_types(["hair_care"]) == ["hair_care", "hair_salon", "barber_shop"]
    assert asked_types(["ramen_restaurant"]) == ["ramen_restaurant"]
    assert asked_types(["nonsense"]) == []
    assert asked_legacy_types(["grocery_or_supermarket", "ramen_restaurant"]) == ["supermarket"]
