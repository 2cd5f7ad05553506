"""The client of a service: pace, retries, money, cache, recordings and faults of all its requests.

Money is held before each request is sent, to Google as to any other service: `Service._try`.

requests = Service("Panoramax", ["https://api.panoramax.xyz"], keeping, limits=limits)
found = requests.read(Request(name, "https://api.panoramax.xyz/api/search", query={"limit": "10"}), Found)
"""

import builtins
import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Self

import httpx

from virl.errors import ProviderError
from virl.files.json_reading import read_json
from virl.money.book import FREE, Price
from virl.platform.providers.http.keys import NoKey, Secrets
from virl.platform.providers.http.pace import MinuteLimit, OneAtATime, SecondsApart
from virl.platform.providers.http.replies import (
    ExpectedBody,
    HttpFault,
    HttpReply,
    Judge,
    Notes,
    ReplyBody,
    ShapeT,
    read_element,
    usual_judge,
    usual_remedy,
)
from virl.platform.providers.http.settings import Retries, Timeouts
from virl.platform.providers.http.stored_replies import Keeping, RequestName
from virl.platform.providers.http.wire import MAX_REPLY_MB, Wire
from virl.retry import RetryPolicy

BUSY = frozenset({429, 502, 503, 504})
"""HTTP statuses of servers that are busy for a while."""

Tell = Callable[[str], None]
"""A function that shows a line of progress to the user."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a service, without its key."""

    name: RequestName
    """Name of the request for caches, recordings and counts."""
    url: str | Callable[[], str]
    """URL, or a function that returns a new URL before each try."""
    method: str = "GET"
    """HTTP method."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Fields of the URL's query, without the key."""
    body: Mapping[str, object] | None = None
    """JSON object to send; `None` for no body."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """HTTP headers besides the usual ones, without the key."""
    extensions: Mapping[str, object] = field(default_factory=dict)
    """Extensions of the httpx request, which `Secrets.proof` reads."""
    price: Price = FREE
    """Price of sending the request once."""
    key: str = ""
    """Key of the reply in the cache; empty for the key made of `name`."""
    lifetime: float = 0.0
    """Seconds for which the cache keeps the reply; 0 keeps none."""
    scope: str = ""
    """Name of the runs that may see the reply in the cache; empty for all runs."""
    is_recorded: bool = True
    """True if the reply may be recorded."""
    service: str = ""
    """Name of the service in errors; empty for the title of the `Service`."""

    @property
    def endpoint(self) -> str:
        """Name of the endpoint in counts and errors, such as `"panoramax_search"`; may be empty."""
        return self.name.endpoint

    def name_reason(self, reason: str) -> str:
        """Return the reason of a fault with the name of the endpoint before it."""
        return f"{self.endpoint}: {reason}" if self.endpoint else reason


@dataclass(frozen=True, slots=True)
class Pace:
    """The clock, pauses and random numbers of retries."""

    clock: Callable[[], float] = time.monotonic
    """Function that returns seconds on a clock that only goes forward."""
    sleep: Callable[[float], None] = time.sleep
    """Function that waits for some seconds."""
    chance: Callable[[], float] = random.random
    """Function that returns a number in [0, 1), for the jitter of pauses."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on how fast and how often a service is asked, and how long to wait for it."""

    timeouts: Timeouts
    """Time limits of one try of a request."""
    retries: Retries
    """Number of further tries of a request, and the pauses before them."""
    max_reply_mb: float = MAX_REPLY_MB
    """Largest size of a reply in megabytes; a larger one is not read to its end."""
    at_once: int | None = None
    """Largest number of requests to a host at the same time; `None` for no limit."""
    per_minute: Mapping[str, int] = field(default_factory=dict)
    """Largest number of events a minute by endpoint; `""` stands for all others together."""
    turns: SecondsApart | None = None
    """Gate that keeps requests some seconds apart; `None` for no gate."""
    give_up_s: float = float("inf")
    """Seconds from the first try after which no further one is made."""
    only_busy: bool = False
    """True to retry only statuses in `BUSY`, and not a server that cannot be reached."""
    pace: Pace = Pace()
    """Clock, pauses and random numbers, for tests."""


class Service:
    """A client that sends the requests of one service, equal ones once. Safe for several threads.

    Args:
        title: name of the service in errors.
        hosts: scheme and host of each server; the key goes to these and to no other.
        keeping: cache, recording and ledger.
        limits: limits on pace and patience.
        secrets: source of the key; by default there is none.
        judge: function (expected body, reply) to the good reply or its fault.
        remedy: function (fault that stays, name of the service) to advice for users.
        slot: function to the seconds until the server takes the next request, for a refusal that does not
            say it; `None` if it is not known.
        tell: function that shows a line to the user before each pause; by default the log does.
    """

    def __init__(
        self,
        title: str,
        hosts: Iterable[str],
        keeping: Keeping,
        *,
        limits: Limits,
        secrets: Secrets | None = None,
        judge: Judge = usual_judge,
        remedy: Callable[[HttpFault, str], str] = usual_remedy,
        slot: Callable[[], float | None] = lambda: None,
        tell: Tell | None = None,
    ) -> None:
        """Make a client of `hosts`; `slot` returns the seconds until a server takes requests, where known."""
        self.title = title
        self.keeping = keeping
        self._hosts = tuple(hosts)
        self._limits = limits
        self._secrets = secrets or NoKey()
        self._judge = judge
        self._remedy = remedy
        self._slot = slot
        self._tell = tell or _log.info
        self._wire = Wire(
            self._hosts,
            self._secrets,
            timeouts=limits.timeouts,
            connections=limits.at_once or 1,
            max_reply_mb=limits.max_reply_mb,
        )
        pace = limits.pace
        self._gates = {
            host: threading.BoundedSemaphore(limits.at_once) for host in self._hosts if limits.at_once
        }
        self._minutes = {
            name: MinuteLimit(count, pace.clock, pace.sleep) for name, count in limits.per_minute.items()
        }
        self._one_at_a_time = OneAtATime()
        self._retries = RetryPolicy(**limits.retries.model_dump(), sleep=pace.sleep, chance=pace.chance)

    def read(self, request: Request, shape: type[ShapeT]) -> ShapeT:
        """Return the JSON object that answers a request, as its model `shape`.

        Raises:
            ProviderError: the service refuses, cannot be reached or answers nonsense, each time it was tried.
            BudgetExceeded: the request would cost more than is left.
        """
        return shape.model_validate(
            self.json(request, shape), context=self.notes(_source(request, self.title))
        )

    def json(self, request: Request, shape: type[ReplyBody] = ReplyBody) -> dict[str, Any]:
        """Return the JSON object that answers a request as plain data that fits a model; raises as `read`."""
        body = self._answer(request, ExpectedBody("object", shape))
        value: dict[str, Any] = read_json(body, from_service=True)
        return value

    def array(self, request: Request, shape: type[ShapeT]) -> list[ShapeT]:
        """Return the elements of the JSON array that answers a request, as models; raises as `read`.

        Elements that do not fit are left out and counted.
        """
        notes = self.notes(_source(request, self.title))
        read = (read_element(shape, one, notes) for one in self.records(request))
        return [one for one in read if one is not None]

    def notes(self, source: str) -> Notes:
        """Return a function that counts left-out items and fields of a reply, by reason, under `source`.

        One that is mended again, because another item is odd, is counted once.
        """
        seen: dict[tuple[str, int], object] = {}  # holds the parts, so that no other gets their identity
        alike = Counter[tuple[str, str]]()

        def note(reason: str, part: object) -> None:
            """Count an item or field with its reason, unless it was counted with the same reason before."""
            if (reason, id(part)) not in seen:
                seen[reason, id(part)] = part
                alike[reason, repr(part)] += 1
                count = alike[reason, repr(part)]
                self.keeping.left_out.add(source, self._secrets.redaction.text(reason), part, count)

        return note

    def records(self, request: Request) -> list[Any]:
        """Return the JSON array that answers a request as plain data, unchecked; raises as `read`."""
        value: list[Any] = read_json(self._answer(request, ExpectedBody("array")), from_service=True)
        return value

    def bytes(self, request: Request) -> bytes:
        """Return the encoded picture that answers a request (JPEG, PNG, WebP or GIF); raises as `read`."""
        return self._answer(request, ExpectedBody("image"))

    def download(self, request: Request, file: BinaryIO) -> None:
        """Write the body that answers a request to a file; it is neither cached nor recorded.

        The file is emptied before each try. Keys are not removed from the body.

        Raises:
            ProviderError: as `read`.
            BudgetExceeded: as `read`.
        """
        outcome = self._fetch(request, ExpectedBody("file"), file)
        if isinstance(outcome, HttpFault):
            raise self.error(request, outcome)

    def ask_once(self, url: str, seconds: float) -> HttpReply | None:
        """Return the reply to a free GET request sent once; `None` without status 200 within `seconds`.

        The URL is on a host of the service, and without credentials.
        """
        extensions = {"timeout": httpx.Timeout(seconds).as_dict()}
        reply = self._wire.send("GET", url, extensions=extensions)
        return reply if isinstance(reply, HttpReply) and reply.status == httpx.codes.OK else None

    def pay(self, request: Request) -> None:
        """Book the price of a request that is sent by another program, such as a web page.

        Raises:
            BudgetExceeded: it would cost more than is left.
        """
        self.keeping.ledger.hold(request.price, request.endpoint)

    def error(self, request: Request, fault: HttpFault) -> ProviderError:
        """Return the error for users about the fault of a request, without keys."""
        asks = f", and asks to wait {fault.wait:.0f} s" if fault.may_retry and fault.wait else ""
        service = request.service or self.title
        return ProviderError(
            service,
            self._secrets.redaction.text(request.name_reason(fault.reason) + asks),
            self._remedy(fault, service),
            status=fault.status,
            code=fault.code,
            verdict=fault.verdict,
        )

    def tell_pause(self, why: str, seconds: float) -> None:
        """Show the user that a pause of some seconds follows, and the reason for it."""
        self._tell(f"{self.title}: {self._secrets.redaction.text(why)}: waiting {max(1, round(seconds))} s")

    def close(self) -> None:
        """Close the connections to the service."""
        self._wire.close()

    def __enter__(self) -> Self:
        """Return the service, to be closed at the end of a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections to the service."""
        self.close()

    def _answer(self, request: Request, expected: ExpectedBody) -> builtins.bytes:
        """Return the body of a good reply, replayed, cached or fetched; record it if replies are recorded."""
        keeping = self.keeping
        if keeping.replay:
            reply = keeping.replay.read(request.name, request.service or self.title)
            keeping.ledger.count_cached(request.endpoint)
            outcome = self._judge_reply(expected, reply)
        else:
            outcome = self._kept_or_fetched(request, expected)
        if isinstance(outcome, HttpFault):
            # A refusal is recorded, so that a replay refuses likewise; a fault that passes is not.
            if not outcome.may_retry and outcome.reply:
                self._record(request, outcome.reply)
            raise self.error(request, outcome)
        self._record(request, outcome)
        return outcome.body

    def _record(self, request: Request, reply: HttpReply) -> None:
        """Write a reply to the recording, if there is one and the request may be recorded."""
        if self.keeping.record and request.is_recorded:
            self.keeping.record.write(request.name, reply)

    def _kept_or_fetched(self, request: Request, expected: ExpectedBody) -> HttpReply | HttpFault:
        """Return a good reply, from the cache or fetched and cached, or the fault that ended all tries."""
        key, cache = request.key or request.name.key(), self.keeping.cache if request.lifetime else None
        # A second thread with the same request waits here, and then finds the reply in the cache.
        with self._one_at_a_time.hold(key):
            kept = cache.get(key, request.scope) if cache else None
            if kept is not None:
                # What is kept is judged like any reply: where it does not pass, it is asked for again.
                judged = self._judge_reply(expected, HttpReply(httpx.codes.OK, {}, kept))
                if isinstance(judged, HttpReply):
                    self.keeping.ledger.count_cached(request.endpoint)
                    return judged
            outcome = self._fetch(request, expected)
            if cache and isinstance(outcome, HttpReply):
                cache.put(
                    key,
                    outcome.body,
                    endpoint=request.endpoint,
                    lifetime=request.lifetime,
                    scope=request.scope,
                )
            return outcome

    def _fetch(
        self, request: Request, expected: ExpectedBody, into: BinaryIO | None = None
    ) -> HttpReply | HttpFault:
        """Return a reply to a request, retried while that may help; its body goes into `into`, if given."""
        limits, clock = self._limits, self._limits.pace.clock
        began = clock()

        def failure(outcome: HttpReply | HttpFault) -> HttpFault | None:
            """Return the fault of an outcome that is to be retried; `None` where it is final."""
            if isinstance(outcome, HttpReply) or (limits.only_busy and outcome.status not in BUSY):
                return None
            # A wait that the server asks for counts: one that ends after `give_up_s` is not begun.
            within = clock() - began + (outcome.wait or 0.0) <= limits.give_up_s
            return outcome if within else None

        def tell(outcome: HttpReply | HttpFault, seconds: float) -> None:
            """Show the user that a pause of some seconds follows."""
            if isinstance(outcome, HttpFault):
                self.tell_pause(request.name_reason(outcome.reason), seconds)

        return self._retries.run(lambda: self._try(request, expected, into), failure, tell=tell)

    def _try(self, request: Request, expected: ExpectedBody, into: BinaryIO | None) -> HttpReply | HttpFault:
        """Send a request once and return its reply, paid for if billed; a body goes into `into`, if given."""
        address = request.url if isinstance(request.url, str) else request.url()
        # The address may be of another host, one that a reply named: it must not be less safe.
        encrypts = all(host.startswith("https:") for host in self._hosts)
        if not address.startswith(("https://",) if encrypts else ("https://", "http://")):
            return HttpFault("it gives an unsafe address", "never")
        if into:
            into.seek(0)
            into.truncate()
        if limit := self._minutes.get(request.endpoint) or self._minutes.get(""):
            limit.wait(request.price.events)
        if self._limits.turns:
            self._limits.turns.wait()
        host = next((one for one in self._hosts if address.startswith(one)), self._hosts[0])
        with self._gates.get(host, nullcontext()):
            # The price is reserved before the request is sent, so that several at once stay below the limit.
            hold = self.keeping.ledger.hold(request.price, request.endpoint)
            received = self._wire.send(
                request.method,
                address,
                query=request.query,
                body=request.body,
                headers=request.headers,
                extensions=request.extensions,
                into=into,
            )
        if isinstance(received, HttpReply):
            self.keeping.ledger.count_received(request.endpoint, len(received.body))
            received = self._judge_reply(expected, received)
        if isinstance(received, HttpFault) and not received.billed and request.price is not FREE:
            hold.release()
        if isinstance(received, HttpFault) and received.status == 429 and received.wait is None:
            return replace(received, wait=self._slot())
        return received

    def _judge_reply(self, expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
        """Return a good reply, or its fault with the reply in it."""
        judged = self._judge(expected, reply)
        if isinstance(judged, HttpFault):
            return replace(judged, reply=reply, billed=judged.billed or reply.billed)
        return judged


def _source(request: Request, title: str) -> str:
    """Return the name of a request's service and endpoint for counts."""
    return f"{request.service or title}: {request.endpoint}".removesuffix(": ")
