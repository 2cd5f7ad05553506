"""Ling's score, with Local: walks of known ends, by reading and by truth, in honest and in paper mode.

A case is drawn from a seed: a panorama to start from, facing north, and a place to go to whose walk is
between 150 and 600 metres, with a panorama at most 25 m from it. Ling has arrived if she stopped within
25 m of the place, which she is never told. She asks for it by its name, so any place of that name will do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

from virl.bench.agent_runs import EpisodeModels
from virl.bench.benchmark import Metric, Tally
from virl.bench.episode import Data, Record
from virl.bench.resources import Resources
from virl.errors import NoRoute
from virl.geo.globe import LatLng, distance
from virl.journal.records import Result
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map
from virl.platform.city.places import Place
from virl.platform.city.streetview import Image
from virl.platform.perception.base import Reader, TextLine

from .scoring import AgentCase, ScoredAgent, Tallies, means

CASES = 60
SHORTEST_M, LONGEST_M = 150.0, 600.0
ARRIVED_M = 25.0  # V-IRL's
ASKS = 3

TRUTH = str(Path(__file__).with_name("ling_by_truth.yaml"))


@dataclass(frozen=True, slots=True)
class Manner:
    """A manner in which Ling goes."""

    character: str
    """Character that reads signs, or sees what is truly there."""
    mode: str
    """`honest`, or `paper` with V-IRL's hints at the crossings where the route turns."""
    wanted: str = ""
    """Number of walks that should end at the place; empty where nothing is asked."""


MANNERS = {
    "ling, ocr, honest": Manner("ling", "honest", "at least 70 %"),
    "ling, oracle, honest": Manner(TRUTH, "honest", "at least 95 %"),
    "ling, ocr, paper": Manner("ling", "paper"),
    "ling, oracle, paper": Manner(TRUTH, "paper"),
}
"""Manners by the row of the table."""


@dataclass(frozen=True, slots=True)
class DrawnWalk:
    """A walk to be told and followed."""

    start: LatLng
    destination: Place
    metres: float
    """Metres of the shortest walk."""
    branches: tuple[LatLng, ...]
    """Positions of all open places of that name."""


class RememberingReader:
    """A reader that reads each picture once: walks look at the same streets."""

    def __init__(self, reader: Reader) -> None:
        """Prepare to read each picture once."""
        self._reader = reader
        self._read: dict[bytes, list[TextLine]] = {}

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Read pictures as the reader behind it does."""
        keys = [blake2b(image.tobytes(), digest_size=16).digest() for image in images]
        fresh = {key: image for key, image in zip(keys, images, strict=True) if key not in self._read}
        self._read |= dict(zip(fresh, self._reader.read(list(fresh.values())), strict=True)) if fresh else {}
        return [self._read[key] for key in keys]


class RememberingModels(EpisodeModels):
    """Models whose readers read each picture once."""

    def __init__(self, resources: Resources, city: str) -> None:
        """Open models whose readers read each picture once."""
        super().__init__(resources, city)
        self._remembering: dict[str, RememberingReader] = {}

    def reader(self, name: str) -> Reader:
        """Return a reader that remembers."""
        if name not in self._remembering:
            self._remembering[name] = RememberingReader(super().reader(name))
        return self._remembering[name]


def cases(city: City, seed: int) -> list[str]:
    """Return the names of the cases: `ling-00` and so on."""
    return list(_draw_walks(city, seed))


def run(case: AgentCase) -> dict[str, Any]:
    """Let Ling go the way with the senses and in the mode of the row."""
    drawn = _draw_walks(case.city, case.seed)[case.id]
    manner = MANNERS[case.row]
    changes = {
        "start": {"lat": drawn.start.lat, "lng": drawn.start.lng},
        "heading": 0.0,
        "follow": {"to": drawn.destination.name, "mode": manner.mode, "asks": ASKS},
    }
    return unanswered(case) | _outcome_data(case.run(manner.character, changes), drawn)


def unanswered(case: AgentCase) -> dict[str, Any]:
    """Return a walk that came to nothing, wherever it ended."""
    drawn = _draw_walks(case.city, case.seed)[case.id]
    return {
        "destination": drawn.destination.name,
        "metres": drawn.metres,
        "arrived": False,
        "first": False,
        "believes": False,
        "asked": 0,
        "away_m": drawn.metres,
        "walked_m": 0.0,
        "reason": "",
    }


METRICS = (
    Metric("arrived", "stopped at the place"),
    Metric("first", "at the first ask"),
    Metric("elsewhere", "stopped elsewhere"),
    Metric("arrived_again", "arrived having asked again"),
)
"""Shares of walks: stopped at the place, at the first ask, stopped elsewhere believing it is the place; of
those that asked again, having been lost, the share that arrived."""


def tallies(records: Sequence[Record]) -> Tallies:
    """Return a walk as one unit of each metric."""
    again = [one for one in records if one.data["asked"] > 1]
    return {
        **means(records, METRICS[:2]),
        "elsewhere": [
            Tally(one.case, float(one.data["believes"] and not one.data["arrived"])) for one in records
        ],
        "arrived_again": [Tally(one.case, float(one.data["arrived"])) for one in again],
    }


def notes(records: Sequence[Record]) -> list[str]:
    """Return notes on how many walks there are, and what the measures should be."""
    row = records[0].model
    again = sum(one.data["asked"] > 1 for one in records)
    wanted = MANNERS[row].wanted
    asked = f"; target: {wanted} stopped at the place" if wanted else ""
    return [f"{row}: walks: {len(records)}, asked again: {again}{asked}"]


def outcome(data: Data) -> tuple[str, float | None]:
    """Say where she stopped and why; the score is 1 if she arrived, else 0."""
    said = "arrived" if data["arrived"] else f"stopped {data['away_m']:.0f} m away"
    return f"{said}: {data['reason']}", float(data["arrived"])


def _outcome_data(result: Result, case: DrawnWalk) -> dict[str, Any]:
    """Return where a walk ended: metres from the nearest branch, metres walked, times asked."""
    answer = result.answer
    stopped = LatLng(float(str(answer["lat"])), float(str(answer["lng"])))
    away = min(distance(stopped, position) for position in case.branches)
    return {
        "arrived": away <= ARRIVED_M,
        "first": away <= ARRIVED_M and answer["asked"] == 1,
        "believes": answer["believes_arrived"],
        "asked": answer["asked"],
        "away_m": away,
        "walked_m": result.distance_m,
        "reason": result.reason,
    }


@lru_cache(maxsize=4)
def _draw_walks(city: City, seed: int) -> Mapping[str, DrawnWalk]:
    """Draw the walks of all cases in a city, by case name."""
    rng = Random(f"{seed} ling")
    panoramas = held_street_map(city).panorama_ids()
    known = [place for place in city.places.nearby(city.center, 5000.0) if place.is_open]
    branches: dict[str, list[LatLng]] = {}
    for place in known:
        branches.setdefault(place.name.casefold(), []).append(place.position)
    places = [place for place in known if city.streetview.nearest(place.position, ARRIVED_M)]
    drawn: dict[str, DrawnWalk] = {}
    while len(drawn) < CASES:
        start = city.streetview.panorama(rng.choice(panoramas)).position
        destination = rng.choice(places)
        try:
            metres = city.maps.route([start, destination.position]).distance
        except NoRoute:
            continue
        if SHORTEST_M <= metres <= LONGEST_M:
            named = tuple(branches[destination.name.casefold()])
            drawn[f"ling-{len(drawn):02d}"] = DrawnWalk(start, destination, metres, named)
    return drawn


def _make_scored(mode: str) -> ScoredAgent:
    """Return the agent that walks in a mode, with its rows, cases and metrics."""
    return ScoredAgent(
        rows=tuple(row for row, manner in MANNERS.items() if manner.mode == mode),
        cases=cases,
        run=run,
        unanswered=unanswered,
        metrics=METRICS,
        own_tallies=tallies,
        notes=notes,
        outcome=outcome,
    )


LING, LING_PAPER = _make_scored("honest"), _make_scored("paper")
