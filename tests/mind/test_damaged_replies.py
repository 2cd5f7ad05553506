"""Damaged replies of every provider to every prompt: no traceback, no wedged run, nothing paid twice.

`DAMAGED_REPLIES=2000 pytest -m soak tests/mind/test_damaged_replies.py` is the long proof; CI reads a slice.
"""

import json
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fuzz.mutate import mutate_bytes, mutate_http, mutate_json
from langchain_core.messages import HumanMessage, ToolMessage
from own_prompts import all_prompts
from strict_models import ModelServer, Raw, Said, calls, says
from strict_models.answers import BODIES, End
from test_hearing import Heard
from test_prompt import DAY, FROM_THE_WORLD
from test_strict_apis import KEY_VARIABLES, MODELS, TYPED

from virl.errors import VirlError
from virl.mind.base import Prompt
from virl.mind.chat.question import strict_schema
from virl.mind.llm import LLMMind
from virl.mind.open import open_mind
from virl.mind.replies import Reply
from virl.money.ledger import Ledger

ASKED: list[Prompt[Any]] = [one for one in all_prompts() if one.reply is not Reply]
MOST_REQUESTS = 12
"""For a question: three replies, each after as many lost ones as are borne."""
WAVE = {
    "type": "function",
    "function": {
        "name": "wave",
        "parameters": {"type": "object", "properties": {"hand": {"type": "string"}}},
    },
}
ENDS: tuple[End, ...] = ("stop", "length", "refused", "filtered", "blocked", "recitation", "malformed")


INPUTS: dict[str, dict[str, Any]] = FROM_THE_WORLD | {
    "day/listen": {"said": "I am tired.", "state": DAY["state"], "now": "10:00"},
    "day/ungrounded": {**DAY, "city": "Town", "day": "wed", "starts": "09:00", "until": "21:00"},
    "explore/place-type": {"intention": "I want lunch.", "place_types": ["restaurant", "bar"]},
    "homes/wants": {"name": "Ana", "background": "", "intention": "a home", "place_types": ["gym", "bar"]},
    "recommend/search": {"name": "Ana", "background": "", "intention": "tea", "place_types": ["cafe", "bar"]},
    "movement/tourist-landmark-choice": {"options": ["Bakery", "None of the above"]},
    "movement/sight-goal": {"task": "Find the bakery.", "kinds": ["bakery", "bank"]},
    "movement/sight-way": {"task": "Find it.", "seen": "", "roads": [{"index": 0, "description": "left"}]},
    "movement/sight-plain": {"task": "Find it.", "roads": [{"index": 0, "description": "left"}]},
    "movement/sight-verbalized": {
        "task": "Find it.",
        "roads": [{"index": 0, "description": "left"}],
        "remembered": "",
        "history": [],
    },
    "movement/tourist-landmarks": {"directions": "Walk on to 09:30."},
    "errands/list": {"text": "Go to 09:30."},
    "senses/describe-view": {"question": ""},
    "vqa/answer": {"question": "What for?", "options": ["a", "b", "c", "d"]},
    "vqa/check": {"types": ["cafe"], "options": ["a", "b", "c", "d"]},
    "vqa/choices": {"name": "Moon", "types": ["cafe"], "question": "What for?", "faults": ""},
    "narrate/instruction": {"entries": []},
    "narrate/drawing": {"entries": [], "fault": ""},
}
_WORDS = "Someone wants to find a place number {} that is close to home and open until late in the evening."
_TEXTS = {"ends": "11:00", "directions": "Walk on to WORLD.", "right": _WORDS.format(0)}


def example(schema: Mapping[str, Any], name: str = "") -> Any:  # noqa: PLR0911 - a case each
    """A value that fits a strict schema."""
    if name == "wrong":
        return [_WORDS.format(number) for number in (1, 2, 3)]
    if "anyOf" in schema:
        return example(schema["anyOf"][0 if name == "viewpoint" else -1])
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "object":
            return {key: example(inner, key) for key, inner in schema["properties"].items()}
        case "array":
            return [example(schema["items"])]
        case "string":
            return _TEXTS.get(name, "09:30")
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return 1


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEY_VARIABLES:
        monkeypatch.setenv(name, f"marker-of-{name.lower()}-0123456789")


class Damage:
    """Good and damaged replies, the same for the same seed."""

    def __init__(self, provider: str, seed: int) -> None:
        self.provider, self.random = provider, random.Random(seed)

    def reply(self, good: Said) -> Said | Raw:
        """Half of them are whole replies with a wrong text or ending; half are damaged as HTTP."""
        draw = self.random
        kinds: list[Callable[[], Said | Raw]] = [
            lambda: replace(good, end=draw.choice(ENDS)),
            lambda: replace(good, text=mutate_bytes(draw, good.text.encode()).decode("utf-8", "replace")),
            lambda: replace(
                good, text=mutate_json(draw, good.text.encode() or b"{}").decode("utf-8", "replace")
            ),
            lambda: replace(good, text=f"<think>{good.text[:40]}", usage=None),
            lambda: replace(good, calls=(("fly me!", {}), ("wave", "not json")), ids=("call_1", "call_1")),
            Said,
            self._http(good),
            self._http(good),
            self._http(good),
            lambda: Raw(200, b"<!DOCTYPE html><title>Hotel wifi</title>", {"content-type": "text/html"}),
            lambda: Raw(draw.choice([400, 402, 404, 413, 422, 429, 500, 503, 529]), self._body(good)),
        ]
        return draw.choice(kinds)()

    def _body(self, good: Said) -> bytes:
        return json.dumps(BODIES[self.provider](good)).encode()

    def _http(self, good: Said) -> Callable[[], Raw]:
        def damaged() -> Raw:
            whole = b"HTTP/1.1 200 OK\r\n\r\n" + self._body(good)
            return Raw(200, mutate_http(self.random, whole).partition(b"\r\n\r\n")[2])

        return damaged


def mind_at(server: ModelServer, folder: Path) -> LLMMind:
    spec = f"{MODELS[server.provider]}?timeout=5&price=1,1&lacks=bounds"  # as OpenAI itself
    mind = open_mind(spec, cache_dir=folder, base_url=server.url, ledger=Ledger(1000.0))
    assert isinstance(mind, LLMMind)
    sender = mind._client.sender
    mind._client.sender = replace(sender, policy=replace(sender.policy, sleep=lambda _: None))
    return mind


def one_line(fault: VirlError) -> None:
    assert "\n" not in str(fault)
    assert "Traceback" not in str(fault)


def ask_all(provider: str, count: int, folder: Path, seed: int) -> int:
    """Questions of every prompt in turn, each answered by damaged replies and then by a good one.

    Returns:
        How many ended with a reply.
    """
    damage, answered = Damage(provider, seed), 0
    with ModelServer(provider) as server:
        mind = mind_at(server, folder)
        for number in range(count):
            prompt = ASKED[number % len(ASKED)]
            inputs = {key: value for key, value in INPUTS[prompt.name].items() if key in prompt.inputs}
            typed = prompt in TYPED
            good = says(example(strict_schema(prompt.reply, inputs)) if typed else "forward")
            server.requests.clear()
            server.script = [damage.reply(good), damage.reply(good), good]
            if number < len(ASKED):
                prompt.reply.model_validate_json(good.text, context=inputs) if typed else None
            try:
                reply = mind.ask(prompt, **inputs)
            except VirlError as fault:
                one_line(fault)
                reply = None
            answered += reply is not None
            assert len(server.requests) <= MOST_REQUESTS
            assert server.refusals == [], "what is sent after a bad reply is taken"
            if reply is not None and (typed or reply.text.strip()):
                sent = len(server.requests)
                assert mind.ask(prompt, **inputs) == reply
                assert len(server.requests) == sent, "a reply that was accepted is not paid for twice"
            forget(folder)
    return answered


def forget(folder: Path) -> None:
    for kept in folder.rglob("*.json"):
        kept.unlink()


def converse_all(provider: str, count: int, folder: Path, seed: int) -> int:
    """Conversations with tools that go on whatever the model says.

    Returns:
        How many turns were taken.
    """
    damage, taken = Damage(provider, seed), 0
    frame: dict[str, object] = {"system": "Be brief.", "tools": [WAVE]}
    with ModelServer(provider) as server:
        mind = mind_at(server, folder)
        bound = mind.chat_model.bind_tools([WAVE])
        for number in range(count):
            messages: list[Any] = [HumanMessage(content=f"Hello {number}.")]
            for _ in range(3):
                good = calls(("wave", {"hand": "left"}))
                server.requests.clear()
                server.script = [damage.reply(good), good]
                try:
                    said = mind.converse("talk", bound.invoke, messages, frame)
                except VirlError as fault:
                    one_line(fault)
                    break
                taken += 1
                assert len(server.requests) <= MOST_REQUESTS
                answers = [
                    ToolMessage("done", tool_call_id=call["id"], name=call["name"])
                    for call in [*said.tool_calls, *said.invalid_tool_calls]
                ]
                messages += [said, *(answers or [HumanMessage(content="Go on.")])]
                assert server.refusals == [], f"a history is never refused for what a model said: {messages}"
            forget(folder)
    return taken


def verdicts(provider: str, count: int, folder: Path, seed: int) -> int:
    """Damaged replies, streamed and not: the same verdicts.

    Returns:
        How many replies were judged, each twice.
    """
    minds: list[tuple[LLMMind, ModelServer, Any]] = []
    with ModelServer(provider) as whole, ModelServer(provider) as streams:
        for server in (whole, streams):
            mind = mind_at(server, folder / str(len(minds)))
            minds.append((mind, server, mind.chat_model.bind_tools([WAVE])))
        minds[1][0].tell(Heard())
        for number in range(count):
            draw = random.Random(f"{provider} {seed} {number}")
            reply = _odd(provider, draw)
            told = []
            for mind, server, bound in minds:
                server.requests.clear()
                server.script = [reply]
                told.append((_verdict(mind, bound, f"Hello {number}."), len(server.requests)))
                mind.ledger.take_asked()
                assert server.refusals == []
            assert told[0] == told[1], f"{provider}, seed {seed}, number {number}: {reply}"
    forget(folder)
    return count


def _odd(provider: str, draw: random.Random) -> Said | Raw:
    """A turn with damages that a stream and a whole reply can both have."""
    given: Any = {"hand": draw.choice(["left", "caf\ud83d", 7, ["left"], None])}
    if provider == "openai":  # the others send objects
        text = json.dumps(given)
        given = draw.choice(
            [text, text[: draw.randrange(len(text))], json.dumps(text), "[]", "7", "null", f"{text},"]
        )
        if draw.random() < 0.3:
            given = mutate_json(draw, text.encode()).decode("utf-8", "replace")
    name = draw.choice(["wave", "fly me!", ""]) if provider != "google_genai" else "wave"
    called = ((name, given),) * draw.choice([0, 1, 1, 2])
    words = draw.choice(["", "Hi.", "<think>Hm.", "caf\u00e9 \ud83d", "x" * 300, '{"hand": "left"}'])
    ends: tuple[End, ...] = ENDS if provider == "openai" else ("stop", "length")
    error = {"message": draw.choice(["overloaded", "boom", "no such model", "too many requests"])}
    if draw.random() < 0.1:
        return Raw(
            draw.choice([400, 401, 404, 413, 422, 429, 500, 503]), json.dumps({"error": error}).encode()
        )
    ids = [draw.choice(["", "call_1", f"call_{at}"]) for at in range(len(called))]
    return Said(words, called, draw.choice(ends), ids, draw.choice([(7, 2), None]))


def _verdict(mind: LLMMind, bound: Any, words: str) -> object:
    try:
        said = mind.converse("talk", bound.invoke, [HumanMessage(content=words)], {"tools": [WAVE]})
    except VirlError as fault:
        one_line(fault)
        return type(fault).__name__, str(fault)
    calls = [(call["name"], call["args"]) for call in said.tool_calls]
    return said.text, calls, [call["name"] for call in said.invalid_tool_calls]


@pytest.mark.slow
@pytest.mark.parametrize("provider", MODELS)
def test_damaged_replies_are_judged_alike_streamed_or_not(provider: str, tmp_path: Path) -> None:
    assert verdicts(provider, 40, tmp_path, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("provider", MODELS)
def test_thousands_of_damaged_replies_are_judged_alike_streamed_or_not(provider: str, tmp_path: Path) -> None:
    count = int(os.environ.get("DAMAGED_REPLIES", "3000")) // len(MODELS)
    seed = int(os.environ.get("DAMAGED_SEED", "0")) or random.randrange(1, 1_000_000)
    judged = verdicts(provider, count, tmp_path, seed)
    print(f"{provider}: {judged} replies judged twice, DAMAGED_SEED={seed}")
    assert judged


@pytest.mark.slow
@pytest.mark.parametrize("provider", MODELS)
def test_no_damaged_reply_ends_in_a_traceback_or_is_paid_twice(provider: str, tmp_path: Path) -> None:
    every = len(ASKED)
    assert ask_all(provider, every, tmp_path, seed=1) > every / 2, "most questions are answered in the end"
    assert converse_all(provider, 6, tmp_path, seed=1) > 6


@pytest.mark.soak
@pytest.mark.parametrize("provider", MODELS)
def test_thousands_of_damaged_replies(provider: str, tmp_path: Path) -> None:
    count = int(os.environ.get("DAMAGED_REPLIES", "2000")) // len(MODELS)
    seed = int(os.environ.get("DAMAGED_SEED", "0")) or random.randrange(1, 1_000_000)
    print(f"{provider}: {count} questions, DAMAGED_SEED={seed}")
    assert ask_all(provider, count, tmp_path, seed) > count / 2
    assert converse_all(provider, count // 8, tmp_path, seed) > count // 8
