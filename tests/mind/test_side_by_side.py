"""Minds for work that runs side by side: a limit of requests for all, a ledger for each."""

from pathlib import Path

import pytest
from langchain_core.rate_limiters import BaseRateLimiter
from openai_server import ChatServer, fault, text

from virl.mind.open import open_mind
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text

INPUTS = {"instruction": "Walk to the corner.", "refused": 0}


class Counting(BaseRateLimiter):
    """Lets everything through and counts it."""

    def __init__(self) -> None:
        self.acquired = 0

    def acquire(self, *, blocking: bool = True) -> bool:
        self.acquired += 1
        return True

    async def aacquire(self, *, blocking: bool = True) -> bool:
        raise AssertionError("requests are not made in an event loop")


@pytest.mark.slow
def test_every_request_that_is_sent_waits_for_the_limiter(tmp_path: Path) -> None:
    limiter = Counting()
    prompt = load_prompt("movement/velma-landmarks", Text)
    with ChatServer([fault(500), text("1. a corner")]) as server:
        mind = open_mind("openai:test", cache_dir=tmp_path, base_url=server.url, limiter=limiter)
        first = mind.ask(prompt, **INPUTS)
        assert limiter.acquired == len(server.requests) == 2
        assert mind.ask(prompt, **INPUTS) == first
        assert limiter.acquired == len(server.requests) == 2


def test_a_mind_apart_has_a_ledger_of_its_own_and_the_same_replies(tmp_path: Path) -> None:
    prompt = load_prompt("movement/velma-landmarks", Text)
    with ChatServer([text("1. a corner")]) as server:
        mind = open_mind("openai:test", cache_dir=tmp_path, base_url=server.url)
        other = mind.with_own_ledger()
        other.ask(prompt, **INPUTS)
        assert mind.ledger.take_asked() == ()
        mind.ask(prompt, **INPUTS)
        assert [exchange.cached for exchange in mind.ledger.take_asked()] == [True]
        assert [exchange.cached for exchange in other.ledger.take_asked()] == [False]
        assert len(server.requests) == 1


def test_rules_apart_have_a_ledger_of_their_own() -> None:
    rules = open_mind("rules", cache_dir=None)
    other = rules.with_own_ledger()
    other.ask(load_prompt("movement/velma-landmarks", Text), **INPUTS)
    assert rules.ledger.take_asked() == ()
    assert len(other.ledger.take_asked()) == 1
