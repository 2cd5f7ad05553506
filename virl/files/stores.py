"""Stores of what takes long, or costs something, to make: one for bytes, one for arrays.

A store has a file for each key, which is written whole. One that cannot be used is named in a warning and
counts as absent. Where the number of files is bounded, those that were opened longest ago are removed.
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
    """Folder of the files; relative to `cache_home()`."""
    what: str
    """Noun for the cached things in messages, such as `"reply"`."""
    most: int | None = None
    """Upper bound on the number of files; `None` sets none."""
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
        """Return the object in a file, else make it and write the file; a failed write only warns.

        Args:
            name: path of the file in the folder.
            parse: as for `load`.
            make: makes the thing.
            dump: writes the thing.
            keep: whether a thing that was made is written.
        """
        thing = self.load(name, parse)
        if thing is None:
            thing = make()
            if keep:
                try:
                    self.save(name, lambda file: dump(file, thing))
                except CannotWrite as fault:
                    _log.warning(
                        "%s: the %s could not be cached (%s): it is made again next time",
                        self._path(name),
                        self.what,
                        fault,
                    )
        return thing

    def load(self, name: str, parse: Callable[[BinaryIO], T | None]) -> T | None:
        """Return the object in a file; `None` if the file is missing or unusable.

        Args:
            name: path of the file in the folder.
            parse: reads the thing; returns `None`, or raises, where the file is of no use.
        """
        file = self._path(name)
        try:
            with file.open("rb") as opened:
                thing = parse(opened)
        except FileNotFoundError:
            return None
        except _UNUSABLE as fault:
            _log.warning("%s: not a usable %s (%s): %s", file, self.what, type(fault).__name__, self.remedy)
            return None
        if self.most is not None:
            with suppress(OSError):
                file.touch()  # what was opened last is kept longest
        return thing

    def save(self, name: str, dump: Callable[[BinaryIO], object]) -> None:
        """Write a file atomically, by a function that writes its bytes.

        Raises:
            CannotWrite: the folder cannot be written.
        """
        file = self._path(name)
        with replace_file(file, "go on") as part:
            dump(part)
        if self.most is not None:
            with suppress(OSError):
                kept = [one for one in file.parent.iterdir() if not is_partial(one)]
                for old in sorted(kept, key=lambda one: one.stat().st_mtime, reverse=True)[self.most :]:
                    old.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        """Return the path of a file in the folder."""
        return cache_home() / self.folder / name


@dataclass(frozen=True, slots=True)
class ArrayStore(Generic[T]):
    """A folder of cached objects of one kind, written as arrays."""

    folder: str
    """Folder of the files; relative to `cache_home()`."""
    what: str
    """Noun for the cached things in messages, such as `"town"`."""
    most: int
    """Upper bound on the number of files."""
    write: Callable[[T], Arrays]
    """Function that returns the arrays of an object."""
    read: Callable[[Arrays], T]
    """Function that returns the object of its arrays."""

    def get(self, key: str, make: Callable[[], T], *, keep: bool = True) -> T:
        """Return the object of a key, read from its file or made and written.

        Args:
            key: all that the thing depends on.
            make: makes the thing.
            keep: whether a thing that was made is written.
        """
        store = ByteStore(self.folder, self.what, self.most)
        return store.get(f"{digest_of(key)}.npz", self._parse, make, self._dump, keep=keep)

    def _parse(self, file: BinaryIO) -> T:
        """Return the object in a file."""
        with np.load(file, allow_pickle=False) as kept, collector_paused():
            return self.read(kept)

    def _dump(self, file: BinaryIO, thing: T) -> None:
        """Write an object's arrays to a file."""
        np.savez(file, allow_pickle=False, **self.write(thing))


def digest_of(key: str) -> str:
    """Return a file name for a key: the first 32 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection within the block, which makes many small objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
