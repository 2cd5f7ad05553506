import json

import pytest
from full_disk import full_disk
from hypothesis import given
from hypothesis import strategies as st

from virl.budget import Budget, Paid, account, paid_for
from virl.errors import BadInput, BudgetExceeded, CannotWrite


def test_a_book_tells_a_later_process_what_was_spent(tmp_path):
    book = tmp_path / "run" / "spending.jsonl"
    first = Budget(0.10, book=book)
    first.hold(0.007, "static_image")
    first.hold(0.035, "places_nearby")
    first.settle(0.035, 0.0, "places_nearby")
    again = Budget(0.10, book=book)
    assert again.spent_usd == first.spent_usd == 0.007
    assert json.loads(book.read_text().splitlines()[0]) == {
        "micro_usd": 7000,
        "request": "static_image",
        "sent": 1,
    }


def test_a_line_that_a_kill_cut_off_was_not_sent_and_does_not_count(tmp_path):
    book = tmp_path / "spending.jsonl"
    Budget(book=book).hold(0.007, "static_image")
    with book.open("a") as file:
        file.write('{"micro_usd": 70')
    resumed = Budget(book=book)
    assert resumed.spent_usd == 0.007
    resumed.hold(0.005, "geocode")
    assert Budget(book=book).spent_usd == 0.012
    assert book.read_text().count("\n") == 2


def test_a_book_with_a_line_that_is_no_sum_is_named_and_left_alone(tmp_path):
    book = tmp_path / "spending.jsonl"
    book.write_text('{"micro_usd": 7000, "request": "a"}\nnonsense\n')
    with pytest.raises(BadInput, match=r"spending.jsonl, line 2"):
        Budget(book=book)
    assert "nonsense" in book.read_text()


def test_nothing_is_written_while_nothing_is_spent(tmp_path):
    budget = Budget(1.0, book=tmp_path / "run" / "spending.jsonl")
    budget.hold(0.0, "static_metadata")
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.tuples(st.floats(0, 0.02), st.floats(0, 0.02)), max_size=30), st.floats(0, 0.2))
def test_what_is_held_never_passes_the_limit(requests, limit):
    budget = Budget(limit)
    for held, _ in requests:
        before = budget.spent_usd
        try:
            budget.hold(held, "request")
        except BudgetExceeded:
            assert before + held > limit - 2e-6
        else:
            assert budget.spent_usd <= limit + 1e-6


@given(st.lists(st.tuples(st.floats(0, 0.02), st.floats(0, 0.02)), max_size=30))
def test_what_was_settled_is_what_was_spent(requests):
    budget = Budget()
    for held, true in requests:
        budget.hold(held, "request")
        budget.settle(held, true, "request")
    assert budget.spent_usd == pytest.approx(sum(true for _, true in requests), abs=2e-6 * len(requests))


def test_what_a_full_disk_refused_is_not_held_and_the_book_stays_right(tmp_path):
    book = tmp_path / "spending.jsonl"
    budget = Budget(0.05, book=book)
    budget.hold(0.007, "static_image")
    whole = book.read_bytes()
    for room in (0, 10):
        with (
            full_disk(len(whole) + room),
            pytest.raises(CannotWrite, match=r"spending\.jsonl: File"),
        ):
            budget.hold(0.032, "places_nearby")
        with full_disk(len(whole) + room), pytest.raises(CannotWrite, match="--resume"):
            budget.settle(0.007, 0.0, "static_image")
    assert budget.spent_usd == 0.007
    budget.hold(0.032, "places_nearby")
    assert Budget(book=book).spent_usd == budget.spent_usd == 0.039


def test_accounts_are_kept_apart_and_those_below_count(tmp_path):
    book = tmp_path / "spending.jsonl"
    first = Budget(book=book)
    first.hold(0.007, "static_image")
    with account("episodes/a") as own:
        first.hold(0.002, "geocode")
        with account("run") as inner:
            first.hold(0.0100000015, "openai:m", "model")
            first.settle(0.0100000015, 0.00300015, "openai:m", "model", input_tokens=20, output_tokens=3)
    for budget in (first, Budget(book=book)):
        assert inner == "episodes/a/run"
        assert budget.paid(inner) == Paid(0.00300015, {}, 0.0, 1, 20, 3)
        assert budget.paid(own) == Paid(0.00500015, {"geocode": 1}, 0.002, 1, 20, 3)
        assert budget.paid("episodes/ab") == Paid()
        assert budget.paid().usd == budget.spent_usd == 0.01200015
    assert paid_for(tmp_path / "episodes" / "a") == first.paid(own)


def test_a_book_of_an_earlier_version_is_read(tmp_path):
    book = tmp_path / "spending.jsonl"
    book.write_text('{"micro_usd": 7000, "request": "a"}\n{"micro_usd": -7000, "request": "a"}\n')
    assert Budget(book=book).paid() == Paid()


def test_free_requests_are_written_once_there_is_a_run(tmp_path):
    book = tmp_path / "run" / "spending.jsonl"
    budget = Budget(book=book)
    budget.hold(0.0, "tiles_metadata")
    assert not book.parent.exists()
    book.parent.mkdir()
    budget.hold(0.0, "tiles_metadata")
    assert Budget(book=book).paid().sent == budget.paid().sent == {"tiles_metadata": 2}
