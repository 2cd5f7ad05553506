"""Replies of every JSON service with one odd part each, from a stated seed.

Nothing crashes, no request is sent (and paid) twice, and an odd item of a list costs no other item.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from json import dumps, loads
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scripted_google import client
from scripted_service import Reply, ScriptedService

from virl.errors import VirlError
from virl.geo import LatLng
from virl.platform.providers.google.maps import GoogleMaps, geocode
from virl.platform.providers.google.nearby import Kinds
from virl.platform.providers.google.places_legacy import LegacyPlaces
from virl.platform.providers.google.places_new import NewPlaces
from virl.platform.providers.google.polyline import encode_polyline
from virl.platform.providers.google.static import nearest_of
from virl.platform.providers.google.tiles import PanoramaTiles
from virl.platform.providers.google.ways_legacy import LegacyWays
from virl.platform.providers.google.ways_new import RoutesApi
from virl.platform.providers.http.keeping import Keeping
from virl.platform.providers.http.settings import Retries
from virl.platform.providers.open.osrm import OsrmWays
from virl.platform.providers.open.overpass.source import OverpassPlaces
from virl.platform.providers.open.valhalla import ValhallaWays
from virl.platform.providers.osm.box import Box
from virl.platform.providers.osm.nominatim import Nominatim
from virl.platform.providers.osm.server import MapServiceSettings, ServiceName, load_open_maps
from virl.platform.transit import Journey

SEED, MUTATIONS = 45, 200
ODD = (None, "odd", "", -1, 1.5, 2**70, True, [], {}, ["odd"], {"odd": 1}, [None])
HERE, THERE, BEYOND = LatLng(1.0, 2.0), LatLng(1.001, 2.0), LatLng(1.001, 2.002)
LINE = encode_polyline([HERE, THERE])
BOX = Box(0.9, 1.9, 1.1, 2.1)
TEXT = {"text": "Fine", "languageCode": "en"}
NEW_PLACES = [
    {
        "id": f"place-{number}",
        "displayName": {"text": f"Place {number}"},
        "types": ["cafe", "food"],
        "primaryType": "cafe",
        "location": {"latitude": 1.0, "longitude": 2.0},
        "rating": 4.5,
        "userRatingCount": 12,
        "priceLevel": "PRICE_LEVEL_MODERATE",
        "priceRange": {"startPrice": {"currencyCode": "EUR", "units": "10"}},
        "regularOpeningHours": {
            "periods": [{"open": {"day": 1, "hour": 9}, "close": {"day": 1, "hour": 17}}]
        },
        "reviews": [{"rating": 5, "text": TEXT, "authorAttribution": {"displayName": "A"}}],
        "accessibilityOptions": {"wheelchairAccessibleEntrance": True},
    }
    for number in range(4)
]
OLD_PLACES = [
    {
        "place_id": f"place-{number}",
        "name": f"Place {number}",
        "types": ["cafe", "food"],
        "geometry": {"location": {"lat": 1.0, "lng": 2.0}, "viewport": {}},
        "rating": 4.5,
        "user_ratings_total": 12,
        "price_level": 2,
        "photos": [{"photo_reference": "x", "fprint": 14970958066519606553}],
        "opening_hours": {
            "periods": [{"open": {"day": 1, "time": "0900"}, "close": {"day": 1, "time": "1700"}}]
        },
    }
    for number in range(4)
]
REVIEWS = [{"rating": number, "text": {"text": f"Review {number}"}} for number in range(1, 5)]
CELL = {"status": "OK", "duration": {"value": 60}, "distance": {"value": 80}}
RIDE = {
    "stopDetails": {"departureTime": "2026-11-24T09:00:00Z"},
    "transitLine": {"name": "1"},
    "headsign": "North",
}
STEP = {"polyline": {"encodedPolyline": LINE}, "distanceMeters": 111, "staticDuration": "80s"}
WAY = {"distanceMeters": 111, "duration": "80s", "polyline": {"encodedPolyline": LINE}}
OLD_STEP = {"polyline": {"points": LINE}, "distance": {"value": 111}, "duration": {"value": 80}}
OLD_LEG = {"distance": {"value": 111}, "duration": {"value": 80}, "steps": [OLD_STEP, OLD_STEP]}
OSRM_STEP = {"geometry": {"coordinates": [[2.0, 1.0], [2.0, 1.001]]}, "name": "Long Street"}
OSRM_LEG = {"distance": 111.0, "duration": 80.0, "steps": [OSRM_STEP]}
LEG = {
    "summary": {"time": 80.0, "length": 0.111},
    "shape": encode_polyline([HERE, THERE], 6),
    "maneuvers": [{"street_names": ["Long Street"], "begin_shape_index": 0, "end_shape_index": 1}],
}
ELEMENTS = [
    {
        "type": "node",
        "id": number,
        "lat": 1.0 + number / 100,
        "lon": 2.0,
        "tags": {"shop": "bakery", "name": "B"},
    }
    for number in range(4)
]
MATCH = {
    "lat": "1.0",
    "lon": "2.0",
    "boundingbox": ["1", "1", "2", "2"],
    "name": "N",
    "address": {"road": "R"},
}
MATCHES = [MATCH | {"display_name": f"Place {number}"} for number in range(4)]
CAPTURE = {
    "panoId": "p",
    "lat": 1.0,
    "lng": 2.0,
    "heading": 10.0,
    "imageWidth": 64,
    "imageHeight": 32,
    "tileWidth": 64,
    "links": [{"panoId": f"pano-{number}", "heading": 90.0 * number} for number in range(4)],
}
Items = Sequence[object]


@dataclass(frozen=True)
class Case:
    """A reply, what a client makes of it, and where the list of its items is."""

    reply: Any
    ask: Callable[[str], Items]
    items: tuple[Any, ...] | None = None
    by_place: bool = False
    """Whether the place of an item in its list says what it is."""


def quick(name: ServiceName) -> MapServiceSettings:
    short = Retries(further=4, first_wait=0.0, longest_wait=0.1)
    return load_open_maps().of(name).model_copy(update={"retries": short})


def ids(places: Sequence[Any]) -> Items:
    return [place.id for place in places]


def numbered(seconds: Sequence[float]) -> Items:
    return list(enumerate(map(float, seconds)))


def routed(ways: Any) -> Items:
    return [ways.route([HERE, THERE]).path]


def rode(ways: Any) -> Items:
    journey: Journey = GoogleMaps(None, None, ways, None).journey(HERE, THERE, 0, 540)  # type: ignore[arg-type]
    return [journey.words]


CASES = {
    "Places nearby": Case(
        {"places": NEW_PLACES},
        lambda url: ids(NewPlaces(client(url)).within(HERE, 500, Kinds(in_full=True)).places),
        ("places",),
    ),
    "Places text": Case(
        {"places": NEW_PLACES}, lambda url: ids(NewPlaces(client(url)).matching("x", HERE)), ("places",)
    ),
    "Places details": Case(
        NEW_PLACES[0] | {"reviews": REVIEWS},
        lambda url: [one.text for one in NewPlaces(client(url)).place("place-0").reviews],
        ("reviews",),
    ),
    "legacy Places nearby": Case(
        {"status": "OK", "results": OLD_PLACES},
        lambda url: ids(LegacyPlaces(client(url), page_wait=0).within(HERE, 500, Kinds()).places),
        ("results",),
    ),
    "legacy Places details": Case(
        {
            "status": "OK",
            "result": OLD_PLACES[0] | {"reviews": [{"rating": n, "text": f"R {n}"} for n in (1, 2, 3)]},
        },
        lambda url: [one.text for one in LegacyPlaces(client(url)).place("place-0").reviews],
        ("result", "reviews"),
    ),
    "Geocoding": Case(
        {
            "status": "OK",
            "results": [{"geometry": {"location": {"lat": 1, "lng": 2}}, "formatted_address": "A"}] * 2,
        },
        lambda url: [geocode(client(url), "A")],
    ),
    "Street View metadata": Case(
        {
            "status": "OK",
            "pano_id": "p",
            "location": {"lat": 1, "lng": 2},
            "date": "2026-01",
            "copyright": "G",
        },
        lambda url: [nearest_of(client(url), HERE, 50, outdoor=True)],
    ),
    "Map Tiles metadata": Case(
        CAPTURE, lambda url: [one for one, _ in PanoramaTiles(client(url)).capture("p").links], ("links",)
    ),
    "Map Tiles panoIds": Case(
        {"panoIds": ["a", "b", "c"]},
        lambda url: list(enumerate(PanoramaTiles(client(url)).pano_ids([HERE, THERE, BEYOND], 50))),
        ("panoIds",),
        by_place=True,
    ),
    "Routes": Case(
        {"routes": [WAY | {"legs": [{"steps": [STEP, STEP]}]}]},
        lambda url: routed(GoogleMaps(client(url), None, RoutesApi(client(url)), None)),
    ),
    "Routes legs": Case(
        {"routes": [{"legs": [{"duration": "80s"}] * 3}]},
        lambda url: numbered(RoutesApi(client(url)).legs([HERE, THERE, HERE, THERE], "WALK")),
    ),
    "Routes by public transport": Case(
        {"routes": [{"duration": "80s", "legs": [{"steps": [STEP, STEP | {"transitDetails": RIDE}, STEP]}]}]},
        lambda url: rode(RoutesApi(client(url))),
    ),
    "Routes matrix": Case(
        [
            {"originIndex": 0, "destinationIndex": number, "condition": "ROUTE_EXISTS", "duration": "80s"}
            for number in range(3)
        ],
        lambda url: numbered(RoutesApi(client(url)).times([HERE], [HERE, THERE, BEYOND], "WALK")[0]),
        (),
        by_place=True,
    ),
    "legacy Directions": Case(
        {"status": "OK", "routes": [{"legs": [OLD_LEG]}]},
        lambda url: routed(GoogleMaps(client(url), None, LegacyWays(client(url)), None)),
    ),
    "legacy matrix": Case(
        {"status": "OK", "rows": [{"elements": [CELL] * 3}]},
        lambda url: numbered(LegacyWays(client(url)).times([HERE], [HERE, THERE, BEYOND], "walking")[0]),
        ("rows", 0, "elements"),
        by_place=True,
    ),
    "OSRM route": Case(
        {"code": "Ok", "routes": [{"legs": [OSRM_LEG]}]},
        lambda url: routed(OsrmWays(quick("osrm"), Keeping(), url)),
    ),
    "OSRM table": Case(
        {
            "code": "Ok",
            "durations": [[10.0, 20.0, 30.0]],
            "sources": [{}],
            "destinations": [{"distance": 1.0}] * 3,
        },
        lambda url: numbered(
            OsrmWays(quick("osrm"), Keeping(), url).travel_times([BEYOND], [HERE, THERE, HERE])[0]
        ),
        ("durations", 0),
        by_place=True,
    ),
    "Valhalla route": Case(
        {"trip": {"legs": [LEG], "units": "kilometers"}},
        lambda url: routed(ValhallaWays(quick("valhalla"), Keeping(), url)),
    ),
    "Valhalla matrix": Case(
        {"sources_to_targets": [[{"time": 10, "distance": 1.0}] * 3]},
        lambda url: numbered(
            ValhallaWays(quick("valhalla"), Keeping(), url).travel_times([HERE], [HERE, THERE, BEYOND])[0]
        ),
        ("sources_to_targets", 0),
        by_place=True,
    ),
    "Overpass": Case(
        {"elements": ELEMENTS, "version": 0.6},
        lambda url: [
            found.place.id for found in OverpassPlaces(quick("overpass"), Keeping(), url).within(BOX)
        ],
        ("elements",),
    ),
    "Nominatim search": Case(
        MATCHES,
        lambda url: [
            one.display_name for one in Nominatim(quick("nominatim"), Keeping(), url=url).search({"q": "x"})
        ],
        (),
    ),
    "Nominatim reverse": Case(
        MATCHES[0], lambda url: [Nominatim(quick("nominatim"), Keeping(), url=url).nearest(HERE, 50)]
    ),
}


def paths(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the parts of a reply are, but for the reply itself."""
    for step, inner in (
        part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    ):
        yield (*path, step)
        yield from paths(inner, (*path, step))


def mutated(reply: Any, case: Case, rng: Random) -> tuple[Any, tuple[Any, ...], bool]:
    """A reply with one odd part; where that is, and whether it stands before what was there."""
    changed = loads(dumps(reply))
    path = rng.choice(list(paths(reply)))
    whole, odd = changed, rng.choice(ODD)
    for step in path[:-1]:
        whole = whole[step]
    done = rng.choice(("drop", "odd", "odd", "odd", "insert"))
    if isinstance(whole, dict) and done == "drop":
        del whole[path[-1]]
    elif isinstance(whole, list) and done == "insert" and not (case.by_place and path[:-1] == case.items):
        whole.insert(path[-1], odd)
        return changed, path, True
    else:
        whole[path[-1]] = odd
    return changed, path, False


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", CASES)
def test_an_odd_part_crashes_nothing_is_not_paid_twice_and_costs_no_other_item(name: str) -> None:
    case, rng, said = CASES[name], Random(f"{SEED} {name}"), [None]
    session = [Reply({"session": "s", "expiry": "9999999999"})]
    with ScriptedService({"/v1/createSession": session, "*": [lambda _: Reply(said[0])]}) as server:
        said[0] = case.reply
        whole = case.ask(server.url)
        usual = len(server.asked)
        assert whole
        for number in range(MUTATIONS):
            server.asked.clear()
            said[0], path, inserted = mutated(case.reply, case, rng)
            what = f"mutation {number} at {path}: {said[0]}"
            depth = len(case.items or ())
            within = case.items is not None and path[:depth] == case.items and len(path) > depth
            try:
                found = list(case.ask(server.url))
            except VirlError:
                assert not within, what
                continue
            finally:
                assert len(server.asked) <= usual, what
            if within:
                spoilt = None if inserted and len(path) == depth + 1 else path[depth]
                kept = [one for at, one in enumerate(whole) if at != spoilt]
                assert all(one in found for one in kept), what
