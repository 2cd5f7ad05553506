"""Recordings of HTTP clients, made in a process of their own where waits pass at once and threads take turns.

python -m guard.clients FOLDER [NAME]
"""

import concurrent.futures
import logging
import random
import sys
import time
from pathlib import Path
from typing import Any

from guard.tap import Log

SERVERS = ("virl.serve.", "servers.")
"""Beginnings of the names of modules whose own pauses are real."""
PAUSING = ("virl.", "tenacity")

log = Log()
_real_sleep = time.sleep


def _sleep(seconds: float) -> None:
    """Note what a client asks to wait; the clocks go forward by it at once."""
    caller = str(sys._getframe(1).f_globals.get("__name__"))
    if caller.startswith(PAUSING) and not caller.startswith(SERVERS):
        log.lines.append(f"wait {seconds:.2f} s")
        log.waited_s += seconds
    else:
        _real_sleep(seconds)


class _OneWorker(concurrent.futures.ThreadPoolExecutor):
    """A pool whose work is done in the order in which it was given."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__(1)


def _later(clock: Any) -> Any:
    return lambda: clock() + log.waited_s


def main(folder: Path, name: str) -> None:
    """Record the clients whose name contains `name`."""
    logging.disable()
    time.sleep = _sleep
    time.time, time.monotonic = _later(time.time), _later(time.monotonic)
    random.random = lambda: 1.0
    concurrent.futures.ThreadPoolExecutor = _OneWorker  # type: ignore[misc]
    from guard.cases import record_clients

    record_clients(folder, name, log)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
