"""Settings that all providers on the network have in common: hosts, timeouts and retries."""

import re

from pydantic import Field

from virl.errors import BadInput
from virl.redaction import shown_url
from virl.settings.model import Settings

HOST = r"^https?://[^/?#@\s]+$"
"""Pattern of a scheme and a host, such as `http://127.0.0.1:8765`."""


class Timeouts(Settings):
    """Time limits for the parts of a request, in seconds."""

    connect: float = Field(default=5.0, gt=0)
    read: float = Field(default=20.0, gt=0)
    """Largest time in seconds between two pieces of a reply."""
    total: float = Field(default=60.0, gt=0)
    """Largest time in seconds for a whole reply."""


class Retries(Settings):
    """The number of further tries of a request, and the pauses before them."""

    further: int = Field(default=4, ge=0, le=20)
    """Number of tries after the first."""
    first_wait: float = Field(default=0.5, ge=0)
    """Seconds before the second try; doubles with every further one. Half of it is random."""
    longest_wait: float = Field(default=30.0, ge=0)
    """Largest wait in seconds; a server that asks for more with `Retry-After` is not waited for."""


def checked_host(url: str, variable: str) -> str:
    """Return a URL of scheme and host, from an environment variable, without a slash at its end.

    Raises:
        BadInput: the URL has a path, or is none; names the variable.
    """
    host = url.rstrip("/")
    if not re.match(HOST, host):
        raise BadInput(
            f"{variable}: {shown_url(host)!r} must be a scheme and a host without user, password, path and "
            "query, such as http://127.0.0.1:8765"
        )
    return host
