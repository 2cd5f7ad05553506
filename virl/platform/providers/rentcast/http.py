"""The one way to RentCast: key, cache, budget, limit and retries for every request.

with open_rentcast(budget=Budget(1.00)) as http:
    records = http.rentals({"city": "Austin", "state": "TX"})
"""

import hashlib
import json
import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self

import httpx
from pydantic_core import from_json

from virl import __version__, resources
from virl.budget import Budget
from virl.errors import ProviderError
from virl.platform.providers.google.cache import ReplyCache
from virl.platform.providers.google.faults import wait_of
from virl.platform.providers.google.limits import MinuteLimit
from virl.platform.providers.google.meter import Meter
from virl.platform.providers.google.prices import Price
from virl.platform.providers.rentcast.keys import KEY_VARIABLE, Key, KeyTransport
from virl.platform.providers.rentcast.settings import RentCastSettings, load_rentcast_settings
from virl.retry import RetryPolicy

SERVICE = "RentCast"
ENDPOINT = "rentcast_rentals"
PATH = "/v1/listings/rental/long-term"
MAX_WORDS = 200  # characters of RentCast's own words that are shown (chosen)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a reply is of no use."""

    reason: str
    again: bool
    """Whether another try may help."""
    billed: bool = False
    status: int | None = None
    code: str = ""
    wait: float | None = None
    """Seconds that the server asks to wait."""

    @property
    def remedy(self) -> str:
        if self.status == 401:
            return f"check {KEY_VARIABLE}, your plan and its billing on RentCast's API dashboard"
        if self.status == 429:
            return "wait a while, or lower `per_minute` in platform/providers/rentcast.yaml"
        if self.again:
            return "try again later; --resume goes on where the run stopped"
        return "this is not a matter of trying again: the request itself has to change"


class RentCastHttp:
    """Sends requests to RentCast, one after the other.

    Args:
        settings: host, price and limits.
        key: what proves who asks.
        budget: checked before each request; by default there is no limit.
        cache: where replies are kept; `None` keeps none.
        scope: the name under which replies are kept that only this run may see; empty for all to see.
        sleep: waits some seconds.
    """

    def __init__(
        self,
        settings: RentCastSettings,
        key: Key,
        *,
        budget: Budget | None = None,
        cache: ReplyCache | None = None,
        scope: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings = settings
        self.meter = Meter()
        self._key = key
        self._budget = budget or Budget()
        self._cache = cache
        self._scope = scope
        self._retries = RetryPolicy(**settings.retries.model_dump(), sleep=sleep, chance=random.random)
        self._price = Price(ENDPOINT, 1, round(settings.usd_per_request * 1e6))
        self._limit = MinuteLimit(settings.per_minute, time.monotonic, sleep)
        timeouts = settings.timeouts
        self._client = httpx.Client(
            base_url=settings.base_url,
            transport=KeyTransport(httpx.HTTPTransport(), key),
            timeout=httpx.Timeout(timeouts.read, connect=timeouts.connect),
            headers={"user-agent": f"virl/{__version__}", "accept": "application/json"},
        )

    def rentals(self, query: Mapping[str, str]) -> list[Any]:
        """One page of long-term rental listings; empty where RentCast has none.

        Args:
            query: such as `{"latitude": "40.7", "longitude": "-73.9", "radius": "1", "status": "Active"}`.

        Raises:
            ProviderError: RentCast refuses, cannot be reached or answers nonsense, each time it was tried.
            BudgetExceeded: the request would cost more than is left.
        """
        name = json.dumps([self.settings.base_url, PATH, dict(query)], sort_keys=True)
        key = hashlib.sha256(name.encode()).hexdigest()
        if self._cache and (body := self._cache.get(key, self._scope)) is not None:
            self.meter.count_cached(ENDPOINT)
            kept: list[Any] = from_json(body)
            return kept
        records = self._fetch(query)
        if self._cache:
            lifetime = self.settings.keep_hours * 3600
            body = json.dumps(records).encode()
            self._cache.put(key, body, endpoint=ENDPOINT, lifetime=lifetime, scope=self._scope)
        return records

    def close(self) -> None:
        """Close connections and cache."""
        self._client.close()
        if self._cache:
            self._cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _fetch(self, query: Mapping[str, str]) -> list[Any]:
        def tell(failed: list[Any] | _Fault, pause: float) -> None:
            if isinstance(failed, _Fault):
                _log.info("%s: %s: trying again in %.1f s", SERVICE, self._key.clean(failed.reason), pause)

        outcome = self._retries.run(lambda: self._try(query), _fault_of, tell=tell)
        if isinstance(outcome, _Fault):
            raise ProviderError(
                SERVICE,
                self._key.clean(outcome.reason),
                outcome.remedy,
                status=outcome.status,
                code=outcome.code,
            )
        return outcome

    def _try(self, query: Mapping[str, str]) -> list[Any] | _Fault:
        """Send once; what is not billed is given back to the budget."""
        self._limit.wait()
        self._budget.hold(self._price.usd, ENDPOINT)
        self.meter.count_sent(ENDPOINT, self._price)
        outcome = self._send(query)
        if isinstance(outcome, _Fault) and not outcome.billed:
            self.meter.forgive(self._price)
            self._budget.settle(self._price.usd, 0.0, ENDPOINT)
        return outcome

    def _send(self, query: Mapping[str, str]) -> list[Any] | _Fault:
        try:
            reply = self._client.get(PATH, params=dict(query))
        except (httpx.ConnectError, httpx.ConnectTimeout) as fault:
            where = f"cannot be reached at {self.settings.base_url}"
            return _Fault(f"{where} ({type(fault).__name__})", again=True)
        except httpx.TimeoutException:
            return _Fault("no reply in time", again=True, billed=True)
        except httpx.HTTPError as fault:
            return _Fault(f"no whole reply ({type(fault).__name__})", again=True, billed=True)
        return _meaning(reply)


def _fault_of(outcome: list[Any] | _Fault) -> _Fault | None:
    return outcome if isinstance(outcome, _Fault) else None


def open_rentcast(
    *,
    budget: Budget | None = None,
    cache: Literal["off", "session", "ttl"] | None = None,
    session: str = "",
    settings: RentCastSettings | None = None,
) -> RentCastHttp:
    """The way to RentCast with the key of the environment and the cache of this machine.

    Args:
        budget: checked before each request; by default there is no limit.
        cache: `off` keeps nothing, `session` only for this run; by default as the settings say.
        session: the run's name.
        settings: by default those of `platform/providers/rentcast.yaml`.

    Raises:
        ProviderError: there is no key.
        BadInput: the settings are broken, or the cache's folder cannot be used.
    """
    settings = settings or load_rentcast_settings()
    key = Key.from_environment()
    if key is None:
        raise ProviderError(
            SERVICE, f"{KEY_VARIABLE} is not set", "set it to your key, or read listings from a file"
        )
    keeps = cache != "off" and settings.keep_hours > 0
    return RentCastHttp(
        settings,
        key,
        budget=budget,
        cache=ReplyCache(resources.cache_home() / "rentcast") if keeps else None,
        scope=f"session {session}" if cache == "session" else "",
    )


def _meaning(reply: httpx.Response) -> list[Any] | _Fault:
    """The records of a reply; none where RentCast says that there are none (status 404)."""
    code, words = _error(reply)
    status = reply.status_code
    if status == 404 and not code.startswith("auth"):
        return []
    if status == 200:
        try:
            records = from_json(reply.content)
        except ValueError:
            records = None
        if isinstance(records, list):
            return records
        return _Fault("the reply is no JSON array", again=True, billed=True, status=status)
    reason = f"status {status}{f', {code}' if code else ''}{f': {words}' if words else ''}"
    wait = wait_of({name.lower(): text for name, text in reply.headers.items()})
    return _Fault(reason, again=status == 429 or status >= 500, status=status, code=code, wait=wait)


def _error(reply: httpx.Response) -> tuple[str, str]:
    """Name and words of `{"status": ..., "error": ..., "message": ...}`."""
    try:
        body = from_json(reply.content)
    except ValueError:
        return "", ""
    if not isinstance(body, dict):
        return "", ""
    words = " ".join(str(body.get("message") or "").split())
    return str(body.get("error") or ""), words[:MAX_WORDS]
