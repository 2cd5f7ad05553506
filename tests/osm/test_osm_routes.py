"""Routes on foot, by bicycle and by car in a town of a few streets."""

from itertools import pairwise
from pathlib import Path

import httpx
import numpy as np
import pytest
from written_extract import FRAME, Writer, box, opened

from virl.errors import BadInput, NoRoute
from virl.geo.globe import LatLng, distance
from virl.osm.ways import BOTH, DIRECTIONS, NEITHER
from virl.platform.city.city import City
from virl.platform.city.maps import SPEED_M_S, PanoramaMaps, ReverseMaps, walked_route
from virl.platform.navigators.point import plan_route
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> City:
    town = Writer(tmp_path_factory.mktemp("osm") / "town.osm.pbf")
    town.way((-300, 0), (0, 0), (150, 0), (300, 0), highway="residential", name="Main <Street>")
    town.way((0, 0), (0, 150), (0, 300), highway="residential", name="Side Street")
    town.way((0, 300), (300, 300), (300, 150), (300, 0), highway="residential", name="Back", oneway="yes")
    town.way((0, 150), (150, 150), (300, 150), highway="footway", name="Park Walk")
    town.way((150, 0), (150, 150), highway="steps")
    town.way((-300, 0), (-290, -9), (-20, -9), (0, 0), highway="footway", footway="sidewalk")
    town.way((-300, -250), (300, -250), highway="motorway")
    address = {"addr__street": "Side Street", "addr__city": "Littleton"}
    town.way(*box(-40, 60, -10, 90), building="yes", addr__housenumber="5", **address)
    town.node(-25, 200, addr__housenumber="7b", **address)
    return opened(town)


def at(x: float, y: float) -> LatLng:
    return FRAME.position(x, y)


@pytest.mark.parametrize(
    ("mode", "here", "there", "metres"),
    [
        ("walking", (300, 250), (0, 300), 350),  # against the one-way
        ("cycling", (300, 250), (0, 300), 850),
        ("driving", (300, 250), (0, 300), 850),
        ("walking", (0, 150), (300, 150), 300),  # over the footway
        ("cycling", (0, 150), (300, 150), 600),
        ("walking", (150, 150), (150, 0), 150),  # down the steps
        ("walking", (-200, 5), (-100, 5), 110),  # straight to the street and back
        ("driving", (20, 300), (220, 300), 200),  # along one stretch
        ("driving", (220, 300), (20, 300), 80 + 300 + 300 + 300 + 20),  # and around it
        ("walking", (100, 40), (102, 41), 5**0.5),  # nearer to each other than to the street
        ("walking", (100, 40), (100, 40), 0),
    ],
)
def test_ways(
    city: City, mode: str, here: tuple[float, float], there: tuple[float, float], metres: float
) -> None:
    stops = [at(*here), at(*there)]
    route = city.maps.route(stops, mode)
    assert route.distance == pytest.approx(metres, rel=0.002, abs=0.1)
    assert route.duration == pytest.approx(route.distance / SPEED_M_S[mode])
    assert city.maps.travel_times(stops[:1], stops[1:], mode) == pytest.approx(
        np.array([[route.duration]]), abs=0.001
    )
    assert [route.path[0], route.path[-1]] == stops
    assert len(route.streets) == len(route.path) - 1
    walked = sum(distance(one, other) for one, other in pairwise(route.path))
    assert walked == pytest.approx(route.distance, rel=0.001, abs=0.01)


def test_a_route_through_stops_is_the_sum_of_its_legs(city: City) -> None:
    stops = [at(-250, 20), at(280, 140), at(10, 290)]
    for mode in SPEED_M_S:
        whole = city.maps.route(stops, mode)
        legs = city.maps.travel_times(stops[:2], stops[1:], mode)
        assert whole.duration == pytest.approx(legs[0, 0] + legs[1, 1])
        assert len(whole.streets) == len(whole.path) - 1


def test_streets_have_their_names_and_pavements_that_of_their_road(city: City) -> None:
    assert set(city.maps.route([at(-250, -9), at(0, 100)]).streets) == {"", "Main <Street>", "Side Street"}
    assert set(city.maps.route([at(10, 150), at(290, 150)]).streets) <= {"", "Park Walk"}


def test_what_is_off_the_map_is_said(city: City) -> None:
    far = at(-300, -200)
    with pytest.raises(NoRoute, match="is off the map: the nearest way for walking is 191 m away"):
        city.maps.route([at(0, 0), far])
    assert city.maps.route([at(0, 0), far], "driving").distance == pytest.approx(500, rel=0.01)
    times = city.maps.travel_times([at(0, 0)], [LatLng(0, 0), far, at(0, 100)])[0]
    assert np.isinf(times).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("stops", "mode", "said"),
    [
        ([at(0, 0)], "walking", "a route needs two or more stops, not 1"),
        ([at(0, 0), LatLng(float("nan"), 0)], "walking", "latitude and longitude must be finite"),
        ([at(0, 0), at(9, 0)], "transit", "travel mode 'transit': transit is not known here: choose one of"),
        ([at(0, 0), at(9, 0)], "flying", "unknown travel mode 'flying': choose one of"),
    ],
)
def test_what_cannot_be_asked_is_one_line(city: City, stops: list[LatLng], mode: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        city.maps.route(stops, mode)


def test_walkers_keep_to_the_panoramas(city: City) -> None:
    assert isinstance(city.maps, PanoramaMaps)
    stops = [at(150, 0), at(150, 140)]
    plan = plan_route(city.streetview, city.maps, stops[0], stops[1:], mode="driving")
    assert walked_route(city.maps, stops) == city.maps.panorama_route(stops)
    assert all(city.streetview.panorama(goal.pano_id).position == goal.position for goal in plan.goals)


def test_the_nearest_address(city: City) -> None:
    assert isinstance(city.maps, ReverseMaps)
    found = city.maps.address_at(at(-2, 80), 100)
    assert found is not None
    assert found.text == "Side Street 5, Littleton"
    assert found.position == city.maps.geocode("5 side street, littleton")
    assert city.maps.address_at(at(300, 300), 100) is None


def test_served_directions_name_streets_and_positions_their_address(city: City) -> None:
    key = {"key": "AIza-test"}
    with serve_city(city, ServeOptions()) as server, httpx.Client(base_url=server.url, params=key) as client:
        stops = {"origin": f"{at(-200, 0)}", "destination": f"{at(0, 100)}"}
        path = "/maps/api/directions/json"
        (route,) = client.get(path, params=stops | {"mode": "driving"}).json()["routes"]
        steps = route["legs"][0]["steps"]
        assert [(step["html_instructions"], step.get("maneuver")) for step in steps] == [
            ("Head <b>east</b> on <b>Main &lt;Street&gt;</b>", None),
            ("Turn <b>left</b> onto <b>Side Street</b>", "turn-left"),
        ]
        assert client.get(path, params=stops | {"mode": "transit"}).json()["status"] == "ZERO_RESULTS"
        found = client.get("/maps/api/geocode/json", params={"latlng": f"{at(-2, 80)}"}).json()["results"]
        assert found[0]["formatted_address"] == "Side Street 5, Littleton"
        parts = {one["types"][0]: one["long_name"] for one in found[0]["address_components"]}
        assert parts == {"street_number": "5", "route": "Side Street", "locality": "Littleton"}
        matrix = {"origins": f"{at(0, 0)}", "destinations": f"{at(-300, -200)}"}
        for mode, status in (("driving", "OK"), ("walking", "ZERO_RESULTS")):
            body = client.get("/maps/api/distancematrix/json", params=matrix | {"mode": mode}).json()
            assert body["rows"][0]["elements"][0]["status"] == status


ONWARD, AGAINST = (True, False), (False, True)


@pytest.mark.parametrize(
    ("tags", "walking", "cycling", "driving"),
    [
        ({"highway": "residential"}, BOTH, BOTH, BOTH),
        ({"highway": "residential", "sidewalk": "separate"}, NEITHER, BOTH, BOTH),
        ({"highway": "residential", "access": "private"}, NEITHER, NEITHER, NEITHER),
        ({"highway": "residential", "access": "no", "bicycle": "yes"}, NEITHER, BOTH, NEITHER),
        ({"highway": "residential", "access": "private", "foot": "yes"}, BOTH, NEITHER, NEITHER),
        ({"highway": "residential", "access": "no", "foot": "permissive"}, BOTH, NEITHER, NEITHER),
        ({"highway": "residential", "access": "private", "foot": "customers"}, NEITHER, NEITHER, NEITHER),
        ({"highway": "residential", "access": "yes", "foot": "private"}, NEITHER, BOTH, BOTH),
        ({"highway": "residential", "access": "no", "vehicle": "yes"}, NEITHER, BOTH, BOTH),
        ({"highway": "residential", "vehicle": "no", "bicycle": "yes"}, BOTH, BOTH, NEITHER),
        ({"highway": "residential", "access": "destination"}, BOTH, BOTH, BOTH),
        ({"highway": "residential", "motor_vehicle": "destination"}, BOTH, BOTH, BOTH),
        ({"highway": "residential", "oneway": "yes"}, BOTH, ONWARD, ONWARD),
        ({"highway": "residential", "oneway": "-1"}, BOTH, AGAINST, AGAINST),
        ({"highway": "residential", "oneway": "yes", "oneway:bicycle": "no"}, BOTH, BOTH, ONWARD),
        ({"highway": "residential", "oneway": "yes", "cycleway": "opposite_lane"}, BOTH, BOTH, ONWARD),
        ({"highway": "tertiary", "junction": "roundabout"}, BOTH, ONWARD, ONWARD),
        ({"highway": "motorway"}, NEITHER, NEITHER, ONWARD),
        ({"highway": "trunk", "motorroad": "yes", "foot": "no"}, NEITHER, NEITHER, BOTH),
        ({"highway": "footway"}, BOTH, NEITHER, NEITHER),
        ({"highway": "steps", "bicycle": "yes"}, BOTH, NEITHER, NEITHER),
        ({"highway": "pedestrian"}, BOTH, NEITHER, NEITHER),
        ({"highway": "pedestrian", "bicycle": "yes"}, BOTH, BOTH, NEITHER),
        ({"highway": "pedestrian", "area": "yes"}, BOTH, NEITHER, NEITHER),
        ({"highway": "cycleway"}, NEITHER, BOTH, NEITHER),
        ({"highway": "cycleway", "foot": "designated"}, BOTH, BOTH, NEITHER),
        ({"highway": "service", "service": "parking_aisle"}, BOTH, BOTH, NEITHER),
        ({"highway": "service", "motor_vehicle": "no", "access": "yes"}, BOTH, BOTH, NEITHER),
        ({"railway": "tram"}, NEITHER, NEITHER, NEITHER),
    ],
)
def test_who_may_use_a_way(tags: dict[str, str], walking: object, cycling: object, driving: object) -> None:
    assert {mode: allowed(tags) for mode, allowed in DIRECTIONS.items()} == {
        "walking": walking,
        "cycling": cycling,
        "driving": driving,
    }


def test_a_town_without_a_road_has_none_to_drive(tmp_path: Path) -> None:
    town = Writer(tmp_path / "island.osm.pbf")
    town.way((-100, 0), (0, 0), (100, 0), highway="footway")
    city = opened(town)
    assert city.maps.route([at(0, 0), at(90, 0)]).distance == pytest.approx(90, rel=0.001)
    with pytest.raises(NoRoute, match="no way for driving is mapped here"):
        city.maps.route([at(0, 0), at(90, 0)], "driving")
