"""Google's calls as HTTP requests."""

from urllib.parse import quote

from virl.platform.providers.google.calls import Call, public_query, tokens
from virl.platform.providers.google.keys import Keys
from virl.platform.providers.google.settings import Endpoint, GoogleSettings
from virl.platform.providers.http.faults import HttpFault, Received
from virl.platform.providers.http.wire import Wire

_PATH_SAFE = "/:@!$&'()*+,;=~-._"


class GoogleWire:
    """Connections to Google's hosts, or to the one host that stands for them.

    Args:
        settings: hosts, timeouts and sizes.
        keys: put on requests, and taken out of replies.
    """

    def __init__(self, settings: GoogleSettings, keys: Keys) -> None:
        self._settings = settings
        self.hosts = frozenset(self.host(endpoint) for endpoint in settings.endpoints.values())
        self._wire = Wire(
            self.hosts,
            keys,
            timeouts=settings.timeouts,
            connections=settings.concurrency,
            max_reply_mb=settings.max_reply_mb,
        )

    def host(self, endpoint: Endpoint) -> str:
        """Scheme and host that an endpoint is asked at."""
        return self._settings.base_url or endpoint.base

    def send(self, call: Call, endpoint: Endpoint) -> Received | HttpFault:
        """Send a call once; a fault if no whole reply came."""
        request = self._wire.request(
            endpoint.method,
            self.host(endpoint) + endpoint.prefix + quote(call.path, safe=_PATH_SAFE),
            query=public_query(call),
            body=call.body,
            headers={"x-goog-fieldmask": call.fields} if call.fields else None,
            extensions={
                "google_key": endpoint.key_in,
                "google_signed": endpoint.signed,
                "google_tokens": tokens(call),
            },
        )
        return self._wire.send(request)

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()
