"""Why a reply is of no use, and how long its server asks to wait."""

from collections.abc import Mapping
from dataclasses import dataclass

from virl.retry import asked_wait

MAX_WORDS = 200  # characters of a provider's own words that are shown (chosen)

ASKED_WRONG = "do not retry: the request itself has to change"
TRY_LATER = "try again later; continue the run with --resume"


@dataclass(frozen=True, slots=True)
class HttpFault:
    """Why a reply is of no use."""

    reason: str
    again: bool
    """Whether another try may help."""
    billed: bool = False
    """Whether it may be charged for: providers charge for what they answered, not for what they refused."""
    status: int | None = None
    code: str = ""
    wait: float | None = None
    """Seconds that the server asks to wait."""


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After` asks to wait, given in seconds or as a date; `None` if it does not say.

    Args:
        headers: by lower-case name.
    """
    return asked_wait(headers.get("retry-after"))


def shortened(words: object) -> str:
    """A provider's own words in one line of at most `MAX_WORDS` characters."""
    text = " ".join(str(words or "").split())
    return text if len(text) <= MAX_WORDS else f"{text[: MAX_WORDS - 1]}\N{HORIZONTAL ELLIPSIS}"
