import time
from typing import Any

import cv2
import httpx
import numpy as np
import pytest

from virl.platform.city.city import City
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city

NEARBY, TEXT = "/v1/places:searchNearby", "/v1/places:searchText"
LEGACY = "/maps/api/place"


def circle(city: City, radius: float) -> dict[str, Any]:
    center = {"latitude": city.center.lat, "longitude": city.center.lng}
    return {"circle": {"center": center, "radius": radius}}


def ask(client: httpx.Client, path: str, body: dict[str, Any], mask: str) -> dict[str, Any]:
    answer = client.post(path, json=body, headers={"X-Goog-FieldMask": mask})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


class TestNew:
    def test_the_nearest_places_of_a_type(self, client: httpx.Client, city: City) -> None:
        body = {
            "locationRestriction": circle(city, 400),
            "includedTypes": ["cafe"],
            "rankPreference": "DISTANCE",
            "maxResultCount": 3,
        }
        found = ask(client, NEARBY, body, "places.id,places.displayName.text,places.location")
        truth = city.places.nearby(city.center, 400, ["cafe"])[:3]
        assert found["places"] == [
            {
                "id": place.id,
                "location": {"latitude": place.position.lat, "longitude": place.position.lng},
                "displayName": {"text": place.name},
            }
            for place in truth
        ]

    def test_at_most_twenty(self, client: httpx.Client, city: City) -> None:
        body = {"locationRestriction": circle(city, 2000)}
        assert len(ask(client, NEARBY, body, "places.id")["places"]) == 20
        headers = {"X-Goog-FieldMask": "places.id"}
        assert client.post(NEARBY, json=body | {"maxResultCount": 21}, headers=headers).status_code == 400

    @pytest.mark.parametrize("mask", ["", "places.id, places.types", "places.nonsense", "id"])
    def test_a_mask_is_needed_and_checked(self, client: httpx.Client, city: City, mask: str) -> None:
        body = {"locationRestriction": circle(city, 400)}
        answer = client.post(NEARBY, json=body, headers={"X-Goog-FieldMask": mask} if mask else {})
        assert answer.status_code == 400
        assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"

    def test_a_star_asks_for_all_of_it(self, client: httpx.Client, city: City) -> None:
        shop = next(place for place in city.places.nearby(city.center, 500, ["cafe"]) if place.is_open)
        truth = city.places.details(shop.id)
        place = client.get(f"/v1/places/{shop.id}", params={"fields": "*"}).json()
        assert place["name"] == f"places/{shop.id}"
        assert place["rating"] == truth.rating
        assert place["businessStatus"] == "OPERATIONAL"
        assert [review["text"]["text"] for review in place["reviews"]] == [
            review.text for review in truth.reviews[:5]
        ]
        first, opens = truth.hours[0], place["regularOpeningHours"]["periods"][0]["open"]
        assert opens == {"day": (first.day + 1) % 7, "hour": first.opens // 60, "minute": first.opens % 60}

    def test_lossless_serves_all_reviews(self, city: City) -> None:
        talked_of = next(
            place
            for place in city.places.nearby(city.center, 900)
            if len(city.places.details(place.id).reviews) > 5
        )
        with serve_city(city, ServeOptions(lossless=True)) as server:
            query = {"key": "k", "fields": "reviews"}
            place = httpx.get(f"{server.url}/v1/places/{talked_of.id}", params=query).json()
        assert len(place["reviews"]) == len(city.places.details(talked_of.id).reviews)

    def test_text_search_gives_sixty_on_three_pages(self, client: httpx.Client, city: City) -> None:
        body, seen = {"textQuery": "restaurant"}, []
        token = None
        for _ in range(3):
            page = ask(
                client, TEXT, body | ({"pageToken": token} if token else {}), "places.id,nextPageToken"
            )
            seen += [place["id"] for place in page["places"]]
            token = page.get("nextPageToken")
        assert token is None
        assert seen == [place.id for place in city.places.search("restaurant")]
        assert len(seen) == 60

    def test_a_page_token_belongs_to_its_query(self, client: httpx.Client) -> None:
        token = ask(client, TEXT, {"textQuery": "restaurant"}, "nextPageToken")["nextPageToken"]
        headers = {"X-Goog-FieldMask": "places.id"}
        for body in ({"textQuery": "school", "pageToken": token}, {"textQuery": "school", "pageToken": "no"}):
            assert client.post(TEXT, json=body, headers=headers).status_code == 400

    def test_an_unknown_place(self, client: httpx.Client) -> None:
        answer = client.get("/v1/places/nowhere", headers={"X-Goog-FieldMask": "id"})
        assert (answer.status_code, answer.json()["error"]["status"]) == (404, "NOT_FOUND")

    @pytest.mark.slow
    def test_a_photo_takes_a_redirect(self, client: httpx.Client, city: City) -> None:
        shop = city.places.nearby(city.center, 500, ["cafe"])[0]
        mask = {"X-Goog-FieldMask": "photos"}
        name = client.get(f"/v1/places/{shop.id}", headers=mask).json()["photos"][0]["name"]
        path = f"/v1/{name}/media"
        moved = client.get(path, params={"maxWidthPx": 200})
        assert moved.status_code == 302
        assert "key" not in moved.headers["location"]
        content = httpx.get(moved.headers["location"]).content
        picture = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
        assert picture is not None
        assert picture.shape[:2] == (150, 200)
        uri = client.get(path, params={"maxWidthPx": 200, "skipHttpRedirect": "true"}).json()["photoUri"]
        assert uri == moved.headers["location"]
        assert client.get(path).status_code == 400
        assert client.get(path, params={"maxWidthPx": 4801}).status_code == 400
        assert (
            client.get(f"/v1/places/{shop.id}/photos/photo-9/media", params={"maxWidthPx": 9}).status_code
            == 404
        )


class TestLegacy:
    def test_by_distance_alone(self, client: httpx.Client, city: City) -> None:
        query = {"location": f"{city.center.lat!r},{city.center.lng!r}", "rankby": "distance"}
        found = client.get(f"{LEGACY}/nearbysearch/json", params=query).json()["results"]
        truth = city.places.nearby(city.center, 50_000)[:20]
        assert [place["place_id"] for place in found] == [place.id for place in truth]

    @pytest.mark.slow
    def test_pages_become_valid_after_a_delay(self, client: httpx.Client, city: City) -> None:
        query = {
            "location": f"{city.center.lat!r},{city.center.lng!r}",
            "rankby": "distance",
            "type": "restaurant",
        }
        client.get(f"{LEGACY}/nearbysearch/json", params=query)  # the photos of the first page take a while
        first = client.get(f"{LEGACY}/nearbysearch/json", params=query | {"language": "en"}).json()
        seen = [place["place_id"] for place in first["results"]]
        token = first["next_page_token"]
        early = client.get(f"{LEGACY}/nearbysearch/json", params={"pagetoken": token}).json()
        assert early["status"] == "INVALID_REQUEST"
        while token:
            time.sleep(0.51)
            page = client.get(f"{LEGACY}/nearbysearch/json", params={"pagetoken": token}).json()
            assert page["status"] == "OK"
            seen += [place["place_id"] for place in page["results"]]
            token = page.get("next_page_token")
        assert seen == [place.id for place in city.places.nearby(city.center, 50_000, ["restaurant"])][:60]

    @pytest.mark.parametrize(
        "query",
        [
            {},
            {"location": "41.25,-38.75"},
            {"location": "41.25,-38.75", "rankby": "distance", "type": "bar", "radius": "100"},
            {"location": "somewhere", "radius": "100"},
        ],
    )
    def test_what_nearby_search_refuses(self, client: httpx.Client, query: dict[str, str]) -> None:
        answer = client.get(f"{LEGACY}/nearbysearch/json", params=query)
        assert answer.status_code == 200
        assert answer.json()["status"] == "INVALID_REQUEST"

    def test_nothing_near_is_no_error(self, client: httpx.Client) -> None:
        query = {"location": "0,0", "radius": "100"}
        assert client.get(f"{LEGACY}/nearbysearch/json", params=query).json()["status"] == "ZERO_RESULTS"

    def test_a_field_that_google_does_not_know(self, client: httpx.Client) -> None:
        query = {"place_id": "place-0001", "fields": "name,nonsense"}
        refused = client.get(f"{LEGACY}/details/json", params=query).json()
        assert refused["status"] == "INVALID_REQUEST"
        assert "nonsense" in refused["error_message"]
