"""Replies that stream: the same as others, and told while they come."""

from io import StringIO

import pytest
from rich.console import Console
from strict_models import ModelServer, calls, fault, says
from test_conversations_with_every_api import HELLO, say
from test_strict_apis import KEY_VARIABLES, LUNCH, PROVIDERS, TYPE, mind_at

from virl.agent.terminal import Story, Thinking
from virl.errors import MindFailed


class Heard:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.pieces = 0
        self.last = ""

    def begin(self, name: str) -> None:
        self.events.append(f"asked {name}")

    def add(self, letters: int, last: str) -> None:
        self.pieces += 1
        self.last = last

    def waits(self, name: str, seconds: float, why: str) -> None:
        self.events.append(f"waits {seconds}")

    def end(self) -> None:
        self.events.append("done")


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEY_VARIABLES:
        monkeypatch.setenv(name, f"marker-of-{name.lower()}-0123456789")


@pytest.mark.slow
@PROVIDERS
def test_a_reply_that_streams_is_the_same_and_is_told_while_it_comes(provider: str) -> None:
    script = [fault(provider, 503, "busy"), says({"place_type": "bar"}), calls(("wave", {}))]
    with ModelServer(provider, script) as server:
        mind, heard = mind_at(server), Heard()
        mind.tell(heard)
        assert mind.ask(TYPE, **LUNCH).place_type == "bar"
        assert say(mind, HELLO).tool_calls[0]["name"] == "wave"
        assert server.refusals == []
        assert server.requests[1].body.get("stream") or "streamGenerateContent" in server.requests[1].path
    name = mind.name
    assert heard.events == [
        f"asked {name}",
        "done",
        "waits 0.5",
        f"asked {name}",
        "done",
        f"asked {name}",
        "done",
    ]
    assert heard.pieces > 3
    [first, second] = mind.ledger.take_asked()
    assert (first.input_tokens, first.output_tokens, second.output_tokens) == (100, 10, 10)


@pytest.mark.slow
@PROVIDERS
def test_a_stream_that_is_cut_off_ends_in_one_line(provider: str) -> None:
    with ModelServer(provider, [says('{"place_type": "b', end="length")]) as server:
        mind = mind_at(server)
        mind.tell(Heard())
        with pytest.raises(MindFailed, match="max_tokens=N"):
            mind.ask(TYPE, **LUNCH)
        assert len(server.requests) == 1


def test_the_terminal_shows_name_seconds_and_tokens() -> None:
    thinking = Thinking()
    assert thinking.to_text() == ""
    thinking.begin("openai:gpt-5-mini")
    assert thinking.to_text() == "openai:gpt-5-mini thinks, 0 s"
    for _ in range(3):
        thinking.add(8, "I go to the left")
    assert thinking.to_text().startswith("openai:gpt-5-mini thinks, 0 s, about 6 tokens: ")
    assert thinking.to_text().endswith("I go to the left")
    thinking.waits("openai:gpt-5-mini", 8.0, "503 - busy")
    assert "is tried again in 8 s (503 - busy)" in thinking.to_text()
    thinking.end()
    assert thinking.to_text() == ""


def test_the_bar_has_it_while_it_lasts() -> None:
    written = StringIO()
    with Story(Console(file=written, force_terminal=True, width=160)) as story:
        story.thinking.begin("openai:gpt-5-mini")
        story._progress.refresh()
    assert "openai:gpt-5-mini thinks, 0 s" in written.getvalue()
