"""The canonical form of a request, which names it in caches and recordings."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestName:
    """The name of a request, without key, host and session token."""

    endpoint: str
    """The provider's name for what is asked, such as `"geocode"`; fit for a folder."""
    canonical: str
    """The request as JSON, which is the same however its parts are ordered."""

    def key(self, host: str = "") -> str:
        """Return the SHA-256 of the request and the host that is asked: hex, 64 digits."""
        return hashlib.sha256(f"{host}\n{self.canonical}".encode("utf-8", "surrogatepass")).hexdigest()
