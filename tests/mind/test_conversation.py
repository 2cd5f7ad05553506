"""Conversations held with a mind's model: paid, kept and written down as its other questions."""

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.ai import InvalidToolCall
from langchain_core.messages.tool import tool_call
from openai_server import ChatServer, fault, text, tool_calls
from pydantic import ValidationError

from virl.errors import BadInput, BudgetExceeded, MindFailed, ModelUnavailable
from virl.mind.cache import StoredMessage
from virl.mind.llm import LLMMind
from virl.mind.open import open_mind
from virl.money.ledger import Ledger

HELLO = [HumanMessage(content="Hello.")]
WAVE = {"type": "function", "function": {"name": "wave", "parameters": {"type": "object", "properties": {}}}}
FRAME: dict[str, object] = {"system": "Be brief.", "tools": [WAVE]}


def mind_at(server: ChatServer, **options: object) -> LLMMind:
    mind = open_mind(
        "openai:gpt-5-mini",
        **({"cache_dir": None, "base_url": server.url} | options),  # type: ignore[arg-type]
    )
    assert isinstance(mind, LLMMind)
    return mind


def say(mind: LLMMind, messages: list[BaseMessage], frame: dict[str, object] | None = None) -> AIMessage:
    model = mind.chat_model.bind_tools([WAVE])
    return mind.converse("talk", model.invoke, messages, frame or FRAME)


@pytest.mark.slow
def test_what_the_model_says_is_paid_and_written_down() -> None:
    with ChatServer([fault(500), tool_calls(("wave", {}), said="Hi.", input_tokens=1000)]) as server:
        mind = mind_at(server)
        said = say(mind, HELLO)
    assert (said.text, said.tool_calls[0]["name"]) == ("Hi.", "wave")
    [exchange] = mind.ledger.take_asked()
    assert (exchange.prompt, exchange.attempts, exchange.input_tokens) == ("talk", 2, 1000)
    assert exchange.reply == {"text": "Hi.", "calls": [{"name": "wave", "args": {}}]}
    assert exchange.usd == pytest.approx((1000 * 0.25 + 10 * 2) / 1e6)


def test_the_same_conversation_is_paid_once_and_another_is_not_taken_for_it(tmp_path: Path) -> None:
    with ChatServer([tool_calls(("wave", {"hand": "left"}))]) as server:
        mind = mind_at(server, cache_dir=tmp_path)
        first, again = say(mind, HELLO), say(mind, HELLO)
        assert len(server.requests) == 1
        assert first.tool_calls == again.tool_calls
        assert [exchange.cached for exchange in mind.ledger.take_asked()] == [False, True]
        say(mind, [HumanMessage(content="Goodbye.")])
        say(mind, HELLO, {"system": "Be long.", "tools": []})
        say(mind, [*HELLO, first, HumanMessage(content="Again.")])
        assert len(server.requests) == 4


def test_letters_beside_the_messages_count_towards_what_is_held() -> None:
    with ChatServer([text("Hi.")]) as server:
        mind = mind_at(server, ledger=Ledger(0.036))  # 16,384 tokens of a reply cost 0.0328
        say(mind, HELLO)
        with pytest.raises(BudgetExceeded):
            say(mind, HELLO, {"tools": ["x" * 60_000]})
        assert len(server.requests) == 1


def test_what_cannot_be_said_is_one_line_and_written_down() -> None:
    with ChatServer([text("", finish="length"), fault(401, "no")]) as server:
        mind = mind_at(server)
        with pytest.raises(MindFailed, match="ran into its token limit"):
            say(mind, HELLO)
        with pytest.raises(ModelUnavailable, match="does not accept the key"):
            say(mind, HELLO)
    assert ["error" in exchange.reply for exchange in mind.ledger.take_asked()] == [True, True]


def test_a_message_is_kept_whole_and_broken_letters_do_no_harm() -> None:
    message = AIMessage(
        content=[{"type": "text", "text": "half \ud83d"}],
        tool_calls=[tool_call(name="wave", args={"why": "\udc00"}, id="1")],
        invalid_tool_calls=[
            InvalidToolCall(type="invalid_tool_call", name="wave", args="{", id="2", error=None)
        ],
        additional_kwargs={"refusal": None},
    )
    kept = StoredMessage.model_validate_json(StoredMessage.of(message).model_dump_json()).read()
    assert kept.text == "half \N{REPLACEMENT CHARACTER}"
    assert kept.tool_calls[0]["args"] == {"why": "\N{REPLACEMENT CHARACTER}"}
    assert kept.invalid_tool_calls == message.invalid_tool_calls
    human = {"type": "human", "data": {"content": "x", "type": "human"}}
    with pytest.raises(ValidationError, match="no message of a model"):
        StoredMessage.model_validate({"message": human}).read()


def test_a_completion_model_holds_no_conversation() -> None:
    with ChatServer() as server:
        mind = open_mind("openai-completion:test", cache_dir=None, base_url=server.url)
        assert isinstance(mind, LLMMind)
        with pytest.raises(BadInput, match="cannot call tools"):
            _ = mind.chat_model
