"""The key: put on requests where they leave, taken out of all that comes back."""

import os
from dataclasses import dataclass, field
from typing import Self

import httpx

from virl.platform.providers.http.keys import check_key
from virl.redaction import Redaction, warn_of_placeholder

KEY_VARIABLE = "RENTCAST_API_KEY"
KEY_HEADER = "X-Api-Key"


@dataclass(frozen=True, slots=True)
class Key:
    """What proves to RentCast who asks. Does not show in its `repr`.

    Raises:
        BadInput: it holds what no key does.
    """

    text: str = field(repr=False)
    redaction: Redaction = field(init=False, repr=False, compare=False)
    """Takes it out of what comes back."""

    def __post_init__(self) -> None:
        check_key(self.text, KEY_VARIABLE)
        object.__setattr__(self, "redaction", Redaction.of((self.text,)))

    @classmethod
    def from_environment(cls) -> Self | None:
        """That of `RENTCAST_API_KEY`; `None` without one."""
        text = os.environ.get(KEY_VARIABLE, "").strip()
        warn_of_placeholder(KEY_VARIABLE, len(text))
        return cls(text) if text else None

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """URL and headers of a request with the key."""
        headers = request.headers.copy()
        headers[KEY_HEADER] = self.text
        return request.url, headers
