"""No regular expression takes long for a text that it nearly matches."""

import re
from pathlib import Path
from time import process_time

import pytest
from patterns import UsedPattern, attacks, patterns_in

ROOT = Path(__file__).parent.parent
LENGTH = 6_000
QUADRATIC_S = 0.02
"""More than any linear pattern takes for `LENGTH` characters; a quadratic one takes four times as much."""


def slowest(used: UsedPattern) -> tuple[float, str]:
    """Seconds of CPU, and the text that took them."""
    worst = (0.0, "")
    for text in attacks(used.pattern, LENGTH):
        before = process_time()
        used.apply(text)
        took = process_time() - before
        if took > QUADRATIC_S:  # once more: the machine may have been busy
            before = process_time()
            used.apply(text)
            took = min(took, process_time() - before)
        worst = max(worst, (took, text[:8]))
        if took > QUADRATIC_S:
            break
    return worst


@pytest.mark.slow
def test_no_pattern_is_slow() -> None:
    used = patterns_in(ROOT, "virl", "agents", "benchmarks")
    assert len(used) > 150
    slow = [(one.place, *found) for one in used if (found := slowest(one))[0] > QUADRATIC_S]
    assert not slow, slow


@pytest.mark.slow
def test_a_slow_pattern_is_found() -> None:

    used = UsedPattern("here", re.compile(r"\s*x"), ("search",))
    assert slowest(used)[0] > QUADRATIC_S
