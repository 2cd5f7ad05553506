"""How sure a number is: bootstrap intervals, and paired tests between two models or two runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from virl.bench.benchmark import Tally
from virl.geo.globe import Floats

RESAMPLES = 2000
"""Number of resamples of a bootstrap or permutation test. Chosen: seeds move an interval by under a point."""

_Z = 1.96  # standard deviations of a 95 % interval

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
    """Return a metric's value and 95 % interval over units (`is_share`: in [0, 1]); `None` without weight.

    Args:
        tallies: of all units; see `virl.bench.benchmark.Tally` for the metric they stand for.
        is_share: whether the metric lies in [0, 1]; its interval is then Wilson's where all units agree.
    """
    units = _sorted_units(tallies)
    sums = _sum_tallies(tallies, units, _sorted_groups(tallies))
    value = float(_metric(sums.sum(axis=1)))
    if np.isnan(value):
        return None
    means = np.concatenate([_metric(counts @ sums) for counts in _draws(len(units))])
    low, high = np.nanpercentile(means, [2.5, 97.5])
    found = Interval(value, float(low), float(high))
    return _with_width(found, len({one.unit for one in tallies if one.weight})) if is_share else found


def _with_width(share: Interval, units: int) -> Interval:
    """Return a share with Wilson's interval if all `units` agree, as the bootstrap's then has no width."""
    far = _Z**2 / (units + _Z**2)
    if share.low < share.high or min(share.mean, 1 - share.mean) > 1e-12:
        return share
    return Interval(share.mean, 1 - far, 1.0) if share.mean > 0.5 else Interval(share.mean, 0.0, far)


def estimate_groups(tallies: Sequence[Tally]) -> Mapping[str, Interval]:
    """Return {group: value and 95 % interval} of a metric; groups without weight are left out."""
    found = {
        group: estimate([tally for tally in tallies if tally.group == group])
        for group in _sorted_groups(tallies)
    }
    return {group: interval for group, interval in found.items() if interval is not None}


def compare(first: Sequence[Tally], second: Sequence[Tally]) -> Difference | None:
    """Return the lead of `second` over `first` on the units that both have; `None` if they share none.

    The interval comes from the paired bootstrap: the same units are drawn for both. The p-value comes from
    the paired permutation test: for each unit the two sides are exchanged at random, and p is the share of
    exchanges with a difference at least as large, the one that was observed included (Phipson and Smyth
    2010). With ten units or fewer, each possible exchange is counted once, and p is exact.

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
    random = np.random.default_rng(_SEED)
    units = a.shape[1]
    exact = 2**units <= RESAMPLES
    # The observed outcome counts among those that are drawn; among all exchanges it is one already.
    as_large, tried = (0, 0) if exact else (1, 1)
    for rows in [2**units] if exact else _rows(units):
        # The bits of a number say which units are exchanged: all numbers together are all exchanges.
        drawn = (
            np.arange(rows)[:, None] >> np.arange(units) if exact else random.integers(0, 2, (rows, units))
        )
        exchanged = (drawn & 1).astype(float)
        # An exchanged unit counts for the other side: the sums change by the difference of the two.
        second = b.sum(axis=1)[:, None] + exchanged @ (a - b)
        difference = _metric(second) - _metric(total - second)
        # an exchange that leaves a side without weight is no result of the metric
        counted = np.isfinite(difference)
        as_large += int((np.abs(difference[counted]) >= abs(observed) - 1e-12).sum())
        tried += int(counted.sum())
    return as_large / tried


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
