"""Servers that take less than OpenAI's, and odd replies: adapted to, told to the model, or a failure."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from openai_server import Behaviour, ChatServer, Request, fault, text, tool_call, tool_calls
from test_hearing import Heard

from virl.errors import MindFailed, ModelShut, ModelUnavailable, VirlError
from virl.mind.base import Prompt
from virl.mind.chat.answers import MOST_CALLS, fault_of_turn
from virl.mind.chat.sending import OutOfReplies, Replies
from virl.mind.llm import LLMMind
from virl.mind.open import open_mind
from virl.mind.prompt import load_prompt
from virl.mind.replies import Reply
from virl.mind.settings import ABILITIES, LEFT_OUT, Ability
from virl.routines.explore.rules import PlaceType

TYPE = load_prompt("explore/place-type", PlaceType)
LUNCH: dict[str, Any] = {"intention": "I want lunch.", "place_types": ["restaurant", "bar"]}
BAR = text(json.dumps({"place_type": "bar"}))
WAVE = {"type": "function", "function": {"name": "wave", "description": "Wave.", "parameters": {
    "type": "object", "properties": {"hand": {"type": "string"}}}}}  # fmt: skip
FRAME: dict[str, object] = {"system": "Be brief.", "tools": [WAVE]}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-marker-0123456789abcdef")


def mind_at(url: str, query: str = "", pauses: list[float] | None = None, **options: Any) -> LLMMind:
    mind = open_mind(f"openai:test{query}", cache_dir=None, base_url=url, **options)
    assert isinstance(mind, LLMMind)
    waits = [] if pauses is None else pauses
    sender = mind._client.sender
    mind._client.sender = replace(sender, policy=replace(sender.policy, sleep=waits.append))
    return mind


def talk(mind: LLMMind, *messages: Any, replies: Replies | None = None) -> AIMessage:
    bound = mind.chat_model.bind_tools([WAVE])
    return mind.converse("talk", bound.invoke, messages or [HumanMessage("Hello.")], FRAME, replies=replies)


def sent_roles(request: Request) -> list[str]:
    return [one["role"] for one in request.messages]


def calls_at(at: int) -> list[Any]:
    called = [{"name": "wave", "args": {"hand": hand}, "id": f"c{at}{hand}"} for hand in ("left", "right")]
    told = [ToolMessage("done", tool_call_id=one["id"], name="wave") for one in called]
    return [AIMessage("", tool_calls=called), *told]


HISTORY = [
    SystemMessage("Be brief."),
    HumanMessage("Hello."),
    *calls_at(1),
    HumanMessage("Look."),
    HumanMessage("Go on."),
]


def _has(name: str) -> Callable[[Request], bool]:
    return lambda request: name in request.body


def _after_tool(request: Request) -> bool:
    roles = sent_roles(request)
    pairs = list(pairwise(roles))
    return ("tool", "user") in pairs or ("user", "user") in pairs


def _many_calls(request: Request) -> bool:
    return any(len(one.get("tool_calls") or ()) > 1 for one in request.messages)


ODD: list[tuple[Ability, Callable[[Request], bool], int, str]] = [
    ("system", lambda request: "system" in sent_roles(request), 400, "System role not supported"),
    ("system", lambda request: "system" in sent_roles(request), 400, "only one system message is taken"),
    ("order", _after_tool, 400, "Unexpected role 'user' after role 'tool'"),
    ("order", _after_tool, 400, "Conversation roles must alternate user/assistant/user/assistant/..."),
    ("parallel_calls", _many_calls, 500, "This model only supports single tool-calls at once!"),
    ("max_completion_tokens", _has("max_completion_tokens"), 422,
     "body.max_completion_tokens: Extra inputs are not permitted"),
    ("seed", _has("seed"), 400, "Unrecognized request argument supplied: seed"),
    ("temperature", _has("temperature"), 400, "Unsupported value: 'temperature' does not support 0.0"),
    ("parameters", _has("seed"), 404, "No endpoints found that can handle the requested parameters."),
]  # fmt: skip


@pytest.mark.parametrize(("ability", "odd", "status", "words"), ODD)
def test_what_a_server_does_not_take_is_left_out_and_learnt_once(
    ability: Ability, odd: Callable[[Request], bool], status: int, words: str
) -> None:
    def answer(request: Request) -> Behaviour:
        return Behaviour(status, {"detail": words}) if odd(request) else tool_calls(("wave", {}))

    with ChatServer([answer]) as server:
        mind = mind_at(server.url, seed=7)
        assert talk(mind, *HISTORY).tool_calls
        assert len(server.requests) == 2
        [noted] = mind.ledger.take_asked()
        talk(mind_at(server.url, seed=7), *HISTORY)
        assert len(server.requests) == 3, "learnt in this process"
        if ability != "parameters":
            assert LEFT_OUT[ability] in noted.remark
            assert not odd(server.requests[-1])
            with pytest.raises(ModelUnavailable, match=words[:20]):
                talk(mind_at(server.url, "?lacks=none", seed=7), *HISTORY)
    with ChatServer([answer]) as other:  # a run that goes on, in another process
        talk(mind_at(other.url, seed=7, remarks=noted.remark), *HISTORY)
        talk(mind_at(other.url, f"?lacks={ability}", seed=7), *HISTORY) if ability != "parameters" else None
        assert len(other.requests) == (2 if ability != "parameters" else 1)


@pytest.mark.parametrize(("query", "hint"), [("", False), ("?lacks=order", False), ("?lacks=none", True)])
def test_what_is_left_out_already_is_not_advised(query: str, hint: bool) -> None:
    with ChatServer([fault(400, "Conversation roles must alternate")]) as server:
        with pytest.raises(ModelUnavailable, match="does not take order") as caught:
            talk(mind_at(server.url, query), *HISTORY)
        assert ("lacks=order" in str(caught.value)) == hint


def test_every_ability_stands_in_the_docs() -> None:
    docs = Path("docs/how-to/language-models.md").read_text(encoding="utf-8")
    assert all(f"| `{one}` |" in docs for one in ABILITIES)


VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: {0}. This model's maximum context length is 8192 "
    "tokens and your request has 1500 input tokens."
)
OPENAI = (
    "This model's maximum context length is 8192 tokens. However, you requested 17884 tokens (1500 in the "
    "messages, {0} in the completion). Please reduce the length of the messages or completion."
)
TOO_LONG = [
    (VLLM, 6660),
    (OPENAI, 6660),
    ("max_tokens={0} cannot be greater than max_model_len=8192.", 4096),
    ("max_tokens is too large: {0}. This model supports at most 4096 completion tokens.", 4096),
]


@pytest.mark.parametrize(("words", "room"), TOO_LONG)
def test_too_long_a_reply_is_asked_for_again_with_less(words: str, room: int) -> None:
    def answer(request: Request) -> Behaviour:
        asked = request.body["max_completion_tokens"]
        return fault(400, words.format(asked), "context_length_exceeded") if asked > room else BAR

    with ChatServer([answer]) as server:
        assert mind_at(server.url).ask(TYPE, **LUNCH).place_type == "bar"
        assert [one.body["max_completion_tokens"] for one in server.requests] == [16_384, room]


FAULTS: list[tuple[int, Any, type[VirlError], str]] = [
    (
        400,
        "The decoder prompt (length 9120) is longer than the maximum model length of 8192.",
        MindFailed,
        "so long",
    ),
    (
        400,
        "the model is loaded with context length of only 4096 tokens, which is not enough",
        MindFailed,
        "so long",
    ),
    (400, "Your request was rejected by our safety system (content_policy_violation)", MindFailed, "refused"),
    (400, "Budget has been exceeded! Current cost: 10.02, Max budget: 10.0", ModelUnavailable, "10.02"),
    (400, "boom", ModelUnavailable, "boom"),
    (413, "Request too large for model `m` on tokens per minute (TPM)", ModelUnavailable, "max_tokens=N"),
    (429, "Request too large for gpt-x: tokens per min: Limit 3", ModelUnavailable, "context=N.*Limit 3"),
    (500, "tools param requires --jinja flag", ModelUnavailable, "takes no tools.*--jinja"),
    (
        400,
        "registry.ollama.ai/library/gemma3:4b does not support tools",
        ModelUnavailable,
        "start its server",
    ),
    (400, '"auto" tool choice requires --enable-auto-tool-choice', ModelUnavailable, "--tool-call-parser"),
    (404, "No endpoints found that support tool use.", ModelUnavailable, "`routine`"),
    (422, [{"loc": ["body"], "msg": "Extra inputs are not permitted"}], ModelUnavailable, "Extra inputs"),
    (
        413,
        "<html><head><title>413 Request Entity Too Large</title></head>",
        ModelUnavailable,
        "Entity Too Large",
    ),
    (401, "bad key", ModelShut, "bad key"),
    (403, "not your model", ModelShut, "not your model"),
    (404, "model m does not exist", ModelShut, "m does not exist"),
]


@pytest.mark.parametrize(("status", "detail", "kind", "words"), FAULTS)
def test_whose_fault_it_is_in_the_words_of_the_server(
    status: int, detail: Any, kind: type[VirlError], words: str
) -> None:
    for body in ({"detail": detail}, {"error": {"message": detail, "type": "x"}}):
        with ChatServer([Behaviour(status, body)]) as server:
            with pytest.raises(kind, match=words) as caught:
                mind_at(server.url).ask(TYPE, **LUNCH)
            assert len(server.requests) == 1
            assert "I want lunch" not in str(caught.value)
            assert isinstance(caught.value, MindFailed) != isinstance(caught.value, ModelUnavailable)


@pytest.mark.parametrize("code", [429, 503, "rate_limit_exceeded"])
def test_an_error_with_status_200_waits_as_its_twin_does(code: object) -> None:
    with ChatServer([Behaviour(200, {"error": {"message": "busy", "code": code}}), BAR]) as server:
        assert mind_at(server.url).ask(TYPE, **LUNCH).place_type == "bar"


def test_a_server_that_takes_less_than_it_says_is_asked_with_half() -> None:
    def answer(request: Request) -> Behaviour:
        asked = request.body["max_completion_tokens"]
        return fault(400, VLLM.format(asked)) if asked > 4000 else BAR

    with ChatServer([answer]) as server:
        mind_at(server.url).ask(TYPE, **LUNCH)
        assert [one.body["max_completion_tokens"] for one in server.requests] == [16_384, 6660, 3330]


@pytest.mark.parametrize(
    "headers",
    [{}, {"retry_after": "0"}, {"retry_after": "-1"}, {"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"},
     {"retry_after_ms": "0"}],
)  # fmt: skip
def test_a_wait_of_nothing_is_the_doubling_pause(headers: dict[str, str]) -> None:
    pauses: list[float] = []
    with ChatServer([fault(429, "slow down", **headers)] * 3 + [BAR]) as server:
        mind_at(server.url, "", pauses).ask(TYPE, **LUNCH)
    assert pauses == [0.5, 1.0, 2.0]


def test_a_redirect_to_another_origin_is_not_followed() -> None:
    with ChatServer([BAR]) as other:
        sent_on = Behaviour(307, "", {"location": f"{other.url}/chat/completions"})
        with ChatServer([sent_on]) as server, pytest.raises(ModelUnavailable, match="redirects to"):
            mind_at(server.url).ask(TYPE, **LUNCH)
        assert other.requests == []


def streamed(body: Mapping[str, Any]) -> Behaviour:
    """The pieces of a whole reply, with its damages."""
    told = [{**body, "choices": choices} for choices in _pieces(body)]
    lines = [f"data: {json.dumps(one)}\n\n" for one in told] + ["data: [DONE]\n\n"]
    return Behaviour(200, "".join(lines), {"content-type": "text/event-stream"})


def _pieces(body: Mapping[str, Any]) -> Iterator[list[dict[str, Any]]]:
    if not body.get("choices"):
        yield []
        return
    [choice] = body["choices"]
    message = choice["message"]
    yield [{"index": 0, "delta": {"role": message["role"]} if "role" in message else {}}]
    for name in ("content", "refusal", "reasoning_content"):
        for letter in message.get(name) or "":
            yield [{"index": 0, "delta": {name: letter}}]
    for at, call in enumerate(message.get("tool_calls") or ()):
        given = call["function"].get("arguments")
        begun = call | {"index": at, "function": call["function"] | {"arguments": ""}}
        yield [{"index": 0, "delta": {"tool_calls": [begun]}}]
        for piece in given if isinstance(given, str) else [given]:
            yield [{"index": 0, "delta": {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}}]
    yield [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]


def _called(arguments: Any, reason: str = "tool_calls") -> dict[str, Any]:
    body = json.loads(json.dumps(tool_call(arguments, "wave").body))
    body["choices"][0]["finish_reason"] = reason
    return body


def _but(change: Mapping[str, Any], **message: Any) -> dict[str, Any]:
    body = json.loads(json.dumps(text("Hi.").body)) | change
    if body["choices"]:
        body["choices"][0]["message"] = {
            name: value
            for name, value in (body["choices"][0]["message"] | message).items()
            if value != "gone"
        }
    return body


SAME: dict[str, tuple[dict[str, Any], str]] = {
    "whole": (_called('{"hand": "left"}'), "calls {'hand': 'left'}"),
    "encoded twice": (_called(json.dumps('{"hand": "left"}')), "calls {'hand': 'left'}"),
    "an object": (_called({"hand": "left"}), "calls {'hand': 'left'}"),
    "nothing": (_called(""), "calls {}"),
    "null": (_called("null"), "calls {}"),
    "a list": (_called("[]"), "unreadable arguments"),
    "a number": (_called("80"), "unreadable arguments"),
    "a trailing comma": (_called('{"hand": "left",}'), "unreadable arguments"),
    "a long number": (_called("9" * 5000), "unreadable arguments"),
    "cut off": (_called('{"hand": "le', "length"), "MindFailed"),
    "cut off, and not said": (_called('{"hand": "le', "tool_calls"), "unreadable arguments"),
    "cut off after a whole call": (_called('{"hand": "left"}', "length"), "MindFailed"),
    "no choices": (_but({"choices": []}), "MindFailed"),
    "no role": (_but({}, role="gone"), "MindFailed"),
    "nothing said": (_but({}, content=None), "says (nothing)"),
    "thoughts alone": (_but({}, content=None, reasoning_content="Hm."), "says (nothing)"),
    "a refusal": (_but({}, content=None, refusal="No."), "says "),
    "no usage": (_but({"usage": None}), "says Hi."),
    "usage of nulls": (_but({"usage": {"prompt_tokens": None, "completion_tokens": 1, "total_tokens": None}}),
                       "says Hi."),
    "usage of floats": (_but({"usage": {"prompt_tokens": 9.0, "completion_tokens": 1.0, "total_tokens": 10}}),
                        "says Hi."),
    "half a letter": (_but({}, content="caf\ud83d"), "says caf\N{REPLACEMENT CHARACTER}"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_a_streamed_reply_is_judged_as_a_whole_one(name: str) -> None:
    body, expected = SAME[name]
    verdicts = []
    for streams in (False, True):
        with ChatServer([streamed(body) if streams else Behaviour(200, body)]) as server:
            mind = mind_at(server.url)
            if streams:
                mind.tell(Heard())
            verdicts.append((_verdict(mind), len(server.requests), _tokens(mind)))
            assert all(bool(one.body.get("stream")) == streams for one in server.requests)
    assert verdicts[0] == verdicts[1]
    assert verdicts[0][0] == expected


@pytest.mark.parametrize("streams", [False, True])
def test_of_very_many_calls_no_more_are_read_than_show_it(streams: bool) -> None:
    body = _called("{}")
    message = body["choices"][0]["message"]
    [one] = message["tool_calls"]
    message["tool_calls"] = [one | {"id": f"c{number}"} for number in range(MOST_CALLS + 50)]
    with ChatServer([streamed(body) if streams else Behaviour(200, body)] * 2 + [text("Done.")]) as server:
        mind = mind_at(server.url)
        if streams:
            mind.tell(Heard())
        said = mind.chat_model.bind_tools([WAVE]).invoke("Hello.")
        assert isinstance(said, AIMessage)
        assert len(said.tool_calls) == MOST_CALLS + 1
        assert fault_of_turn(said) == f"it called more than {MOST_CALLS} tools at once: call fewer"
        assert talk(mind).text == "Done."


def _verdict(mind: LLMMind) -> str:
    try:
        said = talk(mind)
    except VirlError as failure:
        return type(failure).__name__
    if said.tool_calls:
        return f"calls {said.tool_calls[0]['args']}"
    return "unreadable arguments" if said.invalid_tool_calls else f"says {said.text}"


def _tokens(mind: LLMMind) -> tuple[int, int]:
    [exchange] = mind.ledger.take_asked()
    return exchange.input_tokens, exchange.output_tokens


EVENTS = {"content-type": "text/event-stream"}
BEGUN = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "{"}}]}
STREAMED = streamed(BAR.body)  # type: ignore[arg-type]


def _without_options(request: Request) -> Behaviour:
    refused = fault(400, "Extra inputs are not permitted: stream_options")
    return refused if "stream_options" in request.body else STREAMED


def _error(**told: Any) -> Behaviour:
    return Behaviour(200, f"data: {json.dumps({'error': told})}\n\n", EVENTS)


STREAMS: dict[str, tuple[list[Any], int]] = {
    "an error with 429": ([_error(message="Rate limit exceeded", code=429), STREAMED], 2),
    "an error in words": ([_error(message="upstream overloaded", type="server_error"), STREAMED], 2),
    "stream_options refused": ([_without_options], 2),
    "no stream": ([BAR], 1),
    "broken off": ([Behaviour(200, f"data: {json.dumps(BEGUN)}\n\n", EVENTS), STREAMED], 2),
}


@pytest.mark.parametrize("name", STREAMS)
def test_what_a_stream_says_is_treated_as_its_twin_is(name: str) -> None:
    script, requests = STREAMS[name]
    with ChatServer(script) as server:
        mind = mind_at(server.url)
        mind.tell(Heard())
        assert mind.ask(TYPE, **LUNCH).place_type == "bar"
        assert len(server.requests) == requests


@pytest.mark.parametrize("bad", ["cut off", "no choices", "nothing said"])
def test_no_more_replies_are_taken_than_may_be(bad: str) -> None:
    replies = Replies(most=2)
    with ChatServer([fault(429, "slow down"), Behaviour(200, SAME[bad][0])]) as server:
        with pytest.raises(OutOfReplies):
            talk(mind_at(server.url), replies=replies)
        assert (replies.taken, len(server.requests)) == (2, 3), "a try without a reply is none"


@pytest.mark.parametrize("alone", [SAME["thoughts alone"][0], text("<think>Hm.").body])
def test_thoughts_without_an_answer_are_named_with_what_to_set(alone: Any) -> None:
    with ChatServer([Behaviour(200, alone)]) as server:
        mind = mind_at(server.url)
        with pytest.raises(MindFailed, match=r"effort=none.*reasoning parser"):
            mind.ask(TYPE, **LUNCH)
        talk(mind)
        assert any("effort=none" in one.remark for one in mind.ledger.take_asked())


class Word(Reply):
    word: str


def test_half_a_letter_in_a_typed_reply_is_a_mark() -> None:
    with ChatServer([text(r'{"word": "caf\ud83d"}')]) as server:
        asked = Prompt("word", frozenset(), Word, "A word?")
        assert mind_at(server.url).ask(asked).word == "caf\N{REPLACEMENT CHARACTER}"
