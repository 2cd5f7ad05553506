"""What a reply of Google's means: good, worth another try, or a fault with a remedy."""

from collections.abc import Mapping

from virl.json_reading import JsonFault, read_json
from virl.platform.providers.http.bodies import Wanted
from virl.platform.providers.http.faults import ASKED_WRONG, TRY_LATER, HttpFault, shortened, wait_of

_GOOD_STATUSES = {"OK", "ZERO_RESULTS", "NOT_FOUND"}
_TRY_AGAIN_STATUSES = {"OVER_QUERY_LIMIT", "UNKNOWN_ERROR"}
_LEGACY_STATUSES = {
    "REQUEST_DENIED",
    "INVALID_REQUEST",
    "OVER_DAILY_LIMIT",
    "MAX_ELEMENTS_EXCEEDED",
    "MAX_DIMENSIONS_EXCEEDED",
    "MAX_WAYPOINTS_EXCEEDED",
    "MAX_ROUTE_LENGTH_EXCEEDED",
    *_GOOD_STATUSES,
    *_TRY_AGAIN_STATUSES,
}

LIMITED = "RESOURCE_EXHAUSTED"
_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: LIMITED,
}
_SAME_AS = {
    "OVER_QUERY_LIMIT": LIMITED,
    "REQUEST_DENIED": "PERMISSION_DENIED",
    "UNAUTHENTICATED": "PERMISSION_DENIED",
    "API_KEY_INVALID": "PERMISSION_DENIED",
}
_REMEDIES = {
    LIMITED: "wait a while, lower `per_minute` in platform/providers/google.yaml, or raise the quota",
    "PERMISSION_DENIED": "enable {service} and billing in Google's console for the project of "
    "GOOGLE_MAPS_API_KEY, and let the key use it",
    "OVER_DAILY_LIMIT": "check the billing and the daily quota of the project of GOOGLE_MAPS_API_KEY",
    "NOT_FOUND": "request something else, or search by position again: ids change",
}


WITHOUT_TILES = "; or use the mover grid or web without it (`map_tiles` in platform/providers/google.yaml)"


def remedy(fault: HttpFault, service: str) -> str:
    """What to do about a fault of one of Google's services."""
    known = _REMEDIES.get(_SAME_AS.get(fault.code, fault.code))
    if known:
        without = WITHOUT_TILES if service == "Map Tiles API" and "{service}" in known else ""
        return known.format(service=service) + without
    return TRY_LATER if fault.again else ASKED_WRONG


def fault_in(wanted: Wanted, status: int, headers: Mapping[str, str], body: bytes) -> HttpFault | None:
    """What is wrong with a reply; `None` if nothing is.

    A reply that says that there is no such thing (`ZERO_RESULTS`) is good. One that its reader cannot read is
    asked for again, and paid for again.
    """
    if status == 429 or status >= 500:
        code, words = _google_error(status, body)
        return HttpFault(
            words or f"status {status}", verdict="wait", status=status, code=code, wait=wait_of(headers)
        )
    if not 200 <= status < 300:
        code, words = _google_error(status, body)
        return HttpFault(words or f"status {status}", verdict="refused", status=status, code=code)
    if fault := _legacy_fault(status, headers, body) if wanted.kind == "object" else None:
        return fault
    misfit = wanted.misfit(body)
    return HttpFault(misfit, verdict="wait", billed=True, status=status) if misfit else None


def _legacy_fault(status: int, headers: Mapping[str, str], body: bytes) -> HttpFault | None:
    """The fault that a reply with status 200 tells in its `status`, as the legacy APIs do."""
    try:
        reply = read_json(body)
    except JsonFault:
        return None
    code = reply.get("status") if isinstance(reply, dict) else None
    if not (isinstance(code, str) and code in _LEGACY_STATUSES - _GOOD_STATUSES):
        return None
    words = shortened(reply.get("error_message") or reply.get("errorMessage"))
    again = code in _TRY_AGAIN_STATUSES
    reason = f"{code}: {words}" if words else code
    wait = wait_of(headers) if again else None
    return HttpFault(reason, "wait" if again else "refused", status=status, code=code, wait=wait)


def _google_error(status: int, body: bytes) -> tuple[str, str]:
    """Name and words of `{"error": {"code", "message", "status"}}`, which matrices wrap in a list."""
    try:
        reply = read_json(body)
    except JsonFault:
        reply = None
    reply = reply[0] if isinstance(reply, list) and reply else reply
    error = reply.get("error") if isinstance(reply, dict) else None
    if not isinstance(error, dict):
        return _CODES.get(status, ""), f"status {status}"
    code = shortened(error.get("status")) or _CODES.get(status, "")
    if "API_KEY_INVALID" in str(error.get("details")):
        code = "API_KEY_INVALID"
    words = shortened(error.get("message"))
    return code, f"status {status}, {code}: {words}" if words else f"status {status}, {code}"
