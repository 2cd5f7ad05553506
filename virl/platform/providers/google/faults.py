"""The judge of Google's replies: good, worth another try, or a fault with a remedy."""

from virl.files.json_reading import JsonFault, read_json
from virl.platform.providers.google.keys import SECRET_VARIABLE
from virl.platform.providers.http.bodies import Wanted
from virl.platform.providers.http.faults import (
    HttpFault,
    Received,
    json_object,
    page_words,
    shorten_words,
    usual_remedy,
    wait_of,
)
from virl.platform.providers.http.judging import judge_body

_TRY_AGAIN_STATUSES = {"OVER_QUERY_LIMIT", "UNKNOWN_ERROR"}
"""Statuses of the legacy APIs after which another try may help."""
_LEGACY_FAULTS = {
    "REQUEST_DENIED",
    "INVALID_REQUEST",
    "OVER_DAILY_LIMIT",
    "MAX_ELEMENTS_EXCEEDED",
    "MAX_DIMENSIONS_EXCEEDED",
    "MAX_WAYPOINTS_EXCEEDED",
    "MAX_ROUTE_LENGTH_EXCEEDED",
    *_TRY_AGAIN_STATUSES,
}
"""Statuses of the legacy APIs that are faults."""

LIMITED = "RESOURCE_EXHAUSTED"
"""Code of a used-up quota."""
_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: LIMITED,
}
"""Google's code for each HTTP status, where a body has none."""
_SAME_AS = {
    "OVER_QUERY_LIMIT": LIMITED,
    "REQUEST_DENIED": "PERMISSION_DENIED",
    "UNAUTHENTICATED": "PERMISSION_DENIED",
    "API_KEY_INVALID": "PERMISSION_DENIED",
}
"""Codes that share the remedy of another code."""
_SIGNATURE = "SIGNATURE"
"""Code, of virl's own, for a refused URL signature."""
_REMEDIES = {
    _SIGNATURE: f"check {SECRET_VARIABLE}: copy it from Google's console again, or unset it",
    LIMITED: "wait a while, lower `per_minute` in platform/providers/google.yaml, or raise the quota",
    "PERMISSION_DENIED": "enable {service} and billing in Google's console for the project of "
    "GOOGLE_MAPS_API_KEY, and let the key use it",
    "OVER_DAILY_LIMIT": "check the billing and the daily quota of the project of GOOGLE_MAPS_API_KEY",
    "NOT_FOUND": "request something else, or search by position again: ids change",
}
"""Advice to the user by code."""


WITHOUT_TILES = "; or use the mover grid or web without it (`map_tiles` in platform/providers/google.yaml)"
"""Advice to do without Map Tiles."""


def remedy(fault: HttpFault, service: str) -> str:
    """Return the advice on a fault of one of Google's services."""
    known = _REMEDIES.get(_SAME_AS.get(fault.code, fault.code))
    if known:
        without = WITHOUT_TILES if service == "Map Tiles API" and "{service}" in known else ""
        return known.format(service=service) + without
    return usual_remedy(fault, service)


def judge(wanted: Wanted, reply: Received) -> Received | HttpFault:
    """Return a good reply of Google, `ZERO_RESULTS` included, or its fault.

    A reply that says that there is no such thing (`ZERO_RESULTS`) is good. One that is broken is asked for
    again, and paid for again; a whole one that lacks what it must hold is not.
    """
    status = reply.status
    if not 200 <= status < 300:
        code, reason = _google_error(status, reply.body)
        if status == 429 or status >= 500:
            return HttpFault(reason, "wait", status=status, code=code, wait=wait_of(reply.headers))
        return HttpFault(reason, "refused", status=status, code=code)
    fault = _legacy_fault(reply) if wanted.kind == "object" else None
    return fault or judge_body(wanted, reply, billed=True)


def _legacy_fault(reply: Received) -> HttpFault | None:
    """Return the fault in the `status` of a legacy reply of HTTP status 200; `None` without one."""
    told = json_object(reply.body)
    code = told.get("status")
    if not (isinstance(code, str) and code in _LEGACY_FAULTS):
        return None
    words = shorten_words(told.get("error_message") or told.get("errorMessage"))
    reason = f"{code}: {words}" if words else code
    if code in _TRY_AGAIN_STATUSES:
        return HttpFault(reason, "wait", status=reply.status, code=code, wait=wait_of(reply.headers))
    return HttpFault(reason, "refused", status=reply.status, code=code)


def _google_error(status: int, body: bytes) -> tuple[str, str]:
    """Return (code, words) of `{"error": {"code", "message", "status"}}`, also within a list."""
    try:
        reply = read_json(body, from_service=True)
    except JsonFault:
        reply = None
    reply = reply[0] if isinstance(reply, list) and reply else reply
    error = reply.get("error") if isinstance(reply, dict) else None
    if not isinstance(error, dict):
        words = page_words(body) if reply is None else ""
        code = _SIGNATURE if "signature" in words.casefold() else _CODES.get(status, "")
        return code, f"status {status}" + (f": {words}" if words else "")
    code = shorten_words(error.get("status")) or _CODES.get(status, "")
    if "API_KEY_INVALID" in str(error.get("details")):
        code = "API_KEY_INVALID"
    words = shorten_words(error.get("message"))
    named = f"status {status}, {code}" if code else f"status {status}"
    return code, f"{named}: {words}" if words else named
