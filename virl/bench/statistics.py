"""How sure a number is: Wilson's and bootstrap intervals, and paired tests between two models or two runs."""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from virl.bench.benchmark import Tally
from virl.geo.globe import Floats

RESAMPLES = 2000
"""Number of resamples of a bootstrap or permutation test. Chosen: seeds move an interval by under a point."""

FEWEST_UNITS = 10
"""Fewest units of which a page shows an interval or a p-value. Chosen."""

_Z = 1.959964  # standard deviations of a 95 % interval
_EXACT_UNITS = 15  # most units of which all exchanges are tried: 32,768; chosen
_BLOCK = 2048  # exchanges tried at once; chosen

_CHUNK = 4_000_000  # numbers drawn at once; chosen: 32 MB
_SEED = 0  # of all draws, so that equal results get equal intervals


class Interval(NamedTuple):
    """A mean and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


class Difference(NamedTuple):
    """The lead of a second result over a first one, on the units that both have, and its p-value."""

    mean: float
    low: float
    high: float
    """Upper end of the 95 % interval of the paired bootstrap; `low` is the lower end."""
    p: float
    """Two-sided p-value of the paired permutation test."""
    units: int
    """Number of units, such as places, that both results have."""


def mean_with_interval(values: Sequence[float]) -> Interval:
    """Return the mean of values and its 95 % bootstrap interval (percentile method).

    Raises:
        ValueError: there are no values; nothing scored is not zero.
    """
    if not values:
        raise ValueError("no values to average")
    data = np.asarray(values, float)
    chosen = np.random.default_rng(_SEED).integers(0, len(data), (RESAMPLES, len(data)))
    low, high = np.percentile(data[chosen].mean(axis=1), [2.5, 97.5])
    return Interval(float(data.mean()), float(low), float(high))


def estimate(tallies: Sequence[Tally], *, is_share: bool = False) -> Interval | None:
    """Return a metric's value and 95 % interval over units; `None` without weight.

    Where each unit is one yes or no, a share's interval is Wilson's; else it is the bootstrap's, for a share
    never narrower than Wilson's on the number of units.

    Args:
        tallies: of all units; see `virl.bench.benchmark.Tally` for the metric they stand for.
        is_share: whether the metric is a share; tallies with more hits than weight make it none.
    """
    units = _sorted_units(tallies)
    sums = _sum_tallies(tallies, units, _sorted_groups(tallies))
    value = float(_metric(sums.sum(axis=1)))
    if np.isnan(value):
        return None
    means = np.concatenate([_metric(counts @ sums) for counts in _draws(len(units))])
    low, high = np.nanpercentile(means, [2.5, 97.5])
    found = Interval(value, float(low), float(high))
    counted = [one for one in tallies if one.weight]
    if not is_share or not all(0 <= one.hit <= one.weight for one in counted):
        return found
    if _is_yes_or_no(counted):
        return wilson(value, len(counted))
    return widen(found, count_units(counted))


def count_units(tallies: Sequence[Tally]) -> int:
    """Return the number of units with weight in a metric's tallies."""
    return len({one.unit for one in tallies if one.weight})


def wilson(share: float, units: int) -> Interval:
    """Return a share in [0, 1] of a number of units, at least 1, with Wilson's 95 % score interval."""
    spread = _Z**2 / units
    middle = (share + spread / 2) / (1 + spread)
    half = sqrt(spread * share * (1 - share) + spread**2 / 4) / (1 + spread)
    return Interval(share, min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half)))


def widen(found: Interval, units: int) -> Interval:
    """Return a share's interval, each end at least as far out as Wilson's for this number of units."""
    score = wilson(min(1.0, max(0.0, found.mean)), units)
    return Interval(found.mean, min(found.low, score.low), max(found.high, score.high))


def _is_yes_or_no(tallies: Sequence[Tally]) -> bool:
    """Return whether each unit has one tally, all of one group and weight, and each is a hit or none."""
    whole = all(one.hit in (0.0, one.weight) for one in tallies)
    return (
        whole
        and len({one.unit for one in tallies}) == len(tallies)
        and len({(one.group, one.weight) for one in tallies}) == 1
    )


def estimate_groups(tallies: Sequence[Tally], *, is_share: bool = False) -> Mapping[str, Interval]:
    """Return {group: value and 95 % interval} of a metric; groups without weight are left out.

    Args:
        tallies: of all units.
        is_share: as for `estimate`.
    """
    found = {
        group: estimate([tally for tally in tallies if tally.group == group], is_share=is_share)
        for group in _sorted_groups(tallies)
    }
    return {group: interval for group, interval in found.items() if interval is not None}


def compare(first: Sequence[Tally], second: Sequence[Tally]) -> Difference | None:
    """Return the lead of `second` over `first` on the units that both have; `None` if they share none.

    The interval comes from the paired bootstrap: the same units are drawn for both. The p-value comes from
    the paired permutation test: for each unit the two sides are exchanged at random, and p is the share of
    exchanges with a difference at least as large, the one that was observed included (Phipson and Smyth
    2010). Where at most 15 units differ, each possible exchange is counted once, and p is exact.

    Args:
        first: of the model that is compared with.
        second: of the other one.
    """
    units = sorted(set(_sorted_units(first)) & set(_sorted_units(second)))
    common = frozenset(units)
    one = [tally for tally in first if tally.unit in common]
    two = [tally for tally in second if tally.unit in common]
    groups = _sorted_groups([*one, *two])
    a, b = _sum_tallies(one, units, groups), _sum_tallies(two, units, groups)
    observed = float(_metric(b.sum(axis=1)) - _metric(a.sum(axis=1))) if units else np.nan
    if np.isnan(observed):
        return None
    differences = np.concatenate([_metric(counts @ b) - _metric(counts @ a) for counts in _draws(len(units))])
    low, high = np.nanpercentile(differences, [2.5, 97.5])
    return Difference(observed, float(low), float(high), _permutation_p(a, b, observed), len(units))


def _permutation_p(a: Floats, b: Floats, observed: float) -> float:
    """Return the p-value, [0, 1], of a difference as large as `observed`, by exchanging units of a and b."""
    total = (a.sum(axis=1) + b.sum(axis=1))[:, None]
    gaps = a - b
    gaps = gaps[:, np.abs(gaps).max(axis=(0, 2)) > 1e-12]  # to exchange equal sides changes nothing
    # The observed outcome counts among those that are drawn; among all exchanges it is one already.
    as_large, tried = (0, 0) if gaps.shape[1] <= _EXACT_UNITS else (1, 1)
    for exchanged in _exchanges(gaps.shape[1]):
        # An exchanged unit counts for the other side: the sums change by the difference of the two.
        second = b.sum(axis=1)[:, None] + exchanged @ gaps
        difference = _metric(second) - _metric(total - second)
        # an exchange that leaves a side without weight is no result of the metric
        counted = np.isfinite(difference)
        as_large += int((np.abs(difference[counted]) >= abs(observed) - 1e-12).sum())
        tried += int(counted.sum())
    return as_large / tried


def _exchanges(units: int) -> Iterator[Floats]:
    """Yield which units are exchanged (1) in pieces of shape (exchanges, units): all ways, or drawn ones."""
    if units <= _EXACT_UNITS:
        # The bits of a number say which units are exchanged: all numbers together are all exchanges.
        for first in range(0, 2**units, _BLOCK):
            numbers = np.arange(first, min(first + _BLOCK, 2**units))
            yield (numbers[:, None] >> np.arange(units) & 1).astype(float)
        return
    random = np.random.default_rng(_SEED)
    for rows in _rows(units):
        yield random.integers(0, 2, (rows, units)).astype(float)


def _metric(sums: Floats) -> Floats:
    """Return the mean over groups (last axis) of hits / weights (first axis); NaN without any weight."""
    hits, weights = sums
    present = weights > 1e-12
    ratios = np.divide(hits, weights, out=np.zeros_like(hits), where=present)
    count = present.sum(axis=-1)
    means: Floats = np.divide(
        ratios.sum(axis=-1), count, out=np.full(np.shape(count), np.nan), where=count > 0
    )
    return means


def _draws(units: int) -> Iterator[Floats]:
    """Yield bootstrap resamples as counts of each unit, in pieces of shape (resamples, units)."""
    random = np.random.default_rng(_SEED)
    for rows in _rows(units):
        # Each resample has numbers of its own, so that one count serves a whole piece.
        chosen = random.integers(0, units, (rows, units)) + units * np.arange(rows)[:, None]
        yield np.bincount(chosen.ravel(), minlength=rows * units).reshape(rows, units).astype(float)


def _rows(units: int) -> list[int]:
    """Return the sizes of the pieces in which `RESAMPLES` resamples are drawn, to fit in memory."""
    most = max(1, min(RESAMPLES, _CHUNK // max(1, units)))
    whole, rest = divmod(RESAMPLES, most)
    return [most] * whole + ([rest] if rest else [])


def _sum_tallies(tallies: Sequence[Tally], units: Sequence[str], groups: Sequence[str]) -> Floats:
    """Return the sums of tallies' (hits, weights), each by unit and group: shape (2, units, groups)."""
    row = {unit: i for i, unit in enumerate(units)}
    column = {group: i for i, group in enumerate(groups)}
    sums = np.zeros((2, len(units), max(1, len(groups))))
    where = ([row[tally.unit] for tally in tallies], [column[tally.group] for tally in tallies])
    # Unlike `+=`, this adds each of several tallies of one unit.
    np.add.at(sums[0], where, [tally.hit for tally in tallies])
    np.add.at(sums[1], where, [tally.weight for tally in tallies])
    return sums


def _sorted_units(tallies: Sequence[Tally]) -> list[str]:
    """Return the names of the units of the tallies, each once, sorted."""
    return sorted({tally.unit for tally in tallies})


def _sorted_groups(tallies: Sequence[Tally]) -> list[str]:
    """Return the names of the groups of the tallies, each once, sorted."""
    return sorted({tally.group for tally in tallies})
