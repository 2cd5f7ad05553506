"""What takes long to make, kept in the cache as arrays: towns, pictures of them, what was found in these."""

import gc
import hashlib
import logging
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from shapely.errors import GEOSException

from virl.errors import CannotWrite
from virl.files import replacing
from virl.resources import cache_home

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")

# What NumPy, zipfile and the codec raise for files that are damaged or are no archives.
_UNUSABLE = (
    OSError, EOFError, ValueError, LookupError, TypeError, RuntimeError, zipfile.BadZipFile, GEOSException,
)  # fmt: skip

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """Things of one kind in the cache.

    A file that cannot be used is named in a warning and made anew; where none can be written, a warning says
    so.
    """

    folder: str
    """Of the files, below `cache_home()`."""
    what: str
    """The kind, for messages: `"town"`."""
    most: int
    """How many are kept; those that were opened longest ago go first."""
    write: Callable[[T], Arrays]
    read: Callable[[Arrays], T]

    def get(self, key: str, make: Callable[[], T], *, keep: bool = True) -> T:
        """The thing of a key, from its file or made.

        Args:
            key: of all that it depends on.
            make: makes it.
            keep: whether it is kept if it is made.
        """
        file = cache_home() / self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"
        thing = self._load(file)
        if thing is None:
            thing = make()
            if keep:
                self._store(file, thing)
        return thing

    def _load(self, file: Path) -> T | None:
        try:
            with file.open("rb") as opened, np.load(opened, allow_pickle=False) as kept, collector_paused():
                thing = self.read(kept)
        except FileNotFoundError:
            return None
        except _UNUSABLE as fault:
            _log.warning("%s: not a usable %s (%s): making it again", file, self.what, type(fault).__name__)
            return None
        with suppress(OSError):
            file.touch()  # what was opened last is kept longest
        return thing

    def _store(self, file: Path, thing: T) -> None:
        try:
            with replacing(file, "go on") as part:
                np.savez(part, allow_pickle=False, **self.write(thing))
        except CannotWrite as fault:
            _log.warning(
                "%s: the %s could not be cached (%s): it is made again next time", file, self.what, fault
            )
            return
        with suppress(OSError):
            kept = sorted(file.parent.glob("*.npz"), key=lambda one: one.stat().st_mtime, reverse=True)
            for old in kept[self.most :]:
                old.unlink(missing_ok=True)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Collect no garbage, to read many small objects that are none faster, such as those of a plan."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
