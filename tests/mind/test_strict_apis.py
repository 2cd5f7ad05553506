"""Every provider's API, as strict as it is known to be: schemas, pictures, endings, faults, settings."""

import base64
import io
import json
import logging
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from own_prompts import all_prompts
from strict_models import ModelServer, Request, Said, fault, raw, says
from strict_models.minds import KEY_VARIABLES, MODELS, model_at
from strict_models.schemas import schema_faults

from virl.errors import BadInput, MindFailed, ModelUnavailable
from virl.mind.base import Prompt
from virl.mind.chat.question import in_words, strict_schema
from virl.mind.llm import LLMMind
from virl.mind.open import open_mind, settings_of
from virl.mind.prompt import load_prompt
from virl.mind.providers import ModelDefaults, manner_of
from virl.mind.replies import Reply, Text
from virl.mind.settings import MindSettings
from virl.money.ledger import Ledger
from virl.platform.navigators.intention.rules import RoadChoice
from virl.platform.navigators.tourist.rules import WalkAction
from virl.routines.day.replies import DayDraft
from virl.routines.explore.rules import PlaceType
from virl.routines.homes.rules import HomeWants

PROVIDERS = pytest.mark.parametrize("provider", MODELS)
LUNCH: dict[str, Any] = {"intention": "I want lunch.", "place_types": ["restaurant", "bar"]}
TYPE = load_prompt("explore/place-type", PlaceType)
ROAD = load_prompt("movement/intention-road", RoadChoice)
ROADS: dict[str, Any] = {
    "intention": "lunch",
    "place_type": "bar",
    "roads": [{"index": 0, "description": "shops"}, {"index": 1, "description": "trees"}],
}
BAR = says({"place_type": "bar"})
TYPED: list[Prompt[Any]] = [one for one in all_prompts() if one.reply not in (Reply, Text)]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIRL_BASE_URL", "OPENAI_BASE_URL", "VIRL_API_KEY", "GEMINI_API_KEY", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name in KEY_VARIABLES:
        monkeypatch.setenv(name, f"marker-of-{name.lower()}-0123456789")


@pytest.fixture
def waits() -> list[float]:
    """The pauses that were made; nothing is waited for."""
    return []


def mind_at(
    server: ModelServer, query: str = "", waits: list[float] | None = None, **options: Any
) -> LLMMind:
    mind = model_at(server, query, **options)
    pauses = [] if waits is None else waits
    sender = mind._client.sender
    mind._client.sender = replace(sender, policy=replace(sender.policy, sleep=pauses.append))
    return mind


def schema_in(request: Request) -> dict[str, Any]:
    body = request.body
    match request.provider:
        case "openai":
            assert body["response_format"]["json_schema"]["strict"] is True
            found = body["response_format"]["json_schema"]["schema"]
        case "anthropic":
            found = body["output_config"]["format"]["schema"]
        case "google_genai":
            found = body["generationConfig"]["responseJsonSchema"]
        case _:
            found = body["format"]
    return dict(found)


@PROVIDERS
@pytest.mark.parametrize("prompt", TYPED, ids=lambda prompt: prompt.name)
def test_no_provider_refuses_the_schema_of_any_prompt(prompt: Prompt[Any], provider: str) -> None:
    schema = strict_schema(prompt.reply, {}, bounded=manner_of(f"{provider}:m").bounded)
    assert schema_faults(provider, schema) == []
    assert all(f"`{name}`" in in_words(schema) for name in schema["properties"])


@pytest.mark.parametrize("prompt", TYPED, ids=lambda prompt: prompt.name)
def test_every_field_of_every_reply_is_described(prompt: Prompt[Any]) -> None:
    assert [*_undescribed(strict_schema(prompt.reply, {}))] == []


def _undescribed(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, field in schema.get("properties", {}).items():
        if "description" not in field:
            yield f"{path}{name}"
        yield from _undescribed(field.get("items", field), f"{path}{name}.")


def test_choices_are_held_to_what_was_offered() -> None:
    kinds = ["bar", "cafe"]
    assert _enum(strict_schema(PlaceType, {"place_types": kinds}), "place_type") == kinds
    wants = strict_schema(HomeWants, {"place_types": kinds})["properties"]["wants"]["items"]
    assert (_enum(wants, "place_type"), _enum(wants, "importance")) == (kinds, [1, 2, 3])
    assert _enum(strict_schema(RoadChoice, ROADS), "index") == [0, 1]
    walk = strict_schema(WalkAction, {"sentences": ["a", "b"], "here": {"ways": ["left", "rear"]}})
    assert _enum(walk, "sentence") == [1, 2]
    assert walk["properties"]["direction"]["anyOf"][0]["enum"] == ["left", "rear"]
    assert "scenic" in _enum(strict_schema(DayDraft, {"scenic": "a park"}), "kind")
    assert "scenic" not in _enum(strict_schema(DayDraft, {"scenic": ""}), "kind")


def test_servers_of_ones_own_get_bounds_as_keywords() -> None:
    manners = [manner_of("openai:m"), manner_of("openai:m", own_server=True), manner_of("ollama:m")]
    wants = [strict_schema(HomeWants, {}, bounded=manner.bounded) for manner in manners]
    assert [one["properties"]["wants"].get("maxItems") for one in wants] == [None, 10, 10]


@pytest.mark.slow
def test_in_a_walk_the_schema_stays_and_what_a_question_offers_stands_at_its_end() -> None:
    walk = load_prompt("movement/tourist-action", WalkAction)
    here = {"seen": [], "crossing": 3, "been_here": False}
    inputs: dict[str, Any] = {"sentences": ["Go."], "landmarks": [], "walk": [], "refused": []}
    reply = {"action": "turn", "direction": "left", "sentence": 1, "reason": "r"}
    with ModelServer("openai", [says(reply)]) as server:
        mind = mind_at(server)
        for ways in (["left", "rear"], ["left", "right"]):
            assert mind.ask(walk, here=here | {"ways": ways}, **inputs).direction == "left"
    first, second = server.requests
    assert schema_in(first) == schema_in(second)
    assert first.body["messages"][0] == second.body["messages"][0]
    assert '- `direction`: one of \\"left\\", \\"rear\\" or null.' in first.text
    assert "right" not in first.body["messages"][1]["content"][0]["text"].rpartition("In your answer")[2]


def _enum(schema: dict[str, Any], name: str) -> list[Any]:
    found: list[Any] = schema["properties"][name]["enum"]
    return found


@pytest.mark.slow
@PROVIDERS
def test_a_typed_question_is_taken_and_answered(provider: str) -> None:
    with ModelServer(provider, [BAR]) as server:
        mind = mind_at(server)
        assert mind.ask(TYPE, **LUNCH).place_type == "bar"
        assert server.refusals == []
        assert schema_in(server.requests[0])["properties"]["place_type"]["enum"] == ["restaurant", "bar"]
    [exchange] = mind.ledger.take_asked()
    assert (exchange.input_tokens, exchange.output_tokens) == (100, 10)


@pytest.mark.slow
@PROVIDERS
def test_pictures_go_behind_their_labels(provider: str) -> None:
    black = np.zeros((48, 64, 3), np.uint8)
    with ModelServer(provider, [says({"index": 1, "reason": "signs"})]) as server:
        assert mind_at(server).ask(ROAD, images={"View A": black, "View B": black}, **ROADS).index == 1
        assert server.refusals == []
    sent = server.requests[0].text
    first, second = sent.index("View A:"), sent.index("View B:")
    assert first < second
    if provider != "ollama":  # which takes pictures apart from the text
        assert len(sent[first:second]) > 300, "the picture stands between its label and the next"


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"place_type": "bar"}\n```',
        'A bar it is.\n```\n{"place_type": "bar"}\n```\nEnjoy!',
        'Sure! {"place_type": "bar"}',
        '<think>a {"place_type": "opera"}? No.</think>\n{"place_type": "bar"}',
        'hmm {"place_type": "cafe"} no </think> {"place_type": "bar"}',
    ],
)
def test_json_is_read_in_a_fence_after_a_sentence_or_behind_thoughts(text: str) -> None:
    with ModelServer("ollama", [says(text)]) as server:
        assert mind_at(server).ask(TYPE, **LUNCH).place_type == "bar"
        assert len(server.requests) == 1


@pytest.mark.slow
def test_a_server_that_may_not_enforce_is_told_the_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer("openai", [BAR]) as server:
        mind_at(server).ask(TYPE, **LUNCH)
        assert "- `place_type`: one of" in server.requests[0].text
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)  # stands for OpenAI itself
        mind_at(server).ask(TYPE, **LUNCH)
        assert "- `place_type`" not in server.requests[1].text


def test_a_server_that_refuses_schemas_is_asked_without_them(caplog: pytest.LogCaptureFixture) -> None:
    def answer(request: Request) -> Any:
        if "response_format" in request.body:
            return fault("openai", 400, "response_format of type json_schema is not supported")
        return BAR

    with ModelServer("openai", [answer]) as server:
        mind = mind_at(server)
        assert mind.ask(TYPE, **LUNCH).place_type == "bar"
        assert mind.ask(TYPE, **LUNCH | {"intention": "A drink."}).place_type == "bar"
        assert len(server.requests) == 3
    assert caplog.text.count("takes no JSON schema") == 1


@pytest.mark.slow
@PROVIDERS
def test_a_model_that_takes_no_pictures_is_asked_without_them(
    provider: str, caplog: pytest.LogCaptureFixture
) -> None:
    black = np.zeros((48, 64, 3), np.uint8)
    with ModelServer(provider, [says({"index": 0, "reason": "r"})], sees=False) as server:
        mind = mind_at(server)
        for intention in ("lunch", "tea"):
            asked = ROADS | {"intention": intention}
            assert mind.ask(ROAD, images=[black, black], **asked).index == 0
        assert (len(server.requests), len(server.refusals)) == (2, 1)
        assert "2 pictures belong here" in server.requests[0].text
    assert caplog.text.count("takes no pictures") == 1


def test_pictures_are_left_out_where_the_user_says_so() -> None:
    black = np.zeros((48, 64, 3), np.uint8)
    describe = load_prompt("senses/describe-view", Text)
    with ModelServer("openai", [says({"index": 0, "reason": "r"})], sees=False) as server:
        mind = mind_at(server, "?pictures=no")
        mind.ask(ROAD, images=[black], **ROADS)
        assert server.refusals == []
        with pytest.raises(BadInput, match="is a question about pictures"):
            mind.ask(describe, images=[black], question="")


@PROVIDERS
def test_large_pictures_are_made_smaller(provider: str) -> None:
    large = np.zeros((40, 4000, 3), np.uint8)
    with ModelServer(provider, [says({"index": 0, "reason": "r"})]) as server:
        mind_at(server).ask(ROAD, images=[large], **ROADS)
        assert server.refusals == []
    data = re.search(r"[/_]9j[/_][\w+/-]+=*", server.requests[0].text)
    assert data, "a JPEG"
    shown = PIL.Image.open(io.BytesIO(base64.b64decode(data[0].replace("-", "+").replace("_", "/"))))
    longest = {"openai": 2_048, "anthropic": 1_568, "google_genai": 3_072, "ollama": 1_024}[provider]
    assert max(shown.size) == longest


ENDS = {
    "length": "token limit",
    "refused": "refused",
    "filtered": "refused|token limit",
    "blocked": "refused",
}


@PROVIDERS
@pytest.mark.parametrize("end", ENDS)
def test_replies_that_were_cut_off_or_refused_end_at_once(provider: str, end: str, tmp_path: Path) -> None:
    if provider == "ollama" and end != "length":
        pytest.skip("Ollama has no such ending")
    half = Said('{"place_type": "ba' if end in ("length", "filtered") else "", end=end)  # type: ignore[arg-type]
    with ModelServer(provider, [half]) as server:
        mind = mind_at(server, cache_dir=tmp_path)
        with pytest.raises(MindFailed, match=ENDS[end]) as caught:
            mind.ask(TYPE, **LUNCH)
        assert len(server.requests) == 1
        assert "\n" not in str(caught.value)
        server.script = [BAR]
        assert mind.ask(TYPE, **LUNCH).place_type == "bar", "nothing unusable was kept"


@pytest.mark.slow
@PROVIDERS
def test_an_empty_reply_is_asked_for_again_in_a_history_that_is_taken(provider: str) -> None:
    with ModelServer(provider, [Said(), Said("x" * 500_000), BAR]) as server:
        assert mind_at(server).ask(TYPE, **LUNCH).place_type == "bar"
        assert server.refusals == []
        assert len(server.requests[2].text) < 6_000, "a reply is never echoed whole"
        assert "- `place_type`: one of" in server.requests[2].text


def test_a_filter_of_gemini_that_may_pass_is_tried_again() -> None:
    with ModelServer("google_genai", [Said(end="recitation"), BAR]) as server:
        assert mind_at(server).ask(TYPE, **LUNCH).place_type == "bar"


@PROVIDERS
def test_html_with_status_200_says_to_check_the_base_url(provider: str) -> None:
    page = raw("<!DOCTYPE html><html>Welcome</html>", content_type="text/html")
    with ModelServer(provider, [page]) as server:
        with pytest.raises((MindFailed, ModelUnavailable), match="check the base URL") as caught:
            mind_at(server).ask(TYPE, **LUNCH)
        assert len(server.requests) == 1
    assert "\n" not in str(caught.value)


def test_no_choices_are_tried_again() -> None:
    empty = raw(
        json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": []})
    )
    with ModelServer("openai", [empty, BAR]) as server:
        assert mind_at(server).ask(TYPE, **LUNCH).place_type == "bar"


@pytest.mark.parametrize(
    ("provider", "refusal", "seconds"),
    [
        ("openai", fault("openai", 429, "slow down", retry_after_ms="250"), 0.25),
        ("anthropic", fault("anthropic", 429, "slow down", "rate_limit_error", retry_after="7"), 7.0),
        ("anthropic", fault("anthropic", 529, "Overloaded", "overloaded_error"), 0.5),
        (
            "google_genai",
            fault(
                "google_genai", 429, "You exceeded your quota. Please retry in 21.5s.", "RESOURCE_EXHAUSTED"
            ),
            21.5,
        ),
        ("ollama", fault("ollama", 503, "server busy"), 0.5),
    ],
)
def test_a_server_that_says_when_is_obeyed(
    waits: list[float], provider: str, refusal: Any, seconds: float
) -> None:
    with ModelServer(provider, [refusal, BAR]) as server:
        assert mind_at(server, waits=waits).ask(TYPE, **LUNCH).place_type == "bar"
    assert waits == [seconds]


@PROVIDERS
def test_a_failing_server_is_waited_for_a_minute(waits: list[float], provider: str) -> None:
    with (
        ModelServer(provider, [fault(provider, 503, "melted")]) as server,
        pytest.raises(ModelUnavailable, match=r"failed 8 times.*--resume"),
    ):
        mind_at(server, waits=waits).ask(TYPE, **LUNCH)
    assert 60 <= sum(waits) <= 90


@pytest.mark.slow
@PROVIDERS
def test_a_server_that_hangs_is_given_up(provider: str) -> None:
    held = threading.Event()

    def answer(request: Request) -> Said:
        held.wait(10)
        return BAR

    with ModelServer(provider, [answer]) as server:
        try:
            with pytest.raises(ModelUnavailable, match=r"failed 3 times.*--resume"):
                mind_at(server, "?timeout=0.3").ask(TYPE, **LUNCH)
        finally:
            held.set()


@PROVIDERS
def test_a_dead_server_ends_with_a_line_that_says_resume(provider: str) -> None:
    with ModelServer(provider, [BAR]) as server:
        mind = mind_at(server)
    with pytest.raises(ModelUnavailable, match="--resume") as caught:
        mind.ask(TYPE, **LUNCH)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "refusal", "words"),
    [
        (
            "google_genai",
            fault("google_genai", 400, "API key not valid."),
            "does not accept the key: check GOOGLE",
        ),
        ("anthropic", fault("anthropic", 400, "Your credit balance is too low"), "has no quota left"),
        ("openai", fault("openai", 429, "no money", "insufficient_quota"), "has no quota left"),
        ("openai", fault("openai", 400, "This model's maximum context length is 8"), "so long a prompt"),
        ("anthropic", fault("anthropic", 400, "prompt is too long: 3 tokens"), "so long a prompt"),
        ("google_genai", fault("google_genai", 400, "input token count (9) exceeds"), "so long a prompt"),
        ("openai", fault("openai", 404, "no such model"), "is not known to the server"),
        ("ollama", fault("ollama", 404, "model 'x' not found"), "is not known to the server"),
    ],
)
def test_faults_of_providers_say_what_to_change(provider: str, refusal: Any, words: str) -> None:
    with ModelServer(provider, [refusal]) as server:
        with pytest.raises((MindFailed, ModelUnavailable), match=words):
            mind_at(server).ask(TYPE, **LUNCH)
        assert len(server.requests) == 1


SETTINGS = {
    "openai": {"temperature": 0.0, "max_completion_tokens": 4096},
    "anthropic": {"temperature": 0.0, "max_tokens": 16_384},
    "google_genai": {"temperature": 0.0, "maxOutputTokens": 16_384},
    "ollama": {"temperature": 0.0, "num_predict": 16_384, "num_ctx": 16_384},
}
CHOSEN = {
    "openai": {"temperature": 0.5, "max_completion_tokens": 500},
    "anthropic": {"temperature": 0.5, "max_tokens": 500},
    "google_genai": {"temperature": 0.5, "maxOutputTokens": 500},
    "ollama": {"temperature": 0.5, "num_predict": 500, "num_ctx": 8_192},
}


@PROVIDERS
def test_settings_have_defaults_and_follow_the_user(provider: str) -> None:
    with ModelServer(provider, [BAR]) as server:
        mind_at(server).ask(TYPE, **LUNCH)
        mind_at(server, "?temperature=0.5&max_tokens=500&context=8192").ask(TYPE, **LUNCH)
        assert server.refusals == []
    for request, wanted in zip(server.requests, (SETTINGS[provider], CHOSEN[provider]), strict=True):
        held = request.body | request.body.get("generationConfig", {}) | request.body.get("options", {})
        assert {name: held.get(name) for name in wanted} == wanted


@PROVIDERS
def test_the_seed_of_the_run_reaches_models_that_take_one(provider: str) -> None:
    with ModelServer(provider, [BAR]) as server:
        mind = mind_at(server, seed=7)
        mind.ask(TYPE, **LUNCH)
        mind_at(server, "?seed=8", seed=7).ask(TYPE, **LUNCH)
        assert server.refusals == []
    seeds = [
        (one.body | one.body.get("generationConfig", {}) | one.body.get("options", {})).get("seed")
        for one in server.requests
    ]
    takes = provider != "anthropic"
    assert seeds == ([7, 8] if takes else [None, None])
    assert settings_of(mind).get("seed") == (7 if takes else None), "the journal has what was sent"


def test_a_seed_that_is_refused_is_left_out_from_then_on(caplog: pytest.LogCaptureFixture) -> None:
    def answer(request: Request) -> Any:
        return fault("openai", 400, "Unsupported parameter: 'seed'") if "seed" in request.body else BAR

    with ModelServer("openai", [answer]) as server:
        mind = mind_at(server, seed=7)
        mind.ask(TYPE, **LUNCH)
        mind.ask(TYPE, **LUNCH | {"intention": "Tea."})
        assert len(server.requests) == 3
    assert caplog.text.count("takes no seed: its replies may differ") == 1
    assert "takes no seed" in mind.ledger.take_asked()[0].remark


@pytest.mark.parametrize(
    ("spec", "provider", "sent"),
    [
        ("openai:gpt-5-mini?effort=low", "openai", '"reasoning_effort": "low"'),
        ("anthropic:claude-opus-5?effort=low", "anthropic", '"effort": "low"'),
        ("google_genai:gemini-3-pro-preview?effort=low", "google_genai", '"thinking_level": "LOW"'),
        ("ollama:gpt-oss?effort=low", "ollama", '"think": "low"'),
    ],
)
def test_effort_goes_to_models_that_reason_and_no_temperature_where_none_is_taken(
    spec: str, provider: str, sent: str
) -> None:
    with ModelServer(provider, [BAR]) as server:
        mind = open_mind(spec, cache_dir=None, base_url=server.url)
        assert mind.ask(TYPE, **LUNCH).place_type == "bar"
        assert server.refusals == []
        assert sent in server.requests[0].text.replace("thinkingLevel", "thinking_level")
    assert mind.name == spec.partition("?")[0]


def test_a_temperature_that_is_refused_is_left_out_from_then_on(caplog: pytest.LogCaptureFixture) -> None:
    def answer(request: Request) -> Any:
        if "temperature" in request.body:
            return fault("openai", 400, "Unsupported value: 'temperature' does not support 0.0")
        return BAR

    with ModelServer("openai", [answer]) as server:
        mind = open_mind("openai:some-new-model", cache_dir=None, base_url=server.url)
        mind.ask(TYPE, **LUNCH)
        mind.ask(TYPE, **LUNCH | {"intention": "Tea."})
        assert len(server.requests) == 3
        asked = open_mind("openai:some-new-model?temperature=0.3", cache_dir=None, base_url=server.url)
        with pytest.raises(ModelUnavailable, match="does not take temperature"):
            asked.ask(TYPE, **LUNCH)
    assert "takes no temperature" in caplog.text


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("openai:gpt-4o?efort=low", "efort"),
        ("openai:gpt-4o?max_tokens=many", "max_tokens"),
        ("openai:gpt-4o?effort", "FIELD=VALUE"),
        ("openai:gpt-4o?price=7", "two numbers"),
        ("nosuch:model", "no provider 'nosuch'"),
    ],
)
def test_wrong_settings_and_providers_are_told_before_any_request(spec: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        open_mind(spec, cache_dir=None)
    assert "\n" not in str(caught.value)


def test_no_key_goes_to_the_server_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer("openai", [BAR]) as own, ModelServer("anthropic", [BAR]) as anthropic:
        monkeypatch.setenv("VIRL_BASE_URL", own.url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", anthropic.url)
        open_mind("openai:local", cache_dir=None).ask(TYPE, **LUNCH)
        open_mind(MODELS["anthropic"], cache_dir=None).ask(TYPE, **LUNCH)
        monkeypatch.setenv("VIRL_API_KEY", "key-of-my-own-server-0123")
        open_mind("openai:local", cache_dir=None).ask(TYPE, **LUNCH)
        sent = [json.dumps(dict(one.headers)) for one in own.requests]
        assert not [name for name in KEY_VARIABLES if f"marker-of-{name.lower()}" in "".join(sent)]
        assert "key-of-my-own-server-0123" in sent[1]
        assert "marker-of-anthropic" in json.dumps(dict(anthropic.requests[0].headers))


def test_a_budget_needs_a_price() -> None:
    with ModelServer("openai", [BAR]) as server:
        with pytest.raises(BadInput, match=r"no price is known for openai:unheard-of.*price="):
            open_mind("openai:unheard-of", cache_dir=None, base_url=server.url, ledger=Ledger(1.0))
        ledger = Ledger(1.0)
        spec = "openai:unheard-of?price=1000,2000"
        mind = open_mind(spec, cache_dir=None, base_url=server.url, ledger=ledger)
        with pytest.raises(Exception, match="budget"):
            mind.ask(TYPE, **LUNCH)
        assert server.requests == []
    assert ledger.spent_usd == 0


@PROVIDERS
def test_tokens_that_a_server_does_not_count_are_estimated(
    provider: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with ModelServer(provider, [Said('{"place_type": "bar"}', usage=None)]) as server:
        ledger = Ledger(10.0)
        mind = mind_at(server, "?price=100,100", ledger=ledger)
        mind.ask(TYPE, **LUNCH)
        mind.ask(TYPE, **LUNCH | {"intention": "Tea."})
    exchanges = mind.ledger.take_asked()
    assert all(one.input_tokens > 50 and one.output_tokens > 3 for one in exchanges)
    assert ledger.spent_usd == pytest.approx(sum(one.usd for one in exchanges), rel=1e-3)
    assert caplog.text.count("does not say how many tokens") == 1


def test_a_request_in_flight_at_a_kill_is_booked(tmp_path: Path) -> None:
    book = tmp_path / "spending.jsonl"

    class Killed(BaseException):
        pass

    def answer(request: Request) -> Said:
        return BAR

    with ModelServer("openai", [answer]) as server:
        mind = mind_at(server, ledger=Ledger(1.0, book=book))
        original = mind._client.model.invoke

        def killed(*args: Any, **kwargs: Any) -> Any:
            original(*args, **kwargs)
            raise Killed

        object.__setattr__(mind._client.model, "invoke", killed)
        with pytest.raises(Killed):
            mind.ask(load_prompt("senses/describe-view", Text), question="")
    paid = Ledger(book=book).payments()
    assert (paid.calls, paid.usd > 0) == (1, True)
    assert paid.input_tokens > 50


def test_gemini_is_asked_at_the_version_with_all_models_unless_the_user_says_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ModelServer("google_genai", [BAR]) as server:
        mind_at(server).ask(TYPE, **LUNCH)
        [request] = server.requests
        assert request.path.startswith("/v1beta/models/")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v1")
    assert "api_version" not in ModelDefaults("google_genai", MindSettings()).options()


def test_a_reply_that_llama_cpp_cut_off_is_not_tried_again() -> None:
    said = "The model produced output that does not match the expected peg-native format"
    with ModelServer("openai", [fault("openai", 500, said)]) as server:
        with pytest.raises(MindFailed, match=r"ran into its token limit .*max_tokens=N"):
            mind_at(server).ask(TYPE, **LUNCH)
        assert len(server.requests) == 1


@pytest.mark.slow
@PROVIDERS
def test_of_a_long_wrong_reply_an_excerpt_is_sent_back(provider: str) -> None:
    with ModelServer(provider, [says("I would rather talk. " * 5_000), BAR]) as server:
        assert mind_at(server).ask(TYPE, **LUNCH).place_type == "bar"
        first, second = server.requests
    assert "I would rather talk." in second.text
    assert len(second.text) < len(first.text) + 2_000
