import pytest

from virl.errors import BadInput
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.mind.rules import RuleMind
from virl.platform.movers.discrete.actions import Action
from virl.platform.navigators.velma.verbalizer import StateObservation

PROMPT = load_prompt("movement/velma-action", Text)
SIGNS = {"f": Action.FORWARD, "l": Action.LEFT, "r": Action.RIGHT, "a": Action.TURN_AROUND}


def action(instruction, script, flow=None):
    """The action after a script such as `"f f + l f"`: actions, and + for a crossing before the next one."""
    taken, observed = [], [StateObservation(flow=flow)]
    for sign in script.split():
        if sign == "+":
            observed[-1] = StateObservation(ways=4)
        else:
            taken.append(SIGNS[sign])
            observed.append(StateObservation())
    return ask(instruction, {"observed": observed, "taken": taken})


def ask(instruction, rule_inputs):
    inputs = {"actions": ["forward"], "examples": [], "refused": 0, "walk": "told to models"}
    return RuleMind().ask(PROMPT, rule_inputs=rule_inputs, instruction=instruction, **inputs).text


@pytest.mark.parametrize(
    ("instruction", "script", "expected"),
    [
        ("Turn left at the light.", "f f", "forward"),
        ("Turn left at the light.", "f f +", "left"),
        ("Take the second right.", "f f f +", "forward"),
        ("Take the second right.", "f f f + f f f +", "right"),
        ("Go through two lights and make a left.", "f f f + f f f +", "forward"),
        ("Go through two lights and make a left.", "f f f + f f f + f f f +", "left"),
        ("Turn right, then turn left at the next light.", "f + r f f f +", "left"),
        ("Turn right. The park is on your left. Stop in the middle of the block.", "f + r f f f +", "stop"),
        ("Turn right and stop at the next light.", "f + r f f f f f f f", "forward"),
        ("Turn right and stop at the next light.", "f + r f f f f f f f +", "stop"),
        ("Turn right. Stop at a bakery.", "f + r f", "forward"),
        ("Turn right. Stop at a bakery.", "f + r f f f", "stop"),
        ("Turn around and turn left.", "", "turn_around"),
        ("", "f", "forward"),
    ],
)
def test_turns_come_in_order_at_the_crossing_they_count(instruction, script, expected):
    assert action(instruction, script) == expected


def test_crossings_close_together_are_one():
    second = "Take the second right."
    assert action(second, "f f f + f +") == "forward"
    assert action(second, "f f f + f + f f f +") == "right"


@pytest.mark.parametrize(
    ("instruction", "faces", "expected"),
    [
        ("Go with the flow of traffic.", "with", "forward"),
        ("Go with the flow of traffic.", "against", "turn_around"),
        ("Go against the flow of traffic.", "with", "turn_around"),
        ("Go against the flow of traffic.", "against", "forward"),
        ("Go straight.", "against", "forward"),
    ],
)
def test_the_flow_of_traffic_is_kept_to_where_it_is_told(instruction, faces, expected):
    assert action(instruction, "", faces) == expected
    assert action(instruction, "") == "forward"


def test_inputs_of_the_wrong_shape_are_named():
    with pytest.raises(BadInput, match="input taken"):
        ask("x", {"taken": 7})
