"""Pictures of a service as a city has them: its server, the lists of squares, and what is kept on disk."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from virl import resources
from virl.errors import BadInput, ProviderError
from virl.files.writing import write_whole
from virl.platform.city.streetview import Attitude
from virl.platform.providers.http.keys import ApiKey
from virl.platform.providers.http.replies import HttpFault, usual_remedy
from virl.platform.providers.http.service import Limits, Service
from virl.platform.providers.http.settings import checked_host
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.open.cells import SMALLEST_ZOOM, Cell
from virl.platform.providers.open.picture_services import (
    PICTURES,
    THIN,
    PictureClient,
    PictureServer,
    PictureSettings,
    Shot,
)
from virl.platform.providers.pictures.picture import FULL_TURN, Picture, course_at
from virl.platform.providers.provider import Access
from virl.settings.model import Settings, load_settings

_MAX_REPLY_MB = 64.0
"""Largest size of a reply in megabytes."""
_DAY_S = 86_400.0
"""Number of seconds in a day."""
_THIN_S = 6 * 3600.0
"""Seconds for which a list of few pictures is kept."""
AGAIN = "run it again"
"""Advice on a picture or list that could not be written."""


def url_variable(name: str) -> str:
    """Return the name of the environment variable that names another server for a picture service."""
    return f"VIRL_{name.upper().replace('-', '_')}_URL"


def picture_settings(name: str, url: str | None = None) -> PictureSettings:
    """Return a service's settings, for the server that the environment names, else at `url`, else its own.

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


class _Listed(BaseModel):
    """The kept list of the pictures in a square, or a note that it was split into four."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[2] = 2
    """Version of the file's format."""
    asked: float
    """Time at which the list was asked for, seconds since 1970."""
    shots: tuple[Shot, ...] | None
    """Pictures in the square; `None` where it was split."""


@dataclass(frozen=True)
class ShotLists:
    """The lists of the pictures in squares of the map, each kept for some days."""

    ask: Callable[[Cell], Sequence[Shot] | None]
    """Function that returns a service's pictures in a square; `None` if they are too many for it."""
    folder: Path | None
    """Folder in which lists are kept; `None` keeps none."""
    keep_days: float
    """Number of days after which a list is asked for again; one of few pictures after six hours."""
    clock: Callable[[], float] = time.time
    """Function that returns the seconds since 1970."""

    def of(self, cell: Cell) -> list[Shot]:
        """Return all pictures in a square, from a kept list or asked for, in four parts where they are many.

        Raises:
            ProviderError: the service fails.
            BadInput: the smallest square holds too many.
            CannotWrite: the disk refuses.
        """
        file = self.folder / f"{cell.name}.json" if self.folder else None
        listed = self._load_kept(file) if file else None
        if listed is None:
            found = self.ask(cell)
            listed = _Listed(asked=self.clock(), shots=None if found is None else tuple(found))
            if file:
                write_whole(file, listed.model_dump_json().encode(), AGAIN)
        if listed.shots is not None:
            return list(listed.shots)
        if cell.zoom >= SMALLEST_ZOOM:
            raise BadInput(f"the square {cell.name} has too many pictures for one request: use another area")
        return [shot for part in cell.parts() for shot in self.of(part)]

    def _load_kept(self, file: Path) -> _Listed | None:
        """Return the list in a file; `None` if there is none that can be read, or it is too old."""
        try:
            listed = _Listed.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            return None
        keep_s = self.keep_days * _DAY_S
        if listed.shots is not None and len(listed.shots) < THIN:
            keep_s = min(keep_s, _THIN_S)
        return listed if listed.asked > self.clock() - keep_s else None


def pictures_of(shots: Iterable[Shot]) -> list[Picture]:
    """Return shared pictures as pictures of sequences; one without a heading faces along its sequence."""
    by_sequence: dict[str, list[Shot]] = {}
    for shot in shots:
        by_sequence.setdefault(shot.sequence, []).append(shot)
    pictures = []
    for sequence in by_sequence.values():
        sequence.sort(key=lambda shot: (shot.rank, shot.taken, shot.id))
        positions = [shot.position for shot in sequence]
        for number, shot in enumerate(sequence):
            heading = course_at(positions, number) if shot.heading is None else shot.heading
            pictures.append(
                Picture(
                    id=shot.id,
                    position=shot.position,
                    attitude=Attitude(heading % FULL_TURN, shot.pitch, shot.roll),
                    fov=shot.fov,
                    sequence=shot.sequence,
                    rank=shot.rank,
                    taken=shot.taken,
                    author=shot.author,
                    licence=shot.licence,
                    sky=shot.sky,
                    left=shot.left,
                )
            )
    return pictures


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

        It is kept if it names its author, and a licence that allows it. The credit is written first, and a
        picture without one is not taken from the disk.

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
