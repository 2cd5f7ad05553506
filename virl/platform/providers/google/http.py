"""The one way to Google: key, cache, ledger, limits, retries and recording for every request.

with open_google_http(ledger=Ledger(0.50)) as http:
    reply = http.json(Call("geocode", query={"address": "1 Main St"}))
"""

import builtins
import logging
import random
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from virl import resources
from virl.errors import BadInput, ProviderError
from virl.json_reading import read_json
from virl.money.ledger import Ledger
from virl.money.spending import Price
from virl.platform.providers.google.calls import Call, name_of
from virl.platform.providers.google.faults import fault_in, remedy
from virl.platform.providers.google.keys import KEY_VARIABLE, Keys
from virl.platform.providers.google.prices import price_of
from virl.platform.providers.google.settings import CacheMode, Endpoint, GoogleSettings, load_google_settings
from virl.platform.providers.google.wire import GoogleWire
from virl.platform.providers.http.bodies import ReplyBody, ShapeT, Wanted
from virl.platform.providers.http.cache import ReplyCache
from virl.platform.providers.http.faults import HttpFault
from virl.platform.providers.http.limits import MinuteLimit, OneAtATime
from virl.platform.providers.http.recording import Recording, Replay, Reply
from virl.retry import RetryPolicy

__all__ = ["Call", "GoogleHttp", "Pace", "open_google_http"]

_DAY_S = 86_400.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """Time and chance."""

    clock: Callable[[], float] = time.monotonic
    """Seconds on a clock that only goes forward."""
    sleep: Callable[[float], None] = time.sleep
    """Waits some seconds."""
    chance: Callable[[], float] = random.random
    """A number in [0, 1), for the jitter of pauses."""


class GoogleHttp:
    """Sends calls to Google. Safe for several threads; the same call of two threads is sent once.

    Args:
        settings: endpoints, prices and limits.
        keys: what proves who asks; not needed for a replay.
        ledger: each request is held in it before it is sent; by default one without a limit.
        cache: where replies are kept; `None` keeps none.
        session: the name under which replies are kept that only this run may see; a run that is resumed
            gives the same name again. By default a name of its own.
        record: where replies are written.
        replay: where they come from instead of the network.
        pace: clock, pauses and chance.

    Raises:
        ProviderError: there is no key, and no replay.
        BadInput: `record` and `replay` are both given.
    """

    def __init__(
        self,
        settings: GoogleSettings,
        keys: Keys | None,
        *,
        ledger: Ledger | None = None,
        cache: ReplyCache | None = None,
        session: str = "",
        record: Recording | None = None,
        replay: Replay | None = None,
        pace: Pace | None = None,
    ) -> None:
        if record and replay:
            raise BadInput("a run is either recorded or replayed: give --record or --replay, not both")
        if keys is None and replay is None:
            raise ProviderError(
                "Google Maps Platform",
                f"{KEY_VARIABLE} is not set",
                "set it to your key, or replay a recording",
            )
        self.settings = settings
        self.ledger = ledger or Ledger()
        self._keys = keys or Keys("")
        self._cache = cache
        self._scope = f"session {session or uuid.uuid4().hex}"
        self._record = record
        self._replay = replay
        self._pace = pace or Pace()
        self._wire = GoogleWire(settings, self._keys)
        self._gates = {host: threading.BoundedSemaphore(settings.concurrency) for host in self._wire.hosts}
        self._limits = {
            name: MinuteLimit(endpoint.per_minute, self._pace.clock, self._pace.sleep)
            for name, endpoint in settings.endpoints.items()
        }
        self._one_at_a_time = OneAtATime()
        self._retries = RetryPolicy(
            **settings.retries.model_dump(), sleep=self._pace.sleep, chance=self._pace.chance
        )

    def read(self, call: Call, shape: type[ShapeT]) -> ShapeT:
        """What answers a call, in its shape. A reply that does not fit it is neither good nor kept.

        Raises:
            ProviderError: Google refuses, cannot be reached or answers nonsense, each time it was tried.
            BudgetExceeded: the request would cost more than is left.
        """
        return shape.model_validate(self.json(call, shape))

    def json(self, call: Call, shape: type[ReplyBody] = ReplyBody) -> dict[str, Any]:
        """The JSON object that answers a call, which fits a shape.

        Raises:
            ProviderError: as `read`.
            BudgetExceeded: as `read`.
        """
        found: dict[str, Any] = read_json(self._answer(call, Wanted("object", shape)))
        return found

    def array(self, call: Call, shape: type[ShapeT]) -> list[ShapeT]:
        """The elements of the JSON array that answers a call to `routes_matrix`.

        Raises:
            ProviderError: as `read`.
            BudgetExceeded: as `read`.
        """
        return [shape.model_validate(one) for one in read_json(self._answer(call, Wanted("array", shape)))]

    def bytes(self, call: Call) -> bytes:
        """The picture that a call asks for, as a JPEG, PNG, WebP or GIF file.

        Raises:
            ProviderError: as `read`.
            BudgetExceeded: as `read`.
        """
        return self._answer(call, Wanted("image"))

    def pay(self, call: Call) -> None:
        """Book a request that a browser sends; what becomes of it does not matter.

        Raises:
            BudgetExceeded: it would cost more than is left.
        """
        self.ledger.hold(price_of(self.settings, call), call.endpoint)

    @property
    def is_replay(self) -> bool:
        """Whether replies come from a recording."""
        return self._replay is not None

    def close(self) -> None:
        """Close connections and cache."""
        self._wire.close()
        if self._cache:
            self._cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, call: Call, wanted: Wanted) -> builtins.bytes:
        endpoint = self.settings.endpoint(call.endpoint)
        if self._replay:
            reply = self._replay.read(name_of(call), endpoint.service)
            self.ledger.count_cached(call.endpoint)
        else:
            reply = self._kept_or_fetched(call, endpoint, wanted)
        if self._record:
            self._record.write(name_of(call), reply)
        if fault := fault_in(wanted, reply.status, {}, reply.body):
            raise self._error(call, endpoint, fault)
        return reply.body

    def _kept_or_fetched(self, call: Call, endpoint: Endpoint, wanted: Wanted) -> Reply:
        """A good reply, or one that refuses for good. A good one is on disk before it is returned."""
        key = name_of(call).key(self._wire.host(endpoint))
        scope, lifetime = self._keeping(endpoint)
        with self._one_at_a_time.alone(key):
            kept = self._cache.get(key, scope) if self._cache and lifetime else None
            if kept is not None and fault_in(wanted, 200, {}, kept) is None:
                self.ledger.count_cached(call.endpoint)
                return Reply(200, kept)
            reply = self._fetch(call, endpoint, wanted)
            if self._cache and lifetime and fault_in(wanted, reply.status, {}, reply.body) is None:
                self._cache.put(key, reply.body, endpoint=call.endpoint, lifetime=lifetime, scope=scope)
            return reply

    def _keeping(self, endpoint: Endpoint) -> tuple[str, float]:
        """The scope in which replies are kept, and for how many seconds; 0 keeps none."""
        cache = self.settings.cache
        if cache.mode == "off" or endpoint.keep == "never":
            return "", 0.0
        if cache.mode == "session" or endpoint.keep == "session":
            return self._scope, cache.session_hours * 3600
        return "", endpoint.keep * _DAY_S

    def _fetch(self, call: Call, endpoint: Endpoint, wanted: Wanted) -> Reply:
        price = price_of(self.settings, call)

        def tell(failed: Reply | HttpFault, pause: float) -> None:
            if isinstance(failed, HttpFault):
                reason = self._keys.redaction.text(failed.reason)
                _log.info("%s: %s: trying again in %.1f s", call.endpoint, reason, pause)

        outcome = self._retries.run(lambda: self._try(call, endpoint, wanted, price), _fault_of, tell=tell)
        if isinstance(outcome, HttpFault):
            raise self._error(call, endpoint, outcome)
        return outcome

    def _try(self, call: Call, endpoint: Endpoint, wanted: Wanted, price: Price) -> Reply | HttpFault:
        """Send once. A reply is good or refuses for good; anything else is a fault."""
        self._limits[call.endpoint].wait(price.events)
        with self._gates[self._wire.host(endpoint)]:
            hold = self.ledger.hold(price, call.endpoint)
            received = self._wire.send(call, endpoint)
        if isinstance(received, HttpFault):
            fault: HttpFault | None = received
        else:
            self.ledger.count_received(call.endpoint, len(received.body))
            fault = fault_in(wanted, received.status, received.headers, received.body)
        if fault and not fault.billed:
            hold.release()
        if isinstance(received, HttpFault):
            return received
        return fault if fault and fault.again else Reply(received.status, received.body)

    def _error(self, call: Call, endpoint: Endpoint, fault: HttpFault) -> ProviderError:
        reason = self._keys.redaction.text(f"{call.endpoint}: {fault.reason}")
        todo = remedy(fault, endpoint.service)
        return ProviderError(endpoint.service, reason, todo, status=fault.status, code=fault.code)


def _fault_of(outcome: Reply | HttpFault) -> HttpFault | None:
    return outcome if isinstance(outcome, HttpFault) else None


def open_google_http(
    settings: GoogleSettings | None = None,
    *,
    ledger: Ledger | None = None,
    cache: CacheMode | None = None,
    session: str = "",
    record: Path | None = None,
    replay: Path | None = None,
) -> GoogleHttp:
    """The way to Google with the key of the environment and the cache of this machine.

    Args:
        settings: by default those of `platform/providers/google.yaml`.
        ledger: each request is held in it before it is sent; by default one without a limit.
        cache: the mode, by default that of the settings.
        session: see `GoogleHttp`.
        record: the folder to write replies to.
        replay: the folder to answer from; then no key and no network is needed.

    Raises:
        ProviderError: there is no key, and no replay.
        BadInput: the settings are broken, or a folder cannot be used.
    """
    settings = settings or load_google_settings()
    if cache is not None:
        settings = settings.model_copy(update={"cache": settings.cache.model_copy(update={"mode": cache})})
    keeps = settings.cache.mode != "off" and replay is None
    return GoogleHttp(
        settings,
        Keys.from_environment(),
        ledger=ledger,
        cache=ReplyCache(resources.cache_home() / "google", settings.cache.max_mb * 1e6) if keeps else None,
        session=session,
        record=Recording(record) if record else None,
        replay=Replay(replay) if replay else None,
    )
