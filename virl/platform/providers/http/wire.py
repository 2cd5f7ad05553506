"""Calls as HTTP requests, and their replies, within limits of time and size."""

import ssl
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote

import httpx

from virl import __version__
from virl.platform.providers.google.calls import Call, public_query, tokens
from virl.platform.providers.google.faults import Fault
from virl.platform.providers.google.keys import Keys, KeyTransport
from virl.platform.providers.google.settings import Endpoint, GoogleSettings

_MOST_REDIRECTS = 3  # a photo takes one (chosen)
_PATH_SAFE = "/:@!$&'()*+,;=~-._"


@dataclass(frozen=True, slots=True)
class Received:
    """A reply as it came, its body without keys."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes


class Wire:
    """Connections to the hosts of some settings. The key goes to these hosts and to no other.

    Args:
        settings: hosts, timeouts and sizes.
        keys: put on requests, and blotted out of replies.
    """

    def __init__(self, settings: GoogleSettings, keys: Keys) -> None:
        self._settings = settings
        self._keys = keys
        self.hosts = frozenset(self.host(endpoint) for endpoint in settings.endpoints.values())
        # How many run at once is for the caller to limit: waiting here would count against the timeouts.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=settings.concurrency)
        timeouts = settings.timeouts
        self._client = httpx.Client(
            mounts={
                host: KeyTransport(
                    httpx.HTTPTransport(verify=_certificates(), limits=limits, proxy=_proxy(httpx.URL(host))),
                    keys,
                )
                for host in self.hosts
            },
            verify=_certificates(),
            timeout=httpx.Timeout(timeouts.read, connect=timeouts.connect),
            headers={"user-agent": f"virl/{__version__}"},
        )

    def host(self, endpoint: Endpoint) -> str:
        """Scheme and host that an endpoint is asked at."""
        return self._settings.base_url or endpoint.base

    def send(self, call: Call, endpoint: Endpoint) -> Received | Fault:
        """Send a call once; a fault if no whole reply came."""
        try:
            return self._follow(
                self._request(call, endpoint), time.monotonic() + self._settings.timeouts.total
            )
        except (httpx.ConnectError, httpx.ConnectTimeout) as fault:
            words = f"cannot be reached at {self.host(endpoint)} ({fault or type(fault).__name__})"
            return Fault(words, again=True)
        except httpx.TimeoutException:
            return Fault("no reply in time", again=True, billed=True)
        except httpx.InvalidURL:
            return Fault("it redirects to nowhere", again=False, billed=True)
        except httpx.RequestError as fault:
            return Fault(f"the connection broke ({fault or type(fault).__name__})", again=True, billed=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _request(self, call: Call, endpoint: Endpoint) -> httpx.Request:
        url = self.host(endpoint) + endpoint.prefix + quote(call.path, safe=_PATH_SAFE)
        return self._client.build_request(
            endpoint.method,
            url,
            params=public_query(call) or None,
            json=call.body,
            headers={"x-goog-fieldmask": call.fields} if call.fields else None,
            extensions={
                "google_key": endpoint.key_in,
                "google_signed": endpoint.signed,
                "google_tokens": tokens(call),
            },
        )

    def _follow(self, request: httpx.Request, deadline: float) -> Received | Fault:
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._client.send(request, stream=True)
            try:
                location = response.headers.get("location")
                if not (response.is_redirect and location):
                    return self._read(response, deadline)
                request = self._client.build_request("GET", request.url.join(location))
            finally:
                response.close()
        return Fault("it redirects in circles", again=False, billed=True)

    def _read(self, response: httpx.Response, deadline: float) -> Received | Fault:
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            if time.monotonic() > deadline:
                return Fault("no whole reply in time", again=True, billed=True)
            if len(body) > self._settings.max_reply_mb * 1e6:
                words = f"the reply is larger than {self._settings.max_reply_mb:g} MB"
                return Fault(words, again=False, billed=True)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Received(response.status_code, headers, self._keys.clean_bytes(bytes(body)))


@cache
def _certificates() -> ssl.SSLContext:
    """Whom to trust; once a process, for it takes a tenth of a second to read."""
    return httpx.create_ssl_context()


def _proxy(host: httpx.URL) -> str | None:
    """The proxy that the environment names for a host; httpx finds none for transports of our own."""
    if urllib.request.proxy_bypass(host.host):
        return None
    return urllib.request.getproxies().get(host.scheme)
