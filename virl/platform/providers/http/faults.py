"""Replies and refusals: why one is of no use, what may help, and how long its server asks to wait."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from virl.errors import Verdict, way_on
from virl.json_reading import JsonFault, read_json
from virl.retry import asked_wait

MAX_WORDS = 200  # characters of a provider's own words that are shown (chosen)
_LONGEST_PAGE = 20_000  # bytes of an error page that are looked at

UNREADABLE = "UNREADABLE"
"""The code of a whole reply that lacks what it must hold."""
ASKED_WRONG = "do not retry: the request itself has to change"

_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Received:
    """A reply as it came, its body without keys."""

    status: int
    headers: Mapping[str, str]
    """Headers by lower-case name."""
    body: bytes
    billed: bool = False
    """True where it may be charged for whatever it says: it comes from where the service redirected to."""


@dataclass(frozen=True, slots=True)
class HttpFault:
    """A reply that is of no use, or none at all."""

    reason: str
    verdict: Verdict
    billed: bool = False
    """True where it may be charged for: providers charge for what they answered, not for refusals."""
    status: int | None = None
    code: str = ""
    wait: float | None = None
    """Seconds that the server asks to wait."""
    reply: Received | None = None
    """The reply that refuses; `None` if no whole one came."""

    @property
    def may_retry(self) -> bool:
        """Return whether another try may help."""
        return self.verdict == "wait"


def _delay_text() -> str:
    return f"try again later; continue the run with {way_on()}"


def usual_remedy(fault: HttpFault, service: str) -> str:
    """Return what to do about a fault of any service."""
    del service
    if fault.code == UNREADABLE:
        return f"ask for something else, or {_delay_text()}"
    return _delay_text() if fault.may_retry or (fault.status or 0) >= 500 else ASKED_WRONG


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `Retry-After` asks to wait, given in seconds or as a date.

    Args:
        headers: by lower-case name.

    Returns:
        `None` if the server does not say.
    """
    return asked_wait(headers.get("retry-after"))


def shorten_words(words: object) -> str:
    """Return a provider's own words in one line of at most `MAX_WORDS` characters."""
    text = " ".join(str(words or "").split())
    return text if len(text) <= MAX_WORDS else f"{text[: MAX_WORDS - 1]}\N{HORIZONTAL ELLIPSIS}"


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body; an empty one where it is none."""
    try:
        found = read_json(body, from_service=True)
    except JsonFault:
        return {}
    return found if isinstance(found, dict) else {}


def page_words(body: bytes) -> str:
    """Return what a page of an error says, in one short line without its tags."""
    page = body[:_LONGEST_PAGE].decode("utf-8", "replace")
    _, begun, content = page.partition("<body")
    return shorten_words(html.unescape(_TAG.sub(" ", f"<{content}" if begun else page)))
