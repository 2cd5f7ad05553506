"""The columns of the report: how well the default rules count, with and without active detection."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import harmonic_mean

from virl.bench.benchmark import Metric, Scores, Shown, ShownPoint, Tally
from virl.bench.episode import Record
from virl.geo.globe import LatLng
from virl.platform.providers.cities import title_of_city

from .options import Options
from .tally import SHARES
from .variants import CountingCase, reference, without_active

_FIRST = "without a closer look at each sighting"
METRICS = (
    Metric("precision", "precision", about="things reported that are true things, one to one"),
    Metric("recall", "recall", about="things to be found that are reported"),
    Metric("virl_accuracy", "V-IRL's accuracy", digits=0, about="reports that are right as V-IRL judges"),
    Metric("virl_recall", "V-IRL's recall", digits=0, about="things to be found that those point at"),
    Metric("count_error", "miscount", about="numbers off, of the things to be found"),
    Metric("duplicates", "duplicates", about="things reported again beside a right one"),
    Metric("repeats", "repeats", about="things reported again, of those sighted"),
    Metric("lost", "lost", about="things sighted that were taken for others"),
    *(
        Metric(key, heading, digits=0, aside=True, about="the same, " + how)
        for key, heading, how in (
            ("first_precision", "precision, first look", _FIRST),
            ("first_recall_1_to_1", "recall, first look", _FIRST),
            ("first_accuracy", "V-IRL's accuracy, first look", _FIRST),
            ("first_recall", "V-IRL's recall, first look", _FIRST),
            ("noisy_precision", "precision, pose noise", "with errors in positions and headings"),
            ("noisy_recall", "recall, pose noise", "with errors in positions and headings"),
        )
    ),
)
"""Metrics of the default rules with exact poses; "first look" is without active detection.

See `docs/explanation/counting-results.md` for what each is."""

_REFERENCE = {metric.key: metric.key for metric in METRICS if metric.key in SHARES}
_FIRST_LOOK = {
    "first_precision": "precision",
    "first_recall_1_to_1": "recall",
    "first_accuracy": "virl_accuracy",
    "first_recall": "virl_recall",
}
_NOISY = {"noisy_precision": "precision", "noisy_recall": "recall"}
"""{metric: its share in `SHARES`}, for counts with pose noise."""


def score(records: Sequence[Record], options: Options) -> Scores:
    """Return the tallies of walks by metric; a metric is a ratio of sums over walks."""
    exact, *noisy = options.task.conditions
    tallies = _case_tallies(records, reference(exact), _REFERENCE)
    tallies |= _case_tallies(records, without_active(exact), _FIRST_LOOK)
    for condition in noisy:
        tallies |= _case_tallies(records, reference(condition), _NOISY)
    return Scores(tallies, notes=notes(records, options))


def notes(records: Sequence[Record], options: Options) -> list[str]:
    """Return notes on the number of walks, looks and things, for readers of the report."""
    looks = sum(len(one.data["walked"]) for one in records)
    required = sum(len(one.data["required"]) for one in records)
    active, first = (sum(one.data["sightings"][eyes] for one in records) for eyes in ("active", "first look"))
    who, things = records[0].model, ", ".join(options.task.things)
    where = title_of_city(records[0].city)
    return [
        f"{who}: {where}, walks: {len(records)}, looks around: {looks}, for {things}",
        f"{who}: things to be found: {required}, sightings: {active} with active detection, {first} without",
        "published rows: real streets, one route per city",
    ]


def show(record: Record) -> Shown:
    """Return the contents of a walk's page: path, true things, and what the default rules reported."""
    data = record.data
    reported = next(iter(data["reported"].values()))
    outcomes = Counter(row["outcome"] for row in reported)
    used = {row["thing"] for row in reported}
    required = {name: data["things"][name] for name in data["required"]}
    missed = sum(name not in used for name in required)
    precision = outcomes["right"] / max(len(reported), 1)
    f1 = harmonic_mean((precision, 1 - missed / len(required))) if required else None
    points = [
        ShownPoint(LatLng(*position), float(name in used), f"{kind}, {'found' if name in used else 'missed'}")
        for name, (kind, *position) in required.items()
    ]
    points += [
        ShownPoint(LatLng(*row["position"]), 0.0, f"{row['label']}, {row['outcome']}")
        for row in reported
        if row["outcome"] != "right"
    ]
    return Shown(
        f"{len(reported)} things reported, {outcomes['right']} right, {outcomes['duplicate']} duplicates, "
        f"{outcomes['false']} false; {missed} missed",
        f1,
        facts=(
            ("kind", data["kind"]),
            ("looks around", str(len(data["walked"]))),
            ("panoramas", str(data["panoramas"])),
            ("things to be found", str(len(required))),
            ("sightings with active detection", str(data["sightings"]["active"])),
            ("sightings without", str(data["sightings"]["first look"])),
        ),
        points=points,
        path=[LatLng(*position) for position in data["walked"]],
    )


def _case_tallies(
    records: Sequence[Record], case: CountingCase, shares: Mapping[str, str]
) -> dict[str, list[Tally]]:
    """Return the tallies of one way of counting; `shares`: {metric: its share in `SHARES`}."""
    found: dict[str, list[Tally]] = {}
    for key, share in shares.items():
        above, below = SHARES[share]
        counts = [(one.case, one.data["tallies"][case.key]) for one in records]
        found[key] = [Tally(name, float(count[above]), float(count[below])) for name, count in counts]
    return found
