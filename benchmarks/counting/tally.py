"""How good a count is: sums over walks, what they come to, and how sure that is."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np

from virl.bench.statistics import RESAMPLES, Interval, widen
from virl.geo.globe import Floats
from virl.platform.city.city import Thing

from .matching import RADIUS_M, VIRL_RANGE_M, Reported, match_headings, match_positions


@dataclass(frozen=True, slots=True)
class CountTally:
    """The counts of one walk, which are summed over walks."""

    reported: int
    """Number of things in the memory at the end."""
    right: int
    """Number of things reported that are matched one to one to true things."""
    duplicates: int
    """Number of things reported that are near a true thing which another is matched to."""
    required: int
    """Number of true things that should have been seen."""
    found: int
    """Number of required things that are matched."""
    miscount: int
    """Sum over kinds of the difference between the numbers reported and required, without sign."""
    surplus: int
    """Sum over kinds of the number reported less the number required."""
    sighted: int
    """Number of true things that some sighting shows under their own label."""
    repeats: int
    """Number of things reported that show the same true thing as an earlier one."""
    lost: int
    """Number of sighted things that no thing reported shows, as they were taken for others."""
    virl_right: int
    """Number of things reported that are right as V-IRL judges."""
    virl_found: int
    """Number of required things that those right ones point at."""


def tally(
    reported: Sequence[Reported], things: Sequence[Thing], required: Collection[str], sighted: Collection[str]
) -> CountTally:
    """Return the counts of one walk from the things it reported, the true things, and ids of two subsets.

    A true thing that was not required makes no report wrong, and counts neither way: it is left out of the
    number reported when that is held against the number required.

    Args:
        reported: all of it.
        things: all true things of the kinds asked for.
        required: ids of those that should have been seen.
        sighted: ids of those that were.
    """
    matches = match_positions(reported, things, RADIUS_M)
    extra = {number for number, name in matches.right.items() if name not in required}
    kinds = {thing.id: thing.kind for thing in things}
    errors = Counter(one.label for number, one in enumerate(reported) if number not in extra)
    errors.subtract(Counter(kinds[name] for name in required))
    shows = [one.shows for one in reported if one.shows is not None]
    pointed = match_headings(reported, things, VIRL_RANGE_M)
    return CountTally(
        reported=len(reported),
        right=len(matches.right),
        duplicates=len(matches.duplicates),
        required=len(required),
        found=len(matches.right) - len(extra),
        miscount=sum(abs(error) for error in errors.values()),
        surplus=sum(errors.values()),
        sighted=len(sighted),
        repeats=len(shows) - len(set(shows)),
        lost=len(set(sighted) - set(shows)),
        virl_right=len(pointed),
        virl_found=len(set(pointed.values()) & set(required)),
    )


def total(tallies: Sequence[CountTally]) -> CountTally:
    """Return the sums of several counts, field by field."""
    return CountTally(*(sum(values) for values in zip(*map(astuple, tallies), strict=True)))


SHARES: Mapping[str, tuple[str, str]] = {
    "precision": ("right", "reported"),
    "recall": ("found", "required"),
    "duplicates": ("duplicates", "right"),
    "count_error": ("miscount", "required"),
    "count_bias": ("surplus", "required"),
    "repeats": ("repeats", "sighted"),
    "lost": ("lost", "sighted"),
    "virl_accuracy": ("virl_right", "reported"),
    "virl_recall": ("virl_found", "required"),
}
"""(field, field it is divided by) of each metric, both summed over walks."""

METRICS = (*SHARES, "f1")


def metrics(tallies: Sequence[CountTally]) -> dict[str, Interval]:
    """Return each metric over all walks together, with its 95 % interval by resampling walks.

    A metric whose divisor is 0 is left out; where that happens in a resample, the resample is. A share's
    interval is never narrower than Wilson's on the number of walks.
    """
    sums = _sums(tallies)
    found = {key: found for key in METRICS if (found := _interval(_compute_metric(sums, key)))}
    return {key: widen(one, units) if (units := _walks(tallies, key)) else one for key, one in found.items()}


def _walks(tallies: Sequence[CountTally], key: str) -> int:
    """Return the number of walks that a metric is a share over; 0 if it is no share of anything."""
    above, below = SHARES.get(key, ("found", "required"))
    pairs = [(getattr(one, above), getattr(one, below)) for one in tallies]
    return sum(part > 0 for _, part in pairs) if all(0 <= part <= of for part, of in pairs) else 0


def differences(tallies: Sequence[CountTally], other: Sequence[CountTally]) -> dict[str, Interval]:
    """Return the metrics of the tallies `other` less those of `tallies`, with 95 % intervals."""
    first, second = _sums(tallies), _sums(other)
    gaps = {key: _compute_metric(second, key) - _compute_metric(first, key) for key in METRICS}
    return {key: found for key, gap in gaps.items() if (found := _interval(gap))}


def _sums(tallies: Sequence[CountTally]) -> dict[str, Floats]:
    """Return each field's sum over all walks, then over resamples of them, shape (1 + resamples,)."""
    rows = np.array([astuple(one) for one in tallies], float)
    chosen = np.random.default_rng(0).integers(0, len(rows), (RESAMPLES, len(rows)))
    sums = np.concatenate([rows.sum(axis=0)[None], rows[chosen].sum(axis=1)])
    return {field.name: sums[:, i] for i, field in enumerate(fields(CountTally))}


def _compute_metric(sums: Mapping[str, Floats], key: str) -> Floats:
    """Return a metric from the fields' sums, shape (1 + resamples,); NaN where it has no value."""
    if key == "f1":
        precision, recall = _compute_metric(sums, "precision"), _compute_metric(sums, "recall")
        return _ratio(2 * precision * recall, precision + recall)
    above, below = SHARES[key]
    return _ratio(sums[above], sums[below])


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return above / below, NaN where below is 0."""
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0)


def _interval(values: Floats) -> Interval | None:
    """Return a metric's value (first) with its interval over resamples (others); `None` if it is NaN."""
    if np.isnan(values[0]):
        return None
    low, high = np.nanpercentile(values[1:], [2.5, 97.5])
    return Interval(float(values[0]), float(low), float(high))
