"""Open services of maps: pace, faults, what is kept, recorded and replayed."""

import json
from collections.abc import Callable
from math import inf, isinf
from pathlib import Path

import pytest
from scripted_service import Reply, ScriptedService

from virl import __version__
from virl.errors import BadInput, NoRoute, NotFound, ProviderError
from virl.geo.globe import LatLng, distance
from virl.geo.polyline import encode_polyline
from virl.osm.box import Box
from virl.platform.providers.http.nominatim import Nominatim
from virl.platform.providers.http.osm_servers import CACHE, MapServiceSettings, ServiceName
from virl.platform.providers.http.pace import SecondsApart
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.open.cells import cells_around, cells_of
from virl.platform.providers.open.osrm import OsrmWays
from virl.platform.providers.open.overpass import OverpassPlaces
from virl.platform.providers.open.places import TiledPlaces
from virl.platform.providers.open.valhalla import ValhallaWays
from virl.platform.providers.provider import Access

Quick = Callable[[ServiceName], MapServiceSettings]

BOX = Box(60.165, 24.93, 60.175, 24.95)
HERE = LatLng(60.17, 24.94)
BAKERY = {
    "type": "node",
    "id": 7,
    "lat": 60.17,
    "lon": 24.941,
    "tags": {
        "shop": "bakery",
        "name": "Pågen",
        "name:en": "The Page",
        "opening_hours": "Mo-Fr 07:00-18:00",
        "wheelchair": "limited",
        "addr:street": "Long Street",
        "addr:housenumber": "5",
    },
}
PARK = {
    "type": "way",
    "id": 8,
    "nodes": [1, 2, 3, 1],
    "center": {"lat": 60.171, "lon": 24.942},
    "tags": {"leisure": "park", "name": "Green"},
}


def reply(*elements: object, remark: str = "") -> Reply:
    said = {"version": 0.6, "osm3s": {"timestamp_osm_base": "2026-11-22T10:00:00Z"}, "elements": elements}
    return Reply(said | ({"remark": remark} if remark else {}))


def overpass(*script: Reply) -> ScriptedService:
    free = Reply("Rate limit: 2\n2 slots available now.\n")
    return ScriptedService({"/api/interpreter": script, "/api/status": [free]})


def places_of(server: ScriptedService, quick: Quick, keeping: Keeping | None = None) -> TiledPlaces:
    source = OverpassPlaces(
        quick("overpass"), keeping or Keeping.of(Access(), CACHE), f"{server.url}/api/interpreter"
    )
    return TiledPlaces(source, BOX)


def test_places_come_with_what_their_tags_say(quick: Quick) -> None:
    with overpass(reply(BAKERY, PARK)) as server:
        places = places_of(server, quick)
        near = places.nearby(HERE, 300)
        assert [place.name for place in near] == ["Pågen", "Green"]
        assert not near[0].hours  # details alone have them
        bakery = places.details("n7")
        assert [place.id for place in places.search("page")] == ["n7"]
        assert places.photos("n7") == []
    assert bakery.types[0] == "bakery"
    assert bakery.address == "Long Street 5"
    assert dict(bakery.facts) == {"wheelchair": "limited"}
    assert len(bakery.hours) == 5
    (rating,) = {place.rating for place in near}
    assert rating is None
    assert {one.headers["user-agent"] for one in server.asked} == {f"virl/{__version__}"}
    query = server.asked[0].query["data"]
    assert query.startswith("[out:json][timeout:60]")
    assert query.endswith("out center;")


def node(number: int, north: float, **tags: str) -> dict[str, object]:
    tags = {key.replace("__", ":"): value for key, value in tags.items()}
    return {"type": "node", "id": number, "lat": 60.17 + north, "lon": 24.941, "tags": tags}


def test_the_rules_of_extracts_hold_for_a_server(quick: Quick) -> None:
    elements = [
        node(1, 0.0, tourism="hotel", name="Krone"),
        node(2, 0.00003, amenity="restaurant", name="Krone"),
        node(3, 0.0, shop="gift", name="Twice"),
        node(4, 0.00015, shop="gift", name="Twice"),
        node(5, 0.0, amenity="bar", name="Gone", end_date="2026-11-21"),
        node(6, 0.0, amenity="bar", name="Here", end_date="2026-11-23"),
        node(7, 0.0, amenity="bar", name="Disused", disused="yes"),
        node(8, 0.0, amenity="bar", name="Shut", opening_hours="closed"),
        node(9, 0.0, amenity="bar", name="Asked", opening_hours='Mo 10:00-12:00; Tu "on demand"'),
    ]
    with overpass(reply(*elements)) as server:
        places = places_of(server, quick)
        near = places.nearby(HERE, 300)
        asked = places.details("n9")
    assert sorted(place.id for place in near) == ["n1", "n2", "n3", "n6", "n8", "n9"]
    assert [place.name for place in near if not place.is_open] == ["Shut"]
    assert dict(asked.facts)["hours"] == 'incomplete without: Tu "on demand"'


def test_squares_and_their_distances_cross_longitude_180() -> None:
    east, west = LatLng(-16.8, -179.9999), LatLng(-16.8, 179.9999)
    assert cells_around(east, 300.0) == cells_around(west, 300.0)
    assert {cell.x for cell in cells_around(east, 300.0)} == {0, 2**16 - 1}
    assert cells_of(Box(-16.801, 179.999, -16.799, -179.999)) == cells_around(LatLng(-16.8, 180.0), 100.0)
    assert max(cell.metres_to(east) for cell in cells_around(west, 300.0)) < 300


def test_what_is_asked_twice_is_sent_once_even_by_the_next_run(quick: Quick) -> None:
    with overpass(reply(BAKERY)) as server:
        first, keeping = places_of(server, quick), Keeping.of(Access(), CACHE)
        first.nearby(HERE, 300)
        sent = len(server.asked)
        first.nearby(LatLng(60.1702, 24.9402), 300)
        places_of(server, quick, keeping).nearby(HERE, 300)
        assert len(server.asked) == sent
        total = keeping.ledger.total()
    assert (total.sent, total.cached, total.usd) == ({}, {"overpass": sent}, 0.0)


@pytest.mark.slow
def test_a_busy_server_is_asked_again_when_it_says_that_a_slot_is_free(quick: Quick) -> None:
    taken = Reply("Rate limit: 2\nSlot available after: 2026-11-22T10:00:00Z, in 0 seconds.\n")
    busy = [Reply("", 429), Reply("<html>", 504), Reply("<p>busy</p>"), reply(BAKERY)]
    with ScriptedService({"/api/interpreter": busy, "/api/status": [taken]}) as server:
        source = OverpassPlaces(
            quick("overpass"), Keeping.of(Access(), CACHE), f"{server.url}/api/interpreter"
        )
        assert [found.place.name for found in source.places_within(BOX)] == ["Pågen"]
    asked = [one.path for one in server.asked]
    assert asked == ["/api/interpreter", "/api/status", *["/api/interpreter"] * 3]


def test_a_box_that_is_too_much_is_asked_for_in_parts(quick: Quick) -> None:
    late = reply(remark='runtime error: Query timed out in "query" at line 1 after 61 seconds.')
    with overpass(late, reply(BAKERY), reply(BAKERY, PARK), reply()) as server:
        source = OverpassPlaces(
            quick("overpass"), Keeping.of(Access(), CACHE), f"{server.url}/api/interpreter"
        )
        assert {found.place.id for found in source.places_within(BOX)} == {"n7", "w8"}
    assert len(server.asked) == 5


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (reply(remark="runtime error: Query timed out"), "timed out"),
        (reply(remark="runtime error: open64: 0 Success /osm3s"), "open64"),
        (Reply("<html><body><p>line 1: parse error: ';' expected</p></body>", 400), "parse error"),
        (Reply({"element": []}), "elements: Field required"),
        (Reply("", 429, {"retry-after": "9"}), "asks to wait 9 s"),
    ],
)
def test_a_refusal_is_one_line_and_is_not_kept(said: Reply, words: str, quick: Quick) -> None:
    with overpass(said) as server:
        places = places_of(server, quick)
        with pytest.raises(ProviderError, match=words):
            places.nearby(HERE, 100)
        before = len(server.asked)
        with pytest.raises(ProviderError):
            places_of(server, quick).nearby(HERE, 100)
        assert len(server.asked) > before


def test_a_run_is_recorded_and_replayed_without_a_network(quick: Quick, tmp_path: Path) -> None:
    recorded = tmp_path / "recorded"
    with overpass(reply(BAKERY)) as server:
        url = server.url
        places = places_of(server, quick, Keeping.of(Access(record=recorded, cache="off"), CACHE))
        found = places.nearby(HERE, 300)
    again = OverpassPlaces(
        quick("overpass"), Keeping.of(Access(replay=recorded), CACHE), f"{url}/api/interpreter"
    )
    assert TiledPlaces(again, BOX).nearby(HERE, 300) == found
    with pytest.raises(ProviderError, match="is recorded"):
        TiledPlaces(again, BOX).nearby(LatLng(61, 25), 300)


def test_a_place_is_found_by_its_id_alone(quick: Quick) -> None:
    with overpass(reply(BAKERY), reply()) as server:
        places = places_of(server, quick)
        assert places.details("n7").name == "Pågen"
        assert "node(7)" in server.asked[0].query["data"]
        for unknown in ("w9", "ChIJ1", "n7);out;"):
            with pytest.raises(NotFound, match="no place has the id"):
                places.details(unknown)
    assert len(server.asked) == 2  # what cannot be an id is not asked for


def test_a_large_circle_is_told_as_far_as_it_was_asked_for(quick: Quick) -> None:
    with overpass(reply(BAKERY)) as server:
        told = places_of(server, quick).nearby(HERE, 20_000)
    assert len(server.asked) == 25
    assert 1000 < getattr(told, "complete", 0) < 4000


def test_addresses_are_looked_for_in_and_around_the_district(quick: Quick) -> None:
    match = {"lat": "60.17", "lon": "24.94", "display_name": "Long Street 5, Kylä", "name": ""}
    about = match | {"address": {"road": "Long Street", "house_number": "5", "town": "Kylä"}}
    lost = Reply({"error": "Unable to geocode"}, 404)
    scripts = {"/search": [Reply([match]), Reply([])], "/reverse": [Reply(about), Reply(about), lost]}
    with ScriptedService(scripts) as server:
        addresses = Nominatim(quick("nominatim"), Keeping.of(Access(), CACHE), BOX, f"{server.url}/search")
        assert addresses.find("Long Street 5") == HERE
        with pytest.raises(NotFound, match="no address or place matches 'Atlantis'"):
            addresses.find("Atlantis")
        door = addresses.nearest(HERE, 50)
        assert door is not None
        assert door.text == "Long Street 5, Kylä"
        assert addresses.nearest(LatLng(60.18, 24.94), 50) is None  # the nearest is a kilometre away
        assert addresses.nearest(LatLng(0, 0), 50) is None
    search = server.asked[0].query
    assert search["bounded"] == "1"
    west, south, east, north = map(float, search["viewbox"].split(","))
    assert (west, south) < (24.93, 60.165)
    assert (east, north) > (24.95, 60.175)


CORNERS = [LatLng(60.17, 24.94), LatLng(60.17, 24.942), LatLng(60.171, 24.942)]


def osrm_route(*codes: str) -> list[Reply]:
    def step(first: LatLng, last: LatLng, name: str) -> dict[str, object]:
        return {"name": name, "geometry": {"coordinates": [first[::-1], last[::-1]]}}

    steps = [
        step(CORNERS[0], CORNERS[1], "Long Street"),
        step(CORNERS[1], CORNERS[2], "Side Street"),
        step(CORNERS[2], CORNERS[2], "Side Street"),  # arrive
    ]
    leg = {"distance": 220.0, "duration": 160.0, "steps": steps}
    good = Reply({"code": "Ok", "routes": [{"legs": [leg]}]})
    return [good, *(Reply({"code": code, "message": "said so"}, 400) for code in codes)]


def test_a_route_of_osrm_is_told_by_its_streets(quick: Quick) -> None:
    with ScriptedService({"/route/*": osrm_route("NoRoute", "InvalidQuery")}) as server:
        ways = OsrmWays(quick("osrm"), Keeping.of(Access(), CACHE), server.url)
        start, end = LatLng(60.1702, 24.94), LatLng(60.171, 24.9421)
        route = ways.route([start, end])
        with pytest.raises(NoRoute, match="no way leads walking"):
            ways.route([end, start])
        with pytest.raises(ProviderError, match="InvalidQuery said so"):
            ways.route([start, HERE])
        with pytest.raises(BadInput, match="profile"):
            ways.route([start, end], "driving")
        with pytest.raises(BadInput, match="two or more"):
            ways.route([start])
    assert server.asked[0].path == "/route/v1/foot/24.940000,60.170200;24.942100,60.171000"
    assert (route.path[0], route.path[-1]) == (start, end)
    assert len(route.streets) == len(route.path) - 1
    assert 240 < route.distance < 255  # with the ways to and from the street
    assert 160 < route.duration < 190
    told = " ".join(route.instructions)
    assert "along Long Street" in told
    assert "Turn left and go along Side Street" in told


def test_a_stop_far_from_every_way_is_off_the_map(quick: Quick) -> None:
    table = {"code": "Ok", "durations": [[10.0]], "sources": [{"distance": 300.0}], "destinations": [{}]}
    with ScriptedService({"/route/*": osrm_route(), "/table/*": [Reply(table)]}) as server:
        ways = OsrmWays(quick("osrm"), Keeping.of(Access(), CACHE), server.url)
        with pytest.raises(NoRoute, match="off the map"):
            ways.route([LatLng(60.175, 24.94), CORNERS[2]])
        assert ways.travel_times([HERE], [CORNERS[2]]).tolist() == [[inf]]


def test_stops_nearer_to_each_other_than_to_the_way_are_walked_between_straight(quick: Quick) -> None:
    table = {"code": "Ok", "durations": [[0.0]], "sources": [{"distance": 30.0}], "destinations": [{}]}
    with ScriptedService({"/route/*": osrm_route(), "/table/*": [Reply(table)]}) as server:
        ways = OsrmWays(quick("osrm"), Keeping.of(Access(), CACHE), server.url)
        here, there = LatLng(60.1704, 24.941), LatLng(60.1704, 24.9411)
        assert ways.route([here, there]).path == (here, there)
        assert ways.travel_times([here], [there])[0, 0] == pytest.approx(distance(here, there) / 1.35)


def test_a_table_is_asked_for_in_parts_that_a_server_takes(quick: Quick) -> None:
    def table(rows: int, columns: int) -> Reply:
        ends = {"sources": [{"distance": 13.5}] * rows, "destinations": [{}] * columns}
        return Reply({"code": "Ok", "durations": [[60.0] * (columns - 1) + [None]] * rows, **ends})

    with ScriptedService({"/table/*": [table(50, 3), table(20, 3)]}) as server:
        ways = OsrmWays(quick("osrm"), Keeping.of(Access(), CACHE), server.url)
        origins = [LatLng(60.17 + step / 1e5, 24.937) for step in range(70)]
        seconds = ways.travel_times(origins, CORNERS)
    assert seconds.shape == (70, 3)
    assert seconds[0, 0] == pytest.approx(70)  # 60 on the way and 10 to it
    assert isinf(seconds[69, 2])
    assert server.asked[1].query["sources"] == ";".join(map(str, range(20)))


@pytest.mark.parametrize("odd", ["odd", -1, None])
def test_an_odd_cell_of_a_table_is_unreached_alone(odd: object, quick: Quick) -> None:
    ends = {"sources": [{}], "destinations": [{"distance": 0.0}, {}, None]}
    table = {"code": "Ok", "durations": [[10.0, odd, 30.0]], **ends}
    cells, far = [{"time": 10}, {"time": odd}, odd], LatLng(60.18, 24.95)
    scripts = {"/table/*": [Reply(table)], "/sources_to_targets": [Reply({"sources_to_targets": [cells]})]}
    with ScriptedService(scripts) as server:
        for name, ways in (("osrm", OsrmWays), ("valhalla", ValhallaWays)):
            times = ways(quick(name), Keeping.of(Access(), CACHE), server.url).travel_times([far], CORNERS)
            assert times.tolist() == [[10.0, inf, inf]]
    assert len(server.asked) == 2


@pytest.mark.parametrize("odd", ["odd", None, [10.0]])
def test_an_odd_row_of_a_table_is_unreached_alone(odd: object, quick: Quick) -> None:
    row, ends = [10.0, 20.0, 30.0], {"sources": [{}] * 3, "destinations": [{}] * 3}
    cells = odd if odd == "odd" else odd and [{"time": 10}]
    matrix = [[{"time": one} for one in row]] * 2 + [cells]
    scripts = {
        "/table/*": [Reply({"code": "Ok", "durations": [row, row, odd], **ends})],
        "/sources_to_targets": [Reply({"sources_to_targets": matrix})],
    }
    origins = [LatLng(60.18 + step / 100, 24.95) for step in range(3)]
    with ScriptedService(scripts) as server:
        for name, ways in (("osrm", OsrmWays), ("valhalla", ValhallaWays)):
            keeping = Keeping.of(Access(), CACHE)
            times = ways(quick(name), keeping, server.url).travel_times(origins, CORNERS)
            assert times.tolist() == [row, row, [inf] * 3]
            assert [one.count for one in keeping.left_out.omissions()] == ([] if odd is None else [1])
    assert len(server.asked) == 2


def test_a_stop_for_which_a_server_refuses_the_whole_table_is_found_and_unreached_alone(quick: Quick) -> None:
    def answered(body: dict[str, list[dict[str, float]]]) -> Reply:
        if any(one["lat"] > 61 for one in (*body["sources"], *body["targets"])):
            return Reply({"error_code": 171, "error": "No suitable edges near location"}, 400)
        row = [{"time": 60.0}] * len(body["targets"])
        return Reply({"sources_to_targets": [row] * len(body["sources"])})

    island, stops = LatLng(61.5, 25), [LatLng(60.17 + step / 1e4, 24.937) for step in range(8)]
    with ScriptedService({"/sources_to_targets": [answered]}) as server:
        ways = ValhallaWays(quick("valhalla"), Keeping.of(Access(), CACHE), server.url)
        times = ways.travel_times([HERE], [*stops, island])
    assert times.tolist() == [[60.0] * 8 + [inf]]
    assert len(server.asked) < 12


@pytest.mark.parametrize("odd", [{"id": None}, {"id": 8.5}, {"lat": 95.0}, {"tags": None}, {"tags": "odd"}])
def test_an_odd_element_is_left_out_and_the_others_are_kept(odd: dict[str, object], quick: Quick) -> None:
    height = {**BAKERY, "tags": {**BAKERY["tags"], "height": 12, "note": None, "odd": [1]}}
    with overpass(reply(height, {**BAKERY, "id": 8, **odd})) as server:
        keeping = Keeping.of(Access(), CACHE)
        found = places_of(server, quick, keeping).nearby(HERE, 300)
    assert [place.id for place in found] == ["n7"]
    assert len(server.asked) == len({one.query["data"] for one in server.asked})
    assert (
        keeping.left_out.omissions()[0]
        .reasons[0]
        .startswith("tags.odd: Input should be a valid string (in 7)")
    )


def test_every_mode_has_its_own_server_where_the_url_has_a_profile(quick: Quick) -> None:
    with ScriptedService({"/routed-bike/route/*": osrm_route()}) as server:
        ways = OsrmWays(quick("osrm"), Keeping.of(Access(), CACHE), server.url + "/routed-{profile}")
        assert ways.route(CORNERS[::2], "cycling").distance == pytest.approx(220)


def test_a_route_of_valhalla_is_told_by_its_streets(quick: Quick) -> None:
    maneuvers = [
        {"street_names": ["Long Street"], "begin_shape_index": 0, "end_shape_index": 1},
        {"street_names": ["Side Street"], "begin_shape_index": 1, "end_shape_index": 2},
        {"begin_shape_index": 2, "end_shape_index": 2},
    ]
    leg = {
        "summary": {"time": 160.0, "length": 0.22},
        "shape": encode_polyline(CORNERS, 6),
        "maneuvers": maneuvers,
    }
    lost = {"error_code": 442, "error": "No path could be found for input", "status_code": 400}
    wrong = {"error_code": 114, "error": "Try a valid location", "status_code": 400}
    matrix = {"sources_to_targets": [[{"time": 61}, {"time": None}]]}
    scripts = {
        "/route": [Reply({"trip": {"legs": [leg]}}), Reply(lost, 400), Reply(wrong, 400)],
        "/sources_to_targets": [Reply(matrix)],
    }
    with ScriptedService(scripts) as server:
        ways = ValhallaWays(quick("valhalla"), Keeping.of(Access(), CACHE), server.url)
        route = ways.route(CORNERS[::2])
        assert route.distance == pytest.approx(220)
        assert route.path[1:-1] == tuple(CORNERS)
        assert "along Long Street" in route.instructions[0]
        with pytest.raises(NoRoute, match="No path"):
            ways.route(CORNERS[::-1])
        with pytest.raises(ProviderError, match="valid location"):
            ways.route(CORNERS[1:])
        seconds = ways.travel_times([HERE], CORNERS[:2], "cycling")
    assert seconds.tolist() == [[61.0, float("inf")]]
    asked = server.asked[-1].body
    assert asked["costing"] == "bicycle"
    assert server.asked[0].body["costing"] == "pedestrian"


def test_requests_of_several_clients_are_a_second_apart(tmp_path: Path) -> None:
    now, slept = [1000.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    file = tmp_path / "cache" / "nominatim.turn"
    one, other = (SecondsApart(1.0, file, clock=lambda: now[0], sleep=sleep) for _ in range(2))
    for client in (one, other, one):
        client.wait()
    now[0] += 5
    other.wait()
    assert slept == pytest.approx([1.0, 1.0])


def test_a_url_with_a_password_is_never_shown(quick: Quick, caplog: pytest.LogCaptureFixture) -> None:
    secret = "a-long-marker-key-0123456789"  # noqa: S105  # made up
    with overpass(Reply(f"<html><body>no {secret}</body>", 403)) as server:
        url = f"http://user:{secret}@{server.host}/api/interpreter?key={secret}"
        keeping = Keeping.of(Access(), CACHE)
        source = OverpassPlaces(quick("overpass"), keeping, url)
        with pytest.raises(ProviderError) as refused:
            source.places_within(BOX)
        assert server.asked[0].query["key"] == secret
    assert secret not in str(refused.value)
    assert secret not in caplog.text
    assert secret not in json.dumps(keeping.ledger.total().sent)
