"""Bodies as protocol buffers read them, whoever writes them."""

from typing import Any

import httpx
import pytest

from virl.platform.city.city import City
from virl.serve.google.protojson import MESSAGES, read_message, with_numbers
from virl.serve.google.shown_places import TYPES, fine_places, primary_type, types_of
from virl.serve.google.wire import Refused

NEARBY = "google.maps.places.v1.SearchNearbyRequest"
TEXT = "google.maps.places.v1.SearchTextRequest"


def test_numbers_names_and_enums_in_either_form() -> None:
    body = {
        "location_restriction": {"circle": {"center": {"latitude": "41"}, "radius": "30.5"}},
        "rankPreference": 1,
        "maxResultCount": "7",
        "languageCode": None,
    }
    assert read_message(body, NEARBY) == {
        "locationRestriction": {"circle": {"center": {"latitude": 41.0}, "radius": 30.5}},
        "rankPreference": "DISTANCE",
        "maxResultCount": 7,
    }
    assert read_message({"rankPreference": 2}, TEXT) == {"rankPreference": "RELEVANCE"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"radius": 3}, r'Unknown name "radius": Cannot find field'),
        ({"locationRestriction": {"square": 1}}, "at 'location_restriction': Cannot find field"),
        ({"locationRestriction": []}, "Invalid value at 'location_restriction'"),
        ({"maxResultCount": 2.5}, r"'max_result_count' \(TYPE_INT32\), 2.5"),
        ({"maxResultCount": True}, "TYPE_INT32"),
        ({"maxResultCount": "Infinity"}, "TYPE_INT32"),
        ({"includedTypes": "cafe"}, "Invalid value at 'included_types'"),
        ({"includedTypes": [5]}, r"'included_types\[0\]' \(TYPE_STRING\), 5"),
        ({"rankPreference": 9}, "'rank_preference'"),
        ({"rankPreference": "BEST"}, 'RankPreference\\), "BEST"'),
        ({"includeFutureOpeningBusinesses": "yes"}, "TYPE_BOOL"),
    ],
)
def test_anything_else_is_refused(body: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        read_message(body, NEARBY)


def test_every_type_of_a_field_is_known() -> None:
    known = {*MESSAGES.messages, *MESSAGES.enums, "string", "bool", "double", "int32", "int64"}
    for fields in MESSAGES.messages.values():
        assert {kind if isinstance(kind, str) else kind[0] for kind in fields.values()} <= known


def test_answers_with_numbers() -> None:
    place = {"priceLevel": "PRICE_LEVEL_MODERATE", "id": "PRICE_LEVEL_MODERATE"}
    assert with_numbers([place]) == [{"priceLevel": 3, "id": "PRICE_LEVEL_MODERATE"}]
    assert with_numbers({"routeLabels": ["DEFAULT_ROUTE"]}) == {"routeLabels": [1]}


class TestTypes:
    @pytest.mark.parametrize("name", ["includedTypes", "excludedTypes", "includedPrimaryTypes"])
    @pytest.mark.parametrize("kind", ["no_such_type", "food"])
    def test_unknown_ones_and_those_of_table_b_are_refused(
        self, client: httpx.Client, city: City, name: str, kind: str
    ) -> None:
        center = {"latitude": city.center.lat, "longitude": city.center.lng}
        body = {"locationRestriction": {"circle": {"center": center, "radius": 200}}, name: ["cafe", kind]}
        answer = client.post("/v1/places:searchNearby", json=body, headers={"X-Goog-FieldMask": "places.id"})
        assert (answer.status_code, answer.json()["error"]["message"]) == (400, f"Unsupported types: {kind}.")

    def test_wanted_and_unwanted_at_once_is_refused(self, client: httpx.Client, city: City) -> None:
        center = {"latitude": city.center.lat, "longitude": city.center.lng}
        body = {
            "locationRestriction": {"circle": {"center": center, "radius": 200}},
            "includedTypes": ["cafe"],
            "excludedTypes": ["cafe"],
        }
        answer = client.post("/v1/places:searchNearby", json=body, headers={"X-Goog-FieldMask": "places.id"})
        assert answer.status_code == 400

    def test_of_a_text_search_too(self, client: httpx.Client) -> None:
        body = {"textQuery": "cafe", "includedType": "food"}
        answer = client.post("/v1/places:searchText", json=body, headers={"X-Goog-FieldMask": "places.id"})
        assert answer.status_code == 400

    def test_fine_types_come_before_the_coarse_ones(self, city: City) -> None:
        fine = fine_places(city.places)
        restaurants = fine.nearby(city.center, 500, ["restaurant"])
        first = {primary_type(place) for place in restaurants}
        assert len(first) > 5
        assert "restaurant" not in first
        assert all("restaurant" in types_of(place) for place in restaurants)
        assert fine.details(restaurants[0].id).types == restaurants[0].types
        assert fine.search(restaurants[0].name)[0].types[0] in TYPES.narrow

    def test_fine_types_are_googles(self) -> None:
        assert {kind for kinds in TYPES.fine.values() for kind in kinds} <= TYPES.narrow
        assert not TYPES.narrow & TYPES.wide
