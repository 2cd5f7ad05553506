"""The one way to RentCast: key, cache, ledger, limit and retries for every request.

with open_rentcast(ledger=Ledger(1.00)) as http:
    records = http.rentals({"city": "Austin", "state": "TX"})
"""

import hashlib
import json
import logging
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from virl import resources
from virl.errors import ProviderError
from virl.json_reading import JsonFault, read_json
from virl.money.ledger import Ledger
from virl.money.spending import Price
from virl.platform.providers.http.cache import ReplyCache
from virl.platform.providers.http.faults import (
    ASKED_WRONG,
    TRY_LATER,
    HttpFault,
    Received,
    shortened,
    wait_of,
)
from virl.platform.providers.http.limits import MinuteLimit
from virl.platform.providers.http.naming import RequestName
from virl.platform.providers.http.recording import Recording, Replay, Reply
from virl.platform.providers.http.wire import Wire
from virl.platform.providers.rentcast.keys import KEY_VARIABLE, Key
from virl.platform.providers.rentcast.settings import RentCastSettings, load_rentcast_settings
from virl.retry import RetryPolicy

SERVICE = "RentCast"
ENDPOINT = "rentcast_rentals"
PATH = "/v1/listings/rental/long-term"

_log = logging.getLogger(__name__)


class RentCastHttp:
    """Sends requests to RentCast, one after the other.

    Args:
        settings: host, price and limits.
        key: what proves who asks; not needed for a replay.
        ledger: each request is held in it before it is sent; by default one without a limit.
        cache: where replies are kept; `None` keeps none.
        scope: the name under which replies are kept that only this run may see; empty for all to see.
        record: where replies are written.
        replay: where they come from instead of the network.
        sleep: waits some seconds.

    Raises:
        ProviderError: there is no key, and no replay.
    """

    def __init__(
        self,
        settings: RentCastSettings,
        key: Key | None,
        *,
        ledger: Ledger | None = None,
        cache: ReplyCache | None = None,
        scope: str = "",
        record: Recording | None = None,
        replay: Replay | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if key is None and replay is None:
            raise ProviderError(
                SERVICE, f"{KEY_VARIABLE} is not set", "set it to your key, or read listings from a file"
            )
        self.settings = settings
        self._key = key or Key("")
        self.ledger = ledger or Ledger()
        self._cache = cache
        self._scope = scope
        self._record = record
        self._replay = replay
        self._retries = RetryPolicy(**settings.retries.model_dump(), sleep=sleep, chance=random.random)
        self._price = price_of(settings)
        self._limit = MinuteLimit(settings.per_minute, time.monotonic, sleep)
        self._wire = Wire([settings.base_url], self._key, timeouts=settings.timeouts)

    def rentals(self, query: Mapping[str, str]) -> list[Any]:
        """One page of long-term rental listings; empty where RentCast has none.

        Args:
            query: such as `{"latitude": "40.7", "longitude": "-73.9", "radius": "1", "status": "Active"}`.

        Raises:
            ProviderError: RentCast refuses, cannot be reached or answers nonsense, each time it was tried.
            BudgetExceeded: the request would cost more than is left.
        """
        request = RequestName(ENDPOINT, json.dumps({"path": PATH, "query": dict(query)}, sort_keys=True))
        if self._replay:
            reply = self._replay.read(request, SERVICE)
            self.ledger.count_cached(ENDPOINT)
            replayed = _meaning(Received(reply.status, {}, reply.body))
            if isinstance(replayed, HttpFault):
                raise self._refusal(replayed)
            return replayed
        records = self._kept_or_fetched(query)
        if self._record:
            self._record.write(request, Reply(200, json.dumps(records).encode()))
        return records

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

    def _kept_or_fetched(self, query: Mapping[str, str]) -> list[Any]:
        """Records from the cache, or from RentCast; then they are on disk before they are returned."""
        name = json.dumps([self.settings.base_url, PATH, dict(query)], sort_keys=True)
        key = hashlib.sha256(name.encode()).hexdigest()
        if self._cache and (body := self._cache.get(key, self._scope)) is not None:
            kept = _meaning(Received(200, {}, body))
            if not isinstance(kept, HttpFault):
                self.ledger.count_cached(ENDPOINT)
                return kept
        records = self._fetch(query)
        if self._cache:
            lifetime = self.settings.keep_hours * 3600
            body = json.dumps(records).encode()
            self._cache.put(key, body, endpoint=ENDPOINT, lifetime=lifetime, scope=self._scope)
        return records

    def _fetch(self, query: Mapping[str, str]) -> list[Any]:
        def tell(failed: list[Any] | HttpFault, pause: float) -> None:
            if isinstance(failed, HttpFault):
                _log.info(
                    "%s: %s: trying again in %.1f s", SERVICE, self._key.redaction.text(failed.reason), pause
                )

        outcome = self._retries.run(lambda: self._try(query), _fault_of, tell=tell)
        if isinstance(outcome, HttpFault):
            raise self._refusal(outcome)
        return outcome

    def _refusal(self, fault: HttpFault) -> ProviderError:
        reason = self._key.redaction.text(fault.reason)
        return ProviderError(SERVICE, reason, _remedy(fault), status=fault.status, code=fault.code)

    def _try(self, query: Mapping[str, str]) -> list[Any] | HttpFault:
        """Send once; what is not billed is given back to the ledger."""
        self._limit.wait()
        hold = self.ledger.hold(self._price, ENDPOINT)
        outcome = self._send(query)
        if isinstance(outcome, HttpFault) and not outcome.billed:
            hold.release()
        return outcome

    def _send(self, query: Mapping[str, str]) -> list[Any] | HttpFault:
        url = self.settings.base_url + PATH
        request = self._wire.request("GET", url, query=query, headers={"accept": "application/json"})
        received = self._wire.send(request)
        if isinstance(received, HttpFault):
            return received
        self.ledger.count_received(ENDPOINT, len(received.body))
        return _meaning(received)


def price_of(settings: RentCastSettings) -> Price:
    """The price of one request."""
    usd = settings.usd_per_request
    unknown = "" if usd is not None else "`usd_per_request` in platform/providers/rentcast.yaml"
    return Price(ENDPOINT, 1, round((usd or 0.0) * 1e6), unknown)


def _fault_of(outcome: list[Any] | HttpFault) -> HttpFault | None:
    return outcome if isinstance(outcome, HttpFault) else None


def open_rentcast(
    *,
    ledger: Ledger | None = None,
    cache: Literal["off", "session", "ttl"] | None = None,
    session: str = "",
    record: Path | None = None,
    replay: Path | None = None,
    settings: RentCastSettings | None = None,
) -> RentCastHttp:
    """The way to RentCast with the key of the environment and the cache of this machine.

    Args:
        ledger: each request is held in it before it is sent; by default one without a limit.
        cache: `off` keeps nothing, `session` only for this run; by default as the settings say.
        session: the run's name.
        record: the folder to write replies to.
        replay: the folder to answer from; then no key and no network is needed.
        settings: by default those of `platform/providers/rentcast.yaml`.

    Raises:
        ProviderError: there is no key, and no replay.
        BadInput: the settings are broken, or a folder cannot be used.
    """
    settings = settings or load_rentcast_settings()
    keeps = cache != "off" and settings.keep_hours > 0 and replay is None
    return RentCastHttp(
        settings,
        Key.from_environment(),
        ledger=ledger,
        cache=ReplyCache(resources.cache_home() / "rentcast") if keeps else None,
        scope=f"session {session}" if cache == "session" else "",
        record=Recording(record) if record else None,
        replay=Replay(replay) if replay else None,
    )


def _remedy(fault: HttpFault) -> str:
    if fault.status == 401:
        return f"check {KEY_VARIABLE}, your plan and its billing on RentCast's API dashboard"
    if fault.status == 429:
        return "wait a while, or lower `per_minute` in platform/providers/rentcast.yaml"
    return TRY_LATER if fault.again else ASKED_WRONG


def _meaning(reply: Received) -> list[Any] | HttpFault:
    """The records of a reply; none where RentCast says that there are none (status 404)."""
    code, words = _error(reply)
    status = reply.status
    if status == 404 and not code.startswith("auth"):
        return []
    if status == 200:
        try:
            records = read_json(reply.body)
        except JsonFault:
            records = None
        if isinstance(records, list):
            return records
        return HttpFault("the reply is no JSON array", verdict="wait", billed=True, status=status)
    reason = f"status {status}{f', {code}' if code else ''}{f': {words}' if words else ''}"
    again = status == 429 or status >= 500
    return HttpFault(
        reason, "wait" if again else "refused", status=status, code=code, wait=wait_of(reply.headers)
    )


def _error(reply: Received) -> tuple[str, str]:
    """Name and words of `{"status": ..., "error": ..., "message": ...}`."""
    try:
        body = read_json(reply.body)
    except JsonFault:
        return "", ""
    if not isinstance(body, dict):
        return "", ""
    return shortened(body.get("error")), shortened(body.get("message"))
