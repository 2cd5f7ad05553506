from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from virl.retry import RetryPolicy, asked_wait


@dataclass(frozen=True)
class Refusal:
    may_retry: bool = True
    wait: float | None = None


def failure(outcome: Refusal | str) -> Refusal | None:
    return outcome if isinstance(outcome, Refusal) else None


class Script:
    """Answers one after the other, and the pauses between them; nothing is waited for."""

    def __init__(self, *outcomes: Refusal | str) -> None:
        self.left = list(outcomes)
        self.pauses: list[float] = []
        self.told: list[tuple[Refusal | str, float]] = []

    def run(self, *, further: int = 3, chance: float = 1.0, tried: int = 0) -> Refusal | str:
        policy = RetryPolicy(further, 0.5, 4.0, self.pauses.append, lambda: chance)
        return policy.run(
            lambda: self.left.pop(0),
            failure,
            tell=lambda outcome, pause: self.told.append((outcome, pause)),
            tried=tried,
        )


def test_pauses_double_up_to_the_longest() -> None:
    script = Script(*[Refusal()] * 5, "good")
    assert script.run(further=5) == "good"
    assert script.pauses == [0.5, 1.0, 2.0, 4.0, 4.0]
    assert script.told == [(Refusal(), pause) for pause in script.pauses]


def test_half_of_a_pause_is_left_to_chance() -> None:
    script = Script(Refusal(), Refusal(), "good")
    script.run(chance=0.0)
    assert script.pauses == [0.25, 0.5]


@pytest.mark.parametrize("wait", [0.0, 0.1, 4.0])
def test_a_server_that_says_how_long_is_waited_for_so_long(wait: float) -> None:
    script = Script(Refusal(), Refusal(wait=wait), Refusal(), "good")
    assert script.run(chance=0.0) == "good"
    assert script.pauses == [0.25, wait, 1.0]


@pytest.mark.parametrize(
    "final", [Refusal(wait=4.1), Refusal(may_retry=False), Refusal(may_retry=False, wait=1.0)]
)
def test_what_does_not_pass_or_takes_too_long_is_final(final: Refusal) -> None:
    script = Script(final, "good")
    assert script.run() == final
    assert script.pauses == []


@pytest.mark.parametrize(("further", "tried", "tries"), [(0, 0, 1), (3, 0, 4), (3, 2, 2), (3, 9, 1)])
def test_tries_are_bounded_and_those_before_count(further: int, tried: int, tries: int) -> None:
    script = Script(*[Refusal()] * 9)
    assert script.run(further=further, tried=tried) == Refusal()
    assert 9 - len(script.left) == tries
    assert len(script.pauses) == tries - 1


def test_pauses_go_on_from_the_tries_before() -> None:
    script = Script(Refusal(), "good")
    script.run(tried=2)
    assert script.pauses == [2.0]


def test_what_is_raised_ends_the_tries() -> None:
    def attempt() -> str:
        raise KeyError("no sense in another try")

    policy = RetryPolicy(3, 0.5, 4.0, lambda _: pytest.fail("waited"))
    with pytest.raises(KeyError, match="no sense"):
        policy.run(attempt, failure, tell=lambda *_: None)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("7", 7.0),
        (" 0.25 ", 0.25),
        ("soon", None),
        ("-3", None),
        ("nan", None),
        ("1e99", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0.0),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert asked_wait(header) == seconds


def test_retry_after_may_be_a_date() -> None:
    asked = asked_wait(format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True))
    assert asked is not None
    assert 18 < asked <= 20
