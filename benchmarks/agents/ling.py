"""Ling's score, with Local: walks of known ends, by reading and by truth, in honest and in paper mode.

A case is drawn from a seed: a panorama to start from, facing north, and a place to go to whose walk is
between 150 and 600 metres, with a panorama at most 25 m from it. Ling has arrived if she stopped within
25 m of the place, which she is never told. She asks for it by its name, so any place of that name will do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    """A way in which Ling walks: by which character, and in which mode."""

    character: str
    """Name or file of the character: one reads signs, the other sees what is truly there."""
    mode: str
    """Mode: `honest`, or `paper` with V-IRL's hints at the crossings where the route turns."""
    wanted: str = ""
    """Target share of walks that end at the place, in words; empty if there is no target."""


MANNERS = {
    "ling, ocr, honest": Manner("ling", "honest", "at least 70 %"),
    "ling, oracle, honest": Manner(TRUTH, "honest", "at least 95 %"),
    "ling, ocr, paper": Manner("ling", "paper"),
    "ling, oracle, paper": Manner(TRUTH, "paper"),
}
"""Manners by the name of their row in the table."""


@dataclass(frozen=True, slots=True)
class DrawnWalk:
    """A walk drawn for a case: where it starts, and the place to which it leads."""

    start: LatLng
    destination: Place
    metres: float
    """Metres of the shortest walk from the start to the destination."""
    branches: tuple[LatLng, ...]
    """Positions of all open places that have the destination's name."""


@dataclass(slots=True)
class RememberingReader:
    """A text reader that reads each picture only once, as walks look at the same streets."""

    reader: Reader
    _read: dict[bytes, list[TextLine]] = field(default_factory=dict)

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in each picture, as `reader` reads them."""
        keys = [blake2b(image.tobytes(), digest_size=16).digest() for image in images]
        fresh = {key: image for key, image in zip(keys, images, strict=True) if key not in self._read}
        self._read |= dict(zip(fresh, self.reader.read(list(fresh.values())), strict=True)) if fresh else {}
        return [self._read[key] for key in keys]


class RememberingModels(EpisodeModels):
    """The models of an episode, whose text readers read each picture only once."""

    def __init__(self, resources: Resources, city: str) -> None:
        """Take the models from `resources`, for views of the city named `city`."""
        super().__init__(resources, city)
        self._remembering: dict[str, RememberingReader] = {}

    def reader(self, name: str) -> Reader:
        """Return the text reader with this name, which reads each picture only once."""
        if name not in self._remembering:
            self._remembering[name] = RememberingReader(super().reader(name))
        return self._remembering[name]


def cases(city: City, seed: int) -> list[str]:
    """Return the names of a seed's cases in a city: `ling-00` and so on."""
    return list(_draw_walks(city, seed))


def run(case: AgentCase) -> dict[str, Any]:
    """Let Ling walk to the case's place, in the mode of the case's row; return where she ended, as data."""
    drawn = _draw_walks(case.city, case.seed)[case.id]
    manner = MANNERS[case.row]
    changes = {
        "start": {"lat": drawn.start.lat, "lng": drawn.start.lng},
        "heading": 0.0,
        "follow": {"to": drawn.destination.name, "mode": manner.mode, "asks": ASKS},
    }
    return unanswered(case) | _outcome_data(case.run(manner.character, changes), drawn)


def unanswered(case: AgentCase) -> dict[str, Any]:
    """Return the data of a walk that failed, wherever it ended."""
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
    Metric("arrived", "stopped at the place", about="walks that end at it"),
    Metric("first", "at the first ask", about="walks that end at it, having asked once"),
    Metric("elsewhere", "stopped elsewhere", about="walks that end at another place"),
    Metric("arrived_again", "arrived having asked again", about="walks that asked again and end at it"),
)
"""Shares of walks that stopped at the place, at the first ask or elsewhere, and of those that asked again."""


def tallies(records: Sequence[Record]) -> Tallies:
    """Return a tally for each walk and metric."""
    again = [one for one in records if one.data["asked"] > 1]
    return {
        **means(records, METRICS[:2]),
        "elsewhere": [
            Tally(one.case, float(one.data["believes"] and not one.data["arrived"])) for one in records
        ],
        "arrived_again": [Tally(one.case, float(one.data["arrived"])) for one in again],
    }


def notes(records: Sequence[Record]) -> list[str]:
    """Return a note on the number of walks and the target of the row."""
    row = records[0].model
    again = sum(one.data["asked"] > 1 for one in records)
    wanted = MANNERS[row].wanted
    asked = f"; target: {wanted} stopped at the place" if wanted else ""
    return [f"{row}: walks: {len(records)}, asked again: {again}{asked}"]


def outcome(data: Data) -> tuple[str, float | None]:
    """Return (words on where Ling stopped and why, 1 if she arrived, else 0)."""
    said = "arrived" if data["arrived"] else f"stopped {data['away_m']:.0f} m away"
    return f"{said}: {data['reason']}", float(data["arrived"])


def _outcome_data(result: Result, case: DrawnWalk) -> dict[str, Any]:
    """Return where a walk ended, metres from the nearest branch of the place, and what Ling believed."""
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
    """Return the walks of all cases in a city, by case name."""
    rng = Random(f"{seed} ling")
    panoramas = held_street_map(city).panorama_ids()
    known = [place for place in city.places.nearby(city.center, 5000.0) if place.is_open]
    # Ling is told a name alone, so that any branch of a chain is right.
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
    """Return the scored agent of a mode, `honest` or `paper`."""
    rows = tuple(row for row, manner in MANNERS.items() if manner.mode == mode)
    return ScoredAgent(rows, cases, run, unanswered, METRICS, outcome, notes, tallies)


LING, LING_PAPER = _make_scored("honest"), _make_scored("paper")
