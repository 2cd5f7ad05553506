"""A proposed day is amended: by the rules that read what is said, in a file, on a terminal, after a kill."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from test_planner import Fragile, Killed, activities, notes, plan, resumed

from virl.agent.user import AtTerminal, Feedback, Moment, open_user
from virl.clock import parse_clock
from virl.errors import BadInput
from virl.mind.lexicon import load_lexicon
from virl.routines.day.replies import Amendment, Amendments, AmendQuestion
from virl.routines.day.wish_rules import amend

DAY = (
    {"number": 1, "kind": "normal", "starts": "09:00", "ends": "10:00", "what": "Look at art",
     "place": "Old Museum", "sort": "museum"},
    {"number": 2, "kind": "eat", "starts": "12:00", "ends": "13:00", "what": "Lunch",
     "place": "Noodle House", "sort": "restaurant"},
    {"number": 3, "kind": "normal", "starts": "14:00", "ends": "15:00", "what": "Read",
     "place": "Reading Room", "sort": "library"},
)  # fmt: skip


def heard(said: str) -> Amendments:
    return amend(AmendQuestion.model_validate({"said": said, "activities": DAY}), load_lexicon())


def change(number: int, place: str = "", starts: str | None = None, ends: str | None = None) -> Amendment:
    return Amendment(number=number, drop=False, place=place, what="", starts=starts, ends=ends)


def dropped(number: int) -> Amendment:
    return Amendment(number=number, drop=True, place="", what="", starts=None, ends=None)


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("3 at 16:00", [change(3, starts="16:00")]),
        ("Move 3 to 4 pm.", [change(3, starts="16:00")]),
        ("Move number 3 to 15:30-17:00", [change(3, starts="15:30", ends="17:00")]),
        ("Lunch until 14:00, please", [change(2, ends="14:00")]),
        ("the second for 2 hours", [change(2, ends="14:00")]),
        ("2: Fish Kitchen", [change(2, "Fish Kitchen")]),
        ("Replace 1 with a library", [change(1, "library")]),
        ("Swap #1 for the park at 10:30", [change(1, "park", starts="10:30")]),
        ("The park instead of the museum", [change(1, "park")]),
        ("I'd prefer a cinema instead of 3", [change(3, "cinema")]),
        ("drop 2", [dropped(2)]),
        ("No museum!", [dropped(1)]),
        ("no 3 and drop 1", [dropped(3), dropped(1)]),
        ("skip lunch; 3 at noon", [dropped(2), change(3, starts="12:00")]),
        ("change 9 to the park", [change(9, "park")]),
    ],
)
def test_the_rules_read_what_is_changed(said: str, changes: list[Amendment]) -> None:
    reply = heard(said)
    assert list(reply.changes) == changes
    assert (reply.budget_usd, reply.wishes) == (None, ())


@pytest.mark.parametrize(
    ("said", "usd"),
    [("Budget 60", 60.0), ("I have only $45.50", 45.5), ("my budget is 80 dollars now", 80.0)],
)
def test_the_rules_read_a_budget(said: str, usd: float) -> None:
    assert heard(said) == Amendments(changes=(), budget_usd=usd, wishes=())


def test_what_names_no_activity_is_a_wish() -> None:
    assert heard("More fresh air, please.").wishes == ("More fresh air, please",)
    assert heard("...") == Amendments(changes=(), budget_usd=None, wishes=())


class Amends:
    """A user who says something to each proposal."""

    def __init__(self, *said: str) -> None:
        self.said, self.moments = said, list[Moment]()

    def expect(self, states: Any) -> None:
        assert states

    def feedback(self, moment: Moment) -> Feedback | None:
        if not moment.proposed:
            return None
        self.moments.append(moment)
        return Feedback(self.said[moment.proposed - 1]) if moment.proposed <= len(self.said) else None


@pytest.mark.slow
def test_a_place_is_changed_and_the_rest_is_planned_again(tmp_path: Path) -> None:
    before = plan(tmp_path / "before", ends="18:00")
    first, second = activities(before)[:2]
    user = Amends("2: Book Nook")
    after = plan(tmp_path / "after", user=user, ends="18:00")
    changed = activities(after)
    assert changed[0] == first
    assert changed[1]["place"] == "Book Nook"
    assert changed[1]["place_id"] != second["place_id"]
    assert after.answer["violations"] == []
    assert after.answer["amendments"] == ['"2: Book Nook"', f"2 ({second['what']}): Book Nook"]
    assert [moment.proposed for moment in user.moments] == [1, 2]
    assert f"2. {second['starts']}-{second['ends']} {second['what']}" in user.moments[0].about
    assert "Book Nook" in user.moments[1].about
    report = (tmp_path / "after" / "itinerary.md").read_text()
    assert "Change: 2 (" in report
    assert [note["data"]["say"] for note in notes(tmp_path / "after", "amendment")] == ["2: Book Nook"]


@pytest.mark.slow
def test_a_time_is_changed_and_what_fits_before_is_planned(tmp_path: Path) -> None:
    before = plan(tmp_path / "before", starts="13:00", ends="18:00")
    moved = activities(before)[0]
    after = plan(tmp_path / "after", user=Amends("1 at 16:00"), starts="13:00", ends="18:00")
    (found,) = [one for one in activities(after) if one["place_id"] == moved["place_id"]]
    assert found["starts"] == "16:00"
    earlier = [one for one in activities(after) if parse_clock(one["ends"]) <= 16 * 60]
    assert len(earlier) >= 2, "the hours before are not left empty"
    assert after.answer["violations"] == []


@pytest.mark.slow
def test_the_scenic_spot_can_be_moved_and_is_visited_once(tmp_path: Path) -> None:
    hours = {"scenic": True, "starts": "13:00", "ends": "18:00"}
    before = activities(plan(tmp_path / "before", **hours))
    (number,) = [place for place, one in enumerate(before, start=1) if one["kind"] == "scenic"]
    after = activities(plan(tmp_path / "after", user=Amends(f"{number} at 16:30"), **hours))
    assert [one["starts"] for one in after if one["place"] == before[number - 1]["place"]] == ["16:30"]


@pytest.mark.slow
def test_what_is_dropped_is_gone_for_the_day(tmp_path: Path) -> None:
    before = plan(tmp_path / "before")
    gone = activities(before)[0]["place_id"]
    assert gone
    after = plan(tmp_path / "after", user=Amends("drop 1"))
    assert gone not in [one["place_id"] for one in activities(after)]
    assert after.answer["violations"] == []


@pytest.mark.slow
def test_a_lower_budget_holds_for_the_whole_day(tmp_path: Path) -> None:
    before = plan(tmp_path / "before", starts="09:00", ends="18:00")
    assert before.answer["spent_usd"] > 20.0  # type: ignore[operator]
    after = plan(tmp_path / "after", user=Amends("budget 20"), starts="09:00", ends="18:00")
    assert after.answer["budget_usd"] == 20.0
    assert after.answer["spent_usd"] <= 20.0  # type: ignore[operator]
    assert after.answer["violations"] == []
    last = after.answer["activities"][-1]  # type: ignore[index]
    assert last["budget_usd"] == pytest.approx(20.0 - after.answer["spent_usd"])  # type: ignore[operator]


@pytest.mark.slow
def test_what_cannot_be_is_said_and_something_else_is_planned(tmp_path: Path) -> None:
    said = ("1: Palace Pictures at 13:00", "7: The Fox")
    after = plan(tmp_path / "run", user=Amends(*said), starts="12:45", ends="17:15")
    told = after.answer["amendments"]
    assert any("not open" in one for one in told)  # type: ignore[attr-defined]
    assert "This cannot be: The day has no activity 7." in told  # type: ignore[operator]
    assert after.answer["violations"] == []
    assert activities(after)


@pytest.mark.slow
def test_a_later_change_keeps_the_earlier_ones(tmp_path: Path) -> None:
    first = activities(plan(tmp_path / "before", starts="13:00", ends="18:00"))[0]
    after = plan(tmp_path / "after", user=Amends("1 at 16:00", "no 2"), starts="13:00", ends="18:00")
    (found,) = [one for one in activities(after) if one["place_id"] == first["place_id"]]
    assert found["starts"] == "16:00"
    assert not notes(tmp_path / "after", "unmet")


@pytest.mark.slow
def test_a_day_is_amended_twice(tmp_path: Path) -> None:
    after = plan(tmp_path / "run", user=Amends("2: Reading Room", "No Reading Room"), ends="18:00")
    assert "Reading Room" not in [one["place"] for one in activities(after)]
    assert len(notes(tmp_path / "run", "amendment")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 1, 3, 6])
def test_a_run_that_is_cut_off_hears_nothing_twice(tmp_path: Path, more: int) -> None:
    whole = plan(tmp_path / "whole", user=Amends("1 at 16:00"))
    drafted = len([note for note in notes(tmp_path / "whole", "draft") if "-" not in note["key"]])
    asked = sum(len(notes(tmp_path / "whole", topic)) for topic in ("draft", "estimate", "audit"))
    assert drafted
    with pytest.raises(Killed):
        plan(tmp_path / "run", user=Amends("1 at 16:00"), mind=Fragile(asked - more))
    result = resumed(tmp_path / "run", Amends("1 at 16:00"))
    assert result.answer == whole.answer
    assert len(notes(tmp_path / "run", "amendment")) == 1


@pytest.mark.slow
def test_a_file_amends_the_first_and_the_second_proposal(tmp_path: Path) -> None:
    path = tmp_path / "said.yaml"
    path.write_text("- proposed: 1\n  say: drop 1\n- proposed: 2\n  say: budget 50\n")
    result = plan(tmp_path / "run", user=open_user(str(path), Console(file=io.StringIO())))
    assert result.answer["budget_usd"] == 50.0
    assert len(notes(tmp_path / "run", "amendment")) == 2
    path.write_text("- proposed: 1\n  after: 2\n  say: drop 1\n")
    with pytest.raises(BadInput, match="give one of `after: NUMBER`, `at: HH:MM` or `proposed: NUMBER`"):
        open_user(str(path), Console(file=io.StringIO()))


def test_the_terminal_shows_the_day_and_asks_what_to_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()
    console = Console(file=shown, width=120)
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "drop 1" if len([one for one in prompts if "Change anything" in one]) == 1 else ""

    monkeypatch.setattr(console, "input", answer)
    result = plan(tmp_path / "run", user=AtTerminal(console))
    assert sum("Change anything" in one for one in prompts) >= 2
    assert "The day that is proposed:\n1. " in shown.getvalue()
    assert "\n2. " in shown.getvalue()
    assert result.answer["amendments"][0] == '"drop 1"'  # type: ignore[index]
