from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, cast

from virl.platform.city.streetview import Pose
from virl.platform.movers.base import Choice, Step

NOWHERE = cast("Any", None)


def test_what_comes_next_is_asked_once() -> None:
    asked: list[int] = []
    step = Step(0, Pose("a", 0.0), NOWHERE, 0.0, lambda: asked.append(1) or Choice(None, "done"))
    assert step.choice is step.choice
    assert asked == [1]


def test_walks_side_by_side_do_not_wait_for_each_other() -> None:
    together = Barrier(2, timeout=10)

    def choose() -> Choice:
        together.wait()
        return Choice(None, "both are here")

    steps = [Step(0, Pose(name, 0.0), NOWHERE, 0.0, choose) for name in "ab"]
    with ThreadPoolExecutor(2) as pool:
        reasons = list(pool.map(lambda step: step.choice.reason, steps))
    assert reasons == ["both are here"] * 2
