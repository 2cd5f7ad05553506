"""What the user says: on the terminal, or from a file."""

import io
from contextlib import contextmanager

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from virl.agent.user import Feedback, Moment, Silent, open_user, parse_line
from virl.errors import BadInput
from virl.routines.day.settings import FEELINGS

NOBODY = Console(file=io.StringIO())


def scripted(tmp_path, text):
    path = tmp_path / "feedback.yaml"
    path.write_text(text)
    return open_user(str(path), NOBODY)


def test_without_a_file_the_user_is_silent():
    assert isinstance(open_user(None, NOBODY), Silent)
    assert open_user(None, NOBODY).feedback(Moment("x")) is None


def test_what_a_file_says_comes_after_so_many_pieces_of_work(tmp_path):
    user = scripted(tmp_path, "# a comment\n- after: 2\n  say: I am tired.\n  state: {Hunger: 90}\n")
    assert user.feedback(Moment("", done=1)) is None
    assert user.feedback(Moment("", done=2)) == Feedback("I am tired.", {"hunger": 90.0})
    assert user.feedback(Moment("", done=3)) is None


def test_what_a_file_says_at_a_time_comes_once_at_the_first_moment_from_then_on(tmp_path):
    user = scripted(
        tmp_path, '- at: "12:30"\n  say: Lunch?\n- at: 21:00\n  say: Late.\n- at: 0:05\n  say: Early.\n'
    )
    said = [
        user.feedback(Moment("", number, minute, since))
        for number, (since, minute) in enumerate([(-1, 540), (540, 700), (700, 750), (750, 900), (900, 1300)])
    ]
    assert [one.say if one else None for one in said] == ["Early.", None, "Lunch?", None, "Late."]


def test_what_is_due_together_is_said_together(tmp_path):
    user = scripted(
        tmp_path, "- {after: 0, say: One., state: {joy: 1}}\n- {after: 0, say: Two., state: {joy: 2}}\n"
    )
    assert user.feedback(Moment("")) == Feedback("One. Two.", {"joy": 2.0})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("- after: 1\n  say: a\n- after: 2\n  sya: b\n", r"line 4: entry 2, sya: unknown field"),
        (
            "- after: 1\n  say: a\n- after: -2\n  say: b\n",
            r"line 3: entry 2, after: must be at least 0, not -2",
        ),
        ("- say: a\n", r"line 1: entry 1: give one of `after: NUMBER`, `at: HH:MM` or `proposed"),
        ("- {after: 1, at: '9:00', say: a}\n", r"line 1: .*give one of"),
        ("# x\n\n- after: 1\n", r"line 3: entry 1: give `say:` or `state:`"),
        ("- after: 1\n  state: {hunger: 101}\n", r"line 2: entry 1, state.hunger: .*at most 100, not 101"),
        ("- at: noon\n  say: a\n", r"line 1: entry 1, at: 'noon' is not a time"),
        ("- after: 1\n  say: [a\n", "line 2: not valid YAML"),
        ("after: 1\nsay: a\n", "must be a list"),
        ("", "must be a list"),
        ("---\n- after: 1\n", "line 2: entry 1: give `say:` or `state:`"),
    ],
)
def test_a_fault_in_the_file_is_named_with_its_line(tmp_path, text, fault):
    with pytest.raises(BadInput, match=fault) as caught:
        scripted(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_a_feeling_that_the_routine_does_not_know_is_named_with_its_entry(tmp_path):
    user = scripted(tmp_path, "- {after: 1, say: a}\n- after: 2\n  state: {hungr: 3}\n")
    with pytest.raises(
        BadInput,
        match=r"entry 2: state: unknown feeling 'hungr': did you mean 'hunger'",
    ):
        user.expect(FEELINGS)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        open_user(str(tmp_path / "none.yaml"), NOBODY)


def test_a_typed_line_may_set_feelings():
    assert parse_line("I am tired hunger=90, pain=0 really", FEELINGS) == Feedback(
        "I am tired really", {"hunger": 90.0, "pain": 0.0}
    )
    assert parse_line("1+1=2 is fine", FEELINGS) == Feedback("1+1=2 is fine", {})


@pytest.mark.parametrize("line", ["hunger=much", "hunger=101", "hunger=__import__('os')", "anger=3"])
def test_a_typed_feeling_that_is_none_is_refused(line):
    with pytest.raises(BadInput, match="write it in words, or as hunger=90"):
        parse_line(line, FEELINGS)


def ask_three_times(typed):
    """What a user says who types this, and what they see."""
    said, pauses = [], []
    app = typer.Typer()

    @contextmanager
    def pause():
        pauses.append("still")
        yield

    @app.command()
    def talk() -> None:
        user = open_user("terminal", Console(), pause)
        user.expect(FEELINGS)
        said.extend(user.feedback(Moment(f"[b]Done {number}[/b].", number)) for number in range(3))

    result = CliRunner().invoke(app, [], input=typed)
    assert result.exit_code == 0, result.output
    return said, result.output, pauses


def test_the_user_is_asked_on_the_terminal():
    said, seen, pauses = ask_three_times("I am tired.\n\nhunger=90\n")
    assert said == [Feedback("I am tired.", {}), None, Feedback("", {"hunger": 90.0})]
    assert "[b]Done 0[/b]." in seen
    assert len(pauses) == 3


def test_a_typed_line_that_cannot_be_read_is_asked_for_again():
    said, seen, _ = ask_three_times("hunger=lots\nhunger=80\n")
    assert said[0] == Feedback("", {"hunger": 80.0})
    assert "write it in words" in " ".join(seen.split())


def test_the_end_of_the_input_is_silence_ever_after():
    said, seen, pauses = ask_three_times("")
    assert said == [None, None, None]
    assert seen.count("Anything to say?") == 1
    assert len(pauses) == 1
