"""What the geocoder says of addresses, right ones and others, and which things are odd."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from virl.errors import BadInput
from virl.geo import globe
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.places import Place, Places
from virl.serve.google import ServeOptions, parse_faults, parse_oddities
from virl.serve.google.geocoding import address_id, address_of
from virl.serve.google.place_json import plus_code
from virl.serve.google.server import serve_city

GEOCODE = "/maps/api/geocode/json"
DOOR = "91 Station Street"


class Chain:
    """Places one of which has the name of another."""

    def __init__(self, places: Places, place_id: str, name: str) -> None:
        self.nearby, self.details, self.photos = places.nearby, places.details, places.photos
        self._places = places
        self._second = replace(places.details(place_id), name=name)

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        return [*self._places.search(query, near), self._second]


@contextmanager
def asking(city: City, options: ServeOptions) -> Iterator[httpx.Client]:
    with (
        serve_city(city, options) as server,
        httpx.Client(base_url=server.url, params={"key": "k"}, timeout=30) as client,
    ):
        yield client


def found(client: httpx.Client, **query: str) -> list[dict[str, Any]]:
    answer = client.get(GEOCODE, params=query).json()
    assert answer["status"] == ("OK" if answer["results"] else "ZERO_RESULTS")
    results: list[dict[str, Any]] = answer["results"]
    return results


class TestAddresses:
    def test_a_door(self, client: httpx.Client) -> None:
        (one,) = found(client, address=f"{DOOR}, Virlton")
        assert one["geometry"]["location_type"] == "ROOFTOP"
        assert one["formatted_address"] == f"{DOOR}, Virlton"
        assert "partial_match" not in one

    def test_a_door_of_another_town_is_a_partial_match(self, client: httpx.Client) -> None:
        (one,) = found(client, address=f"{DOOR}, Tokyo")
        assert one["partial_match"]
        assert one["formatted_address"] == f"{DOOR}, Virlton"

    def test_a_street(self, client: httpx.Client) -> None:
        (one,) = found(client, address="Station Street")
        assert (one["types"], one["geometry"]["location_type"]) == (["route"], "GEOMETRIC_CENTER")
        assert "partial_match" not in one

    def test_a_number_that_a_street_lacks(self, client: httpx.Client) -> None:
        (one,) = found(client, address="9999 Station Street")
        assert one["partial_match"]
        assert (one["types"], one["formatted_address"]) == (["route"], "Station Street, Virlton")

    def test_the_town(self, client: httpx.Client, city: City) -> None:
        (one,) = found(client, address="virlton")
        assert (one["types"], one["geometry"]["location_type"]) == (["locality", "political"], "APPROXIMATE")
        assert one["geometry"]["location"] == {"lat": city.center.lat, "lng": city.center.lng}

    def test_a_door_has_a_plus_code_and_a_street_has_none(self, client: httpx.Client) -> None:
        (door,) = found(client, address=f"{DOOR}, Virlton")
        spot = door["geometry"]["location"]
        code = plus_code(LatLng(spot["lat"], spot["lng"]))
        assert door["plus_code"] == {"global_code": code, "compound_code": f"{code[4:]} Virlton"}
        for text in ("Station Street", "virlton"):
            (one,) = found(client, address=text)
            assert "plus_code" not in one

    def test_an_answer_about_a_position_has_its_plus_code(self, client: httpx.Client) -> None:
        for at in (LatLng(41.2508, -38.757), LatLng(10.0, 10.0)):  # the second is nowhere
            reply = client.get(GEOCODE, params={"latlng": f"{at.lat},{at.lng}"}).json()
            assert reply["plus_code"]["global_code"] == plus_code(at)
            assert reply["status"] == ("OK" if at.lat > 41 else "ZERO_RESULTS")

    def test_names_that_several_places_have(self, city: City) -> None:
        first, second = city.places.nearby(city.center, 1000, ["bakery"])[:2]
        chain = replace(city, places=Chain(city.places, second.id, first.name))
        with asking(chain, ServeOptions()) as client:
            several = found(client, address=first.name)
        assert [one["place_id"] for one in several] == [first.id, second.id]
        assert [one["formatted_address"] for one in several] == [first.address, second.address]

    def test_ids_lead_back(self, client: httpx.Client) -> None:
        for text in (DOOR, "Station Street"):
            (one,) = found(client, address=text)
            (same,) = found(client, place_id=one["place_id"])
            assert same == one
            query = {"origin": f"place_id:{one['place_id']}", "destination": DOOR, "mode": "walking"}
            route = client.get("/maps/api/directions/json", params=query).json()
            assert route["status"] == "OK"
            assert address_of(route["geocoded_waypoints"][1]["place_id"]) == DOOR

    @pytest.mark.parametrize("text", ["place-0001", "Ei*", "Ei", ""])
    def test_other_ids_hold_no_address(self, text: str) -> None:
        assert not address_of(text)
        assert address_of(address_id("Kaivokatu 1b, Helsinki")) == "Kaivokatu 1b, Helsinki"


class TestComponents:
    def test_alone(self, client: httpx.Client) -> None:
        (one,) = found(client, components="route:Station Street|locality:Virlton")
        assert one["types"] == ["route"]

    def test_filter(self, city: City) -> None:
        with asking(city, ServeOptions(country="US")) as client:
            (one,) = found(client, address=DOOR, components="country:us")
            assert one["address_components"][-1]["types"] == ["country", "political"]
            assert found(client, address=DOOR, components="country:FR") == []
            assert found(client, address=DOOR, components="locality:Tokyo") == []

    def test_unknown_ones(self, client: httpx.Client) -> None:
        assert client.get(GEOCODE, params={"components": "planet:Mars"}).json()["status"] == "INVALID_REQUEST"


class TestOddities:
    @pytest.mark.slow
    def test_far_and_vague_addresses(self, city: City) -> None:
        with asking(city, ServeOptions(odd=parse_oddities("far:1"))) as client:
            (one,) = found(client, address=DOOR)
            where = one["geometry"]["location"]
            assert globe.distance(LatLng(where["lat"], where["lng"]), city.center) > 2_000_000
            assert one["formatted_address"] == f"{DOOR}, Farville"
        with asking(city, ServeOptions(odd=parse_oddities("vague:1"))) as client:
            (one,) = found(client, address="bank")
            where = one["geometry"]["location"]
            assert globe.distance(LatLng(where["lat"], where["lng"]), city.center) == pytest.approx(
                1000, rel=0.01
            )
            assert one["partial_match"]

    def test_stale_ids_are_listed_and_have_no_details(self, city: City) -> None:
        with asking(city, ServeOptions(odd=parse_oddities("stale:0.5"))) as client:
            query = {"location": f"{city.center.lat},{city.center.lng}", "radius": "400"}
            listed = client.get("/maps/api/place/nearbysearch/json", params=query).json()["results"]
            codes = {
                one["place_id"]: client.get(
                    f"/v1/places/{one['place_id']}", params={"fields": "id"}
                ).status_code
                for one in listed
            }
            assert set(codes.values()) == {200, 404}
            gone = next(place_id for place_id, code in codes.items() if code == 404)
            details = client.get("/maps/api/place/details/json", params={"place_id": gone}).json()
            assert details["status"] == "NOT_FOUND"
            again = client.get(f"/v1/places/{gone}", params={"fields": "id"})
            assert again.json()["error"]["status"] == "NOT_FOUND"

    def test_indoor_panoramas(self, city: City) -> None:
        with asking(city, ServeOptions(odd=parse_oddities("indoor:0.5"))) as client:
            body = {"mapType": "streetview", "language": "en-US", "region": "US"}
            session = client.post("/v1/createSession", json=body).json()["session"]
            kinds = [
                client.get(
                    "/v1/streetview/metadata", params={"session": session, "panoId": f"vt-{number:05d}"}
                ).json()["imageryType"]
                for number in range(20)
            ]
            assert set(kinds) == {"indoor", "outdoor"}

    @pytest.mark.slow
    def test_half_an_answer(self, city: City) -> None:
        query = {"pano": "vt-00042", "size": "64x48"}
        with asking(city, ServeOptions()) as client:
            whole = client.get("/maps/api/streetview", params=query).content
        with asking(city, ServeOptions(faults=parse_faults("half:1"))) as client:
            half = client.get("/maps/api/streetview", params=query)
        assert (half.status_code, half.content) == (200, whole[: len(whole) // 2])

    @pytest.mark.parametrize("text", ["near:0.1", "far:2", "far"])
    def test_wrong_shares(self, text: str) -> None:
        with pytest.raises(BadInput):
            parse_oddities(text)


def test_plus_codes() -> None:
    # from the test data of open-location-code
    assert plus_code(LatLng(47.0000625, 8.0000625)) == "8FVC2222+22"
    assert plus_code(LatLng(-41.2730625, 174.7859375)) == "4VCPPQGP+Q9"
