"""What episodes share: models through a batcher, minds with one budget and one rate, cities opened once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from openai_server import ChatServer, text

from virl.bench.episode import TryAgain, may_pass
from virl.bench.resources import Resources, Terms, cost_of
from virl.bench.shared_models import Pace
from virl.errors import BudgetExceeded, MindFailed, ModelUnavailable, NoImagery, ProviderError, UnknownName
from virl.mind.base import Mind
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.money.ledger import Ledger
from virl.platform.perception.models import Models

PROMPT = load_prompt("movement/velma-landmarks", Text)
INPUTS = {"instruction": "Walk to the corner.", "refused": 0}


def ask_often(mind: Mind, times: int) -> None:
    for _ in range(times):
        mind.ask(PROMPT, **INPUTS)


@pytest.mark.slow
def test_a_shared_model_answers_as_the_model_itself() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), dtype=np.uint8)
    pairs = [(picture, np.roll(picture, 5, axis=1)) for picture in noise]
    matcher = Resources(Terms(workers=3)).matcher("sift")
    with ThreadPoolExecutor(3) as pool:
        shared = list(pool.map(lambda pair: matcher.match([pair])[0], pairs))
    for mine, theirs in zip(shared, Models().matcher("sift").match(pairs), strict=True):
        assert mine.count > 0
        assert np.array_equal(mine.first, theirs.first)


def test_what_a_model_lacks_is_said_when_it_is_opened() -> None:
    with pytest.raises(UnknownName):
        Resources().detector("no-such")
    with pytest.raises(ModelUnavailable, match="detector owlv2"):
        Resources().detector("owlv2")


def test_a_mind_has_a_ledger_of_its_own_and_all_share_the_budget() -> None:
    with ChatServer([text("1. a corner")]) as server:
        resources = Resources(Terms(base_url=server.url), Ledger(0.0330))
        first, second = (resources.mind("openai:gpt-5-mini") for _ in range(2))
        first.ask(PROMPT, **INPUTS)
        assert cost_of(second.ledger.take_asked()) == dict.fromkeys(
            ("requests", "input_tokens", "output_tokens", "usd"), 0
        )
        cost = cost_of(first.ledger.take_asked())
        assert (cost["requests"], cost["input_tokens"], cost["output_tokens"]) == (1, 100, 10)
        assert cost["usd"] == pytest.approx(resources.ledger.spent_usd, rel=0.1)
        with pytest.raises(BudgetExceeded):
            ask_often(second, 10)


class Clock:
    """A clock that stands still until it is moved; sleeps are written down."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("virl.bench.shared_models.time", clock)
    return clock


def test_all_minds_keep_one_rate(clock: Clock) -> None:
    with ChatServer([text("1. a corner")]) as server:
        resources = Resources(Terms(base_url=server.url), reserve=Pace(20).reserve)
        minds = [resources.mind("openai:test") for _ in range(6)]
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda mind: mind.ask(PROMPT, **INPUTS), minds))
        assert len(server.requests) == 6
    assert sorted(clock.slept) == pytest.approx([turn / 20 for turn in range(6)])


def test_turns_are_evenly_spaced_and_not_saved_up(clock: Clock) -> None:
    pace = Pace(10)
    assert [pace.reserve() for _ in range(3)] == pytest.approx([0.0, 0.1, 0.2])
    clock.now = 0.35
    assert [pace.reserve() for _ in range(2)] == pytest.approx([0.0, 0.1])


@pytest.mark.parametrize(
    ("fault", "passes"),
    [
        (TryAgain("tired"), True),
        (ProviderError("Maps", "busy", "wait", status=429), True),
        (ProviderError("Maps", "broken", "wait", status=503), True),
        (ProviderError("Maps", "unreachable", "wait"), True),
        (ProviderError("Maps", "denied", "get a key", status=403), False),
        (ModelUnavailable("cannot be reached"), True),
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (MindFailed("no valid reply"), False),
        (NoImagery("none"), False),
        (KeyError("bug"), False),
    ],
)
def test_which_failures_may_pass(fault: Exception, passes: bool) -> None:
    assert may_pass(fault) is passes
