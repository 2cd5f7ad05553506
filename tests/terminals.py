"""Commands of virl in a terminal of their own."""

import errno
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warm_cache import warm_cache

VIRL = (sys.executable, "-m", "virl")


def in_terminal(
    folder: Path, *words: str, columns: int = 80, stdin: Any = None, **environment: str
) -> tuple[int, str]:
    """Run a command in a terminal: its exit code, and all that the terminal is sent.

    Args:
        folder: where it runs, with a cache of its own unless `environment` names another.
        words: arguments of `virl`.
        columns: width of the terminal.
        stdin: in place of the terminal, as for `subprocess`.
        environment: variables to set.
    """
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    own = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    environment = own | {"TERM": "xterm-256color", "VIRL_CACHE": warm_cache(folder / "cache")} | environment
    given = far if stdin is None else stdin
    with subprocess.Popen(
        [*VIRL, *words], stdin=given, stdout=far, stderr=far, cwd=folder, env=environment
    ) as process:
        os.close(far)
        received = b"".join(_all_of(near))
    os.close(near)
    return process.returncode, received.decode("utf-8", "replace")


def _all_of(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError as fault:  # how Linux says that nobody writes any more
            if fault.errno != errno.EIO:
                raise
            return
        if not piece:
            return
        yield piece
