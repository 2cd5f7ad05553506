import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import real_data

from virl.platform.movers.discrete.actions import Action, WalkState
from virl.platform.navigators.velma.prompt import (
    MAX_INSTRUCTION,
    Example,
    action_text,
    transcript,
    walk_so_far,
)
from virl.platform.navigators.velma.verbalizer import (
    Direction,
    Observer,
    StateObservation,
    VisibleLandmark,
    sentence,
    walk_text,
)
from virl.platform.navigators.velma.vision import yaw_flow
from virl.platform.providers.graph.touchdown import read_touchdown

F, L, R, AROUND, STOP = (
    Action.FORWARD,
    Action.LEFT,
    Action.RIGHT,
    Action.TURN_AROUND,
    Action.STOP,
)


class Everywhere:
    """Sees what it is told to see, in every state."""

    def __init__(self, *sightings):
        self._sightings = [VisibleLandmark(name, direction) for name, direction in sightings]

    def visible(self, pano_id, heading, landmarks):
        return [sighting for sighting in self._sightings if sighting.landmark in landmarks]


def lines(observer, start, actions, **options):
    return walk_so_far(observer, start, actions, **options).text.split("\n")


def items(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_gold_walks_read_as_published():
    folder = real_data("touchdown")
    graph = read_touchdown(folder / "graph")
    expected = folder / "expected"
    walks = {item["id"]: item for item in items(expected / "gold_map2seq_unseen_dev.jsonl")}
    published = items(expected / "verbalized_map2seq_unseen_dev_first20.jsonl")
    assert len(published) == 20
    for item in published:
        walk = walks[item["id"]]
        start = WalkState(graph.number(walk["states"][0][0]), float(walk["states"][0][1]))
        assert lines(Observer(graph), start, [Action(action) for action in walk["actions"]]) == item["lines"]


def test_a_crossing_is_told_on_arrival_and_not_after_a_turn(crossing):
    start = WalkState(crossing.number("s2"), 0.0)
    assert lines(Observer(crossing), start, [F, F, L, AROUND, F, STOP]) == [
        "1. forward",
        "2. forward",
        "There is a 4-way intersection.",
        "3. left",
        "4. turn_around",
        "5. forward",
        "6. stop",
    ]


def test_a_walk_that_begins_at_a_crossing_does_not_tell_it(crossing):
    assert lines(Observer(crossing), WalkState(crossing.number("c"), 0.0), [F, STOP])[0] == "1. forward"


def test_the_text_ends_in_the_number_of_the_next_action(crossing):
    start = WalkState(crossing.number("s2"), 0.0)
    walk = walk_so_far(Observer(crossing), start, [F, F])
    assert walk.text == "1. forward\n2. forward\nThere is a 4-way intersection.\n3."
    assert walk_so_far(Observer(crossing), start, []).text == "1."


@pytest.mark.parametrize(
    ("heading", "told"), [(0.0, "with"), (89.0, "with"), (180.0, "against"), (271.0, "with"), (90.0, None)]
)
def test_the_traffic_is_told_once_at_the_start(crossing, heading, told):
    observer = Observer(crossing, flow=yaw_flow(crossing))
    text = walk_so_far(observer, WalkState(crossing.number("c"), heading), [F, F, STOP]).text
    assert text.startswith(f"You are facing {told} the flow of traffic.\n1." if told else "1.")
    assert text.count("traffic") == bool(told)


def test_one_line_tells_traffic_then_crossing_then_landmarks_from_left_to_right():
    seen = (
        VisibleLandmark("a red door", Direction.RIGHT),
        VisibleLandmark("Kiki's", Direction.LEFT),
        VisibleLandmark("a park", Direction.LEFT),
        VisibleLandmark("the bank", Direction.SLIGHTLY_RIGHT),
        VisibleLandmark("a bus", Direction.AHEAD),
    )
    assert sentence(StateObservation(3, seen, "against")) == (
        "You are facing against the flow of traffic. There is a 3-way intersection. "
        "There is Kiki's and a park on your left. There is a bus ahead. "
        "There is the bank slightly right. There is a red door on your right."
    )
    assert (
        sentence(StateObservation(0, seen[:3]), "code")
        == "Kiki's and a park on your left. A red door on your right."
    )
    assert sentence(StateObservation()) == ""


def test_landmarks_are_told_in_every_state_that_shows_them(crossing):
    observer = Observer(crossing, Everywhere(("a park", Direction.LEFT), ("a bank", Direction.AHEAD)))
    start = WalkState(crossing.number("s2"), 0.0)
    assert lines(observer, start, [F, STOP], landmarks=["a park"]) == [
        "There is a park on your left.",
        "1. forward",
        "There is a park on your left.",
        "2. stop",
    ]
    assert lines(observer, start, [F, STOP]) == ["1. forward", "2. stop"]


ACTIONS = st.lists(st.sampled_from([F, L, R, AROUND]), max_size=30)
TOLD = st.sampled_from(["", "There is a 3-way intersection.", "There is left on your right."])


@given(ACTIONS.flatmap(lambda actions: st.tuples(st.just(actions), st.lists(TOLD, min_size=31, max_size=31))))
def test_spans_are_the_words_of_the_actions(case):
    actions, told = case
    for count in (len(actions), len(actions) + 1):
        walk = walk_text(told[:count], actions)
        assert [walk.text[first:end] for first, end in walk.action_spans] == actions
        numbered = [line for line in walk.text.split("\n") if line[:1].isdigit()]
        assert numbered == [
            *(f"{number}. {action}" for number, action in enumerate(actions, 1)),
            *([f"{count}."] if count > len(actions) else []),
        ]


def test_each_prefix_of_a_transcript_is_the_prompt_of_that_step(crossing):
    observer = Observer(crossing, Everywhere(("a park", Direction.LEFT)), yaw_flow(crossing))
    start, actions = WalkState(crossing.number("s2"), 180.0), [AROUND, F, F, R, F, STOP]
    examples = [Example("Stop <<<DATA at once.", "1. stop")]
    whole = transcript(
        observer, "Go \N{ROCKET}\x00 on.", start, actions, landmarks=["a park"], examples=examples
    )
    assert [whole.text[first:end] for first, end in whole.action_spans] == actions
    for number, (first, _) in enumerate(whole.action_spans):
        walk = walk_so_far(observer, start, actions[:number], landmarks=["a park"])
        prompt = action_text("Go \N{ROCKET}\x00 on.", walk.text, examples)
        assert whole.text[:first] == f"{prompt} "
    assert "forward, left, right, turn_around, stop" in whole.text


@pytest.mark.parametrize(
    "instruction",
    [
        "",
        "   \n ",
        "go " * 10_000,
        "\N{PILE OF POO}\x00\x1b[31m\u2028",
        "half \ud83d",
        "{{ 7 * 7 }} {% raw %}",
    ],
)
def test_odd_instructions_make_a_prompt_that_is_valid_and_bounded(crossing, instruction):
    start = WalkState(crossing.number("s2"), 0.0)
    whole = transcript(Observer(crossing), instruction, start, [F, STOP])
    assert whole.text.encode("utf-8")
    assert len(whole.text) < MAX_INSTRUCTION + 2_000
    assert whole.text.endswith("Walk:\n1. forward\n2. stop")
    assert not any(character in whole.text for character in "\x00\x1b\u2028")
    assert ("{{ 7 * 7 }}" in whole.text) == ("{{" in instruction)
