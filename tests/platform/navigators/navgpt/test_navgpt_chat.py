"""NavGPT in the form for chat models, against the APIs of four providers, strict as they are known to be."""

import json
from itertools import pairwise

import pytest
from made_building import IDS, made_building, start_at
from strict_models import ModelServer, says
from strict_models.minds import KEY_VARIABLES, MODELS, model_at, said_to

from virl.errors import MindFailed
from virl.mind.chat.question import strict_schema
from virl.mind.rules import RuleMind
from virl.platform.city.streetview import Link
from virl.platform.navigators.navgpt.navigator import FORGOTTEN, MOST_TURNS, NavGptNavigator, _ChatHistory
from virl.platform.navigators.navgpt.observation import Thing, ViewpointObservation
from virl.platform.navigators.navgpt.rules import NavGptTurn
from virl.platform.navigators.navgpt.sources import GraphObservations, ways_from

INSTRUCTION = "Leave the hall by the stairs, go up and stop in the attic."
PROVIDERS = pytest.mark.parametrize("provider", MODELS)
WALKED = ["stairs", "landing", "attic"]


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    for name in ("VIRL_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name in KEY_VARIABLES:
        monkeypatch.setenv(name, "marker-0123456789")


class Seen:
    """A summary of each viewpoint, and what is seen to the north."""

    name = "seen"

    def __init__(self, graph):
        self.graph = graph

    def at(self, viewpoint):
        return ViewpointObservation(
            viewpoint,
            ways_from(self.graph, viewpoint),
            ("A lamp.", *[""] * 7),
            (Thing("lamp", 10.0, 1.0), Thing("tree", 10.0, 9.0)),
            f"Summary of {viewpoint[:2]}.",
        )


def go(name, thought="On."):
    return says({"thought": thought, "action": "walk", "viewpoint": IDS.get(name, name)})


FINISH = says({"thought": "The attic.", "action": "finish", "viewpoint": None})


def last_fence(text):
    return json.loads(text.rpartition("<<<DATA\n")[2].partition("\nDATA>>>")[0])


@PROVIDERS
def test_a_chat_model_gets_the_walk_as_messages_and_replies_with_a_move(provider):
    graph = made_building()
    with ModelServer(provider, [*map(go, WALKED), FINISH]) as server:
        navigator = NavGptNavigator(graph, model_at(server), Seen(graph))
        moves = list(navigator.walk(INSTRUCTION, start_at(graph, "hall")))
        assert server.refusals == []
        asked = [said_to(request) for request in server.requests]
    assert [move.action for move in moves] == [*(IDS[name] for name in WALKED), "stop"]
    assert [move.reason for move in moves] == ["On.", "On.", "On.", "The attic."]
    assert navigator.name == "navgpt --observations seen, chat"
    assert [role for role, _ in asked[-1]] == ["system", *["user", "model"] * 3, "user"]
    told = [last_fence(text) for role, text in asked[-1] if role == "user"]
    assert [one["viewpoint"] for one in told] == [IDS["hall"], *(IDS[name] for name in WALKED)]
    assert all("view" in one for one in told)
    assert told[1]["turned"].startswith("right ")
    front = last_fence(asked[0][-1][1])["view"][0]
    assert front["seen"] == "A lamp."
    assert front["objects"] == {"lamp": "right 10.00, 1.00 m"}
    for before, after in pairwise(asked):
        assert after[: len(before) - 1] == before[:-1]
        told_then, told_later = (last_fence(walk[len(before) - 1][1]) for walk in (before, after))
        assert told_then == told_later, "what was told of a viewpoint stays as it was sent"


def test_only_viewpoints_that_can_be_gone_to_are_offered_and_taken():
    graph = made_building()
    script = [go("attic"), go("nowhere"), go("stairs"), FINISH]
    with ModelServer("openai", script) as server:
        navigator = NavGptNavigator(graph, model_at(server), GraphObservations(graph))
        moves = list(navigator.walk(INSTRUCTION, start_at(graph, "hall")))
        asked = [said_to(request)[-1][1] for request in server.requests]
        schemas = [request.body["response_format"]["json_schema"] for request in server.requests]
        assert "cannot be gone to: from here one can walk to" in server.requests[1].text
    assert [move.action for move in moves] == [IDS["stairs"], "stop"]
    offered = asked[0].rpartition("- `viewpoint`: one of ")[2].partition(" or null")[0]
    assert set(json.loads(f"[{offered}]")) == {IDS[name] for name in ("kitchen", "bath", "stairs")}
    assert all(schema == schemas[0] for schema in schemas), "providers cache it with the beginning"
    with (
        ModelServer("openai", [go("attic")]) as server,
        pytest.raises(MindFailed, match="gave no valid reply to movement/navgpt-chat in 3 tries"),
    ):
        list(NavGptNavigator(graph, model_at(server), Seen(graph)).walk(INSTRUCTION, start_at(graph, "hall")))


def test_where_no_way_leads_on_only_the_end_is_offered():
    schema = strict_schema(NavGptTurn, {"opening": {"viewpoint": "a", "view": []}, "steps": []})
    assert schema["properties"]["action"]["enum"] == ["finish"]


def test_a_walk_ends_at_the_limit_of_replies():
    graph = made_building()
    with ModelServer("openai", [go("stairs"), go("hall")] * 2) as server:
        navigator = NavGptNavigator(graph, model_at(server), GraphObservations(graph), max_steps=3)
        moves = list(navigator.walk(INSTRUCTION, start_at(graph, "hall")))
    assert len(moves) == 4
    assert moves[-1].reason == "the limit of 3 steps is reached"


def test_of_a_long_walk_several_of_the_oldest_turns_are_left_out_at_once():
    history = _ChatHistory.begin(ViewpointObservation("v0", ()), 0.0)
    left_out = []
    for number in range(1, 60):
        turn = NavGptTurn(thought="On.", action="walk", viewpoint=f"v{number}")
        here, way = ViewpointObservation(f"v{number}", ()), Link(f"v{number}", 0.0, 5.0)
        history.note_move(turn.model_dump(), "", 0.0, way, here)
        inputs = history.inputs()
        assert inputs["steps"][-1]["observation"]["viewpoint"] == f"v{number}"
        assert len(inputs["steps"]) <= MOST_TURNS
        left_out.append(inputs["left_out"])
    assert len(set(left_out)) == 1 + -(-(59 - MOST_TURNS) // FORGOTTEN)


@pytest.mark.parametrize("start", ["hall", "attic", "bath"])
def test_the_rules_walk_alike_in_both_forms(start):
    graph = made_building()
    text, chat = (
        [
            (move.action, move.state)
            for move in NavGptNavigator(graph, RuleMind(), Seen(graph), form=form).walk(
                INSTRUCTION, start_at(graph, start, 270.0)
            )
        ]
        for form in ("text", "chat")
    )
    assert text == chat
