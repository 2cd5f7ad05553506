"""Files written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `file` when it is complete; its folder is made if need be.

    A reader sees the old file or the new one. Several writers do no harm to each other: the last one stays.

    Raises:
        OSError: the file cannot be written; what was there before is still there.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with unfinished.open("xb") as opened:
            yield opened
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
