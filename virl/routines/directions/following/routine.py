"""Ling, the tourist: asks a local the way, follows it by sight, and asks again when she is lost.

V-IRL, section 3.4 and appendix B.7; what differs from it is in `docs/reference/agents.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.consult import consult, steps_taken
from virl.agent.going_on import link_taken
from virl.agent.routine import Wish
from virl.errors import JournalBroken
from virl.geo.globe import LatLng
from virl.journal.records import StepRecord
from virl.mind.base import Mind, costs
from virl.mind.lexicon import Lexicon
from virl.mind.prompt import Prompts
from virl.mind.understanding import Reading
from virl.platform.city.city import City
from virl.platform.city.claims import ArrivalClaim
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import Step
from virl.platform.navigators.tourist.navigator import LEADS_ON, TouristNavigator
from virl.platform.navigators.tourist.rules import (
    Act,
    ArrivalObservation,
    LandmarkNames,
    TranscriptEntry,
    WalkAction,
)
from virl.platform.navigators.tourist.signs import OcrSpotter, SignReader
from virl.platform.navigators.tourist.spotters import (
    ChoiceSpotter,
    DescriberSpotter,
    ReadingMindSpotter,
    RecognizerSpotter,
)
from virl.platform.navigators.tourist.spotting import LandmarkSpotter
from virl.platform.navigators.tourist.ways import CrossingHints, HonestHints, PaperHints, words_for
from virl.platform.perception.base import Detection
from virl.platform.perception.models import Models
from virl.routines.directions.following.settings import CHOICE, FOLLOW, READ_AND_ASKED, find_spotter
from virl.routines.directions.planning import Directions
from virl.routines.directions.rules import read_question
from virl.routines.directions.showing import tour_exhibits

ASK, LEG = "local", "leg"


def _read_question(character: Character, lexicon: Lexicon) -> Reading | None:
    """Return the question for a local with its words that rules act on; `None` for a name or address."""
    return read_question(FOLLOW.of(character).to, character, lexicon, "directions")


WISH = Wish(_read_question, field="intention")


def run(agent: Agent) -> None:
    """Ask locals the way and follow it by sight, until the tourist feels arrived or may ask no more."""
    follow = FOLLOW.of(agent.character)
    spotter = open_spotter(follow.spotter, follow.reader, agent.city, agent.models, agent.mind, agent.prompts)
    ask_and_walk(agent, spotter)


def ask_and_walk(agent: Agent, spotter: LandmarkSpotter) -> None:
    """Ask locals and follow their directions, finding landmarks with a spotter, and end the run.

    It ends when the tourist believes to have arrived, or has asked or walked as much as she may.
    """
    legs: list[FollowedDirections] = []
    while len(legs) < FOLLOW.of(agent.character).asks:
        told = _ask(agent, legs)
        if isinstance(told, Outcome):
            if not legs:
                agent.run.end(replace(told, reason=f"The local knows no way: {told.reason}"))
                return
            ended = legs[-1].outcome.with_detail(f"the next local: {told.reason}")
            legs[-1] = replace(legs[-1], outcome=ended)
            break
        legs.append(_follow_leg(agent, spotter, legs, told))
        # The step at which the next directions begin is one of those left.
        if legs[-1].outcome.kind == "arrived" or _steps_left(agent) < 2:
            break
    _end_run(agent, legs)


@dataclass(frozen=True, slots=True)
class FollowedDirections:
    """A local's directions, and the outcome of following them."""

    directions: Directions
    outcome: Outcome
    """Outcome: `arrived` as the tourist believes, or `lost`."""
    steps: int
    """Number of steps walked by these directions."""


def _follow_leg(
    agent: Agent, spotter: LandmarkSpotter, legs: Sequence[FollowedDirections], directions: Directions
) -> FollowedDirections:
    """Return a local's directions and the outcome of following them, from a note or by walking."""
    number, before = len(legs) + 1, sum(leg.steps for leg in legs)
    if noted := agent.run.find_note(LEG, str(number)):
        ended = Outcome("arrived" if noted.data["arrived"] else "lost", str(noted.data["reason"]))
        steps = noted.data["steps"]
        if not isinstance(steps, int):
            raise JournalBroken(f"the note on leg {noted.key} does not say how many steps it has")
        return FollowedDirections(directions, ended, steps)
    honest = FOLLOW.of(agent.character).mode == "honest"
    # V-IRL's hints give away where the route turns.
    hints = HonestHints() if honest else PaperHints(directions.key_positions)
    ended = _walk(agent, spotter, directions.instruction, hints, before)
    leg = FollowedDirections(directions, ended, len(agent.run.steps) - before)
    agent.run.note(
        LEG,
        str(number),
        f"{ended.kind.capitalize()}: {ended.reason}.",
        data={"arrived": ended.kind == "arrived", "reason": ended.reason, "steps": leg.steps},
        asked=(),
    )
    return leg


def _ask(agent: Agent, legs: Sequence[FollowedDirections]) -> Directions | Outcome:
    """Return a local's directions from where the tourist stands, or an outcome with the reason for none."""
    follow, number = FOLLOW.of(agent.character), len(legs) + 1
    pose = _pose_after(agent, sum(leg.steps for leg in legs))
    to = legs[0].directions.destination if legs else follow.to or agent.character.intention
    position = agent.city.streetview.panorama(pose.pano_id).position
    result = consult(
        agent,
        follow.local,
        f"{ASK}-{number}",
        about=f"Asked {'another' if legs else 'a'} local the way: {to}",
        changes={
            "start": {"lat": position.lat, "lng": position.lng},
            "heading": pose.heading % 360.0,
            "intention": agent.character.intention,
            "instead": agent.character.instead,
            "accepts": agent.character.accepts,
            "directions": {"to": to, "count_crossings": follow.mode == "honest"},
        },
    )
    if result.answer:
        return Directions.model_validate(result.answer)
    return Outcome(result.outcome.kind if result.outcome else "blocked", result.reason)


def _pose_after(agent: Agent, before: int) -> Pose:
    """Return the tourist's pose after `before` steps, at the start if that is 0."""
    if before == 0:
        return Pose(agent.start.id, agent.character.heading or 0.0)
    last = agent.run.steps[before - 1].pose
    return Pose(last.pano_id, last.heading)


def _walk(
    agent: Agent, spotter: LandmarkSpotter, instruction: str, hints: CrossingHints, before: int
) -> Outcome:
    """Follow directions from step `before` on, or from where the run was cut off; return the outcome."""
    steps = agent.run.steps[before:]
    # The leg was over when the run was cut off, but for its note.
    if steps and steps[-1].next_pano_id is None:
        return _outcome_of(steps[-1])
    done: list[tuple[Pose, TranscriptEntry]] = []
    for before_now in steps:
        doing = done[-1][1].act.sentence if done else 1
        pose = Pose(before_now.pose.pano_id, before_now.pose.heading)
        came_from = done[-1][0].pano_id if done else None
        done.append((pose, _recall_entry(agent, before_now, doing, came_from)))
    asked = (one for step in steps[:1] for one in step.asked if "names" in one.reply)
    # A resumed leg gets the steps that were left when she set out on it, not those that are left now.
    taken = agent.run.steps[-1].step if agent.run.steps else 0
    navigator = TouristNavigator(
        agent.city.streetview,
        agent.mover,
        agent.mind,
        spotter,
        instruction,
        hints=hints,
        max_steps=min(FOLLOW.of(agent.character).patience, _steps_left(agent) + taken - before),
        landmarks=next((LandmarkNames.model_validate(one.reply).names for one in asked), None),
        sparing=costs(agent.mind),
        prompts=agent.prompts,
    )
    start = _pose_after(agent, before)
    if steps:  # where the last recorded step leads to
        stood = Pose(steps[-1].pose.pano_id, steps[-1].pose.heading)
        link = link_taken(agent.mover.links(stood), steps[-1])
        start = agent.mover.take(Pose(stood.pano_id, link.heading), link)
    for step in navigator.walk(start, done):
        _write_down(agent, navigator, step, before)
    return _outcome_of(agent.run.steps[-1])


def _outcome_of(last: StepRecord) -> Outcome:
    """Return the outcome in a walk's last step; in older journals, `arrived` if its reply was "stop"."""
    # a journal of an earlier version has the end of the walk in its reply and in words only
    stopped = any(one.reply.get("action") == "stop" for one in last.asked)
    return last.outcome or Outcome("arrived" if stopped else "lost", last.decided)


def _write_down(agent: Agent, navigator: TouristNavigator, step: Step, before: int) -> None:
    """Write a step to the journal, with the views of noticed landmarks; `before` steps came earlier."""
    choice = step.choice
    observation = navigator.observations[-1]
    views = [
        record
        for one in observation.seen
        if one.camera is not None
        for record in agent.run.keep(
            agent.city.streetview.view(step.pose.pano_id, one.camera),
            "look",
            [Detection(one.name, one.score, one.box, one.text)] if one.box else [],
            caption=f"{one.name}, {one.direction(step.pose.heading)}",
        )
    ]
    agent.run.step(
        step.with_index(before + step.index),
        views=views,
        decided=choice.reason,
        next_pano_id=choice.link.pano_id if choice.link else None,
        outcome=choice.outcome,
    )


def _recall_entry(agent: Agent, step: StepRecord, sentence: int, came_from: str | None) -> TranscriptEntry:
    """Return a recorded step as a transcript entry; `sentence` (from 1) is what the walker followed then."""
    if step.decided_by:
        stood = Pose(step.pose.pano_id, step.pose.heading)
        links = agent.mover.links(stood)
        link = link_taken(links, step)
        action, direction = words_for(links, stood.heading, came_from, link)
        return TranscriptEntry(
            ArrivalObservation(step.pose.heading).to_prompt(),
            Act(action, direction, sentence, step.decided, decided_by=step.decided_by),
        )
    asked = next((one for one in reversed(step.asked) if "action" in one.reply), None)
    # A mind that costs was not asked where there was nothing to decide: the only way led on.
    if asked is None and costs(agent.mind):
        act = Act("forward", sentence=sentence, reason=LEADS_ON)
        return TranscriptEntry(ArrivalObservation(step.pose.heading).to_prompt(), act)
    if asked is None:
        raise JournalBroken(f"step {step.step} does not say what was observed there")
    reply = WalkAction.model_validate(asked.reply)
    act = Act(reply.action, reply.direction or "", reply.sentence, reply.reason)
    return TranscriptEntry(TypeAdapter(dict[str, object]).validate_python(asked.inputs["here"]), act)


def _steps_left(agent: Agent) -> int:
    """Return how many steps the character's limit still allows."""
    return agent.character.limits.steps - steps_taken(agent.run)


def _end_run(agent: Agent, legs: Sequence[FollowedDirections]) -> None:
    """End the run with the outcome of the last directions, an answer, a claim and exhibits."""
    last = legs[-1]
    stood = agent.run.steps[-1].pose
    times = "once" if len(legs) == 1 else f"{len(legs)} times"
    arrived = last.outcome.kind == "arrived"
    reason = (
        f"{'Arrived at' if arrived else 'Did not find'} {last.directions.destination}, as far as she "
        f"can tell, having asked {times}{'' if arrived else f': {last.outcome.reason}'}."
    )
    asked = legs[0].directions  # the later locals are asked for the place by its name
    if asked.lacking:
        reason = f"{asked.lacking}: took the {asked.taken} {asked.destination}. {reason}"
    ended = last.outcome if asked.succeeded or not arrived else Outcome("substituted")
    at_limit = not arrived and _steps_left(agent) < 1
    agent.run.end(
        Outcome("limit", reason, "steps", agent.character.limits.steps)
        if at_limit
        else replace(ended, reason=reason),
        answer={
            "destination": last.directions.destination,
            "believes_arrived": arrived,
            "succeeded": arrived and asked.succeeded,
            "lacking": asked.lacking,
            "asked": len(legs),
            "mode": FOLLOW.of(agent.character).mode,
            "pano_id": stood.pano_id,
            "lat": stood.lat,
            "lng": stood.lng,
            "legs": [
                {
                    "instruction": leg.directions.instruction,
                    "arrived": leg.outcome.kind == "arrived",
                    "reason": leg.outcome.reason,
                    "steps": leg.steps - (number == 0),  # the first of its records is the start
                }
                for number, leg in enumerate(legs)
            ],
        },
        claims=[ArrivalClaim(last.directions.destination, LatLng(stood.lat, stood.lng), arrived)],
        exhibits=tour_exhibits(
            agent.city,
            agent.run.steps,
            [
                (leg.directions, leg.steps, "" if leg.outcome.kind == "arrived" else leg.outcome.reason)
                for leg in legs
            ],
        ),
    )


def open_spotter(
    name: str, reader: str, city: City, models: Models, mind: Mind, prompts: Prompts
) -> LandmarkSpotter:
    """Return a tourist's landmark finder by the finder's name; one that reads signs uses the model `reader`.

    Args:
        name: name of the spotter, see `FollowSettings.spotter`.
        reader: name of the model that reads signs, for spotters that read.
        city: gives the views.
        models: opens the spotter's models.
        mind: tells which landmarks words mean, for `ocr+mind`.
        prompts: finds the spotter's prompts.

    Raises:
        UnknownName: there is no such spotter.
        BadInput: a model's file does not hold what it should.
    """
    role, streetview = find_spotter(name), city.streetview
    if name == READ_AND_ASKED:
        return ReadingMindSpotter(streetview, models.reader(reader), mind, prompts)
    if role == "reader":
        return OcrSpotter(SignReader(streetview, models.keeping_reader(reader), city.capabilities.cheap_view))
    if role == "recognizer":
        return RecognizerSpotter(streetview, models.recognizer(name))
    plain = name.removeprefix(CHOICE)
    if plain != name:
        return ChoiceSpotter(streetview, models.describer(plain), name, prompts)
    return DescriberSpotter(streetview, models.describer(name), name)
