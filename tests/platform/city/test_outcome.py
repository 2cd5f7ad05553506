"""How walks and runs end: the sentence of each kind, and what a run's coarse status is."""

from pathlib import Path
from typing import get_args

import pytest

from virl.journal.records import CostRecord, Result
from virl.platform.city.outcome import Outcome, OutcomeKind, Status


@pytest.mark.parametrize(
    ("outcome", "sentence", "status"),
    [
        (Outcome("limit", what="steps", limit=40), "the limit of 40 steps is reached", "gave up"),
        (Outcome("blocked"), "no way leads on from here", "gave up"),
        (Outcome("entered", what="Mei's {kitchen}"), "entered Mei's {kitchen}", "entered"),
        (Outcome("entered", "It is quiet.", "Mei's"), "It is quiet.", "entered"),
        (Outcome("found", what="Lantern Books"), "found Lantern Books", "finished"),
        (Outcome("substituted", what="rye"), "took rye in place of what was asked for", "finished"),
        (Outcome("gave up", "the {model} would not go on"), "the {model} would not go on", "gave up"),
        (Outcome("no reply"), "the model gave no usable reply", "gave up"),
        (Outcome("stopped"), "stopped", "stopped"),
    ],
)
def test_the_sentence_is_written_from_the_outcome(outcome: Outcome, sentence: str, status: Status) -> None:
    assert (outcome.sentence, outcome.status) == (sentence, status)


def test_a_detail_is_added_to_the_sentence_and_changes_nothing_else() -> None:
    limit = Outcome("limit", what="steps", limit=5)
    assert limit.with_detail("0 of 1 reached") == Outcome(
        "limit", "the limit of 5 steps is reached; 0 of 1 reached", "steps", 5
    )


def test_every_kind_has_one_of_the_four_statuses_and_a_line_in_the_docs() -> None:
    page = Path("docs/reference/run-folder.md").read_text(encoding="utf-8")
    for kind in (kind for kinds in get_args(OutcomeKind) for kind in get_args(kinds)):
        assert Outcome(kind).status in get_args(Status)
        assert f"| `{kind}` | `{Outcome(kind).status}` |" in page
    assert {Outcome(status).status for status in get_args(Status)} == set(get_args(Status))


def test_a_result_keeps_its_outcome_and_one_of_an_earlier_version_has_none() -> None:
    result = Result(
        agent="hiro",
        city="Virlton",
        status="gave up",
        steps=40,
        distance_m=400.0,
        reason="the limit of 40 steps is reached",
        outcome=Outcome("limit", what="steps", limit=40),
        cost=CostRecord(),
        versions={},
    )
    written = result.model_dump_json()
    assert '"limit":40}' in written
    assert Result.model_validate_json(written) == result
    earlier = Result.model_validate(result.model_dump(exclude={"outcome"}))
    assert (earlier.outcome, earlier.reason) == (None, result.reason)
