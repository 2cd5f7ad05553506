"""The key: put on requests where they leave, blotted out of all that comes back."""

import os
from dataclasses import dataclass, field
from typing import Self

import httpx

from virl.platform.providers.http.keys import blotted, blotted_bytes, check_key

KEY_VARIABLE = "RENTCAST_API_KEY"
KEY_HEADER = "X-Api-Key"


@dataclass(frozen=True, slots=True)
class Key:
    """What proves to RentCast who asks. Does not show in its `repr`.

    Raises:
        BadInput: it holds what no key does.
    """

    text: str = field(repr=False)

    def __post_init__(self) -> None:
        check_key(self.text, KEY_VARIABLE)

    @classmethod
    def from_environment(cls) -> Self | None:
        """That of `RENTCAST_API_KEY`; `None` without one."""
        text = os.environ.get(KEY_VARIABLE, "").strip()
        return cls(text) if text else None

    def clean(self, text: str) -> str:
        """The text without the key."""
        return blotted(text, (self.text,))

    def clean_bytes(self, data: bytes) -> bytes:
        """A reply's body without the key."""
        return blotted_bytes(data, (self.text,))

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """URL and headers of a request with the key."""
        headers = request.headers.copy()
        headers[KEY_HEADER] = self.text
        return request.url, headers
