"""The one way to RentCast: key, cache, ledger, limit and retries for every request.

with open_rentcast(Access(Ledger(1.00))) as http:
    records = http.rentals({"city": "Austin", "state": "TX"})
"""

import hashlib
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from virl.errors import ProviderError
from virl.money.book import Price
from virl.platform.providers.http.keys import ApiKey
from virl.platform.providers.http.replies import (
    ExpectedBody,
    HttpFault,
    HttpReply,
    Notes,
    judge_body,
    refusal,
    usual_remedy,
)
from virl.platform.providers.http.service import Limits, Pace, Request, Service
from virl.platform.providers.http.stored_replies import Keeping, RequestName
from virl.platform.providers.provider import Access
from virl.platform.providers.rentcast.settings import RentCastSettings, load_rentcast_settings

SERVICE = "RentCast"
ENDPOINT = "rentcast_rentals"
PATH = "/v1/listings/rental/long-term"
KEY_VARIABLE = "RENTCAST_API_KEY"
KEY_HEADER = "X-Api-Key"


class RentCastHttp:
    """A client of RentCast's API of homes to rent.

    Args:
        settings: host, price and limits.
        key: what proves who asks; not needed for a replay.
        keeping: cache, recording and ledger.
        pace: clock, pauses and chance.

    Raises:
        ProviderError: there is no key, and no replay.
    """

    def __init__(
        self,
        settings: RentCastSettings,
        key: ApiKey | None,
        keeping: Keeping | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._keeping = keeping or Keeping()
        if key is None and self._keeping.replay is None:
            raise ProviderError(
                SERVICE, f"{KEY_VARIABLE} is not set", "set it to your key, or read listings from a file"
            )
        self.settings = settings
        self.ledger = self._keeping.ledger
        self._service = Service(
            SERVICE,
            [settings.base_url],
            self._keeping,
            limits=Limits(
                settings.timeouts,
                settings.retries,
                per_minute={ENDPOINT: settings.per_minute},
                pace=pace or Pace(),
            ),
            secrets=key,
            judge=judge,
            remedy=_remedy,
        )

    def rentals(self, query: Mapping[str, str]) -> list[Any]:
        """Return the records of one page of long-term rentals; empty where there are none.

        Args:
            query: such as `{"latitude": "40.7", "longitude": "-73.9", "radius": "1", "status": "Active"}`.

        Raises:
            ProviderError: RentCast refuses, cannot be reached or answers nonsense, each time it was tried.
            BudgetExceeded: the request would cost more than is left.
        """
        kept_as = json.dumps([self.settings.base_url, PATH, dict(query)], sort_keys=True)
        request = Request(
            RequestName(ENDPOINT, json.dumps({"path": PATH, "query": dict(query)}, sort_keys=True)),
            self.settings.base_url + PATH,
            query=query,
            headers={"accept": "application/json"},
            price=price_of(self.settings),
            key=hashlib.sha256(kept_as.encode()).hexdigest(),
            lifetime=self.settings.keep_hours * 3600,
            scope=self._keeping.scope,
        )
        return self._service.records(request)

    def notes(self) -> Notes:
        """Return a function that counts the parts of replies that cannot be read."""
        return self._service.notes(f"{SERVICE}: {ENDPOINT}")

    def close(self) -> None:
        """Close connections and cache."""
        self._service.close()
        self._keeping.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def price_of(settings: RentCastSettings) -> Price:
    """Return the price of one request to RentCast."""
    usd = settings.usd_per_request
    unknown = "" if usd is not None else "`usd_per_request` in platform/providers/rentcast.yaml"
    return Price(ENDPOINT, 1, round((usd or 0.0) * 1e6), unknown)


def open_rentcast(access: Access, settings: RentCastSettings | None = None) -> RentCastHttp:
    """Return the client of RentCast with the key of the environment and this machine's cache.

    Args:
        access: ledger, mode of the cache, name of the run, and folders of recordings.
        settings: by default those of `platform/providers/rentcast.yaml`.

    Raises:
        ProviderError: there is no key, and no replay.
        BadInput: the settings are broken, or a folder cannot be used.
    """
    settings = settings or load_rentcast_settings()
    keeping = Keeping.of(access, "rentcast" if settings.keep_hours > 0 else "")
    return RentCastHttp(settings, ApiKey.from_environment(KEY_VARIABLE, KEY_HEADER), keeping)


def judge(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
    """Return a good reply, an empty one for status 404, or its fault."""
    if reply.status == 200:
        return judge_body(expected, reply, billed=True)
    fault = refusal(reply)
    if reply.status == 404 and not fault.code.startswith("auth"):
        return HttpReply(200, {}, b"[]")
    return fault


def _remedy(fault: HttpFault, service: str) -> str:
    """Return the advice on a fault of RentCast."""
    if fault.status == 401:
        return f"check {KEY_VARIABLE}, your plan and its billing on RentCast's API dashboard"
    if fault.status == 429:
        return "wait a while, or lower `per_minute` in platform/providers/rentcast.yaml"
    return usual_remedy(fault, service)
