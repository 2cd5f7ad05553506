"""Servers of OpenStreetMap's data, asked at the pace of their policies.

The policies are data, in `platform/providers/open-maps.yaml`.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal
from urllib.parse import quote

from pydantic import Field

from virl import resources
from virl.platform.providers.http.keys import ServerUrl
from virl.platform.providers.http.pace import SecondsApart
from virl.platform.providers.http.replies import (
    ExpectedBody,
    HttpFault,
    HttpReply,
    Judge,
    judge_body,
    refusal,
    usual_remedy,
)
from virl.platform.providers.http.service import BUSY, Limits, Pace, Request, Service, Tell
from virl.platform.providers.http.settings import Retries, Timeouts
from virl.platform.providers.http.stored_replies import Keeping, RequestName
from virl.retry import asked_wait
from virl.settings.model import Settings, load_settings

ServiceName = Literal["overpass", "nominatim", "osrm", "valhalla"]

CACHE = "open-maps"
"""Name of the folder, in this machine's cache, of replies and of the files of `SecondsApart`."""
PATIENT = Retries(further=7, first_wait=5.0, longest_wait=120.0)
"""Number of retries, and pauses between them, of a command that a user waits for; chosen."""
GIVE_UP_S = 600.0
"""Seconds from the first request after which no further one is made; chosen."""
LATER = "try again later, or name another server"

_DAY_S = 86_400.0


class MapServiceSettings(Settings):
    """The settings of one service of `platform/providers/open-maps.yaml`."""

    title: str
    variable: str
    """Name of the environment variable with another server's URL."""
    url: str
    """URL of the public server; `{profile}` stands for `foot`, `bike` or `car`."""
    apart_s: float = Field(ge=0)
    """Seconds between the starts of two requests of this machine to the public server."""
    keep_days: float = Field(ge=0)
    """Number of days that replies are kept."""
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries(further=5, first_wait=2.0, longest_wait=120.0)
    max_reply_mb: float = Field(gt=0)
    policy: str
    """Rules of the public server for its users, in words."""
    source: str
    """Address of the page with the public server's rules."""
    licence: str
    """Licence of the data."""

    def patient(self, timeouts: Timeouts, max_reply_mb: float) -> "MapServiceSettings":
        """Return the settings with these limits and more retries, for a command that waits for a reply."""
        changed = {"timeouts": timeouts, "max_reply_mb": max_reply_mb, "retries": PATIENT, "apart_s": 0.0}
        return self.model_copy(update=changed)


class OpenMapsSettings(Settings):
    """The settings of all services in `platform/providers/open-maps.yaml`."""

    overpass: MapServiceSettings
    nominatim: MapServiceSettings
    osrm: MapServiceSettings
    valhalla: MapServiceSettings

    def of(self, name: ServiceName) -> MapServiceSettings:
        """Return the settings of the service with this name."""
        found: MapServiceSettings = getattr(self, name)
        return found


def load_open_maps() -> OpenMapsSettings:
    """Return the settings in `platform/providers/open-maps.yaml`.

    Raises:
        BadInput: the file is broken.
    """
    return load_settings(resources.data_folder("platform/providers") / "open-maps.yaml", OpenMapsSettings)


def service_url(settings: MapServiceSettings, url: str | None = None) -> str:
    """Return the URL of a server: `url` of a city's file, else the environment's, else the public one."""
    return url or os.environ.get(settings.variable, "").strip() or settings.url


def map_judge(*answers: int) -> Judge:
    """Return a judge for which replies with the HTTP statuses `answers` are good, 200 by default."""

    def judge(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
        """Return a good reply, or the fault of its status or body."""
        status = reply.status
        if status in (answers or (200,)):
            return judge_body(expected, reply)
        if status not in BUSY:
            return replace(refusal(reply), verdict="refused")
        reason = "too many requests from this address" if status == 429 else f"too busy (status {status})"
        return HttpFault(reason, "wait", status=status, wait=asked_wait(reply.headers.get("retry-after")))

    return judge


class MapServer:
    """A client of a server of map data, whose URL may hold credentials that are never shown.

    Args:
        settings: URL, pace and policy of the service.
        keeping: cache, recording and ledger.
        url: URL of another server; by default that of the service's variable, or the public one.
        source: words for the place where `url` was given, for the error.
        profile: text in place of `{profile}` in the URL.
        judge: function (expected body, reply) to the good reply or its fault.
        slot: function to the seconds until the server takes the next request, for a refusal that does not
            say it; `None` if it is not known.
        tell: function that shows a line before each pause, for a command that its user waits for, which asks
            only a busy server again; by default the log does.
        remedy: advice on a fault that stays, where `tell` is given.

    Raises:
        BadInput: the URL is none.
    """

    def __init__(
        self,
        settings: MapServiceSettings,
        keeping: Keeping,
        url: str | None = None,
        *,
        source: str = "the city's file",
        profile: str = "",
        judge: Judge | None = None,
        slot: Callable[[], float | None] = lambda: None,
        tell: Tell | None = None,
        remedy: str = LATER,
    ) -> None:
        """Make the client of the server at `url`, or else at the URL of `settings`; nothing is sent yet."""
        given = service_url(settings, url)
        self.settings = settings
        self.url = ServerUrl.parse(given.replace("{profile}", profile), source if url else settings.variable)
        self.title = f"{settings.title} ({self.url.bare.host})"
        turns = resources.cache_home() / CACHE / f"{quote(self.title, safe='')}.turn"
        self.service = Service(
            self.title,
            [self.url.host],
            keeping,
            limits=Limits(
                settings.timeouts,
                settings.retries,
                settings.max_reply_mb,
                # The policy is the public server's: another one is asked as fast as it answers.
                turns=SecondsApart(settings.apart_s, turns) if given == settings.url else None,
                give_up_s=GIVE_UP_S,
                only_busy=tell is not None,
                # The random half of each pause is taken whole: a busy server gets all the time.
                pace=Pace(chance=lambda: 1.0),
            ),
            secrets=self.url,
            judge=judge or map_judge(),
            remedy=(lambda *_: remedy) if tell else usual_remedy,
            slot=slot,
            tell=tell,
        )
        self.close = self.service.close

    def request(
        self,
        endpoint: str,
        query: Mapping[str, str],
        *,
        url: str = "",
        path: str = "",
        body: Mapping[str, object] | None = None,
    ) -> Request:
        """Return a request to the server, by GET or, with a JSON `body`, by POST; nothing is sent yet.

        Args:
            endpoint: name of the request's kind, such as `"nominatim_search"`, and of a folder of recordings.
            query: fields of the URL's query.
            url: URL on the host of the server; by default the server's own.
            path: end of `url` beyond the server's own, which names the request with its query.
            body: object that is sent as JSON with POST; `None` asks with GET.
        """
        asked = {"path": path, "query": dict(query), "body": body}
        name = RequestName(endpoint, json.dumps(asked, sort_keys=True, ensure_ascii=False))
        return Request(
            name,
            url or str(self.url.bare),
            "POST" if body else "GET",
            query,
            body,
            key=name.key(str(self.url.bare)),
            lifetime=self.settings.keep_days * _DAY_S,
            scope=self.service.keeping.scope,
        )
