"""What every request passes: its count, faults on purpose, the key and the quota."""

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
from virl.serve.gate import given_keys, shows_key
from virl.serve.google.options import ServeOptions
from virl.serve.google.protojson import read_message, with_numbers
from virl.serve.google.wire import (
    JSON,
    OVER_QUOTA,
    Ask,
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

_LIMITED = ("RESOURCE_EXHAUSTED", "OVER_QUERY_LIMIT", "OVER_DAILY_LIMIT")
_CLIENT_LEFT = 499  # as nginx counts them; nobody gets it

_PRIVATE = frozenset({"key", "signature", "session"})
"""Parameters that do not change what is asked."""

_log = logging.getLogger(__name__)


Handler = Callable[[Ask], Response]
"""A function that answers one request."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One path of the server and what answers it."""

    name: str
    method: Literal["GET", "POST"]
    path: str
    family: Family
    handler: Handler
    message: str = ""
    """Name of the body's message in `messages.yaml`; empty for a body that is not checked here."""
    draws: bool = False
    """True if it may take long, since pictures are drawn."""
    lists: tuple[str, ...] = ()
    """Fields that an error of a legacy API gives empty."""
    is_free: bool = False
    """Consumes no quota."""
    needs_key: bool = True


class Dispatcher:
    """A dispatcher of requests to their handlers, which run in pools of threads.

    Args:
        options: how the server behaves.
        stats: where requests are counted.
        pools: run the handlers.
    """

    def __init__(self, options: ServeOptions, stats: Stats, pools: Pools) -> None:
        """Prepare to answer requests with these faults, statistics and threads."""
        self._options = options
        self._stats = stats
        self._pools = pools

    def handler_of(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of an endpoint with all checks before it."""

        async def respond(request: Request) -> Response:
            content = await request.body()
            # Without its key and session: who asks changes neither what is asked nor which fault it meets.
            query = sorted(pair for pair in request.query_params.multi_items() if pair[0] not in _PRIVATE)
            mask = request.headers.get("X-Goog-FieldMask", "")
            text = json.dumps([endpoint.name, request.url.path, query, mask])
            digest = hashlib.blake2b(text.encode() + content, digest_size=16).hexdigest()
            before, counted = self._stats.count_request(endpoint.name, digest, counts=not endpoint.is_free)
            kind = self._options.faults.choose_fault(chance_of(self._options.seed, digest, before))
            await asyncio.sleep(self._options.latency_ms / 1000)
            if kind is not None:
                self._stats.count_fault(kind)
            response, good = await self._answer(endpoint, request, content, kind, counted)
            self._stats.count_answer(endpoint.name, digest, response.status_code, good=good)
            return response

        return respond

    async def _answer(
        self, endpoint: Endpoint, request: Request, content: bytes, kind: str | None, counted: int
    ) -> tuple[Response, bool]:
        """Return the response, and whether a client can use it."""
        if kind not in {None, GARBAGE, HALF}:
            return await self._fail(endpoint, request, str(kind)), False
        try:
            self._admit(endpoint, request, counted)
            ask = _read_request(endpoint, request, content)
            # What takes milliseconds does not wait behind pictures.
            pool = self._pools.draw if endpoint.draws else self._pools.look_up
            response = await while_waited_for(request.receive, pool, lambda: _handle(endpoint, ask))
        except ClientLeft:
            return Response(status_code=_CLIENT_LEFT), False
        except (Refused, VirlError) as fault:
            refused = _to_refusal(fault)
            response = refusal(refused, endpoint.family, endpoint.lists)
            response.headers.update(hints(refused.fault.value[0], self._options.retry_after_s))
            return response, False
        # Garbage and halves are made of the right answer, so that only its content is wrong.
        if kind == GARBAGE:
            return Response(_noise(len(bytes(response.body))), media_type=response.media_type), False
        if kind == HALF:
            body = bytes(response.body)
            return Response(
                body[: len(body) // 2], response.status_code, media_type=response.media_type
            ), False
        return response, True

    def _admit(self, endpoint: Endpoint, request: Request, counted: int) -> None:
        """Refuse a request without a key, to a denied endpoint, or over the quota."""
        if endpoint.needs_key:
            given = given_keys(request.scope)
            if not given:
                raise Refused(GoogleStatus.NO_KEY, NO_KEY if endpoint.family in RPC else NO_KEY_LEGACY)
            own = self._options.key
            if own is not None and not shows_key(request.scope, own):
                raise Refused(
                    GoogleStatus.WRONG_KEY, WRONG_KEY if endpoint.family in RPC else WRONG_KEY_LEGACY
                )
        if self._options.denies(endpoint.name):
            raise Refused(GoogleStatus.NO_KEY, DENIED)
        quota = self._options.quota
        if not endpoint.is_free and quota is not None and counted > quota:
            raise Refused(GoogleStatus.OVER_QUOTA, OVER_QUOTA)

    async def _fail(self, endpoint: Endpoint, request: Request, kind: str) -> Response:
        """Return the answer of a server that fails on purpose."""
        if kind == TIMEOUT:
            await hang(request, self._options.hang_s)
            return failure(504, endpoint.family, endpoint.lists)
        response = failure(int(kind), endpoint.family, endpoint.lists)
        response.headers.update(hints(int(kind), self._options.retry_after_s))
        return response


def _to_refusal(fault: Refused | VirlError) -> Refused:
    """Return the refusal that a handler's error stands for.

    What the server's user has to mend goes to its log.
    """
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
    if isinstance(fault, ProviderError):
        return _upstream(fault)
    return Refused(GoogleStatus.UNAVAILABLE, UNAVAILABLE)


def _upstream(fault: ProviderError) -> Refused:
    """Return the refusal that a client gets for a fault of the city's own provider."""
    if fault.status == 429 or fault.code in _LIMITED:
        return Refused(GoogleStatus.OVER_QUOTA, OVER_QUOTA)
    if fault.status is None or fault.status >= 500:
        return Refused(GoogleStatus.UNAVAILABLE, UNAVAILABLE)
    return Refused(GoogleStatus.BAD_GATEWAY, BAD_GATEWAY)


def _handle(endpoint: Endpoint, ask: Ask) -> Response:
    """Return the handler's answer, with its enums as numbers where the request asks for that."""
    response = endpoint.handler(ask)
    if ask.numbered and response.media_type == JSON:
        return answer(with_numbers(json.loads(bytes(response.body))))
    return response


def _read_request(endpoint: Endpoint, request: Request, content: bytes) -> Ask:
    """Return a request as its handler reads it; raises Refused if it is malformed."""
    query = dict(request.query_params)
    mask = request.headers.get("X-Goog-FieldMask") or query.get("$fields") or query.get("fields") or ""
    base_url = str(request.base_url).rstrip("/")
    body = _parse_body(content)
    if endpoint.message:
        body = read_message(body, endpoint.message)
    numbered = "enum-encoding=int" in query.get("$alt", "")
    return Ask(query, request.path_params, body, mask, numbered, base_url)


def _parse_body(content: bytes) -> Json:
    """Parse a body as a JSON object; an empty one as {}."""
    if not content:
        return {}
    try:
        body = read_json(content)
    except JsonFault:
        raise invalid("Invalid JSON payload received.") from None
    if not isinstance(body, dict):
        raise invalid("Invalid JSON payload received. Root element must be a message.")
    return body


def _noise(length: int) -> bytes:
    """Return bytes that are neither text nor a picture."""
    return (b"\xff\x00\xfe" * (length // 3 + 1))[: max(length, 1)]
