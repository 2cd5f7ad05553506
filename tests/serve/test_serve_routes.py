from typing import Any

import httpx
import pytest
from googlemaps.convert import decode_polyline
from hypothesis import given
from hypothesis import strategies as st

from virl.geo import globe
from virl.geo.globe import LatLng
from virl.geo.polyline import encode_polyline
from virl.platform.city.city import City

ROUTES, MATRIX = "/directions/v2:computeRoutes", "/distanceMatrix/v2:computeRouteMatrix"


def at(position: LatLng) -> dict[str, Any]:
    return {"location": {"latLng": {"latitude": position.lat, "longitude": position.lng}}}


def ask(client: httpx.Client, path: str, body: dict[str, Any], mask: str = "*") -> Any:
    answer = client.post(path, json=body, headers={"X-Goog-FieldMask": mask})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_route_is_the_shortest_way(client: httpx.Client, city: City) -> None:
    stops = [city.center, globe.destination(city.center, 60, 300), globe.destination(city.center, 200, 300)]
    body = {"origin": at(stops[0]), "intermediates": [at(stops[1])], "destination": at(stops[2])}
    mask = "routes.distanceMeters,routes.duration,routes.polyline,routes.legs.distanceMeters"
    (route,) = ask(client, ROUTES, body | {"travelMode": "WALK"}, mask)["routes"]
    truth = city.maps.route(stops)
    assert set(route) == {"distanceMeters", "duration", "polyline", "legs"}
    assert route["distanceMeters"] == round(truth.distance)
    assert route["duration"] == f"{round(truth.duration)}s"
    assert [set(leg) for leg in route["legs"]] == [{"distanceMeters"}] * 2
    path = [LatLng(one["lat"], one["lng"]) for one in decode_polyline(route["polyline"]["encodedPolyline"])]
    assert globe.distance(path[-1], stops[2]) < 1.2


def test_geojson_lines_are_exact(client: httpx.Client, city: City) -> None:
    end = globe.destination(city.center, 60, 200)
    body = {"origin": at(city.center), "destination": at(end), "polylineEncoding": "GEO_JSON_LINESTRING"}
    (route,) = ask(client, ROUTES, body)["routes"]
    line = route["polyline"]["geoJsonLinestring"]["coordinates"]
    assert [LatLng(lat, lng) for lng, lat in line] == list(city.maps.route([city.center, end]).path)


def test_no_way_is_an_empty_answer(client: httpx.Client, city: City) -> None:
    body = {"origin": at(city.center), "destination": at(LatLng(0, 0))}
    assert ask(client, ROUTES, body) == {}
    near = body | {"destination": {"address": "91 Station Street"}}
    assert ask(client, ROUTES, body | {"travelMode": "TRANSIT"}) == {}
    assert ask(client, ROUTES, near | {"travelMode": "BICYCLE"})["routes"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"origin": {}}, 400),
        ({"travelMode": "FLY"}, 400),
        ({"intermediates": [{"address": "91 Station Street"}] * 26}, 400),
        ({"destination": {"address": "no such street 17"}}, 404),
        ({"destination": {"placeId": "nowhere"}}, 404),
    ],
)
def test_what_routes_refuse(client: httpx.Client, city: City, change: dict[str, Any], code: int) -> None:
    body = {"origin": at(city.center), "destination": {"address": "91 Station Street"}} | change
    answer = client.post(ROUTES, json=body, headers={"X-Goog-FieldMask": "*"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (code, code)


def test_a_matrix(client: httpx.Client, city: City) -> None:
    starts = [globe.destination(city.center, turn, 200) for turn in (0, 120)]
    ends = [globe.destination(city.center, 240, 300), LatLng(0, 0)]
    body = {
        "origins": [{"waypoint": at(stop)} for stop in starts],
        "destinations": [{"waypoint": at(stop)} for stop in ends],
        "travelMode": "WALK",
    }
    elements = ask(client, MATRIX, body, "originIndex,destinationIndex,duration,condition")
    times = city.maps.travel_times(starts, ends[:1])
    by_pair = {(one["originIndex"], one["destinationIndex"]): one for one in elements}
    assert [by_pair[i, 0]["duration"] for i in (0, 1)] == [f"{round(time)}s" for time in times[:, 0].tolist()]
    assert {by_pair[i, 1]["condition"] for i in (0, 1)} == {"ROUTE_NOT_FOUND"}


def test_limits_of_a_matrix(client: httpx.Client, city: City) -> None:
    here = {"waypoint": at(city.center)}
    named = {"waypoint": {"address": "91 Station Street"}}
    for origins, destinations in (([here] * 26, [here] * 25), ([named] * 26, [named] * 25), ([], [here])):
        body = {"origins": origins, "destinations": destinations}
        answer = client.post(MATRIX, json=body, headers={"X-Goog-FieldMask": "*"})
        assert answer.status_code == 400
        assert answer.json()[0]["error"]["status"] == "INVALID_ARGUMENT"


degrees = st.floats(-90, 90, allow_nan=False)


@pytest.mark.slow
@given(st.lists(st.builds(LatLng, degrees, degrees.map(lambda lat: lat * 2)), max_size=20))
def test_polylines_come_back(path: list[LatLng]) -> None:
    back = [LatLng(one["lat"], one["lng"]) for one in decode_polyline(encode_polyline(path))]
    assert len(back) == len(path)
    for one, other in zip(back, path, strict=True):
        assert one == pytest.approx(other, abs=0.5001e-5)


def test_the_polyline_of_googles_documentation() -> None:
    path = [LatLng(38.5, -120.2), LatLng(40.7, -120.95), LatLng(43.252, -126.453)]
    assert encode_polyline(path) == "_p~iF~ps|U_ulLnnqC_mqNvxq`@"


class TestVia:
    """Positions that a way passes through without a stop, as V-IRL asks for them."""

    def test_of_the_legacy_api_are_in_one_leg(self, client: httpx.Client, city: City) -> None:
        through, end = (globe.destination(city.center, turn, 250) for turn in (60, 120))
        ends = {"origin": str_of(city.center), "destination": str_of(end), "mode": "walking"}

        def legs(waypoints: str) -> list[dict[str, Any]]:
            answer = client.get("/maps/api/directions/json", params={**ends, "waypoints": waypoints})
            (route,) = answer.json()["routes"]
            found: list[dict[str, Any]] = route["legs"]
            return found

        stopping, passing = legs(str_of(through)), legs(f"via:{str_of(through)}")
        assert (len(stopping), len(passing)) == (2, 1)
        (leg,) = passing
        assert leg["distance"]["value"] == pytest.approx(
            sum(one["distance"]["value"] for one in stopping), abs=1
        )
        assert len(leg["steps"]) == sum(len(one["steps"]) for one in stopping)
        (via,) = leg["via_waypoint"]
        assert via["step_index"] == len(stopping[0]["steps"]) - 1
        assert via["location"]["lat"] == pytest.approx(through.lat, abs=1e-5)

    def test_of_the_routes_api_are_in_one_leg(self, client: httpx.Client, city: City) -> None:
        stops = [
            {"location": {"latLng": {"latitude": at.lat, "longitude": at.lng}}}
            for at in (city.center, *(globe.destination(city.center, turn, 250) for turn in (60, 120)))
        ]
        body = {
            "origin": stops[0],
            "intermediates": [{**stops[1], "via": True}],
            "destination": stops[2],
            "travelMode": "WALK",
        }
        mask = {"X-Goog-FieldMask": "routes.legs.distanceMeters"}
        answer = client.post("/directions/v2:computeRoutes", json=body, headers=mask).json()
        assert len(answer["routes"][0]["legs"]) == 1
        wrong = client.post(
            "/directions/v2:computeRoutes", json=body | {"origin": {**stops[0], "via": True}}, headers=mask
        )
        assert wrong.status_code == 400

    def test_traffic_is_for_cars(self, client: httpx.Client, city: City) -> None:
        stop = {"location": {"latLng": {"latitude": city.center.lat, "longitude": city.center.lng}}}
        body = {"origin": stop, "destination": stop, "routingPreference": "TRAFFIC_AWARE"}
        mask = {"X-Goog-FieldMask": "routes.duration"}
        codes = [
            client.post(
                "/directions/v2:computeRoutes", json=body | {"travelMode": mode}, headers=mask
            ).status_code
            for mode in ("WALK", "DRIVE")
        ]
        assert codes == [400, 200]


def str_of(position: LatLng) -> str:
    return f"{position.lat:.6f},{position.lng:.6f}"
