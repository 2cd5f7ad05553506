"""The filmstrip of a run: the views that its page shows, which of them are large, and the one of its end."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path

from virl.journal.records import NoteRecord, Result, StepRecord, ViewRecord
from virl.journal.story import Chapter
from virl.pages.pictures import Grades, embed

CLOSER = 0.6
"""Largest field of view of a closer look that is shown, as a share of that of the look before. Chosen."""
MOST_KEYS = 12
"""Most views that are large; of fewer views, all are. Chosen: they take about 0.6 MB."""
LARGE: Grades = ((720, 70), (560, 66), (480, 62), (360, 58))
SMALL: Grades = ((240, 60), (160, 50))


def looks_of(record: StepRecord | NoteRecord) -> list[ViewRecord]:
    """Return the views of a step or note that are worth showing: no closer look that is hardly closer."""
    before = max((view.fov for view in record.views if view.purpose == "look"), default=180.0)
    return [view for view in record.views if view.purpose != "closer" or view.fov <= CLOSER * before]


def shown_views(told: Sequence[Chapter]) -> list[ViewRecord]:
    """Return the views in the chapters of a story; those of stretches and gaps are left out."""
    return [view for one in told if isinstance(one, StepRecord | NoteRecord) for view in looks_of(one)]


def named_by(result: Result | None) -> str:
    """Return the words of a result that may name a sign, in lower case; empty for `None`."""
    if result is None:
        return ""
    place = result.place.name if result.place else ""
    return " ".join((place, result.reason, str(result.answer.get("answer", "")))).casefold()


def is_named(text: str, said: str) -> bool:
    """Return whether the words of a result, in lower case, name a sign of more than three letters."""
    return len(text) > 3 and text.casefold() in said


def view_of_end(views: Sequence[ViewRecord], result: Result | None) -> ViewRecord | None:
    """Return the view whose signs the result of a run names, else the last; `None` without views."""
    said = named_by(result)

    def letters_named(view: ViewRecord) -> int:
        """Return the number of letters of the signs in a view that the result names."""
        return sum(len(found.text) for found in view.detections if is_named(found.text, said))

    return max(reversed(views), key=letters_named, default=None)


def key_files(views: Sequence[ViewRecord], end: ViewRecord | None) -> frozenset[str]:
    """Return the files of the views that are shown large: `end`, and those with finds or taken closer."""
    keys = [view.file for view in views if view.detections or view.purpose in ("closer", "photo")]
    if len(views) <= MOST_KEYS:
        keys = [view.file for view in views]
    return frozenset([*keys[:: max(1, ceil(len(keys) / MOST_KEYS))], *([end.file] if end else [])])


def embed_views(
    folder: Path, views: Sequence[ViewRecord], keys: frozenset[str], budget: int
) -> Mapping[str, str]:
    """Return {path: data URI} of views.

    Args:
        folder: of the run.
        views: to show.
        keys: files of those that are large.
        budget: most bytes of all pictures together.
    """
    files = dict.fromkeys(view.file for view in views)
    large = embed(folder, [file for file in files if file in keys], LARGE, budget * 2 // 3)
    small = embed(folder, [file for file in files if file not in keys], SMALL, budget // 3)
    return {**large, **small}
