"""Services of street-level pictures, with licences and the pictures that may be kept on disk for good.

Each folder of `virl/platform/providers/open/` with a `client.py` has one there, as `PICTURES`, under the
folder's name. Another package gives one by an entry point of the group `virl.pictures`.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from virl import resources
from virl.errors import ProviderError
from virl.files.writing import write_whole
from virl.platform.providers.http.keys import ApiKey
from virl.platform.providers.http.replies import HttpFault, Judge, usual_judge, usual_remedy
from virl.platform.providers.http.service import Limits, Request, Service
from virl.platform.providers.http.settings import HOST, Retries, Timeouts, checked_host
from virl.platform.providers.http.stored_replies import Keeping, RequestName
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.shots import Shot
from virl.platform.providers.provider import Access
from virl.registry import Registry, scan
from virl.settings.model import Settings, load_settings

_MAX_REPLY_MB = 64.0
"""Largest size of a reply in megabytes."""


class PictureSettings(Settings):
    """The settings of a picture service: its server, and how fast and often it is asked."""

    title: str
    """Name of the service as people write it."""
    base_url: str = Field(pattern=HOST)
    """Scheme and host of the server."""
    per_minute: int = Field(ge=1)
    """Largest number of requests a minute."""
    concurrency: int = Field(default=4, ge=1, le=64)
    """Largest number of requests at once."""
    page: int = Field(ge=1, le=10_000)
    """Largest number of pictures in a reply; a square with more is asked for in pages or quarters."""
    keep_days: float = Field(default=30.0, gt=0)
    """Number of days that lists of pictures are kept."""
    timeouts: Timeouts = Timeouts(read=60.0, total=180.0)
    """Time limits of a request in seconds."""
    retries: Retries = Retries(longest_wait=60.0)
    """Number of further tries of a request, and the pauses before them."""


class PictureClient(Protocol):
    """A client of a picture service, which lists and fetches pictures."""

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the pictures in a square; `None` where there are too many for one reply.

        Raises:
            ProviderError: the service fails.
        """
        ...

    def picture(self, shot: Shot, part: str) -> bytes:
        """Return the JPEG file of a part of a picture: `sd`, `hd`, or `tile-COLUMN-ROW` if it has tiles.

        Raises:
            ProviderError: the service fails, or has it no more (status 403, 404 or 410).
        """
        ...


@dataclass(frozen=True, slots=True)
class Token:
    """The token in the header `Authorization` that a service requires."""

    variable: str
    """Name of the environment variable with the token."""
    scheme: str
    """Word before the token in the header, such as `"Bearer "`."""
    source: str
    """Address of the page where users get a token."""


@dataclass(frozen=True, slots=True)
class PictureServer:
    """A server of pictures: its settings, and the HTTP client that asks it."""

    settings: PictureSettings
    """Settings of the service, for this server."""
    service: Service
    """HTTP client with key, pace and retries."""

    def request(
        self,
        endpoint: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        url: Callable[[], str] | None = None,
        is_recorded: bool = True,
    ) -> Request:
        """Return a request to the server, or to a URL that the server gave.

        Args:
            endpoint: name of the request's kind in counts and recordings, such as `"panoramax_search"`.
            path: path of the URL, with a slash at its start.
            query: fields of the URL's query.
            url: function to the whole URL before each try, where it is another host's or does not last;
                `path` and `query` only name the request then.
            is_recorded: True if the reply may be recorded.
        """
        fields = dict(query or {})
        name = RequestName(endpoint, json.dumps({"path": path, "query": fields}, sort_keys=True))
        address = url or self.settings.base_url + path
        return Request(name, address, query={} if url else fields, is_recorded=is_recorded)


@dataclass(frozen=True, slots=True)
class PictureService:
    """The code of a picture service: its settings, its client, and its judge of refusals."""

    settings: PictureSettings
    """Settings for the service's own server."""
    client: Callable[[PictureServer], PictureClient]
    """Function from a server to the client of it."""
    judge: Judge = field(default=usual_judge)
    """Function (expected body, reply) to the good reply or its fault."""
    token: Token | None = None
    """Token that is required; `None` for a service without."""
    a_step: str = "1 picture a step of Hiro"
    """Number of pictures that one step of an agent fetches, in words."""


PICTURES: Registry[PictureService] = Registry(
    kind="service of pictures",
    group="virl.pictures",
    expected=PictureService,
    builtin=partial(scan, "virl.platform.providers.open", "client", "PICTURES"),
)
"""Picture services of virl and of other packages, by name."""


def url_variable(name: str) -> str:
    """Return the name of the environment variable for another server of a service."""
    return f"VIRL_{name.upper().replace('-', '_')}_URL"


def picture_settings(name: str, url: str | None = None) -> PictureSettings:
    """Return a service's settings, for the server of the environment, else of `url`, else its own.

    Raises:
        BadInput: the variable holds no host.
        ModelUnavailable: the service comes with a package that cannot be imported.
    """
    own = PICTURES.find(name).settings
    given = os.environ.get(url_variable(name), "").strip() or url
    return own.model_copy(update={"base_url": checked_host(given, url_variable(name))}) if given else own


def open_pictures(name: str, settings: PictureSettings, access: Access) -> tuple[PictureClient, Service]:
    """Return (client, HTTP client to close) of a picture service; nothing is asked yet.

    Args:
        name: name of the service.
        settings: settings of the service, for the server that is asked.
        access: ledger and recordings of the run.

    Raises:
        BadInput: the token has characters that no token has, or a run is to be recorded and replayed.
        ProviderError: there is no token, and no replay.
    """
    kind = PICTURES.find(name)
    key = None
    if token := kind.token:
        key = ApiKey.from_environment(token.variable, "Authorization", token.scheme)
        if key is None and access.replay is None:
            raise ProviderError(
                settings.title,
                f"{token.variable} is not set",
                f"set it to a token of {token.source}, or use another `streetview`",
            )

    def remedy(fault: HttpFault, service: str) -> str:
        """Return the advice on a fault; it names the token that was refused."""
        if token and fault.status in {401, 403}:
            return f"check {token.variable}: set it to a valid token of {token.source}"
        return usual_remedy(fault, service)

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
        secrets=key,
        judge=kind.judge,
        remedy=remedy,
    )
    return kind.client(PictureServer(settings, service)), service


class Licence(Settings):
    """The terms of a licence of pictures."""

    title: str
    """Name of the licence as people write it."""
    url: str
    """URL of the licence's text."""
    keep: bool
    """True where the picture may be kept on disk for good, and passed on with its author and licence."""


class TermsPage(Settings):
    """A page on which terms were read, with the day."""

    url: str
    """URL of the page."""
    read: date
    """Day on which the page was read."""


class OpenSettings(Settings):
    """The settings in `platform/providers/open.yaml`."""

    licences: dict[str, Licence]
    """Terms of licences by SPDX identifier."""
    sources: tuple[TermsPage, ...]
    """Pages on which the terms were read."""

    def licence(self, name: str) -> Licence | None:
        """Return the terms of a licence by its SPDX identifier in any case; `None` if they are unknown."""
        known = {one.casefold(): licence for one, licence in self.licences.items()}
        return known.get(name.casefold())

    def may_keep(self, author: str, licence: str) -> bool:
        """Return whether a picture may be kept and passed on: it has an author, and a licence for that."""
        terms = self.licence(licence)
        return bool(author.strip()) and terms is not None and terms.keep


def load_open_settings() -> OpenSettings:
    """Return the licences in `platform/providers/open.yaml`.

    Raises:
        BadInput: the file is broken.
    """
    return load_settings(resources.data_folder("platform/providers") / "open.yaml", OpenSettings)


AGAIN = "run it again"
"""Advice on a picture that could not be written."""


class PictureCredit(BaseModel):
    """The credit of a kept picture, in the file `credit.json` beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    picture: str
    """Id that the service gives the picture."""
    service: str
    """Name of the service."""
    author: str
    """Name of the author."""
    licence: str
    """SPDX identifier of the licence when the picture was fetched."""
    licence_url: str
    """URL of the licence's text."""
    page: str
    """URL of the page that shows the picture."""
    taken: str
    """Time at which the picture was taken, ISO 8601."""
    fetched: str
    """Day on which the picture was fetched, ISO 8601."""


@dataclass(frozen=True)
class KeptPictures:
    """The pictures of one service that are kept on disk, if their licences allow it."""

    folder: Path | None
    """Folder in which pictures are kept; `None` keeps none."""
    service: str
    """Name of the service."""
    settings: OpenSettings
    """Licences, and which of them allow to keep pictures."""

    def get(self, shot: Shot, part: str, fetch: Callable[[], bytes]) -> bytes:
        """Return the JPEG file of a part of a picture, from disk or else fetched and, if allowed, kept.

        It is kept if it names its author, and a licence that allows it.

        The credit is written first, and a picture without one is not taken from the disk.

        Args:
            shot: picture as its service describes it.
            part: name of the part, such as `"sd"` or `"tile-3-1"`.
            fetch: function that fetches the file.

        Raises:
            ProviderError: as `fetch`.
            CannotWrite: the disk refuses.
        """
        folder = self._folder_of(shot)
        if folder is None:
            return fetch()
        file = folder / f"{part}.jpg"
        if self.credit(shot) and file.is_file():
            return file.read_bytes()
        data = fetch()
        licence = self.settings.licence(shot.licence)
        if licence is None or not self.settings.may_keep(shot.author, shot.licence):
            return data
        if not self.credit(shot):
            credit = PictureCredit(
                picture=shot.id,
                service=self.service,
                author=shot.author,
                licence=shot.licence,
                licence_url=licence.url,
                page=shot.page,
                taken=shot.taken.isoformat(),
                fetched=f"{datetime.now(UTC):%Y-%m-%d}",
            )
            write_whole(folder / "credit.json", credit.model_dump_json(indent=1).encode() + b"\n", AGAIN)
        write_whole(file, data, AGAIN)
        return data

    def credit(self, shot: Shot) -> PictureCredit | None:
        """Return the credit of a picture that is kept; `None` where it is not."""
        folder = self._folder_of(shot)
        if folder is None:
            return None
        try:
            return PictureCredit.model_validate_json((folder / "credit.json").read_bytes())
        except (OSError, ValidationError):
            return None

    def _folder_of(self, shot: Shot) -> Path | None:
        """Return the folder of a picture, named by a digest of its id; `None` where no pictures are kept."""
        if self.folder is None:
            return None
        digest = hashlib.sha256(shot.id.encode()).hexdigest()
        return self.folder / digest[:2] / digest[2:32]
