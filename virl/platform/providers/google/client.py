"""The client of all Google APIs: key, hosts, prices and refusals; `http.service.Service` does the rest.

with open_google_http(access=Access(Ledger(0.50))) as http:
    reply = http.json(http.request(Call("geocode", query={"address": "1 Main St"})))
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args
from urllib.parse import quote

from virl.errors import ProviderError
from virl.files.json_reading import JsonFault, read_json
from virl.money.book import Price
from virl.platform.providers.google.journeys import drop_date
from virl.platform.providers.google.settings import (
    KEY_VARIABLE,
    SECRET_VARIABLE,
    Endpoint,
    GoogleSettings,
    Keys,
    Tier,
    load_google_settings,
)
from virl.platform.providers.http.replies import (
    ExpectedBody,
    HttpFault,
    HttpReply,
    json_object,
    judge_body,
    page_words,
    shorten_words,
    usual_remedy,
)
from virl.platform.providers.http.service import Limits, Pace, Request, Service
from virl.platform.providers.http.stored_replies import Keeping, RequestName
from virl.platform.providers.provider import Access
from virl.retry import asked_wait

__all__ = ["Call", "GoogleHttp", "Pace", "open_google_http"]

MOST_NAMED = 20
"""Largest number of names in a line of credits, which only counts further ones; chosen: a run meets few."""


_TRY_AGAIN_STATUSES = {"OVER_QUERY_LIMIT", "UNKNOWN_ERROR"}
"""Statuses in legacy replies after which another try may help."""
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
"""Statuses in legacy replies that are faults."""

LIMITED = "RESOURCE_EXHAUSTED"
"""Code of Google for a used-up quota."""
_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: LIMITED,
}
"""Google's error code that each HTTP status stands for if the reply's body names none."""
_SAME_AS = {
    "OVER_QUERY_LIMIT": LIMITED,
    "REQUEST_DENIED": "PERMISSION_DENIED",
    "UNAUTHENTICATED": "PERMISSION_DENIED",
    "API_KEY_INVALID": "PERMISSION_DENIED",
}
"""Google's error codes that share the advice of another code, each with that other code."""
_SIGNATURE = "SIGNATURE"
"""Code, of virl's own, for a URL signature that Google refuses."""
_REMEDIES = {
    _SIGNATURE: f"check {SECRET_VARIABLE}: copy it from Google's console again, or unset it",
    LIMITED: "wait a while, lower `per_minute` in platform/providers/google.yaml, or raise the quota",
    "PERMISSION_DENIED": "enable {service} and billing in Google's console for the project of "
    "GOOGLE_MAPS_API_KEY, and let the key use it",
    "OVER_DAILY_LIMIT": "check the billing and the daily quota of the project of GOOGLE_MAPS_API_KEY",
    "NOT_FOUND": "request something else, or search by position again: ids change",
}
"""Advice to the user by code of a fault."""


WITHOUT_TILES = "; or use the mover grid or web without it (`map_tiles` in platform/providers/google.yaml)"
"""Advice on how to do without Map Tiles."""


def remedy(fault: HttpFault, service: str) -> str:
    """Return the advice on a fault of one of Google's services."""
    known = _REMEDIES.get(_SAME_AS.get(fault.code, fault.code))
    if known:
        without = WITHOUT_TILES if service == "Map Tiles API" and "{service}" in known else ""
        return known.format(service=service) + without
    return usual_remedy(fault, service)


def judge(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
    """Return a reply of Google if it is good, as `ZERO_RESULTS` is, or else the fault found in it.

    A reply that says that there is no such thing (`ZERO_RESULTS`) is good. One that is broken is asked for
    again, and paid for again; a whole one that lacks what it must hold is not.
    """
    status = reply.status
    if 200 <= status < 300:
        # A legacy API states its faults in a reply of HTTP status 200.
        told = json_object(reply.body) if expected.kind == "object" else {}
        code = told.get("status")
        if not (isinstance(code, str) and code in _LEGACY_FAULTS):
            return judge_body(expected, reply, billed=True)
        words = shorten_words(told.get("error_message") or told.get("errorMessage"))
        reason, may_retry = f"{code}: {words}" if words else code, code in _TRY_AGAIN_STATUSES
    else:
        code, reason = _google_error(status, reply.body)
        may_retry = status == 429 or status >= 500
    if may_retry:
        return HttpFault(
            reason, "wait", status=status, code=code, wait=asked_wait(reply.headers.get("retry-after"))
        )
    return HttpFault(reason, "refused", status=status, code=code)


def _google_error(status: int, body: bytes) -> tuple[str, str]:
    """Return (code, reason in words) of a refusal whose body may hold `{"error": {...}}`, also in a list."""
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


_KEY_NAMES = frozenset({"key", "signature"})
"""Names of query fields with the key or its signature."""
_TIMES = frozenset({"departureTime", "departure_time"})
"""Names of the fields of a call that hold a time of departure."""
_TOKEN_NAMES = frozenset({"session", "sessiontoken"})
"""Names of query fields with a session token."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request to one of Google's endpoints, before key and host are added."""

    endpoint: str
    """Name of the endpoint in `platform/providers/google.yaml`."""
    path: str = ""
    """Path after the endpoint's own, such as a place's id."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Fields of the URL's query, session tokens included."""
    body: Mapping[str, object] | None = None
    """JSON object to send; `None` for no body."""
    fields: str = ""
    """Field mask of the New APIs, such as `places.id,places.location`; empty for others."""


def canonical(call: Call) -> str:
    """Return a call as JSON with sorted keys, without key, session token and date of departure."""
    # What differs from run to run is left out, so that a later run finds the reply.
    request = {
        "endpoint": call.endpoint,
        "path": call.path,
        "query": _drop_dates(public_query(call)),
        "body": _drop_dates(call.body) if call.body else call.body,
        "fields": sorted(mask_of(call)),
    }
    return json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _drop_dates(asked: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a call, its times of departure reduced to weekday and time of day."""
    return {name: drop_date(str(value)) if name in _TIMES else value for name, value in asked.items()}


def public_query(call: Call) -> dict[str, str]:
    """Return the query fields of a call without keys and session tokens."""
    private = _KEY_NAMES | _TOKEN_NAMES
    return {name: text for name, text in call.query.items() if name.lower() not in private}


def tokens(call: Call) -> dict[str, str]:
    """Return the query fields of a call with session tokens, which no log may show."""
    return {name: text for name, text in call.query.items() if name.lower() in _TOKEN_NAMES}


def name_of(call: Call) -> RequestName:
    """Return the name by which caches and recordings know a call."""
    return RequestName(call.endpoint, canonical(call))


def mask_of(call: Call) -> frozenset[str]:
    """Return the names of the fields in the field mask of a call."""
    return frozenset(name.strip() for name in call.fields.split(",") if name.strip())


_TIERS: tuple[Tier, ...] = get_args(Tier)
"""Price classes of fields, from the cheapest on."""
_MOST_CHEAP_STOPS = 10
"""Largest number of intermediate stops of a route without surcharge (Routes usage page)."""


def price_of(settings: GoogleSettings, call: Call) -> Price:
    """Return the price of sending a call once, as if no monthly events were free.

    Raises:
        UnknownName: there is no such endpoint.
    """
    endpoint = settings.endpoint(call.endpoint)
    sku = _sku_of(settings, endpoint, call)
    events = _count_pairs(call) if endpoint.per == "element" else 1
    known = settings.skus[sku].usd_per_1000 is not None
    unknown = "" if known else f"`skus: {sku}: usd_per_1000` in platform/providers/google.yaml"
    return Price(sku, events, events * settings.skus[sku].micro_usd, unknown)


def _sku_of(settings: GoogleSettings, endpoint: Endpoint, call: Call) -> str:
    """Return the name in the price list that a call is billed as."""
    if endpoint.tiers:
        # The dearest field decides; one that is in no tier of the settings counts as the dearest.
        tier_of = {name: tier for tier, names in settings.field_tiers.items() for name in names}
        asked = {name.removeprefix("places.").split(".")[0] for name in mask_of(call)} or {""}
        dearest = max(_TIERS.index(tier_of.get(name, "atmosphere")) for name in asked)
        reached = [tier for tier in _TIERS[: dearest + 1] if tier in endpoint.tiers]
        return endpoint.tiers[reached[-1]] if reached else endpoint.sku
    return endpoint.advanced_sku if endpoint.advanced_sku and _is_advanced(call) else endpoint.sku


def _is_advanced(call: Call) -> bool:
    """Return whether a route or matrix of the Routes API or its forerunners is billed with surcharge."""
    body, between = call.body or {}, (call.body or {}).get("intermediates")
    waypoints = call.query.get("waypoints", "").split("|")
    return (
        str(body.get("routingPreference", "")).startswith("TRAFFIC_AWARE")
        or body.get("optimizeWaypointOrder") is True
        or (isinstance(between, list | tuple) and len(between) > _MOST_CHEAP_STOPS)
        # The Directions API drives where no mode is given.
        or ("departure_time" in call.query and call.query.get("mode", "driving") == "driving")
        or waypoints[0] == "optimize:true"
        or len(waypoints) > _MOST_CHEAP_STOPS
    )


def _count_pairs(call: Call) -> int:
    """Return the number of pairs of origins and destinations in a matrix call."""
    if call.body is None:
        origins, destinations = (
            len(call.query.get(ends, "").split("|")) for ends in ("origins", "destinations")
        )
        return origins * destinations
    sides = (call.body.get(ends) for ends in ("origins", "destinations"))
    origins, destinations = (len(side) if isinstance(side, list | tuple) else 1 for side in sides)
    return origins * destinations


_DAY_S = 86_400.0
"""Number of seconds in a day."""
_PATH_SAFE = "/:@!$&'()*+,;=~-._"
"""Characters of a URL's path that are not escaped."""


class GoogleHttp(Service):
    """A client of all Google APIs, which sends `Call`s with key, cache, ledger and limits.

    Args:
        settings: endpoints, prices and limits.
        keys: API key and signing secret; `None` for a replay, which needs none.
        keeping: cache, recording and ledger; by default nothing is kept, and money has no limit.
        pace: clock, pauses and random numbers of retries.

    Raises:
        ProviderError: there is no key, and no replay.
    """

    def __init__(
        self,
        settings: GoogleSettings,
        keys: Keys | None,
        keeping: Keeping | None = None,
        pace: Pace | None = None,
    ) -> None:
        """Make the client with keys, which only a replay can do without; nothing is sent yet."""
        keeping = keeping or Keeping()
        if keys is None and keeping.replay is None:
            raise ProviderError(
                "Google Maps Platform",
                f"{KEY_VARIABLE} is not set",
                "set it to your key, or replay a recording",
            )
        self.settings = settings
        self.ledger = keeping.ledger
        self._credits: dict[str, str] = {}  # of panoramas: page for complaints by copyright line
        super().__init__(
            "Google Maps Platform",
            {self._host_of(endpoint) for endpoint in settings.endpoints.values()},
            keeping,
            limits=Limits(
                settings.timeouts,
                settings.retries,
                settings.max_reply_mb,
                at_once=settings.concurrency,
                per_minute={name: endpoint.per_minute for name, endpoint in settings.endpoints.items()},
                pace=pace or Pace(),
            ),
            secrets=keys or Keys(""),
            judge=judge,
            remedy=remedy,
        )

    def close(self) -> None:
        """Close the connections and the cache."""
        super().close()
        self.keeping.close()

    def credit(self, copyright_line: str, report_link: str = "") -> None:
        """Note a panorama's line such as "© Google" and its page for complaints; ignore an empty line."""
        if copyright_line and not self._credits.get(copyright_line):
            self._credits[copyright_line] = report_link

    def credits(self) -> str:
        """Return the credits of the panoramas seen so far in one line; empty if none has a copyright."""
        named = list(self._credits.items())
        told = [f"{name} (report a problem: {link})" if link else name for name, link in named[:MOST_NAMED]]
        told += [f"{len(named) - MOST_NAMED} others"] if len(named) > MOST_NAMED else []
        return f"Street view: {', '.join(told)}" if told else ""

    def _host_of(self, endpoint: Endpoint) -> str:
        """Return the scheme and host for an endpoint: the settings' `base_url` or, without one, its own."""
        return self.settings.base_url or endpoint.base

    def request(self, call: Call) -> Request:
        """Return the request of a call, with its price, cache key and time in the cache.

        Raises:
            UnknownName: there is no such endpoint.
        """
        endpoint = self.settings.endpoint(call.endpoint)
        name, host = name_of(call), self._host_of(endpoint)
        scope, lifetime = self._keep_settings(endpoint)
        return Request(
            name,
            host + endpoint.prefix + quote(call.path, safe=_PATH_SAFE),
            endpoint.method,
            public_query(call),
            call.body,
            headers={"x-goog-fieldmask": call.fields} if call.fields else {},
            extensions={
                "google_key": endpoint.key_in,
                "google_signed": endpoint.signed,
                "google_tokens": tokens(call),
            },
            price=price_of(self.settings, call),
            key=name.key(host),
            lifetime=lifetime,
            scope=scope,
            service=endpoint.service,
        )

    def _keep_settings(self, endpoint: Endpoint) -> tuple[str, float]:
        """Return (cache scope, seconds) for replies of an endpoint; 0 seconds keep none."""
        cache = self.settings.cache
        if cache.mode == "off" or endpoint.keep == "never":
            return "", 0.0
        if cache.mode == "session" or endpoint.keep == "session":
            return self.keeping.session, cache.session_hours * 3600
        return "", endpoint.keep * _DAY_S


def open_google_http(settings: GoogleSettings | None = None, access: Access | None = None) -> GoogleHttp:
    """Return the client of Google for a run, by default with `platform/providers/google.yaml`.

    It has the key of the environment and this machine's cache, whose mode `access` may override.

    Raises:
        ProviderError: there is no key, and no replay.
        BadInput: the settings are broken, or a folder cannot be used.
    """
    settings, access = settings or load_google_settings(), access or Access()
    if access.cache is not None:
        cache = settings.cache.model_copy(update={"mode": access.cache})
        settings = settings.model_copy(update={"cache": cache})
    keeping = Keeping.of(
        access, "google" if settings.cache.mode != "off" else "", max_mb=settings.cache.max_mb
    )
    return GoogleHttp(settings, Keys.from_environment(), keeping)
