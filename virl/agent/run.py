"""One run of an agent: what it does is written down, told to an audience, and summed up."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from time import perf_counter
from typing import Protocol

from virl.files.writing import write_whole
from virl.geo.globe import LatLng
from virl.journal.convert import exchange_record, pose_record, requests_record, view_record
from virl.journal.journal import Journal, booked_cost, paid_by, sum_costs, total_cost, write_result
from virl.journal.reading import RESUMED, parts_of
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
from virl.platform.city.claims import Claim
from virl.platform.city.left_out import LeftOut
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import View
from virl.platform.movers.base import Step
from virl.platform.perception.base import Detection
from virl.version import code_version

SAID = "said"
"""Topic of the notes on messages that the user sends without being asked."""
_ODD = re.compile(r"[^A-Za-z0-9._-]+")  # not in the name of a view; ids of photographs are paths
_KEPT_OF_ID = 100  # last characters of an id that the name of a view has; chosen


class Audience(Protocol):
    """A listener that is told of a run's events as they happen."""

    def start(self, record: StartRecord, done: Sequence[AnyRecord]) -> None:
        """Note that a run begins, or resumes after the records in `done`."""
        ...

    def progress(self, doing: str, done: int, total: int) -> None:
        """Show the progress of a long piece of work that the journal does not record.

        Args:
            doing: what takes long, in a few words.
            done: units that are done.
            total: units in all.
        """
        ...

    def step(self, record: StepRecord) -> None:
        """Note that a step was written to the journal."""
        ...

    def note(self, record: NoteRecord) -> None:
        """Note that a note, a piece of work other than a step, was written to the journal."""
        ...

    def end(self, result: Result) -> None:
        """Note that the run has ended with a result."""
        ...

    def nested_audience(self) -> "Audience":
        """Return the audience for an agent that this run's agent consults."""
        ...


class CityData(Protocol):
    """The interface to remarks and counts on a city's data."""

    @property
    def notice(self) -> str:
        """The notice that every page about the city has to show, as in `City.notice`."""
        ...

    @property
    def left_out(self) -> LeftOut:
        """Return counts of items in the city's services and files that could not be used."""
        ...

    @property
    def ledger(self) -> Ledger | None:
        """The city's own ledger of requests, if the run's is another (a city passed open); else `None`."""
        ...


class Nobody:
    """An audience that ignores all events."""

    def start(self, record: StartRecord, done: Sequence[AnyRecord]) -> None:
        """Ignore the beginning of a run."""

    def progress(self, doing: str, done: int, total: int) -> None:
        """Ignore the progress."""

    def step(self, record: StepRecord) -> None:
        """Ignore the step."""

    def note(self, record: NoteRecord) -> None:
        """Ignore the note."""

    def end(self, result: Result) -> None:
        """Ignore the end of a run."""

    def nested_audience(self) -> Audience:
        """Return this audience, which says nothing about consulted agents either."""
        return self


class Run:
    """The record of a run while it goes on."""

    def __init__(
        self,
        journal: Journal,
        start: StartRecord,
        done: Sequence[AnyRecord] = (),
        *,
        city: str = "",
        data: CityData | None = None,
        audience: Audience | None = None,
        ledger: Ledger,
        account: str = "",
        keep_views: bool = True,
    ) -> None:
        """Begin a run's record, or continue it after the records in `done`.

        Args:
            journal: where records go.
            start: the journal's first record.
            done: the records written before, where a run is resumed.
            city: its name, for the result; by default as `start` says.
            data: the city, for what the result has to say of its data when the run ends; by default nothing.
            audience: who is told.
            ledger: of the agent's mind: has the questions, the counts and the book.
            account: of the run in the book; empty for the whole.
            keep_views: whether views are kept as files and named in the records.
        """
        self.start = start
        self._city = city or start.city
        self._data = data
        self._journal = journal
        self._work: list[StepRecord | NoteRecord] = []
        self._steps: list[StepRecord] = []
        self._notes: dict[str, dict[str, NoteRecord]] = {}
        self._heard_until = -1
        self._summed = CostRecord()
        self._summed_of = 0  # so many of the records are in that sum
        for record in done:
            if isinstance(record, StepRecord | NoteRecord):
                self._take(record)
        self._result: Result | None = None
        self._audience = audience or Nobody()
        self.ledger = ledger
        """The run's ledger, which refuses spending beyond the budget."""
        self.words: WordsRecord | None = None
        """The reading by rules of the texts that drive the run; `None` if no rules or no texts do."""
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
        self._keep_views = keep_views
        self._since = perf_counter()
        self._stopped_at: float | None = None
        self._audience.start(start, done)

    def note_resumed(self, done: Sequence[AnyRecord], moved: str) -> None:
        """Note on a resumed run that virl's version or the city has changed since.

        Args:
            done: the records written before; nothing is written without them.
            moved: what has changed in the city since, in sentences; empty for nothing.
        """
        version = code_version()
        before = parts_of(done)[-1].virl if done else version
        told = [f"The records before were made by virl {before}, those from here on by virl {version}."]
        told = [*(told if version != before else ()), *((moved,) if moved else ())]
        if told:
            key = str(self._journal.next_seq)
            self.note(RESUMED, key, " ".join(told), data={"virl": version}, asked=())

    @property
    def folder(self) -> Path:
        """The folder of the run's files."""
        return self._journal.folder

    @property
    def city(self) -> str:
        """The city's name."""
        return self._city

    @property
    def steps(self) -> Sequence[StepRecord]:
        """The steps written so far, in order."""
        return self._steps

    @property
    def cost(self) -> CostRecord:
        """The cost of the run so far, consulted agents included."""
        if new := self._work[
            self._summed_of :
        ]:  # each record is added once: an answer to a client asks again
            self._summed = sum_costs(self._summed, total_cost(new))
            self._summed_of = len(self._work)
        total = sum_costs(self._summed, total_cost((), self._after_last))
        return booked_cost(total, self.ledger.payments(self._account))

    def _take(self, record: StepRecord | NoteRecord) -> None:
        """Add a written record to the lists of steps and notes."""
        self._work.append(record)
        if isinstance(record, StepRecord):
            self._steps.append(record)
            return
        self._notes.setdefault(record.topic, {})[record.key] = record
        if record.topic != SAID and "say" in record.data:
            self._heard_until = record.seq

    @property
    def result(self) -> Result | None:
        """The run's result; `None` until it has ended."""
        return self._result

    @contextmanager
    def pause_clock(self) -> Iterator[None]:
        """Stop the run's clock within the block, so that the user's time enters no record."""
        self._stopped_at = began = perf_counter()
        try:
            yield
        finally:
            self._stopped_at = None
            self._since += perf_counter() - began

    @property
    def _active_seconds(self) -> float:
        """Return the seconds of the run's clock, which stands still while the run is paused."""
        return perf_counter() if self._stopped_at is None else self._stopped_at

    def progress(self, doing: str, done: int, total: int) -> None:
        """Report the progress of a piece of work to the audience.

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
        self,
        view: View,
        purpose: Purpose,
        detections: Sequence[Detection] = (),
        caption: str = "",
    ) -> tuple[ViewRecord, ...]:
        """Write a view as a picture file, and return its record; empty if views are not kept.

        Args:
            view: what was seen.
            purpose: why it was taken; part of the file's name.
            detections: boxes to draw on it.
            caption: a line below it.
        """
        if not self._keep_views:
            return ()
        camera = view.camera
        name = f"{len(self._steps):05d}-{purpose}"
        if purpose != "photo":
            name += f"-{_ODD.sub('-', view.pano_id)[-_KEPT_OF_ID:]}-{camera.heading:.0f}-{camera.fov:.0f}"
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
        """Write a finished step to the journal; `outcome` is given if the walk ends with it."""
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
        """Write a piece of work other than a step to the journal, and return its record.

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
            seconds=max(0.0, now - self._since - (cost.seconds if cost else 0.0)),
            requests=self._requests(),
        )
        self._journal.append(record)
        self._take(record)
        self._audience.note(record)
        self._since = self._active_seconds  # the audience may have held the run
        return record

    def find_note(self, topic: str, key: str) -> NoteRecord | None:
        """Return the note of a topic with a key, if written before, perhaps before a kill; else `None`."""
        return self._notes.get(topic, {}).get(key)

    def notes(self, topic: str) -> list[NoteRecord]:
        """Return the notes of a topic in the order written."""
        return list(self._notes.get(topic, {}).values())

    @property
    def heard_until(self) -> int:
        """Number of the last record in which a routine recorded the user's words; -1 without one.

        Such notes have what was said as `say` in their data, and another topic than `SAID`.
        """
        return self._heard_until

    def attach(self, name: str, text: str) -> str:
        """Write a file into the run's folder, replacing an older one, and return its name for `end`.

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
        self._result = result = Result(
            agent=self.start.agent,
            city=self._city,
            notice=self._notice,
            status=outcome.status,
            steps=self._steps[-1].step if self._steps else 0,
            distance_m=sum(step.distance_m for step in self._steps),
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
        """Return HTML for a notebook: the walk so far on a map, and the last record."""
        if self._result is not None:
            return self._result._repr_html_()
        last = self._steps[-1] if self._steps else None
        path = [LatLng(step.pose.lat, step.pose.lng) for step in self._steps]
        facts = (
            ("steps", last.step if last else 0),
            ("walked", f"{sum(step.distance_m for step in self._steps):,.0f} m"),
            ("last", last.decided if last else None),
            ("cost", dollars(self.cost.usd)),
            ("folder", self.folder),
        )
        title = f"{self.start.agent} in {self._city}, on the way"
        return card(title, facts, picture=map_image("Walk", path=path), notes=(self._notice,))

    @property
    def _notice(self) -> str:
        """Return the notice on the city's data; empty for a run without a city."""
        return self._data.notice if self._data else ""

    def _exchanges(self, asked: Sequence[Exchange] | None) -> tuple[ExchangeRecord, ...]:
        """Return records of the questions given, else of those in the ledger since the last call."""
        taken = self.ledger.take_asked() if asked is None else asked
        return tuple(exchange_record(exchange) for exchange in taken)

    def _requests(self) -> RequestsRecord:
        """Return the record of provider requests since the last call, the city's own ledger included."""
        if self._city_ledger:
            self.ledger.charge(self._city_ledger.take(), self._account)
        return requests_record(self.ledger.take())
