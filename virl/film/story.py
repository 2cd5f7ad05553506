"""The moments of a recorded run that its film shows, and how long each of them stays."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from operator import itemgetter
from pathlib import Path

from virl.errors import BadInput
from virl.files.writing import is_inside
from virl.geo.globe import LatLng, bearing, signed_turn
from virl.journal.film import PICTURE, finds_of_end, is_named, named_by, shown_views, view_of_end
from virl.journal.folder import CONSULTED
from virl.journal.journal import JOURNAL, read_journal, read_result
from virl.journal.records import EndRecord, NoteRecord, PlaceRecord, Result, StepRecord, ViewRecord
from virl.journal.report import CONSULTATION, start_of
from virl.journal.story import heading_of, headline_of, moment_of, words
from virl.journal.tool_results import told_result
from virl.pages.exhibits import MapExhibit
from virl.plain_text import plain_line
from virl.platform.navigators.tourist.signs import MIN_RESEMBLANCE, name_likeness


class Rank(IntEnum):
    """Weight of a moment: the higher, the longer it stays."""

    WALK, LOOK, NOTE, FIND, END = range(5)


# All chosen.
LASTS_S = {Rank.WALK: 0.1, Rank.LOOK: 0.4, Rank.NOTE: 1.6, Rank.FIND: 2.2, Rank.END: 4.0}
"""Seconds that a moment stays, by rank."""
TOLD_SHARE = 0.6
"""Largest share of a film's time before its end, [0, 1], that moments with words take."""
HELD_STEPS = 8
"""Number of steps without a view for which the last view stays, before the map takes its place."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a run: a view, if there is one, the path so far, and words."""

    folder: Path
    """Folder of the run, or of the run of a consulted agent."""
    path: Sequence[LatLng]
    """Positions of all steps of that run."""
    walked: int
    """Number of positions of the path that were reached."""
    rank: Rank
    where: str
    """Name of the agent, its step, and the metres walked."""
    said: str = ""
    view: ViewRecord | None = None
    is_marked: bool = False
    """True if the boxes of what was found are drawn into the view's file."""
    places: tuple[PlaceRecord, ...] = ()
    """Places that were considered so far."""


@dataclass(slots=True)
class Story:
    """The moments of a run in order, and the maps of its results."""

    city: str
    """Name of the run's city."""
    notice: str
    """Credits that pictures of the city have to show; may be empty."""
    moments: list[Moment] = field(default_factory=list)
    maps: list[tuple[Path, MapExhibit]] = field(default_factory=list)
    """Maps of results, each with the folder of its run."""


def read_story(folder: Path) -> Story:
    """Return the moments of the run in a folder, those of the agents that it consulted among them.

    Raises:
        JournalBroken: a journal is missing or damaged.
        BadInput: there is nothing to show: no picture, and no place on a map; or the pictures are gone.
    """
    start = start_of(read_journal(folder))
    story = Story(start.city, start.attribution)
    _Teller(folder, story).tell()
    story.moments = list(_hold_views(story.moments))
    views = [(one.folder, one.view.file) for one in story.moments if one.view]
    if views and not any((home / file).is_file() for home, file in views):
        raise BadInput(f"{folder}: its pictures are missing: copy the whole run folder")
    if not views and not any(one.path or one.places for one in story.moments) and not story.maps:
        raise BadInput(f"{folder}: the run has no pictures yet, and nothing for a map: film one that has")
    return story


class _Teller:
    """A reader of a run's journal that adds the run's moments to a story."""

    def __init__(self, folder: Path, story: Story, end: Rank = Rank.END) -> None:
        """Read the journal in `folder`; `tell` adds its moments to `story`, the last one of rank `end`."""
        self.folder, self.story, self.end = folder, story, end
        self.records = read_journal(folder)
        self.who = start_of(self.records).who
        steps = [one for one in self.records if isinstance(one, StepRecord)]
        self.path = [LatLng(one.pose.lat, one.pose.lng) for one in steps]
        self.walked, self.metres, self.place = 0, 0.0, ""
        self.weighed: list[PlaceRecord] = []
        self.seen: dict[str, ViewRecord | None] = {}  # views of the places weighed, by their ids
        self.counted: Counter[str] = Counter()

    def tell(self) -> None:
        """Add the moments of all records, in order."""
        for record in self.records:
            if isinstance(record, StepRecord):
                self._tell_step(record)
            elif isinstance(record, NoteRecord):
                self._tell_note(record)
            elif isinstance(record, EndRecord):
                found = [one for one in record.exhibits if isinstance(one, MapExhibit)]
                self.story.maps += [(self.folder, one) for one in found]
                self.place = f"{self.metres:,.0f} m" if self.metres else ""
                place = record.result.place
                named = {point.label for one in found for point in one.points}
                if place and place.id not in self.seen and place.name not in named:
                    self.weighed.append(place)
                self._tell_end(record.result)

    def _tell_end(self, result: Result) -> None:
        """Add the end with the view that stands large on the run's page, or with a map that tells more."""
        told = [one for one in self.records if isinstance(one, StepRecord | NoteRecord)]
        view = view_of_end(shown_views(told), result)
        is_answer = view is not None and view.file == result.answer.get(PICTURE)
        view = view if self.path or is_answer else None
        if view:
            view = view.model_copy(update={"detections": finds_of_end(view, result)})
            shows_result = is_answer or view.detections or is_named(view.caption, named_by(result))
            view = view if shows_result or not self.story.maps else None
        kept = {one.picture for step in told if isinstance(step, StepRecord) for one in step.objects}
        why = result.place.reason if result.place and result.status == "entered" else ""
        self._add(
            self.end,
            f"{headline_of(read_result(self.folder, result) or result)[0]}. {why}".rstrip(),
            view,
            is_marked=bool(view and view.file in kept),
        )

    def _add(
        self, rank: Rank, said: str = "", view: ViewRecord | None = None, *, is_marked: bool = False
    ) -> None:
        """Add a moment at the place reached so far."""
        where = plain_line(" · ".join(filter(None, (self.who, self.place))))
        told = self.folder, self.path, self.walked, rank, where, plain_line(said)
        self.story.moments.append(Moment(*told, view, is_marked, tuple(self.weighed)))

    def _tell_step(self, step: StepRecord) -> None:
        """Add the view ahead, each find, and each place considered at a step."""
        self.walked += 1
        self.metres += step.distance_m
        self.place = f"step {step.step}, {self.metres:,.0f} m"
        facing = step.pose.heading
        looks = [one for one in step.views if one.purpose == "look"]
        ahead = min(looks, default=None, key=lambda one: abs(signed_turn(one.heading, facing)))
        kept = {one.picture for one in step.objects}
        self._add(Rank.LOOK if ahead else Rank.WALK, view=ahead)
        for view in step.views:
            if view.detections and view.file not in kept:
                self._add(Rank.NOTE, _read_in(view), view)
        for one in step.objects:
            self.counted[one.label] += one.new
            seen = next((view for view in step.views if view.file == one.picture), None)
            if one.new or seen:
                said = f"{one.label.capitalize()} {self.counted[one.label]}" if one.new else ""
                self._add(Rank.FIND if one.new else Rank.LOOK, said, seen, is_marked=True)
        for place in step.places:
            self.weighed.append(place)
            verdict = "Enters" if place.decision == "enter" else "Passes by"
            self.seen[place.id] = view_of_place(place, step)
            self._add(Rank.FIND, f"{verdict} {place.name}. {place.reason}", self.seen[place.id])

    def _tell_note(self, note: NoteRecord) -> None:
        """Add a note with its view, or the moments of the agent that was consulted."""
        run = Path(str(note.data.get("folder"))).name
        asked = self.folder / CONSULTED / run
        if note.topic == CONSULTATION and is_inside(asked.parent, run) and (asked / JOURNAL).is_file():
            other = _Teller(asked, self.story, Rank.FIND)
            other.tell()
            if not self.path:
                self.path, self.walked = other.path, other.walked
        topic, title, text = heading_of(note)
        self.place = "" if topic.startswith(("Thought", "Tool")) else topic
        if note.topic == "tool":
            head, places, _ = told_result(note)
            title, text = moment_of(note), head or ", ".join(one.name for one in places)
        said = text if title in text else ": ".join(filter(None, (title, text)))
        for view in [view for view in note.views if view.detections] or note.views[:1]:
            is_found = view.detections and note.topic == "tool"  # of what was found in all views, its own
            self._add(Rank.FIND, _read_in(view) if is_found else said, view)
        if not note.views:
            self._add(Rank.NOTE, said)


def _read_in(view: ViewRecord) -> str:
    """Return a sentence on what was read or found in a view."""
    read = ", ".join(f"“{one.text}”" for one in view.detections if one.text)
    found = ", ".join(dict.fromkeys(words(one.label) for one in view.detections))
    does = "Looks closer" if view.purpose == "closer" else "Reads" if read else "Finds"
    return f"{does}: {read or found}"


def view_of_place(place: PlaceRecord, step: StepRecord) -> ViewRecord | None:
    """Return the view of a step that shows a place; `None` for none.

    That is the one in which the name was read best, with this sign alone, else the one that faces the place.
    """
    signs = [
        (name_likeness(sign.text, place.name), len(sign.text), one.model_copy(update={"detections": (sign,)}))
        for one in step.views
        for sign in one.detections
    ]
    likeness, _, view = max(signs, default=(0.0, 0, None), key=itemgetter(0, 1))
    if likeness >= MIN_RESEMBLANCE:
        return view
    towards = bearing(LatLng(step.pose.lat, step.pose.lng), LatLng(place.lat, place.lng))
    facing = [(abs(signed_turn(one.heading, towards)), one) for one in step.views if one.purpose != "photo"]
    off, view = min(facing, default=(0.0, None), key=itemgetter(0))
    return view if view and off < view.fov / 2 else None


def _hold_views(moments: Sequence[Moment]) -> Iterator[Moment]:
    """Yield the moments; on a walk, one without view and find keeps the last view for a while."""
    last, quiet = None, 0
    for moment in moments:
        if moment.view:
            last, quiet = moment, 0
        quiet += moment.rank is Rank.WALK
        is_held = moment.path and not moment.view and quiet <= HELD_STEPS and moment.rank < Rank.FIND
        if last and last.folder == moment.folder and last.places == moment.places and is_held:
            yield replace(moment, view=last.view, is_marked=last.is_marked)
        else:
            yield moment


def schedule(moments: Sequence[Moment], seconds: float, rate: int) -> list[tuple[int, int]]:
    """Return (index of a moment, number of its frames) of each moment in a film of at most `seconds`.

    Where there is no room for all, the most telling moments stay, those of a rank spread evenly over the run.

    Args:
        moments: of the run, in order.
        seconds: the greatest length of the film.
        rate: frames in a second.
    """
    last = len(moments) - 1
    room = seconds - LASTS_S[Rank.END]
    left, stay = room * TOLD_SHARE, []
    for rank in sorted(Rank, reverse=True):
        left += room * (1 - TOLD_SHARE) * (rank is Rank.LOOK)
        here = [index for index, one in enumerate(moments[:last]) if one.rank is rank]
        count = min(len(here), int(left / LASTS_S[rank]))
        stay += [here[turn * len(here) // count] for turn in range(count)]
        left -= count * LASTS_S[rank]
    frames = {index: round(LASTS_S[moments[index].rank] * rate) for index in sorted(stay)}
    return [*frames.items(), (last, round(LASTS_S[Rank.END] * rate))]
