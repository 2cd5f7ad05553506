"""The one way to a service of open data: pace, retries, faults, recordings and counts for every request."""

import builtins
import json
import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import httpx

from virl.errors import BadInput, ProviderError
from virl.json_reading import JsonFault, read_json
from virl.money.spending import FREE
from virl.platform.providers.http.bodies import Wanted
from virl.platform.providers.http.faults import ASKED_WRONG, TRY_LATER, HttpFault, shortened, wait_of
from virl.platform.providers.http.limits import MinuteLimit, OneAtATime
from virl.platform.providers.http.naming import RequestName
from virl.platform.providers.http.recording import Recording, Replay, Reply
from virl.platform.providers.http.wire import Received, Secrets, Wire
from virl.platform.providers.open.settings import ServiceSettings
from virl.platform.providers.provider import Access
from virl.redaction import Redaction
from virl.retry import RetryPolicy

_log = logging.getLogger(__name__)


class NoKey:
    """For a service that is asked without a key."""

    redaction = Redaction.of()

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """The request as it is."""
        return request.url, request.headers


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked, without key and host."""

    endpoint: str
    """Its name, such as `"panoramax_search"`, for counts and recordings."""
    path: str
    """With a slash at its start."""
    query: Mapping[str, str] = field(default_factory=dict)
    url: Callable[[], str] | None = None
    """Gives the whole address before each try, where it is another host's or does not last; `path` and
    `query` only name the request then."""
    again: frozenset[int] = frozenset()
    """Further statuses after which another try may help."""
    final: str = ""
    """In the words of a refusal after which no other try helps, whatever its status."""
    is_recorded: bool = True
    """Whether the reply may be written down."""


def words_of(reply: Received) -> tuple[str, str]:
    """What a refusal says, and its code: `message` of Panoramax, `error` of Mapillary."""
    try:
        told = read_json(reply.body)
    except JsonFault:
        return "", ""
    if not isinstance(told, dict):
        return "", ""
    error = told.get("error")
    if isinstance(error, dict):
        return shortened(error.get("message")), shortened(error.get("code"))
    return shortened(told.get("message")), ""


class OpenHttp:
    """Asks one service. Safe for several threads; the same question of two threads is asked once.

    Args:
        settings: host, pace and limits.
        access: ledger, recording or replay.
        secrets: what proves who asks.
        busy_codes: of refusals in a body, after which another try may help.
        sleep: waits some seconds.

    Raises:
        BadInput: a recording is to be made and replayed.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        access: Access,
        secrets: Secrets | None = None,
        *,
        busy_codes: frozenset[str] = frozenset(),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if access.record and access.replay:
            raise BadInput("a run is either recorded or replayed: give --record or --replay, not both")
        self.settings = settings
        self._secrets = secrets or NoKey()
        self._busy_codes = busy_codes
        self.ledger = access.ledger
        self._record = Recording(access.record) if access.record else None
        self._replay = Replay(access.replay) if access.replay else None
        self._wire = Wire(
            [settings.base_url],
            self._secrets,
            timeouts=settings.timeouts,
            connections=settings.concurrency,
            max_reply_mb=64.0,
        )
        self._gate = threading.BoundedSemaphore(settings.concurrency)
        self._limit = MinuteLimit(settings.per_minute, time.monotonic, sleep)
        self._sleep = sleep
        self._one_at_a_time = OneAtATime()

    @property
    def is_recorded(self) -> bool:
        """Whether replies are written down, or come from what was: then nothing kept may stand for them."""
        return self._record is not None or self._replay is not None

    def body(self, ask: Ask, wanted: Wanted) -> builtins.bytes:
        """The body of a good reply.

        Args:
            ask: what to ask.
            wanted: what the body has to be.

        Raises:
            ProviderError: the service refuses, cannot be reached or answers nonsense, each time it was tried.
        """
        name = RequestName(
            ask.endpoint, json.dumps({"path": ask.path, "query": dict(ask.query)}, sort_keys=True)
        )
        if self._replay:
            reply = self._replay.read(name, self.settings.title)
            self.ledger.count_cached(ask.endpoint)
        else:
            with self._one_at_a_time.alone(name.key()):
                reply = self._fetch(ask, wanted)
        if self._record and ask.is_recorded:
            self._record.write(name, reply)
        if fault := self._fault(ask, wanted, Received(reply.status, {}, reply.body)):
            raise self._error(ask, fault)
        return reply.body

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def _fetch(self, ask: Ask, wanted: Wanted) -> Reply:
        def tell(failed: Reply | HttpFault, pause: float) -> None:
            if isinstance(failed, HttpFault):
                reason = self._secrets.redaction.text(failed.reason)
                _log.info("%s: %s: trying again in %.1f s", ask.endpoint, reason, pause)

        retries = self.settings.retries.model_dump()
        policy = RetryPolicy(**retries, sleep=self._sleep, chance=random.random)
        outcome = policy.run(lambda: self._try(ask, wanted), _fault_of, tell=tell)
        if isinstance(outcome, HttpFault):
            raise self._error(ask, outcome)
        return outcome

    def _try(self, ask: Ask, wanted: Wanted) -> Reply | HttpFault:
        """Send once. A reply is good or refuses for good; anything else is a fault."""
        address = ask.url() if ask.url else self.settings.base_url + ask.path
        if fault := self._unsafe(address):
            return fault
        self._limit.wait()
        with self._gate:
            self.ledger.hold(FREE, ask.endpoint)
            received = self._wire.send(
                self._wire.request("GET", address, query=None if ask.url else ask.query)
            )
        if isinstance(received, HttpFault):
            return received
        self.ledger.count_received(ask.endpoint, len(received.body))
        judged = self._fault(ask, wanted, received)
        return judged if judged and judged.again else Reply(received.status, received.body)

    def _unsafe(self, address: str) -> HttpFault | None:
        """Pictures may lie with another host, but no address is followed to a less safe scheme."""
        schemes = ("https://",) if self.settings.base_url.startswith("https:") else ("https://", "http://")
        return None if address.startswith(schemes) else HttpFault("it gives an unsafe address", again=False)

    def _fault(self, ask: Ask, wanted: Wanted, reply: Received) -> HttpFault | None:
        status = reply.status
        if status == httpx.codes.OK:
            misfit = wanted.misfit(reply.body)
            return HttpFault(misfit, again=True, status=status) if misfit else None
        words, code = words_of(reply)
        again = status == 429 or status >= 500 or status in ask.again or code in self._busy_codes
        if ask.final and ask.final in words:
            again = False
        reason = f"status {status}{f', code {code}' if code else ''}{f': {words}' if words else ''}"
        return HttpFault(reason, again=again, status=status, code=code, wait=wait_of(reply.headers))

    def _error(self, ask: Ask, fault: HttpFault) -> ProviderError:
        reason = self._secrets.redaction.text(f"{ask.endpoint}: {fault.reason}")
        todo = TRY_LATER if fault.again else ASKED_WRONG
        return ProviderError(self.settings.title, reason, todo, status=fault.status, code=fault.code)


def _fault_of(outcome: Reply | HttpFault) -> HttpFault | None:
    return outcome if isinstance(outcome, HttpFault) else None
