"""Finding runs and reading what a card shows of each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from virl.errors import BadInput, VirlError
from virl.journal.folder import CONSULTED
from virl.journal.gallery.thumbnail import Photo, thumbnail
from virl.journal.journal import JOURNAL, RULES, read_journal
from virl.journal.records import AnyRecord, EndRecord, Result, StartRecord
from virl.journal.report import REPORT
from virl.journal.story import outcome_of
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


def collect(folders: Sequence[Path], ground: Callable[[str], MapGround]) -> tuple[list[Card], list[LeftOut]]:
    """Collect the finished runs in some folders, the latest first, and the others with the reason.

    Args:
        folders: runs, or folders of runs at any depth; runs of agents that were consulted belong to their
            callers and are not shown apart.
        ground: of a city, by its name.

    Raises:
        BadInput: one is no folder.
    """
    cards, left_out = [], []
    for folder in _runs(folders):
        try:
            records = read_journal(folder)
            end = next((record for record in records if isinstance(record, EndRecord)), None)
            if end is None:
                left_out.append(
                    LeftOut(folder, "has not ended; if it was interrupted, continue it with --resume")
                )
            else:
                cards.append(_card(folder, records, end.result, ground))
        except VirlError as fault:
            left_out.append(LeftOut(folder, str(fault)))
    return sorted(cards, key=lambda card: card.start.started, reverse=True), left_out


def _runs(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        if not folder.is_dir():
            raise BadInput(f"{folder}: no such folder: give a folder that contains runs")
    found = {path.parent for folder in folders for path in folder.rglob(JOURNAL)}
    yield from sorted(path for path in found if CONSULTED not in path.parts)


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
