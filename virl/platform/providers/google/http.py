"""The one way to Google: key, cache, ledger, limits, retries and recording for every request.

with open_google_http(access=Access(Ledger(0.50))) as http:
    reply = http.json(http.request(Call("geocode", query={"address": "1 Main St"})))
"""

from types import TracebackType
from typing import Self
from urllib.parse import quote

from virl.errors import ProviderError
from virl.platform.providers.google.calls import Call, name_of, price_of, public_query, tokens
from virl.platform.providers.google.faults import judge, remedy
from virl.platform.providers.google.keys import KEY_VARIABLE, Keys
from virl.platform.providers.google.settings import Endpoint, GoogleSettings, load_google_settings
from virl.platform.providers.http.keeping import Keeping
from virl.platform.providers.http.service import Limits, Pace, Request, Service
from virl.platform.providers.provider import Access

__all__ = ["Call", "GoogleHttp", "Pace", "open_google_http"]

_DAY_S = 86_400.0
_PATH_SAFE = "/:@!$&'()*+,;=~-._"


class GoogleHttp(Service):
    """A service that is asked with the requests of calls to Google.

    Args:
        settings: endpoints, prices and limits.
        keys: what proves who asks; not needed for a replay.
        keeping: cache, recording and ledger; by default nothing is kept, and money has no limit.
        pace: clock, pauses and chance.

    Raises:
        ProviderError: there is no key, and no replay.
    """

    def __init__(
        self,
        settings: GoogleSettings,
        keys: Keys | None,
        keeping: Keeping | None = None,
        pace: Pace | None = None,
    ) -> None:
        keeping = keeping or Keeping()
        if keys is None and keeping.replay is None:
            raise ProviderError(
                "Google Maps Platform",
                f"{KEY_VARIABLE} is not set",
                "set it to your key, or replay a recording",
            )
        self.settings = settings
        self.ledger = keeping.ledger
        super().__init__(
            "Google Maps Platform",
            {self._host_of(endpoint) for endpoint in settings.endpoints.values()},
            keeping,
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

    @property
    def is_replay(self) -> bool:
        """True where replies come from a recording."""
        return self.keeping.replay is not None

    def close(self) -> None:
        """Close connections and cache."""
        super().close()
        self.keeping.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _host_of(self, endpoint: Endpoint) -> str:
        """Return scheme and host that an endpoint is asked at: its own, or the one that stands for all."""
        return self.settings.base_url or endpoint.base

    def request(self, call: Call) -> Request:
        """Return the request of a call.

        Raises:
            UnknownName: there is no such endpoint.
        """
        endpoint = self.settings.endpoint(call.endpoint)
        name, host = name_of(call), self._host_of(endpoint)
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
            return self.keeping.session, cache.session_hours * 3600
        return "", endpoint.keep * _DAY_S


def open_google_http(settings: GoogleSettings | None = None, access: Access | None = None) -> GoogleHttp:
    """Open the way to Google with the key of the environment and the cache of this machine.

    Args:
        settings: by default those of `platform/providers/google.yaml`.
        access: ledger, mode of the cache in place of that of the settings, name of the run, and folders of
            recordings.

    Raises:
        ProviderError: there is no key, and no replay.
        BadInput: the settings are broken, or a folder cannot be used.
    """
    settings, access = settings or load_google_settings(), access or Access()
    if access.cache is not None:
        cache = settings.cache.model_copy(update={"mode": access.cache})
        settings = settings.model_copy(update={"cache": cache})
    keeping = Keeping.of(
        access, "google" if settings.cache.mode != "off" else "", max_mb=settings.cache.max_mb
    )
    return GoogleHttp(settings, Keys.from_environment(), keeping)
