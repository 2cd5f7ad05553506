"""The client of RentCast: key, cache, ledger, limit and retries for every request.

with open_rentcast(Access(Ledger(1.00))) as http:
    records = http.rentals({"city": "Austin", "state": "TX"})
"""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from virl import resources
from virl.errors import ProviderError
from virl.money.book import Price
from virl.platform.providers.http.keys import ApiKey
from virl.platform.providers.http.replies import (
    ExpectedBody,
    HttpFault,
    HttpReply,
    judge_body,
    refusal,
    usual_remedy,
)
from virl.platform.providers.http.service import Limits, Pace, Request, Service
from virl.platform.providers.http.settings import HOST, Retries, Timeouts, checked_host
from virl.platform.providers.http.stored_replies import Keeping, RequestName
from virl.platform.providers.provider import Access
from virl.settings.model import Settings, load_settings

SERVICE = "RentCast"
ENDPOINT = "rentcast_rentals"
"""Name of the endpoint in counts, recordings and prices."""
RECORDS = f"{SERVICE}: {ENDPOINT}"
"""Name of the source under which records and fields that cannot be read are counted."""
PATH = "/v1/listings/rental/long-term"
KEY_VARIABLE = "RENTCAST_API_KEY"
KEY_HEADER = "X-Api-Key"
BASE_URL_VARIABLE = "VIRL_RENTCAST_BASE_URL"


class RentCastSettings(Settings):
    """The settings in `platform/providers/rentcast.yaml`."""

    base_url: str = Field(pattern=HOST)
    usd_per_request: float | None = Field(ge=0)
    """Price in dollars of a request beyond the plan's; `None` if it is not known."""
    page: int = Field(ge=1, le=500)
    """Number of listings in a request."""
    most_pages: int = Field(ge=1)
    """Largest number of requests for one district."""
    per_minute: int = Field(ge=1)
    """Largest number of requests a minute."""
    keep_hours: float = Field(ge=0)
    """Number of hours that replies are kept on disk; 0 keeps none."""
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries(further=3)


def load_rentcast_settings() -> RentCastSettings:
    """Return RentCast's settings; `VIRL_RENTCAST_BASE_URL` overrides the host.

    Raises:
        BadInput: the file or the variable is broken.
    """
    file = resources.data_folder("platform/providers") / "rentcast.yaml"
    settings = load_settings(file, RentCastSettings)
    url = os.environ.get(BASE_URL_VARIABLE)
    return settings.model_copy(update={"base_url": checked_host(url, BASE_URL_VARIABLE)}) if url else settings


class RentCastHttp(Service):
    """A client of RentCast's API of homes to rent.

    Args:
        settings: host, price and limits.
        key: API key; `None` for a replay, which needs none.
        keeping: cache, recording and ledger; by default nothing is kept, and money has no limit.
        pace: clock, pauses and random numbers of retries.

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
        """Make the client with a key, which only a replay can do without; nothing is sent yet."""
        keeping = keeping or Keeping()
        if key is None and keeping.replay is None:
            raise ProviderError(
                SERVICE, f"{KEY_VARIABLE} is not set", "set it to your key, or read listings from a file"
            )
        self.settings = settings
        self.ledger = keeping.ledger
        super().__init__(
            SERVICE,
            [settings.base_url],
            keeping,
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
        """Return the records of one page of long-term rentals as plain data; empty where there are none.

        A query is such as `{"latitude": "40.7", "longitude": "-73.9", "radius": "1", "status": "Active"}`.

        Raises:
            ProviderError: RentCast refuses, cannot be reached or answers nonsense, each time it was tried.
            BudgetExceeded: the request would cost more than is left.
        """
        usd = self.settings.usd_per_request
        unknown = "" if usd is not None else "`usd_per_request` in platform/providers/rentcast.yaml"
        kept_as = json.dumps([self.settings.base_url, PATH, dict(query)], sort_keys=True)
        request = Request(
            RequestName(ENDPOINT, json.dumps({"path": PATH, "query": dict(query)}, sort_keys=True)),
            self.settings.base_url + PATH,
            query=query,
            headers={"accept": "application/json"},
            price=Price(ENDPOINT, 1, round((usd or 0.0) * 1e6), unknown),
            key=hashlib.sha256(kept_as.encode()).hexdigest(),
            lifetime=self.settings.keep_hours * 3600,
            scope=self.keeping.scope,
        )
        return self.records(request)

    def close(self) -> None:
        """Close the connections and the cache."""
        super().close()
        self.keeping.close()


def open_rentcast(access: Access, settings: RentCastSettings | None = None) -> RentCastHttp:
    """Return the client of RentCast for a run, by default with `platform/providers/rentcast.yaml`.

    It has the key of the environment and this machine's cache.

    Raises:
        ProviderError: there is no key, and no replay.
        BadInput: the settings are broken, or a folder cannot be used.
    """
    settings = settings or load_rentcast_settings()
    keeping = Keeping.of(access, "rentcast" if settings.keep_hours > 0 else "")
    return RentCastHttp(settings, ApiKey.from_environment(KEY_VARIABLE, KEY_HEADER), keeping)


def judge(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
    """Return a good reply of RentCast, an empty list for status 404, or its fault."""
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
