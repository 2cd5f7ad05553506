"""Ling's part, with Local: walks of known ends, by reading and by truth, in honest mode.

A case is drawn from a seed: a panorama to start from, facing north, and a place to go to whose walk is
between 150 and 600 metres. Ling has arrived if she stopped within 25 m of the place, which she is never told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.agents.measure import Measure, Record
from benchmarks.lives import live
from benchmarks.tables import Interval
from virl.bench.statistics import mean_with_interval
from virl.errors import NoRoute, VirlError
from virl.geo import LatLng, distance
from virl.journal.records import Result
from virl.platform.city import City
from virl.platform.perception.base import Reader, TextLine
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.places import Place
from virl.platform.streetview import Image

CASES = 60
SHORTEST_M, LONGEST_M = 150.0, 600.0
ARRIVED_M = 25.0  # V-IRL's
ASKS = 3

TRUTH = str(Path(__file__).with_name("ling_by_truth.yaml"))
SENSES = {"ocr": "ling", "oracle": TRUTH}
TARGETS = {"ocr": "at least 70", "oracle": "at least 95"}


@dataclass(frozen=True, slots=True)
class Case:
    """A walk to be told and followed."""

    start: LatLng
    destination: Place
    metres: float
    """Of the shortest walk."""


class RememberingReader:
    """Reads each picture once: the walks of a case look at the same streets."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._read: dict[bytes, list[TextLine]] = {}

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """As the reader behind it."""
        keys = [blake2b(image.tobytes(), digest_size=16).digest() for image in images]
        fresh = {key: image for key, image in zip(keys, images, strict=True) if key not in self._read}
        self._read |= dict(zip(fresh, self._reader.read(list(fresh.values())), strict=True)) if fresh else {}
        return [self._read[key] for key in keys]


class RememberingModels(Models):
    """Models whose readers read each picture once."""

    def __init__(self, options: ModelOptions) -> None:
        super().__init__(options)
        self._remembering: dict[str, RememberingReader] = {}

    def reader(self, name: str) -> Reader:
        """A reader that remembers."""
        if name not in self._remembering:
            self._remembering[name] = RememberingReader(super().reader(name))
        return self._remembering[name]


def cases(city: City, seed: int) -> list[str]:
    """`ling-00` and so on."""
    return list(_drawn(city, seed))


def run(city: City, case: str, seed: int, folder: Path) -> dict[str, Any]:
    """Let Ling go the same way with each kind of senses, in honest mode."""
    return walk_all(city, case, seed, folder, "honest")


def walk_all(city: City, case: str, seed: int, folder: Path, mode: str) -> dict[str, Any]:
    """The walks of a case in one mode, with each kind of senses."""
    drawn = _drawn(city, seed)[case]
    models = RememberingModels(ModelOptions(truth=city.truth, seed=seed))
    return {
        "destination": drawn.destination.name,
        "metres": drawn.metres,
        "walks": {
            senses: _walk(city, drawn, senses, mode, seed, folder / senses, models) for senses in SENSES
        },
    }


def measures(records: Sequence[Record]) -> list[Measure]:
    """How many walks ended at the place: at the first ask, in all, and of those that were lost on the way."""
    return measures_of(records, "honest", TARGETS)


def measures_of(records: Sequence[Record], mode: str, targets: Mapping[str, str]) -> list[Measure]:
    """The lines of one mode."""
    lines = []
    for senses in SENSES:
        walks = [record["walks"][senses] for record in records]
        lines += list(_lines(f"ling, {senses}, {mode}", walks, targets.get(senses, "")))
    return lines


def _lines(who: str, walks: Sequence[Mapping[str, Any]], target: str) -> list[Measure]:
    again = [walk for walk in walks if walk["asked"] > 1]
    wrong = [{"arrived": walk["believes"] and not walk["arrived"]} for walk in walks]
    lines = [
        Measure(who, "stopped at the place", _share(walks, "arrived"), len(walks), target, percent=True),
        Measure(who, "at the first ask", _share(walks, "first"), len(walks), percent=True),
        Measure(who, "stopped elsewhere, believing it", _share(wrong, "arrived"), len(walks), percent=True),
    ]
    if again:
        lines.append(
            Measure(who, "lost, asked again, arrived", _share(again, "arrived"), len(again), percent=True)
        )
    return lines


def _share(walks: Sequence[Mapping[str, Any]], key: str) -> Interval:
    return Interval(*mean_with_interval([float(walk[key]) for walk in walks]))


def _walk(
    city: City, case: Case, senses: str, mode: str, seed: int, folder: Path, models: Models
) -> dict[str, Any]:
    changes = {
        "start": {"lat": case.start.lat, "lng": case.start.lng},
        "heading": 0.0,
        "follow": {"to": case.destination.name, "mode": mode, "asks": ASKS},
    }
    result = live(SENSES[senses], city, folder, seed=seed, changes=changes, models=models)
    return _came_of(result, case)


def _came_of(result: Result, case: Case) -> dict[str, Any]:
    answer = result.answer
    away = distance(LatLng(float(str(answer["lat"])), float(str(answer["lng"]))), case.destination.position)
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
def _drawn(city: City, seed: int) -> Mapping[str, Case]:
    if city.street_map is None:
        raise VirlError(f"{city.title}: its panoramas are not known: choose a made city")
    rng = Random(f"{seed} ling")
    panoramas = city.street_map.panorama_ids()
    places = [place for place in city.places.nearby(city.center, 5000.0) if place.is_open]
    drawn: dict[str, Case] = {}
    while len(drawn) < CASES:
        start = city.streetview.panorama(rng.choice(panoramas)).position
        destination = rng.choice(places)
        try:
            metres = city.maps.route([start, destination.position]).distance
        except NoRoute:
            continue
        if SHORTEST_M <= metres <= LONGEST_M:
            drawn[f"ling-{len(drawn):02d}"] = Case(start, destination, metres)
    return drawn
