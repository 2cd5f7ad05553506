"""Conversations with tools, kept acceptable for every provider whatever the model says."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import Field, SecretStr
from strict_models import ModelServer, Said, calls, says
from test_strict_apis import KEY_VARIABLES, PROVIDERS, mind_at

from virl.errors import MindFailed
from virl.mind.base import Prompt
from virl.mind.chat.answers import repair_answer
from virl.mind.chat.asking import adapt_model
from virl.mind.chat.question import image_block
from virl.mind.llm import LLMMind
from virl.mind.replies import Reply
from virl.mind.settings import LEFT_OUT, Ability

WAVE = {
    "type": "function",
    "function": {"name": "wave", "description": "Wave.", "parameters": {"type": "object", "properties": {}}},
}
FRAME: dict[str, object] = {"system": "Be brief.", "tools": [WAVE]}
HELLO: list[BaseMessage] = [HumanMessage(content="Hello.")]
GOOD = calls(("wave", {}))


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEY_VARIABLES:
        monkeypatch.setenv(name, f"marker-of-{name.lower()}-0123456789")


def say(mind: LLMMind, messages: list[BaseMessage]) -> AIMessage:
    return mind.converse("talk", mind.chat_model.bind_tools([WAVE]).invoke, messages, FRAME)


def answered(said: AIMessage) -> list[BaseMessage]:
    called = [*said.tool_calls, *said.invalid_tool_calls]
    return [ToolMessage("done", tool_call_id=str(call["id"]), name=call["name"]) for call in called]


BAD = {
    "an illegal name": calls(("fly me!", {})),
    "a name that begins with a digit": calls(("0s", {})),
    "a name that begins with a dash": calls(("-wave", {})),
    "an unknown name": calls(("fly", {})),
    "repeated ids": calls(("wave", {}), ("wave", {}), ids=("call_1", "call_1")),
    "illegal ids": calls(("wave", {}), ids=("call 1: " + "x" * 60,)),
    "arguments that are no JSON": calls(("wave", '{"hand": "le')),
    "a number that JSON lacks": calls(("wave", {"hand": inf})),
}


@pytest.mark.slow
@PROVIDERS
@pytest.mark.parametrize("bad", BAD)
def test_what_a_model_said_can_be_sent_back(provider: str, bad: str) -> None:
    with ModelServer(provider, [BAD[bad], GOOD, GOOD]) as server:
        mind = mind_at(server)
        said = say(mind, HELLO)
        ids = [call["id"] for call in [*said.tool_calls, *said.invalid_tool_calls]]
        assert len(set(ids)) == len(ids)
        again = say(mind, [*HELLO, said, *answered(said)])
        say(mind, [*HELLO, said, *answered(said), again, *answered(again)])
        assert server.refusals == []


def test_ids_that_a_server_counts_anew_in_each_turn_are_made_unique() -> None:
    turn = calls(("wave", {}), ids=("call_0",))
    with ModelServer("openai", [turn]) as server:
        mind = mind_at(server)
        first = say(mind, HELLO)
        second = say(mind, [*HELLO, first, *answered(first)])
    assert first.tool_calls[0]["id"] != second.tool_calls[0]["id"]


REFUSED: dict[Ability, str] = {
    "system": "Developer instruction is not enabled for models/test",
    "order": "Unexpected role 'user' after role 'tool'",
    "parallel_calls": "This model only supports single tool-calls at once!",
}


def plain_mind(server: ModelServer) -> LLMMind:
    """A model of LangChain's own class, as of a provider that virl knows nothing of."""
    chat = ChatOpenAI(model="test", base_url=server.url, api_key=SecretStr("k"), max_retries=0)
    return LLMMind(adapt_model(chat), "mistralai:test")


@PROVIDERS
@pytest.mark.parametrize("is_known", [True, False])
def test_forms_of_a_conversation_that_a_server_refuses_are_left_out(provider: str, is_known: bool) -> None:
    if not is_known and provider != "openai":
        return
    with ModelServer(provider, [calls(("wave", {}), ("wave", {}), text="So.")], refuses=REFUSED) as server:
        mind = mind_at(server) if is_known else plain_mind(server)
        bound = mind.chat_model.bind_tools([WAVE])

        def ask(messages: list[BaseMessage]) -> AIMessage:
            return bound.invoke([SystemMessage("Be brief."), *messages])

        said = mind.converse("talk", ask, HELLO, FRAME)
        heard = [*HELLO, said, *answered(said), HumanMessage(content="Go on."), HumanMessage(content="Do.")]
        mind.converse("talk", ask, heard, FRAME)
        assert (len(server.requests), server.refusals) == (2, list(REFUSED.values()))
        remarks = "; ".join(one.remark for one in mind.ledger.take_asked())
        assert all(LEFT_OUT[ability] in remarks for ability in REFUSED)


UNUSABLE = {
    "nothing": Said(),
    "a refusal": Said(end="refused"),
    "an unknown tool": calls(("fly", {})),
    "an illegal name": calls(("fly me!", {})),
}


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google_genai"])
@pytest.mark.parametrize("unusable", UNUSABLE)
def test_unusable_turns_are_kept_for_no_later_run(provider: str, unusable: str, tmp_path: Path) -> None:
    with ModelServer(provider, [UNUSABLE[unusable]]) as server:
        say(mind_at(server, cache_dir=tmp_path), HELLO)
        sent = len(server.requests)
        server.script = [GOOD]
        said = say(mind_at(server, cache_dir=tmp_path), HELLO)
        assert len(server.requests) == sent + 1
        assert said.tool_calls[0]["name"] == "wave"
        assert say(mind_at(server, cache_dir=tmp_path), HELLO).tool_calls == said.tool_calls
        assert len(server.requests) == sent + 1, "a good turn is kept"


@PROVIDERS
def test_an_empty_turn_is_asked_for_again_with_a_note(provider: str) -> None:
    with ModelServer(provider, [Said(), GOOD]) as server:
        assert say(mind_at(server), HELLO).tool_calls[0]["name"] == "wave"
        assert server.refusals == []
        assert "Your last turn cannot be used: nothing was said" in server.requests[1].text


@PROVIDERS
def test_a_turn_cut_off_before_its_first_word_ends_in_one_line(provider: str) -> None:
    with ModelServer(provider, [Said(end="length")]) as server:
        with pytest.raises(MindFailed, match="max_tokens=N"):
            say(mind_at(server), HELLO)
        assert len(server.requests) == 1


@PROVIDERS
def test_pictures_behind_results_are_taken_and_left_out_where_none_are(provider: str) -> None:
    black = np.zeros((24, 32, 3), np.uint8)
    look: list[str | dict[Any, Any]] = [{"type": "text", "text": "Your look:"}, image_block(black)]
    for sees in (True, False):
        with ModelServer(provider, [GOOD, says("Done.")], sees=sees) as server:
            mind = mind_at(server)
            first = say(mind, HELLO)
            told = [*HELLO, first, *answered(first), HumanMessage(content=look)]
            assert say(mind, told).text == "Done."
            assert len(server.refusals) == (0 if sees else 1)
            assert say(mind, [*told, HumanMessage(content="More.")]).text == "Done."
            assert len(server.refusals) == (0 if sees else 1)


def test_what_goes_on_is_marked_for_the_cache_of_anthropic() -> None:
    with ModelServer("anthropic", [GOOD]) as server:
        say(mind_at(server), HELLO)
        assert server.refusals == []
        assert '"cache_control": {"type": "ephemeral"}' in server.requests[0].text


def test_calls_among_the_parts_of_a_text_are_left_out_of_a_history() -> None:
    called = [{"name": "wave", "args": {}, "id": "call_1", "type": "tool_call"}]
    part = {"type": "function", "id": "call_1", "function": {"name": "wave", "arguments": "{}"}}
    said = AIMessage(content=[{"type": "text", "text": "Hello."}, part], tool_calls=called)  # type: ignore[arg-type]
    back = repair_answer(said, HELLO)
    assert (back.content, back.tool_calls) == ("Hello.", said.tool_calls)
    thought = AIMessage(content=[{"type": "thinking", "thinking": "Hm."}], tool_calls=called)  # type: ignore[arg-type]
    assert repair_answer(thought, HELLO) is thought


def test_a_number_beyond_all_floats_is_no_argument() -> None:
    good = {"name": "wave", "args": {}, "id": "2", "type": "tool_call"}
    back = repair_answer(AIMessage("", tool_calls=[good | {"args": {"hand": [inf]}, "id": "1"}, good]), HELLO)  # type: ignore[arg-type, list-item]
    assert (back.tool_calls, [call["args"] for call in back.invalid_tool_calls]) == ([good], ["{}"])


class Word(Reply):
    word: str = Field(min_length=1)


def test_bounds_that_a_server_refuses_are_left_out_and_its_schema_stays() -> None:
    prompt = Prompt("word", frozenset(), Word, "Say a word.")
    with ModelServer("openai", [says({"word": "sea"})]) as server:
        mind = mind_at(server)
        assert mind.ask(prompt).word == "sea"
        [request] = server.requests  # refused ones are not among them
        assert "minLength" not in str(request.body["response_format"]["json_schema"]["schema"])
        [refused] = server.refusals
        assert "minLength: not permitted" in refused
