"""Replies of Google with odd parts: links, routes and tables."""

from datetime import UTC, datetime
from math import inf

import pytest
from scripted_google import ScriptedGoogle, client, good

from virl.errors import NoImagery
from virl.geo.globe import LatLng, bearing
from virl.geo.polyline import encode_polyline
from virl.platform.city.maps import SPEED_M_S
from virl.platform.city.streetview import Camera
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.journeys import departure, street_in
from virl.platform.providers.google.maps import GoogleMaps
from virl.platform.providers.google.streetview import GoogleStreetView
from virl.platform.providers.google.ways_legacy import LegacyWays
from virl.platform.providers.google.ways_new import RoutesApi

HERE, NORTH, EAST = LatLng(1.0, 2.0), LatLng(1.001, 2.0), LatLng(1.0, 2.002)
SESSION = good({"session": "s", "expiry": "9999999999"})
SIZE = {"imageWidth": 64, "imageHeight": 32, "tileWidth": 64}


def capture(pano_id: str, at: LatLng, **more: object) -> dict[str, object]:
    return {"panoId": pano_id, "lat": at.lat, "lng": at.lng, "heading": 10.0, **SIZE, **more}


@pytest.mark.parametrize("odd", [{}, {"heading": None}, {"heading": "NaN"}])
def test_a_link_without_heading_has_the_bearing_between_the_two_positions(odd: dict[str, object]) -> None:
    links = [{"panoId": "north", **odd}, {"heading": 5.0}, {"panoId": "p", "heading": 5.0}]
    script = [SESSION, good(capture("p", HERE, links=links)), good(capture("north", NORTH))]
    with ScriptedGoogle(script) as server, client(server) as http:
        [link] = GoogleStreetView(http).panorama("p").links
        told = [reason for one in http.keeping.left_out.omissions() for reason in one.reasons]
    assert (link.pano_id, link.heading) == ("north", bearing(HERE, NORTH))
    assert len(server.requests) == 3
    assert len(told) == (3 if odd.get("heading") else 2)
    assert any("leads to its own panorama" in reason for reason in told)


def test_a_neighbour_whose_metadata_cannot_be_read_is_left_out_of_the_links() -> None:
    links = [{"panoId": "north", "heading": 0.0}]
    script = [SESSION, good(capture("p", HERE, links=links)), good(capture("north", NORTH, lat="x"))]
    with ScriptedGoogle(script) as server, client(server) as http:
        assert GoogleStreetView(http).panorama("p").links == ()
        [told] = http.keeping.left_out.omissions()
    assert told.reasons[0].startswith(
        "panorama north: tiles_metadata: the reply lacks a field, or has a wrong one (lat:"
    )


def test_an_odd_heading_is_unknown_and_not_north() -> None:
    script = [SESSION, good(capture("p", HERE, heading="NaN"))]
    with ScriptedGoogle(script) as server, client(server) as http:
        streetview = GoogleStreetView(http, GoogleOptions(imagery="tiles"))
        with pytest.raises(NoImagery, match="its heading is not known"):
            streetview.view("p", Camera(0.0, width=64, height=64))


@pytest.mark.parametrize("polyline", [{"encodedPolyline": ""}, {}, None, {"encodedPolyline": 3}])
def test_a_route_without_a_line_leads_straight_from_stop_to_stop(polyline: object) -> None:
    reply = {"routes": [{"distanceMeters": 255, "duration": "odd", "polyline": polyline}]}
    with ScriptedGoogle([good(reply)]) as server, client(server) as http:
        route = GoogleMaps(http, None, RoutesApi(http), None).route([HERE, NORTH])
        told = [reason for one in http.keeping.left_out.omissions() for reason in one.reasons]
    assert route.path == (HERE, NORTH)
    assert (route.distance, route.duration) == (255, 255 / SPEED_M_S["walking"])
    assert any(reason.startswith("routes: a line is empty") for reason in told)
    assert len(server.requests) == 1


def test_a_legacy_route_is_read_as_far_as_it_can_be() -> None:
    line = encode_polyline([HERE, NORTH])
    steps = [{"polyline": {"points": line}}, {"polyline": {"points": ""}, "distance": {"value": "x"}}]
    leg = {"distance": {"value": 111}, "duration": {"value": 80}, "steps": steps}
    with (
        ScriptedGoogle([good({"status": "OK", "routes": [{"legs": [leg]}]})]) as server,
        client(server) as http,
    ):
        route = LegacyWays(http).route([HERE, NORTH], "walking")
    assert (route.path, route.distance, route.duration) == ((HERE, NORTH), 111, 80)


@pytest.mark.parametrize("odd", [{"duration": "odd"}, {"destinationIndex": -1}, {"destinationIndex": 7}])
def test_an_odd_pair_of_a_matrix_is_unreached_alone(odd: dict[str, object]) -> None:
    pairs = [
        {"originIndex": 0, "destinationIndex": 0, "condition": "ROUTE_EXISTS", "duration": "60s"},
        {"originIndex": 0, "destinationIndex": 1, "condition": "ROUTE_EXISTS", "duration": "70s"} | odd,
        {"condition": "ROUTE_NOT_FOUND", "destinationIndex": 2},
    ]
    with ScriptedGoogle([good(pairs)]) as server, client(server) as http:
        times = RoutesApi(http).times([HERE], [NORTH, EAST, HERE], "WALK")
        [told] = http.keeping.left_out.omissions()
    assert times.tolist() == [[60.0, inf, inf]]
    assert told.count == 1


def test_an_odd_cell_of_a_legacy_matrix_is_unreached_alone() -> None:
    cells = [{"status": "OK", "duration": {"value": 60}}, {"duration": {"value": 3}}, None, {"status": "OK"}]
    reply = {"status": "OK", "rows": [{"elements": cells}]}
    with ScriptedGoogle([good(reply)]) as server, client(server) as http:
        times = LegacyWays(http).times([HERE], [NORTH, EAST, HERE, HERE], "walking")
    assert times.tolist() == [[60.0, inf, inf, inf]]
    assert len(server.requests) == 1


@pytest.mark.parametrize("odd", [None, "odd", {}, {"elements": []}])
def test_an_odd_row_of_a_legacy_matrix_is_unreached_alone(odd: object) -> None:
    row = {"elements": [{"status": "OK", "duration": {"value": 60}}]}
    with (
        ScriptedGoogle([good({"status": "OK", "rows": [row, odd, row]})]) as server,
        client(server) as http,
    ):
        times = LegacyWays(http).times([HERE, NORTH, EAST], [HERE], "walking")
    assert times.tolist() == [[60.0], [inf], [60.0]]


def test_a_leg_whose_time_cannot_be_read_is_unreached_and_not_asked_for_again() -> None:
    legs = [{"duration": "60s"}, {"duration": "odd"}]
    with ScriptedGoogle([good({"routes": [{"legs": legs}]})]) as server, client(server) as http:
        assert RoutesApi(http).legs([HERE, NORTH, EAST], "WALK") == [60.0, inf]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("now", "minute", "leaves"),
    [
        ((2026, 10, 25, 0, 10), 135, (2026, 10, 25, 0, 15)),  # the first 2:15 of the night
        ((2026, 10, 25, 0, 30), 135, (2026, 10, 25, 1, 15)),  # 2:30 the first time: the second 2:15
        ((2026, 10, 25, 1, 10), 165, (2026, 10, 25, 1, 45)),  # 2:10 the second time
        ((2026, 10, 25, 1, 30), 135, (2026, 11, 1, 1, 15)),
    ],
)
def test_a_departure_in_the_repeated_hour_of_autumn_lies_in_the_future(
    now: tuple[int, ...], minute: int, leaves: tuple[int, ...]
) -> None:
    found = departure(6, minute, "Europe/Berlin", datetime(*now, tzinfo=UTC))
    assert found.astimezone(UTC) == datetime(*leaves, tzinfo=UTC)


@pytest.mark.parametrize(
    ("instruction", "street"),
    [
        ("Turn left onto Camp Street", "Camp Street"),
        ("Head north on Main St toward 2nd Ave\nPass by a bank (on the left)", "Main St"),
        (
            'Turn <b>right</b> onto <b>R&amp;D Way</b><div style="font-size:0.9em">On the left</div>',
            "R&D Way",
        ),
        ("Keep right to stay on <b>A1</b>/<wbr/><b>North Road</b>", "A1/North Road"),
        ("Destination will be on the right", ""),
        ("Slight left", ""),
    ],
)
def test_the_street_of_an_instruction_is_read(instruction: str, street: str) -> None:
    assert street_in(instruction) == street


def test_routes_of_both_generations_have_the_streets_of_their_instructions() -> None:
    lines = [encode_polyline([HERE, NORTH]), encode_polyline([NORTH, LatLng(1.001, 2.002), EAST])]
    told = ["Head <b>north</b> on <b>Main St</b>", "Turn <b>right</b> onto <b>Camp St</b>"]
    steps = [
        {"polyline": {"encodedPolyline": line}, "navigationInstruction": {"instructions": words}}
        for line, words in zip(lines, told, strict=True)
    ]
    way = {"distanceMeters": 500, "duration": "400s", "legs": [{"steps": steps}]}
    old = [
        {"polyline": {"points": line}, "html_instructions": words}
        for line, words in zip(lines, told, strict=True)
    ]
    leg = {"distance": {"value": 500}, "duration": {"value": 400}, "steps": old}
    replies = [good({"routes": [way]}), good({"status": "OK", "routes": [{"legs": [leg]}]})]
    with ScriptedGoogle(replies) as server, client(server) as http:
        for ways in (RoutesApi(http), LegacyWays(http)):
            route = GoogleMaps(http, None, ways, None).route([HERE, EAST])
            assert route.streets == ("Main St", "Camp St", "Camp St")
            assert (len(route.path), route.duration) == (4, 400)
            assert "along Camp St" in route.instructions[1]


def test_photographers_and_the_page_for_complaints_are_named_for_the_panoramas_that_are_known() -> None:
    told = {"copyright": "© A. Photographer", "reportProblemLink": "https://example.org/p"}
    nearest = {"status": "OK", "pano_id": "p", "location": {"lat": 1, "lng": 2}, "copyright": "© Google"}
    script = [good(nearest), SESSION, good(capture("p", HERE, **told))]
    with ScriptedGoogle(script) as server, client(server) as http:
        city = open_google("made", "Made", HERE, GoogleOptions(), http)
        assert city.notice == ""
        assert city.streetview.nearest(HERE) is not None
        assert city.notice == (
            "Street view: © Google, © A. Photographer (report a problem: https://example.org/p)"
        )
