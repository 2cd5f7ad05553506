import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.platform.navigators.navgpt.rules import Finish, GoTo, Malformed, own_words, read_reply, thought_of

HEX = "4a153b13a3f6424784cb8e5dabbb3a2c"
KNOWN = {HEX, "vt-00042", "-_x9YGq2Hk", "b" * 32}


def act(given, tool="action_maker"):
    return f"I go on.\nAction: {tool}\nAction Input: {given}"


@pytest.mark.parametrize(
    "given",
    [
        *[HEX, f'"{HEX}"', f"'{HEX}'", f" `{HEX}`.", f"viewpoint {HEX} (front)", f'action_maker("{HEX}")'],
        *[f'"{HEX}"\nAnd on.', f"\n{HEX}"],
    ],
)
def test_the_id_is_read_through_what_stands_around_it(given):
    assert read_reply(act(given), KNOWN) == GoTo(HEX)


@pytest.mark.parametrize("given", ["vt-00042", '"-_x9YGq2Hk"'])
def test_ids_of_cities_are_read(given):
    assert read_reply(act(given), KNOWN) == GoTo(given.strip('"'))


@pytest.mark.parametrize(
    "reply",
    [
        f'**Action:** action_maker\n**Action Input:** "{HEX}"',
        f"Action 1: action_maker Action Input 1: {HEX}",
        f"I think: Action: speaks louder.\nAction: action_maker\nAction Input: {HEX}",
        f"Action: action_maker\nAction Input: {HEX}\nThen\nAction: action_maker\nAction Input: vt-00042",
        f'Action: action_maker("{HEX}")\nAction Input: "{HEX}"',
    ],
)
def test_forms_that_models_use(reply):
    assert read_reply(reply, KNOWN) == GoTo(HEX)


def test_an_unknown_id_is_passed_on_as_given():
    assert read_reply(act('"deadbeef"'), KNOWN) == GoTo("deadbeef")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (act(HEX) + "\nFinal Answer: Finished!", "not both"),
        ("I wonder.", "'Action:' is missing"),
        ("", "'Action:' is missing"),
        ("I go.\nAction: action_maker", "'Action Input:' is missing"),
        (f"Action Input: {HEX}", "'Action:' is missing"),
        (act(HEX, tool="teleport"), "teleport is no tool"),
        (act(HEX, tool=""), "Nothing is no tool"),
        (act(""), "no viewpoint id"),
        (act('""'), "no viewpoint id"),
        (act(f"{HEX} or vt-00042"), "more than one"),
    ],
)
def test_what_is_neither_a_move_nor_the_end_is_told_its_fault(reply, words):
    found = read_reply(reply, KNOWN)
    assert isinstance(found, Malformed)
    assert words in found.fault


def test_a_final_answer_alone_is_the_end():
    assert read_reply("I am there.\nFinal Answer: Finished!", KNOWN) == Finish()


def test_what_a_model_makes_up_after_its_action_does_not_count():
    text = f"Thought: I see.\n{act(HEX)}\nObservation: a palace\nThought: done\nFinal Answer: Finished!"
    assert own_words(text) == f"I see.\n{act(HEX)}"
    assert read_reply(own_words(text), KNOWN) == GoTo(HEX)


@pytest.mark.parametrize(
    ("reply", "thought"),
    [
        (act(HEX), "I go on."),
        ("There.\nFinal Answer: Finished!", "There."),
        ("Hm", "Hm"),
        ("**Action:** x", ""),
    ],
)
def test_the_thought_is_what_stands_before(reply, thought):
    assert thought_of(reply) == thought


@given(st.text() | st.text(alphabet='Action Input:\n"*Final Answer:Thought'))
def test_no_text_crashes_the_reader(text):
    assert isinstance(read_reply(own_words(text), KNOWN), GoTo | Finish | Malformed)
    thought_of(text)


@pytest.mark.parametrize(
    "junk", ["Action", "Action: ", "Action ", "\n", " ", "Action Input: ", "\nObservation", "a "]
)
def test_a_long_reply_is_read_at_once(junk):
    text = own_words(junk * 50_000)  # in square time, this would take hours
    assert type(read_reply(text, KNOWN)) is type(read_reply(own_words(junk * 50), KNOWN))
    assert len(thought_of(text)) <= len(text)
