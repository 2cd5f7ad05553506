"""Peng's score: errands all over town, and how much longer his order takes than the shortest one there is.

A case is drawn from a seed: a start, 4 to 12 addresses, how to travel and where to end; a quarter of them are
told in words instead of a list. The optimum is found apart from the agent's code: up to 8 stops by trying
every order, up to 12 by recursion over the stops left (Bellman 1962). A few cases have 13 to 25 stops; there
his order stands beside that of fast-tsp, a solver he does not use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise, permutations
from random import Random
from typing import Any, get_args

import fast_tsp
import numpy as np

from virl.bench.benchmark import Metric, Tally
from virl.bench.episode import Data, Record
from virl.geo.globe import Floats, LatLng
from virl.pages.numbers import short_number
from virl.platform.city.city import City
from virl.platform.city.maps import TravelMode

from .scoring import AgentCase, ScoredAgent, Tallies

SIZES = range(4, 13)
CASES = 40
MANY = (13, 14, 16, 18, 21, 25)
FORCED = 8
"""Most stops for which every order is tried; with more, recursion finds the optimum."""
ENDS = ("home", "open", "elsewhere")
TOLD_EVERY, WALKED_EVERY = 4, 3
"""Number of cases of which one is told in words, and (second number) of which one is walked."""
SEARCH_SECONDS = 1.0  # of fast-tsp: it was no better after ten
CHORES = (
    "pay the bill at",
    "return a drill to",
    "have a key cut at",
    "sign a form at",
    "fetch a parcel from",
    "deliver an invitation to",
    "look at the room at",
    "leave a note for the tenant of",
)
ENDINGS = {"home": " After that he goes back home.", "open": "", "elsewhere": ""}


@dataclass(frozen=True, slots=True)
class DrawnErrands:
    """The errands drawn for a case: start, addresses, way of travel and end."""

    start: LatLng
    stops: tuple[str, ...]
    mode: TravelMode
    end: str
    """Kind of end, one of `ENDS`."""
    last: str
    """Address at which the errands end; used only if `end` is `elsewhere`."""
    told: bool
    walked: bool


def cases(city: City, seed: int) -> list[str]:  # noqa: ARG001 - the same for every city and seed
    """Return the names of the cases, `peng-00` and so on; those with many stops come last."""
    return [f"peng-{number:02d}" for number in range(CASES + len(MANY))]


def run(case: AgentCase) -> dict[str, Any]:
    """Let Peng run a case's errands, and return the seconds of his order and of the shortest."""
    city, drawn = case.city, _draw_case(case)
    result = case.run("peng", _character_fields(drawn))
    order = [str(title) for title in result.answer["order"]]  # type: ignore[attr-defined]
    data = unanswered(case)
    if sorted(order) != sorted(drawn.stops) or not _end_is_read(drawn, result.answer["end"]):
        return data
    data["read"] = True
    seconds = _matrix(city, drawn)
    taken = _seconds_along(seconds, [drawn.stops.index(title) for title in order])
    if drawn.walked:
        data |= {"walked_m": result.distance_m, "route_m": result.answer["metres"]}
        data["reached"] = result.status == "finished"
    best = _least_seconds(seconds) if len(drawn.stops) <= max(SIZES) else _search_order(seconds)
    given = _seconds_along(seconds, range(len(drawn.stops)))
    return data | {"seconds": taken, "best_seconds": best, "given_seconds": given}


def unanswered(case: AgentCase) -> dict[str, Any]:
    """Return the data of a case whose errands were not read right."""
    drawn = _draw_case(case)
    return {
        "stops": len(drawn.stops),
        "mode": drawn.mode,
        "end": drawn.end,
        "told": drawn.told,
        "read": False,
    }


_ratio = partial(Metric, percent=False, digits=3)
METRICS = (
    _ratio("over_shortest", "time over the shortest", about="seconds divided by those of the shortest order"),
    _ratio("given_over_shortest", "order given over the shortest", about="the same, of the order given"),
    _ratio("over_fast_tsp", "time over fast-tsp's", about="seconds divided by those of fast-tsp's order"),
    _ratio(
        "given_over_fast_tsp", "order given over fast-tsp's", aside=True, about="the same, of the order given"
    ),
    _ratio("walked_over_route", "walked over the route", about="metres walked divided by those of the route"),
    Metric("told_read", "told and read right", about="tasks told in words that were read right"),
)
"""Ratios of seconds to the shortest order's and to fast-tsp's, of metres walked, and the share read right."""


def tallies(records: Sequence[Record]) -> Tallies:
    """Return the ratios of cases that were read right, and whether those told in words were."""
    few, many = _few_and_many(records)
    walked = [one for one in (*few, *many) if "walked_m" in one.data]
    return {
        "over_shortest": _ratios(few, "seconds", "best_seconds"),
        "given_over_shortest": _ratios(few, "given_seconds", "best_seconds"),
        "over_fast_tsp": _ratios(many, "seconds", "best_seconds"),
        "given_over_fast_tsp": _ratios(many, "given_seconds", "best_seconds"),
        "walked_over_route": _ratios(walked, "walked_m", "route_m"),
        "told_read": [Tally(one.case, float(one.data["read"])) for one in records if one.data["told"]],
    }


def notes(records: Sequence[Record]) -> list[str]:
    """Return a note on how many cases of each sort there are, and the target."""
    few, many = _few_and_many(records)
    walked = sum("walked_m" in one.data for one in records)
    told = sum(one.data["told"] for one in records)
    cases = f"{len(few)} with 4 to 12 stops, {len(many)} with 13 to 25, {walked} walked, {told} told in words"
    return [f"peng: cases: {cases}; target: 1.000 times the shortest"]


def outcome(data: Data) -> tuple[str, float | None]:
    """Return (words on the order against the shortest, shortest seconds / seconds of the order)."""
    if not data["read"]:
        return f"{data['stops']} stops, read wrong", 0.0
    ratio = data["best_seconds"] / data["seconds"] if data["seconds"] else 1.0
    return f"{data['stops']} stops, {short_number(100 / ratio)} % of the best time", min(1.0, ratio)


def _few_and_many(records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """Return the records read right: (those of up to 12 stops, those with more)."""
    read = [one for one in records if one.data["read"]]
    few = [one for one in read if one.data["stops"] <= max(SIZES)]
    return few, [one for one in read if one not in few]


def _ratios(records: Sequence[Record], above: str, below: str) -> list[Tally]:
    """Return a tally for each record: its value `above` divided by its value `below`."""
    return [Tally(one.case, float(one.data[above]) / float(one.data[below])) for one in records]


def _draw_case(case: AgentCase) -> DrawnErrands:
    """Return the errands of a case, drawn from its seed and name."""
    number = int(case.id.removeprefix("peng-"))
    return _draw_errands(case.city, Random(f"{case.seed} {case.id}"), number)


def _draw_errands(city: City, rng: Random, number: int) -> DrawnErrands:
    """Return errands drawn by `rng`; the case's number decides on stops, travel, end and wording."""
    count = SIZES[number % len(SIZES)] if number < CASES else MANY[number - CASES]
    start = city.streetview.panorama(rng.choice(city.panorama_ids)).position
    addresses = _addresses(city)
    *stops, last = rng.sample(addresses, count + 1)
    modes = get_args(TravelMode)
    return DrawnErrands(
        start,
        tuple(stops),
        modes[number % len(modes)],
        ENDS[number // 2 % len(ENDS)],
        last,
        told=number % TOLD_EVERY == 1,
        walked=number % WALKED_EVERY == 0 and number < CASES,
    )


@cache
def _addresses(city: City) -> list[str]:
    """Return every address with a house number of a place within 5 km of the centre, sorted."""
    found = {
        place.address.partition(",")[0] for place in city.places.nearby(city.center, 5000.0) if place.address
    }
    return sorted(address for address in found if any(map(str.isdigit, address)))


def _character_fields(case: DrawnErrands) -> dict[str, object]:
    """Return the fields that give Peng's character a case's errands, as a list or in words."""
    end = case.last if case.end == "elsewhere" else case.end
    errands: dict[str, object] = {"travel": case.mode, "walk": case.walked}
    if case.told:
        chores = [f"{CHORES[number % len(CHORES)]} {stop}" for number, stop in enumerate(case.stops)]
        errands["text"] = f"Peng has to {', '.join(chores[:-1])} and {chores[-1]}." + ENDINGS[case.end]
        errands |= {"end": end} if case.end == "elsewhere" else {}
    else:
        errands |= {"stops": list(case.stops), "end": end}
    return {
        "start": {"lat": case.start.lat, "lng": case.start.lng},
        "errands": errands,
        "limits": {"steps": 5000},
    }


def _end_is_read(case: DrawnErrands, end: object) -> bool:
    """Return whether the end that Peng read is the case's: "the start", `None` or an address."""
    return end == {"home": "the start", "open": None, "elsewhere": case.last}[case.end]


def _matrix(city: City, case: DrawnErrands) -> Floats:
    """Return the seconds between the start (first), the stops, and the end (last), as a walk has them.

    The way to the end is 0 from everywhere where it is open.
    """
    where = [case.start, *(city.maps.geocode(stop) for stop in case.stops)]
    where.append(city.maps.geocode(case.last) if case.end == "elsewhere" else case.start)
    stands = [panorama.position for one in where if (panorama := city.streetview.nearest(one, 800.0))]
    seconds: Floats = city.maps.travel_times(stands, stands, case.mode)
    if case.end == "open":
        seconds[:, -1] = 0.0
    return seconds


def _seconds_along(seconds: Floats, order: Sequence[int]) -> float:
    """Return the seconds along stops, numbered from 0, from the start (first row) to the end (last)."""
    way = [0, *(stop + 1 for stop in order), len(seconds) - 1]
    return sum(float(seconds[here, there]) for here, there in pairwise(way))


def _least_seconds(seconds: Floats) -> float:
    """Return the least seconds of any order of the stops; `seconds` has start first and end last."""
    stops = len(seconds) - 2
    if stops <= FORCED:
        return min(_seconds_along(seconds, order) for order in permutations(range(stops)))
    table = seconds.tolist()
    end = stops + 1

    @cache
    def shortest_rest(here: int, stops_left: frozenset[int]) -> float:
        """Return the least seconds from stop `here` through all `stops_left` to the end."""
        if not stops_left:
            return float(table[here][end])
        return min(float(table[here][stop]) + shortest_rest(stop, stops_left - {stop}) for stop in stops_left)

    return shortest_rest(0, frozenset(range(1, end)))


def _search_order(seconds: Floats) -> float:
    """Return the seconds of the order that fast-tsp finds, for symmetric times; start first, end last.

    It looks for rounds: one place more, between the end and the start, makes a round of a way.
    """
    far = float(seconds.max()) * len(seconds)
    count = len(seconds)
    matrix = np.full((count + 1, count + 1), far)
    both_ways = seconds.copy()
    # nothing leads to the start, or on from the end
    both_ways[:, 0], both_ways[-1] = both_ways[0], both_ways[:, -1]
    matrix[:count, :count] = np.maximum(both_ways, both_ways.T)
    matrix[count, [0, count - 1]] = matrix[[0, count - 1], count] = 0.0
    scaled = np.rint(matrix * (np.iinfo(np.uint16).max / far)).astype(np.uint16)
    np.fill_diagonal(scaled, 0)
    tour = fast_tsp.find_tour(scaled, SEARCH_SECONDS)
    at = tour.index(count)
    way = [*tour[at + 1 :], *tour[:at]]
    order = [place - 1 for place in (way if way[0] == 0 else way[::-1])[1:-1]]
    return _seconds_along(seconds, order)


PENG = ScoredAgent(("peng",), cases, run, unanswered, METRICS, outcome, notes, tallies)
