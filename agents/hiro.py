"""Hiro, the intentional explorer: he walks until he finds what he is looking for.

At every panorama he looks around, looks closer at promising signs, finds out which places they belong to,
reads their reviews, and enters or walks on. At crossings he looks down each road and takes the most
promising (V-IRL, section 3.3 and appendix D).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from virl.agent import Agent
from virl.cli import run_module
from virl.errors import NoStreetView
from virl.journal.convert import place_record
from virl.journal.records import PlaceRecord, ViewRecord
from virl.mind.prompt import load_prompt
from virl.mind.replies import PlaceDecision, PlaceSummary, PlaceType
from virl.platform.movement.base import Choice, Step
from virl.platform.movement.intention import IntentionNavigator
from virl.platform.perception.base import Detection
from virl.platform.perception.look import look_closer, sweep_cameras
from virl.platform.perception.matching import match_place
from virl.platform.places import Place
from virl.platform.streetview import Pose, View

# As in the configuration that V-IRL was published with.
LOOK_FOV = 60.0
LOOK_RANGE = 180.0
MIN_SCORE = 0.55
MIN_SCORE_CLOSER = 0.55
MATCH_RADIUS_M = 20.0
MATCH_SLACK = 5.0
REVIEWS_READ = 5


@dataclass(slots=True)
class Sight:
    """What one look around brought."""

    views: list[ViewRecord] = field(default_factory=list)
    places: list[PlaceRecord] = field(default_factory=list)

    @property
    def entered(self) -> PlaceRecord | None:
        """The place that was entered, if any."""
        return next((place for place in self.places if place.decision == "enter"), None)


def live(agent: Agent) -> None:
    """Explore until a place is entered or the limit of steps is reached."""
    if not agent.run.steps or agent.run.steps[-1].next_pano_id:
        _explore(agent)
    last = agent.run.steps[-1]
    entered = next((place for place in last.places if place.decision == "enter"), None)
    agent.run.end("entered" if entered else "gave up", last.decided, entered)


def _explore(agent: Agent) -> None:
    """Walk and write down, from the start or from where an earlier process stopped."""
    steps = list(agent.run.steps)
    place_type = _remembered_place_type(agent) or _place_type(agent)
    navigator = IntentionNavigator(
        agent.city.streetview,
        agent.mover,
        agent.mind,
        agent.senses,
        intention=agent.character.intention,
        place_type=place_type,
        max_steps=agent.character.limits.steps,
    )
    considered = {place.id for step in steps for place in step.places}
    for step in navigator.walk(_where_to_go_on(agent), [step.pose.pano_id for step in steps]):
        sight = _look_around(agent, step, place_type, considered)
        choice = Choice(None, sight.entered.reason) if sight.entered else step.choice
        _write_down(agent, step, sight, choice)
        if sight.entered:
            return


def _place_type(agent: Agent) -> str:
    """Which sort of place would fulfil the intention (appendix D.1)."""
    prompt = load_prompt("hiro-place-type", PlaceType)
    reply = agent.mind.ask(
        prompt, intention=agent.character.intention, place_types=list(agent.senses.place_types)
    )
    return reply.place_type


def _remembered_place_type(agent: Agent) -> str | None:
    asked = (one for step in agent.run.steps[:1] for one in step.asked if one.prompt == "hiro-place-type")
    return next((str(one.reply["place_type"]) for one in asked), None)


def _where_to_go_on(agent: Agent) -> Pose:
    """The start, or the pose after the last step written down."""
    if not agent.run.steps:
        heading = agent.character.heading
        return Pose(agent.start.id, agent.start.heading if heading is None else heading)
    last = agent.run.steps[-1]
    stood = Pose(last.pose.pano_id, last.pose.heading)
    link = next((link for link in agent.mover.links(stood) if link.pano_id == last.next_pano_id), None)
    if link is None:
        raise NoStreetView(
            f"no way leads from panorama {stood.pano_id!r} to {last.next_pano_id!r} any more: begin a new run"
        )
    return Pose(link.pano_id, link.heading)


def _look_around(agent: Agent, step: Step, place_type: str, considered: set[str]) -> Sight:
    """Look to both sides and ahead, closer where it promises something, until a place is entered."""
    cameras = sweep_cameras(step.pose.heading, LOOK_RANGE, LOOK_FOV)
    views = [agent.city.streetview.view(step.pose.pano_id, camera) for camera in cameras]
    found = agent.senses.detector.detect(views, [place_type])
    nearby = agent.city.places.nearby(step.panorama.position, MATCH_RADIUS_M) if any(found) else []
    sight = Sight()
    for view, detections in zip(views, found, strict=True):
        sight.views += agent.run.keep(view, "look", detections)
        for detection in detections:
            if sight.entered or detection.score < MIN_SCORE:
                continue
            place = _identify(agent, step, view, detection, nearby, considered, sight)
            if place:
                considered.add(place.id)
                sight.places.append(_consider(agent, place))
    return sight


def _identify(
    agent: Agent,
    step: Step,
    view: View,
    detection: Detection,
    nearby: Sequence[Place],
    considered: set[str],
    sight: Sight,
) -> Place | None:
    """The place that a detection belongs to, if a closer look confirms it and it is a new one."""
    here = step.panorama.position
    first = match_place(
        view.camera,
        detection.box,
        here,
        nearby,
        radius=MATCH_RADIUS_M,
        slack=MATCH_SLACK,
        text=detection.text,
    )
    if first is None or first.id in considered:
        return None
    closer = look_closer(
        agent.city.streetview, agent.senses.detector, view, detection, recheck=MIN_SCORE_CLOSER
    )
    if closer is None:
        return None
    closer_view, confirmed = closer
    sight.views += agent.run.keep(closer_view, "closer", [confirmed])
    place = match_place(
        closer_view.camera,
        confirmed.box,
        here,
        nearby,
        radius=MATCH_RADIUS_M,
        slack=MATCH_SLACK,
        text=confirmed.text,
    )
    return None if place is None or place.id in considered else place


def _consider(agent: Agent, place: Place) -> PlaceRecord:
    """Read the reviews and decide (appendices D.3 and D.4)."""
    place = agent.city.places.details(place.id)
    summary = ""
    if place.reviews:
        summary = agent.mind.ask(
            load_prompt("hiro-summary", PlaceSummary),
            name=place.name,
            rating=place.rating,
            reviews=[
                {"rating": review.rating, "text": review.text} for review in place.reviews[:REVIEWS_READ]
            ],
        ).summary
    decision = agent.mind.ask(
        load_prompt("hiro-decision", PlaceDecision),
        name=agent.character.name,
        background=agent.character.background,
        intention=agent.character.intention,
        place={
            "name": place.name,
            "types": list(place.types),
            "rating": place.rating,
            "price_level": place.price_level,
            "closed_for_good": not place.is_open,
            "open_now": place.open_at(*agent.character.day_and_minute) if place.hours else None,
        },
        summary=summary,
    )
    return place_record(place, summary=summary, decision=decision.action, reason=decision.reason)


def _write_down(agent: Agent, step: Step, sight: Sight, choice: Choice) -> None:
    roads = [
        record
        for road in choice.roads
        for record in agent.run.keep(road.view, "road", caption=road.description)
    ]
    agent.run.step(
        step,
        views=[*sight.views, *roads],
        asked=agent.mind.ledger.take(),
        places=sight.places,
        decided=choice.reason,
        next_pano_id=choice.link.pano_id if choice.link else None,
    )


if __name__ == "__main__":
    run_module("hiro")
