"""The folders of runs: one writer at a time, and no command writes over another one's files.

The operating system frees the lock of a folder when its holder dies, however it dies.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import BinaryIO

from virl.errors import BadInput, JournalBroken, VirlError
from virl.files.writing import refusals_in_a_line

CONSULTED = "consulted"
"""Folder of the runs of consulted agents, each in a subfolder, within the caller's run folder."""

_KINDS = {"journal.jsonl": "an agent's run", "records.jsonl": "a benchmark's run", "card.json": "a data set"}
"""Kinds of work that a folder may hold, by the name of the file that marks a folder with such work."""


def check_unused(folder: Path, *, own: str = "") -> None:
    """Raise `BadInput` if a folder holds a run or data set, except one whose marker file is named `own`.

    Raises:
        BadInput: it contains a run or a data set.
    """
    for name, what in _KINDS.items():
        if name != own and (folder / name).exists():
            raise BadInput(f"{folder}: already contains {what}: choose another --out")


@contextmanager
def removed_if_refused(folder: Path) -> Iterator[None]:
    """Remove a folder that the block made if a `VirlError` ends the block before a record is written."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        yield
    except VirlError:
        if made and not any(lines.stat().st_size for lines in folder.rglob("*.jsonl")):
            rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # another process may have put something beside it
                for parent in made[1:]:
                    parent.rmdir()
        raise


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: BinaryIO) -> None:
        """Lock a file for this process; raise `OSError` if another one holds it."""
        file.seek(1 << 20)  # a byte far beyond the text, which others may then still read
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(file: BinaryIO) -> None:
        """Lock a file for this process; raise `OSError` if another one holds it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_run(folder: Path) -> BinaryIO:
    """Lock a run's folder against other writers until the returned file is closed.

    The lock file `.lock` stays behind, with the number of the process that held it last; only a lock
    that is held counts.

    Raises:
        JournalBroken: another process, or another journal of this one, has the run.
        CannotWrite: the lock file cannot be made.
    """
    path = folder / ".lock"
    with refusals_in_a_line(path, "run again"):
        file = path.open("a+b")
    try:
        _try_lock(file)
    except OSError as fault:
        file.seek(0)
        holder = file.read(20).decode("ascii", "replace").strip() or "unknown"
        file.close()
        raise JournalBroken(
            f"{folder}: process {holder} is writing this run: wait for it, or stop it"
        ) from fault
    try:
        with refusals_in_a_line(path, "run again"):
            file.truncate(0)
            file.write(str(os.getpid()).encode())
            file.flush()
    except BaseException:
        file.close()
        raise
    return file
