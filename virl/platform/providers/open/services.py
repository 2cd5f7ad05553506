"""Open services of maps, asked at the pace of their policies; replies are kept, recorded and replayed.

The policies are data, in `platform/providers/open-maps.yaml`.
"""

import json
import logging
import os
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from pydantic import Field

from virl import resources
from virl.errors import ProviderError
from virl.json_reading import read_json
from virl.money.ledger import Ledger
from virl.money.spending import FREE
from virl.platform.providers.http.apart import SecondsApart
from virl.platform.providers.http.bodies import ReplyBody, Wanted
from virl.platform.providers.http.cache import ReplyCache
from virl.platform.providers.http.faults import TRY_LATER, HttpFault
from virl.platform.providers.http.limits import OneAtATime
from virl.platform.providers.http.naming import RequestName
from virl.platform.providers.http.recording import Recording, Replay, Reply
from virl.platform.providers.http.settings import Retries, Timeouts
from virl.platform.providers.http.wire import Received
from virl.platform.providers.osm.server import OsmServer
from virl.platform.providers.provider import Access
from virl.retry import RetryPolicy
from virl.settings.model import Settings, load_settings

ServiceName = Literal["overpass", "nominatim", "osrm", "valhalla"]
ShapeT = TypeVar("ShapeT", bound=ReplyBody)

_DAY_S = 86_400.0
_OK = 200
_log = logging.getLogger(__name__)


class MapServiceSettings(Settings):
    """One service of `platform/providers/open-maps.yaml`."""

    title: str
    variable: str
    """The environment variable that names another server."""
    url: str
    """Of the public server; `{profile}` stands for `foot`, `bike` or `car`."""
    apart_s: float = Field(ge=0)
    """Seconds between the beginnings of two requests to the public server, over all processes of this
    machine."""
    keep_days: float = Field(ge=0)
    """How long replies are kept."""
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries(further=5, first_wait=2.0, longest_wait=120.0)
    max_reply_mb: float = Field(gt=0)
    policy: str
    """What the public server asks of who uses it."""
    source: str
    """Where that is written."""
    licence: str
    """Of the data."""


class OpenMapsSettings(Settings):
    """`platform/providers/open-maps.yaml`."""

    overpass: MapServiceSettings
    nominatim: MapServiceSettings
    osrm: MapServiceSettings
    valhalla: MapServiceSettings

    def of(self, name: ServiceName) -> MapServiceSettings:
        """The settings of a service."""
        found: MapServiceSettings = getattr(self, name)
        return found


def load_open_maps() -> OpenMapsSettings:
    """The settings that come with virl.

    Raises:
        BadInput: the file is broken.
    """
    return load_settings(resources.data_folder("platform/providers") / "open-maps.yaml", OpenMapsSettings)


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where replies come from and go to."""

    cache: ReplyCache | None
    """`None` keeps nothing."""
    scope: str
    """Of the cache; empty for all runs to see."""
    record: Recording | None
    replay: Replay | None
    ledger: Ledger

    def close(self) -> None:
        """Close the cache."""
        if self.cache:
            self.cache.close()


def keeping_of(access: Access) -> Keeping:
    """The cache of this machine, and the recording of a run.

    Raises:
        BadInput: a folder cannot be used.
    """
    keeps = access.cache != "off" and access.replay is None
    return Keeping(
        cache=ReplyCache(resources.cache_home() / "open-maps") if keeps else None,
        scope=f"session {access.session or uuid.uuid4().hex}" if access.cache == "session" else "",
        record=Recording(access.record) if access.record else None,
        replay=Replay(access.replay) if access.replay else None,
        ledger=access.ledger,
    )


@dataclass(frozen=True, slots=True)
class MapCall:
    """A request to a service."""

    endpoint: str
    """What is asked, such as `"nominatim_search"`; the name of a folder of recordings."""
    query: Mapping[str, str]
    wanted: Wanted
    url: str = ""
    """On the host of the service; by default the service's own."""
    path: str = ""
    """What names the call beside its query: the part of the URL that is not the server's."""
    body: Mapping[str, object] | None = None
    """Sent as JSON with POST."""
    answers: Collection[int] = (_OK,)
    """Statuses of answers; those of refusals are the rest."""

    @property
    def name(self) -> RequestName:
        """What names it in caches and recordings."""
        asked = {"path": self.path, "query": dict(self.query), "body": self.body}
        return RequestName(self.endpoint, json.dumps(asked, sort_keys=True, ensure_ascii=False))


class OpenService:
    """One service. Safe for several threads; the same call of two threads is sent once.

    Args:
        settings: its URL, pace and policy.
        keeping: where replies come from and go to.
        url: of another server; by default that of the service's variable, or the public one.
        profile: what stands for `{profile}` in the URL.
        slot: given the server: seconds after which it takes the next query, for a refusal that does not say.

    Raises:
        BadInput: the URL is none.
    """

    def __init__(
        self,
        settings: MapServiceSettings,
        keeping: Keeping,
        url: str | None = None,
        *,
        profile: str = "",
        slot: Callable[[OsmServer], float | None] = lambda _: None,
    ) -> None:
        self.settings = settings
        self.keeping = keeping
        given = service_url(settings, url)
        self.server = OsmServer(
            settings.title,
            given.replace("{profile}", profile),
            "the city's file" if url else settings.variable,
            _log.info,
            timeouts=settings.timeouts,
            max_reply_mb=settings.max_reply_mb,
            retries=RetryPolicy(**settings.retries.model_dump()),
        )
        self.title = self.server.name
        self._slot = slot
        self._turns = SecondsApart(
            settings.apart_s if given == settings.url else 0.0,
            resources.cache_home() / "open-maps" / f"{quote(self.title, safe='')}.turn",
        )
        self._one_at_a_time = OneAtATime()

    def close(self) -> None:
        """Close the connections."""
        self.server.close()

    def json(self, call: MapCall, judge: Callable[[Any], HttpFault | None] = lambda _: None) -> Any:
        """The JSON that answers a call, of the kind and shape that the call wants.

        Args:
            call: what is asked.
            judge: what is wrong with the JSON of a good shape; such a reply is not kept.

        Raises:
            ProviderError: the service refuses, cannot be reached or answers nonsense, each time it was tried.
        """

        def fault_in(reply: Received) -> HttpFault | None:
            if misfit := call.wanted.misfit(reply.body):
                return HttpFault(misfit, again=True, status=reply.status)
            return judge(read_json(reply.body))

        reply = self._reply(call, fault_in)
        if self.keeping.record:
            self.keeping.record.write(call.name, reply)
        return read_json(reply.body)

    def _reply(self, call: MapCall, fault_in: Callable[[Received], HttpFault | None]) -> Reply:
        if replay := self.keeping.replay:
            reply = replay.read(call.name, self.title)
            self.keeping.ledger.count_cached(call.endpoint)
            if fault := fault_in(Received(reply.status, {}, reply.body)):
                raise ProviderError(self.title, fault.reason, TRY_LATER, status=reply.status)
            return reply
        key, cache = call.name.key(self.server.url), self.keeping.cache
        with self._one_at_a_time.alone(key):
            kept = cache.get(key, self.keeping.scope) if cache else None
            if kept is not None and fault_in(Received(_OK, {}, kept)) is None:
                self.keeping.ledger.count_cached(call.endpoint)
                return Reply(_OK, kept)
            received = self._fetch(call, fault_in)
            if cache and self.settings.keep_days:
                lifetime = self.settings.keep_days * _DAY_S
                cache.put(
                    key, received.body, endpoint=call.endpoint, lifetime=lifetime, scope=self.keeping.scope
                )
            return Reply(received.status, received.body)

    def _fetch(self, call: MapCall, fault_in: Callable[[Received], HttpFault | None]) -> Received:
        def judged(reply: Received) -> HttpFault | None:
            self.keeping.ledger.count_received(call.endpoint, len(reply.body))
            return fault_in(reply)

        def turn() -> None:
            self._turns.wait()
            self.keeping.ledger.hold(FREE, call.endpoint)

        return self.server.ask(
            call.query,
            url=call.url,
            body=call.body,
            slot=lambda: self._slot(self.server),
            turn=turn,
            judge=judged,
            answers=call.answers,
            remedy=TRY_LATER,
        )


def service_url(settings: MapServiceSettings, url: str | None = None) -> str:
    """Whom a service is: the server that a city's file names, that of its variable, or the public one."""
    return url or os.environ.get(settings.variable, "").strip() or settings.url
