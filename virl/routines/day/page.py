"""The page of a planned day: that of any run, with the day as a timeline of activities beside its map."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from virl.journal.records import AnyRecord, NoteRecord, StepRecord
from virl.journal.report import SCRIPTS, STYLES, end_of, page, report_context, story_context
from virl.journal.story import Group, chapters, groups_of
from virl.pages.exhibits import TextExhibit
from virl.platform.city.city import City
from virl.routines.day.activity import changes_in_words
from virl.routines.day.scenic import TOPIC as SCENIC

_TEMPLATES = Path(__file__).parent / "templates"
_WIDE, _HIGH = 120.0, 28.0  # of a curve of feelings, SVG units
FOLLOWED = 3
"""Number of feelings that each activity shows: those that change most over the day."""

LONG = 20
"""Least number of activities and journeys of a day beside which all else of its page has room. Chosen."""


class PlannedActivity(BaseModel):
    """An activity or a journey of a planned day, as the run's answer has it."""

    starts: str
    ends: str
    what: str
    reason: str
    place: str = ""
    mode: str | None = None
    cost_usd: float
    changes: dict[str, float] = {}
    state: dict[str, float] = {}

    @property
    def changes_in_words(self) -> str:
        """The changes of feelings as text, such as "more joy (8)"; empty for none."""
        return changes_in_words(self.changes)


_ACTIVITIES = TypeAdapter(list[PlannedActivity])


@dataclass(frozen=True, slots=True)
class Feeling:
    """A feeling over a day: its values, 0 to 100, at the start and after each activity and journey."""

    name: str
    values: tuple[float, ...]

    @property
    def points(self) -> list[tuple[float, float]]:
        """Points (x, y) of its curve, 120 SVG units wide and 28 high."""
        across = _WIDE / max(1, len(self.values) - 1)
        return [(number * across, _HIGH * (1 - value / 100)) for number, value in enumerate(self.values)]

    @property
    def range(self) -> float:
        """Points from its lowest to its highest value."""
        return max(self.values) - min(self.values)


def draw_page(folder: Path, records: Sequence[AnyRecord], city: City | None) -> str:
    """Return the HTML page of a run that planned a day, or that of any run where it has no plan.

    Args:
        folder: folder of the run.
        records: all records of its journal.
        city: city of the run; without it the map shows no streets.
    """
    end = end_of(records)
    answer = end.result.answer if end else {}
    context = story_context(folder, records, city)
    try:
        activities = _ACTIVITIES.validate_python(answer.get("activities") or [])
    except ValidationError:
        activities = []
    if not activities or end is None:
        return page("report.html.j2", context, styles=STYLES, scripts=SCRIPTS)
    every = list(chapters([one for one in records if isinstance(one, StepRecord | NoteRecord)]))
    groups = groups_of(every, max(1, len(every)))
    by_time = {_time_of(group): group for group in groups}
    notes = [one for one in records if isinstance(one, NoteRecord) and one.views]
    rated = sorted(notes, key=lambda one: float(str(one.data.get("rating", 0))))
    # The best of each place that was rated, and what was looked at when the activity was planned.
    seen = {note.title or view.caption: view for note in rated for view in note.views[-1:]}
    before = answer.get("state_before")
    states = [one.state for one in activities]
    states.insert(0, before if isinstance(before, dict) else states[0])
    feelings = [Feeling(name, tuple(state.get(name, 0.0) for state in states)) for name in states[-1]]
    texts = [one for one in end.exhibits if isinstance(one, TextExhibit)]
    context |= {
        "exhibits": report_context(folder, records, city, (), texts)["exhibits"],
        "activities": [
            (one, by_time.get(f"{one.starts}-{one.ends}"), seen.get(one.place)) for one in activities
        ],
        "feelings": feelings,
        "followed": sorted(feelings, key=attrgetter("range"), reverse=True)[:FOLLOWED],
        "spent": sum(one.cost_usd for one in activities),
        "budget": answer.get("budget_usd"),
        "rated": [one for one in notes if one.topic == SCENIC],
        "is_long": len(activities) >= LONG,
        "groups": [group for group in groups if not _time_of(group)],
    }
    styles = (*STYLES, "day.css")
    return page("day.html.j2", context, styles=styles, scripts=SCRIPTS, folder=_TEMPLATES)


def _time_of(group: Group) -> str:
    """Return the time of the activity that a group ends with, such as "09:03-09:43"; empty for others."""
    last = group.chapters[-1]
    if isinstance(last, NoteRecord) and last.topic == "activity":
        return last.sentence.partition(" ")[0]
    return ""
