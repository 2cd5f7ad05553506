"""Plain text from chat and completion models, over real HTTP."""

import logging
import traceback

import pytest
from completions import completion
from openai_server import ChatServer, fault, text

from virl.errors import BadInput, MindFailed, ModelUnavailable
from virl.mind.base import Prompt
from virl.mind.open import open_mind
from virl.mind.prompt import load_prompt, read_prompt
from virl.mind.replies import Text
from virl.routines.explore.rules import PlaceType

KEY = "sk-test-0123456789abcdef"
NEXT_WORD = Prompt("next-word", frozenset({"so_far"}), Text, "Go on:\n{{ so_far }}\n2.\n", stop=("\n", "3."))
CHAT, COMPLETION = "openai:some-model", "openai-completion:some-model"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    for name in ("VIRL_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    monkeypatch.setattr("virl.mind.llm.FIRST_WAIT_S", 0.01)


SAY = {CHAT: text, COMPLETION: completion}


def mind_at(server, spec, folder=None):
    return open_mind(spec, cache_dir=folder, base_url=server.url)


@pytest.mark.parametrize("spec", SAY)
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (" forward", " forward"),
        ("", ""),
        (" forward\n3. left", " forward"),
        ("left 3. right", "left "),
        ("\n\nleft\n3.", "\n\nleft"),
        ('{"not": "parsed"}', '{"not": "parsed"}'),
        ("\N{PILE OF POO} \x00\x07", "\N{PILE OF POO} \x00\x07"),
        ("half a pair \ud83d", "half a pair \ufffd"),
    ],
)
def test_the_text_comes_back_as_written_up_to_a_stop_sequence(spec, written, expected):
    with ChatServer([SAY[spec](written)]) as server:
        mind = mind_at(server, spec)
        assert mind.ask(NEXT_WORD, so_far="1. forward") == Text(text=expected)
        [request] = server.requests
    assert request.body["stop"] == ["\n", "3."]
    assert "response_format" not in request.body
    [exchange] = mind.ledger.take_asked()
    assert (exchange.input_tokens, exchange.output_tokens, exchange.attempts) == (100, 10, 1)
    assert exchange.reply == {"text": expected}


def test_a_completion_model_is_sent_the_text_itself():
    with ChatServer([completion(" forward")]) as server:
        mind_at(server, COMPLETION).ask(NEXT_WORD, so_far="1. left")
        [request] = server.requests
    assert request.path == "/v1/completions"
    assert request.body["prompt"] in ("Go on:\n1. left\n2.", ["Go on:\n1. left\n2."])
    assert (request.body["model"], request.body["temperature"]) == ("some-model", 0.0)


def test_models_that_reason_are_sent_no_stop_sequence():
    with ChatServer([text("forward\nor left")]) as server:
        assert mind_at(server, "openai:gpt-5-mini").ask(NEXT_WORD, so_far="").text == "forward"
        assert "stop" not in server.requests[0].body


@pytest.mark.parametrize("spec", SAY)
def test_a_text_is_never_paid_for_twice(spec, tmp_path):
    with ChatServer([SAY[spec]("forward"), SAY[spec]("left")]) as server:
        for _ in range(2):
            mind = mind_at(server, spec, tmp_path)
            assert mind.ask(NEXT_WORD, so_far="x").text == "forward"
        assert len(server.requests) == 1
        assert mind.ledger.take_asked()[0].cached
        shorter = Prompt(NEXT_WORD.name, NEXT_WORD.inputs, Text, NEXT_WORD.body)
        assert mind.ask(shorter, so_far="x").text == "left"


@pytest.mark.slow
@pytest.mark.parametrize("spec", SAY)
def test_a_failing_server_is_tried_again_and_then_named(spec):
    with ChatServer([fault(503), fault(429), SAY[spec]("forward"), fault(500, "melted")]) as server:
        mind = mind_at(server, spec)
        assert mind.ask(NEXT_WORD, so_far="x").text == "forward"
        with pytest.raises(ModelUnavailable, match=r"failed 8 times.*melted"):
            mind.ask(NEXT_WORD, so_far="x")
    with pytest.raises(ModelUnavailable, match="failed 3 times"):  # the server is gone
        mind.ask(NEXT_WORD, so_far="x")


@pytest.mark.parametrize("spec", SAY)
def test_a_token_limit_without_a_word_is_a_failure_and_with_one_is_not(spec):
    with ChatServer([SAY[spec]("forw", finish="length"), SAY[spec]("", finish="length")]) as server:
        mind = mind_at(server, spec)
        assert mind.ask(NEXT_WORD, so_far="x").text == "forw"
        with pytest.raises(MindFailed, match="token limit"):
            mind.ask(NEXT_WORD, so_far="x")


@pytest.mark.parametrize("spec", SAY)
def test_the_key_is_in_no_error_log_or_file(spec, tmp_path, caplog, monkeypatch):
    monkeypatch.setenv("VIRL_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with ChatServer([SAY[spec]("forward"), fault(401, f"Incorrect API key provided: {KEY}")]) as server:
        mind = mind_at(server, spec, tmp_path)
        mind.ask(NEXT_WORD, so_far="x")
        with pytest.raises(ModelUnavailable, match="does not accept the key") as caught:
            mind.ask(NEXT_WORD, so_far="y")
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    written = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert "forward" in written
    shown = "".join(traceback.format_exception(caught.value))
    for where in (shown, written, str(mind.ledger.take_asked()), "\n".join(map(str, caplog.messages))):
        assert KEY not in where


def test_a_completion_model_cannot_fill_in_a_form():
    prompt = load_prompt("explore/place-type", PlaceType)
    with ChatServer([completion("{}")]) as server:
        with pytest.raises(BadInput, match="choose a chat model for explore/place-type"):
            mind_at(server, COMPLETION).ask(prompt, intention="eat", place_types=["bar"])
        assert not server.requests


def test_a_completion_model_without_key_or_server_says_so(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelUnavailable, match="set OPENAI_API_KEY"):
        open_mind(COMPLETION, cache_dir=None)
    with ChatServer([completion("yes")]) as server:
        assert mind_at(server, COMPLETION).ask(NEXT_WORD, so_far="x").text == "yes"


def test_prices_of_completion_models_go_by_their_full_name():
    with ChatServer([completion("yes")]) as server:
        mind = mind_at(server, COMPLETION)
        mind.ask(NEXT_WORD, so_far="x")
    assert not mind.is_priced


@pytest.mark.parametrize(
    ("reply", "stop", "words"),
    [
        ("virl.routines.explore.rules:PlaceType", '["x"]', "reply: Text only"),
        ("virl.mind.replies:Text", '[""]', "not empty"),
        ("virl.mind.replies:Text", "x", "stop"),
    ],
)
def test_stop_sequences_belong_to_plain_text(tmp_path, reply, stop, words):
    path = tmp_path / "p.md"
    path.write_text(f"---\nabout: a\ninputs: [x]\nreply: {reply}\nstop: {stop}\n---\n{{{{ x }}}}\n")
    with pytest.raises(BadInput, match=f"line 5: .*{words}"):
        read_prompt(path, "p", PlaceType if "PlaceType" in reply else Text)
