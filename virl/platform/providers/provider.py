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
    """How a city is asked."""

    ledger: Ledger = field(default_factory=Ledger)
    """Limit on dollars, and counts of what is asked."""
    cache: Literal["off", "session", "ttl"] | None = None
    """What is kept on disk; by default as the provider's settings say."""
    session: str = ""
    """A run that is resumed gives the same name again, to find the replies that only it may see."""
    record: Path | None = None
    """Folder to write replies to."""
    replay: Path | None = None
    """Folder to answer from, with no network."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Counts what cannot be read in replies and files."""
    as_of: date | None = None
    """Leaves out pictures that were taken after this day, in place of what the city's file says."""
    day: date | None = None
    """The day of the run, for which hours of a season and dates of opening are read; by default today."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Files that stand for a city without a city file, such as map extracts."""

    suffixes: tuple[str, ...]
    """What their names end in."""
    read: Callable[[str], CityFile]
    """The city file that stands for a path; raises `BadInput`."""
    name: Callable[[str], str]
    """The name of the city of a path."""

    def fit(self, city: str) -> bool:
        """Whether what is given for a city is such a path, a part of it named behind an `@` or not."""
        return city.rpartition("@")[0].endswith(self.suffixes) or city.endswith(self.suffixes)


@dataclass(frozen=True, slots=True)
class Provider(Generic[FileT]):
    """Who makes cities: what their files hold, and how one is opened.

    Each folder of `virl/platform/providers/` with a `provider.py` has one there, as `PROVIDER`, under the
    folder's name. Another package gives one by an entry point of the group `virl.providers`.
    """

    file: type[FileT]
    """What its city files hold."""
    open: Callable[[str, FileT, Access], City]
    """Makes the city of a name, a file and the way to ask; asks nothing yet. What `City` says of time zone,
    language, region and terms is filled in from the file and from here."""
    needs: str = ""
    """What has to be there beside virl, such as a variable with a key; empty if its cities open anywhere, for
    free. A city's file may say otherwise."""
    network: bool = False
    """Whether it is asked over a network, so that its replies can be recorded."""
    billed: bool | None = None
    """Whether its requests cost money; `None` if that is not known."""
    shareable: bool | None = None
    """Whether its pictures and texts may be shown to others; `None` if the terms have to be read."""
    terms: str = ""
    """Under which terms it gives them, in a sentence or two."""
    mover: str = "links"
    """The mover that fits it, as `virl.platform.movement.open_mover` knows it."""
    paths: Paths | None = None
    """What may be given in place of a city's name; `None` for nothing but city files."""
    cities: Path | None = None
    """A folder of city files that come with it; those of virl's own lie in `platform/cities/`."""

    @property
    def may_cost(self) -> bool:
        """Whether its requests cost money, or may for all that is known."""
        return self.network if self.billed is None else self.billed
