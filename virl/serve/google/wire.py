"""Requests as handlers read them, page tokens, and refusals in the three forms that Google gives them."""

import hashlib
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from http.client import responses
from threading import Lock
from typing import Any, Literal

from cachetools import FIFOCache
from fastapi import Response
from pydantic_core import to_json

from virl.geo.globe import LatLng, distance
from virl.platform.city.places import Place

Json = dict[str, Any]
JSON = "application/json; charset=UTF-8"
Family = Literal["new", "stream", "legacy", "picture"]
"""Name of a family of Google's APIs, by the form of its errors: new, stream, legacy or picture.

`new` answers errors as `google.rpc.Status`, `stream` as a list of one such, `legacy` as a `status` in an
answer with HTTP 200, `picture` as plain text."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One HTTP request as its handler reads it: parameters, JSON body, field mask and server address."""

    query: Mapping[str, str]
    path: Mapping[str, str]
    """Values of the placeholders in the endpoint's path, such as `z` of a tile, by name."""
    body: Json
    fields: str
    """The field mask, from the `X-Goog-FieldMask` header or the `fields` parameter; may be empty."""
    numbered: bool
    """True if the request asks for enums as numbers."""
    base_url: str
    """Scheme, host and port by which the client reaches the server, such as `http://localhost:8765`."""


class GoogleStatus(Enum):
    """Reasons of refusals, each (HTTP status, `google.rpc` status, status of the legacy APIs)."""

    INVALID = (400, "INVALID_ARGUMENT", "INVALID_REQUEST")
    NO_KEY = (403, "PERMISSION_DENIED", "REQUEST_DENIED")
    WRONG_KEY = (400, "INVALID_ARGUMENT", "REQUEST_DENIED")
    NOT_FOUND = (404, "NOT_FOUND", "NOT_FOUND")
    OVER_QUOTA = (429, "RESOURCE_EXHAUSTED", "OVER_QUERY_LIMIT")
    UNAVAILABLE = (503, "UNAVAILABLE", "UNKNOWN_ERROR")
    BAD_GATEWAY = (502, "UNAVAILABLE", "UNKNOWN_ERROR")
    MAX_WAYPOINTS = (400, "INVALID_ARGUMENT", "MAX_WAYPOINTS_EXCEEDED")
    MAX_ELEMENTS = (400, "INVALID_ARGUMENT", "MAX_ELEMENTS_EXCEEDED")
    MAX_DIMENSIONS = (400, "INVALID_ARGUMENT", "MAX_DIMENSIONS_EXCEEDED")


class Refused(Exception):
    """An error that ends a request with a refusal in Google's form."""

    def __init__(self, fault: GoogleStatus, message: str) -> None:
        """Keep the reason, with its HTTP status, and the message for the client."""
        super().__init__(message)
        self.fault = fault
        self.message = message


def invalid(message: str) -> Refused:
    """Return the refusal of a request with invalid parameters, HTTP 400."""
    return Refused(GoogleStatus.INVALID, message)


def answer(content: Json | list[Json], code: int = 200) -> Response:
    """Return a response with this JSON and HTTP status."""
    text = to_json(content, indent=2, inf_nan_mode="null")
    return Response(text, code, media_type=JSON)


def refusal(refused: Refused, family: Family, lists: Sequence[str] = ()) -> Response:
    """Return a refusal as a family of APIs writes it; legacy APIs add an empty list for each name in `lists`.

    Args:
        refused: the reason and the message.
        family: the family of APIs that the endpoint belongs to.
        lists: names of the lists that a legacy API gives empty beside its status.
    """
    code, rpc, legacy = refused.fault.value
    is_wrong_key = refused.fault is GoogleStatus.WRONG_KEY
    if family == "legacy":
        # Legacy APIs tell a client's error in the body, with HTTP 200; only a server's has a code of its own.
        code = code if code >= 500 else 200
    elif family == "picture" and is_wrong_key:
        code = 403
    details = [_API_KEY_INVALID] if is_wrong_key else []
    return _failure(family, code, legacy if family == "legacy" else rpc, refused.message, lists, details)


def failure(code: int, family: Family, lists: Sequence[str] = ()) -> Response:
    """Return a fault made on purpose, HTTP `code`, in a family's form; legacy APIs add the empty `lists`.

    Args:
        code: HTTP status.
        family: the family of APIs that the endpoint belongs to.
        lists: names of the lists that a legacy API gives empty beside its status.
    """
    if code == GoogleStatus.OVER_QUOTA.value[0]:
        return refusal(Refused(GoogleStatus.OVER_QUOTA, OVER_QUOTA), family, lists)
    status = "UNKNOWN_ERROR" if family == "legacy" else _RPC_STATUS.get(code, "UNKNOWN")
    return _failure(family, code, status, responses.get(code, "Error"), lists)


OVER_QUOTA = "You have exceeded your request quota for this API."
_RPC_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_API_KEY_INVALID = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    "reason": "API_KEY_INVALID",
    "domain": "googleapis.com",
}


def no_such_method() -> Response:
    """Return the answer to a request for an unknown path or method, HTTP 404."""
    return _failure("new", 404, "NOT_FOUND", "Method not found.")


def _failure(
    family: Family,
    code: int,
    status: str,
    message: str,
    lists: Sequence[str] = (),
    details: Sequence[Json] = (),
) -> Response:
    """Return a failure in a family's form; `lists` names the lists that legacy APIs add empty."""
    if family == "picture":
        return Response(message, code, media_type="text/plain")
    if family == "legacy":
        return answer({"error_message": message, **{name: [] for name in lists}, "status": status}, code)
    error: Json = {"code": code, "message": message, "status": status}
    if details:
        error["details"] = details
    return answer([{"error": error}] if family == "stream" else {"error": error}, code)


def number(text: str, name: str, low: float, high: float) -> float:
    """Return the number that a parameter's text holds; raise `Refused` if it is none or outside [low, high].

    Args:
        text: the parameter's value.
        name: the parameter's name, for the error.
        low: the least number accepted.
        high: the greatest number accepted.

    Raises:
        Refused: the text is no number, or outside [low, high].
    """
    try:
        # `float` would read the digits of other scripts, too.
        value = float(text) if text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise invalid(
            f"Invalid request. Invalid '{name}' parameter: it must be between {low:g} and {high:g}."
        )
    return value


def optional_number(query: Mapping[str, str], name: str, low: float, high: float, default: float) -> float:
    """Return a query parameter as a number in [low, high], `default` if it is left out.

    Args:
        query: the request's parameters.
        name: the parameter's name.
        low: the least number accepted.
        high: the greatest number accepted.
        default: the value if the parameter is left out.
    """
    return number(query[name], name, low, high) if query.get(name) else default


def position_in(text: str) -> LatLng | None:
    """Return the position in a text "lat,lng" such as "41.25,-38.75"; `None` if it has another form."""
    found = re.fullmatch(
        r"\s*(-?\d+(?:\.\d*)?(?:e-?\d+)?)\s*,\s*(-?\d+(?:\.\d*)?(?:e-?\d+)?)\s*", text, re.ASCII
    )
    if not found:
        return None
    return LatLng(number(found[1], "lat", -90, 90), number(found[2], "lng", -180, 180))


def position(text: str, name: str = "location") -> LatLng:
    """Return the position in a parameter of the form "lat,lng"; raise `Refused` for other texts.

    Raises:
        Refused: the text has another form, or is out of range.
    """
    found = position_in(text)
    if found is None:
        raise invalid(f"Invalid request. Invalid '{name}' parameter.")
    return found


def lat_lng(message: Any, name: str, lat: str = "latitude", lng: str = "longitude") -> LatLng:
    """Return the position in a message with fields named `lat` and `lng`, 0 if missing; `name` is for errors.

    Args:
        message: a value from the request's body.
        name: the path of the message, for errors.
        lat: the name of its field of latitude.
        lng: the name of its field of longitude.

    Raises:
        Refused: it is no such message, or out of range.
    """
    if not isinstance(message, dict):
        raise invalid(f"Invalid value at '{name}': a position is missing.")
    values = [message.get(lat, 0.0), message.get(lng, 0.0)]
    if not all(isinstance(value, int | float) for value in values):
        raise invalid(f"Invalid value at '{name}': {lat} and {lng} must be numbers.")
    return LatLng(
        number(str(values[0]), f"{name}.{lat}", -90, 90), number(str(values[1]), f"{name}.{lng}", -180, 180)
    )


def message_in(body: Json, name: str) -> Json:
    """Return the JSON object in field `name` of a body, {} if it is left out; else raise `Refused`.

    Raises:
        Refused: the field holds something else.
    """
    found = body.get(name, {})
    if not isinstance(found, dict):
        raise invalid(f"Invalid value at '{name}': it must be a message.")
    return found


def texts_in(body: Json, name: str, most: int) -> list[str]:
    """Return the texts in a body's list `name`, [] if left out; raise `Refused` for more than `most`.

    Args:
        body: the request's body.
        name: the field's name.
        most: the number of texts that are allowed.

    Raises:
        Refused: the field holds something else, or too many texts.
    """
    found = body.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise invalid(f"Invalid value at '{name}': it must be a list of texts.")
    if len(found) > most:
        raise invalid(f"Invalid value at '{name}': at most {most} are allowed.")
    return found


MAX_RADIUS_M = 50_000.0  # as Places (New) allows


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle on the ground: all within `radius` metres of `middle`."""

    middle: LatLng
    radius: float

    def holds(self, position: LatLng) -> bool:
        """Return whether a position is inside the circle."""
        return distance(self.middle, position) <= self.radius

    @property
    def reach(self) -> float:
        """Metres from the middle to the farthest point of the circle: its radius."""
        return self.radius


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle in latitude and longitude between its south-western and north-eastern corners."""

    low: LatLng
    """South-western corner."""
    high: LatLng
    """North-eastern corner."""

    @property
    def middle(self) -> LatLng:
        """The position halfway between the corners."""
        return LatLng((self.low.lat + self.high.lat) / 2, (self.low.lng + self.high.lng) / 2)

    @property
    def reach(self) -> float:
        """Metres from the middle to the farther corner, at most 50,000."""
        return min(max(distance(self.middle, self.low), distance(self.middle, self.high)), MAX_RADIUS_M)

    def holds(self, position: LatLng) -> bool:
        """Return whether a position is inside the rectangle."""
        return self.low.lat <= position.lat <= self.high.lat and self.low.lng <= position.lng <= self.high.lng


def area_in(body: Json, name: str) -> Circle | Rectangle | None:
    """Return the circle or rectangle in field `name` of a body, `None` if it is left out.

    Raises:
        Refused: the field holds something else.
    """
    area = message_in(body, name)
    if not area:
        return None
    if "circle" in area:
        return circle_in(area, name)
    box = message_in(area, "rectangle")
    low, high = (lat_lng(box.get(corner), f"{name}.rectangle.{corner}") for corner in ("low", "high"))
    if low.lat > high.lat:
        raise invalid(f"Invalid value at '{name}.rectangle': low.latitude is above high.latitude.")
    return Rectangle(low, high)


def circle_in(area: Json, name: str) -> Circle:
    """Return the circle in `area`; raise `Refused` unless its radius is above 0 and at most 50,000 m.

    Raises:
        Refused: there is no circle, or its radius is out of range.
    """
    circle = message_in(area, "circle")
    if not circle:
        raise invalid(f"{name}.circle is a required field.")
    middle = lat_lng(circle.get("center"), f"{name}.circle.center")
    radius = number(str(circle.get("radius", 0)), f"{name}.circle.radius", 0, MAX_RADIUS_M)
    if radius == 0:
        raise invalid(f"{name}.circle.radius must be greater than 0.")
    return Circle(middle, radius)


MAX_TOKENS = 10_000  # page tokens that are remembered, the oldest go first; chosen


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list of places, and the token of the next page; `None` on the last."""

    places: Sequence[Place]
    next_token: str | None


@dataclass(frozen=True, slots=True)
class _RemainingPlaces:
    """The places of a query that were not on its pages so far."""

    query: str
    places: Sequence[Place]
    valid_from: float
    """Time of `Pages.clock`, seconds, before which the token of the next page is refused, as Google does."""


@dataclass(slots=True)
class Pages:
    """A store of lists of places that are given page by page, by token. Safe to use from several threads."""

    delay_s: float
    """Seconds after which a new token becomes valid."""
    clock: Callable[[], float] = time.monotonic
    """Function that returns the seconds on a clock that never goes back."""
    _remaining: FIFOCache[str, _RemainingPlaces] = field(default_factory=lambda: FIFOCache(MAX_TOKENS))
    _lock: Lock = field(default_factory=Lock)

    def first(self, query: str, places: Sequence[Place], size: int) -> Page:
        """Return the first `size` places as a page, and keep the others under a token made from `query`.

        Args:
            query: the request as a text; the same query gives the same tokens.
            places: the whole list.
            size: places on a page.
        """
        if len(places) <= size:
            return Page(places, None)
        # The number of places that are left tells the pages of one query apart.
        token = hashlib.blake2b(f"{query} {len(places)}".encode(), digest_size=32).hexdigest()
        with self._lock:
            known = self._remaining.get(token)
            valid_from = known.valid_from if known else self.clock() + self.delay_s
            self._remaining[token] = _RemainingPlaces(query, places[size:], valid_from)
        return Page(places[:size], token)

    def next_page(self, token: str, size: int, query: str | None = None) -> Page:
        """Return a token's page of up to `size` places; raise `Refused` for a bad token or another query.

        Args:
            token: the token that the page before gave.
            size: places on a page.
            query: the request as a text, to compare with the first one; `None` compares nothing.

        Raises:
            Refused: the token is unknown, not yet valid, or of another query.
        """
        with self._lock:
            rest = self._remaining.get(token)
        if rest is None or self.clock() < rest.valid_from:
            raise invalid("The page token is not valid, or not valid yet.")
        if query is not None and query != rest.query:
            raise invalid("Request parameters for paging requests must match the initial request.")
        return self.first(rest.query, rest.places, size)
