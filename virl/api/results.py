"""Runs read from their folders, and compared."""

from collections.abc import Iterable
from pathlib import Path

from virl.errors import BadInput
from virl.journal.recorded import Comparison, RecordedRun, compare_runs


def read_run(folder: str | Path) -> RecordedRun:
    """Read a run, ended or not, from its folder.

    Args:
        folder: of the run, with its `journal.jsonl`.

    Raises:
        JournalBroken: there is no run, or its journal is damaged.

    Examples:
        >>> folder = virl.run("local", city="virlton", steps=1, out="read").folder
        >>> virl.read_run(folder).start.agent
        'local'
    """
    run = RecordedRun(folder)
    run.start  # noqa: B018 - reads the journal
    return run


def compare(runs: Iterable[RecordedRun | str | Path], *, out: str | Path = "compared.html") -> Comparison:
    """Put two or more runs side by side, in a page and a table.

    Args:
        runs: finished runs, runs that were read, or their folders.
        out: file of the page.

    Raises:
        BadInput: there is none.
        JournalBroken: there is no run in a folder, or its journal is damaged.
        CannotWrite: the page cannot be written.
    """
    read = [one if isinstance(one, RecordedRun) else read_run(one) for one in runs]
    if not read:
        raise BadInput("no runs to compare: give finished runs, or their folders")
    return compare_runs(read, Path(out))
