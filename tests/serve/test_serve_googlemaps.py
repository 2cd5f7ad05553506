"""Google's own client library against the legacy endpoints."""

from collections.abc import Iterator

import googlemaps
import pytest
from googlemaps.convert import decode_polyline

from virl.geo import globe
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.serve.city_server import ServedCity
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city


@pytest.fixture
def maps(server: ServedCity) -> Iterator[googlemaps.Client]:
    client = googlemaps.Client(key="AIza-test", base_url=server.url, queries_per_second=1000)
    yield client
    client.session.close()


def test_geocode_there_and_back(maps: googlemaps.Client, city: City) -> None:
    found = maps.geocode("91 Station Street")[0]["geometry"]["location"]
    truth = city.maps.geocode("91 Station Street")
    assert (found["lat"], found["lng"]) == truth
    shop = city.places.nearby(city.center, 100)[0]
    back = maps.reverse_geocode(tuple(shop.position))[0]
    assert (back["formatted_address"], back["place_id"]) == (shop.address, shop.id)
    assert maps.geocode("no such street 17") == []


def test_directions_follow_the_streets(maps: googlemaps.Client, city: City) -> None:
    start, end = city.center, globe.destination(city.center, 60, 400)
    (route,) = maps.directions(tuple(start), tuple(end), mode="walking")
    truth = city.maps.route([start, end])
    (leg,) = route["legs"]
    assert leg["distance"]["value"] == pytest.approx(truth.distance, abs=1)
    assert leg["duration"]["value"] == pytest.approx(truth.duration, abs=1)
    path = [
        LatLng(point["lat"], point["lng"]) for point in decode_polyline(route["overview_polyline"]["points"])
    ]
    assert len(path) == len(truth.path)
    assert max(globe.distance(*pair) for pair in zip(path, truth.path, strict=True)) < 1.0
    assert sum(step["distance"]["value"] for step in leg["steps"]) == pytest.approx(truth.distance, abs=40)
    assert leg["steps"][0]["start_location"] == {"lat": start.lat, "lng": start.lng}
    assert all(
        a["end_location"] == b["start_location"] for a, b in zip(leg["steps"], leg["steps"][1:], strict=False)
    )


def test_directions_through_a_stop_and_to_nowhere(maps: googlemaps.Client, city: City) -> None:
    end = globe.destination(city.center, 60, 300)
    (route,) = maps.directions(
        tuple(city.center), tuple(end), mode="walking", waypoints=["91 Station Street"]
    )
    assert route["legs"][0]["end_address"] == "91 Station Street"
    assert maps.directions(tuple(city.center), (0.0, 0.0)) == []
    with pytest.raises(googlemaps.exceptions.ApiError, match="NOT_FOUND"):
        maps.directions("no such street 17", tuple(city.center))
    with pytest.raises(googlemaps.exceptions.ApiError, match="MAX_WAYPOINTS_EXCEEDED"):
        maps.directions(tuple(city.center), tuple(end), waypoints=["91 Station Street"] * 26)


def test_distance_matrix(maps: googlemaps.Client, city: City) -> None:
    ends = [tuple(globe.destination(city.center, turn, 300)) for turn in (30, 200)]
    answer = maps.distance_matrix(
        [tuple(city.center), "no such street 17"], [*ends, (0.0, 0.0)], mode="walking"
    )
    times = city.maps.travel_times([city.center], [LatLng(*end) for end in ends])
    first, second = (row["elements"] for row in answer["rows"])
    assert [cell["duration"]["value"] for cell in first[:2]] == [round(time) for time in times[0].tolist()]
    assert first[2] == {"status": "ZERO_RESULTS"}
    assert {cell["status"] for cell in second} == {"NOT_FOUND"}
    with pytest.raises(googlemaps.exceptions.ApiError, match="MAX_ELEMENTS_EXCEEDED"):
        maps.distance_matrix(["0,0"] * 11, ["0,0"] * 10)
    with pytest.raises(googlemaps.exceptions.ApiError, match="MAX_DIMENSIONS_EXCEEDED"):
        maps.distance_matrix(["0,0"] * 26, ["0,0"])


@pytest.mark.slow
def test_places(maps: googlemaps.Client, city: City) -> None:
    shop = city.places.nearby(city.center, 300, ["cafe"])[0]
    truth = city.places.details(shop.id)
    (found,) = maps.find_place(shop.name, "textquery", fields=["place_id", "name"])["candidates"]
    assert found == {"place_id": shop.id, "name": shop.name}
    listed = maps.places(shop.name)["results"]
    assert listed[0]["formatted_address"] == shop.address
    near = maps.places_nearby(tuple(shop.position), rank_by="distance", type="cafe")["results"]
    assert near[0]["place_id"] == shop.id
    assert near[0]["vicinity"] == shop.address
    details = maps.place(shop.id)["result"]
    assert details["user_ratings_total"] == truth.review_count
    assert [review["text"] for review in details["reviews"]] == [review.text for review in truth.reviews[:5]]
    first = truth.hours[0]
    opens = details["opening_hours"]["periods"][0]["open"]
    assert opens == {"day": (first.day + 1) % 7, "time": f"{first.opens // 60:02d}{first.opens % 60:02d}"}
    photo = b"".join(maps.places_photo(details["photos"][0]["photo_reference"], max_width=100))
    assert photo.startswith(b"\xff\xd8")
    with pytest.raises(googlemaps.exceptions.ApiError, match="NOT_FOUND"):
        maps.place("nowhere")


def test_a_wrong_key_is_denied(city: City) -> None:
    with serve_city(city, ServeOptions(key="AIza-right")) as server:
        client = googlemaps.Client(key="AIza-wrong", base_url=server.url)
        with pytest.raises(googlemaps.exceptions.ApiError, match="REQUEST_DENIED"):
            client.geocode("91 Station Street")
        client.session.close()
