"""How many requests a nearby question costs on dense streets, and what its answer tells."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virl.geo import globe
from virl.geo.globe import LatLng, distance
from virl.platform.city.places import Place
from virl.platform.providers.google.city_file import NEARBY_REQUESTS
from virl.platform.providers.google.nearby import (
    MOST,
    NearbyResult,
    PlaceKinds,
    middle_of_square,
    places_around,
)

HERE = LatLng(40.75, -73.99)
FIRST, SECOND = frozenset({"cafe"}), frozenset({"bank"})


@dataclass
class Street:
    """Places as Places (New) tells them: the 20 nearest of a circle. A question that was asked is free."""

    places: list[Place]
    asked: set[tuple[LatLng, float, PlaceKinds]] = field(default_factory=set)
    tells_nearest: bool = True

    def places_within(self, center: LatLng, radius: float, kinds: PlaceKinds) -> NearbyResult:
        self.asked.add((center, radius, kinds))
        away = self.away(center)
        near = [
            index
            for index in np.flatnonzero(away <= radius)
            if (not kinds.only or kinds.only.intersection(self.places[index].types))
            and not kinds.but.intersection(self.places[index].types)
        ]
        near = sorted(near, key=lambda index: float(away[index]))[:MOST]
        complete = radius if len(near) < MOST else float(away[near[-1]])
        return NearbyResult([self.places[index] for index in near], complete)

    def away(self, center: LatLng) -> np.ndarray:
        """Metres from a position to each place."""
        lats, lngs = zip(*(one.position for one in self.places), strict=True)
        return globe.distances(center.lat, center.lng, lats, lngs)

    def halves(self, kinds: PlaceKinds) -> tuple[PlaceKinds, ...]:
        return () if kinds.only else (PlaceKinds(only=FIRST), PlaceKinds(but=FIRST))


def street(within_200_m: int) -> Street:
    """So many places within 200 m of here, evenly spread over 600 m."""
    return Street(places(within_200_m))


@cache
def places(within_200_m: int) -> list[Place]:
    rng = np.random.default_rng(0)
    count = within_200_m * 9
    away, toward = 600 * np.sqrt(rng.random(count)), rng.uniform(0, 360, count)
    kinds = rng.choice(["cafe", "bank", "premise"], count, p=[0.45, 0.45, 0.1])
    spots = zip(away, toward, kinds, strict=True)
    return [
        Place(str(i), "", (str(kind),), globe.destination(HERE, float(degrees), float(metres)))
        for i, (metres, degrees, kind) in enumerate(spots)
    ]


def asked(
    of: Street, at: LatLng, radius: float, need: float | None = None, requests: int = NEARBY_REQUESTS
) -> tuple[set[str], float, int]:
    """Ids within the radius, metres to which they are whole, and how many requests it took."""
    before = len(of.asked)
    told = places_around(of, at, radius, PlaceKinds(), need=need or radius, requests=requests)
    near = {one.id for one in told.places if distance(at, one.position) <= radius}
    return near, told.complete, len(of.asked) - before


@pytest.mark.slow
@settings(max_examples=60)
@given(
    density=st.sampled_from([5, 30, 100, 300, 600]),
    radii=st.lists(st.floats(5, 400), min_size=2, max_size=5),
    turn=st.floats(0, 360),
    away=st.floats(0, 100),
)
def test_a_wider_circle_never_has_fewer_places(
    density: int, radii: list[float], turn: float, away: float
) -> None:
    of, at = street(density), globe.destination(HERE, turn, away)
    found: set[str] = set()
    for radius in sorted(radii):
        wider, complete, requests = asked(of, at, radius)
        assert wider >= found
        assert requests <= NEARBY_REQUESTS
        true = {of.places[index].id for index in np.flatnonzero(of.away(at) <= min(complete, radius) - 1e-6)}
        assert wider >= true, "whole to where it says"
        found = wider


@pytest.mark.slow
@pytest.mark.parametrize("density", [100, 300, 600])
def test_one_place_more_costs_at_most_three_requests_more(density: int) -> None:
    costs = [asked(street(density), HERE, radius)[2] for radius in range(10, 210, 5)]
    assert max(np.diff(costs)) <= 3
    assert max(costs) <= NEARBY_REQUESTS


@pytest.mark.parametrize("radius", [30.0, 40.0, 100.0, 200.0])
def test_the_twenty_first_place_costs_at_most_three_requests(radius: float) -> None:
    rng = np.random.default_rng(1)
    spots = zip(rng.uniform(0, radius, 21), rng.uniform(0, 360, 21), strict=True)
    all_of_it = [
        Place(str(i), "", (("cafe", "bank")[i % 2],), globe.destination(HERE, float(turn), float(metres)))
        for i, (metres, turn) in enumerate(spots)
    ]
    twenty, *_, before = asked(Street(all_of_it[:20]), HERE, radius)
    more, *_, after = asked(Street(all_of_it), HERE, radius)
    assert len(twenty) <= len(more)
    assert after - before <= 3


@pytest.mark.slow
def test_a_square_of_dense_streets_is_shared_by_those_who_stand_in_it() -> None:
    of = street(300)
    walk = [globe.destination(HERE, 90.0, 10.0 * step) for step in range(10)]
    requests = [asked(of, at, 200.0, need=20.0) for at in walk]
    assert all(complete >= 20.0 for _, complete, _ in requests)
    assert sum(count for *_, count in requests) <= 8, "not one for each stand"


def test_who_needs_little_of_a_dense_street_asks_about_a_square_that_fits() -> None:
    walk = [globe.destination(HERE, 90.0, 20.0 * step) for step in range(12)]
    of = street(250)
    requests = [asked(of, at, 200.0, need=30.0) for at in walk]
    assert all(complete >= 30.0 for _, complete, _ in requests)
    assert sum(count for *_, count in requests) <= 12, "18 where a square of 80 m was asked about first"


def test_neighbours_share_what_is_known() -> None:
    of = street(100)
    walk = [globe.destination(HERE, 90.0, 10.0 * step) for step in range(20)]
    requests = sum(asked(of, at, 200.0, need=20.0)[2] for at in walk)
    assert requests <= 8, "one for each 80 m, and few more"


def test_more_requests_tell_all() -> None:
    found, complete, requests = asked(street(300), HERE, 100.0, requests=60)
    assert complete == 100.0
    assert NEARBY_REQUESTS < requests <= 60
    assert len(found) > 3 * MOST


@given(lat=st.floats(-80, 80), lng=st.floats(-179, 179))
def test_a_position_is_in_its_square(lat: float, lng: float) -> None:
    at = LatLng(lat, lng)
    assert distance(at, middle_of_square(at, 80.0)) <= 80.0 * 0.71 + 1
