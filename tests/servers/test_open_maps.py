"""The servers of open maps, asked over HTTP by the clients that ask the public services."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pytest
from real_data import real_data

from servers.nominatim.app import make_app as nominatim_app
from servers.options import MapServeOptions
from servers.osrm.app import make_app as osrm_app
from servers.overpass.app import elements_of
from servers.overpass.app import make_app as overpass_app
from virl.errors import NoRoute, NotFound, ProviderError
from virl.geo.globe import LatLng, distance
from virl.osm.box import Box, square_around
from virl.osm.places import type_table
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.platform.providers.cities import open_city
from virl.platform.providers.http.nominatim import Nominatim
from virl.platform.providers.http.osm_servers import CACHE, MapServiceSettings, ServiceName, load_open_maps
from virl.platform.providers.http.settings import Retries
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.open.osrm import OsrmWays
from virl.platform.providers.open.overpass import OverpassPlaces
from virl.platform.providers.open.places import TiledPlaces
from virl.platform.providers.provider import Access
from virl.serve.city_server import ServedCity, served_app
from virl.serve.faults import Faults


@dataclass(frozen=True)
class Town:
    city: City
    extract: Path | None
    box: Box


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def helsinki() -> Town:
    path = real_data("osm") / "helsinki.osm.pbf"
    city = open_city(f"{path}@60.1699,24.9384,350")
    return Town(city, path, square_around(city.center, 500))


@pytest.fixture(scope="module")
def virlton() -> Town:
    city = open_city("virlton")
    return Town(city, None, square_around(city.center, 1500))


Servers = Callable[..., dict[ServiceName, ServedCity]]

_clients: list[ExitStack] = []
"""Closes the clients of a test before its servers."""


@pytest.fixture
def serve() -> Iterator[Servers]:
    """Serves a town by all three servers."""
    with ExitStack() as stack, ExitStack() as clients:
        _clients.append(clients)

        def start(town: Town, options: MapServeOptions | None = None) -> dict[ServiceName, ServedCity]:
            chosen, elements = options or MapServeOptions(), elements_of(town.city, town.extract)
            apps = {
                "overpass": lambda stats, pools: overpass_app(elements, chosen, stats, pools),
                "nominatim": lambda stats, pools: nominatim_app(town.city, chosen, stats, pools),
                "osrm": lambda stats, pools: osrm_app(town.city, chosen, stats, pools),
            }
            return {name: stack.enter_context(served_app(app)) for name, app in apps.items()}

        yield start
    _clients.clear()


def settings(name: ServiceName) -> MapServiceSettings:
    short = Retries(further=6, first_wait=0.0, longest_wait=2.0)
    return load_open_maps().of(name).model_copy(update={"retries": short})


def places_over(server: ServedCity, town: Town) -> TiledPlaces:
    source = OverpassPlaces(
        settings("overpass"), Keeping.of(Access(cache="off"), CACHE), f"{server.url}/api/interpreter"
    )
    _clients[-1].callback(source.close)
    return TiledPlaces(source, town.box)


def ways_over(server: ServedCity) -> OsrmWays:
    ways = OsrmWays(
        settings("osrm"), Keeping.of(Access(cache="off"), CACHE), server.url + "/routed-{profile}"
    )
    _clients[-1].callback(ways.close)
    return ways


def told(place: Place) -> tuple[object, ...]:
    return place.id, place.name, place.types, place.address, place.hours, place.facts


@pytest.mark.slow
def test_overpass_gives_the_places_of_the_extract(helsinki: Town, serve: Servers) -> None:
    over, own = places_over(serve(helsinki)["overpass"], helsinki), helsinki.city.places
    here = helsinki.city.center
    expected = {place.id: own.details(place.id) for place in own.nearby(here, 250)}
    found = {place.id: over.details(place.id) for place in over.nearby(here, 400)}
    assert len(expected) > 100
    twice = {place.name for number, place in expected.items() if number not in found}
    assert twice <= {place.name for place in found.values()}  # one of two that are mapped on one spot
    assert len(twice) < 10
    for number, place in expected.items():
        if number not in found:
            continue
        assert told(found[number]) == told(place)
        assert distance(found[number].position, place.position) < 60  # of a large building: another middle
    assert any(place.hours for place in found.values())
    assert {name for place in found.values() for name, _ in place.facts} >= {"cuisine", "wheelchair", "diet"}
    one = next(iter(expected))
    assert told(places_over(serve(helsinki)["overpass"], helsinki).details(one)) == told(expected[one])


@pytest.mark.slow
def test_overpass_gives_the_places_of_a_made_town(virlton: Town, serve: Servers) -> None:
    over, own = places_over(serve(virlton)["overpass"], virlton), virlton.city.places
    near = [place for place in own.nearby(virlton.city.center, 300) if place.is_open]
    found = {place.name: over.details(place.id) for place in over.nearby(virlton.city.center, 310)}
    assert len(near) > 20
    for place in near:
        known = own.details(place.id)
        if any(known.types[0] in types for table in type_table().values() for types in table.values()):
            assert known.types[0] in found[place.name].types
        assert found[place.name].hours == known.hours
        assert found[place.name].address == known.address
        assert found[place.name].rating is None


@pytest.mark.slow
def test_a_download_of_a_box_comes_as_xml(virlton: Town, serve: Servers) -> None:
    url = f"{serve(virlton)['overpass'].url}/api/interpreter"
    lat, lng = virlton.city.center
    area = f"{lat - 0.002},{lng - 0.002},{lat + 0.002},{lng + 0.002}"
    query = f"[out:xml][timeout:9][bbox:{area}];(node({area});way({area}););(._;>;);out body;"
    reply = httpx.post(url, data={"data": query})
    assert reply.headers["content-type"].startswith("application/osm3s+xml")
    assert "<bounds minlat=" in reply.text
    assert reply.text.rstrip().endswith("</osm>")
    assert '<tag k="highway" v="residential"/>' in reply.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "query", ["", "node", "[out:csv];node(1);out;", 'node["a"~"("];out;', "node(1,x);out;", "<osm-script/>"]
)
def test_what_is_no_query_is_refused_as_overpass_does(query: str, virlton: Town, serve: Servers) -> None:
    reply = httpx.get(f"{serve(virlton)['overpass'].url}/api/interpreter", params={"data": query})
    assert reply.status_code == 400
    assert "parse error" in reply.text
    assert reply.headers["content-type"].startswith("text/html")


@pytest.mark.slow
def test_queries_of_the_manual_are_answered(virlton: Town, serve: Servers) -> None:
    url, (lat, lng) = f"{serve(virlton)['overpass'].url}/api/interpreter", virlton.city.center

    def asked(statement: str) -> list[dict[str, object]]:
        reply = httpx.get(url, params={"data": f"[out:json];{statement}"})
        found: list[dict[str, object]] = reply.json()["elements"]
        return found

    around = f"(around:300,{lat},{lng})"
    cafes = asked(f'nwr["amenity"="cafe"]{around};out;')
    assert cafes
    assert asked(f'node[amenity=cafe]["name"]{around};out ids;') == [
        {"type": "node", "id": cafe["id"]} for cafe in cafes
    ]
    assert len(asked(f'node["amenity"="cafe"]{around};out 1;')) == 1
    assert not asked(f'node["amenity"="cafe"]["name"!~"."]{around};out;')
    both = asked(f'node["amenity"~"^(CAFE|bank)$",i]{around};out;')
    assert len(both) >= len(cafes)
    (street,) = asked("way(1);out geom;")
    assert "geometry" in street
    whole = asked("way(1);out body;>;out skel qt;")
    assert [part["id"] for part in whole[:1]] == [1]
    assert {part["id"] for part in whole[1:]} == set(street["nodes"])  # type: ignore[call-overload]


@pytest.mark.slow
def test_a_box_over_the_limit_is_asked_for_in_parts(virlton: Town, serve: Servers) -> None:
    here = virlton.city.center
    whole = places_over(serve(virlton)["overpass"], virlton).nearby(here, 300)
    small = serve(virlton, MapServeOptions(most_km2=2.0))["overpass"]
    assert places_over(small, virlton).nearby(here, 300) == whole
    assert small.stats()["requests"]["interpreter"] >= 5
    assert small.stats()["good"]["interpreter"] < small.stats()["requests"]["interpreter"], "what is cut off"
    with pytest.raises(ProviderError, match="timed out"):
        places_over(serve(virlton, MapServeOptions(most_km2=0.01))["overpass"], virlton).nearby(here, 300)


@pytest.mark.slow
def test_nothing_is_lost_to_faults(virlton: Town, serve: Servers) -> None:
    faults = Faults({"429": 0.15, "504": 0.15, "half": 0.1, "garbage": 0.1})
    servers = serve(virlton, MapServeOptions(seed=3, faults=faults, remark=0.1))
    here = virlton.city.center
    assert places_over(servers["overpass"], virlton).nearby(here, 300) == places_over(
        serve(virlton)["overpass"], virlton
    ).nearby(here, 300)
    ways = ways_over(servers["osrm"])
    for place in virlton.city.places.nearby(here, 250)[:15]:
        assert ways.route([here, place.position]).distance == pytest.approx(
            virlton.city.maps.route([here, place.position]).distance, rel=0.02, abs=3
        )
    assert sum(servers["osrm"].stats()["faults"].values()) > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["helsinki", "virlton"])
def test_osrm_gives_the_ways_of_the_town(name: str, serve: Servers, request: pytest.FixtureRequest) -> None:
    town: Town = request.getfixturevalue(name)
    maps, here = town.city.maps, town.city.center
    ways = ways_over(serve(town)["osrm"])
    stops = [place.position for place in town.city.places.nearby(here, 250)][::7][:8]
    assert len(stops) == 8
    for stop in stops:
        own, over = maps.route([here, stop]), ways.route([here, stop])
        assert over.distance == pytest.approx(own.distance, rel=0.02, abs=3)
        assert over.duration == pytest.approx(own.duration, rel=0.02, abs=3)
        assert (over.path[0], over.path[-1]) == (here, stop)
        assert len(over.streets) == len(over.path) - 1
        if own.streets:
            assert set(over.streets) <= {*own.streets, ""}
    np.testing.assert_allclose(
        ways.travel_times([here, stops[0]], stops),
        maps.travel_times([here, stops[0]], stops),
        rtol=0.02,
        atol=3,
    )
    through = ways.route([here, *stops[:3]])
    assert through.distance == pytest.approx(maps.route([here, *stops[:3]]).distance, rel=0.02, abs=5)
    with pytest.raises(NoRoute):
        ways.route([here, LatLng(here.lat + 1, here.lng)])


@pytest.mark.slow
def test_osrm_refuses_with_its_codes_and_tells_turns(virlton: Town, serve: Servers) -> None:
    url, (lat, lng) = serve(virlton)["osrm"].url, virlton.city.center
    shop = virlton.city.places.nearby(virlton.city.center, 400)[-1].position
    pair = f"{lng},{lat};{shop.lng},{shop.lat}"
    good = httpx.get(
        f"{url}/route/v1/foot/{pair}", params={"steps": "true", "geometries": "polyline6"}
    ).json()
    (leg,) = good["routes"][0]["legs"]
    kinds = [step["maneuver"]["type"] for step in leg["steps"]]
    assert kinds[0] == "depart"
    assert kinds[-1] == "arrive"
    assert all("modifier" in step["maneuver"] for step in leg["steps"] if step["maneuver"]["type"] == "turn")
    assert isinstance(good["routes"][0]["geometry"], str)
    for path, code in (
        (f"route/v1/boat/{pair}", "InvalidUrl"),
        ("route/v1/foot/1,2;x", "InvalidQuery"),
        ("route/v1/foot/1,2", "InvalidOptions"),
        ("route/v1/foot/1,2;3,200", "InvalidValue"),
        ("table/v1/foot/" + ";".join(["1,2"] * 101), "TooBig"),
        (f"table/v1/foot/{pair}?sources=9", "InvalidOptions"),
        (f"route/v1/foot/{lng},{lat};{lng},{lat + 1}", "NoSegment"),
    ):
        reply = httpx.get(f"{url}/{path}")
        assert (reply.status_code, reply.json()["code"]) == (400, code)
    near = httpx.get(f"{url}/nearest/v1/foot/{lng},{lat}").json()
    assert near["waypoints"][0]["distance"] < 50


@pytest.mark.slow
@pytest.mark.parametrize("name", ["helsinki", "virlton"])
def test_nominatim_finds_addresses_and_names(
    name: str, serve: Servers, request: pytest.FixtureRequest
) -> None:
    town: Town = request.getfixturevalue(name)
    server = serve(town)["nominatim"]
    addresses = Nominatim(
        settings("nominatim"), Keeping.of(Access(cache="off"), CACHE), town.box, f"{server.url}/search"
    )
    _clients[-1].callback(addresses.close)
    near = [place for place in town.city.places.nearby(town.city.center, 250) if place.address]
    for place in near[:5]:
        found = addresses.find(place.address)
        assert distance(found, town.city.maps.geocode(place.address)) < 1
    assert distance(addresses.find(near[0].name), near[0].position) < 400
    with pytest.raises(NotFound):
        addresses.find("Zzyzx Boulevard 99")
    door = addresses.nearest(near[0].position, 100)
    assert door is not None
    assert addresses.nearest(LatLng(0.0, 0.0), 100) is None
    reply = httpx.get(f"{server.url}/search", params={"q": near[0].name, "format": "jsonv2"}).json()
    assert isinstance(reply[0]["lat"], str)
    assert "ODbL" in reply[0]["licence"]
    assert json.loads(httpx.get(f"{server.url}/status", params={"format": "json"}).text)["status"] == 0
    bad = httpx.get(f"{server.url}/reverse", params={"lat": "x", "lon": "1"})
    assert (bad.status_code, bad.json()["error"]["code"]) == (400, 400)
