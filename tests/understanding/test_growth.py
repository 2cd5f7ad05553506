"""Long texts are understood in a time that grows with their length, and not with its square."""

import sys
from types import FrameType
from typing import Any

import pytest

from virl.mind import sentences, understanding
from virl.mind.sentences import background_spans
from virl.mind.understanding import Reading, understand

FILES = {sentences.__file__, understanding.__file__}
TEXTS = {
    "sentences about a life": ("He works at the bank. ", ()),
    "clauses about a life": ("he works at the bank, ", ()),
    "manner": ("He walks slowly, thank you. ", ()),
    "quotations": ('He wants "a cafe". ', ("cafe",)),
    "stretches that are used": ("Go to the shop {}. ", ("go to the shop {}",)),
    "clauses": ("she wants a cafe, and walks there, ", ("cafe",)),
}


def count_steps(reading: Reading) -> int:
    """The lines of these modules that run while a text is understood."""
    count = 0

    def step(_frame: FrameType, event: str, _about: Any) -> Any:
        nonlocal count
        count += event == "line"
        return step

    background_spans.cache_clear()
    before = sys.gettrace()
    sys.settrace(lambda frame, *_: step if frame.f_code.co_filename in FILES else None)
    try:
        understand(reading)
    finally:
        sys.settrace(before)
    return count


def long_reading(times: int, part: str, used: tuple[str, ...]) -> Reading:
    return Reading(
        "".join(part.format(number) for number in range(times)) + "A cafe.",
        tuple(one.format(number) for number in range(times) for one in used),
    )


@pytest.mark.parametrize("kind", TEXTS)
def test_twice_the_text_takes_at_most_twice_the_steps(kind: str) -> None:
    understand(Reading("A cafe.", ()))  # loads the words
    steps = [count_steps(long_reading(times, *TEXTS[kind])) for times in (0, 60, 120)]
    assert steps[2] - steps[0] <= 2.1 * (steps[1] - steps[0])
