"""Requests as handlers see them, and refusals in the three forms that Google gives them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from http.client import responses
from typing import Any, Literal

from fastapi import Response
from pydantic_core import to_json

Json = dict[str, Any]
JSON = "application/json; charset=UTF-8"
Family = Literal["new", "stream", "legacy", "picture"]
"""Manner of an endpoint: `new` answers errors as `google.rpc.Status`, `stream` as a list of one such,
`legacy` as a `status` in an answer with HTTP 200, `picture` as plain text."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request."""

    query: Mapping[str, str]
    path: Mapping[str, str]
    body: Json
    fields: str
    """The field mask, from the `X-Goog-FieldMask` header or the `fields` parameter; may be empty."""
    numbered: bool
    """True if enums are to be answered as numbers."""
    base_url: str
    """Scheme, host and port under which the client knows the server."""


class GoogleStatus(Enum):
    """The reason of a refusal: HTTP status, `google.rpc` status, and status of the legacy APIs."""

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
    """A request that is answered with an error.

    Args:
        fault: what is wrong with it.
        message: what the client is told.
    """

    def __init__(self, fault: GoogleStatus, message: str) -> None:
        """Keep the status and the message of the refusal."""
        super().__init__(message)
        self.fault = fault
        self.message = message


def invalid(message: str) -> Refused:
    """Return the refusal of a request whose parameters do not hold what they should."""
    return Refused(GoogleStatus.INVALID, message)


def answer(content: Json | list[Json], code: int = 200) -> Response:
    """Return a JSON answer."""
    text = to_json(content, indent=2, inf_nan_mode="null")
    return Response(text, code, media_type=JSON)


def refusal(refused: Refused, family: Family, lists: Sequence[str] = ()) -> Response:
    """Return a refusal in the manners of an API; `lists` are those that a legacy API then gives empty.

    Args:
        refused: what is wrong.
        family: of APIs.
        lists: names that a legacy API then gives empty.
    """
    code, rpc, legacy = refused.fault.value
    if family == "legacy":
        return _legacy_failure(code if code >= 500 else 200, legacy, refused.message, lists)
    if family == "picture":
        return Response(
            refused.message, 403 if refused.fault is GoogleStatus.WRONG_KEY else code, media_type="text/plain"
        )
    details = [_API_KEY_INVALID] if refused.fault is GoogleStatus.WRONG_KEY else []
    return _rpc_failure(family, code, rpc, refused.message, details)


def failure(code: int, family: Family, lists: Sequence[str] = ()) -> Response:
    """Return the answer of a server that fails with this HTTP status, as this family of APIs writes it.

    Args:
        code: HTTP status.
        family: of APIs.
        lists: names that a legacy API then gives empty.
    """
    if code == GoogleStatus.OVER_QUOTA.value[0]:
        return refusal(Refused(GoogleStatus.OVER_QUOTA, OVER_QUOTA), family, lists)
    phrase = responses.get(code, "Error")
    if family == "legacy":
        return _legacy_failure(code, "UNKNOWN_ERROR", phrase, lists)
    if family == "picture":
        return Response(phrase, code, media_type="text/plain")
    return _rpc_failure(family, code, _RPC_STATUS.get(code, "UNKNOWN"), phrase, [])


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
    """Return the answer where there is no such path, or another method is needed."""
    return _rpc_failure("new", 404, "NOT_FOUND", "Method not found.", [])


def _legacy_failure(code: int, status: str, message: str, lists: Sequence[str]) -> Response:
    """Return a failure as a legacy API writes it, with `lists` as empty lists."""
    return answer({"error_message": message, **{name: [] for name in lists}, "status": status}, code)


def _rpc_failure(family: Family, code: int, status: str, message: str, details: list[Json]) -> Response:
    """Return a failure as a new API writes it; a stream's in a list."""
    error: Json = {"code": code, "message": message, "status": status}
    if details:
        error["details"] = details
    return answer([{"error": error}] if family == "stream" else {"error": error}, code)
