from collections.abc import Sequence
from itertools import islice

import pytest
from made_streets import MadeStreetView, plus_sign, ring
from strict_models import ModelServer, says
from strict_models.minds import model_at

from virl.mind.base import Mind, Prompt, ReplyT
from virl.money.ledger import Ledger
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Image, Pose, View
from virl.platform.movers.base import LinksMover, Step
from virl.platform.navigators.intention.navigator import IntentionNavigator
from virl.platform.navigators.intention.rules import name_roads
from virl.platform.perception.base import Detection, LookScores, Senses


class ScriptedMind:
    """Answers with the road numbers given, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *answers: int) -> None:
        self._answers = iter(answers)
        self.ledger = Ledger()
        self.asked: list[dict[str, object]] = []

    def ask(self, prompt: Prompt[ReplyT], *, images: Sequence[Image] = (), **inputs: object) -> ReplyT:
        self.asked.append(inputs)
        return prompt.reply.model_validate({"index": next(self._answers), "reason": "scripted"})


class Bearings:
    """Describes a view by its heading; detects nothing."""

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        return [f"{question} at {view.camera.heading:.0f}" for view in views]

    look_scores = LookScores(0.55, 0.55)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        return [[] for _ in views]


def navigator(streets: MadeStreetView, mind: Mind, max_steps: int = 50) -> IntentionNavigator:
    senses = Senses(Bearings(), Bearings(), ("bar",))
    return IntentionNavigator(
        streets, LinksMover(streets), mind, senses, intention="eat", place_type="bar", max_steps=max_steps
    )


def seen(heading: int) -> str:
    return f"bar at {heading}"


def ids(steps: Sequence[Step]) -> list[str]:
    return [step.pose.pano_id for step in steps]


def test_asks_at_crossings_only_and_never_offers_the_way_back() -> None:
    mind = ScriptedMind(1)
    steps = list(islice(navigator(plus_sign(), mind).walk(Pose("s3", 0)), 7))
    assert ids(steps) == ["s3", "s2", "s1", "c", "e1", "e2", "e3"]
    assert len(mind.asked) == 1
    roads = mind.asked[0]["roads"]
    assert [road["description"] for road in roads] == [seen(0), seen(90), seen(270)]
    assert steps[3].choice.reason == "scripted"
    assert [road.link.pano_id for road in steps[3].choice.roads] == ["n1", "e1", "w1"]


def test_turns_back_at_a_dead_end_and_then_prefers_roads_not_walked() -> None:
    mind = ScriptedMind(0, 0, 0)
    steps = list(islice(navigator(plus_sign(1), mind).walk(Pose("s1", 0)), 8))
    # n first, back; then of the fresh roads e and w, e; then w is the only one left.
    assert ids(steps) == ["s1", "c", "n1", "c", "e1", "c", "w1", "c"]
    assert steps[2].choice.reason == "the road ends here, so back"
    assert [road["description"] for road in mind.asked[1]["roads"]] == [seen(90), seen(270)]
    assert steps[5].choice.reason == "the only road not walked yet"


def test_leaves_a_ring_for_the_road_it_has_not_walked() -> None:
    mind = ScriptedMind(0, 0)  # at the start, round the ring; at its corner, round it again
    steps = list(islice(navigator(ring(2), mind).walk(Pose("r1", 90)), 20))
    assert "s2" in ids(steps), "a ring must not be walked for ever"


def test_the_same_choice_is_asked_once() -> None:
    mind = ScriptedMind(2)
    walk = navigator(plus_sign(1), mind).walk(Pose("s1", 0))
    next(walk)
    crossing = next(walk)
    assert crossing.choice is crossing.choice
    assert next(walk).pose.pano_id == "w1"
    assert len(mind.asked) == 1


def test_stops_at_the_limit_and_says_so() -> None:
    steps = list(navigator(plus_sign(), ScriptedMind(0), max_steps=4).walk(Pose("s3", 0)))
    assert [step.index for step in steps] == [0, 1, 2, 3, 4]
    assert steps[-1].choice.link is None
    assert steps[-1].choice.reason == "the limit of 4 steps is reached"
    assert steps[-1].choice.outcome == Outcome("limit", what="steps", limit=4)
    assert [step.choice.outcome for step in steps[:-1]] == [None] * 4
    assert sum(step.distance for step in steps) == pytest.approx(40, rel=1e-3)


def test_roads_are_told_by_their_headings() -> None:
    walk = list(islice(navigator(plus_sign(2), ScriptedMind(1, 0, 0)).walk(Pose("s2", 0)), 4))
    assert walk[1].choice.reason == "the street to the north leads on"
    assert name_roads("Road 1, not road 3.", [0, 90]) == "The street to the east, not road 3."


def test_a_resumed_walk_goes_on_as_the_whole_one() -> None:
    streets = plus_sign(2)
    whole = list(islice(navigator(streets, ScriptedMind(1, 0, 0)).walk(Pose("s2", 0)), 12))
    for cut in range(1, 11):
        trail = ids(whole[:cut])
        answers = [1, 0, 0][sum(bool(step.choice.roads) for step in whole[:cut]) :]
        rest = list(islice(navigator(streets, ScriptedMind(*answers)).walk(whole[cut].pose, trail), 12 - cut))
        assert [(step.index, step.pose, step.distance) for step in rest] == [
            (step.index, step.pose, step.distance) for step in whole[cut:]
        ]


def test_stops_where_no_way_leads_on() -> None:
    streets = MadeStreetView({"a": (0, 0)}, [])
    only = list(navigator(streets, ScriptedMind()).walk(Pose("a", 0)))
    assert ids(only) == ["a"]
    assert only[0].choice.reason == "no way leads on from here"
    assert only[0].choice.outcome == Outcome("blocked")


def test_a_model_sees_each_road_behind_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    with ModelServer("openai", [says({"index": 1, "reason": "shops"})]) as server:
        steps = list(islice(navigator(plus_sign(1), model_at(server)).walk(Pose("s1", 0)), 3))
        [request] = server.requests
    assert ids(steps) == ["s1", "c", "e1"]
    parts = request.body["messages"][-1]["content"]
    shown = [part.get("text", "picture").strip() for part in parts[-6:]]
    assert shown == ["Road 0:", "picture", "Road 1:", "picture", "Road 2:", "picture"]
    assert "labelled with the road's number" in request.text
