"""The way of every request to its handler: counting, faults on purpose, key, quota and refusals."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Literal

from fastapi import Request, Response

from virl.errors import (
    BadInput,
    BudgetExceeded,
    NoImagery,
    NoStreetView,
    NotFound,
    ProviderError,
    VirlError,
)
from virl.files.json_reading import JsonFault, read_json
from virl.serve.city_server import ClientLeft, Pools, Stats, while_waited_for
from virl.serve.faults import GARBAGE, HALF, TIMEOUT, chance_of, hang, hints
from virl.serve.gate import keys_shown, shows_key
from virl.serve.google.options import ServeOptions
from virl.serve.google.protojson import read_message, with_numbers
from virl.serve.google.wire import (
    JSON,
    OVER_QUOTA,
    ApiRequest,
    Family,
    GoogleStatus,
    Json,
    Refused,
    answer,
    failure,
    invalid,
    refusal,
)

NO_KEY = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or "
    "other form of API consumer identity to call this API."
)
NO_KEY_LEGACY = "You must use an API key to authenticate each request to Google Maps Platform APIs."
DENIED = "The project of this API key may not use this API: it is not enabled there."
WRONG_KEY = "API key not valid. Please pass a valid API key."
WRONG_KEY_LEGACY = "The provided API key is invalid."

UNAVAILABLE = "The provider of the city cannot be reached at the moment."
BAD_GATEWAY = "The provider of the city gave no usable answer."

RPC: Collection[Family] = ("new", "stream")

_QUOTA_CODES = ("RESOURCE_EXHAUSTED", "OVER_QUERY_LIMIT", "OVER_DAILY_LIMIT")
_CLIENT_LEFT = 499  # HTTP status for the counts, as nginx has it; no client is there to get it

_PRIVATE = frozenset({"key", "signature", "session"})
"""Query parameters that say who asks, not what: requests that differ only in these count as the same."""

_log = logging.getLogger(__name__)


Handler = Callable[[ApiRequest], Response]
"""A function that takes one parsed request and returns its response."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path of the server, with its HTTP method, its family of APIs and the handler that answers it."""

    name: str
    method: Literal["GET", "POST"]
    path: str
    family: Family
    handler: Handler
    message: str = ""
    """Name in `messages.yaml` of the message that the body has to be; empty if bodies are not checked."""
    draws: bool = False
    """True if the handler draws pictures and so runs in the slower pool of threads."""
    lists: tuple[str, ...] = ()
    """Names of the list fields that errors of a legacy API have beside their status, as empty lists."""
    is_free: bool = False
    """True if requests to this endpoint consume no quota."""
    needs_key: bool = True


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """A dispatcher that checks each request and runs its handler in a pool of threads."""

    options: ServeOptions
    stats: Stats
    pools: Pools

    def handler_of(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """Return the async function that counts, delays, checks and answers an endpoint's requests."""

        async def respond(request: Request) -> Response:
            """Return the response to a request; counts it, and draws whether it meets a fault."""
            content = await request.body()
            # Without its key and session: who asks changes neither what is asked nor which fault it meets.
            query = sorted(pair for pair in request.query_params.multi_items() if pair[0] not in _PRIVATE)
            mask = request.headers.get("X-Goog-FieldMask", "")
            text = json.dumps([endpoint.name, request.url.path, query, mask])
            digest = hashlib.blake2b(text.encode() + content, digest_size=16).hexdigest()
            before, counted = self.stats.count_request(endpoint.name, digest, counts=not endpoint.is_free)
            kind = self.options.faults.choose_fault(chance_of(self.options.seed, digest, before))
            await asyncio.sleep(self.options.latency_ms / 1000)
            if kind is not None:
                self.stats.count_fault(kind)
            response, good = await self._answer(endpoint, request, content, kind, counted)
            self.stats.count_answer(endpoint.name, digest, response.status_code, good=good)
            return response

        return respond

    async def _answer(
        self, endpoint: Endpoint, request: Request, content: bytes, kind: str | None, counted: int
    ) -> tuple[Response, bool]:
        """Return (response, True if a client can use it); `kind`: fault to make, `counted`: quota used."""
        if kind not in {None, GARBAGE, HALF}:
            return await self._fail(endpoint, request, str(kind)), False
        try:
            self._admit(endpoint, request, counted)
            api_request = _read_request(endpoint, request, content)
            # What takes milliseconds does not wait behind pictures.
            pool = self.pools.draw if endpoint.draws else self.pools.look_up
            response = await while_waited_for(request.receive, pool, lambda: _handle(endpoint, api_request))
        except ClientLeft:
            return Response(status_code=_CLIENT_LEFT), False
        except (Refused, VirlError) as fault:
            refused = _to_refusal(fault)
            response = refusal(refused, endpoint.family, endpoint.lists)
            response.headers.update(hints(refused.fault.value[0], self.options.retry_after_s))
            return response, False
        # Garbage and halves are made of the right answer, so that only its content is wrong.
        body = bytes(response.body)
        if kind == GARBAGE:
            # Neither text nor a picture; as long as the answer, and at least one byte.
            noise = (b"\xff\x00\xfe" * (len(body) // 3 + 1))[: max(len(body), 1)]
            return Response(noise, media_type=response.media_type), False
        if kind == HALF:
            half = body[: len(body) // 2]
            return Response(half, response.status_code, media_type=response.media_type), False
        return response, True

    def _admit(self, endpoint: Endpoint, request: Request, counted: int) -> None:
        """Raise `Refused` without a valid key, to a denied service, or if `counted` is over the quota."""
        if endpoint.needs_key:
            given = keys_shown(request.scope)
            if not given:
                raise Refused(GoogleStatus.NO_KEY, NO_KEY if endpoint.family in RPC else NO_KEY_LEGACY)
            own = self.options.key
            if own is not None and not shows_key(request.scope, own):
                raise Refused(
                    GoogleStatus.WRONG_KEY, WRONG_KEY if endpoint.family in RPC else WRONG_KEY_LEGACY
                )
        if self.options.denies(endpoint.name):
            raise Refused(GoogleStatus.NO_KEY, DENIED)
        quota = self.options.quota
        if not endpoint.is_free and quota is not None and counted > quota:
            raise Refused(GoogleStatus.OVER_QUOTA, OVER_QUOTA)

    async def _fail(self, endpoint: Endpoint, request: Request, kind: str) -> Response:
        """Return the answer of a fault on purpose: HTTP status `kind`, or for "timeout" a late 504."""
        if kind == TIMEOUT:
            await hang(request, self.options.hang_s)
            return failure(504, endpoint.family, endpoint.lists)
        response = failure(int(kind), endpoint.family, endpoint.lists)
        response.headers.update(hints(int(kind), self.options.retry_after_s))
        return response


def _to_refusal(fault: Refused | VirlError) -> Refused:
    """Return the refusal that a client gets for a handler's error; log what the server's user has to mend."""
    if isinstance(fault, Refused):
        return fault
    if isinstance(fault, BadInput):
        return invalid(str(fault))
    if isinstance(fault, NoStreetView | NoImagery | NotFound):
        return Refused(GoogleStatus.NOT_FOUND, str(fault))
    if isinstance(fault, BudgetExceeded):
        _log.warning(
            "$%.4f of the budget of $%.4f is spent, and a request costs $%.4f more: start the server again "
            "with a higher --budget-usd",
            *(fault.spent_usd, fault.limit_usd, fault.price_usd),
        )
        return Refused(GoogleStatus.OVER_QUOTA, OVER_QUOTA)
    _log.warning("%s", fault)
    status, message = GoogleStatus.UNAVAILABLE, UNAVAILABLE
    if isinstance(fault, ProviderError):
        if fault.status == 429 or fault.code in _QUOTA_CODES:
            status, message = GoogleStatus.OVER_QUOTA, OVER_QUOTA
        elif fault.status is not None and fault.status < 500:
            status, message = GoogleStatus.BAD_GATEWAY, BAD_GATEWAY
    return Refused(status, message)


def _handle(endpoint: Endpoint, api_request: ApiRequest) -> Response:
    """Return the endpoint's response to a request, with enums as numbers if the request asks for that."""
    response = endpoint.handler(api_request)
    if api_request.numbered and response.media_type == JSON:
        return answer(with_numbers(json.loads(bytes(response.body))))
    return response


def _read_request(endpoint: Endpoint, request: Request, content: bytes) -> ApiRequest:
    """Return an HTTP request with the body `content`, parsed; raise `Refused` if it is malformed."""
    query = dict(request.query_params)
    mask = request.headers.get("X-Goog-FieldMask") or query.get("$fields") or query.get("fields") or ""
    base_url = str(request.base_url).rstrip("/")
    body: Json = {}
    if content:
        try:
            body = read_json(content)
        except JsonFault:
            raise invalid("Invalid JSON payload received.") from None
        if not isinstance(body, dict):
            raise invalid("Invalid JSON payload received. Root element must be a message.")
    if endpoint.message:
        body = read_message(body, endpoint.message)
    numbered = "enum-encoding=int" in query.get("$alt", "")
    return ApiRequest(query, request.path_params, body, mask, numbered, base_url)
