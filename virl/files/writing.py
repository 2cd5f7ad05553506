"""Writing files that are sound after a kill or on a full disk: whole files, and JSON lines that grow."""

import os
import platform
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, TypeVar
from zlib import crc32

from pydantic import ValidationError

from virl.errors import BadInput, CannotWrite, VirlError
from virl.files.json_reading import misfits

MOST_LINE = 100_000_000
"""Most bytes of a line of JSON that is read from a file; chosen, far above what virl writes."""

TOO_LONG = f"is longer than {MOST_LINE / 1e6:.0f} MB"
"""Message for a line longer than `MOST_LINE` bytes."""

PARTIAL = ".part"
"""Suffix of temporary files during writing."""

T = TypeVar("T")

_HOST = f"{crc32(platform.node().encode()):08x}"
_LEFTOVER = re.compile(rf"\.{_HOST}-(\d+)-[0-9a-f]+{re.escape(PARTIAL)}$")


@contextmanager
def refusals_in_a_line(path: Path, then: str) -> Iterator[None]:
    """Turn an `OSError` of the block that writes `path` into `CannotWrite`; `then`: advice in its message.

    Raises:
        CannotWrite: in place of any `OSError` of the body.
    """
    try:
        yield
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise CannotWrite(f"cannot write {path}: {reason}: fix that, then {then}") from fault


@contextmanager
def replace_file(path: Path, then: str, *, sync: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` at the end of the block; `then` is advice if that fails.

    A reader sees the old file or the new one. Several writers do no harm to each other: the last one wins.

    Args:
        path: the file.
        then: advice once a refusal is mended, such as "resume the run".
        sync: True to have the content on disk before the file has its name, so that it is whole even after a
            crash of the machine.

    Raises:
        CannotWrite: in place of any `OSError` of the body; the old file is unchanged.
    """
    with refusals_in_a_line(path, then):
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_leftovers(path.parent.absolute())
        unfinished = path.with_name(f".{path.name}.{_HOST}-{os.getpid()}-{secrets.token_hex(4)}{PARTIAL}")
        try:
            # In the same folder, as a rename is one step within a file system only; "x": nobody else's file.
            with unfinished.open("xb") as file:
                yield file
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def is_partial(path: Path) -> bool:
    """Return whether a file's name is one of `replace_file`'s temporary files, of any machine."""
    return path.name.startswith(".") and path.name.endswith(PARTIAL)


@lru_cache(maxsize=4096)
def _clear_leftovers(folder: Path) -> None:
    """Remove temporary files of this machine's dead processes from a folder, at the first call only."""
    for entry in folder.glob(f".*.{_HOST}-*{PARTIAL}"):
        if (found := _LEFTOVER.search(entry.name)) and not _may_be_alive(int(found[1])):
            entry.unlink(missing_ok=True)


def _may_be_alive(process: int) -> bool:
    """Return whether a process of this machine runs, by its id; true if that is unknown."""
    if sys.platform == "win32":
        return True  # `os.kill` would end the process there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # of another user
    return True


def write_whole(path: Path, data: bytes, then: str) -> None:
    """Write a file that appears under its name only once whole; `then` is advice in the error if that fails.

    Args:
        path: the file; its folder is made if need be.
        data: the content.
        then: advice once a refusal is mended, such as "resume the run".

    Raises:
        CannotWrite: the file cannot be written; the old one is unchanged.
    """
    with replace_file(path, then, sync=True) as file:
        file.write(data)


class JsonLines:
    """A file with a JSON object on each line, to which one process at a time appends.

    A last line that is not whole is not read, and goes with the next `append`: one without an end, as a kill
    leaves it, or an empty one or one with zero bytes, as a crash of the machine may.

    Args:
        path: the file. Reading changes nothing; the first `append` makes it, with its folder.
        then: advice once a refusal to write is mended, such as "resume the run".
        sync: True if `append` waits until the line is on disk, so that it outlives a crash of the machine; it
            outlives the process in any case.
    """

    def __init__(self, path: Path, then: str, *, sync: bool = True) -> None:
        """Keep the path; `then`: advice in errors of writing, `sync`: whether `append` waits for the disk."""
        self.path = path
        self.size = 0
        """Bytes of the lines read or appended; during reading, the offset of the current line."""
        self.count = 0
        """Number of lines read or appended."""
        self.torn = b""
        """Bytes of an incomplete last line that was found in reading; empty for none."""
        self._then = then
        self._sync = sync

    def read(
        self, parse: Callable[[bytes], T], *, mend: str = "", broken: type[VirlError] = BadInput
    ) -> Iterator[T]:
        """Yield the object of each whole line; raise `broken`, ending in `mend`, for one `parse` refuses.

        To be called before `append`. A file that is missing has no lines.

        Args:
            parse: makes an object of a line, or raises a `ValueError` with the fault.
            mend: the end of the message on a broken line, such as ": delete the file".
            broken: the error to raise.

        Raises:
            VirlError: `broken`, with file and line, if `parse` refuses a line or the file cannot be read.
        """
        self.size, self.count, self.torn = 0, 0, b""
        try:
            with self.path.open("rb") as file:
                line = file.readline(MOST_LINE)
                while line:
                    if len(line) == MOST_LINE:
                        raise broken(f"{self.path}, line {self.count + 1}: {TOO_LONG}{mend}")
                    after = file.readline(MOST_LINE)
                    # A crash of the machine may leave a last line empty or filled with zero bytes.
                    is_blank = not after and (b"\0" in line or not line.strip())
                    if is_blank or not line.endswith(b"\n"):
                        self.torn = line
                        return
                    try:
                        found = parse(line[:-1])
                    except ValueError as fault:
                        reason = (
                            misfits(fault, "the line")[0]
                            if isinstance(fault, ValidationError)
                            else str(fault)
                        )
                        raise broken(f"{self.path}, line {self.count + 1}: {reason}{mend}") from fault
                    yield found
                    self.size += len(line)
                    self.count += 1
                    line = after
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as fault:
            raise broken(f"{self.path}: cannot be read ({fault.strerror})") from fault

    def append(self, line: str, *, sync: bool = False) -> None:
        """Write a JSON object, a line without its break, at the end or not at all; `sync` waits for the disk.

        Raises:
            CannotWrite: the disk refuses, or another process has written to the file. The file can be
                appended to again once the cause is mended.
        """
        data = line.encode() + b"\n"
        with refusals_in_a_line(self.path, self._then):
            if not self.size:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("r+b" if self.size else "a+b", buffering=0) as file:
                self._check_end(file)
                file.truncate(self.size)
                file.seek(self.size)
                try:
                    rest = memoryview(data)
                    while rest:
                        rest = rest[file.write(rest) :]
                    if sync or self._sync:
                        os.fsync(file.fileno())
                except BaseException:
                    file.truncate(self.size)
                    raise
        self.size += len(data)
        self.count += 1
        self.torn = b""

    def heal(self) -> None:
        """Cut the file off after the whole lines that were read, so that an incomplete last line is gone.

        Raises:
            CannotWrite: the disk refuses.
        """
        if self.path.exists():
            with refusals_in_a_line(self.path, self._then):
                os.truncate(self.path, self.size)
        self.torn = b""

    def _check_end(self, file: BinaryIO) -> None:
        """Raise `OSError` if another process has removed lines from the file, or added whole ones."""
        if os.fstat(file.fileno()).st_size < self.size:
            raise OSError("lines have been removed from it")
        file.seek(self.size)
        after = file.read()
        if b"\n" in after and after != self.torn:
            raise OSError("another process has written to it")


def is_there(path: Path) -> bool:
    """Return whether a path is a file that exists; false for a name that the system does not allow."""
    try:
        return path.is_file()
    except OSError:  # the name is too long
        return False


def read_bounded(path: Path, most: int = MOST_LINE) -> bytes | None:
    """Return the bytes of a regular file of at most `most` bytes; `None` if it is larger or no regular file.

    Raises:
        OSError: the file is missing, or cannot be read.
    """
    status = path.stat()  # before it is opened: opening a pipe waits for a writer
    return path.read_bytes() if S_ISREG(status.st_mode) and status.st_size <= most else None


def folder_size(folder: Path) -> int:
    """Return the total bytes of all files below a folder; files deleted meanwhile count 0."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(root, name).lstat().st_size
    return total


def is_inside(folder: Path, name: str) -> bool:
    """Return whether the path `folder / name` stays inside the folder once symbolic links are followed."""
    try:
        return (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links is a RuntimeError before Python 3.13
        return False
