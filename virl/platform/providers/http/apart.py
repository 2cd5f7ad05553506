"""How far apart the requests to a service are, over all processes of a machine."""

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from virl.files.writing import refusals_in_a_line

if sys.platform == "win32":

    def _lock(file: BinaryIO) -> None:
        """Lock nothing: processes are not kept apart there."""

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)  # freed when the file is closed


class SecondsApart:
    """A gate that lets requests begin at least so many seconds apart, over all threads and processes.

    Args:
        seconds: between the beginnings of two requests.
        file: its time of change is when the last request began; processes that name the same file take
            turns.
        clock: seconds since 1970.
        sleep: waits some seconds.
    """

    def __init__(
        self,
        seconds: float,
        file: Path,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare the gate; processes with the same `file` take turns."""
        self._seconds = seconds
        self._file = file
        self._clock = clock
        self._sleep = sleep
        self._turn = threading.Lock()

    def wait(self) -> None:
        """Wait until the next request may begin, and count it as begun.

        Raises:
            CannotWrite: the file cannot be made.
        """
        if not self._seconds:
            return
        with self._turn:
            with refusals_in_a_line(self._file, "set VIRL_CACHE to a folder that can be written"):
                self._file.parent.mkdir(parents=True, exist_ok=True)
                is_first = not self._file.exists()
                file = self._file.open("a+b")
            with file:
                _lock(file)
                last = 0.0 if is_first else os.fstat(file.fileno()).st_mtime
                pause = last + self._seconds - self._clock()
                if 0 < pause <= self._seconds:  # longer only where the clock was set back
                    self._sleep(pause)
                now = self._clock()
                os.utime(self._file, (now, now))
