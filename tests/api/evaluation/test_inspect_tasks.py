"""Benchmarks as tasks of Inspect, run by Inspect with its mock model, which answers as it is told."""

import gc
import json
import logging
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_dataset import WISHES, place_row, question_row, write_dataset
from openai_server import Behaviour, ChatServer, Request, text
from rich.console import Console

from virl.bench.benchmark import BaseOptions, find_benchmark
from virl.bench.run import Engine, run_benchmark
from virl.errors import BadInput
from virl.registry import load

pytestmark = [
    pytest.mark.slow,  # importing Inspect takes seconds
    pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning"),  # streams that Inspect leaves to Python
]
ROOT = Path(__file__).parents[3]
EXPORT = ROOT / "tests" / "data" / "virlton-small"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INSPECT_LOG_LEVEL", "critical")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-marker-0123456789abcdef")
    for name in ("OPENAI_BASE_URL", "VIRL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    level = logging.root.level
    yield
    logging.root.setLevel(level)  # Inspect sets it for good, and later tests of this process read the log
    gc.collect()  # while the warnings of what Inspect has left are off


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Two questions about photos: the first wish is right, at the third and the first place."""
    places = [place_row(case, "bakery store", number, image=True) for number, case in enumerate("ab")]
    asked = [question_row(places[0], answer=2), question_row(places[1], answer=0)]
    return write_dataset(tmp_path / "data" / "made", places=places, questions=asked).parent


def letter(said: str) -> str:
    """A model that knows the wish, unless it stands first: then it says B."""
    lines = [line for line in said.splitlines() if WISHES[0] in line]
    right = lines[-1].strip().lstrip("(")[0]
    return "B" if right == "A" else right


def evaluate(name: str, outputs: Callable[..., Any] | None = None, **options: Any) -> Any:
    """The log of a task of virl; its arguments are `args`, the others are Inspect's."""
    from inspect_ai import eval as run
    from inspect_ai.model import get_model

    import virl.api.evaluation.tasks  # noqa: F401 - as the entry point loads it

    args = options.pop("args", {})
    model = get_model("mockllm/model", custom_outputs=outputs) if outputs else "mockllm/model"
    [log] = run(
        f"virl/{name}",
        model=model,
        task_args=args,
        display="none",
        log_dir="logs",
        score_display=False,
        **options,
    )
    return log


def says(reply: Callable[[str], str], seen: list[Any] | None = None) -> Callable[..., Any]:
    """A mock model that counts 100 tokens in and 10 out."""
    from inspect_ai.model import ModelOutput, ModelUsage

    def output(messages: Sequence[Any], tools: object, choice: object, config: object) -> ModelOutput:
        if seen is not None:
            seen.append((messages, config))
        made = ModelOutput.from_content("mock", reply(messages[-1].text))
        made.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        return made

    return output


def means(log: Any) -> dict[str, float]:
    return {score.name: score.metrics["virl/mean"].value for score in log.results.scores}


def of_virl(name: str, out: Path, **options: Any) -> dict[str, list[float]]:
    """The values of virl's own engine."""
    asked: BaseOptions = find_benchmark(name).options.model_validate(options)
    run_benchmark(name, asked, out, Console(quiet=True), engine=Engine("threads", 1))
    [row] = json.loads((out / "results.json").read_text())["rows"]
    return dict(row["values"])


def test_the_entry_point_of_the_package_registers_every_benchmark() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    tasks = load(project["entry-points"]["inspect_ai"]["virl"] + ":TASKS")
    from inspect_ai._util.registry import registry_info

    assert {"vln", "place-vqa", "place-localization", "place-recognition", "touchdown", "r2r"} <= set(tasks)
    assert registry_info(tasks["vln"]).name == "virl/vln"


def test_a_model_answers_as_under_mind_and_is_scored_the_same(questions: Path, tmp_path: Path) -> None:
    seen: list[Any] = []
    log = evaluate("place-vqa", says(letter, seen), args={"city": "made", "data": str(questions)})
    assert log.status == "success", log.error

    def answer(request: Request) -> Behaviour:
        parts = request.messages[-1]["content"]
        return text(letter("\n".join(part.get("text", "") for part in parts)))

    with ChatServer([answer]) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRL_BASE_URL", server.url)
        asked = {"cities": ("made",), "data": str(questions), "models": ("openai:test",)}
        own = of_virl("place-vqa", tmp_path / "own", **asked)
    assert means(log) == pytest.approx({key: value[0] for key, value in own.items()})
    assert 0 < means(log)["first"] < 1
    for score in log.results.scores:
        _, low, high = own[score.name]
        assert score.metrics["virl/stderr"].value == pytest.approx((high - low) / 3.92)
    sent = [[part["type"] for part in one.messages[-1]["content"]] for one in server.requests]
    assert sorted(sent) == sorted(
        [{"text": "text", "image": "image_url"}[part.type] for part in messages[-1].content]
        for messages, _ in seen
    )


def test_the_log_holds_episodes_pictures_and_tokens(questions: Path) -> None:
    log = evaluate("place-vqa", says(letter), args={"city": "made", "data": str(questions)})
    first, second = sorted(log.samples, key=lambda sample: sample.id)
    assert (first.id, first.metadata["case"]) == ("inspect:model/made/a", "a")
    told = first.messages[-1].content
    assert [part.type for part in told] == ["text", "image"]
    kept = first.attachments[told[1].image.removeprefix("attachment://")]
    assert kept.startswith("data:image/jpeg;base64,")
    asked = sum(event.event == "model" for sample in log.samples for event in sample.events)
    assert log.stats.model_usage["mockllm/model"].total_tokens == 110 * asked
    assert set(first.scores["own_scores"].value) == {"circular", "legacy", "first"}
    assert second.scores["own_scores"].answer


def test_limits_of_inspect_end_a_sample(questions: Path) -> None:
    args = {"city": "made", "data": str(questions)}
    for limit, kind in (({"token_limit": 150}, "token"), ({"message_limit": 1}, "message")):
        log = evaluate("place-vqa", says(letter), args=args, **limit)
        assert {sample.limit.type for sample in log.samples if sample.limit} == {kind}


def test_an_episode_that_fails_is_an_error_of_its_sample_alone(questions: Path) -> None:
    (questions / "made" / "images" / "a.jpg").write_bytes(b"no picture")
    log = evaluate("place-vqa", says(letter), args={"city": "made", "data": str(questions)})
    failed = [sample for sample in log.samples if sample.error]
    assert [sample.metadata["case"] for sample in failed] == ["a"]
    assert log.status == "success"
    assert means(log)["first"] in (0.0, 1.0)


class KeyRefused(Exception):
    status_code = 401


def test_a_key_that_is_refused_is_tried_once_and_no_sample_is_scored(questions: Path) -> None:
    asked = []

    def refuse(*request: object) -> None:
        asked.append(request)
        raise KeyRefused("bad key")

    args = {"city": "made", "data": str(questions)}
    log = evaluate("place-vqa", refuse, args=args, max_samples=1)
    assert len(asked) == 1
    assert all("bad key" in sample.error.message and not sample.scores for sample in log.samples)


class Broken(Exception):
    status_code = 400


def test_a_failure_names_the_command_of_inspect_that_goes_on(questions: Path) -> None:
    def fail(*request: object) -> None:
        raise Broken("something odd")

    log = evaluate("place-vqa", fail, args={"city": "made", "data": str(questions)}, max_samples=1)
    told = [sample.error.message for sample in log.samples if sample.error]
    assert told
    assert all("go on with inspect eval-retry" in one and "--resume" not in one for one in told)


@pytest.mark.parametrize("agent", ["velma", "follower"])
def test_rules_score_as_in_virls_own_engine(agent: str, tmp_path: Path) -> None:
    options = {"agent": agent, "data": str(EXPORT), "mind": "rules", "scenario": "unseen", "split": "dev"}
    log = evaluate("touchdown", args=options)
    own = of_virl("touchdown", tmp_path / "own", **options)
    assert means(log) == pytest.approx({key: value[0] for key, value in own.items()})
    assert len(log.samples) > 1


def test_velma_asks_the_model_of_inspect_with_its_schema() -> None:
    seen: list[Any] = []

    def stops(said: str) -> str:
        del said
        return json.dumps({"action": "stop", "reason": "Here.", "landmarks": []})

    args = {"agent": "velma", "data": str(EXPORT), "form": "chat"}
    log = evaluate("touchdown", says(stops, seen), args=args, limit=1)
    assert log.status == "success"
    assert any(config.response_schema for _, config in seen)


def test_a_wrong_argument_is_named(questions: Path) -> None:
    from virl.api.evaluation.tasks import benchmark_task

    with pytest.raises(BadInput, match=r"options of virl/place-vqa: .*modles"):
        benchmark_task("place-vqa", {"city": "made", "data": str(questions), "modles": "signs"})


def test_a_benchmark_of_another_package_becomes_a_task_by_the_same_adapter() -> None:
    from virl.api.evaluation.tasks import benchmark_task

    task = benchmark_task(
        "made_benchmark:BENCHMARK", {"count": 2, "cities": "north", "models": ["sharp", "blunt"]}
    )
    assert [sample.id for sample in task.dataset][:2] == ["sharp/north/case 0", "sharp/north/case 1"]
    assert load("made_benchmark:BENCHMARK").title in task.metadata["benchmark"]


def test_what_is_wrong_is_one_line_of_inspect(questions: Path) -> None:
    from inspect_ai._util.error import PrerequisiteError

    with pytest.raises(PrerequisiteError, match="modles"):
        evaluate("place-vqa", args={"city": "made", "data": str(questions), "modles": "signs"})


def test_tools_are_called_through_the_model_of_inspect(monkeypatch: pytest.MonkeyPatch) -> None:
    import anyio
    from anyio.lowlevel import current_token
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.messages import ToolCall as Call
    from langchain_core.tools import tool

    from virl.api.evaluation import model as bridge

    @tool
    def look(direction: str) -> str:
        """Look somewhere."""
        return direction

    seen: list[Any] = []

    def output(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        seen.append((messages, tools, choice))
        made = ModelOutput.for_tool_call("mock", "look", {"direction": "left"}, tool_call_id="c2")
        made.usage = ModelUsage(
            input_tokens=60, input_tokens_cache_read=40, output_tokens=10, total_tokens=110
        )
        return made

    mock = get_model("mockllm/model", custom_outputs=output, memoize=False)
    monkeypatch.setattr(bridge, "get_model", lambda: mock)
    conversation = [
        SystemMessage("Be brief."),
        HumanMessage("Where are you?"),
        AIMessage("I look.", tool_calls=[Call(name="look", args={"direction": "front"}, id="c1")]),
        ToolMessage("a wall", tool_call_id="c1", name="look"),
    ]
    bound = bridge.InspectChatModel().bind_tools([look], tool_choice="any")

    async def asked() -> AIMessage:
        with bridge.ask_in_loop(current_token()):
            return await anyio.to_thread.run_sync(bound.invoke, conversation)

    answer = anyio.run(asked)
    assert [(call["name"], call["args"], call["id"]) for call in answer.tool_calls] == [
        ("look", {"direction": "left"}, "c2")
    ]
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["input_tokens"] == 100, "LangChain counts what was cached, too"
    assert answer.usage_metadata["input_token_details"]["cache_read"] == 40
    [(messages, tools, choice)] = seen
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool"]
    assert messages[2].tool_calls[0].arguments == {"direction": "front"}
    assert (messages[3].tool_call_id, messages[3].text) == ("c1", "a wall")
    assert list(tools[0].parameters.properties) == ["direction"]
    assert choice == "any"
