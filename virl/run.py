"""One run of an agent: what it does is written down, told to an audience, and summed up."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Literal, Protocol

from virl import __version__
from virl.budget import Meter
from virl.journal.convert import exchange_record, pose_record, requests_record, view_record
from virl.journal.journal import Journal, total_cost, write_result
from virl.journal.records import (
    EndRecord,
    ObjectRecord,
    PlaceRecord,
    RequestsRecord,
    Result,
    StartRecord,
    StepRecord,
    ViewRecord,
)
from virl.mind.base import Exchange
from virl.platform.movement.base import Step
from virl.platform.perception.base import Detection
from virl.platform.streetview import View


class Audience(Protocol):
    """Is told what happens while it happens."""

    def start(self, record: StartRecord, steps: Sequence[StepRecord]) -> None:
        """A run begins, or goes on after these steps."""
        ...

    def progress(self, doing: str, done: int, total: int) -> None:
        """Something that takes long is so far; for what a journal does not tell."""
        ...

    def step(self, record: StepRecord) -> None:
        """A step was taken and written down."""
        ...

    def end(self, result: Result) -> None:
        """The run has ended."""
        ...


class Nobody:
    """An audience that does not listen."""

    def start(self, record: StartRecord, steps: Sequence[StepRecord]) -> None:
        """Says nothing."""

    def progress(self, doing: str, done: int, total: int) -> None:
        """Says nothing."""

    def step(self, record: StepRecord) -> None:
        """Says nothing."""

    def end(self, result: Result) -> None:
        """Says nothing."""


class Run:
    """The record of a run while it goes on."""

    def __init__(
        self,
        journal: Journal,
        start: StartRecord,
        steps: Sequence[StepRecord] = (),
        *,
        city: str = "",
        audience: Audience | None = None,
        meter: Meter | None = None,
        keep_views: bool = True,
    ) -> None:
        """Begin, or go on after `steps`.

        Args:
            journal: where records go.
            start: the journal's first record.
            steps: the steps taken before, where a run is resumed.
            city: its name, for the result; by default as `start` says.
            audience: who is told.
            meter: counts what the city's provider is asked, for the records.
            keep_views: whether views are kept as files and named in the records.
        """
        self.start = start
        self._city = city or start.city
        self._journal = journal
        self._steps = list(steps)
        self._result: Result | None = None
        self._audience = audience or Nobody()
        self._meter = meter
        self._keep_views = keep_views
        self._since = perf_counter()
        self._audience.start(start, self._steps)

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self._journal.folder

    @property
    def steps(self) -> Sequence[StepRecord]:
        """The steps so far."""
        return self._steps

    @property
    def result(self) -> Result | None:
        """How the run ended; `None` while it goes on."""
        return self._result

    def progress(self, doing: str, done: int, total: int) -> None:
        """Tell how far something is.

        Args:
            doing: what, such as `"walking"`: steps are told as they are taken, so give their total alone.
            done: how much of it.
            total: how much there is.
        """
        self._audience.progress(doing, done, total)

    def keep(
        self,
        view: View,
        purpose: Literal["look", "closer", "road"],
        detections: Sequence[Detection] = (),
        caption: str = "",
    ) -> tuple[ViewRecord, ...]:
        """Keep a view as a file; its record, or nothing where views are not kept."""
        if not self._keep_views:
            return ()
        camera = view.camera
        name = f"{len(self._steps):05d}-{purpose}-{view.pano_id}-{camera.heading:.0f}-{camera.fov:.0f}"
        file = self._journal.keep_view(name, view.pixels)
        return (view_record(view, file, purpose=purpose, detections=detections, caption=caption),)

    def step(
        self,
        step: Step,
        *,
        views: Sequence[ViewRecord],
        asked: Sequence[Exchange],
        places: Sequence[PlaceRecord] = (),
        objects: Sequence[ObjectRecord] = (),
        decided: str,
        next_pano_id: str | None,
    ) -> None:
        """Write a finished step down."""
        now = perf_counter()
        record = StepRecord(
            seq=len(self._steps) + 1,
            step=step.index,
            pose=pose_record(step.pose, step.panorama.position),
            distance_m=step.distance,
            views=tuple(views),
            asked=tuple(exchange_record(exchange) for exchange in asked),
            places=tuple(places),
            objects=tuple(objects),
            crossing=step.panorama.is_crossing,
            decided=decided,
            next_pano_id=next_pano_id,
            seconds=now - self._since,
            requests=requests_record(self._meter.take()) if self._meter else RequestsRecord(),
        )
        self._journal.append(record)
        self._since = now
        self._steps.append(record)
        self._audience.step(record)

    def end(
        self,
        status: Literal["entered", "finished", "gave up", "stopped"],
        reason: str,
        place: PlaceRecord | None = None,
        found: Mapping[str, int] | None = None,
    ) -> Result:
        """Write down how it ended, in the journal and in `result.json`."""
        self._result = result = Result(
            agent=self.start.agent,
            city=self._city,
            status=status,
            steps=self._steps[-1].step if self._steps else 0,
            distance_m=sum(step.distance_m for step in self._steps),
            place=place,
            found=dict(found or {}),
            reason=reason,
            cost=total_cost(self._steps),
            versions={"virl": __version__, "journal": str(self.start.format)},
        )
        self._journal.append(EndRecord(seq=len(self._steps) + 1, result=result))
        write_result(self.folder, result)
        self._audience.end(result)
        return result
