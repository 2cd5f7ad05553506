"""What is told of a way, against what is truly beside it."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from virl.bench.benchmark import Metric, Scores, Shown, ShownPoint, Tally
from virl.bench.episode import Record
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import Truth
from virl.platform.providers.cities import title_of_city
from virl.routines.preview.facts import CROSSING, LANDMARK, Fact

from .ways import TrueWay

SAME_M: Mapping[str, float] = {CROSSING: 4.0, "bench": 3.0}
"""Most metres between a thing told and the true one, by kind: crossings of a junction are farther apart."""
BENCH = "bench"
KINDS = (CROSSING, BENCH, LANDMARK)
LATIN = "latin"
METRICS = (
    Metric("crossing_precision", "crossings, precision", about="told marked crossings that are there"),
    Metric("crossing_recall", "crossings, recall", about="marked crossings beside the way that are told"),
    Metric("bench_precision", "benches, precision", about="told benches that are there"),
    Metric("bench_recall", "benches, recall", about="benches to be seen beside the way that are told"),
    Metric(
        "landmark_precision",
        "landmarks, precision",
        about="told landmarks whose signs are on the side that is told",
    ),
    Metric("landmark_recall", "landmarks, recall", about="places with readable signs that are told"),
    Metric("latin_recall", "recall, Latin names", about="the same, of names in Latin letters"),
)


def told_against(facts: Sequence[Fact], way: TrueWay, truth: Truth) -> dict[str, Any]:
    """Return for each kind of fact what was told and whether it is true, and the true things left out.

    Args:
        facts: that were told.
        way: what should be told.
        truth: of the city.
    """
    crossings = truth.crossings()
    benches = {thing.id: thing.position for thing in truth.things({BENCH})}
    told = {kind: [fact for fact in facts if fact.kind == kind] for kind in KINDS}
    zebra = _matches([*map(_position_of, told[CROSSING])], crossings, SAME_M[CROSSING])
    names = list(benches)
    seat = _matches([*map(_position_of, told[BENCH])], [*benches.values()], SAME_M[BENCH])
    return {
        CROSSING: _outcome_data(
            [(fact, number in zebra) for number, fact in enumerate(told[CROSSING])],
            {str(number): crossings[number] for number in way.crossings},
            {str(number) for number in zebra.values()},
        ),
        BENCH: _outcome_data(
            [(fact, number in seat) for number, fact in enumerate(told[BENCH])],
            {name: benches[name] for name in way.benches},
            {names[number] for number in seat.values()},
        ),
        LANDMARK: _landmarks(told[LANDMARK], way),
    }


def latin_names(found: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, int]:
    """Return the number of places due whose names are Latin, and of those that were told."""
    latin = {place for place, name in names.items() if all(map(_is_latin, name))}
    return {"due": len(latin), "told": len(latin - found["missed"].keys())}


def _is_latin(letter: str) -> bool:
    """Return whether a character is a Latin letter, or no letter."""
    return not letter.isalpha() or unicodedata.name(letter, "").startswith("LATIN")


def score(records: Sequence[Record], options: object) -> Scores:  # noqa: ARG001 - as the contract says
    """Return the tallies of previews by metric, each a ratio of sums over ways."""
    tallies: dict[str, list[Tally]] = {metric.key: [] for metric in METRICS}
    for record in records:
        for kind in KINDS:
            found = record.data[kind]
            right = sum(one["right"] for one in found["told"])
            due = found["due"]
            tallies[f"{kind}_precision"].append(Tally(record.case, float(right), float(len(found["told"]))))
            told = due - len(found["missed"])
            tallies[f"{kind}_recall"].append(Tally(record.case, float(told), float(due)))
        latin = record.data[LATIN]
        tallies["latin_recall"].append(Tally(record.case, float(latin["told"]), float(latin["due"])))
    metres = sum(record.data["metres"] for record in records)
    due = {kind: sum(record.data[kind]["due"] for record in records) for kind in KINDS}
    there = ", ".join(f"{count} {kind}" for kind, count in due.items())
    ways = f"{len(records)} ways, {metres:.0f} m"
    return Scores(
        tallies,
        notes=[
            f"{records[0].model}: {title_of_city(records[0].city)}, {ways}; to be told: {there}",
            "steps are not scored: no city that virl draws shows any",
        ],
    )


def show(record: Record) -> Shown:
    """Return the contents of a way's page: its path, what was told, and what was left out."""
    points = []
    lines = []
    for kind in KINDS:
        found = record.data[kind]
        wrong = [one for one in found["told"] if not one["right"]]
        left_out = f"{len(found['missed'])} of {found['due']} left out"
        lines.append(f"{kind}: {len(found['told'])} told, {len(wrong)} wrong, {left_out}")
        for one in found["told"]:
            said = f"{one['name'] or kind}, {'right' if one['right'] else 'wrong'}"
            points.append(ShownPoint(LatLng(*one["at"]), float(one["right"]), said))
        points += [
            ShownPoint(LatLng(*at), 0.0, f"{kind}, left out")
            for at in found["missed"].values()
            if at is not None
        ]
    due = sum(record.data[kind]["due"] for kind in KINDS)
    missed = sum(len(record.data[kind]["missed"]) for kind in KINDS)
    return Shown(
        "; ".join(lines),
        1 - missed / due if due else None,
        facts=(("metres", f"{record.data['metres']:.0f}"),),
        points=points,
        path=[LatLng(*position) for position in record.data["walked"]],
    )


def _landmarks(told: Sequence[Fact], way: TrueWay) -> dict[str, Any]:
    """Return the landmarks told, each right if its sign is seen from the way on the side told, as data."""
    by_name = {fact.place_id: fact for fact in told}
    rows = [(fact, way.sides.get(fact.place_id) == fact.side) for fact in told]
    right = {place for place, fact in by_name.items() if way.sides.get(place) == fact.side}
    return _outcome_data(rows, dict.fromkeys(way.landmarks), right)


def _outcome_data(
    told: Sequence[tuple[Fact, bool]], due: Mapping[str, LatLng | None], found: set[str]
) -> dict[str, Any]:
    """Return the facts told, each right or not, and the things `due` that are not in `found`, as data."""
    missed = {name: None if at is None else [*at] for name, at in sorted(due.items()) if name not in found}
    rows = [{"name": fact.name, "at": [fact.lat, fact.lng], "right": right} for fact, right in told]
    return {"told": rows, "due": len(due), "missed": missed}


def _matches(told: Sequence[LatLng], there: Sequence[LatLng], within: float) -> dict[int, int]:
    """Return {index told: index of a true thing within `within` metres}, as many as possible, one to one."""
    apart = np.array([distance(one, other) for one in told for other in there])
    apart = apart.reshape(len(told), len(there))
    # Large but finite, as no assignment is found where only infinite costs are left.
    rows, columns = linear_sum_assignment(np.where(apart <= within, apart, 1e6))
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {row: column for row, column in pairs if apart[row, column] <= within}


def _position_of(fact: Fact) -> LatLng:
    """Return the position of a fact."""
    return LatLng(fact.lat, fact.lng)
