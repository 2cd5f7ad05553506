"""Minds that play a script."""

from collections import Counter
from pathlib import Path

import pytest

from virl.errors import BadInput, MindFailed
from virl.mind.open import open_mind
from virl.mind.prompt import load_prompt
from virl.mind.script import ScriptMind
from virl.routines.explore.rules import PlaceType

PROMPT = "explore/place-type"
INPUTS = {"intention": "Lunch in a restaurant.", "place_types": ["bar", "restaurant"]}


def script(folder: Path, text: str) -> ScriptMind:
    path = folder / "script.yaml"
    path.write_text(text, encoding="utf-8")
    mind = open_mind(f"scripted:{path}", cache_dir=None)
    assert isinstance(mind, ScriptMind)
    return mind


def ask(mind: ScriptMind) -> str:
    return mind.ask(load_prompt(PROMPT, PlaceType), **INPUTS).place_type


def test_replies_are_given_in_order_by_prompt_and_cost_nothing(tmp_path: Path) -> None:
    mind = script(
        tmp_path, f"replies:\n  {PROMPT}:\n    - {{place_type: bar}}\n    - {{place_type: restaurant}}\n"
    )
    assert (ask(mind), ask(mind.with_own_ledger())) == ("bar", "restaurant")
    [exchange] = mind.ledger.take_asked()
    assert (exchange.mind, exchange.usd, exchange.input_tokens) == (mind.name, 0.0, 0)
    with pytest.raises(
        MindFailed, match=r"script.yaml, line 4: the last reply to 'explore/place-type' has been used"
    ):
        ask(mind)


def test_a_script_goes_on_after_the_replies_of_a_run_that_was_cut_off(tmp_path: Path) -> None:
    mind = script(tmp_path, f"replies:\n  {PROMPT}: [{{place_type: bar}}, {{place_type: restaurant}}]\n")
    mind.go_on_after(Counter({PROMPT: 1}))
    assert ask(mind) == "restaurant"


def test_a_prompt_that_is_not_listed_is_named_or_left_to_the_rules(tmp_path: Path) -> None:
    strict = script(tmp_path, "replies:\n  recommend/search: []\n")
    with pytest.raises(
        MindFailed, match=r"line 1: no reply to prompt 'explore/place-type'.*recommend/search"
    ):
        ask(strict)
    assert ask(script(tmp_path, "rest: rules\n")) == "restaurant"


def test_a_reply_that_does_not_fit_is_named_with_its_line(tmp_path: Path) -> None:
    mind = script(tmp_path, f"# a comment\nreplies:\n  {PROMPT}:\n    - {{place_type: moon}}\n")
    with pytest.raises(MindFailed, match=r"script.yaml, line 4: reply to 'explore/place-type' does not fit"):
        ask(mind)


def test_the_end_of_a_script_is_told_with_file_line_and_turn(tmp_path: Path) -> None:
    mind = script(tmp_path, "turns:\n  - tool: where_am_i\n")
    assert mind.turn(1).all_calls[0].tool == "where_am_i"
    with pytest.raises(
        MindFailed, match=r"script.yaml, line 2: the script ends here, but the agent needs turn 2"
    ):
        mind.turn(2)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("turns:\n  - says: hm\n", r"line 2: turns, entry 1: .*exactly one of tool, calls and answer"),
        ("turns:\n  - {tool: look, answer: x}\n", r"line 2: turns, entry 1: .*exactly one of"),
        ("turn: []\n", r"line 1: turn: unknown field; did you mean 'turns'"),
    ],
)
def test_a_broken_script_is_refused_with_its_line(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        script(tmp_path, text)


def test_a_missing_script_and_one_without_a_name_are_refused() -> None:
    with pytest.raises(BadInput, match="no such file"):
        open_mind("scripted:nowhere.yaml", cache_dir=None)
    with pytest.raises(BadInput, match="scripted:FILE"):
        open_mind("scripted:", cache_dir=None)
