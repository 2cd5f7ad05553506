"""One run of an agent: what it does is written down, told to an audience, and summed up."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from time import perf_counter
from typing import Protocol

from virl.files.writing import write_whole
from virl.geo.globe import LatLng
from virl.journal.convert import exchange_record, pose_record, requests_record, view_record
from virl.journal.journal import Journal, booked_cost, paid_by, sum_costs, total_cost, write_result
from virl.journal.reading import RESUMED, looks_of, parts_of
from virl.journal.records import (
    AnyRecord,
    CostRecord,
    EndRecord,
    ExchangeRecord,
    NoteRecord,
    ObjectRecord,
    PlaceRecord,
    Purpose,
    RequestsRecord,
    Result,
    StartRecord,
    StepRecord,
    ViewRecord,
    WordsRecord,
)
from virl.money.book import Exchange
from virl.money.ledger import Ledger
from virl.pages.exhibits import Exhibit
from virl.pages.notebooks import card, map_image
from virl.pages.numbers import dollars
from virl.platform.city.city import City
from virl.platform.city.claims import Claim
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import View
from virl.platform.movers.base import Step
from virl.platform.perception.base import Detection
from virl.version import code_version

SAID = "said"
"""Topic of the notes on messages that the user sends without being asked."""
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9._-]+")  # ids of photographs are paths
_DRAWN_ANEW = "Views from here on are drawn anew: this version of virl draws the same place differently."
_LONGEST_ID = 100  # last characters of a panorama's id that the file name of a view has; chosen


class Audience(Protocol):
    """A listener that is told of a run's events as they happen."""

    def start(self, record: StartRecord, done: Sequence[AnyRecord]) -> None:
        """Tell that a run begins with a start record, or resumes after the records in `done`."""
        ...

    def progress(self, doing: str, done: int, total: int) -> None:
        """Show how far the work `doing` has come: `done` of `total` units, such as steps.

        Args:
            doing: what takes long, in a few words.
            done: units that are done.
            total: units in all.
        """
        ...

    def step(self, record: StepRecord) -> None:
        """Tell of a step that was just written to the journal."""
        ...

    def note(self, record: NoteRecord) -> None:
        """Tell of a note, a piece of work other than a step, that was just written to the journal."""
        ...

    def end(self, result: Result) -> None:
        """Tell of the run's end by its result."""
        ...

    def nested_audience(self) -> "Audience":
        """Return the audience for an agent that this run's agent consults."""
        ...


class SilentAudience:
    """An audience that ignores all events."""

    def start(self, *_: object, **__: object) -> None:
        """Ignore an event of a run, of whatever kind."""

    progress = step = note = end = start

    def nested_audience(self) -> Audience:
        """Return this audience, which says nothing about consulted agents either."""
        return self


class Run:
    """A run of an agent in progress: writes its journal, tells its audience, and adds up its cost."""

    def __init__(
        self,
        journal: Journal,
        start: StartRecord,
        done: Sequence[AnyRecord] = (),
        *,
        city: str = "",
        data: City | None = None,
        audience: Audience | None = None,
        ledger: Ledger,
        account: str = "",
        keep_views: bool = True,
    ) -> None:
        """Begin a run, or go on after records `done`; `data` is the city, `account` the name of its payments.

        Args:
            journal: where records go.
            start: the journal's first record.
            done: the records written before, where a run is resumed.
            city: its name, for the result; by default as `start` says.
            data: the city, whose notice and left-out items the result tells; by default neither.
            audience: who is told of the run's events; by default nobody.
            ledger: of the agent's mind: has the questions, the counts and the book of what was spent.
            account: name of the run's payments in the book; empty for those of the whole run.
            keep_views: whether views are kept as files and named in the records.
        """
        self.start = start
        self.city = city or start.city
        """The city's name."""
        self._data = data
        self._journal = journal
        self.folder = journal.folder
        """The folder of the run's files."""
        self._work: list[StepRecord | NoteRecord] = []
        self.steps: list[StepRecord] = []
        """The steps written so far, in order."""
        self._notes: dict[str, dict[str, NoteRecord]] = {}
        self.heard_until = -1
        """Number of the last journal record in which a routine recorded the user's words; -1 without one.

        Such notes have what was said as `say` in their data, and another topic than `SAID`.
        """
        self._summed = CostRecord()
        self._summed_count = 0  # of the records in that sum
        for record in done:
            if isinstance(record, StepRecord | NoteRecord):
                self._take(record)
        self.result: Result | None = None
        """The run's result; `None` until it has ended."""
        self._audience = audience or SilentAudience()
        self.ledger = ledger
        """The run's ledger, which raises `BudgetExceeded` before more than the budget is spent."""
        self.words: WordsRecord | None = None
        """Rules' reading of the wish that drives the run; `None` if no rules decide, or without a wish."""
        self.lock = RLock()
        """Lock held while a tool acts, since LangGraph calls the tools of one turn in parallel."""
        self._account = account
        city_ledger = data.ledger if data else None
        is_own = city_ledger is not None and city_ledger.book is not ledger.book
        self._city_ledger = city_ledger if is_own else None
        if self._city_ledger:
            self._city_ledger.take()  # requests from before this run
        if done:
            ledger.catch_up(paid_by(total_cost(done)), account, journal.folder)
        self._after_last = RequestsRecord()
        self.keeps_views = keep_views
        """True if views are kept as files."""
        self._since = perf_counter()
        self._stopped_at: float | None = None
        self._audience.start(start, done)

    def note_resumed(self, done: Sequence[AnyRecord], moved: str) -> None:
        """Write a note on what changed since the records `done`: virl, its looks, or what `moved` tells."""
        version = code_version()
        before = parts_of(done)[-1].virl if done else version
        told = [f"The records before were made by virl {before}, those from here on by virl {version}."]
        looks = self._data.capabilities.looks if self._data else 0
        anew = looks and looks != looks_of(done or [self.start])
        told = [
            *(told if version != before else ()),
            *([_DRAWN_ANEW] if anew else ()),
            *((moved,) if moved else ()),
        ]
        if told:
            key = str(self._journal.next_seq)
            self.note(RESUMED, key, " ".join(told), data={"virl": version, "looks": looks}, asked=())

    @property
    def cost(self) -> CostRecord:
        """The cost of the run so far, consulted agents included."""
        # Each record is added once: every answer to a client of virl's servers asks for the cost again.
        if new := self._work[self._summed_count :]:
            self._summed = sum_costs(self._summed, total_cost(new))
            self._summed_count = len(self._work)
        total = sum_costs(self._summed, total_cost((), self._after_last))
        return booked_cost(total, self.ledger.payments(self._account))

    def _take(self, record: StepRecord | NoteRecord) -> None:
        """Add a written step or note to the lists behind `steps`, `notes` and `cost`."""
        self._work.append(record)
        if isinstance(record, StepRecord):
            self.steps.append(record)
            return
        self._notes.setdefault(record.topic, {})[record.key] = record
        if record.topic != SAID and "say" in record.data:
            self.heard_until = record.seq

    @contextmanager
    def pause_clock(self) -> Iterator[None]:
        """Stop the run's clock within the block, so that no record counts the seconds that the user takes."""
        self._stopped_at = began = perf_counter()
        try:
            yield
        finally:
            self._stopped_at = None
            self._since += perf_counter() - began

    @property
    def _active_seconds(self) -> float:
        """Reading of the run's clock in seconds, which stands still while the run is paused."""
        return perf_counter() if self._stopped_at is None else self._stopped_at

    def progress(self, doing: str, done: int, total: int) -> None:
        """Tell the audience how far the work `doing` has come: `done` of `total` units, such as steps.

        Args:
            doing: what, such as `"walking"`: steps are told as they are taken, so give their total alone.
            done: how much of it.
            total: how much there is.
        """
        self._audience.progress(doing, done, total)

    def nested_audience(self) -> Audience:
        """Return the audience for an agent that this run's agent consults."""
        return self._audience.nested_audience()

    def keep(
        self, view: View, purpose: Purpose, detections: Sequence[Detection] = (), caption: str = ""
    ) -> tuple[ViewRecord, ...]:
        """Write a view as a picture file; return its record in a tuple, which is empty if views are not kept.

        Args:
            view: what was seen.
            purpose: why it was taken; part of the file's name.
            detections: boxes to draw on it.
            caption: a line below it.
        """
        if not self.keeps_views:
            return ()
        camera = view.camera
        # The step comes first, so that a listing of the folder follows the walk.
        name = f"{len(self.steps):05d}-{purpose}"
        if purpose != "photo":
            pano_id = _NOT_IN_FILE_NAMES.sub("-", view.pano_id)[-_LONGEST_ID:]
            name += f"-{pano_id}-{camera.heading:.0f}-{camera.fov:.0f}"
        file = self._journal.keep_view(name, view.pixels)
        return (view_record(view, file, purpose=purpose, detections=detections, caption=caption),)

    def step(
        self,
        step: Step,
        *,
        views: Sequence[ViewRecord],
        asked: Sequence[Exchange] | None = None,
        places: Sequence[PlaceRecord] = (),
        objects: Sequence[ObjectRecord] = (),
        decided: str,
        next_pano_id: str | None,
        outcome: Outcome | None = None,
    ) -> None:
        """Write a finished step, with what was seen, `asked` and decided, to the journal; tell the audience.

        Args:
            step: pose, panorama and metres walked.
            views: what was looked at.
            asked: what a mind was asked; by default what it was asked since the last record that took it.
            places: that were judged.
            objects: that were found.
            decided: where the agent goes on and why, in a sentence.
            next_pano_id: panorama that it goes to; `None` at the end of a walk.
            outcome: of the walk, if it ends here.
        """
        now = self._active_seconds
        record = StepRecord(
            seq=self._journal.next_seq,
            step=step.index,
            pose=pose_record(step.pose, step.panorama.position),
            distance_m=step.distance,
            views=tuple(views),
            asked=self._exchanges(asked),
            places=tuple(places),
            objects=tuple(objects),
            crossing=step.panorama.is_crossing,
            decided=decided,
            decided_by=step.decided_by,
            next_pano_id=next_pano_id,
            outcome=outcome,
            seconds=now - self._since,
            requests=self._requests(),
        )
        self._journal.append(record)
        self._take(record)
        self._audience.step(record)
        self._since = self._active_seconds  # the audience may have held the run

    def note(
        self,
        topic: str,
        key: str,
        text: str,
        *,
        title: str = "",
        data: Mapping[str, object] | None = None,
        views: Sequence[ViewRecord] = (),
        asked: Sequence[Exchange] | None = None,
        cost: CostRecord | None = None,
    ) -> NoteRecord:
        """Write a note, found again by (topic, key), to the journal; tell the audience, and return the note.

        Args:
            topic: what sort of work, such as `"candidate"`.
            key: which one, once a topic.
            text: what came of it, in a sentence or two.
            title: name of the thing that the note is about, where the text does not say it.
            data: what the routine needs to go on from here: plain JSON values.
            views: what was looked at.
            asked: what a mind was asked; by default what it was asked since the last record that took it.
            cost: what an agent that was consulted has cost, its time included.
        """
        now = self._active_seconds
        record = NoteRecord(
            seq=self._journal.next_seq,
            topic=topic,
            key=key,
            title=title,
            text=text,
            data=dict(data or {}),
            views=tuple(views),
            asked=self._exchanges(asked),
            cost=cost,
            # The seconds of a consulted agent are in its own cost.
            seconds=max(0.0, now - self._since - (cost.seconds if cost else 0.0)),
            requests=self._requests(),
        )
        self._journal.append(record)
        self._take(record)
        self._audience.note(record)
        self._since = self._active_seconds  # the audience may have held the run
        return record

    def find_note(self, topic: str, key: str) -> NoteRecord | None:
        """Return the note of a topic with a key, also if written before a resume; `None` if there is none."""
        return self._notes.get(topic, {}).get(key)

    def notes(self, topic: str) -> list[NoteRecord]:
        """Return the notes of a topic in the order written."""
        return list(self._notes.get(topic, {}).values())

    def attach(self, name: str, text: str) -> str:
        """Write a text file of this name into the run's folder, replacing an older one, and return the name.

        Raises:
            CannotWrite: the disk refuses.
        """
        write_whole(self.folder / name, text.encode(), "resume the run")
        return name

    def end(
        self,
        outcome: Outcome,
        place: PlaceRecord | None = None,
        found: Mapping[str, int] | None = None,
        *,
        answer: Mapping[str, object] | None = None,
        files: Sequence[str] = (),
        exhibits: Sequence[Exhibit] = (),
        claims: Sequence[Claim] = (),
    ) -> Result:
        """Write the run's end to the journal and to `result.json`, and return the result.

        Args:
            outcome: how, and why.
            place: the place that was entered or chosen.
            found: how many things of each kind were counted.
            answer: what the agent was to find out, as plain JSON values.
            files: what it made, as `attach` names it.
            exhibits: what the report shows.
            claims: what the agent claims, to be held against the truth where that is known.
        """
        self._after_last = self._requests()
        self.result = result = Result(
            agent=self.start.agent,
            city=self.city,
            notice=self._notice,
            status=outcome.status,
            steps=self.steps[-1].step if self.steps else 0,
            distance_m=sum(step.distance_m for step in self.steps),
            place=place,
            found=dict(found or {}),
            answer=dict(answer or {}),
            files=tuple(files),
            left_out=self._data.left_out.omissions() if self._data else (),
            reason=outcome.sentence,
            words=self.words,
            outcome=outcome,
            claims=tuple(claims),
            cost=self.cost,
            versions={"virl": code_version(), "journal": str(self.start.format)},
            parts=parts_of([self.start, *self._work]),
        )
        asked = self._exchanges(None)
        self._journal.append(
            EndRecord(seq=self._journal.next_seq, result=result, asked=asked, exhibits=tuple(exhibits))
        )
        write_result(self.folder, result)
        self._audience.end(result)
        return result

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the walk so far on a map, its figures, and the last decision."""
        if self.result is not None:
            return self.result._repr_html_()
        last = self.steps[-1] if self.steps else None
        path = [LatLng(step.pose.lat, step.pose.lng) for step in self.steps]
        facts = (
            ("steps", last.step if last else 0),
            ("walked", f"{sum(step.distance_m for step in self.steps):,.0f} m"),
            ("last", last.decided if last else None),
            ("cost", dollars(self.cost.usd)),
            ("folder", self.folder),
        )
        title = f"{self.start.agent} in {self.city}, on the way"
        return card(title, facts, picture=map_image("Walk", path=path), notes=(self._notice,))

    @property
    def _notice(self) -> str:
        """Notice that pages about the city have to show; empty for a run without a city."""
        return self._data.notice if self._data else ""

    def _exchanges(self, asked: Sequence[Exchange] | None) -> tuple[ExchangeRecord, ...]:
        """Return the exchanges with a mind `asked` as records; for `None`, those since the last call."""
        taken = self.ledger.take_asked() if asked is None else asked
        return tuple(exchange_record(exchange) for exchange in taken)

    def _requests(self) -> RequestsRecord:
        """Return counts of map requests since the last call; charge those in the city's ledger to the run."""
        if self._city_ledger:
            self.ledger.charge(self._city_ledger.take(), self._account)
        return requests_record(self.ledger.take())
