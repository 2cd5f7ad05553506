"""Services of street-level pictures: virl's own, and those of other packages.

Each folder of `virl/platform/providers/open/` with a `client.py` has one there, as `PICTURES`, under the
folder's name. Another package gives one by an entry point of the group `virl.pictures`.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from pydantic import Field

from virl.errors import ProviderError
from virl.platform.providers.http.faults import HttpFault, usual_remedy
from virl.platform.providers.http.keeping import Keeping, RequestName
from virl.platform.providers.http.keys import ApiKey
from virl.platform.providers.http.replies import Judge, usual_judge
from virl.platform.providers.http.service import Limits, Request, Service
from virl.platform.providers.http.settings import HOST, Retries, Timeouts, checked_host
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.shots import Shot
from virl.platform.providers.provider import Access
from virl.registry import Registry, scan
from virl.settings.model import Settings

_MAX_REPLY_MB = 64.0


class PictureSettings(Settings):
    """Speed and patience with which a service is asked, and where it is."""

    title: str
    base_url: str = Field(pattern=HOST)
    per_minute: int = Field(ge=1)
    """Most requests a minute."""
    concurrency: int = Field(default=4, ge=1, le=64)
    """Most requests at once."""
    page: int = Field(ge=1, le=10_000)
    """Most pictures that are asked for at once; a reply with as many is split into four boxes."""
    keep_days: float = Field(default=30.0, gt=0)
    """Days for which it is kept which pictures there are; then they are asked for again."""
    timeouts: Timeouts = Timeouts(read=60.0, total=180.0)
    retries: Retries = Retries(longest_wait=60.0)


class PictureClient(Protocol):
    """A client that lists the pictures of a service and fetches them."""

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the pictures in a square; `None` where there are too many for one reply.

        Raises:
            ProviderError: the service fails.
        """
        ...

    def picture(self, shot: Shot, part: str) -> bytes:
        """Return the file of a part of a picture: `sd`, `hd`, or `tile-COLUMN-ROW` where it has tiles.

        Raises:
            ProviderError: the service fails, or has it no more (status 403, 404 or 410).
        """
        ...


@dataclass(frozen=True, slots=True)
class Token:
    """A token for the header `Authorization` that a service requires."""

    variable: str
    """Name of the environment variable that holds it."""
    scheme: str
    """Word before the token in the header, such as `"Bearer "`."""
    source: str
    """Page where users get a token."""


@dataclass(frozen=True, slots=True)
class PictureServer:
    """A server of pictures: its settings, and the HTTP service that asks it."""

    settings: PictureSettings
    service: Service

    def request(
        self,
        endpoint: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        url: Callable[[], str] | None = None,
        is_recorded: bool = True,
    ) -> Request:
        """Return a request to the server, or to an address that it gave.

        Args:
            endpoint: its name in counts and recordings, such as `"panoramax_search"`.
            path: with a slash at its start.
            query: its fields.
            url: gives the whole address before each try, where it is another host's or does not last; `path`
                and `query` only name the request then.
            is_recorded: whether the reply may be written down.
        """
        asked = dict(query or {})
        name = RequestName(endpoint, json.dumps({"path": path, "query": asked}, sort_keys=True))
        address = url or self.settings.base_url + path
        return Request(name, address, query={} if url else asked, is_recorded=is_recorded)


@dataclass(frozen=True, slots=True)
class PictureService:
    """A service of pictures: its settings, its client, and its judge of refusals."""

    settings: PictureSettings
    client: Callable[[PictureServer], PictureClient]
    """Function from a server to its client."""
    judge: Judge = field(default=usual_judge)
    token: Token | None = None
    """The token that is required; `None` for a service without."""
    a_step: str = "1 picture a step of Hiro"
    """Pictures that one step of an agent fetches, in words."""


PICTURES: Registry[PictureService] = Registry(
    kind="service of pictures",
    group="virl.pictures",
    expected=PictureService,
    builtin=partial(scan, "virl.platform.providers.open", "client", "PICTURES"),
)
"""virl's own services of pictures and those of other packages, by name."""


def url_variable(name: str) -> str:
    """Return the name of the environment variable for another server of a service."""
    return f"VIRL_{name.upper().replace('-', '_')}_URL"


def picture_settings(name: str, url: str | None = None) -> PictureSettings:
    """Return a service's settings, for the server of the environment, the city's file or its own.

    Args:
        name: of the service.
        url: of a city's file.

    Raises:
        BadInput: the variable holds no host.
        ModelUnavailable: the service comes with a package that cannot be imported.
    """
    own = PICTURES.find(name).settings
    given = os.environ.get(url_variable(name), "").strip() or url
    return own.model_copy(update={"base_url": checked_host(given, url_variable(name))}) if given else own


def open_pictures(name: str, settings: PictureSettings, access: Access) -> tuple[PictureClient, Service]:
    """Return (client, HTTP service) of a service of pictures; nothing is asked yet.

    Args:
        name: of the service.
        settings: of the service.
        access: how it is reached.

    Raises:
        BadInput: the token holds what no token does, or a run is to be recorded and replayed.
        ProviderError: there is no token, and no replay.
    """
    kind = PICTURES.find(name)
    service = Service(
        settings.title,
        [settings.base_url],
        Keeping.of(access),
        limits=Limits(
            settings.timeouts,
            settings.retries,
            _MAX_REPLY_MB,
            at_once=settings.concurrency,
            per_minute={"": settings.per_minute},
        ),
        secrets=_key(settings, kind.token, access) if kind.token else None,
        judge=kind.judge,
        remedy=partial(_remedy, kind.token),
    )
    return kind.client(PictureServer(settings, service)), service


def _remedy(token: Token | None, fault: HttpFault, service: str) -> str:
    """Return the advice on a fault; it names the token that was refused."""
    if token and fault.status in {401, 403}:
        return f"check {token.variable}: set it to a valid token of {token.source}"
    return usual_remedy(fault, service)


def _key(settings: PictureSettings, token: Token, access: Access) -> ApiKey | None:
    """Return the token of the environment as a key; `None` in a replay without one."""
    key = ApiKey.from_environment(token.variable, "Authorization", token.scheme)
    if key is None and access.replay is None:
        raise ProviderError(
            settings.title,
            f"{token.variable} is not set",
            f"set it to a token of {token.source}, or use another `streetview`",
        )
    return key
