"""A round of counting: look around and closer at each step, remember each thing once, until the way ends.

The same for an agent that follows a route and for one that covers a region. All that it knows is in the run's
folder, so that it can be killed at any point and resumed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from virl.agent.agent import Agent
from virl.geo.globe import LatLng
from virl.journal.convert import detection_record
from virl.journal.records import ObjectRecord, ViewRecord
from virl.platform.city.claims import CountClaim
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Pose, StreetView
from virl.platform.movers.base import Choice, Step
from virl.platform.perception.active import Look, Looking, look_around
from virl.platform.perception.base import Detection, Detector
from virl.platform.perception.memory import (
    MemoryObject,
    MemorySettings,
    Seen,
    Verdict,
    VisualMemory,
    memory_settings,
    write_csv,
    write_geojson,
)
from virl.platform.perception.models import read_model
from virl.platform.perception.registry import MatcherSettings
from virl.routines.counting.finds import CSV, GEOJSON, MEMORY
from virl.routines.counting.settings import counting_of

Walk = Callable[[Pose, Sequence[str], Sequence[int]], Iterator[Step]]
"""Function of (pose, ids of panoramas walked, indexes of steps that the user decided); yields next steps."""


def count_along(agent: Agent, walk: Walk, start: Callable[[Agent], Pose]) -> None:
    """Count things along a walk, begun or resumed at the pose that `start` returns, and end the run.

    Args:
        agent: agent who counts, as its character says.
        walk: yields the steps of the walk.
        start: returns the pose to begin or go on from; not called for a walk that was over already.

    Raises:
        BadInput: the character does not say what to count.
        VirlError: whatever looking and walking raise; the run can be resumed.
    """
    counter = open_counter(agent)
    steps = agent.run.steps
    if not steps or steps[-1].next_pano_id:
        trail = [step.pose.pano_id for step in steps]
        for step in walk(start(agent), trail, [step.step for step in steps if step.decided_by]):
            if step.index < agent.character.limits.steps:
                choice = step.choice
            else:
                choice = step.choose()  # nobody else is asked where no move is left
                if choice.link:
                    at_limit = Outcome("limit", limit=agent.character.limits.steps, what="steps")
                    choice = Choice.end(at_limit.with_detail(choice.reason))
            _count_at(agent, counter, step, choice)
            if choice.link is None:
                break
    counts = counter.finish()
    things = counter.memory.objects()
    write_csv(things, agent.run.folder / CSV)
    write_geojson(things, agent.run.folder / GEOJSON, agent.city.notice)
    last = agent.run.steps[-1]
    # a journal of an earlier version has the end of the walk in words only
    is_over = last.step >= agent.character.limits.steps
    ended = last.outcome or Outcome("limit" if is_over else "finished", last.decided)
    # A count is finished, too, where some stops of its route could not be reached.
    if ended.kind == "missed":
        ended = replace(ended, kind="finished")
    sights = [seen for thing in things for seen in thing.views]
    if (kept := sum(bool(seen.picture) for seen in sights)) < len(sights):
        ended = ended.with_detail(
            f"pictures are kept of {kept:,} of {len(sights):,} sightings: the first and best of each thing"
        )
    looked_from = tuple(LatLng(step.pose.lat, step.pose.lng) for step in agent.run.steps)
    claims = [
        CountClaim(kind, tuple(one.estimate.position for one in things if one.label == kind), looked_from)
        for kind in counts
    ]
    agent.run.end(ended, found=counts, files=(CSV, GEOJSON), claims=claims)


@dataclass(frozen=True, slots=True)
class Visit:
    """A look around at one panorama, the sightings there, and visual memory's verdicts on them."""

    look: Look
    seen: tuple[Seen, ...]
    """Sightings made in the visit, as visual memory keeps them."""
    verdicts: tuple[Verdict, ...]
    """Verdicts on the sightings, in the same order."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of things by kind, each thing once, however often it is passed."""

    streetview: StreetView
    """Source of the views."""
    detector: Detector
    """Model that finds things in views."""
    memory: VisualMemory
    """Memory that tells known things from new ones; those that it holds already are counted, too."""
    things: Sequence[str]
    """Labels of the things to count, in the detector's words."""
    background: Sequence[str] = ()
    """Labels of other things in the streets, which are detected, but not counted."""
    looking: Looking = field(default_factory=Looking)
    """Settings of a look: its views, and how finds are confirmed; by default those of V-IRL."""

    def visit(self, pose: Pose, name: str = "") -> Visit:
        """Look around at a pose; remember the sightings, or return those kept of a visit of this `name`.

        Args:
            pose: pose to look from; the views cover both sides of its heading.
            name: names the visit, such as `"step-12"`. If the latest visit that memory has is of this name,
                it stays as it is, and is given again: so a run can be resumed at any point.

        Raises:
            NoStreetView, NoImagery: the provider has no such view.
            ModelUnavailable: a model is missing.
            CannotWrite: the disk refuses.
        """
        look = look_around(
            self.streetview,
            self.detector,
            pose,
            tuple(dict.fromkeys(self.things)),
            background=self.background,
            looking=self.looking,
        )
        verdicts = self.memory.add(look.sightings, name)
        views = {seen.number: seen for one in verdicts for seen in self.find_thing(one.object_id).views}
        added = sorted(views)[-len(verdicts) :] if verdicts else ()  # memory numbers sightings as they come
        return Visit(look, tuple(views[number] for number in added), tuple(verdicts))

    def finish(self) -> dict[str, int]:
        """Merge objects in visual memory that are one thing; return the count of each kind."""
        self.memory.merge()
        counts = self.memory.counts()
        return {thing: counts.get(thing, 0) for thing in self.things}

    def find_thing(self, object_id: str) -> MemoryObject:
        """Return the object with an id in visual memory.

        Raises:
            KeyError: there is no such thing.
        """
        thing = self.memory.get(object_id)
        if thing is None:
            raise KeyError(object_id)
        return thing


def open_counter(agent: Agent) -> Counter:
    """Return the counter for an agent, with its visual memory in the run's folder.

    Raises:
        BadInput: the character does not say what to count.
        UnknownName: there are no such memory settings, or no such matcher.
    """
    count = counting_of(agent.character, agent.run.start.agent)
    matcher = agent.character.senses.matcher
    settings = memory_settings_for(count.memory or agent.city.capabilities.visual_memory, matcher)
    memory = VisualMemory.open(agent.run.folder / MEMORY, settings, agent.models.matcher(matcher))
    return Counter(
        agent.city.streetview,
        agent.senses.detector,
        memory,
        count.things,
        count.background,
        Looking(active=count.active, recheck=count.recheck),
    )


def memory_settings_for(memory: str, matcher: str) -> MemorySettings:
    """Return the memory settings named `memory`, with the matcher's own threshold and margin, if any.

    Raises:
        UnknownName: there are no such memory settings, or no such matcher.
    """
    settings, asks = memory_settings(memory), read_model("matcher", matcher)
    if not isinstance(asks, MatcherSettings):
        return settings
    return settings.model_copy(update={"min_matches": asks.min_matches, "margin": asks.margin})


def _count_at(agent: Agent, counter: Counter, step: Step, choice: Choice) -> None:
    """Look around at a step and count; write the step with its choice and the things seen to the journal."""
    counting = counting_of(agent.character, agent.run.start.agent)
    visit = counter.visit(step.pose, f"step-{step.index}")
    sweep = [
        record
        for view, detections in zip(visit.look.sweep, visit.look.found, strict=True)
        if counting.keep == "all"
        for record in agent.run.keep(view, "look", detections)
    ]
    agent.run.step(
        step,
        views=[
            *sweep,
            *(_view_record(seen, active=counting.active) for seen in visit.seen if seen.picture),
        ],
        asked=(),
        objects=_object_records(counter, visit),
        decided=choice.reason,
        next_pano_id=choice.link.pano_id if choice.link else None,
        outcome=choice.outcome,
    )


def _view_record(seen: Seen, *, active: bool) -> ViewRecord:
    """Return the record of the view in which a thing was seen; `active` if it was a closer look."""
    camera = seen.camera
    return ViewRecord(
        file=_in_memory(seen.picture),
        pano_id=seen.pano_id,
        heading=camera.heading,
        pitch=camera.pitch,
        fov=camera.fov,
        width=camera.width,
        height=camera.height,
        purpose="closer" if active else "look",
        detections=(detection_record(Detection(seen.label, seen.score, seen.box)),),
    )


def _object_records(counter: Counter, visit: Visit) -> list[ObjectRecord]:
    """Return records of a visit's sightings, each with the position of the counted thing."""
    records = []
    for seen, verdict in zip(visit.seen, visit.verdicts, strict=True):
        place = counter.find_thing(verdict.object_id).estimate.position
        records.append(
            ObjectRecord(
                id=verdict.object_id,
                label=seen.label,
                score=seen.score,
                lat=place.lat,
                lng=place.lng,
                new=verdict.new,
                picture=_in_memory(seen.picture),
            )
        )
    return records


def _in_memory(path: str) -> str:
    """Return a path inside visual memory's folder as a path inside the run's; empty for an empty path."""
    return (Path(MEMORY) / path).as_posix() if path else ""
