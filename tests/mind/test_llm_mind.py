import base64
import io
import logging
import subprocess
import sys
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest
from openai_server import Behaviour, ChatServer, fault, refusal, reply, text, tool_call
from PIL import Image as Picture

from virl.errors import BadInput, MindFailed, ModelUnavailable
from virl.mind.cache import ReplyCache
from virl.mind.llm import LLMMind
from virl.mind.open import open_mind
from virl.mind.prompt import load_prompt
from virl.mind.providers import ChatManner
from virl.platform.navigators.intention.rules import RoadChoice
from virl.routines.explore.rules import PlaceType

KEY = "sk-test-0123456789abcdef"
LUNCH = {"intention": "I want lunch.", "place_types": ["restaurant", "bar"]}
TYPE_PROMPT = load_prompt("explore/place-type", PlaceType)
ROAD_PROMPT = load_prompt("movement/intention-road", RoadChoice)
GOOD = reply({"place_type": "restaurant"})


@pytest.fixture(autouse=True)
def key(monkeypatch):
    for name in ("VIRL_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def waits():
    return []


def chat_model(server, timeout=5.0):
    from langchain.chat_models import init_chat_model

    return init_chat_model("openai:gpt-5-mini", base_url=server.url, timeout=timeout, max_retries=0)


def mind_at(server, waits=None, *, timeout=5.0, name="openai:gpt-5-mini", **options):
    waits = [] if waits is None else waits
    return LLMMind(chat_model(server, timeout), name, sleep=waits.append, **options)


@pytest.mark.slow
def test_a_good_reply_is_typed_and_written_down():
    with ChatServer(
        [reply({"place_type": "bar"}, input_tokens=1200, cached_tokens=200, output_tokens=30)]
    ) as server:
        mind = mind_at(server)
        assert mind.ask(TYPE_PROMPT, **LUNCH) == PlaceType(place_type="bar")
    [exchange] = mind.ledger.take_asked()
    assert (exchange.prompt, exchange.mind) == ("explore/place-type", "openai:gpt-5-mini")
    assert (exchange.inputs, exchange.reply) == (LUNCH, {"place_type": "bar"})
    assert (exchange.attempts, exchange.cached) == (1, False)
    assert (exchange.input_tokens, exchange.output_tokens) == (1200, 30)
    # 1000 fresh at 0.25, 200 cached at 0.025 and 30 out at 2 dollars a million
    assert exchange.usd == pytest.approx((1000 * 0.25 + 200 * 0.025 + 30 * 2) / 1e6)
    assert mind.is_priced


@pytest.mark.slow
def test_the_request_holds_the_rendered_prompt_and_the_schema():
    with ChatServer([GOOD]) as server:
        mind_at(server).ask(TYPE_PROMPT, **LUNCH)
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert "- restaurant" in str(request.messages[0]["content"])
    assert "I want lunch." in str(request.messages[1]["content"])
    schema = request.body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["place_type"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (text('{"place_type": "restau'), "Invalid JSON"),
        (text("A restaurant, surely."), "Invalid JSON"),
        (reply({"kind": "restaurant"}), "place_type: Field required"),
        (reply({"place_type": "restaurant", "sure": True}), "sure: Extra inputs"),
        (reply({"place_type": "opera"}), "not among the place types offered"),
    ],
)
def test_an_invalid_reply_is_sent_back_with_the_fault_named(bad, complaint):
    with ChatServer([bad, GOOD]) as server:
        mind = mind_at(server)
        assert mind.ask(TYPE_PROMPT, **LUNCH).place_type == "restaurant"
    first, second = server.requests
    assert second.messages[0] == first.messages[0]
    assert [message["role"] for message in second.messages] == ["system", "user", "assistant", "user"]
    assert complaint in str(second.messages[3]["content"])
    [exchange] = mind.ledger.take_asked()
    assert (exchange.attempts, exchange.input_tokens, exchange.output_tokens) == (2, 200, 20)


def test_a_reply_in_a_code_fence_is_taken():
    with ChatServer([text('```json\n{"place_type": "bar"}\n```')]) as server:
        assert mind_at(server).ask(TYPE_PROMPT, **LUNCH).place_type == "bar"


def test_replies_may_come_as_tool_calls():
    script = [
        tool_call("not json", "PlaceType"),
        tool_call('{"place_type": "opera"}', "PlaceType"),
        tool_call('{"place_type": "bar"}', "PlaceType"),
    ]
    with ChatServer(script) as server:
        mind = mind_at(server, manner=ChatManner("function_calling"))
        assert mind.ask(TYPE_PROMPT, **LUNCH).place_type == "bar"
    assert server.requests[0].body["tools"][0]["function"]["name"] == "PlaceType"
    last = server.requests[2].messages
    assert [message["role"] for message in last] == ["system", "user", "assistant", "user"]
    assert "not among the place types offered" in str(last[3]["content"])


def test_an_answer_that_is_no_chat_completion_ends_in_one_line():
    with ChatServer([Behaviour(body="<html>Welcome to the hotel wifi</html>")]) as server:
        with pytest.raises(ModelUnavailable, match="no chat server answers: check the base URL") as caught:
            mind_at(server).ask(TYPE_PROMPT, **LUNCH)
        assert len(server.requests) == 1
    assert "\n" not in str(caught.value)


def test_replies_that_stay_invalid_end_in_one_line_and_are_still_paid_for():
    with ChatServer([reply({"place_type": 7})]) as server:
        mind = mind_at(server, retries=2)
        with pytest.raises(MindFailed, match=r"no valid reply to explore/place-type in 3 tries: place_type"):
            mind.ask(TYPE_PROMPT, **LUNCH)
    assert len(server.requests) == 3
    [exchange] = mind.ledger.take_asked()
    assert exchange.input_tokens == 300
    assert "no valid reply" in exchange.reply["error"]


def test_a_road_that_is_not_there_is_refused():
    roads = [{"index": 0, "description": "shops"}, {"index": 2, "description": "trees"}]
    with ChatServer([reply({"index": 1, "reason": "r"}), reply({"index": 2, "reason": "r"})]) as server:
        choice = mind_at(server).ask(ROAD_PROMPT, intention="i", place_type="bar", roads=roads)
    assert choice.index == 2
    assert "there is 0, 2" in str(server.requests[1].messages[3]["content"])


def test_a_refusal_is_final_and_quoted_in_short():
    with ChatServer([refusal("I cannot help with that. " * 40)]) as server:
        with pytest.raises(MindFailed, match="refused to answer explore/place-type: I cannot help") as caught:
            mind_at(server).ask(TYPE_PROMPT, **LUNCH)
        assert len(server.requests) == 1
    assert len(str(caught.value)) < 300


def test_a_reply_cut_off_at_the_token_limit_says_so():
    with ChatServer([text('{"place_type": "bar"}', finish="length")]) as server:
        mind = mind_at(server)
        with pytest.raises(MindFailed, match="token limit"):
            mind.ask(TYPE_PROMPT, **LUNCH)
    assert mind.ledger.take_asked()[0].output_tokens == 10


@pytest.mark.slow
def test_retry_after_is_honoured():
    with ChatServer([fault(429, retry_after="0.3"), GOOD]) as server:
        LLMMind(chat_model(server), "openai:gpt-5-mini").ask(TYPE_PROMPT, **LUNCH)
    first, second = server.requests
    assert 0.3 <= second.at - first.at < 2.0


def test_retry_after_may_be_a_date(waits):
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    with ChatServer([fault(429, retry_after=when), GOOD]) as server:
        mind_at(server, waits).ask(TYPE_PROMPT, **LUNCH)
    assert 20 < waits[0] <= 50


def test_a_long_retry_after_is_not_waited_for(waits):
    script = [fault(429, retry_after="3600")]
    with ChatServer(script) as server, pytest.raises(ModelUnavailable, match="wait 3600 s"):
        mind_at(server, waits).ask(TYPE_PROMPT, **LUNCH)
    assert not waits


def test_an_exhausted_quota_is_not_tried_again(waits):
    with ChatServer([fault(429, "You exceeded your current quota", "insufficient_quota")]) as server:
        with pytest.raises(ModelUnavailable, match="no quota left"):
            mind_at(server, waits).ask(TYPE_PROMPT, **LUNCH)
        assert len(server.requests) == 1


def test_a_failing_server_is_tried_again_with_growing_waits(waits):
    with ChatServer([fault(500), fault(503), GOOD]) as server:
        assert mind_at(server, waits).ask(TYPE_PROMPT, **LUNCH).place_type == "restaurant"
    assert waits == [0.5, 1.0]


def test_a_server_that_keeps_failing_ends_in_one_line(waits):
    with ChatServer([fault(500, "the model has melted")]) as server:
        with pytest.raises(
            ModelUnavailable, match=r"failed 8 times.*the model has melted.*--resume"
        ) as caught:
            mind_at(server, waits).ask(TYPE_PROMPT, **LUNCH)
        assert len(server.requests) == 8
    assert waits == [0.5, 1, 2, 4, 8, 16, 32]
    assert "\n" not in str(caught.value)


def test_a_timeout_is_tried_again(waits):
    with ChatServer([text("{}", delay=1.0), GOOD]) as server:
        mind = mind_at(server, waits, timeout=0.2)
        assert mind.ask(TYPE_PROMPT, **LUNCH).place_type == "restaurant"
    assert len(server.requests) == 2


def test_a_server_that_is_always_too_slow_is_unavailable(waits):
    script = [text("{}", delay=0.5)]
    with ChatServer(script) as server, pytest.raises(ModelUnavailable, match="failed 2 times"):
        mind_at(server, waits, timeout=0.1, retries=1).ask(TYPE_PROMPT, **LUNCH)


def test_a_server_that_is_not_there_is_unavailable(waits):
    with ChatServer([GOOD]) as server:
        pass
    with pytest.raises(ModelUnavailable, match="failed 3 times"):
        mind_at(server, waits).ask(TYPE_PROMPT, **LUNCH)


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (400, ModelUnavailable, "failed: .*bad request"),
        (401, ModelUnavailable, "does not accept the key"),
        (404, ModelUnavailable, "not known to the server"),
    ],
)
def test_other_faults_are_final(status, error, words):
    with ChatServer([fault(status, "bad request")]) as server:
        with pytest.raises(error, match=words):
            mind_at(server).ask(TYPE_PROMPT, **LUNCH)
        assert len(server.requests) == 1


def test_pictures_go_in_as_image_blocks():
    image = np.zeros((24, 32, 3), np.uint8)
    image[:, 16:] = (250, 10, 10)
    roads = [{"index": 0, "description": "shops"}]
    with ChatServer([reply({"index": 0, "reason": "the only one"})]) as server:
        mind = mind_at(server)
        mind.ask(ROAD_PROMPT, images=[image, image], intention="i", place_type="bar", roads=roads)
    content = server.requests[0].messages[1]["content"]
    assert [block["type"] for block in content] == ["text", "image_url", "image_url"]
    kind, _, data = content[1]["image_url"]["url"].partition(",")
    assert kind == "data:image/jpeg;base64"
    seen = np.asarray(Picture.open(io.BytesIO(base64.b64decode(data))))
    assert np.abs(seen.astype(int) - image).mean() < 4
    [exchange] = mind.ledger.take_asked()
    assert exchange.inputs["images"] == ["32x24", "32x24"]


def test_a_reply_is_never_paid_for_twice(tmp_path):
    with ChatServer([reply({"place_type": "bar"}), reply({"place_type": "restaurant"})]) as server:
        for _ in range(2):
            mind = mind_at(server, cache=ReplyCache(tmp_path))
            assert mind.ask(TYPE_PROMPT, **LUNCH).place_type == "bar"
        assert len(server.requests) == 1
        [exchange] = mind.ledger.take_asked()
        assert (exchange.cached, exchange.usd, exchange.input_tokens) == (True, 0.0, 0)
        mind.ask(TYPE_PROMPT, intention="I want a drink.", place_types=["restaurant", "bar"])
        assert len(server.requests) == 2


def test_another_picture_or_parameter_is_another_request(tmp_path):
    dark, light = np.zeros((16, 16, 3), np.uint8), np.full((16, 16, 3), 200, np.uint8)
    with ChatServer([GOOD]) as server:
        for image in (dark, light, dark):
            mind_at(server, cache=ReplyCache(tmp_path)).ask(TYPE_PROMPT, images=[image], **LUNCH)
        assert len(server.requests) == 2
        warmer = chat_model(server).model_copy(update={"temperature": 0.5})
        LLMMind(warmer, "openai:gpt-5-mini", cache=ReplyCache(tmp_path)).ask(
            TYPE_PROMPT, images=[dark], **LUNCH
        )
        assert len(server.requests) == 3
        patient = mind_at(server, cache=ReplyCache(tmp_path), timeout=9.0)
        patient.ask(TYPE_PROMPT, images=[dark], **LUNCH)
        assert len(server.requests) == 3


def test_a_bad_reply_is_not_kept(tmp_path):
    with ChatServer([reply({"place_type": "opera"})]) as server, pytest.raises(MindFailed):
        mind_at(server, cache=ReplyCache(tmp_path)).ask(TYPE_PROMPT, **LUNCH)
    assert not list(tmp_path.rglob("*.json"))


def test_a_cache_that_cannot_be_written_loses_no_reply(tmp_path, caplog):
    (tmp_path / "cache").write_text("a file stands in the way")
    with ChatServer([GOOD]) as server:
        mind = mind_at(server, cache=ReplyCache(tmp_path / "cache"))
        assert mind.ask(TYPE_PROMPT, **LUNCH).place_type == "restaurant"
    assert "cannot keep replies there" in caplog.text


def test_each_reply_to_a_question_is_priced_by_itself():
    tokens = {"input_tokens": 200_000, "output_tokens": 1_000}
    with ChatServer([text("no", **tokens), reply({"place_type": "restaurant"}, **tokens)]) as server:
        mind = mind_at(server, name="openai:gpt-5.4")
        mind.ask(TYPE_PROMPT, **LUNCH)
    [exchange] = mind.ledger.take_asked()
    assert (exchange.attempts, exchange.input_tokens) == (2, 400_000)
    # both are below 272,000 tokens, from where a request costs twice as much
    assert exchange.usd == pytest.approx(2 * (200_000 * 2.5 + 1_000 * 15) / 1e6)


def test_an_unknown_price_counts_as_nothing_and_is_named_once(caplog):
    with ChatServer([GOOD]) as server:
        mind = mind_at(server, name="openai:unheard-of")
        mind.ask(TYPE_PROMPT, **LUNCH)
        mind.ask(TYPE_PROMPT, **LUNCH)
    assert not mind.is_priced
    assert [exchange.usd for exchange in mind.ledger.take_asked()] == [0.0, 0.0]
    assert caplog.text.count("no price is known") == 1


def test_the_key_is_in_no_log_error_or_file(tmp_path, caplog):
    script = [fault(500, f"your key {KEY} broke us"), fault(401, f"Incorrect API key provided: {KEY}")]
    caplog.set_level(logging.DEBUG)
    with ChatServer(script) as server:
        mind = mind_at(server, cache=ReplyCache(tmp_path))
        with pytest.raises(ModelUnavailable) as caught:
            mind.ask(TYPE_PROMPT, **LUNCH)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        server.script = [GOOD]
        mind.ask(TYPE_PROMPT, **LUNCH)
    shown = "".join(traceback.format_exception(caught.value))
    written = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert "place_type" in written
    for where in (shown, written, str(mind.ledger.take_asked()), "\n".join(map(str, caplog.messages))):
        assert KEY not in where
        assert KEY[:12] not in where


def test_inputs_are_checked_before_any_request():
    with ChatServer([GOOD]) as server:
        with pytest.raises(BadInput, match="'explore/place-type': input place_types is missing"):
            mind_at(server).ask(TYPE_PROMPT, intention="lunch")
        assert not server.requests


def test_open_mind_goes_to_the_base_url_of_the_environment(monkeypatch, tmp_path):
    with ChatServer([GOOD]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        mind = open_mind("openai:gpt-5-mini", cache_dir=tmp_path)
        assert mind.name == "openai:gpt-5-mini"
        assert mind.ask(TYPE_PROMPT, **LUNCH).place_type == "restaurant"
        assert server.requests[0].body["model"] == "gpt-5-mini"
    assert list(tmp_path.rglob("*.json"))


def test_a_server_of_ones_own_needs_no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with ChatServer([GOOD]) as server:
        open_mind("openai:some-local-model", cache_dir=None, base_url=server.url).ask(TYPE_PROMPT, **LUNCH)
        assert len(server.requests) == 1


def test_a_missing_key_is_named_before_any_request(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelUnavailable, match="set OPENAI_API_KEY"):
        open_mind("openai:gpt-5-mini", cache_dir=None)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setenv("COHERE_API_KEY", "anything")
    with pytest.raises(ModelUnavailable, match="pip install langchain-cohere"):
        open_mind("cohere:command-r", cache_dir=None)


@pytest.mark.parametrize("spec", ["rulez", "openai:", ":x", "nobody:model"])
def test_an_unknown_mind_is_bad_input(spec):
    with pytest.raises(BadInput, match=spec):
        open_mind(spec, cache_dir=None)


@pytest.mark.slow
def test_rules_open_without_langchain():
    code = (
        "import sys; from virl.mind.open import open_mind; open_mind('rules', cache_dir=None);"
        "sys.exit(any(name.startswith(('langchain', 'openai')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
