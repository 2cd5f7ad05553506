"""Mina, the stroller: walks down a street, looks left and right, and visits the places that she likes."""

from virl.agent.agent import Agent
from virl.errors import BadInput
from virl.journal.convert import place_record
from virl.journal.records import PlaceRecord, ViewRecord
from virl.pages.exhibits import TableExhibit
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Camera
from virl.platform.movers.base import Step

from .replies import Verdict
from .settings import STROLL, Stroll
from .walking import straight_on

SIGN = "shop sign"


def run(agent: Agent) -> None:
    """Walk straight on, write each step down, and end with the places visited."""
    stroll = STROLL.of(agent.character)
    if stroll is None:
        raise BadInput(f"{agent.source}: has no `stroll:`: say which types of places are liked")
    for step in straight_on(agent):
        views = _look(agent, step)
        places = _judge(agent, stroll, step)
        agent.run.step(
            step,
            views=views,
            places=places,
            decided=step.choice.reason,
            next_pano_id=step.choice.link.pano_id if step.choice.link else None,
        )
    _end(agent)


def _look(agent: Agent, step: Step) -> list[ViewRecord]:
    """Look left and right for signs; both views are kept."""
    cameras = [Camera(step.pose.heading + turn, width=320, height=240) for turn in (-90, 90)]
    views = [agent.city.streetview.view(step.pose.pano_id, camera) for camera in cameras]
    found = agent.senses.detector.detect(views, [SIGN])
    return [
        record
        for view, signs in zip(views, found, strict=True)
        for record in agent.run.keep(view, "look", signs)
    ]


def _judge(agent: Agent, stroll: Stroll, step: Step) -> list[PlaceRecord]:
    """Ask about each place that was not met before."""
    known = {place.id for earlier in agent.run.steps for place in earlier.places}
    prompt = agent.prompts.load("stroll/judge", Verdict)
    judged = []
    for place in agent.city.places.nearby(step.panorama.position, stroll.radius_m):
        if place.id in known:
            continue
        verdict = agent.mind.ask(
            prompt,
            name=place.name,
            types=place.types,
            rating=place.rating,
            likes=stroll.likes,
            min_rating=stroll.min_rating,
        )
        judged.append(
            place_record(place, decision="enter" if verdict.visit else "continue", reason=verdict.reason)
        )
    return judged


def _end(agent: Agent) -> None:
    steps = agent.run.steps
    places = [place for step in steps for place in step.places]
    visited = [place.name for place in places if place.decision == "enter"]
    table = TableExhibit(
        title="Places on the way",
        columns=("place", "visited", "why"),
        rows=tuple((place.name, "yes" if place.name in visited else "no", place.reason) for place in places),
    )
    agent.run.end(
        Outcome("finished", f"Passed {len(places)} places; visited {', '.join(visited) or 'none'}."),
        found={SIGN: sum(len(view.detections) for step in steps for view in step.views)},
        answer={"visited": visited},
        exhibits=(table,),
    )
