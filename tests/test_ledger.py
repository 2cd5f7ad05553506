import json

import pytest
from full_disk import full_disk
from hypothesis import given
from hypothesis import strategies as st

from virl.errors import BadInput, BudgetExceeded, CannotWrite
from virl.money.book import FREE, Exchange, Paid, Price, Spending
from virl.money.ledger import Ledger, account, paid_for


def usd(dollars: float) -> Price:
    """A price of so many dollars."""
    return Price("sku", 1, dollars * 1e6)


def test_a_book_tells_a_later_process_what_was_spent(tmp_path):
    book = tmp_path / "run" / "spending.jsonl"
    first = Ledger(0.10, book=book)
    first.hold(usd(0.007), "static_image")
    first.hold(usd(0.035), "places_nearby").release()
    again = Ledger(0.10, book=book)
    assert again.spent_usd == first.spent_usd == 0.007
    assert json.loads(book.read_text().splitlines()[0]) == {
        "micro_usd": 7000,
        "request": "static_image",
        "sent": 1,
    }


def test_a_line_that_a_kill_cut_off_was_not_sent_and_does_not_count(tmp_path):
    book = tmp_path / "spending.jsonl"
    Ledger(book=book).hold(usd(0.007), "static_image")
    with book.open("a") as file:
        file.write('{"micro_usd": 70')
    resumed = Ledger(book=book)
    assert resumed.spent_usd == 0.007
    resumed.hold(usd(0.005), "geocode")
    assert Ledger(book=book).spent_usd == 0.012
    assert book.read_text().count("\n") == 2


def test_a_book_that_is_cut_after_any_byte_has_the_whole_sum_or_says_that_it_lacks_one(tmp_path, caplog):
    book = tmp_path / "spending.jsonl"
    whole = Ledger(book=book, run="one")
    whole.hold(usd(0.007), "static_image")
    whole.hold(usd(0.010), "m", "model", input_tokens=30).settle(0.0123456, input_tokens=20)
    data = book.read_bytes()
    sums = [json.loads(line)["micro_usd"] for line in data.splitlines()]
    for end in range(len(data)):
        book.write_bytes(data[:end])
        caplog.clear()
        cut = Ledger(book=book, run="one")
        begun = sum(sums[: len(data[:end].splitlines())]) / 1e6
        assert cut.spent_usd == pytest.approx(begun) or "cut short" in caplog.text
        assert paid_for(tmp_path) == cut.payments()
        cut.catch_up(whole.payments(), run=tmp_path)
        assert caplog.messages or cut.spent_usd == whole.spent_usd
        cut.hold(usd(0.001), "geocode")
        assert Ledger(book=book).spent_usd == cut.spent_usd >= whole.spent_usd + 0.001 - 1e-9


def test_a_book_with_a_line_that_is_no_sum_is_named_and_left_alone(tmp_path):
    book = tmp_path / "spending.jsonl"
    book.write_text('{"micro_usd": 7000, "request": "a"}\nnonsense\n')
    with pytest.raises(BadInput, match=r"spending.jsonl, line 2"):
        Ledger(book=book)
    assert "nonsense" in book.read_text()


def test_nothing_is_written_while_nothing_is_spent(tmp_path):
    ledger = Ledger(1.0, book=tmp_path / "run" / "spending.jsonl")
    ledger.hold(FREE, "static_metadata")
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.tuples(st.floats(0, 0.02), st.floats(0, 0.02)), max_size=30), st.floats(0, 0.2))
def test_what_is_held_never_passes_the_limit(requests, limit):
    ledger = Ledger(limit)
    for held, _ in requests:
        before = ledger.spent_usd
        try:
            ledger.hold(usd(held), "request")
        except BudgetExceeded:
            assert before + held > limit - 2e-6
        else:
            assert ledger.spent_usd <= limit + 1e-6


@given(st.lists(st.tuples(st.floats(0, 0.02), st.floats(0, 0.02)), max_size=30))
def test_what_was_settled_is_what_was_spent(requests):
    ledger = Ledger()
    for held, true in requests:
        ledger.hold(usd(held), "request").settle(true)
    assert ledger.spent_usd == pytest.approx(sum(true for _, true in requests), abs=2e-6 * len(requests))


def test_what_a_full_disk_refused_is_not_held_and_the_book_stays_right(tmp_path):
    book = tmp_path / "spending.jsonl"
    ledger = Ledger(0.05, book=book)
    hold = ledger.hold(usd(0.007), "static_image")
    whole = book.read_bytes()
    for room in (0, 10):
        with (
            full_disk(len(whole) + room),
            pytest.raises(CannotWrite, match=r"spending\.jsonl: File"),
        ):
            ledger.hold(usd(0.032), "places_nearby")
        with full_disk(len(whole) + room), pytest.raises(CannotWrite, match="--resume"):
            hold.release()
    assert ledger.spent_usd == 0.007
    ledger.hold(usd(0.032), "places_nearby")
    assert Ledger(book=book).spent_usd == ledger.spent_usd == 0.039


def test_accounts_are_kept_apart_and_those_below_count(tmp_path):
    book = tmp_path / "spending.jsonl"
    first = Ledger(book=book)
    first.hold(usd(0.007), "static_image")
    with account("episodes/a") as own:
        first.hold(usd(0.002), "geocode")
        with account("run") as inner:
            hold = first.hold(usd(0.0100000015), "openai:m", "model", input_tokens=30)
        hold.settle(0.00300015, input_tokens=20, output_tokens=3)  # in the account that held it
    for ledger in (first, Ledger(book=book)):
        assert inner == "episodes/a/run"
        assert ledger.payments(inner) == Paid(0.00300015, {}, 0.0, 1, 20, 3)
        assert ledger.payments(own) == Paid(0.00500015, {"geocode": 1}, 0.002, 1, 20, 3)
        assert ledger.payments("episodes/ab") == Paid()
        assert ledger.payments().usd == ledger.spent_usd == 0.01200015
    assert paid_for(tmp_path / "episodes" / "a") == first.payments(own)


def test_a_book_of_an_earlier_version_is_read(tmp_path):
    book = tmp_path / "spending.jsonl"
    book.write_text('{"micro_usd": 7000, "request": "a"}\n{"micro_usd": -7000, "request": "a"}\n')
    assert Ledger(book=book).payments() == Paid()


def test_free_requests_are_written_once_there_is_a_run(tmp_path):
    book = tmp_path / "run" / "spending.jsonl"
    ledger = Ledger(book=book)
    ledger.hold(FREE, "tiles_metadata")
    assert not book.parent.exists()
    book.parent.mkdir()
    ledger.hold(FREE, "tiles_metadata")
    assert not book.exists()
    (book.parent / "journal.jsonl").touch()
    ledger.hold(FREE, "tiles_metadata")
    assert Ledger(book=book).payments().sent == ledger.payments().sent == {"tiles_metadata": 3}


def test_an_unknown_price_is_refused_where_there_is_a_limit_and_warned_of_elsewhere(caplog):
    unknown = Price("new-sku", 1, 0, unknown="`skus: new-sku`")
    with pytest.raises(BadInput, match=r"'new-sku' is not known.*set `skus: new-sku`"):
        Ledger(9.0).hold(unknown, "geocode")
    ledger = Ledger()
    ledger.hold(unknown, "geocode")
    assert "set `skus: new-sku`" in caplog.text
    assert ledger.total() == Spending({"geocode": 1}, billed={"new-sku": 1})


def test_a_hold_is_counted_as_sent_and_what_is_billed_as_settled(tmp_path):
    ledger = Ledger(book=tmp_path / "spending.jsonl")
    ledger.hold(Price("a", 2, 4000), "pairs").release()
    ledger.hold(Price("b", 1, 5000), "image").settle(0.003)
    ledger.hold(Price("m", 1, 9000), "openai:m", "model").settle(0.002)
    ledger.count_received("image", 10)
    ledger.count_cached("image")
    taken = ledger.take()
    assert taken == Spending({"pairs": 1, "image": 1}, {"image": 1}, {"b": 1}, 0.003, {"image": 10})
    assert ledger.take() == Spending()
    assert ledger.total() == taken
    assert ledger.payments() == Paid(0.005, {"image": 1, "pairs": 1}, 0.003, 1)


def test_each_account_takes_its_own_requests():
    ledger = Ledger()
    ledger.count_cached("image")
    with account("inner"):
        assert ledger.take() == Spending()
        ledger.hold(FREE, "search")
        assert ledger.take() == Spending({"search": 1}, billed={"free": 1})
    assert ledger.take() == Spending(cached={"image": 1})


def test_questions_are_taken_once_and_kept_apart():
    ledger, one, two = Ledger(), Exchange("a", "rules", {}, {}), Exchange("b", "rules", {}, {})
    apart = ledger.with_own_ledger()
    ledger.add(one)
    with account("inner"):
        apart.add(two)
        assert (apart.take_asked(), apart.take_asked()) == ((two,), ())
    assert (ledger.take_asked(), ledger.take_asked()) == ((one,), ())


def test_a_book_is_brought_up_to_what_a_journal_tells(tmp_path):
    ledger = Ledger(0.010, book=tmp_path / "spending.jsonl")
    ledger.hold(Price("b", 1, 5000), "image")
    told = Paid(0.013, {"image": 2, "search": 1}, 0.011, 3, 40, 5)
    for _ in range(2):
        ledger.catch_up(told)
        assert ledger.payments() == told
    assert Ledger(book=tmp_path / "spending.jsonl").payments() == told
    inner = Paid(0.002, {"image": 1}, 0.002)
    ledger.catch_up(inner, "inner")
    assert (ledger.payments("inner"), ledger.payments().sent["image"]) == (inner, 3)


def test_a_ledger_apart_shares_limit_book_and_counts():
    ledger = Ledger(0.010)
    apart = ledger.with_own_ledger()
    apart.hold(usd(0.007), "listings")
    assert (ledger.spent_usd, ledger.take().usd, apart.take()) == (0.007, 0.007, Spending())
    with pytest.raises(BudgetExceeded):
        ledger.hold(usd(0.007), "image")


def test_a_question_by_way_of_the_ledger_above_is_of_the_run_that_caused_it() -> None:
    above = Ledger()
    apart = above.with_own_ledger()
    above.add(Exchange("before", "m", {}, {}))
    with account("consulted/a"):
        above.add(Exchange("describe", "m", {}, {}))
        apart.add(Exchange("decide", "m", {}, {}))
        assert [one.prompt for one in apart.take_asked()] == ["describe", "decide"]
    assert [one.prompt for one in above.take_asked()] == ["before"]


@pytest.mark.parametrize(
    "line", ['{"micro_usd": 1e300}', '{"micro_usd": 1, "sent": "7"}', '{"micro_usd": 1, "sent": -7}']
)
def test_a_book_with_numbers_that_cannot_be_is_refused_in_one_line(tmp_path, line):
    book = tmp_path / "spending.jsonl"
    book.write_text(f"{line}\n")
    with pytest.raises(BadInput, match="line 1: no sum"):
        Ledger(book=book)


def test_a_book_of_another_run_is_said(tmp_path, caplog):
    book = tmp_path / "spending.jsonl"
    Ledger(1.0, book=book, run="one").hold(Price("sku", 1, 7000), "static_image")
    assert Ledger(1.0, book=book, run="one").spent_usd
    assert not caplog.messages
    assert Ledger(1.0, book=book, run="two").spent_usd
    assert "of another run" in caplog.text
