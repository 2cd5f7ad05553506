"""Providers by name: who makes the cities of the files that name them, and what holds of them all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict

from virl.errors import UnknownName
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.left_out import LeftOut
from virl.platform.providers.city_file import CityFile
from virl.registry import Registry, scan
from virl.settings.model import Settings, load_settings

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
    drawn: bool = False
    """True where virl draws what is seen in its cities."""
    cities: Path | None = None
    """Folder of city files that come with it; `None` for those in `platform/cities/`."""

    @property
    def may_cost(self) -> bool:
        """Return whether its requests cost money, or might."""
        return self.network if self.billed is None else self.billed


PROVIDERS: Registry[Provider[Any]] = Registry(
    kind="provider",
    group="virl.providers",
    expected=Provider,
    builtin=partial(scan, "virl.platform.providers", "provider", "PROVIDER"),
)
"""virl's own providers and those of other packages, by name."""


def _check_provider(name: str) -> str:
    """Return the name of a provider, checked to exist."""
    if name not in PROVIDERS:
        raise ValueError(str(UnknownName("provider", name, PROVIDERS.names())))
    return name


class _Named(Settings):
    """The provider's name in a city file; read before the other fields."""

    model_config = ConfigDict(extra="ignore")

    provider: Annotated[str, AfterValidator(_check_provider)]


def read_city(file: Path) -> CityFile:
    """Return the settings in a city's file, checked by its provider.

    Raises:
        BadInput: the file is broken, or names no provider that there is.
        ModelUnavailable: its provider comes with a package that cannot be imported.
    """
    checked: CityFile = load_settings(file, PROVIDERS.find(load_settings(file, _Named).provider).file)
    return checked


def provider_of(city: CityFile) -> Provider[Any]:
    """Return the provider that makes a city.

    Raises:
        ModelUnavailable: as `read_city`.
    """
    return PROVIDERS.find(city.provider)
