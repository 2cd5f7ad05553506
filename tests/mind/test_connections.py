"""A model's server that redirects gets no prompt sent on; one whose reply trickles in is given up in time."""

import resource
import time
import zlib
from contextlib import suppress
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest
from loopback import LoopbackServer, Quiet
from openai_server import Behaviour, ChatServer

from virl.errors import ModelUnavailable, VirlError
from virl.mind.open import ModelHost, _model, open_mind
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.mind.settings import MindSettings

MODELS = (
    "openai:gpt-5-mini",
    "openai-completion:m",
    "anthropic:claude-of-a-test",
    "google_genai:gemini-2.5-flash",
    "ollama:m",
)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "a-key-of-more-than-16-letters")


def ask(name: str, url: str, timeout: float) -> float:
    """Put a question to a model, which fails, and return the seconds that it took."""
    host = ModelHost(name.partition(":")[0], url)
    model = _model(name, host, MindSettings(timeout=timeout))
    start = time.monotonic()
    with pytest.raises(Exception) as caught:  # noqa: PT011  each provider raises what it likes
        model.invoke("Where is the market?")
    assert not isinstance(caught.value, VirlError | Warning), repr(caught.value)

    return time.monotonic() - start


@pytest.mark.parametrize("name", MODELS)
def test_no_prompt_follows_a_redirect(name: str) -> None:
    with ChatServer([Behaviour()]) as other:
        away = Behaviour(status=307, headers={"location": f"{other.url}/elsewhere"})
        with ChatServer([away]) as server:
            ask(name, server.url, 5.0)
            assert len(server.requests) == 1
        assert not other.requests


class Trickle(Quiet, BaseHTTPRequestHandler):
    """Sends the beginning of a reply, and then a letter every 20 ms."""

    begun = b""

    def do_POST(self) -> None:
        with suppress(OSError):
            self.wfile.write(self.begun)
            while True:
                self.wfile.write(b"a")
                time.sleep(0.02)


class TrickleBody(Trickle):
    begun = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n"


class Flood(Quiet, BaseHTTPRequestHandler):
    """Sends a reply without end."""

    def do_POST(self) -> None:
        with suppress(OSError):
            self.wfile.write(TrickleBody.begun.replace(b"content-length: 99999", b"connection: close"))
            while True:
                self.wfile.write(b" " * 1_000_000)


@cache
def packed_blanks() -> bytes:
    packer = zlib.compressobj(wbits=31)
    return b"".join([*(packer.compress(b" " * 1_000_000) for _ in range(300)), packer.flush()])


class Bomb(Quiet, BaseHTTPRequestHandler):
    """Sends 300 MB of blanks, packed."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.asked.append(self.headers["accept-encoding"])
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n")
            self.wfile.write(packed_blanks())


class TrickleHead(Trickle):
    begun = b"HTTP/1.1 200 OK\r\nx-a: "


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("handler", [TrickleHead, TrickleBody])
def test_a_reply_that_trickles_in_is_given_up(name: str, handler: type[Trickle]) -> None:
    with LoopbackServer(handler) as server:
        assert ask(name, server.url, 0.1) < 3.0


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("handler", [TrickleHead, TrickleBody])
def test_a_question_has_a_limit_of_its_own(name: str, handler: type[Trickle]) -> None:
    prompt = load_prompt("vqa/answer", Text)
    with LoopbackServer(handler) as server:
        asked = f"{name}?timeout=600&question_timeout=0.2"
        mind = open_mind(asked, cache_dir=None, base_url=server.url)
        with pytest.raises(ModelUnavailable, match=r"failed once: no reply within 0\.2 s") as caught:
            mind.ask(prompt, question="Where is the market?", options=["Here.", "There."])
    assert "question_timeout=N" in str(caught.value)
    [exchange] = mind.ledger.take_asked()
    assert exchange.attempts == 1
    assert exchange.input_tokens > 0, "it may be billed"


@pytest.mark.parametrize("name", MODELS)
def test_a_reply_without_end_is_not_taken_into_memory(name: str) -> None:
    with LoopbackServer(Flood) as server:
        assert ask(name, server.url, 60.0) < 60.0


@pytest.mark.parametrize("name", MODELS)
def test_a_packed_reply_is_not_unpacked_into_memory(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with LoopbackServer(Bomb) as server:
        ask(name, server.url, 60.0)
    assert set(Bomb.asked) == {"identity"}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB
