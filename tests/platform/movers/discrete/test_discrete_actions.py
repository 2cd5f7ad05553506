import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.platform.movers.discrete.actions import Action, parse_action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("forward", Action.FORWARD),
        ("left", Action.LEFT),
        ("turn left", Action.LEFT),
        ("turn_left", Action.LEFT),
        ("12. Turn left.", Action.LEFT),
        ("right", Action.RIGHT),
        ("turn right", Action.RIGHT),
        ("turn_right.", Action.RIGHT),
        ("turn_around", Action.TURN_AROUND),
        ("turn around", Action.TURN_AROUND),
        ("turnaround", Action.TURN_AROUND),
        (" STOP\n13. forward", Action.STOP),
        ("**forward**", Action.FORWARD),
        ("🚶 forward 🚶", Action.FORWARD),
    ],
)
def test_published_synonyms_and_decorated_words_are_read(text: str, action: Action) -> None:
    assert parse_action(text) is action


@pytest.mark.parametrize(
    "text", ["", " ", "12.", "🛑", "\x00\x1b", "jump", "turn", "turn 5", "forwards", "a left"]
)
def test_junk_names_no_action(text: str) -> None:
    assert parse_action(text) is None


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    assert parse_action(text) in (None, *Action)
