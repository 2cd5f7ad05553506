"""What language models reply: whole HTTP replies, the JSON of each typed reply, and free text."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.messages import AIMessage, HumanMessage
from openai_server import reply, text, tool_calls
from own_prompts import all_prompts
from pydantic import BaseModel, ValidationError
from scripted_google import Behaviour, ScriptedGoogle

from fuzz.mutate import mutate_bytes, mutate_http, mutate_json
from fuzz.session import Kind
from virl.errors import MindFailed
from virl.mind.base import Prompt
from virl.mind.cache import StoredMessage, summarize_answer
from virl.mind.chat.answers import faults_in, read_reply
from virl.mind.llm import LLMMind
from virl.mind.prompt import load_prompt
from virl.narrate.narration import read_points
from virl.platform.navigators.follower.reading import parse
from virl.platform.navigators.navgpt.rules import own_words, thought_of
from virl.platform.navigators.navgpt.rules import read_reply as read_move
from virl.platform.navigators.velma.prompt import parse_landmarks
from virl.platform.navigators.velma.rules import published_action, quote_reply
from virl.routines.explore.rules import PlaceType

TEXTS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "landmarks": (parse_landmarks, "1. the red awning\n2. a church\n3. two lights"),
    "action": (lambda said: (published_action(said), quote_reply(said)), "turn left, then forward"),
    "navgpt": (
        lambda said: (read_move(own_words(said), {"v1", "v2"}), thought_of(said)),
        'Thought: go on.\nAction: action_maker\nAction Input: "v1"\nObservation: none',
    ),
    "drawing": (lambda said: read_points(said, 3), "Here:\n```json\n[[0, 0], [10, 0.5], [10, 20]]\n```"),
    "directions": (parse, "Go to the second light, turn left at the church and stop in front of the bakery."),
}


@contextmanager
def model_kinds() -> Iterator[list[Kind]]:
    """The kinds."""
    yield [*_typed(), *_texts(), *_messages()]


@contextmanager
def model_http_kinds() -> Iterator[list[Kind]]:
    """Whole replies of a server that speaks as OpenAI's does."""
    asked = load_prompt("explore/place-type", PlaceType)
    inputs = {"intention": "I want lunch.", "place_types": ["restaurant", "bar"]}
    wave = {
        "type": "function",
        "function": {"name": "wave", "parameters": {"type": "object", "properties": {}}},
    }
    damaged = [b""]
    with ScriptedGoogle([lambda _: Behaviour(damaged[0])]) as server:
        model = init_chat_model(
            "openai:gpt-5-mini",
            base_url=f"{server.url}/v1",
            timeout=5.0,
            max_retries=0,
            api_key="none-at-all",
        )
        mind = LLMMind(model, "openai:gpt-5-mini", retries=1, sleep=lambda _: None)

        def ask(data: bytes) -> None:
            damaged[0] = data
            mind.ask(asked, **inputs)
            server.requests.clear()

        def converse(data: bytes) -> None:
            damaged[0] = data
            bound = mind.chat_model.bind_tools([wave])
            summarize_answer(mind.converse("talk", bound.invoke, [HumanMessage(content="Hello.")], {}))
            server.requests.clear()

        yield [
            Kind("model-http", [_whole(reply({"place_type": "bar"}).body)], ask, mutate_http, 6),
            Kind(
                "model-http-tools",
                [_whole(tool_calls(("wave", {"hand": "left"}), said="Hi.").body), _whole(text("Hi.").body)],
                converse,
                mutate_http,
                6,
            ),
        ]


def _whole(body: object) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n" + json.dumps(body).encode()


def _typed() -> Iterator[Kind]:
    """The JSON of each reply type that a prompt of virl's own asks for."""
    prompts = {prompt.reply.__name__: prompt for prompt in all_prompts()}
    for name, prompt in sorted(prompts.items()):
        if name not in {"Reply", "Text"}:
            good = json.dumps(_example(prompt.reply.model_json_schema())).encode()
            yield Kind(f"reply-{name}", [good], _reader(prompt), mutate_json, 2)


def _reader(prompt: Prompt[BaseModel]) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        said = data.decode("utf-8", "replace")
        answers = [AIMessage(content=said), AIMessage(content=f"```json\n{said}\n```")]
        try:
            called = json.loads(said)
        except (ValueError, RecursionError):
            called = None
        if isinstance(called, dict):
            answers.append(AIMessage(content="", tool_calls=[{"name": "x", "args": called, "id": "1"}]))
        for answer in answers:
            try:
                read_reply(answer, prompt, {})
            except ValidationError as invalid:
                raise MindFailed(" ".join(faults_in(invalid).split())) from None

    return read


def _texts() -> Iterator[Kind]:
    for name, (parser, good) in TEXTS.items():

        def read(data: bytes, parser: Callable[[str], object] = parser) -> None:
            parser(data.decode("utf-8", "replace"))

        yield Kind(f"text-{name}", [good.encode()], read, mutate_bytes, 3)


def _messages() -> Iterator[Kind]:
    call = {"name": "wave", "args": {"a": 1}, "id": "1"}
    good = StoredMessage.of(AIMessage(content="Hi.", tool_calls=[call]))

    def read(data: bytes) -> None:
        try:
            said = StoredMessage.model_validate_json(data)
        except ValidationError as invalid:
            raise MindFailed(" ".join(faults_in(invalid).split())) from None
        summarize_answer(said.read())

    yield Kind("model-message", [good.model_dump_json().encode()], read, mutate_json, 2)


_WISH = "Someone wants to find {} that is close to home and open until late in the evening on every day."
_TEXTS = {"starts": "09:30", "ends": "11:00", "place_types": "bar", "directions": "Walk on to the church."}


def _example(  # noqa: PLR0911 - a case each
    schema: Mapping[str, Any], name: str = "", root: Mapping[str, Any] | None = None
) -> Any:
    """A value that fits the JSON schema of a reply."""
    root = root or schema
    if name == "direction":  # goes with one of the actions alone
        return None
    if "$ref" in schema:
        return _example(root["$defs"][schema["$ref"].rpartition("/")[2]], name, root)
    if "anyOf" in schema:
        return _example(schema["anyOf"][0], name, root)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "object":
            return {key: _example(inner, key, root) for key, inner in schema["properties"].items()}
        case "array" if "prefixItems" in schema:
            return [_example(inner, f"{name}{i}", root) for i, inner in enumerate(schema["prefixItems"])]
        case "array":
            return [_example(schema["items"], name, root)]
        case "string":
            return _TEXTS.get(
                name, _WISH.format(name) if name.startswith(("right", "wrong")) else "some words"
            )
        case "boolean":
            return True
        case "integer" | "number":
            return max(schema.get("minimum", 1), schema.get("exclusiveMinimum", 0) + 1)
    return None
