"""Traces of runs: to an exporter in memory, as a program around virl would have one, and to a collector."""

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import made_benchmark
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from made_life import MODEL, Life, finish, made_character, virlton
from openai_server import ChatServer, fault, reply, tool_calls
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from otlp_collector import Collector
from rich.console import Console

from virl.agent.plan import RunOptions
from virl.agent.start import run_agent
from virl.bench.run import Engine, run_benchmark
from virl.errors import BadInput, ModelUnavailable
from virl.mind.open import open_mind
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.platform.providers.http.pace import ask_all
from virl.platform.providers.http.settings import Timeouts
from virl.platform.providers.http.wire import Wire
from virl.redaction import Redaction
from virl.traces import spans as traces

KEY = "sk-marker-0123456789abcdef"
SAID = "the garden gate"
SWITCHES = (traces.SWITCH, traces.CONTENT_SWITCH, traces.STANDARD_CONTENT, *traces.STANDARD_SWITCHES)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*SWITCHES, "OPENAI_BASE_URL", "VIRL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("virl.mind.llm.FIRST_WAIT_S", 0.01)


class Host:
    """A program with OpenTelemetry of its own, in which virl runs."""

    def __init__(self) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider([self.reader], shutdown_on_exit=False)

    def spans(self, beginning: str = "") -> list[ReadableSpan]:
        """In the order in which they began."""
        found = [one for one in self.exporter.get_finished_spans() if one.name.startswith(beginning)]
        return sorted(found, key=lambda one: one.start_time or 0)

    def everything(self) -> str:
        return "".join(one.to_json() for one in self.spans())

    def points(self, metric: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        assert data is not None
        return [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for one in scope.metrics
            if one.name == metric
            for point in one.data.data_points
        ]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    host = Host()
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", host.tracers)
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", host.meters)
    yield host
    host.tracers.shutdown()
    host.meters.shutdown()


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(virlton(), tmp_path / "run", made_character(tools=["where_am_i", "move"]))


def facts(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_life_by_tools_is_an_agent_that_chats_and_uses_tools(host: Host, life: Life) -> None:
    where = tool_calls(("where_am_i", {}), said=SAID, input_tokens=1000, cached_tokens=400)
    life.live([where, tool_calls(finish(SAID))])
    names = [(span.name, span.kind) for span in host.spans()]
    assert names == [
        ("chat gpt-5-mini", SpanKind.CLIENT),
        ("execute_tool where_am_i", SpanKind.INTERNAL),
        ("chat gpt-5-mini", SpanKind.CLIENT),
        ("execute_tool finish", SpanKind.INTERNAL),
    ]
    asked = facts(host.spans("chat")[0])
    assert asked["gen_ai.operation.name"] == "chat"
    assert asked["gen_ai.provider.name"] == "openai"
    assert asked["gen_ai.request.model"] == "gpt-5-mini"
    assert asked["gen_ai.request.max_tokens"] == 16_384
    assert asked["gen_ai.response.model"] == "test"
    assert asked["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert asked["gen_ai.usage.input_tokens"] == 1000
    assert asked["gen_ai.usage.cache_read.input_tokens"] == 400
    assert asked["gen_ai.usage.output_tokens"] == 10
    assert asked["virl.cost_usd"] == pytest.approx((600 * 0.25 + 400 * 0.025 + 10 * 2) / 1e6)
    assert facts(host.spans("execute_tool")[0])["gen_ai.tool.name"] == "where_am_i"
    assert SAID not in host.everything(), "nothing that is said, unless it is asked for"
    assert "91 Station Street" not in host.everything()


def test_metrics_count_tokens_and_seconds(host: Host, life: Life) -> None:
    life.live([tool_calls(finish(), input_tokens=300)])
    tokens = {
        point.attributes["gen_ai.token.type"]: point.sum for point in host.points("gen_ai.client.token.usage")
    }
    assert tokens == {"input": 300, "output": 10}
    [seconds] = host.points("gen_ai.client.operation.duration")
    assert seconds.count == 1
    assert seconds.attributes["gen_ai.request.model"] == "gpt-5-mini"


def test_what_is_said_is_told_where_it_is_asked_for_without_keys(
    host: Host, life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(traces.STANDARD_CONTENT, "SPAN_ONLY")
    where = tool_calls(("where_am_i", {}), said=f"{SAID} {KEY}")
    life.live([where, tool_calls(finish(f"at {KEY}"))])
    asked = [facts(span) for span in host.spans("chat")]
    [turn] = json.loads(asked[0]["gen_ai.output.messages"])
    assert turn["parts"][0] == {"type": "text", "content": f"{SAID} ***"}
    assert turn["parts"][1]["name"] == "where_am_i"
    roles = [message["role"] for message in json.loads(asked[1]["gen_ai.input.messages"])]
    assert roles == ["user", "assistant", "tool"]
    assert "Tess" in json.loads(asked[0]["gen_ai.system_instructions"])[0]["content"]
    used = facts(host.spans("execute_tool finish")[0])
    assert json.loads(used["gen_ai.tool.call.arguments"])["answer"] == "at ***"
    assert "Station Street" in facts(host.spans("execute_tool where")[0])["gen_ai.tool.call.result"]
    assert KEY not in host.everything()


def test_requests_that_fail_say_so_and_each_try_is_told(host: Host) -> None:
    with ChatServer([fault(503, f"overloaded {KEY}"), reply({"text": "yes"})]) as server:
        mind = open_mind(MODEL, cache_dir=None, base_url=server.url)
        mind.ask(load_prompt("senses/describe-view", Text), question="Is it open?")
    first, second = host.spans("chat")
    assert first.status.status_code is StatusCode.ERROR
    assert (facts(first)["error.type"], facts(first)["virl.attempt"]) == ("broken", 1)
    assert second.status.status_code is StatusCode.UNSET
    assert (facts(second)["virl.attempt"], facts(second)["virl.prompt"]) == (2, "senses/describe-view")
    assert KEY not in host.everything()
    assert "overloaded" not in host.everything()


def test_replies_from_the_cache_and_from_a_journal_say_so(host: Host, life: Life, tmp_path: Path) -> None:
    prompt = load_prompt("senses/describe-view", Text)
    with ChatServer([reply({"text": "yes"})]) as server:
        for _ in range(2):
            mind = open_mind(MODEL, cache_dir=tmp_path / "replies", base_url=server.url)
            mind.ask(prompt, question="Is it open?")
        assert len(server.requests) == 1
    sent, kept = host.spans("chat")
    assert "virl.cached" not in facts(sent)
    assert facts(kept)["virl.cached"] is True
    assert "gen_ai.usage.input_tokens" not in facts(kept)
    with pytest.raises(ModelUnavailable):
        life.live([tool_calls(("where_am_i", {})), fault(401)])
    host.exporter.clear()
    life.live([tool_calls(finish())])
    chats, tools = host.spans("chat"), host.spans("execute_tool")
    assert [facts(one).get("virl.replayed") for one in chats] == [True, None]
    assert [facts(one).get("virl.replayed") for one in tools] == [True, None]


def test_what_is_asked_in_threads_belongs_to_what_asked_for_it(host: Host) -> None:
    prompt = load_prompt("senses/describe-view", Text)
    with ChatServer([reply({"text": "yes"})]) as server:
        mind = open_mind(MODEL, cache_dir=None, base_url=server.url)
        with traces.conversation("one run"), traces.span("outer", {}):
            ask_all(lambda question: mind.with_own_ledger().ask(prompt, question=question), ["a", "b", "c"])
    [outer], asked = host.spans("outer"), host.spans("chat")
    assert len(asked) == 3
    assert {one.parent and one.parent.span_id for one in asked} == {outer.context.span_id}
    assert {facts(one)["gen_ai.conversation.id"] for one in asked} == {"one run"}


@pytest.mark.slow
def test_a_run_goes_to_a_collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("turns:\n  - tool: where_am_i\n  - answer: Here.\n")
    character = tmp_path / "tess.yaml"
    character.write_text(
        "name: Tess\nage: 30\ncity: virlton\nstart: 91 Station Street\nbackground: Curious.\n"
        "intention: Tess wants to know where she is.\ntools: [where_am_i]\nsenses: {detector: simulated}\n"
    )
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        asked = RunOptions(agent=str(character), mind=f"scripted:{script}", out=tmp_path / "run")
        finished = run_agent(asked, Console(quiet=True))
    spans = collector.spans
    assert [span["name"] for span in spans] == [
        "execute_tool where_am_i",
        "execute_tool finish",
        "invoke_agent Tess",
    ]
    agent = spans[-1]
    assert agent["attributes"]["gen_ai.agent.id"] == "tess"
    assert agent["attributes"]["virl.status"] == finished.result.status
    run_id = json.loads((finished.folder / "journal.jsonl").read_text().splitlines()[0])["id"]
    assert {span["attributes"]["gen_ai.conversation.id"] for span in spans} == {run_id}
    assert {span["parent"] for span in spans[:-1]} == {agent["id"]}
    assert collector.service == "virl"


def test_what_a_run_that_fails_did_is_sent_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Collector() as collector:
        monkeypatch.setenv("VIRL_OTEL", "1")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        for error in (BadInput("no way"), KeyboardInterrupt()):
            with pytest.raises(type(error)), traces.export_traces(), traces.span("work", {}):
                raise error
    assert [span["attributes"]["error.type"] for span in collector.spans] == ["BadInput", "KeyboardInterrupt"]
    assert "no way" not in str(collector.spans)


def test_a_collector_that_does_not_answer_costs_a_line_and_a_bounded_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("virl.traces.spans.CLOSING_S", 0.2)
    monkeypatch.setattr(logging.getLogger("opentelemetry"), "propagate", True)  # put back after the test
    with Collector(silent=True) as collector:
        monkeypatch.setenv(
            "OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.replace("//", "//me:password12345678@")
        )
        with (
            caplog.at_level(logging.WARNING),
            pytest.raises(BadInput),
            traces.export_traces(),
            traces.span("work", {}),
        ):
            raise BadInput("and the run fails, too")
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("traces could not be sent to http://***@127.0.0.1")
    assert "password" not in line


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"VIRL_OTEL": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        {"VIRL_OTEL": "1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
    ],
)
def test_off_is_off(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with traces.export_traces():
        assert not traces.is_on()


def test_a_program_can_leave_the_traces_of_virl_out(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    with traces.span("told", {}):
        pass
    monkeypatch.setenv("VIRL_OTEL", "0")
    with traces.span("untold", {}):
        pass
    assert [span.name for span in host.spans()] == ["told"]


def test_an_exporter_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "zipkin")
    with (
        pytest.raises(BadInput, match="no exporter 'zipkin' for traces: pip install"),
        traces.export_traces(),
    ):
        pass


def test_a_list_of_exporters_is_used_and_a_limit_that_is_no_number_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console, otlp")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.1")
    monkeypatch.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "abc")
    with traces.export_traces(), traces.span("told", {}):
        pass
    assert "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT=abc is no number" in caplog.text
    assert "could not be sent to http://127.0.0.1:9" in caplog.text


def test_without_the_extra_traces_are_refused_where_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("opentelemetry.sdk.trace", "opentelemetry.sdk.metrics"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    with caplog.at_level(logging.WARNING), traces.export_traces():
        pass
    assert "pip install 'virl[otel]'" in caplog.text
    monkeypatch.setenv("VIRL_OTEL", "1")
    with pytest.raises(ModelUnavailable, match="virl\\[otel\\]"), traces.export_traces():
        pass


class Heard(BaseCallbackHandler):
    """As LangSmith's tracer listens."""

    def __init__(self) -> None:
        self.asked = 0

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.asked += 1


def test_callbacks_of_a_langchain_program_around_virl_hear_the_model() -> None:
    heard, prompt = Heard(), load_prompt("senses/describe-view", Text)
    with ChatServer([reply({"text": "yes"})]) as server:
        mind = open_mind(MODEL, cache_dir=None, base_url=server.url)

        def asks(questions: Sequence[str]) -> None:
            ask_all(lambda question: mind.with_own_ledger().ask(prompt, question=question), questions)

        RunnableLambda(asks).invoke(["a", "b"], {"callbacks": [heard]})
    assert heard.asked == 2


@pytest.mark.slow
def test_hiro_by_rules_asks_no_model(host: Host, tmp_path: Path) -> None:
    fields = {"limits.steps": 1}
    finished = run_agent(RunOptions(agent="hiro", out=tmp_path / "run", fields=fields), Console(quiet=True))
    [agent] = host.spans()
    assert (agent.name, facts(agent)["virl.mind"]) == ("invoke_agent Hiro", "rules")
    assert facts(agent)["virl.steps"] == finished.result.steps
    assert facts(agent)["gen_ai.usage.input_tokens"] == 0


def test_episodes_of_a_benchmark_in_threads(host: Host, tmp_path: Path) -> None:
    options = made_benchmark.Options(count=1, cities=("north",), trouble={"case 0": "never"})
    engine = Engine("threads", 2, attempts=1)
    with traces.span("outer", {}):
        run_benchmark(made_benchmark.NAME, options, tmp_path / "bench", Console(quiet=True), engine=engine)
    [outer], episodes = host.spans("outer"), host.spans("episode made")
    assert {facts(one)["virl.episode.id"] for one in episodes} == {"sharp/north/case 0", "blunt/north/case 0"}
    assert {facts(one)["error.type"] for one in episodes} == {"NoImagery"}
    assert {one.parent and one.parent.span_id for one in episodes} == {outer.context.span_id}


@pytest.mark.slow
def test_processes_send_what_they_traced_before_they_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, engine = made_benchmark.Options(count=2), Engine("processes", 2)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        run_benchmark(made_benchmark.NAME, options, tmp_path / "bench", Console(quiet=True), engine=engine)
    ids = [span["attributes"]["virl.episode.id"] for span in collector.spans]
    assert len(set(ids)) == len(ids) == 8


class Key:
    """What proves to a provider who asks: a key in the query."""

    redaction = Redaction.of([KEY])

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        return request.url.copy_merge_params({"key": KEY}), request.headers


def test_requests_to_providers_are_told_without_what_is_asked(host: Host) -> None:
    with ChatServer([fault(404)]) as server:
        wire = Wire([f"http://{server.host}"], Key(), timeouts=Timeouts())
        wire.send("POST", f"{server.url}/{SAID}", query={"q": SAID}, body={})
        wire.close()
        assert KEY in server.requests[0].path
    [asked] = host.spans("POST 127.0.0.1")
    assert asked.kind is SpanKind.CLIENT
    assert (facts(asked)["http.response.status_code"], facts(asked)["error.type"]) == (404, "404")
    assert not any(text in host.everything() for text in (KEY, SAID, SAID.replace(" ", "%20")))
