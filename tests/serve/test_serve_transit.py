"""Public transport over HTTP: in Google's forms, and through Google's own clients and ours."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import googlemaps
import httpx
import pytest
from served_google import MARKER_KEY

from virl.errors import NoRoute
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.graph import GraphMaps
from virl.platform.city.maps import Journey, TransitMaps
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.journeys import departure, drop_date
from virl.platform.providers.google.settings import Keys, at_base_url, load_google_settings
from virl.platform.providers.http.stored_replies import Keeping, Recording, Replay
from virl.serve.city_server import ServedCity
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

ROUTES = "/directions/v2:computeRoutes"
WEDNESDAY, NINE = 2, 9 * 60 + 3


@pytest.fixture(scope="module")
def ends(city: City) -> tuple[LatLng, LatLng]:
    """Two positions with a bus between them."""
    return city.maps.geocode("Quince Street & Cross Avenue"), city.maps.geocode(
        "Cross Avenue & Bishop Street"
    )


def journey(maps: object, ends: tuple[LatLng, LatLng]) -> Journey:
    assert isinstance(maps, TransitMaps)
    return maps.journey(*ends, WEDNESDAY, NINE)


def way_to(server: ServedCity, record: Recording | None = None) -> GoogleHttp:
    settings = at_base_url(load_google_settings(), server.url)
    return GoogleHttp(settings, Keys(MARKER_KEY), Keeping(record=record))


@pytest.mark.slow
@pytest.mark.parametrize("api", ["new", "legacy"])
def test_a_journey_over_http_is_that_of_the_town(
    city: City, server: ServedCity, ends: tuple[LatLng, LatLng], api: str
) -> None:
    true = journey(city.maps, ends)
    assert len(true.rides) == 1
    with way_to(server) as http:
        town = open_google("served", "Served", city.center, GoogleOptions(api=api), http)
        seen = journey(town.maps, ends)
        with pytest.raises(NoRoute):
            journey(town.maps, (city.center, LatLng(0.0, 0.0)))
    assert abs(seen.duration - true.duration) < 2
    assert [leg.line for leg in seen.legs] == [leg.line for leg in true.legs]
    mine, theirs = seen.rides[0], true.rides[0]
    for name in ("board", "alight", "departs", "arrives", "headsign"):
        assert getattr(mine, name) == getattr(theirs, name)
    assert seen.words == true.words
    assert seen.distance == pytest.approx(true.distance, abs=5)


@pytest.mark.slow
def test_googles_own_client_reads_the_legacy_form(
    city: City, server: ServedCity, ends: tuple[LatLng, LatLng]
) -> None:
    client = googlemaps.Client("AIza-test", base_url=server.url)
    leaves = departure(WEDNESDAY, NINE, None)
    (route,) = client.directions(*ends, mode="transit", departure_time=leaves)
    (leg,) = route["legs"]
    ride = next(step for step in leg["steps"] if step["travel_mode"] == "TRANSIT")["transit_details"]
    true = journey(city.maps, ends).rides[0]
    assert ride["line"]["vehicle"]["type"] == "BUS"
    assert f"bus {ride['line']['short_name']}" == true.line
    assert ride["departure_stop"]["name"] == true.board
    assert ride["departure_time"]["value"] >= leg["departure_time"]["value"] == int(leaves.timestamp())
    assert leg["duration"]["value"] == leg["arrival_time"]["value"] - leg["departure_time"]["value"]
    rows = client.distance_matrix([ends[0]], [ends[1]], mode="transit", departure_time=leaves)["rows"]
    assert rows[0]["elements"][0]["duration"]["value"] == leg["duration"]["value"]


def test_what_is_refused_and_what_is_not_known(
    city: City, client: httpx.Client, ends: tuple[LatLng, LatLng]
) -> None:
    at = [{"location": {"latLng": {"latitude": end.lat, "longitude": end.lng}}} for end in ends]
    body = {"origin": at[0], "destination": at[1], "travelMode": "TRANSIT"}
    headers = {"X-Goog-FieldMask": "routes.duration,routes.legs.steps.transitDetails"}
    for change in ({"intermediates": [at[0]]}, {"departureTime": "noon"}):
        assert client.post(ROUTES, json=body | change, headers=headers).status_code == 400
    assert client.get("/maps/api/directions/json", params={
        "origin": f"{ends[0]}", "destination": f"{ends[1]}", "mode": "transit", "departure_time": "soon",
    }).json()["status"] == "INVALID_REQUEST"  # fmt: skip
    bare = replace(city, maps=GraphMaps(city.maps.graph))  # type: ignore[attr-defined]
    with (
        serve_city(bare, ServeOptions()) as other,
        httpx.Client(base_url=other.url, params={"key": "k"}) as ask,
    ):
        assert ask.post(ROUTES, json=body, headers=headers).json() == {}


@pytest.mark.slow
def test_a_recorded_journey_is_good_on_another_day(
    city: City,
    server: ServedCity,
    ends: tuple[LatLng, LatLng],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "recorded"
    with way_to(server, record=Recording(folder)) as http:
        first = journey(open_google("served", "Served", city.center, None, http).maps, ends)
    later = datetime.now(UTC) + timedelta(days=9)
    monkeypatch.setattr(
        "virl.platform.providers.google.maps.departure",
        lambda weekday, minute, zone: departure(weekday, minute, zone, later),
    )
    with GoogleHttp(load_google_settings(), None, Keeping(replay=Replay(folder))) as http:
        again = journey(open_google("served", "Served", city.center, None, http).maps, ends)
    assert again.words == first.words


def test_times_of_departure() -> None:
    sunday = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
    assert departure(0, 540, "Asia/Tokyo", sunday) == datetime(2026, 11, 23, 0, 0, tzinfo=UTC)
    assert departure(0, 480, "Asia/Tokyo", sunday) == datetime(2026, 11, 29, 23, 0, tzinfo=UTC)
    assert departure(6, 1425, None, sunday) == datetime(2026, 11, 22, 23, 45, tzinfo=UTC)
    assert drop_date("2026-11-23T09:10:00Z") == drop_date("2026-11-30T09:10:00Z") == "day 0 09:10"
    assert drop_date(str(int(datetime(2026, 11, 23, 9, 10, tzinfo=UTC).timestamp()))) == "day 0 09:10"
    assert drop_date("now") == "now"
