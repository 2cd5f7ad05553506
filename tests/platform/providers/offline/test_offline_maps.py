import itertools

import numpy as np
import pytest

from virl.errors import BadInput, NoRoute, NotFound
from virl.geo.globe import LatLng, destination, distance
from virl.platform.city.maps import SPEED_M_S
from virl.platform.providers.offline.city import OfflineMaps
from virl.towns.plan.layout import lay_out
from virl.towns.plan.town_plan import StreetPlan
from virl.towns.streetview import panorama_graph

CAFE = LatLng(41.2511, -38.7523)


@pytest.fixture(scope="module")
def plan() -> StreetPlan:
    return lay_out(0)


@pytest.fixture(scope="module")
def maps(plan: StreetPlan) -> OfflineMaps:
    named = {"Café L'Étoile": CAFE, "麺屋 光": destination(CAFE, 90, 20)}
    return OfflineMaps(plan, panorama_graph(plan), named)


def doors(plan: StreetPlan, count: int) -> list[tuple[str, LatLng]]:
    """Some addresses over the whole city, with the middle of their front."""
    chosen = plan.frontages[:: len(plan.frontages) // count]
    middles = [np.add(front.left, front.right) / 2 for front in chosen]
    return [
        (f"{front.number} {plan.streets[front.street].name}", plan.frame.position(*middle.tolist()))
        for front, middle in zip(chosen, middles, strict=True)
    ]


@pytest.mark.slow
def test_every_door_is_found_by_its_address(plan: StreetPlan, maps: OfflineMaps) -> None:
    for address, position in doors(plan, 150):
        assert distance(maps.geocode(address), position) < 0.01
        assert distance(maps.geocode(f"{address}, Virlton"), position) < 0.01


@pytest.mark.slow
def test_spelling_is_forgiven(plan: StreetPlan, maps: OfflineMaps) -> None:
    by_ending = {address.rsplit(" ", 1)[1]: (address, where) for address, where in doors(plan, 400)}
    short = {"Street": "st.", "Road": "RD", "Lane": "Ln", "Avenue": "Ave.", "Boulevard": "blvd"}
    assert {"Street", "Road", "Lane"} <= set(by_ending)
    for ending, (address, position) in by_ending.items():
        brief = address.rsplit(" ", 1)[0] + " " + short.get(ending, ending)
        for spelling in (address.upper(), f"  {address.lower()}  ", brief, brief.replace(" ", "  ", 1)):
            assert distance(maps.geocode(spelling), position) < 0.01


@pytest.mark.parametrize(
    "name", ["Café L'Étoile", "cafe l'etoile", "CAFÉ L\u2019ÉTOILE", "Café L'Étoile, Virlton"]
)
def test_places_are_found_by_name(maps: OfflineMaps, name: str) -> None:
    assert maps.geocode(name) == CAFE


def test_names_in_other_scripts_are_found(maps: OfflineMaps) -> None:
    assert maps.geocode("麺屋 光") == destination(CAFE, 90, 20)


def test_a_crossing_is_where_two_streets_meet(plan: StreetPlan, maps: OfflineMaps) -> None:
    by_junction: dict[int, set[str]] = {}
    for street in plan.streets:
        for end in (street.start, street.end):
            by_junction.setdefault(end, set()).add(street.name)
    junction, names = next((end, names) for end, names in by_junction.items() if len(names) == 2)
    for order in itertools.permutations(sorted(names)):
        found = plan.frame.point(maps.geocode(" & ".join(order)))
        others = [end for end, there in by_junction.items() if names <= there]
        assert junction in others
        assert min(np.hypot(*(plan.junctions[end] - found)) for end in others) < 0.01


def test_a_street_is_found_on_itself(plan: StreetPlan, maps: OfflineMaps) -> None:
    for name in {street.name for street in plan.streets}:
        point = np.array(plan.frame.point(maps.geocode(name)))
        mine = np.concatenate([street.line for street in plan.streets if street.name == name])
        assert np.hypot(*(mine - point).T).min() < 30


@pytest.mark.parametrize("address", ["", ",", "12", "12 Nowhere Street", "Nowhere & Elsewhere", "@@@"])
def test_what_is_not_there_is_not_found(maps: OfflineMaps, address: str) -> None:
    with pytest.raises(NotFound, match="no address or place matches") as fault:
        maps.geocode(address)
    example = str(fault.value).split("'")[-2]
    assert maps.geocode(example)


def test_a_house_number_that_is_not_there_is_not_found(plan: StreetPlan, maps: OfflineMaps) -> None:
    name = plan.streets[plan.frontages[0].street].name
    last = max(front.number for front in plan.frontages if plan.streets[front.street].name == name)
    with pytest.raises(NotFound, match=f"{name} has no number 9999: its numbers end at {last}"):
        maps.geocode(f"9999 {name}")


def test_a_route_follows_the_links(plan: StreetPlan, maps: OfflineMaps) -> None:
    (_, start), (_, end) = doors(plan, 5)[1:3]
    route = maps.route([start, end])
    assert (route.path[0], route.path[-1]) == (start, end)
    graph = panorama_graph(plan)
    nodes = [graph.nearest(position)[0] for position in route.path[1:-1]]
    assert [graph.position(node) for node in nodes] == list(route.path[1:-1])
    assert all(there in graph.target[graph.links(here)] for here, there in itertools.pairwise(nodes))
    assert nodes[0] == graph.nearest(start)[0]
    assert nodes[-1] == graph.nearest(end)[0]
    assert route.distance == pytest.approx(sum(distance(*step) for step in itertools.pairwise(route.path)))
    assert distance(start, end) < route.distance < 2 * distance(start, end)


@pytest.mark.parametrize("mode", ["walking", "cycling", "driving"])
def test_time_is_distance_over_speed(plan: StreetPlan, maps: OfflineMaps, mode: str) -> None:
    stops = [position for _, position in doors(plan, 4)]
    route = maps.route(stops, mode)
    assert route.duration == pytest.approx(route.distance / SPEED_M_S[mode])
    times = maps.travel_times(stops, stops, mode)
    assert sum(times[i, i + 1] for i in range(len(stops) - 1)) == pytest.approx(route.duration)


def test_a_route_calls_at_its_stops_in_order(plan: StreetPlan, maps: OfflineMaps) -> None:
    stops = [position for _, position in doors(plan, 6)]
    whole = maps.route(stops)
    legs = [maps.route(pair) for pair in itertools.pairwise(stops)]
    assert whole.distance == pytest.approx(sum(leg.distance for leg in legs))
    where = [whole.path.index(stop) for stop in stops]
    assert where == sorted(where)


def test_travel_times_agree_with_routes_and_go_both_ways(plan: StreetPlan, maps: OfflineMaps) -> None:
    stops = [position for _, position in doors(plan, 7)]
    stops.append(destination(stops[0], 45, 0.5))
    times = maps.travel_times(stops[:3], stops)
    assert times.shape == (3, len(stops))
    for i, j in itertools.product(range(3), range(len(stops))):
        assert times[i, j] == pytest.approx(maps.route([stops[i], stops[j]]).duration)
    np.testing.assert_allclose(maps.travel_times(stops, stops[:3]), times.T)
    assert times[0, 0] == 0.0
    assert times[0, -1] == pytest.approx(0.5 / SPEED_M_S["walking"], rel=1e-3)


def test_no_stops_give_no_times(plan: StreetPlan, maps: OfflineMaps) -> None:
    assert maps.travel_times([], [CAFE]).shape == (0, 1)
    assert maps.travel_times([CAFE], []).shape == (1, 0)


def test_stops_off_the_map_are_refused(plan: StreetPlan, maps: OfflineMaps) -> None:
    sea = LatLng(41.25, -38.70)
    with pytest.raises(NoRoute, match=r"41\.250000, -38\.700000 is off the map"):
        maps.route([CAFE, sea])
    assert np.isinf(maps.travel_times([CAFE, sea], [sea, CAFE])).tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("stops", [[], [CAFE]])
def test_a_route_needs_two_stops(maps: OfflineMaps, stops: list[LatLng]) -> None:
    with pytest.raises(BadInput, match="two or more stops"):
        maps.route(stops)


def test_an_unknown_mode_is_refused(maps: OfflineMaps) -> None:
    with pytest.raises(BadInput, match="flying"):
        maps.route([CAFE, CAFE], "flying")  # type: ignore[arg-type]
