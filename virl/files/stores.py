"""Caches on disk for objects that take long, or cost something, to make: as bytes, or as arrays.

A cache has a file for each key, which is written whole. One that cannot be used is named in a warning and
counts as absent. If the number of files is bounded, those that were opened longest ago are removed.
"""

import gc
import hashlib
import logging
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from shapely.errors import GEOSException

from virl.errors import BadInput, CannotWrite
from virl.files.writing import is_partial, replace_file
from virl.resources import cache_home

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")

# What NumPy, zipfile and the parsers raise for files that are damaged.
_UNUSABLE = (
    OSError, EOFError, ValueError, LookupError, TypeError, RuntimeError, zipfile.BadZipFile, GEOSException,
    BadInput,
)  # fmt: skip

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ByteStore:
    """A folder of cached files of one kind."""

    folder: str | Path
    """Folder of the files: absolute, or relative to `cache_home()`."""
    what: str
    """Noun for a cached object in messages, such as "reply"."""
    most: int | None = None
    """Greatest number of files that are kept; `None` for any number."""
    remedy: str = "making it again"
    """Advice in messages on replacing a file that cannot be used."""

    def get(
        self,
        name: str,
        parse: Callable[[BinaryIO], T | None],
        make: Callable[[], T],
        dump: Callable[[BinaryIO, T], object],
        *,
        keep: bool = True,
    ) -> T:
        """Return the object in a file, or else make it and, with `keep`, write it; a failed write only warns.

        Args:
            name: the path of the file in the folder.
            parse: reads the object, as for `load`.
            make: makes the object.
            dump: writes the object into an open file.
            keep: False to write no file.
        """
        found = self.load(name, parse)
        if found is None:
            found = make()
            if keep:
                try:
                    self.save(name, lambda file: dump(file, found))
                except CannotWrite as fault:
                    _log.warning(
                        "%s: the %s could not be cached (%s): it is made again next time",
                        self._path(name),
                        self.what,
                        fault,
                    )
        return found

    def load(self, name: str, parse: Callable[[BinaryIO], T | None]) -> T | None:
        """Return the object that `parse` reads in a file of the folder; `None` if it is missing or unusable.

        `parse` returns `None`, or raises, for a file that is of no use.
        """
        file = self._path(name)
        try:
            with file.open("rb") as opened:
                found = parse(opened)
        except FileNotFoundError:
            return None
        except _UNUSABLE as fault:
            _log.warning("%s: not a usable %s (%s): %s", file, self.what, type(fault).__name__, self.remedy)
            return None
        if self.most is not None:
            with suppress(OSError):
                file.touch()  # what was opened last is kept longest
        return found

    def save(self, name: str, dump: Callable[[BinaryIO], object]) -> None:
        """Write a file atomically by `dump`, and delete the oldest files of the folder beyond `most`.

        Raises:
            CannotWrite: the folder cannot be written.
        """
        file = self._path(name)
        with replace_file(file, "go on") as part:
            dump(part)
        if self.most is not None:
            with suppress(OSError):  # another process may delete files meanwhile
                kept = [one for one in file.parent.iterdir() if not is_partial(one)]
                for old in sorted(kept, key=lambda one: one.stat().st_mtime, reverse=True)[self.most :]:
                    old.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        """Return the path of a file in the folder."""
        return cache_home() / self.folder / name


@dataclass(frozen=True, slots=True)
class ArrayStore(Generic[T]):
    """A folder of cached objects of one kind, each written as named arrays."""

    folder: str
    """Folder of the files, relative to `cache_home()`."""
    what: str
    """Noun for a cached object in messages, such as "town"."""
    most: int
    """Greatest number of files that are kept."""
    write: Callable[[T], Arrays]
    """Function that returns an object's arrays by name."""
    read: Callable[[Arrays], T]
    """Function that makes an object from its arrays by name."""

    def get(self, key: str, make: Callable[[], T], *, keep: bool = True) -> T:
        """Return the object of a key, read from its file, or else made and, with `keep`, written to the file.

        Args:
            key: a text of all that the object depends on.
            make: makes the object.
            keep: False to write no file.
        """

        def parse(file: BinaryIO) -> T:
            """Return the object in an open file."""
            with np.load(file, allow_pickle=False) as arrays, collector_paused():
                return self.read(arrays)

        def dump(file: BinaryIO, made: T) -> None:
            """Write an object's arrays into an open file."""
            np.savez(file, allow_pickle=False, **self.write(made))

        store = ByteStore(self.folder, self.what, self.most)
        return store.get(f"{digest_of(key)}.npz", parse, make, dump, keep=keep)


def digest_of(key: str) -> str:
    """Return a file name for a key: the first 32 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection within the block, which speeds up making many small objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
