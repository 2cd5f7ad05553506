"""Loaded by Python before a program of the harness: kills it at a write, or lets its clock jump.

`CHAOS_KILL_AT=N` kills the process at its N-th change of a file below one of the folders in `CHAOS_FOLDERS`.
`CHAOS_CLOCK=A,B,...` moves `time.time` by so many seconds, one after the other every 200 readings.
"""

import os
import signal
import sys
import time
from pathlib import Path

_WRITES = ("open", "os.rename", "os.remove", "os.truncate", "os.mkdir", "sqlite3.connect")


def _kill_at(number: int, folders: tuple[str, ...]) -> None:
    left = number

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event not in _WRITES or not arguments:
            return
        if event == "open" and not _is_for_writing(arguments):
            return
        name = os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes, os.PathLike)) else ""
        if not name or not str(Path.cwd() / name).startswith(folders):
            return
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)


def _is_for_writing(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 else 0
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def _jump(offsets: list[float]) -> None:
    real, readings = time.time, 0

    def shifted() -> float:
        nonlocal readings
        readings += 1
        return real() + offsets[readings // 200 % len(offsets)]

    time.time = shifted


if _number := int(os.environ.get("CHAOS_KILL_AT", "0")):
    _kill_at(_number, tuple(os.environ["CHAOS_FOLDERS"].split(os.pathsep)))
if _offsets := os.environ.get("CHAOS_CLOCK", ""):
    _jump([float(one) for one in _offsets.split(",")])
