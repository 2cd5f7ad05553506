"""The one way to Google: key, cache, ledger, limits, retries and recording for every request.

with open_google_http(ledger=Ledger(0.50)) as http:
    reply = http.json(Call("geocode", query={"address": "1 Main St"}))
"""

import builtins
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from virl import resources
from virl.errors import ProviderError
from virl.money.ledger import Ledger
from virl.platform.providers.google.calls import Call, name_of, public_query, tokens
from virl.platform.providers.google.faults import judge, remedy
from virl.platform.providers.google.keys import KEY_VARIABLE, Keys
from virl.platform.providers.google.prices import price_of
from virl.platform.providers.google.settings import CacheMode, Endpoint, GoogleSettings, load_google_settings
from virl.platform.providers.http.bodies import ReplyBody, ShapeT
from virl.platform.providers.http.cache import ReplyCache
from virl.platform.providers.http.keeping import Keeping, session_scope
from virl.platform.providers.http.recording import Recording, Replay
from virl.platform.providers.http.service import Limits, Pace, Request, Service

__all__ = ["Call", "GoogleHttp", "Pace", "open_google_http"]

_DAY_S = 86_400.0
_PATH_SAFE = "/:@!$&'()*+,;=~-._"


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
        if keys is None and replay is None:
            raise ProviderError(
                "Google Maps Platform",
                f"{KEY_VARIABLE} is not set",
                "set it to your key, or replay a recording",
            )
        self.settings = settings
        self.ledger = ledger or Ledger()
        self._keeping = Keeping(cache, session_scope(session), record, replay, self.ledger)
        self._service = Service(
            "Google Maps Platform",
            {self._host(endpoint) for endpoint in settings.endpoints.values()},
            self._keeping,
            limits=Limits(
                settings.timeouts,
                settings.retries,
                settings.max_reply_mb,
                at_once=settings.concurrency,
                per_minute={name: endpoint.per_minute for name, endpoint in settings.endpoints.items()},
                pace=pace or Pace(),
            ),
            secrets=keys or Keys(""),
            judge=judge,
            remedy=remedy,
        )

    def read(self, call: Call, shape: type[ShapeT]) -> ShapeT:
        """Return what answers a call, in its shape. A reply that does not fit it is neither good nor kept.

        Raises:
            ProviderError: Google refuses, cannot be reached or answers nonsense, each time it was tried.
            BudgetExceeded: the request would cost more than is left.
        """
        return self._service.read(self._request(call), shape)

    def json(self, call: Call, shape: type[ReplyBody] = ReplyBody) -> dict[str, Any]:
        """Return the JSON object that answers a call, which fits a shape.

        Raises:
            ProviderError: as `read`.
            BudgetExceeded: as `read`.
        """
        return self._service.json(self._request(call), shape)

    def array(self, call: Call, shape: type[ShapeT]) -> list[ShapeT]:
        """Return the elements of the JSON array that answers a call to `routes_matrix`.

        Raises:
            ProviderError: as `read`.
            BudgetExceeded: as `read`.
        """
        return self._service.array(self._request(call), shape)

    def bytes(self, call: Call) -> builtins.bytes:
        """Return the picture that a call asks for, as a JPEG, PNG, WebP or GIF file.

        Raises:
            ProviderError: as `read`.
            BudgetExceeded: as `read`.
        """
        return self._service.bytes(self._request(call))

    def pay(self, call: Call) -> None:
        """Book a request that a browser sends; what becomes of it does not matter.

        Raises:
            BudgetExceeded: it would cost more than is left.
        """
        self._service.pay(self._request(call))

    @property
    def is_replay(self) -> bool:
        """Whether replies come from a recording."""
        return self._keeping.replay is not None

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

    def _host(self, endpoint: Endpoint) -> str:
        """Return scheme and host that an endpoint is asked at: its own, or the one that stands for all."""
        return self.settings.base_url or endpoint.base

    def _request(self, call: Call) -> Request:
        endpoint = self.settings.endpoint(call.endpoint)
        name, host = name_of(call), self._host(endpoint)
        scope, lifetime = self._kept(endpoint)
        return Request(
            name,
            host + endpoint.prefix + quote(call.path, safe=_PATH_SAFE),
            endpoint.method,
            public_query(call),
            call.body,
            headers={"x-goog-fieldmask": call.fields} if call.fields else {},
            extensions={
                "google_key": endpoint.key_in,
                "google_signed": endpoint.signed,
                "google_tokens": tokens(call),
            },
            price=price_of(self.settings, call),
            key=name.key(host),
            lifetime=lifetime,
            scope=scope,
            service=endpoint.service,
        )

    def _kept(self, endpoint: Endpoint) -> tuple[str, float]:
        """Return the scope in which replies are kept, and for how many seconds; 0 keeps none."""
        cache = self.settings.cache
        if cache.mode == "off" or endpoint.keep == "never":
            return "", 0.0
        if cache.mode == "session" or endpoint.keep == "session":
            return self._keeping.scope, cache.session_hours * 3600
        return "", endpoint.keep * _DAY_S


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
