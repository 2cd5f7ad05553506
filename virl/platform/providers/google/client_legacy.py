"""Google's client library for the legacy web services, kept off the network.

The library builds the requests and checks the replies. It is given a transport adapter instead of a network:
each of its requests goes through `GoogleHttp` and so is counted, paid, cached, limited and recorded like any
other. The library never sees the key.
"""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any, Concatenate, ParamSpec
from urllib.parse import parse_qsl, urlsplit

import googlemaps
import requests
from googlemaps.exceptions import ApiError, TransportError
from requests.adapters import BaseAdapter

from virl.errors import ProviderError, VirlError
from virl.platform.providers.google.client import Call, GoogleHttp
from virl.platform.providers.http.replies import ReplyBody

SERVICE = "Google's legacy web services"

_PLACEHOLDER = "AIza-is-added-later"
"""Stand-in for the key, which is added later: the library insists on a key's form."""
_LEFT_OUT = ("key", "minprice", "maxprice")
"""Names of query fields to drop: the key, and the price limits, which the library writes even if unset."""
_ENDPOINTS = {
    "/maps/api/place/nearbysearch/json": "legacy_nearby",
    "/maps/api/place/textsearch/json": "legacy_text",
    "/maps/api/place/details/json": "legacy_details",
    "/maps/api/place/photo": "legacy_photo",
    "/maps/api/directions/json": "legacy_directions",
    "/maps/api/distancematrix/json": "legacy_matrix",
}
"""Name of each endpoint in `google.yaml`, by its URL path."""

Asked = ParamSpec("Asked")


class _StatusBody(ReplyBody):
    """The part of a reply that Google's client library itself reads."""

    status: str


class GoogleClient:
    """A client of the legacy APIs: Google's own library, whose requests `GoogleHttp` sends."""

    def __init__(self, http: GoogleHttp) -> None:
        """Prepare the library to send its requests through `http`."""
        session = requests.Session()
        session.trust_env = False
        session.mount("https://", _HttpAdapter(http))
        self._client = googlemaps.Client(
            _PLACEHOLDER,
            requests_session=session,
            retry_over_query_limit=False,
            queries_per_second=1000,  # `GoogleHttp` has limits of its own
            queries_per_minute=60_000,
        )

    def ask(
        self,
        method: Callable[Concatenate[googlemaps.Client, Asked], Any],
        *args: Asked.args,
        **options: Asked.kwargs,
    ) -> Any:
        """Return the result of a method of `googlemaps.Client`; `None` if Google's status is NOT_FOUND.

        Raises:
            ProviderError: as `GoogleHttp`.
            BudgetExceeded: as `GoogleHttp`.
        """
        try:
            return method(self._client, *args, **options)
        except TransportError as fault:
            if isinstance(fault.base_exception, VirlError):
                raise fault.base_exception from None
            raise ProviderError(SERVICE, str(fault), "try again") from fault
        except ApiError as fault:
            if fault.status == "NOT_FOUND":
                return None
            raise ProviderError(SERVICE, str(fault), "try again", code=fault.status) from fault


class _HttpAdapter(BaseAdapter):
    """An adapter for the `requests` library that sends through `GoogleHttp`."""

    def __init__(self, http: GoogleHttp) -> None:
        """Make an adapter that sends all requests through `http`."""
        super().__init__()
        self._http = http

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        """Send a request and return a good response; raise every fault."""
        parts = urlsplit(str(request.url))
        query = {name: text for name, text in parse_qsl(parts.query) if name not in _LEFT_OUT}
        call = Call(_ENDPOINTS[parts.path], query=query)
        if call.endpoint == "legacy_photo":
            body = self._http.bytes(self._http.request(call))
        else:
            body = json.dumps(self._http.json(self._http.request(call), _StatusBody)).encode()
        response = requests.Response()
        response.status_code = 200
        response.request = request
        response.raw = BytesIO(body)
        return response

    def close(self) -> None:
        """Do nothing, as the owner of the HTTP client closes it."""
