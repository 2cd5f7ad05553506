"""Writing the files of a run so that a kill at any point leaves each one whole or absent."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from virl.errors import VirlError

PARTIAL = ".part"
"""Suffix of a file that is being written."""


class CannotWrite(VirlError):
    """The disk is full, or the place may not be written to; what was written before is safe."""


@contextmanager
def writing(path: Path, then: str) -> Iterator[None]:
    """Turn an operating system's refusal to write `path` into one line.

    Args:
        path: what is being written, for the message.
        then: what to do once the cause is mended, such as `"resume the run"`.

    Raises:
        CannotWrite: in place of any `OSError` of the body.
    """
    try:
        yield
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise CannotWrite(f"cannot write {path}: {reason}; mend that, then {then}") from fault


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole: it appears under its name only when all of it is on the disk.

    Raises:
        OSError: it cannot be written; nothing is left behind where that can be helped.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise
