"""Calls to Google: the canonical form that names them in caches and recordings, and their prices."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from virl.money.spending import Price
from virl.platform.providers.google.journeys import undated
from virl.platform.providers.google.settings import Endpoint, GoogleSettings, Tier
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


_TIERS: tuple[Tier, ...] = get_args(Tier)
_MOST_CHEAP_STOPS = 10  # intermediate stops of a route without surcharge (Routes usage page)


def price_of(settings: GoogleSettings, call: Call) -> Price:
    """The price of sending a call once, free monthly events left out.

    Raises:
        UnknownName: there is no such endpoint.
    """
    endpoint = settings.endpoint(call.endpoint)
    sku = _sku_of(settings, endpoint, call)
    events = _pairs(call) if endpoint.per == "element" else 1
    known = settings.skus[sku].usd_per_1000 is not None
    unknown = "" if known else f"`skus: {sku}: usd_per_1000` in platform/providers/google.yaml"
    return Price(sku, events, events * settings.skus[sku].micro_usd, unknown)


def _sku_of(settings: GoogleSettings, endpoint: Endpoint, call: Call) -> str:
    if endpoint.tiers:
        tier = max(
            (_tier_of(settings, name) for name in mask_of(call)), key=_TIERS.index, default="atmosphere"
        )
        reached = [t for t in _TIERS[: _TIERS.index(tier) + 1] if t in endpoint.tiers]
        return endpoint.tiers[reached[-1]] if reached else endpoint.sku
    if endpoint.advanced_sku and (_is_advanced_body(call.body or {}) or _is_advanced_query(call.query)):
        return endpoint.advanced_sku
    return endpoint.sku


def _tier_of(settings: GoogleSettings, name: str) -> Tier:
    field = name.removeprefix("places.").split(".")[0]
    return next((tier for tier, fields in settings.field_tiers.items() if field in fields), "atmosphere")


def _is_advanced_body(body: Mapping[str, object]) -> bool:
    stops = body.get("intermediates")
    return (
        str(body.get("routingPreference", "")).startswith("TRAFFIC_AWARE")
        or body.get("optimizeWaypointOrder") is True
        or (isinstance(stops, list | tuple) and len(stops) > _MOST_CHEAP_STOPS)
    )


def _is_advanced_query(query: Mapping[str, str]) -> bool:
    stops = query.get("waypoints", "").split("|")
    return ("departure_time" in query and query.get("mode", "driving") == "driving") or (
        stops[0] == "optimize:true" or len(stops) > _MOST_CHEAP_STOPS
    )


def _pairs(call: Call) -> int:
    if call.body is None:
        origins, destinations = (
            len(call.query.get(ends, "").split("|")) for ends in ("origins", "destinations")
        )
        return origins * destinations
    sides = (call.body.get(ends) for ends in ("origins", "destinations"))
    origins, destinations = (len(side) if isinstance(side, list | tuple) else 1 for side in sides)
    return origins * destinations
