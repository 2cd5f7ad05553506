from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from served_google import Google

from virl.errors import BadInput, NoRoute, NotFound
from virl.geo import globe
from virl.geo.globe import Floats, LatLng
from virl.geo.polyline import decode_polyline, encode_polyline
from virl.platform.city.city import City
from virl.platform.city.maps import in_blocks
from virl.platform.providers.cities import city_settings
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.city_file import GoogleCity, GoogleOptions
from virl.platform.providers.google.client import Call
from virl.platform.providers.google.maps import LEGS, split_stops, tours
from virl.platform.providers.http.service import Request

NEW, OLD = GoogleOptions(api="new"), GoogleOptions(api="legacy")

# The example of Google's page on the algorithm.
EXAMPLE = "_p~iF~ps|U_ulLnnqC_mqNvxq`@"
EXAMPLE_POSITIONS = ((38.5, -120.2), (40.7, -120.95), (43.252, -126.453))


def stops_of(city: City, count: int) -> list[LatLng]:
    places = city.places.nearby(city.center, 450)
    return [place.position for place in places[:: max(len(places) // count, 1)][:count]]


def counted(google: Google) -> tuple[list[int], float]:
    return list(google.asked().values()), google.http.ledger.take().usd


def test_addresses_are_found_where_they_are(virlton: City, fresh: Google) -> None:
    for place in virlton.places.nearby(virlton.center, 300)[::40]:
        assert fresh.city.maps.geocode(place.address) == virlton.maps.geocode(place.address)
    assert fresh.asked() == {"geocode": 5}
    with pytest.raises(NotFound, match="'1 Nowhere Boulevard': check the address"):
        fresh.city.maps.geocode("1 Nowhere Boulevard")


@pytest.mark.parametrize("mode", ["walking", "cycling", "driving"])
def test_routes_are_as_long_as_in_the_city_itself(virlton: City, fresh: Google, mode: str) -> None:
    stops = stops_of(virlton, 4)
    route, own = (city.maps.route(stops, mode) for city in (fresh.city, virlton))  # type: ignore[arg-type]
    assert counted(fresh) == ([1], 0.005)
    assert route.distance == pytest.approx(own.distance, abs=len(stops))  # whole metres for each leg
    assert route.duration == pytest.approx(own.duration, abs=len(stops))
    assert len(route.path) == pytest.approx(len(own.path), abs=len(stops))
    assert globe.distance(route.path[0], stops[0]) < 1
    assert globe.distance(route.path[-1], stops[-1]) < 1


@pytest.mark.slow
def test_a_long_tour_goes_in_parts(virlton: City, fresh: Google) -> None:
    stops = stops_of(virlton, 30)
    route, own = fresh.city.maps.route(stops), virlton.maps.route(stops)
    assert counted(fresh)[0] == [2]
    assert route.distance == pytest.approx(own.distance, abs=len(stops))
    assert route.duration == pytest.approx(own.duration, abs=len(stops))
    walked = sum(globe.distance(a, b) for a, b in pairwise(route.path))
    assert route.distance == pytest.approx(walked, rel=0.01)


@pytest.mark.slow
def test_travel_times_are_those_of_the_city_itself(virlton: City, fresh: Google, api: str) -> None:
    origins, destinations = stops_of(virlton, 6), stops_of(virlton, 12)
    times = fresh.city.maps.travel_times(origins, destinations, "cycling")
    requests, usd = counted(fresh)
    assert sum(requests) <= 6 * 12 / 6, "six pairs or more by the legs of a route"
    assert usd == pytest.approx(0.005 * sum(requests))
    assert times.shape == (6, 12)
    assert np.abs(times - virlton.maps.travel_times(origins, destinations, "cycling")).max() <= 1
    assert fresh.city.maps.travel_times([], destinations).shape == (0, 12)


@pytest.mark.slow
def test_a_dozen_places_are_told_by_two_routes(virlton: City, fresh: Google, api: str) -> None:
    here, *ends = stops_of(virlton, 13)[:13]
    times = fresh.city.maps.travel_times([here], [here, *ends])
    assert counted(fresh) == ([2], pytest.approx(0.01))
    assert np.abs(times - virlton.maps.travel_times([here], [here, *ends])).max() <= 1
    fresh.city.maps.travel_times([here], ends[:1])
    assert fresh.asked() == {"routes_matrix" if api == "new" else "legacy_matrix": 1}


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] != pair[1])))
def test_tours_go_each_pair_and_stay_cheap(numbers: set[tuple[int, int]]) -> None:
    pairs = {(LatLng(0, a), LatLng(0, b)) for a, b in numbers}
    found = tours(pairs)
    assert all(2 <= len(stops) <= LEGS + 1 for stops in found)
    legs = [leg for stops in found for leg in pairwise(stops)]
    assert pairs <= set(legs)
    assert len(found) <= max(len(pairs), 0)


def test_all_pairs_of_a_round_trip_take_few_routes() -> None:
    stops = [LatLng(0, number) for number in range(7)]
    assert len(tours({(a, b) for a in stops for b in stops if a != b})) <= 5, "42 pairs, 11 legs a route"


def test_no_way_is_infinitely_long(virlton: City, fresh: Google) -> None:
    far = LatLng(-52.0, 71.0)
    times = fresh.city.maps.travel_times([virlton.center], [virlton.center, far])
    assert np.isfinite(times).tolist() == [[True, False]]
    with pytest.raises(NoRoute, match=r"41\.25.* to -52"):
        fresh.city.maps.route([virlton.center, far])


def test_refuses_what_makes_no_sense(fresh: Google) -> None:
    here = fresh.city.center
    with pytest.raises(BadInput, match="two or more stops"):
        fresh.city.maps.route([here])
    with pytest.raises(BadInput, match="unknown travel mode 'flying'"):
        fresh.city.maps.route([here, here], "flying")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="unknown travel mode 'flying'"):
        fresh.city.maps.travel_times([here], [here], "flying")  # type: ignore[arg-type]
    assert fresh.asked() == {}


def test_polyline_of_the_description() -> None:
    assert decode_polyline(EXAMPLE) == EXAMPLE_POSITIONS
    assert encode_polyline([LatLng(*pair) for pair in EXAMPLE_POSITIONS]) == EXAMPLE
    assert decode_polyline("") == ()


@given(st.lists(st.tuples(st.integers(-9_000_000, 9_000_000), st.integers(-18_000_000, 18_000_000))))
def test_polylines_come_back_as_they_went(grid: list[tuple[int, int]]) -> None:
    positions = tuple(LatLng(lat / 1e5, lng / 1e5) for lat, lng in grid)
    assert decode_polyline(encode_polyline(positions)) == positions


@pytest.mark.parametrize("text", ["_p~iF", "_p~iF~ps|", "_p~iF ", "\x00\x00"])
def test_broken_polylines_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="polyline"):
        decode_polyline(text)


@given(count=st.integers(2, 120))
def test_parts_of_a_tour_meet(count: int) -> None:
    stops = [LatLng(0, i) for i in range(count)]
    parts = split_stops(stops)
    assert all(2 <= len(part) <= 27 for part in parts)
    assert [parts[0][0]] + [stop for part in parts for stop in part[1:]] == stops
    assert all(a[-1] == b[0] for a, b in pairwise(parts))


@given(
    rows=st.integers(1, 60),
    columns=st.integers(1, 60),
    block=st.tuples(st.integers(1, 30), st.integers(1, 30)),
)
def test_blocks_cover_a_table(rows: int, columns: int, block: tuple[int, int]) -> None:
    def part(some: Sequence[LatLng], ends: Sequence[LatLng]) -> Floats:
        assert len(some) <= block[0]
        assert len(ends) <= block[1]
        return np.array([[here.lat * 100 + there.lat for there in ends] for here in some])

    origins, destinations = ([LatLng(number, 0) for number in range(count)] for count in (rows, columns))
    whole = in_blocks(origins, destinations, block, part)
    assert whole.tolist() == [[row * 100 + column for column in range(columns)] for row in range(rows)]


def test_addresses_are_looked_for_in_the_district(google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
    london = city_settings("london")
    assert isinstance(london, GoogleCity)
    city = open_google("london", "London", london.center, NEW, google.http, london)
    asked: list[Call] = []
    send = google.http.request

    def watched(call: Call) -> Request:
        asked.append(call)
        return send(call)

    monkeypatch.setattr(google.http, "request", watched)
    with pytest.raises(NotFound, match=r"Google found .* km outside of the city"):
        city.maps.geocode("97 Cross Avenue")  # there is one, in Virlton
    south_west, north_east = (
        LatLng(*map(float, corner.split(","))) for corner in asked[0].query["bounds"].split("|")
    )
    for corner in london.polygon:
        assert south_west.lat <= corner.lat <= north_east.lat
        assert south_west.lng <= corner.lng <= north_east.lng
