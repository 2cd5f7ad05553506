"""Pictures that may be kept, on disk for good, each with its author and licence beside it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from virl.files.writing import write_whole
from virl.platform.providers.open.settings import OpenSettings
from virl.platform.providers.open.shots import Shot

AGAIN = "run it again"
"""Advice for a picture that could not be written."""


class PictureCredit(BaseModel):
    """The credit of a kept picture: the content of `credit.json` beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    picture: str
    service: str
    author: str
    licence: str
    """SPDX identifier of the licence when the picture was fetched."""
    licence_url: str
    page: str
    """URL of the page that shows the picture."""
    taken: str
    """Time at which it was taken, ISO 8601."""
    fetched: str
    """Day on which it was fetched, ISO 8601."""


@dataclass(frozen=True)
class KeptPictures:
    """Pictures of one service on disk, those whose licences allow it.

    Args:
        folder: where they are kept; `None` keeps none.
        service: its name.
        settings: which licences allow it.
    """

    folder: Path | None
    service: str
    settings: OpenSettings

    def get(self, shot: Shot, part: str, fetch: Callable[[], bytes]) -> bytes:
        """Return the file of a part of a picture, from disk or else fetched.

        It is kept if it names its author, and a licence that allows it.

        The credit is written first, and a picture without one is not taken from the disk.

        Args:
            shot: the picture.
            part: such as `"sd"` or `"tile-3-1"`.
            fetch: asks for it.

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
