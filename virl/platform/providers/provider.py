"""What a provider is: who makes the cities of the files that name it, and what it says of them all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Generic, Literal, TypeVar

from virl.money.ledger import Ledger
from virl.platform.city import City
from virl.platform.left_out import LeftOut
from virl.platform.providers.city_file import CityFile

FileT = TypeVar("FileT", bound=CityFile)


@dataclass(frozen=True, slots=True)
class Access:
    """The terms of asking a city: its ledger and cache."""

    ledger: Ledger = field(default_factory=Ledger)
    """Limit on dollars, and counts of what is asked."""
    cache: Literal["off", "session", "ttl"] | None = None
    """Mode of the cache on disk; by default the one in the provider's settings."""
    session: str = ""
    """A run that is resumed gives the same name again, to find the replies that only it may see."""
    record: Path | None = None
    """Folder to write replies to."""
    replay: Path | None = None
    """Folder to answer from, with no network."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Counts of what cannot be read in replies and files."""
    as_of: date | None = None
    """Last day on which pictures may have been taken, in place of what the city's file says."""
    day: date | None = None
    """The day of the run, for which hours of a season and dates of opening are read; by default today."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Files that stand for a city without a city file, such as map extracts."""

    suffixes: tuple[str, ...]
    """Endings of their names."""
    read: Callable[[str], CityFile]
    """The city file that stands for a path; raises `BadInput`."""
    name: Callable[[str], str]
    """The name of the city of a path."""

    def fit(self, city: str) -> bool:
        """Return whether a city's given name is such a path, with or without a part named behind an `@`."""
        return city.rpartition("@")[0].endswith(self.suffixes) or city.endswith(self.suffixes)


@dataclass(frozen=True, slots=True)
class Provider(Generic[FileT]):
    """A maker of cities: what their files hold, and how one is opened.

    Each folder of `virl/platform/providers/` with a `provider.py` has one there, as `PROVIDER`, under the
    folder's name. Another package gives one by an entry point of the group `virl.providers`.
    """

    file: type[FileT]
    """The model of its city files."""
    open: Callable[[str, FileT, Access], City]
    """The function that makes the city of a name, a file and the way to ask; asks nothing yet. The time zone,
    language, region and terms is filled in from the file and from here."""
    needs: str = ""
    """The requirements beside virl, such as a variable with a key; empty if its cities open anywhere, for
    free. A city's file may say otherwise."""
    network: bool = False
    """True where it is asked over a network, so that its replies can be recorded."""
    billed: bool | None = None
    """True where its requests cost money; `None` if that is not known."""
    shareable: bool | None = None
    """True where its pictures and texts may be shown to others; `None` if the terms have to be read."""
    terms: str = ""
    """Under which terms it gives them, in a sentence or two."""
    mover: str = "links"
    """The mover that fits it, as `virl.platform.movement.open_mover` knows it."""
    paths: Paths | None = None
    """The paths that may be given in place of a city's name; `None` for nothing but city files."""
    cities: Path | None = None
    """A folder of city files that come with it; those of virl's own lie in `platform/cities/`."""

    @property
    def may_cost(self) -> bool:
        """Return whether its requests cost money, or may for all that is known."""
        return self.network if self.billed is None else self.billed
