"""virl within LangChain: tools of a city, human approval, and runs as a `Runnable`."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from openai_server import ChatServer, tool_call

import virl
from virl import OpenTools, open_tools
from virl.api.langchain import RunInput, runnable
from virl.errors import BadInput, CodeFault, UnknownName
from virl.journal.journal import read_journal
from virl.journal.records import EndRecord, NoteRecord, StartRecord, StepRecord
from virl.money.ledger import Ledger

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}, "max_concurrency": 1}
AWAY = {"direction": "front"}
DONE = ("finish", {"answer": "Done.", "succeeded": True})


class ToolModel(GenericFakeChatModel):
    """A chat model that says what it is given, and takes tools."""

    def bind_tools(self, tools: object, **_: object) -> Self:  # type: ignore[override]
        """Itself."""
        return self


def model(*turns: Sequence[tuple[str, dict[str, Any]]]) -> ToolModel:
    """Calls these tools, turn by turn, and says that it is done."""
    said = [
        AIMessage(
            "",
            tool_calls=[
                {"name": name, "args": given, "id": f"{number}-{at}"} for at, (name, given) in enumerate(turn)
            ],
        )
        for number, turn in enumerate(turns)
    ]
    return ToolModel(messages=iter([*said, AIMessage("That is all.")]))


def told(state: dict[str, Any]) -> list[str]:
    return [message.text for message in state["messages"] if isinstance(message, ToolMessage)]


def moves(folder: Path) -> int:
    return sum(isinstance(one, StepRecord) and one.next_pano_id is not None for one in read_journal(folder))


def approvals(folder: Path) -> list[str]:
    return [
        one.text for one in read_journal(folder) if isinstance(one, NoteRecord) and one.topic == "approval"
    ]


def ines(**more: object) -> virl.Character:
    about = {"name": "Ines", "city": "virlton", "start": "20 Vine Road", "background": "A student."}
    return virl.Character(**about | {"intention": "Look around.", "tools": ["look", "move"]} | more)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_tools_of_a_city_are_taken_by_create_agent_and_close_their_run() -> None:
    town = virl.open_city("virlton")
    with open_tools(town, out="run") as made:
        assert isinstance(made, list)
        assert {"look", "move", "finish"} <= {tool.name for tool in made}
        here = made.agent.start
        assert here == town.streetview.nearest(town.center)
        state = create_agent(model([("move", AWAY)]), made).invoke({"messages": ["Go."]}, THREAD)
    assert len(told(state)) == 1
    assert json.loads(Path("run/result.json").read_text())["status"] == "stopped"
    assert Path("run/report.html").is_file()
    assert moves(Path("run")) == 1
    made.close()


PARALLEL = [("move", AWAY), ("look", AWAY), ("read_signs", AWAY), ("where_am_i", {}), ("move", AWAY), DONE]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["invoke", "ainvoke", "astream"])
def test_calls_of_one_turn_wait_for_one_another(how: str) -> None:
    with open_tools("virlton", out="run") as made:
        graph = create_agent(model(PARALLEL), made)

        async def follow() -> None:
            if how == "ainvoke":
                await graph.ainvoke({"messages": ["Go."]})
                return
            async for _ in graph.astream({"messages": ["Go."]}):
                pass

        if how == "invoke":
            graph.invoke({"messages": ["Go."]})
        else:
            asyncio.run(follow())
    records = read_journal(Path("run"))
    assert [one.seq for one in records] == list(range(len(records)))
    assert json.loads(Path("run/result.json").read_text())["status"] == "finished"


@pytest.mark.slow
def test_tools_without_a_with_block_go_on_later() -> None:
    made = open_tools("virlton", names=["move"], out="run")
    assert [tool.name for tool in made] == ["move", "finish"]
    made[0].invoke(AWAY)
    assert not Path("run/result.json").exists()
    made.close()
    assert json.loads(Path("run/result.json").read_text())["status"] == "stopped"
    assert moves(Path("run")) == 1


@pytest.mark.slow
def test_a_fault_leaves_the_run_open() -> None:
    with pytest.raises(ZeroDivisionError), open_tools(ines(), out="run"):
        raise ZeroDivisionError
    assert not Path("run/result.json").exists()
    with virl.open_agent(ines(), resume=True, out="run") as agent, open_tools(agent) as made:
        assert made.agent is agent
        made.close()
        assert agent.run.result is None, "whoever opened the agent closes its run"


@pytest.mark.slow
def test_what_cannot_ask_first_is_refused() -> None:
    with pytest.raises(UnknownName, match="fly"):
        open_tools("virlton", ask_first=["fly"], out="run")
    with open_tools(ines(), ask_first=["move"], out="other") as made:
        [move] = [tool for tool in made if tool.name == "move"]
        with pytest.raises(BadInput, match="checkpointer"):
            move.invoke(AWAY)


@pytest.fixture
def asking() -> Iterator[OpenTools]:
    with open_tools(ines(), ask_first=["move"], out="run") as made:
        yield made


@pytest.mark.slow
def test_a_move_waits_for_a_human_and_goes_on(asking: OpenTools) -> None:
    turns = [[("where_am_i", {}), ("move", AWAY)], [("move", AWAY)], [DONE]]
    graph = create_agent(model(*turns), asking, checkpointer=InMemorySaver())
    waiting = graph.invoke({"messages": ["Go."]}, THREAD)
    [question] = waiting["__interrupt__"]
    assert question.value == {
        "tool": "move",
        "arguments": {"direction": "front", "steps": 1, "why": ""},
        "why": "move asks first",
        "spent_usd": 0.0,
        "budget_usd": None,
    }
    assert moves(Path("run")) == 0, "nothing is done before the answer"
    waiting = graph.invoke(Command(resume=True), THREAD)
    assert waiting["__interrupt__"]
    assert moves(Path("run")) == 1
    state = graph.invoke(Command(resume={"approved": False, "comment": "Too far."}), THREAD)
    assert told(state)[2] == "not done: a human did not approve it. Too far."
    assert moves(Path("run")) == 1
    assert approvals(Path("run")) == ["move: approved.", "move: not approved. Too far."]
    uses = [one.data["name"] for one in asking.agent.run.notes("tool")]
    assert uses == ["where_am_i", "move", "finish"], "an answer repeats no call that was done before it"
    assert json.loads(Path("run/result.json").read_text())["status"] == "finished"


@pytest.mark.slow
def test_an_answer_that_is_none_is_told_in_one_line(asking: OpenTools) -> None:
    graph = create_agent(model([("move", AWAY)]), asking, checkpointer=InMemorySaver())
    graph.invoke({"messages": ["Go."]}, THREAD)
    with pytest.raises(BadInput, match=r"Command\(resume=True\)"):
        graph.invoke(Command(resume="yes"), THREAD)
    assert moves(Path("run")) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["move", "look"])
def test_what_may_cost_money_waits_for_a_human(name: str) -> None:
    with virl.open_agent(ines(), out="run", budget_usd=2) as agent:
        free = create_agent(model([(name, AWAY)]), open_tools(agent, ask_first=["money"]))
        assert "__interrupt__" not in free.invoke({"messages": ["Go."]}, THREAD), "a made town is free"
        paid = replace(agent, city=replace(agent.city, ledger=Ledger()))
        made = open_tools(paid, ask_first=["money"])
        graph = create_agent(model([(name, AWAY)], [DONE]), made, checkpointer=InMemorySaver())
        [question] = graph.invoke({"messages": ["Go."]}, THREAD)["__interrupt__"]
        assert "costs money: Virlton is asked over a network" in question.value["why"]
        assert question.value["budget_usd"] == 2
        said = graph.invoke(Command(resume=False), THREAD)
        assert "__interrupt__" not in said, "to finish costs nothing"


@pytest.mark.slow
def test_langchains_own_middleware_asks_too() -> None:
    with open_tools(ines(), out="run") as made:
        graph = create_agent(
            model([("move", AWAY)]),
            made,
            middleware=[HumanInTheLoopMiddleware(interrupt_on={"move": True})],
            checkpointer=InMemorySaver(),
        )
        assert graph.invoke({"messages": ["Go."]}, THREAD)["__interrupt__"]
        assert moves(Path("run")) == 0
        graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert moves(Path("run")) == 1


@pytest.mark.slow
def test_an_agent_runs_from_an_intention() -> None:
    done = runnable("peng", city="virlton").invoke("Get bread.")
    assert done.result.status == "finished"
    assert done.report.is_file()
    start = read_journal(done.folder)[0]
    assert isinstance(start, StartRecord)
    assert start.character["intention"] == "Get bread."


@pytest.mark.slow
def test_an_agent_is_a_part_of_a_chain() -> None:
    chain = RunnableLambda(lambda wish: f"Get {wish}.") | runnable("peng") | (lambda done: done.result.status)
    assert chain.invoke("bread") == "finished"
    assert list(chain.stream("bread")) == ["finished"]


@pytest.mark.slow
def test_runs_of_a_batch_have_folders_of_their_own() -> None:
    peng = runnable("peng")
    first, second = peng.batch(["Get bread.", RunInput(intention="Get bread.", seed=1)])
    assert first.folder != second.folder
    assert {first.result.status, second.result.status} == {"finished"}
    failed, done = peng.batch([{"steps": 0}, {}], return_exceptions=True)
    assert isinstance(failed, virl.VirlError)
    assert done.result.status == "finished"
    assert len(list(Path("runs").iterdir())) == 3, "a run that could not begin leaves no folder"


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True], ids=["stream", "astream"])
def test_a_stream_gives_the_records_as_they_are_written(asynchronous: bool) -> None:
    peng = runnable("peng", out="run")

    async def all_of() -> list[Any]:
        return [one async for one in peng.astream("Get bread.")]

    *records, done = asyncio.run(all_of()) if asynchronous else list(peng.stream("Get bread."))
    assert isinstance(done, virl.Finished)
    assert tuple(records) == read_journal(Path("run"))
    assert isinstance(records[-1], EndRecord)


@pytest.mark.slow
def test_a_stream_that_is_left_breaks_the_run_off_and_it_goes_on() -> None:
    peng = runnable("peng", out="run")
    stream = peng.stream("Get bread.")
    assert isinstance(next(stream), StartRecord)
    stream.close()
    left = read_journal(Path("run"))
    assert not isinstance(left[-1], EndRecord)
    *rest, done = peng.stream({"resume": True})
    assert done.result.status == "finished"
    assert left + tuple(rest) == read_journal(Path("run"))


def test_errors_reach_the_caller(tmp_path: Path) -> None:
    for call in (
        lambda given: runnable("peng").invoke(given),
        lambda given: list(runnable("peng").stream(given)),
    ):
        with pytest.raises(BadInput, match="input: stepps: "):
            call({"stepps": 3})
    (tmp_path / "odd.py").write_text("def run(agent):\n    raise ValueError('my bug')\n")
    odd = runnable(ines().model_copy(update={"routine": "odd"}), out="run")
    with pytest.raises(CodeFault, match="my bug"):
        list(odd.stream({}))


class Heard(BaseCallbackHandler):
    """As LangSmith's tracer listens: what began, and within what."""

    def __init__(self) -> None:
        self.began: list[tuple[str, UUID, UUID | None]] = []

    def on_chain_start(self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **more: Any) -> None:
        self.began.append((f"chain {more.get('name')}", run_id, parent_run_id))

    def on_chat_model_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        self.began.append(("model", run_id, parent_run_id))

    def on_tool_start(
        self, tool: dict[str, Any], *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        self.began.append((f"tool {tool['name']}", run_id, parent_run_id))

    def within(self, what: str, outer: str) -> bool:
        """Whether one began within another."""
        parents = {run_id: parent for _, run_id, parent in self.began}
        names = {run_id: name for name, run_id, _ in self.began}
        at: UUID | None = next(run_id for name, run_id, _ in self.began if name == what)
        while at is not None and names.get(at) != outer:
            at = parents.get(at)
        return at is not None


@pytest.mark.slow
@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_callbacks_hear_the_run_its_model_and_its_tools(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    heard, answer = Heard(), json.dumps({"answer": "Done.", "succeeded": True})
    with ChatServer([tool_call(json.dumps(AWAY), "move"), tool_call(answer, "finish")]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        agent = runnable(ines(), mind="openai:gpt-4o", out="run")
        config: RunnableConfig = {"callbacks": [heard]}
        done = agent.invoke({}, config) if way == "invoke" else list(agent.stream({}, config))[-1]
    assert isinstance(done, virl.Finished)
    assert done.result.status == "finished"
    assert heard.began[0][::2] == ("chain Ines", None)
    assert heard.within("model", "chain Ines")
    assert heard.within("tool move", "chain Ines")


def test_what_goes_in_and_out_is_typed() -> None:
    peng = runnable("peng")
    assert peng.OutputType is virl.Finished
    assert "intention" in json.dumps(peng.get_input_jsonschema())
