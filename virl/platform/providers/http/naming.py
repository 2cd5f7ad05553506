"""The canonical form of a request, which names it in caches and recordings."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestName:
    """The name of a request in caches and recordings, without key, host and session token."""

    endpoint: str
    """Name of the endpoint, such as `"geocode"`; fit for a folder."""
    canonical: str
    """The request as JSON with sorted parts."""

    def key(self, host: str = "") -> str:
        """Return the SHA-256 of the request and the host that is asked: 64 hex digits."""
        return hashlib.sha256(f"{host}\n{self.canonical}".encode("utf-8", "surrogatepass")).hexdigest()
