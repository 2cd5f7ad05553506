"""Licences of pictures: `platform/providers/open.yaml`."""

from datetime import date

from virl import resources
from virl.settings.model import Settings, load_settings


class Licence(Settings):
    """Terms of a picture."""

    title: str
    url: str
    keep: bool
    """True where the picture may be kept on disk for good, and passed on with its author and licence."""


class Read(Settings):
    """A page on which terms were read."""

    url: str
    read: date


class OpenSettings(Settings):
    """`platform/providers/open.yaml`."""

    licences: dict[str, Licence]
    """Licences by SPDX identifier."""
    sources: tuple[Read, ...]

    def licence(self, name: str) -> Licence | None:
        """Return the terms of a licence, its name in any case; `None` if they are unknown."""
        known = {one.casefold(): licence for one, licence in self.licences.items()}
        return known.get(name.casefold())

    def may_keep(self, author: str, licence: str) -> bool:
        """Return whether a picture may be kept and passed on: it has an author, and a licence for that."""
        terms = self.licence(licence)
        return bool(author.strip()) and terms is not None and terms.keep


def load_open_settings() -> OpenSettings:
    """Return the settings in `platform/providers/open.yaml`.

    Raises:
        BadInput: the file is broken.
    """
    return load_settings(resources.data_folder("platform/providers") / "open.yaml", OpenSettings)
