"""Prices of calls, by Google's price list."""

from collections.abc import Mapping
from typing import get_args

from virl.money.spending import Price
from virl.platform.providers.google.calls import Call, mask_of
from virl.platform.providers.google.settings import Endpoint, GoogleSettings, Tier

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
