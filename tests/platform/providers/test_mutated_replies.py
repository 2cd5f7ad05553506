"""Replies of every JSON service with one odd part each, from a stated seed.

Nothing crashes, no request is sent (and paid) twice, and an odd item of a list costs no other item.
`make soak SEED=7 MUTATIONS=1000` mutates each reply so often; CI deals 200 mutations a kind over its replies.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from json import dumps, loads
from pathlib import Path
from random import Random
from typing import Any

import pytest
from reply_shapes import BEYOND, HERE, REPLIES, THERE
from scripted_google import client
from scripted_service import Reply, ScriptedService
from shapely import box

from virl.errors import VirlError
from virl.osm.box import Box
from virl.platform.city.maps import Journey
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.maps import GoogleMaps, geocode
from virl.platform.providers.google.nearby import PlaceKinds
from virl.platform.providers.google.places_legacy import LegacyPlaces
from virl.platform.providers.google.places_new import NewPlaces
from virl.platform.providers.google.static import nearest_of
from virl.platform.providers.google.tiles import PanoramaTiles
from virl.platform.providers.google.ways_legacy import LegacyWays
from virl.platform.providers.google.ways_new import RoutesApi
from virl.platform.providers.http.keys import ApiKey
from virl.platform.providers.http.nominatim import Nominatim
from virl.platform.providers.http.osm_servers import MapServiceSettings, ServiceName, load_open_maps
from virl.platform.providers.http.service import Pace
from virl.platform.providers.http.settings import Retries
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.open.cells import cell_at
from virl.platform.providers.open.osrm import OsrmWays
from virl.platform.providers.open.overpass import OverpassPlaces
from virl.platform.providers.open.shots import open_pictures, picture_settings
from virl.platform.providers.open.valhalla import ValhallaWays
from virl.platform.providers.provider import Access
from virl.platform.providers.rentcast.client import (
    KEY_HEADER,
    KEY_VARIABLE,
    RentCastHttp,
    load_rentcast_settings,
)
from virl.platform.providers.rentcast.listings import RentCastListings

SEED, MUTATIONS = 45, 200
ODD: tuple[Any, ...] = (
    None,
    "odd",
    "",
    -1,
    1.5,
    2**70,
    True,
    [],
    {},
    ["odd"],
    {"odd": 1},
    [None],
    1e300,
    "9" * 400,
)
BOX = Box(0.9, 1.9, 1.1, 2.1)
CAMERA = ("properties", "pers:interior_orientation")
RETRIES = Retries(further=4, first_wait=0.0, longest_wait=0.1)
Items = Sequence[object]


@dataclass(frozen=True)
class Case:
    """What a client makes of a kind of reply, and where the list of its items is."""

    ask: Callable[[str], Items]
    items: tuple[Any, ...] | None = None
    by_place: bool = False
    """Whether the place of an item in its list says what it is."""
    further: int = 0
    """Requests that an odd part may add, such as one for the list of another sequence."""


def quick(name: ServiceName) -> MapServiceSettings:
    return load_open_maps().of(name).model_copy(update={"retries": RETRIES})


def numbered(seconds: Sequence[float]) -> Items:
    return list(enumerate(map(float, seconds)))


def routed(ways: Any) -> Items:
    return [ways.route([HERE, THERE]).path]


def rode(ways: Any) -> Items:
    journey: Journey = GoogleMaps(None, None, ways, None).journey(HERE, THERE, 0, 540)  # type: ignore[arg-type]
    return [journey.words]


def homes(url: str) -> Items:
    settings = load_rentcast_settings().model_copy(update={"base_url": url, "retries": RETRIES})
    key, pace = ApiKey("a-key-of-letters", KEY_VARIABLE, KEY_HEADER), Pace(sleep=lambda _: None)
    with RentCastHttp(settings, key, pace=pace) as http:
        return RentCastListings(http).rentals(box(BOX.west, BOX.south, BOX.east, BOX.north), (0.0, 10_000.0))


def pictures(name: str, url: str) -> Items:
    settings = picture_settings(name, url).model_copy(update={"retries": RETRIES})
    pictures, service = open_pictures(name, settings, Access())
    try:
        return pictures.shots(cell_at(HERE)) or ()
    finally:
        service.close()


CASES = {
    "Places nearby": Case(
        lambda url: NewPlaces(client(url)).places_within(HERE, 500, PlaceKinds(in_full=True)).places,
        ("places",),
    ),
    "Places text": Case(lambda url: NewPlaces(client(url)).search_text("x", HERE), ("places",)),
    "Places details": Case(lambda url: NewPlaces(client(url)).place("place-0").reviews, ("reviews",)),
    "legacy Places nearby": Case(
        lambda url: (
            LegacyPlaces(client(url), GoogleOptions(page_wait=0.0))
            .places_within(HERE, 500, PlaceKinds())
            .places
        ),
        ("results",),
    ),
    "legacy Places details": Case(
        lambda url: LegacyPlaces(client(url)).place("place-0").reviews,
        ("result", "reviews"),
    ),
    "Geocoding": Case(lambda url: [geocode(client(url), "A")]),
    "Street View metadata": Case(lambda url: [nearest_of(client(url), HERE, 50, outdoor=True)]),
    "Map Tiles metadata": Case(lambda url: PanoramaTiles(client(url)).capture("p").links, ("links",)),
    "Map Tiles panoIds": Case(
        lambda url: list(enumerate(PanoramaTiles(client(url)).pano_ids([HERE, THERE, BEYOND], 50))),
        ("panoIds",),
        by_place=True,
    ),
    "Routes": Case(lambda url: routed(GoogleMaps(client(url), None, RoutesApi(client(url)), None))),
    "Routes legs": Case(
        lambda url: numbered(RoutesApi(client(url)).legs([HERE, THERE, HERE, THERE], "WALK"))
    ),
    "Routes by public transport": Case(lambda url: rode(RoutesApi(client(url)))),
    "Routes matrix": Case(
        lambda url: numbered(RoutesApi(client(url)).times([HERE], [HERE, THERE, BEYOND], "WALK")[0]),
        (),
        by_place=True,
    ),
    "legacy Directions": Case(
        lambda url: routed(GoogleMaps(client(url), None, LegacyWays(client(url)), None))
    ),
    "legacy Directions by public transport": Case(lambda url: rode(LegacyWays(client(url)))),
    "legacy matrix": Case(
        lambda url: numbered(LegacyWays(client(url)).times([HERE], [HERE, THERE, BEYOND], "walking")[0]),
        ("rows", 0, "elements"),
        by_place=True,
    ),
    "OSRM route": Case(lambda url: routed(OsrmWays(quick("osrm"), Keeping(), url))),
    "OSRM table": Case(
        lambda url: numbered(
            OsrmWays(quick("osrm"), Keeping(), url).travel_times([BEYOND], [HERE, THERE, HERE])[0]
        ),
        ("durations", 0),
        by_place=True,
    ),
    "Valhalla route": Case(lambda url: routed(ValhallaWays(quick("valhalla"), Keeping(), url))),
    "Valhalla matrix": Case(
        lambda url: numbered(
            ValhallaWays(quick("valhalla"), Keeping(), url).travel_times([HERE], [HERE, THERE, BEYOND])[0]
        ),
        ("sources_to_targets", 0),
        by_place=True,
    ),
    "Overpass": Case(
        lambda url: OverpassPlaces(quick("overpass"), Keeping(), url).places_within(BOX),
        ("elements",),
    ),
    "Nominatim search": Case(
        lambda url: Nominatim(quick("nominatim"), Keeping(), url=url).search({"q": "x"}),
        (),
    ),
    "Nominatim reverse": Case(
        lambda url: [Nominatim(quick("nominatim"), Keeping(), url=url).nearest(HERE, 50)]
    ),
    "RentCast": Case(homes, ()),
    "Panoramax": Case(partial(pictures, "panoramax"), ("features",)),
    "Mapillary": Case(partial(pictures, "mapillary"), ("data",), further=1),
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
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MAPILLARY_ACCESS_TOKEN", "MLY|1234567890|of-nobody")


def check(name: str, reply: Any, mutations: int, rng: Random) -> None:
    """Ask for a reply as it is, and then with one odd part at a time."""
    case, said = CASES[name], [reply]
    session = [Reply({"session": "s", "expiry": "9999999999"})]
    with ScriptedService({"/v1/createSession": session, "*": [lambda _: Reply(said[0])]}) as server:
        whole = case.ask(server.url)
        most = len(server.asked) + case.further
        assert whole
        for number in range(mutations):
            server.asked.clear()
            said[0], path, inserted = mutated(reply, case, rng)
            what = f"mutation {number} at {path}: {said[0]}"
            depth = len(case.items or ())
            within = case.items is not None and path[:depth] == case.items and len(path) > depth
            try:
                found = list(case.ask(server.url))
            except VirlError:
                assert not within, what
                continue
            finally:
                assert len(server.asked) <= most, what
            if within:
                spoilt = None if inserted and len(path) == depth + 1 else path[depth]
                kept = [one for at, one in enumerate(whole) if at != spoilt]
                assert all(one in found for one in kept), what


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", CASES)
def test_an_odd_part_crashes_nothing_is_not_paid_twice_and_costs_no_other_item(name: str) -> None:
    rng, replies = Random(f"{SEED} {name}"), REPLIES[name]
    shares = [len(range(first, MUTATIONS, len(replies))) for first in range(len(replies))]
    for reply, mutations in zip(replies, shares, strict=True):
        check(name, reply, mutations, rng)


@pytest.mark.parametrize(
    ("name", "number", "path", "odd"),
    [
        ("Places nearby", 0, ("places", 1, "priceRange", "startPrice", "units"), "9" * 400),
        ("Panoramax", 1, ("features", 1, *CAMERA, "visible_area", 1), "9" * 400),
        ("Mapillary", 1, ("data", 0, "computed_rotation", 1), 1e300),
        ("Mapillary", 1, ("data", 0, "width"), "9" * 400),
        ("Mapillary", 1, ("data", 0, "width"), None),
    ],
)
def test_a_part_that_once_crashed_costs_no_item(
    name: str, number: int, path: tuple[Any, ...], odd: object
) -> None:
    whole = changed = loads(dumps(REPLIES[name][number]))
    for step in path[:-1]:
        whole = whole[step]
    whole[path[-1]] = odd
    with ScriptedService({"*": [Reply(changed)]}) as server:
        assert len(CASES[name].ask(server.url)) == len(changed[path[0]])


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name in CASES for number in range(len(REPLIES[name]))]
)
def test_every_reply_with_many_odd_parts(name: str, number: int) -> None:
    seed = os.environ.get("SOAK_SEED") or SEED
    mutations = int(os.environ.get("SOAK_MUTATIONS") or MUTATIONS)
    check(name, REPLIES[name][number], mutations, Random(f"{seed} {name} {number}"))
