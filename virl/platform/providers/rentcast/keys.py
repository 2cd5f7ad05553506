"""The key: put on requests where they leave, blotted out of all that comes back."""

import os
import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import quote

import httpx

from virl.errors import BadInput

KEY_VARIABLE = "RENTCAST_API_KEY"
KEY_HEADER = "X-Api-Key"
_KEY_SIGNS = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Key:
    """What proves to RentCast who asks. Does not show in its `repr`.

    Raises:
        BadInput: it holds what no key does.
    """

    text: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _KEY_SIGNS.fullmatch(self.text):
            raise BadInput(f"{KEY_VARIABLE} holds spaces or other signs that are in no key: copy it again")

    @classmethod
    def from_environment(cls) -> Self | None:
        """That of `RENTCAST_API_KEY`; `None` without one."""
        text = os.environ.get(KEY_VARIABLE, "").strip()
        return cls(text) if text else None

    def clean(self, text: str) -> str:
        """The text without the key."""
        return text.replace(self.text, "***").replace(quote(self.text, safe=""), "***")


class KeyTransport(httpx.BaseTransport):
    """Adds the key below the client, whose logs and exceptions therefore never hold it."""

    def __init__(self, inner: httpx.BaseTransport, key: Key) -> None:
        self._inner = inner
        self._key = key

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a copy of the request that carries the key."""
        headers = request.headers.copy()
        headers[KEY_HEADER] = self._key.text
        return self._inner.handle_request(
            httpx.Request(
                request.method,
                request.url,
                headers=headers,
                stream=request.stream,
                extensions=request.extensions,
            )
        )

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()
