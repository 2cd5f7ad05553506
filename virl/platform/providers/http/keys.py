"""Keys, tokens and passwords: put on requests where they leave, taken out of all that comes back."""

import base64
import os
import re
from dataclasses import dataclass, field
from typing import Protocol, Self

import httpx

from virl.errors import BadInput
from virl.redaction import Redaction, shown_url, warn_of_placeholder

_SIGNS = re.compile(r"[\x21-\x7e]*")
"""Pattern of a key: visible ASCII characters without spaces."""


class Secrets(Protocol):
    """A source of the key, token or password that a server requires."""

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """Return (URL, headers) of a request with the key in them."""
        ...

    @property
    def redaction(self) -> Redaction:
        """Redaction that removes the key from replies."""
        ...


@dataclass(frozen=True, slots=True)
class NoKey:
    """The secrets of a service without a key; keys of other services are still taken out of replies."""

    redaction: Redaction = field(default_factory=Redaction.of)
    """Redaction that removes keys of other services from replies."""

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """Return (URL, headers) of a request unchanged."""
        return request.url, request.headers


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key or token that is sent in a header; its `repr` does not show it.

    Raises:
        BadInput: it holds what no key does.
    """

    text: str = field(repr=False)
    """Text of the key."""
    variable: str
    """Name of the environment variable with the key."""
    header: str
    """Name of the header that the key is sent in."""
    scheme: str = ""
    """Words before the key in the header, such as `"OAuth "`."""
    redaction: Redaction = field(init=False, repr=False, compare=False)
    """Redaction that removes the key from replies."""

    def __post_init__(self) -> None:
        """Check the characters of the key, and set its redaction."""
        check_key(self.text, self.variable)
        object.__setattr__(self, "redaction", Redaction.of((self.text,)))

    @classmethod
    def from_environment(cls, variable: str, header: str, scheme: str = "") -> Self | None:
        """Return the key in an environment variable; `None` where it is unset or empty.

        Args:
            variable: name of the environment variable.
            header: name of the header that carries the key.
            scheme: words before the key in the header, such as `"Bearer "`; may be empty.
        """
        text = key_in_environment(variable)
        return cls(text, variable, header, scheme) if text else None

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """Return (URL, headers) of a request with the key in a header."""
        headers = request.headers.copy()
        headers[self.header] = f"{self.scheme}{self.text}"
        return request.url, headers


@dataclass(frozen=True, slots=True)
class ServerUrl:
    """The URL of a server, which may hold a user, a password and a query; they never show in its `repr`."""

    given: httpx.URL = field(repr=False)
    """URL with its user, password and query."""
    redaction: Redaction = field(repr=False, compare=False)
    """Redaction that removes user, password and query from replies."""

    @classmethod
    def parse(cls, url: str, source: str) -> Self:
        """Return a server's URL, given in `source`, checked to be of http or https with a host.

        Raises:
            BadInput: the text is no such URL; names the source.
        """
        wrong = (
            f"{source}: {shown_url(url)!r} must be a URL, such as https://overpass.example/api/interpreter"
        )
        try:
            parsed = httpx.URL(url.strip())
        except (httpx.InvalidURL, ValueError):
            raise BadInput(wrong) from None
        if parsed.scheme not in {"http", "https"} or not parsed.host:
            raise BadInput(wrong)
        return cls(parsed, Redaction.of(urls=[url]))

    @property
    def bare(self) -> httpx.URL:
        """URL without credentials and query."""
        return self.given.copy_with(userinfo=b"", query=None, fragment=None)

    @property
    def host(self) -> str:
        """Scheme and host, such as `https://overpass.example`."""
        return f"{self.bare.scheme}://{self.bare.netloc.decode('ascii')}"

    def url_beside(self, name: str) -> str:
        """Return the URL of a sibling: `.../api/interpreter` gives `.../api/NAME`."""
        return str(self.bare.join(name))

    def url_below(self, path: str) -> str:
        """Return the URL of a path below the server's: `.../routed-foot` gives `.../routed-foot/PATH`."""
        return f"{str(self.bare).rstrip('/')}/{path}"

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """Return (URL, headers) of a request with the user, password and query of the server's URL."""
        headers = request.headers.copy()
        if self.given.userinfo:
            pair = f"{self.given.username}:{self.given.password}".encode()
            headers["authorization"] = f"Basic {base64.b64encode(pair).decode('ascii')}"
        return request.url.copy_merge_params(self.given.params), headers


def check_key(key: str, variable: str) -> None:
    """Raise `BadInput` for a key, from an environment variable, with characters that no key has.

    Raises:
        BadInput: the key has such characters; names the variable.
    """
    if not _SIGNS.fullmatch(key):
        raise BadInput(f"{variable} contains spaces or other characters that no key has: copy it again")


def key_in_environment(variable: str) -> str:
    """Return the key in an environment variable, empty if unset; warn if it is too short to be redacted."""
    text = os.environ.get(variable, "").strip()
    warn_of_placeholder(variable, len(text))
    return text


class KeyTransport(httpx.BaseTransport):
    """A transport that adds the key as requests leave, so that no log or exception holds it."""

    def __init__(self, inner: httpx.BaseTransport, secrets: Secrets) -> None:
        """Make a transport that sends requests through `inner`, with the key of `secrets`."""
        self._inner = inner
        self._secrets = secrets

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a copy of the request with the key, and return the response."""
        url, headers = self._secrets.proof(request)
        return self._inner.handle_request(
            httpx.Request(
                request.method, url, headers=headers, stream=request.stream, extensions=request.extensions
            )
        )

    def close(self) -> None:
        """Close the connections of the inner transport."""
        self._inner.close()
