import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from virl.bench.shared_models import Batcher


class Doubler:
    """Doubles numbers; refuses 13."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[int]]] = []
        self.running = 0
        self.most_running = 0

    def __call__(self, key: str, items: Sequence[int]) -> list[int]:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.calls.append((key, list(items)))
        time.sleep(0.02)
        self.running -= 1
        if 13 in items:
            raise ValueError("unlucky")
        return [2 * item for item in items]


def ask_at_once(batcher: Batcher[int, int], asked: Sequence[tuple[str, list[int]]]) -> list[object]:
    barrier = threading.Barrier(len(asked))

    def ask(key: str, items: list[int]) -> object:
        barrier.wait()
        try:
            return list(batcher(key, items))
        except ValueError as fault:
            return str(fault)

    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(lambda one: ask(*one), asked))


def test_what_is_asked_at_once_goes_in_few_calls_and_comes_back_in_order() -> None:
    double = Doubler()
    answers = ask_at_once(Batcher(double, most=8, wait_s=0.2), [("a", [n, n + 100]) for n in range(20, 36)])
    assert answers == [[2 * n, 2 * n + 200] for n in range(20, 36)]
    assert len(double.calls) == 4
    assert all(len(items) == 8 for _, items in double.calls)
    assert double.most_running == 1


def test_only_like_requests_go_together() -> None:
    double = Doubler()
    ask_at_once(Batcher(double, most=8, wait_s=0.05), [("ab"[n % 2], [n]) for n in range(8)])
    assert {key: {n % 2 for n in items} for key, items in double.calls} == {"a": {0}, "b": {1}}


def test_a_bad_item_fails_its_own_request_alone() -> None:
    double = Doubler()
    answers = ask_at_once(Batcher(double, most=4, wait_s=0.2), [("a", [n]) for n in (11, 12, 13, 14)])
    assert answers == [[22], [24], "unlucky", [28]]


def test_a_call_that_answers_too_little_is_a_fault() -> None:
    batcher: Batcher[int, int] = Batcher(lambda _, items: list(items)[1:])
    with pytest.raises(ValueError, match="0 results for 1 items"):
        batcher("a", [1])


def test_a_lone_asker_does_not_wait_where_none_can_come() -> None:
    batcher: Batcher[int, int] = Batcher(lambda _, items: list(items), most=1, wait_s=5)
    started = time.perf_counter()
    assert batcher("a", [1, 2, 3]) == [1, 2, 3]
    assert time.perf_counter() - started < 1


def test_results_may_be_rows_of_an_array() -> None:
    batcher = Batcher(lambda _, items: np.array([[item, -item] for item in items], np.float32))
    assert np.stack(batcher("rows", [1, 2])).tolist() == [[1, -1], [2, -2]]
    assert np.stack(batcher("rows", [0])).tolist() == [[0, 0]]
    nothing: Batcher[int, int] = Batcher(lambda _, items: list(items))
    assert list(nothing("rows", [])) == []
