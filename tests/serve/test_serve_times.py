"""What depends on the clock: opening now, and when reviews were written."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city
from virl.serve.google.shown_places import TownClock

NOON = datetime(2026, 5, 13, 12, 0, tzinfo=UTC)  # a Wednesday
DETAILS = "/maps/api/place/details/json"


@pytest.fixture
def noon(city: City) -> Iterator[httpx.Client]:
    with (
        serve_city(city, ServeOptions(now=lambda: NOON)) as server,
        httpx.Client(base_url=server.url, params={"key": "k"}, timeout=30) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def shop(city: City) -> Place:
    listed = city.places.nearby(city.center, 500, ["restaurant"])
    return next(place for place in map(city.places.details, (one.id for one in listed)) if place.reviews)


def test_a_place_of_the_legacy_api_has_all_of_googles_fields(
    noon: httpx.Client, shop: Place, city: City
) -> None:
    found = noon.get(DETAILS, params={"place_id": shop.id}).json()["result"]
    assert found["opening_hours"]["open_now"] is shop.open_at(2, 720)
    assert found["current_opening_hours"] == found["opening_hours"]
    assert found["utc_offset"] == 0
    assert found["plus_code"]["compound_code"].endswith(f" {city.title}")
    assert found["icon"].startswith("https://")
    review = found["reviews"][0]
    assert isinstance(review["rating"], int)
    assert 0 < NOON.timestamp() - review["time"] < 902 * 86_400
    assert review["relative_time_description"].endswith(" ago")
    assert review["author_url"].startswith("https://")
    assert review["profile_photo_url"].startswith("https://")


def test_a_place_of_the_new_api_has_them_too(noon: httpx.Client, shop: Place) -> None:
    found: dict[str, Any] = noon.get(f"/v1/places/{shop.id}", params={"fields": "*"}).json()
    assert found["regularOpeningHours"]["openNow"] is shop.open_at(2, 720)
    assert found["currentOpeningHours"] == found["regularOpeningHours"]
    assert found["utcOffsetMinutes"] == 0
    assert len(found["plusCode"]["globalCode"]) == 11
    review = found["reviews"][0]
    assert datetime.fromisoformat(review["publishTime"]) < NOON
    assert review["relativePublishTimeDescription"].endswith(" ago")
    assert review["authorAttribution"]["uri"].startswith("https://")


def test_open_now_is_a_filter(noon: httpx.Client, city: City) -> None:
    body = {"textQuery": "restaurant", "openNow": True, "pageSize": 20}
    found = noon.post("/v1/places:searchText", json=body, headers={"X-Goog-FieldMask": "places.id"}).json()
    assert all(city.places.details(place["id"]).open_at(2, 720) for place in found["places"])
    query = {"location": f"{city.center.lat},{city.center.lng}", "radius": "500"}
    every, now_open = (
        noon.get("/maps/api/place/nearbysearch/json", params=query | more).json()["results"]
        for more in ({}, {"opennow": "true"})
    )
    assert all(city.places.details(place["place_id"]).open_at(2, 720) for place in now_open)
    assert [one["place_id"] for one in every] != [one["place_id"] for one in now_open]


@pytest.mark.parametrize(
    ("days", "told"), [(0, "in the last day"), (1, "a day ago"), (20, "2 weeks ago"), (800, "2 years ago")]
)
def test_how_long_ago(days: int, told: str) -> None:
    assert TownClock(now=lambda: NOON).ago(NOON - timedelta(days=days)) == told


def test_a_town_has_its_own_time() -> None:
    assert TownClock("Asia/Tokyo", lambda: NOON).offset_minutes == 540
