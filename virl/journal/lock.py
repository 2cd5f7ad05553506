"""One writer a run: a lock that the operating system frees when its holder dies, however it dies."""

import os
import sys
from pathlib import Path
from typing import BinaryIO

from virl.errors import JournalBroken
from virl.files.writing import refusals_in_a_line

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: BinaryIO) -> None:
        file.seek(_FAR)  # beyond the text, which others may then still read
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_FAR = 1 << 20


def lock_run(folder: Path) -> BinaryIO:
    """Take the run in `folder` for this process, until the file returned is closed.

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
