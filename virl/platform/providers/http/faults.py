"""Replies and refusals: why one is of no use, what may help, and how long its server asks to wait."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from virl.errors import Verdict, way_on
from virl.files.json_reading import JsonFault, read_json
from virl.retry import asked_wait

MAX_WORDS = 200  # characters of a provider's own words that are shown (chosen)
_LONGEST_PAGE = 20_000  # bytes of an error page that are looked at

UNREADABLE = "UNREADABLE"
"""Code of a fault: a whole reply that lacks what it must hold."""
ASKED_WRONG = "do not retry: the request itself has to change"
"""Advice for a request that would fail again."""

_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Received:
    """A reply as it came: status, headers and body, without keys."""

    status: int
    headers: Mapping[str, str]
    """Headers by lower-case name."""
    body: bytes
    billed: bool = False
    """True where it may be charged whatever it says, since a redirect led to it."""


@dataclass(frozen=True, slots=True)
class HttpFault:
    """The fault of a reply that is of no use, or that did not come."""

    reason: str
    """The fault in words, without keys."""
    verdict: Verdict
    """Meaning of the fault: whether another try, or a smaller request, may help."""
    billed: bool = False
    """True where the try may be charged: answers are, refusals are not."""
    status: int | None = None
    """HTTP status of the reply; `None` if none came."""
    code: str = ""
    """Code in the body of the refusal; may be empty."""
    wait: float | None = None
    """Seconds that the server asks to wait; `None` if it does not say."""
    reply: Received | None = None
    """The whole reply that refuses; `None` if none came."""

    @property
    def may_retry(self) -> bool:
        """Return whether another try may help."""
        return self.verdict == "wait"


def _delay_text() -> str:
    """Return the advice to try again later, and how the run is continued."""
    return f"try again later; continue the run with {way_on()}"


def usual_remedy(fault: HttpFault, service: str) -> str:
    """Return the advice on a fault, the same for any service."""
    del service
    if fault.code == UNREADABLE:
        return f"ask for something else, or {_delay_text()}"
    return _delay_text() if fault.may_retry or (fault.status or 0) >= 500 else ASKED_WRONG


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `Retry-After`, in seconds or as a date, asks to wait; `None` without it.

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
    """Return the JSON object of a body; empty where the body is none."""
    try:
        found = read_json(body, from_service=True)
    except JsonFault:
        return {}
    return found if isinstance(found, dict) else {}


def page_words(body: bytes) -> str:
    """Return the text of an HTML error page in one line of at most `MAX_WORDS` characters."""
    page = body[:_LONGEST_PAGE].decode("utf-8", "replace")
    _, begun, content = page.partition("<body")
    return shorten_words(html.unescape(_TAG.sub(" ", f"<{content}" if begun else page)))
