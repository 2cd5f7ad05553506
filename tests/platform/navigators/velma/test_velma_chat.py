"""VELMA in the form for chat models, against the APIs of four providers as strict as they are known to be."""

import json
from itertools import pairwise

import pytest
from strict_models import ModelServer, says
from strict_models.minds import KEY_VARIABLES, MODELS, model_at, said_to

from virl.errors import MindFailed
from virl.mind.rules import RuleMind
from virl.platform.movers.discrete.actions import Action, WalkState
from virl.platform.movers.discrete.task import OPENING
from virl.platform.navigators.velma.navigator import Demonstration, VelmaNavigator
from virl.platform.navigators.velma.prompt import mind_landmarks
from virl.platform.navigators.velma.verbalizer import Direction, VisibleLandmark
from virl.platform.navigators.velma.vision import yaw_flow

GO = "Go to the crossing, turn right and stop one step on."
GOLD = ["forward", "forward", "right", "forward", "stop"]
PROVIDERS = pytest.mark.parametrize("provider", MODELS)


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    for name in ("VIRL_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name in KEY_VARIABLES:
        monkeypatch.setenv(name, "marker-0123456789")


@pytest.fixture
def start(crossing):
    return WalkState(crossing.number("s2"), 0.0)


class Park:
    def visible(self, pano_id, heading, landmarks):
        del heading
        return [VisibleLandmark(name, Direction.LEFT) for name in landmarks if pano_id == "s1"]


def act(action):
    return says({"reason": f"Time to {action}.", "action": action})


@pytest.mark.slow
@PROVIDERS
def test_a_chat_model_gets_the_walk_as_messages_and_replies_with_an_action(provider, crossing, start):
    with ModelServer(provider, [act(action) for action in GOLD]) as server:
        navigator = VelmaNavigator(crossing, model_at(server), flow=yaw_flow(crossing))
        moves = list(navigator.walk(GO, start))
        assert server.refusals == []
        asked = [said_to(request) for request in server.requests]
    assert [move.action for move in moves] == GOLD
    assert moves[2].reason == "Time to right."
    assert navigator.name == f"velma {MODELS[provider]}, 0-shot, chat"
    roles = [role for role, _ in asked[-1]]
    assert roles == ["system", *["user", "model"] * 4, "user"]
    assert [json.loads(text)["action"] for role, text in asked[-1] if role == "model"] == GOLD[:-1]
    assert "You are facing with the flow of traffic." in asked[0][1][1]
    assert "There is a 4-way intersection." in asked[2][-1][1]
    assert "The street leads on." in asked[1][-1][1]
    for before, after in pairwise(asked):
        assert after[: len(before)] == before, "what was sent is only added to"


def test_the_last_message_may_be_kept_by_a_provider_that_wants_to_be_told(crossing, start):
    with ModelServer("anthropic", [act(action) for action in GOLD]) as server:
        list(VelmaNavigator(crossing, model_at(server)).walk(GO, start))
    for request in server.requests:
        marked = [
            block
            for content in [request.body["system"], *(one["content"] for one in request.body["messages"])]
            if isinstance(content, list)
            for block in content
            if "cache_control" in block
        ]
        assert len(marked) == 2
        assert "cache_control" in request.body["messages"][-1]["content"][-1]


@PROVIDERS
def test_a_reply_without_an_action_is_asked_for_again(provider, crossing, start):
    script = [says("I would go on."), act("jump"), *map(act, GOLD)]
    with ModelServer(provider, script) as server:
        moves = list(VelmaNavigator(crossing, model_at(server)).walk(GO, start))
        assert server.refusals == []
    assert [move.action for move in moves] == GOLD
    with ModelServer(provider, [act("jump")]) as server, pytest.raises(MindFailed, match="no valid reply"):
        list(VelmaNavigator(crossing, model_at(server)).walk(GO, start))


def test_landmarks_are_a_typed_reply_and_their_names_stay_in_the_fence(crossing, start):
    script = [says({"names": ["a park", "a light"]}), *map(act, GOLD)]
    with ModelServer("openai", script) as server:
        list(VelmaNavigator(crossing, model_at(server), scorer=Park()).walk("Go to a park.", start))
    assert "Observed:\n<<<DATA\nThere is a park on your left.\nDATA>>>" in said_to(server.requests[2])[-1][1]


def test_examples_are_whole_walks_as_json(crossing, start):
    shown = Demonstration("Turn right.", start, tuple(map(Action, GOLD)))
    with ModelServer("openai", [act(action) for action in GOLD]) as server:
        list(VelmaNavigator(crossing, model_at(server), examples=[shown]).walk(GO, start))
    example = said_to(server.requests[0])[1][1].split("<<<DATA\n")[1].partition("\nDATA>>>")[0]
    walk = json.loads(example)["walk"]
    assert [one["action"] for one in walk] == GOLD
    assert walk[2]["observed"] == "There is a 4-way intersection."


def test_the_form_can_be_chosen_and_the_published_one_goes_with_compat(crossing):
    with ModelServer("openai", [act("stop")]) as server:
        mind = model_at(server)
        assert VelmaNavigator(crossing, mind, form="text").name.endswith("0-shot")
        assert VelmaNavigator(crossing, mind, compat=True).name.endswith("0-shot, compat")
    assert VelmaNavigator(crossing, RuleMind()).name.endswith("0-shot")
    assert VelmaNavigator(crossing, RuleMind(), form="chat").name.endswith("0-shot, chat")


@pytest.mark.parametrize(
    "instruction", [GO, "Turn around. Go on. Stop.", "Pass a bank, turn left at 2 lights."]
)
def test_the_rules_walk_alike_in_both_forms(instruction, crossing, start):
    ways = [
        [
            (move.action, move.state)
            for move in VelmaNavigator(
                crossing, RuleMind(), form=form, scorer=Park(), flow=yaw_flow(crossing), opening=opening
            ).walk(instruction, start)
        ]
        for form in ("text", "chat")
        for opening in [OPENING["map2seq"]]
    ]
    assert ways[0] == ways[1]
    assert mind_landmarks(RuleMind(), "text")(instruction) == mind_landmarks(RuleMind(), "chat")(instruction)
