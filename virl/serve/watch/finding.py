"""The runs in the folders that a user names."""

from collections.abc import Sequence
from pathlib import Path

from virl.errors import BadInput
from virl.journal.folder import CONSULTED
from virl.journal.journal import JOURNAL


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """The folders of runs, in the order in which they are named.

    Args:
        folders: runs, or folders that contain runs at any depth; runs of agents that were consulted belong to
            their callers and are not shown apart.

    Raises:
        BadInput: one is no folder, or contains no run.
    """
    found: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise BadInput(f"{folder}: no such folder: give a run folder, or a folder that contains runs")
        if (folder / JOURNAL).is_file():
            inside = [folder]
        else:
            journals = sorted(path.parent for path in folder.rglob(JOURNAL))
            inside = [path for path in journals if CONSULTED not in path.relative_to(folder).parts]
        if not inside:
            raise BadInput(f"{folder}: contains no run: give a run folder, or a folder that contains runs")
        found += [path for path in inside if path not in found]
    return found
