"""Questions about places: one right answer, nothing given away, nothing asked twice."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from made_dataset import HARMFUL, WISHES, place_row
from openai_server import ChatServer, reply
from pydantic import ValidationError

from virl.datasets.collect.collection import AT_ONCE, TRIES, make_questions
from virl.datasets.collect.dataset import PlaceRow, QuestionRow, Rows, TriedRow
from virl.datasets.collect.questions import PlaceChoices, Served
from virl.errors import BudgetExceeded
from virl.mind.base import Mind
from virl.mind.open import open_mind
from virl.mind.rules import RuleMind
from virl.money.ledger import Ledger

BAKERY = place_row("b", "bakery", 0, name="Golden Lotus Bakery", image=True)
GOOD: Mapping[str, object] = {"right": WISHES[0], "wrong": WISHES[1:]}


class Scripted:
    """Writes the same good wishes; what it says of them when it looks again, it takes from a list."""

    name = "scripted"

    def __init__(self, *looks: str) -> None:
        """`looks`: `right`, `both` or `none` for each second look."""
        self._looks = list(looks)
        self.ledger = Ledger()
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def with_own_ledger(self) -> "Scripted":
        return self

    def ask(self, prompt, *, images=(), **inputs):
        self.asked.append((prompt.name, inputs))
        if prompt.name == "vqa/choices":
            return PlaceChoices.model_validate(GOOD, context=inputs)
        look, right = self._looks.pop(0), inputs["options"].index(WISHES[0])
        return Served(served={"right": (right,), "both": (right, (right + 1) % 4), "none": ()}[look])


def made(
    folder: Path, mind: Mind, places: Sequence[PlaceRow] = (BAKERY,), seed: int = 0
) -> tuple[tuple[QuestionRow, ...], tuple[TriedRow, ...]]:
    questions, unasked = Rows(folder / "q.jsonl", QuestionRow), Rows(folder / "u.jsonl", TriedRow)
    make_questions(places, questions, unasked, mind, seed=seed, progress=lambda *_: None)
    return questions.all, unasked.all


def test_two_right_answers_are_refused_and_others_asked_for_with_the_reason(tmp_path: Path) -> None:
    mind = Scripted("both", "right")
    ((question,), unasked) = made(tmp_path, mind)
    assert question.options[question.answer] == WISHES[0]
    assert not unasked
    first, second = (inputs["faults"] for name, inputs in mind.asked if name == "vqa/choices")
    assert first == ""
    assert second.startswith("the place also fulfils 'Someone")


def test_the_second_look_is_told_the_types_and_the_shuffled_wishes_and_no_name(tmp_path: Path) -> None:
    mind = Scripted("right")
    ((question,), _) = made(tmp_path, mind)
    (look,) = (inputs for name, inputs in mind.asked if name == "vqa/check")
    assert look == {"types": ["bakery"], "options": list(question.options)}


def test_when_the_tries_are_exhausted_the_place_is_left_out_with_the_reason(tmp_path: Path) -> None:
    mind = Scripted(*["none"] * TRIES)
    questions, (unasked,) = made(tmp_path, mind)
    assert not questions
    assert unasked.id == "b"
    assert "in 3 tries: the place does not fulfil 'Someone wants bread" in unasked.reason
    assert len(mind.asked) == 2 * TRIES
    assert made(tmp_path, Scripted()) == ((), (unasked,)), "it is not asked about again"


def test_what_was_asked_is_not_asked_again_and_places_without_a_photo_never(tmp_path: Path) -> None:
    other, blind = place_row("c", "bakery", 9, image=True), place_row("d", "bakery", 9)
    first, _ = made(tmp_path, Scripted("right"))
    mind = Scripted("right")
    both, _ = made(tmp_path, mind, [BAKERY, other, blind])
    assert both[0] == first[0]
    assert [question.id for question in both] == ["b", "c"]
    assert len(mind.asked) == 2


def test_the_right_one_stands_where_the_seed_puts_it(tmp_path: Path) -> None:
    answers = [made(tmp_path / str(seed), Scripted("right"), seed=seed)[0][0].answer for seed in range(12)]
    assert set(answers) == {0, 1, 2, 3}
    assert made(tmp_path / "again", Scripted("right"), seed=3)[0][0].answer == answers[3]


def test_an_empty_purse_keeps_what_was_made(tmp_path: Path) -> None:
    class Poor(Scripted):
        def ask(self, prompt, *, images=(), **inputs):
            if inputs.get("name") == "c":
                raise BudgetExceeded(1.0, 1.0, 0.1, "a question")
            return super().ask(prompt, images=images, **inputs)

    with pytest.raises(BudgetExceeded):
        made(tmp_path, Poor("right"), [BAKERY, place_row("c", "bakery", 9, image=True)])
    assert [row.id for row in Rows(tmp_path / "q.jsonl", QuestionRow).all] == ["b"]
    assert not (tmp_path / "u.jsonl").exists(), "a place that could not be paid for is not left out"


def test_questions_are_made_side_by_side_and_written_in_order(tmp_path: Path) -> None:
    all_there = Barrier(AT_ONCE, timeout=20)

    class Slow(Scripted):
        def ask(self, prompt, *, images=(), **inputs):
            if prompt.name == "vqa/choices":
                all_there.wait()
            return super().ask(prompt, images=images, **inputs)

    places = [place_row(f"p{number}", "bakery", number, image=True) for number in range(AT_ONCE)]
    questions, _ = made(tmp_path, Slow(*["right"] * AT_ONCE), places)
    assert [question.id for question in questions] == [place.id for place in places]


def test_what_was_under_way_when_the_purse_was_empty_is_kept(tmp_path: Path) -> None:
    both_there = Barrier(2, timeout=20)

    class Poor(Scripted):
        def ask(self, prompt, *, images=(), **inputs):
            if prompt.name == "vqa/choices":
                both_there.wait()
            if inputs.get("name") == "p0":
                raise BudgetExceeded(1.0, 1.0, 0.1, "a question")
            return super().ask(prompt, images=images, **inputs)

    places = [place_row(f"p{number}", "bakery", number, name=f"p{number}", image=True) for number in range(2)]
    with pytest.raises(BudgetExceeded):
        made(tmp_path, Poor("right"), places)
    assert [row.id for row in Rows(tmp_path / "q.jsonl", QuestionRow).all] == ["p1"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"right": "Someone wants bread."}, "has 3 words, not 15 to 40"),
        ({"right": " ".join(["bread"] * 41)}, "has 41 words"),
        ({"right": WISHES[1].upper()}, "two of the four are the same"),
        ({"right": WISHES[0].replace("bread", "Lotus bread")}, "'lotus' is part of the place's name"),
    ],
)
def test_wishes_of_no_fair_length_or_that_tell_the_name_are_no_reply(
    changed: Mapping[str, object], said: str
) -> None:
    context = {"name": BAKERY.name, "types": list(BAKERY.types)}
    with pytest.raises(ValidationError, match=said):
        PlaceChoices.model_validate({**GOOD, **changed}, context=context)


@pytest.mark.parametrize(
    ("name", "option", "told"),
    [
        ("KFC", "Someone wants to eat at KFC tonight.", "KFC"),
        ("KFC", "Someone wants a kfcx.", ""),
        ("翠華餐廳", "我想去翠華餐廳吃飯", "翠華餐廳"),
        ("The Old Bakery", "Someone wants an old loaf from the bakery.", ""),
        (HARMFUL, "Someone was harmed.", "harmed"),
        ("", "Someone wants bread.", ""),
    ],
)
def test_a_name_is_given_away_by_its_words_or_as_a_whole(name: str, option: str, told: str) -> None:
    context = {"name": name, "types": ["bakery"]}
    wish = f"{option} {' '.join(['Nothing'] * 15)}"
    if told:
        with pytest.raises(ValidationError, match=f"{told!r} is part of the place's name"):
            PlaceChoices.model_validate({**GOOD, "right": wish}, context=context)
    else:
        assert PlaceChoices.model_validate({**GOOD, "right": wish}, context=context).right == wish


def test_only_wishes_that_were_offered_can_be_served() -> None:
    with pytest.raises(ValidationError, match="4 is not the number of a wish"):
        Served.model_validate({"served": [0, 4]}, context={"options": list(WISHES)})
    assert Served.model_validate({"served": [2, 2]}, context={"options": list(WISHES)}).served == (2,)


@pytest.mark.parametrize("kind", ["bakery", "library", "gym", "park", "bank"])
def test_the_rules_ask_what_they_themselves_find_to_have_one_answer(tmp_path: Path, kind: str) -> None:
    ((question,), unasked) = made(tmp_path, RuleMind(), [place_row("x", kind, 0, image=True)])
    assert not unasked
    again = made(tmp_path / "again", RuleMind(), [place_row("x", kind, 0, image=True)])
    assert again[0] == (question,)


def test_the_rules_leave_out_what_they_have_no_fair_sentence_for(tmp_path: Path) -> None:
    places = [
        place_row("x", "dragon_lair", 0, image=True),
        place_row("y", "bakery", 0, name="Birthday Oven", image=True),
    ]
    questions, unasked = made(tmp_path, RuleMind(), places)
    reasons = {row.id: row.reason for row in unasked}
    assert "on dragon_lair are missing" in reasons["x"]
    assert "on bakery hold words of its name" in reasons["y"]
    assert not questions


def test_a_harmful_name_stays_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ((question,), _) = made(tmp_path, RuleMind(), [place_row("x", "bakery", 0, name=HARMFUL, image=True)])
    assert question.types == ("bakery",)
    assert not (tmp_path / "harmed").exists()


def test_over_http_a_reply_that_tells_the_name_is_refused_and_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    leaky = {**GOOD, "right": WISHES[0].replace("cake", "Lotus cake")}

    def look(request):
        text = request.messages[-1]["content"]
        number = next(n for n in range(4) if f"{n}: {WISHES[0]}" in str(text))
        return reply({"served": [number]})

    with ChatServer([reply(leaky), reply(GOOD), look]) as server:
        mind = open_mind("openai:gpt-5-mini", cache_dir=None, base_url=server.url)
        ((question,), _) = made(tmp_path, mind)
        sent = [str(request.messages) for request in server.requests]
    assert question.options[question.answer] == WISHES[0]
    assert len(sent) == 3
    assert "'lotus' is part of the place's name" in sent[1]
    assert "Golden Lotus" not in sent[2]
