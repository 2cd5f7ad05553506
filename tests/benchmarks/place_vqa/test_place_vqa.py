"""Place VQA: four rounds, one letter, and no credit for anything else."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_dataset import HARMFUL, WISHES, place_row, question_row, value, write_dataset
from openai_server import ChatServer, text
from rich.console import Console

from benchmarks.place_vqa.definition import (
    BENCHMARK,
    Options,
    QuestionsWorld,
    episodes,
    open_answerer,
    run,
    score,
    show,
)
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.bench.metrics.places import LETTERS, MappedLetter, strict_letter
from virl.bench.resources import Resources, Terms
from virl.bench.run import Engine, Part, run_benchmark
from virl.errors import BadInput, MindFailed, UnknownName
from virl.money.ledger import Ledger
from virl.platform.city.streetview import Image
from virl.platform.perception.base import Detection, LookScores

Reply = Callable[[Sequence[str]], str]
"""What is replied to the options of a round."""


def knows(options: Sequence[str]) -> str:
    return f"{LETTERS[options.index(WISHES[0])]}."


def chatters(options: Sequence[str]) -> str:
    """Begins with the right letter by chance of words, and chooses nothing."""
    return {"A": "A bank", "B": "Bread is", "C": "Customers", "D": "Do not"}[knows(options)[0]] + " come here"


@pytest.fixture
def asked(tmp_path: Path) -> Episode:
    place = place_row("a", "bakery store", 0, name=HARMFUL, image=True)
    folder = write_dataset(tmp_path / "made", places=[place], questions=[question_row(place, answer=2)])
    (episode,) = episodes(options_of(folder), Resources())
    return episode


def options_of(folder: Path, **more: Any) -> Options:
    return Options.model_validate(
        {"cities": ("made",), "models": ("signs",), "data": str(folder.parent)} | more
    )


def answered(episode: Episode, reply: Reply) -> EpisodeResult:
    def answerer(image: Image) -> Any:
        assert image.shape == (48, 64, 3)
        return (lambda _, options: reply(options)), (lambda: {"requests": 1.0})

    return run(episode, QuestionsWorld({"signs": answerer}))


def record(result: EpisodeResult, case: str = "a") -> Record:
    data = json.loads(json.dumps(result.data))
    return Record(f"signs/made/{case}", case, "made", "signs", "done", data, ("a/photo.jpg",))


def values(record: Record) -> dict[str, float]:
    scores = score([record], Options())
    return {metric.key: value(scores, metric.key) for metric in BENCHMARK.metrics}


def test_who_knows_passes_all_four_rounds(asked: Episode) -> None:
    result = answered(asked, knows)
    assert result.data["replies"] == ["C.", "B.", "A.", "D."]
    assert values(record(result)) == {"circular": 1.0, "legacy": 1.0, "first": 1.0}
    assert result.cost == {"requests": 1.0}
    shown = show(record(result))
    assert (shown.outcome, shown.title) == ("right in all rounds", HARMFUL)


def test_who_always_says_the_same_letter_is_right_in_one_round_at_most(asked: Episode) -> None:
    result = answered(asked, lambda _: "C")
    assert result.data["replies"] == ["C", "C"]
    assert values(record(result)) == {"circular": 0.0, "legacy": 0.0, "first": 1.0}
    assert show(record(result)).outcome == "wrong in round 2"


def test_words_that_begin_with_the_right_letter_get_no_credit_but_from_the_published_parse(
    asked: Episode,
) -> None:
    result = answered(asked, chatters)
    assert len(result.data["replies"]) == 4, "the published parse has to see every round"
    assert values(record(result)) == {"circular": 0.0, "legacy": 1.0, "first": 0.0}
    assert score([record(result)], Options()).notes == [
        "signs, made: 1 of 1 first replies choose no letter: wrong"
    ]


def test_asking_ends_when_no_way_of_reading_can_be_right_any_more(asked: Episode) -> None:
    assert len(answered(asked, lambda _: "").data["replies"]) == 1
    assert len(answered(asked, lambda _: "Both A and D").data["replies"]) == 1


def test_no_usable_reply_is_a_wrong_one_and_said_to_be_missing(asked: Episode) -> None:
    def refuses(options: Sequence[str]) -> str:
        if options[0] == WISHES[0]:
            raise MindFailed("it refused")
        return knows(options)

    result = answered(asked, refuses)
    assert str(result.failure) == "it refused"
    assert result.data["replies"] == ["C.", "B.", ""]
    assert values(record(result)) == {"circular": 0.0, "legacy": 0.0, "first": 1.0}
    assert show(record(result)).outcome == "wrong in round 3"


def test_an_answer_weighs_one_over_k_for_each_type(asked: Episode) -> None:
    right, wrong = record(answered(asked, knows)), record(answered(asked, lambda _: "A"), "b")
    wrong = Record(wrong.id, "b", "made", "signs", "done", {**wrong.data, "types": ["store"]})
    # bakery: 1; store: (1/2) / (1/2 + 1)
    assert value(score([right, wrong], Options()), "circular") == pytest.approx((1 + 1 / 3) / 2)


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("B\n\nThe photo shows loaves in a window.", "B"),
        ("**B**\nBread.", "B"),
        ("Answer: C\nBecause.", "C"),
        ("A. to buy bread\nB. to swim\nC. to read\nD. to pay", None),
        ("A\nB", None),
        ("A: bread\n(B): novels", None),
        ("B\nA photo of bread.", "B"),
    ],
)
def test_a_letter_on_a_line_of_its_own_is_chosen_and_a_list_of_letters_is_not(
    reply: str, letter: str | None
) -> None:
    assert strict_letter(reply) == letter


class Reads:
    def __init__(self, *labels: str) -> None:
        self._labels = labels

    look_scores = LookScores(0.5, 0.5)

    def detect(self, views: Any, labels: Any) -> list[list[Detection]]:
        return [[Detection(label, 0.9 - i / 10, (0, 0, 9, 9)) for i, label in enumerate(self._labels)]]


@pytest.mark.parametrize(("labels", "said"), [(("bakery", "bank"), "B"), ((), "I can read no sign.")])
def test_the_baseline_takes_the_wish_whose_words_tell_of_the_sort_on_the_sign(
    labels: tuple[str, ...], said: str
) -> None:
    class Signs(Resources):
        def detector(self, name: str, city: str = "") -> Any:
            return Reads(*labels)

    ask, cost = open_answerer("signs", Signs())(np.zeros((48, 64, 3), np.uint8))
    wishes = ["I want to swim", "I want fresh bread from a bakery", "I want a loan", "I want novels"]
    assert ask("?", wishes) == said
    assert cost() == {}
    assert ask("?", ["I want nothing"] * 4) == (said if not labels else "I cannot tell.")


def test_a_describer_is_asked_with_the_question_and_the_options() -> None:
    asked: list[str] = []

    class Describes(Resources):
        def describer(self, name: str) -> Any:
            class Describer:
                def describe(self, views: Any, question: str = "") -> list[str]:
                    asked.append(question)
                    return ["D"]

            return Describer()

    ask, _ = open_answerer("hf-describer", Describes())(np.zeros((48, 64, 3), np.uint8))
    assert ask("Who would?", WISHES) == "D"
    (prompt,) = asked
    assert all(f"{letter}. {wish}" in prompt for letter, wish in zip(LETTERS, WISHES, strict=True))
    with pytest.raises(
        UnknownName, match=r"unknown answerer 'clip-bigg': choose one of: PROVIDER:MODEL, blip2"
    ):
        open_answerer("clip-bigg", Describes())


def test_a_reply_without_a_letter_means_what_the_parser_says(asked: Episode) -> None:
    class Parser:
        def __init__(self) -> None:
            self.asked: list[str] = []
            self.ledger = Ledger()

        def ask(self, prompt: Any, *, question: str, options: list[str], reply: str) -> MappedLetter:
            self.asked.append(reply)
            return MappedLetter(letter="ABCD"[options.index(right)])

    right = asked.payload["options"][asked.payload["answer"]]
    parser = Parser()

    def answerer(image: Any) -> Any:
        del image
        return (lambda *_: f"It is for one: {right}"), dict

    result = run(asked, QuestionsWorld({asked.model: answerer}, lambda: parser))  # type: ignore[arg-type]
    assert len(parser.asked) == 4
    assert values(record(result)) == {"circular": 0.0, "legacy": 1.0, "first": 0.0}
    without = run(asked, QuestionsWorld({asked.model: answerer}))
    assert values(record(without))["legacy"] == 0.0


@pytest.mark.slow
def test_over_http_a_chat_model_sees_the_photo_and_is_charged_for(
    asked: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with ChatServer([text("C"), text("B) it is"), text("B")]) as server:
        resources = Resources(Terms(base_url=server.url))
        answerer = open_answerer("openai:gpt-5-mini", resources)
        result = run(asked, QuestionsWorld({"signs": answerer}))
        sent = [json.dumps(request.body) for request in server.requests]
    assert result.data["replies"] == ["C", "B) it is", "B"]
    assert values(record(result)) == {"circular": 0.0, "legacy": 0.0, "first": 1.0}
    assert result.cost["requests"] == 3
    assert result.cost["input_tokens"] == 300
    assert all("data:image/" in body and WISHES[0] in body for body in sent)
    assert not any("__import__" in body for body in sent), "the name of the place is never told"


def test_a_data_set_without_questions_is_named(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "made", places=[place_row("a", "bar", 0, image=True)])
    with pytest.raises(BadInput, match=r"contains no questions: run `virl collect vqa --city made --out"):
        episodes(options_of(folder), Resources())


@pytest.mark.slow
def test_from_a_data_set_to_the_results(tmp_path: Path, virlton_data: Path) -> None:
    run_benchmark(
        "benchmarks.place_vqa.definition:BENCHMARK",
        Options(data=str(virlton_data)),
        tmp_path,
        Console(quiet=True),
        engine=Engine("threads", workers=2),
        part=Part(limit=8),
    )
    rows = json.loads((tmp_path / "results.json").read_text())["rows"]
    (row,) = (row for row in rows if row["city"] == "virlton")
    assert row["episodes"]["failed"] == 0
    assert row["episodes"]["done"] >= 5
    assert 0 < row["values"]["first"][0] <= 1
    assert set(row["values"]) == {metric.key for metric in BENCHMARK.metrics}
    assert "V-IRL, table 4" in (tmp_path / "report.html").read_text()
