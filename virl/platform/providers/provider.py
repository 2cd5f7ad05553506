"""What a provider is: who makes the cities of the files that name it, and what it says of them all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Generic, Literal, TypeVar

from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.left_out import LeftOut
from virl.platform.providers.city_file import CityFile

FileT = TypeVar("FileT", bound=CityFile)


@dataclass(frozen=True, slots=True)
class Access:
    """The terms of asking a city: its ledger, cache, recording and dates."""

    ledger: Ledger = field(default_factory=Ledger)
    """Limit on dollars, and counts of requests."""
    cache: Literal["off", "session", "ttl"] | None = None
    """Mode of the cache on disk; by default the one in the provider's settings."""
    session: str = ""
    """Name of the run, given again on resuming to find its own replies in the cache."""
    record: Path | None = None
    """Folder to write replies to; `None` records nothing."""
    replay: Path | None = None
    """Folder to answer from without network; `None` asks the network."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Counts of what cannot be read in replies and files."""
    as_of: date | None = None
    """Last day of pictures, in place of that of the city's file; `None` keeps the file's."""
    day: date | None = None
    """Day of the run, for seasonal hours and openings; `None` for today."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths, such as those of map extracts, that may stand in place of a city file."""

    suffixes: tuple[str, ...]
    """Endings of the names of such files."""
    read: Callable[[str], CityFile]
    """Function from a path to its city file; raises `BadInput`."""
    name: Callable[[str], str]
    """Function from a path to the name of its city."""

    def fit(self, city: str) -> bool:
        """Return whether a given name is such a path, with or without a part behind an `@`."""
        return city.rpartition("@")[0].endswith(self.suffixes) or city.endswith(self.suffixes)


@dataclass(frozen=True, slots=True)
class Provider(Generic[FileT]):
    """A maker of cities: the model of its files, and the function that opens one.

    Each folder of `virl/platform/providers/` with a `provider.py` has one there, as `PROVIDER`, under the
    folder's name. Another package gives one by an entry point of the group `virl.providers`.
    """

    file: type[FileT]
    """The model of its city files."""
    open: Callable[[str, FileT, Access], City]
    """Function that makes the city of a name, a file and the access; it asks nothing yet."""
    needs: str = ""
    """The requirements beside virl, such as a variable with a key; empty if its cities open anywhere, for
    free. A city's file may say otherwise."""
    network: bool = False
    """True where the provider is asked over a network, so that replies can be recorded."""
    billed: bool | None = None
    """True where its requests cost money; `None` if that is not known."""
    shareable: bool | None = None
    """True where its pictures and texts may be shown to others; `None` if the terms have to be read."""
    terms: str = ""
    """Terms under which it gives pictures and texts, in a sentence or two."""
    mover: str = "links"
    """Name of the mover that fits its cities, for `virl.platform.movers.open_mover`."""
    paths: Paths | None = None
    """Paths that stand in place of a city's name; `None` for none."""
    cities: Path | None = None
    """Folder of city files that come with it; `None` for those in `platform/cities/`."""

    @property
    def may_cost(self) -> bool:
        """Return whether its requests cost money, or might."""
        return self.network if self.billed is None else self.billed
