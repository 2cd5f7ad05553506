"""Keys: put on requests where they leave."""

import re
from collections.abc import Callable

import httpx

from virl.errors import BadInput

_SIGNS = re.compile(r"[\x21-\x7e]*")

Proof = Callable[[httpx.Request], tuple[httpx.URL, httpx.Headers]]
"""The URL and the headers of a request with the key in them."""


def check_key(key: str, variable: str) -> None:
    """See whether a key can be one.

    Raises:
        BadInput: it holds what no key does; names the environment variable that it came from.
    """
    if not _SIGNS.fullmatch(key):
        raise BadInput(f"{variable} contains spaces or other characters that no key has: copy it again")


class KeyTransport(httpx.BaseTransport):
    """Adds the key below the client, whose logs and exceptions therefore never hold it.

    Args:
        inner: what sends the request.
        proof: adds the key.
    """

    def __init__(self, inner: httpx.BaseTransport, proof: Proof) -> None:
        self._inner = inner
        self._proof = proof

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a copy of the request that carries the key."""
        url, headers = self._proof(request)
        return self._inner.handle_request(
            httpx.Request(
                request.method, url, headers=headers, stream=request.stream, extensions=request.extensions
            )
        )

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()
