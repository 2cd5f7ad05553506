"""The filmstrip of a run: the views that its page shows, which of them are large, and the one of its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from virl.geo.globe import signed_float_turn
from virl.journal.records import DetectionRecord, NoteRecord, Result, StepRecord, ViewRecord
from virl.journal.story import Chapter, Stretch, moments_of
from virl.pages.pictures import Grades, embed
from virl.platform.city.streetview import Camera

CLOSER = 0.6
"""Largest field of view of a closer look that is shown, as a share of that of the look before. Chosen."""
PICTURE = "picture"
"""Topic of the note with the picture that a run answers with, and the key of its file in the answer."""
SAME_DEG = 3.0
"""Degrees between the directions of views below which they show the same. Chosen."""
MOST_KEYS = 12
"""Most key moments of a filmstrip. Chosen: they take about 0.6 MB."""
SHARP: Grades = ((720, 70), (640, 66), (560, 62))
"""Grades in which a view can be shown large; where not all views of a run fit, the key moments alone are."""
LARGE: Grades = ((720, 70), (560, 66), (480, 62), (360, 58))
SMALL: Grades = ((240, 60), (160, 50))


def looks_of(record: StepRecord | NoteRecord) -> list[ViewRecord]:
    """Return the views of a step or note that are worth showing: no closer look that is hardly closer."""
    before = max((view.fov for view in record.views if view.purpose == "look"), default=180.0)
    return [view for view in record.views if view.purpose != "closer" or view.fov <= CLOSER * before]


@dataclass(frozen=True, slots=True)
class Moment:
    """A panel of the filmstrip: a stretch of quiet steps, or the views of records with the same title."""

    chapter: StepRecord | NoteRecord | Stretch
    """The first of these records, or the stretch."""
    views: list[tuple[ViewRecord, StepRecord | NoteRecord]]
    """Each view with the record that it was taken for."""


def moments(told: Sequence[Chapter]) -> list[Moment]:
    """Return the panels of the filmstrip of a story, in order; of views that show the same, one remains.

    That is the picture that the run answers with, else the one with most finds, else the first.
    """
    panels: list[Moment] = []
    titles = moments_of(told)
    places: dict[tuple[str, float], list[tuple[Moment, int]]] = {}
    for one in told:
        if isinstance(one, Stretch):
            panels.append(Moment(one, []))
        elif isinstance(one, StepRecord | NoteRecord) and (views := looks_of(one)):
            last = panels[-1].chapter if panels else None
            if not isinstance(last, StepRecord | NoteRecord) or titles[last.seq] != titles[one.seq]:
                panels.append(Moment(one, []))
            for view in views:
                taken = places.setdefault((view.pano_id, view.fov), [])
                same = next(((at, n) for at, n in taken if is_same_look(view, at.views[n][0])), None)
                if same is None:
                    taken.append((panels[-1], len(panels[-1].views)))
                    panels[-1].views.append((view, one))
                elif _rank(view, one) > _rank(*same[0].views[same[1]]):
                    same[0].views[same[1]] = view, one
    return [one for one in panels if one.views or isinstance(one.chapter, Stretch)]


def _rank(view: ViewRecord, of: StepRecord | NoteRecord) -> tuple[bool, int]:
    """Return (whether a view is the picture that the run answers with, number of its finds)."""
    return isinstance(of, NoteRecord) and of.topic == PICTURE, len(view.detections)


def is_same_look(one: ViewRecord, other: ViewRecord | Camera) -> bool:
    """Return whether two views from one place, equally wide, show the same: within `SAME_DEG`."""
    turns = signed_float_turn(one.heading, other.heading), one.pitch - other.pitch
    return one.purpose != "photo" and max(map(abs, turns)) < SAME_DEG


def shown_views(told: Sequence[Chapter]) -> list[ViewRecord]:
    """Return the views in the filmstrip of a story."""
    return [view for one in moments(told) for view, _ in one.views]


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
    """Return the view that a result gives as its picture, else of what it names or counts, else the last.

    Args:
        views: of a run.
        result: of the run; `None` for one that has not ended.
    """
    said, picture = named_by(result), result.answer.get(PICTURE) if result else None
    counted = result.found if result else {}

    def worth(view: ViewRecord) -> tuple[bool, int, float]:
        """Return (whether it is the picture, letters of its named texts, score of a counted thing)."""
        texts = (view.caption, *(found.text for found in view.detections))
        letters = sum(len(text) for text in texts if is_named(text, said))
        scores = (found.score for found in view.detections if found.label in counted)
        return view.file == picture, letters, max(scores, default=0.0)

    return max(reversed(views), key=worth, default=None)


def finds_of_end(view: ViewRecord, result: Result | None) -> tuple[DetectionRecord, ...]:
    """Return the signs in a view that a result names; if none, all finds, but none if it names a place."""
    named = tuple(found for found in view.detections if is_named(found.text, named_by(result)))
    return named or (view.detections if result and not result.place else ())


def key_files(views: Sequence[ViewRecord], end: ViewRecord | None) -> frozenset[str]:
    """Return the files of the views of key moments: `end`, and those with finds or taken closer."""
    keys = [view.file for view in views if view.detections or view.purpose in ("closer", "photo")]
    return frozenset([*keys[:: max(1, ceil(len(keys) / MOST_KEYS))], *([end.file] if end else [])])


def embed_views(
    folder: Path, views: Sequence[ViewRecord], keys: frozenset[str], budget: int
) -> Mapping[str, str]:
    """Return {path: data URI} of views, all sharp where that fits, else the key moments alone.

    Args:
        folder: of the run.
        views: to show.
        keys: files of those of key moments.
        budget: most bytes of all pictures together.
    """
    files = dict.fromkeys(view.file for view in views)
    sharp = embed(folder, files, SHARP, budget * 2 // 3)
    if len(sharp) == len(files):
        return sharp
    large = embed(folder, [file for file in files if file in keys], LARGE, budget * 2 // 3)
    small = embed(folder, [file for file in files if file not in keys], SMALL, budget // 3)
    return {**large, **small}
