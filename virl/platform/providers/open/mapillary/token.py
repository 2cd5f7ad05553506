"""The token: put on requests where they leave, taken out of all that comes back."""

import os
from dataclasses import dataclass, field
from typing import Self

import httpx

from virl.platform.providers.http.keys import check_key
from virl.redaction import Redaction, warn_of_placeholder

TOKEN_VARIABLE = "MAPILLARY_ACCESS_TOKEN"  # noqa: S105  # its name, not the token


@dataclass(frozen=True, slots=True)
class Token:
    """What proves to Mapillary who asks. Does not show in its `repr`.

    Raises:
        BadInput: it holds what no token does.
    """

    text: str = field(repr=False)
    redaction: Redaction = field(init=False, repr=False, compare=False)
    """Takes it out of what comes back."""

    def __post_init__(self) -> None:
        check_key(self.text, TOKEN_VARIABLE)
        object.__setattr__(self, "redaction", Redaction.of((self.text,)))

    @classmethod
    def from_environment(cls) -> Self | None:
        """That of `MAPILLARY_ACCESS_TOKEN`; `None` without one."""
        text = os.environ.get(TOKEN_VARIABLE, "").strip()
        warn_of_placeholder(TOKEN_VARIABLE, len(text))
        return cls(text) if text else None

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """URL and headers of a request with the token; a signed address of a picture needs none."""
        headers = request.headers.copy()
        headers["Authorization"] = f"OAuth {self.text}"
        return request.url, headers
