"""What is asked of Google: a call, and the canonical form that names it in caches and recordings."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from virl.platform.providers.google.departures import undated
from virl.platform.providers.http.naming import RequestName

_KEY_NAMES = frozenset({"key", "signature"})
_TIMES = frozenset({"departureTime", "departure_time"})
_TOKEN_NAMES = frozenset({"session", "sessiontoken"})


@dataclass(frozen=True, slots=True)
class Call:
    """A request to one of Google's endpoints, without key and host."""

    endpoint: str
    """A name in `platform/providers/google.yaml`."""
    path: str = ""
    """What follows the endpoint's own path, such as a place's id."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    fields: str = ""
    """The field mask of the New APIs, `places.id,places.location`."""


def canonical(call: Call) -> str:
    """The call as JSON that does not depend on order, key, session token or the date of a departure."""
    request = {
        "endpoint": call.endpoint,
        "path": call.path,
        "query": _undated(public_query(call)),
        "body": _undated(call.body) if call.body else call.body,
        "fields": sorted(mask_of(call)),
    }
    return json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _undated(asked: Mapping[str, object]) -> dict[str, object]:
    """The same with times of departure by weekday and clock."""
    return {name: undated(str(value)) if name in _TIMES else value for name, value in asked.items()}


def public_query(call: Call) -> dict[str, str]:
    """What the query asks, without what says who asks."""
    private = _KEY_NAMES | _TOKEN_NAMES
    return {name: text for name, text in call.query.items() if name.lower() not in private}


def tokens(call: Call) -> dict[str, str]:
    """The session tokens of the query, which no log may show."""
    return {name: text for name, text in call.query.items() if name.lower() in _TOKEN_NAMES}


def name_of(call: Call) -> RequestName:
    """What names the call in caches and recordings."""
    return RequestName(call.endpoint, canonical(call))


def mask_of(call: Call) -> frozenset[str]:
    """The fields that a call asks for."""
    return frozenset(name.strip() for name in call.fields.split(",") if name.strip())
