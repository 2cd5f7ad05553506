"""The folder that a command writes: what a run keeps beside its journal, and what is refused."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree

from virl.errors import BadInput, VirlError

CONSULTED = "consulted"
"""Folder of the runs of agents that were consulted, each in a folder of its own."""

_HELD = {"journal.jsonl": "an agent's run", "records.jsonl": "a benchmark's run", "card.json": "a data set"}
"""Files by which it is told what a folder contains."""


def check_unused(folder: Path, *, own: str = "") -> None:
    """Check that a folder may be written to: that it contains nothing of another command.

    Args:
        folder: may be missing.
        own: name of the file by which the command knows what it can go on with.

    Raises:
        BadInput: it contains a run or a data set.
    """
    for name, what in _HELD.items():
        if name != own and (folder / name).exists():
            raise BadInput(f"{folder}: already contains {what}: choose another --out")


@contextmanager
def removed_if_refused(folder: Path) -> Iterator[None]:
    """Remove the folder that the block makes where a `VirlError` ends it before a line was recorded.

    A folder that was there before stays.
    """
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
