"""Finding runs and reading what a card shows of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from virl.errors import BadInput, VirlError
from virl.journal.folder import CONSULTED
from virl.journal.gallery.thumbnail import Photo, thumbnail
from virl.journal.journal import JOURNAL, RULES, read_journal
from virl.journal.records import AnyRecord, EndRecord, Result, StartRecord
from virl.journal.report import REPORT
from virl.journal.story import outcome_of
from virl.journal.tail import JournalTail
from virl.pages.ground import MapGround
from virl.pages.maps import MapFigure


@dataclass(frozen=True, slots=True)
class Card:
    """A finished run."""

    folder: Path
    who: str
    start: StartRecord
    result: Result
    outcome: str
    """The outcome of the run, in a sentence or two."""
    by_rules: bool
    has_report: bool
    picture: MapFigure | Photo | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run that is not shown."""

    folder: Path
    why: str


def runs_in(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of the runs in some folders, the latest first, those without a start last.

    Args:
        folders: runs, or folders of runs at any depth; runs of agents that were consulted belong to their
            callers and are not shown apart.

    Raises:
        BadInput: one is no folder.
    """
    for folder in folders:
        if not folder.is_dir():
            raise BadInput(f"{folder}: no such folder: give a folder that contains runs")
    found = {path.parent for folder in folders for path in folder.rglob(JOURNAL)}
    shown = sorted(path for path in found if CONSULTED not in path.parts)
    return sorted(shown, key=_start_time, reverse=True)


def read_card(folder: Path, ground: Callable[[str], MapGround]) -> Card | LeftOut:
    """Read what a card shows of a run, or why there is none.

    Args:
        folder: the run's.
        ground: of a city, by its name.
    """
    try:
        records = read_journal(folder)
        if end := next((record for record in records if isinstance(record, EndRecord)), None):
            return _card(folder, records, end.result, ground)
    except VirlError as fault:
        return LeftOut(folder, str(fault))
    return LeftOut(folder, "has not ended; if it was interrupted, continue it with --resume")


def _start_time(folder: Path) -> str:
    """Return when a run began; empty where its journal does not tell."""
    try:
        first = next(JournalTail(folder).read_new(), None)
    except VirlError:
        return ""
    return first.started if isinstance(first, StartRecord) else ""


def _card(
    folder: Path, records: Sequence[AnyRecord], result: Result, ground: Callable[[str], MapGround]
) -> Card:
    start = next(record for record in records if isinstance(record, StartRecord))
    reason = "" if result.status == "entered" else f" {result.reason[:1].upper()}{result.reason[1:]}"
    return Card(
        folder,
        str(start.character.get("name") or start.agent),
        start,
        result,
        outcome_of(result) + reason,
        start.mind == RULES,
        (folder / REPORT).is_file(),
        thumbnail(folder, records, ground(start.city)),
    )
