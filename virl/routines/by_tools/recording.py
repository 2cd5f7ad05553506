"""What a model says and does is written into the run, and read from there when the run goes on."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse, hook_config
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.runtime import Runtime
from langgraph.types import Command

from virl.agent.run import SAID
from virl.agent.tool import FINISH, ToolData
from virl.errors import VirlError
from virl.journal.records import NoteRecord, PlaceRecord
from virl.mind.chat.endings import NOTHING, refusal_in
from virl.mind.conversation import Said, plain_json
from virl.mind.llm import LLMMind
from virl.mind.prompt import load_prompt
from virl.mind.rendering import render
from virl.mind.replies import Reply
from virl.mind.script import ScriptMind
from virl.plain_text import plain_lines
from virl.platform.outcome import Outcome
from virl.routines.by_tools.deciding import Decider
from virl.routines.by_tools.pictures import LooksInWords, Show, as_pictures, with_looks
from virl.routines.by_tools.recorded import recorded_data
from virl.tools.base import ToolResult, short
from virl.tools.body import Body, BodyState
from virl.tools.moving import surroundings
from virl.tools.tracing import tell_replayed

THOUGHT, TOOL = "thought", "tool"
"""Topics of the notes."""
PROMPT = "tool-agent"
LONGEST_ERROR = 600  # characters; a fault in the arguments quotes them


@dataclass(frozen=True, slots=True)
class ToolRunOutcome:
    """How a life by tools has ended."""

    outcome: Outcome
    answer: dict[str, object] = field(default_factory=dict)
    place: PlaceRecord | None = None


class Recording(AgentMiddleware[AgentState[Any], None, Any]):
    """Writes every turn of the model and every call of a tool down as a note, before anything else happens.

    A run that goes on plays its notes again instead of asking the model or using the tool, up to where it was
    cut off. It ends the conversation when the model finishes, or when its time or its moves have run out.

    Args:
        body: what the tools move.
        decider: has the turns.
    """

    def __init__(self, body: Body, decider: Decider) -> None:
        super().__init__()
        self.outcome: ToolRunOutcome | None = None
        self._body = body
        self._run = body.agent.run
        self._decider = decider
        self._limits = body.agent.character.limits
        self._in_words = LooksInWords(
            self._run.folder, body.agent.senses.describer.describe, body.agent.character.intention
        )
        self._broken: VirlError | None = None
        self._refused_moves = 0
        self._heard: set[str] = set()

    @hook_config(can_jump_to=["end"])
    def before_model(
        self,
        state: AgentState[Any],
        runtime: Runtime[None],  # noqa: ARG002 - as LangChain calls it
    ) -> dict[str, Any] | None:
        """Go no further once all is done, or time is up."""
        messages, minutes = state["messages"], self._limits.minutes
        new = self._run.noted(THOUGHT, _turn(messages)) is None
        if not self.outcome and new and minutes is not None and self._run.cost.seconds >= 60 * minutes:
            self.outcome = ended_early(ran_out("time", "minutes", minutes), messages)
        if self.outcome:
            return {"jump_to": "end"}
        told = self._of_the_user(_turn(messages))
        return {"messages": told} if told else None

    def _of_the_user(self, key: str) -> list[HumanMessage]:
        """What the user did and said since the turn before: moves, then words."""
        thought = self._run.noted(THOUGHT, key)
        before = inf if thought is None else thought.seq
        told = []
        if moves := self._body.be_led(before):
            inputs = {"moves": moves, "standing": str(surroundings(self._body))}
            told.append(render(load_prompt("by_tools/led", Reply), inputs))
        for note in self._run.notes(SAID):
            if note.seq < before and note.key not in self._heard:
                self._heard.add(note.key)
                told.append(render(load_prompt("by_tools/said", Reply), {"said": note.data["say"]}))
        return [HumanMessage(content=text) for text in told]

    def wrap_model_call(
        self, request: ModelRequest[None], handler: Callable[[ModelRequest[None]], ModelResponse[Any]]
    ) -> AIMessage:
        """What the model says, or said before the run was cut off."""
        key = _turn(request.messages)
        if note := self._run.noted(THOUGHT, key):
            if isinstance(self._decider, LLMMind):
                self._decider.replays(PROMPT)
            return Said.model_validate({"message": note.data["message"]}).read()

        def ask(messages: list[BaseMessage]) -> AIMessage:
            [answer] = handler(request.override(messages=cast("list[AnyMessage]", messages))).result
            if not isinstance(answer, AIMessage):
                raise TypeError(f"a model answered with a message of type {answer.type!r}")
            return answer

        def conversation(show: Show) -> list[AnyMessage]:
            last = [HumanMessage(content=render(load_prompt("by_tools/last", Reply), {}))]
            return [
                *with_looks(request.messages, show),
                *(last if int(key) >= self._limits.calls else []),
            ]

        said = self._decider.converse(
            PROMPT,
            ask,
            conversation(lambda views: as_pictures(views, self._run.folder)),
            _frame(request),
            lambda: conversation(self._in_words.show),
        )
        if isinstance(self._decider, LLMMind) and not self._decider.sees:
            self._body.sees = False  # as it has just turned out
        self._run.note(
            THOUGHT,
            key,
            _summary(said),
            data={"message": Said.of(said).message},
        )
        return said

    @hook_config(can_jump_to=["model"])
    def after_model(
        self,
        state: AgentState[Any],
        runtime: Runtime[None],  # noqa: ARG002 - as LangChain calls it
    ) -> dict[str, Any] | None:
        """Answer calls whose arguments are not even JSON; ask again after a turn that called no tool."""
        said = state["messages"][-1]
        if not isinstance(said, AIMessage):
            return None
        if not said.invalid_tool_calls:
            return self._ask_for_finish(said, state["messages"][:-1])
        faults = [
            ToolMessage(
                f"the arguments of {call.get('name')} are no JSON object: call it again",
                tool_call_id=call.get("id") or "",
                name=call.get("name"),
                status="error",
            )
            for call in said.invalid_tool_calls
        ]
        return {"messages": faults} | ({} if said.tool_calls else {"jump_to": "model"})

    def _ask_for_finish(self, said: AIMessage, before: Sequence[AnyMessage]) -> dict[str, Any] | None:
        """Words alone do not end a life by tools: ask, once after such a turn, for a call of `finish`."""
        ask = HumanMessage(content=render(load_prompt("by_tools/finish", Reply), {}))
        in_words = not said.tool_calls and said.text.strip() not in ("", NOTHING) and not refusal_in(said)
        if self.outcome or not in_words or before[-1].content == ask.content:
            return None
        return {"messages": [ask], "jump_to": "model"}

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage:
        """What a tool gives, or gave before the run was cut off."""
        if self._broken:
            raise self._broken  # what comes after it in the same turn waits for the resume, too
        call, key = request.tool_call, _call_key(request)
        self._body.doing = key
        data: ToolData | None = None
        if note := self._run.noted(TOOL, key):
            if not isinstance(self._body.agent.mind, LLMMind | ScriptMind):  # they go by the text
                data = recorded_data(self._body, note)
            self._body.standing = BodyState.model_validate(note.data["standing"])
            tell_replayed(str(note.data["name"]))
        else:
            try:
                message = handler(request)
            except VirlError as fault:
                self._broken = fault
                raise
            if not isinstance(message, ToolMessage):
                raise TypeError(f"the tool {call['name']} answered with a {type(message).__name__}")
            result = message.artifact if isinstance(message.artifact, ToolResult) else ToolResult("")
            data = result.data
            note = self._write_down(key, call["name"], call["args"], message, result)
        self._see_how_it_stands(note, request.state["messages"])
        shown = bool(note.data.get("shown"))
        failed = bool(note.data["failed"])
        told = ToolResult(
            plain_lines(str(note.data["content"])), data, note.views, shown=shown, failed=failed
        )
        return ToolMessage(
            told.text,
            tool_call_id=call["id"],
            name=call["name"],
            status="error" if failed else "success",
            artifact=told,
        )

    def _write_down(
        self, key: str, name: str, args: object, message: ToolMessage, told: ToolResult[ToolData]
    ) -> NoteRecord:
        failed = message.status == "error"
        content = short(message.text, LONGEST_ERROR) if failed else message.text
        data = {
            "name": name,
            "args": args,
            "content": content,
            "data": told.data_as_json,
            "failed": failed,
            "shown": told.shown,
            "out_of_moves": failed and name == "move" and self._body.moves_left <= 0,
            "place": told.place and told.place.model_dump(mode="json"),
            "standing": self._body.standing.model_dump(),
        }
        return self._run.note(
            TOOL,
            key,
            f"{_called(name, args)}: {short(content, 160)}",
            data=plain_json(data),
            views=told.views,
        )

    def _see_how_it_stands(self, note: NoteRecord, messages: Sequence[AnyMessage]) -> None:
        data = note.data
        if data["name"] == FINISH and not data["failed"] and isinstance(data["args"], dict):
            answer = str(data["args"]["answer"])
            place = PlaceRecord.model_validate(data["place"]) if data["place"] else None
            ended = Outcome("finished" if data["args"]["succeeded"] else "gave up", short(answer, 300))
            self.outcome = ToolRunOutcome(ended, {"answer": answer}, place)
        elif data["out_of_moves"]:
            self._refused_moves += 1
            if self._refused_moves > 1 and not self.outcome:
                self.outcome = ended_early(ran_out("moves", "steps", self._limits.steps), messages)


def ran_out(of: str, what: str, limit: float) -> Outcome:
    """Return the end at one of the character's limits."""
    return Outcome("limit", f"ran out of {of} (limits: {what}: {limit:g})", what, limit)


def ended_early(outcome: Outcome, messages: Sequence[AnyMessage]) -> ToolRunOutcome:
    """Return an end without a call of `finish`, with what the model said last for its answer."""
    said = [message.text.strip() for message in messages if isinstance(message, AIMessage)]
    known = next((text for text in reversed(said) if text), "")
    return ToolRunOutcome(outcome, {"answer": known} if known else {})


def _turn(messages: Sequence[AnyMessage]) -> str:
    """Which turn of the model is next, from 1 on."""
    return f"{sum(isinstance(message, AIMessage) for message in messages) + 1:04d}"


def _call_key(request: ToolCallRequest) -> str:
    said = [message for message in request.state["messages"] if isinstance(message, AIMessage)]
    ids = [call["id"] for call in said[-1].tool_calls]
    return f"{len(said):04d}-{ids.index(request.tool_call['id']) + 1}"


def _frame(request: ModelRequest[None]) -> dict[str, object]:
    return {
        "system": request.system_prompt,
        "tools": [convert_to_openai_tool(tool) for tool in request.tools],
    }


def _summary(said: AIMessage) -> str:
    called = ", ".join(str(call["name"]) for call in [*said.tool_calls, *said.invalid_tool_calls])
    return short(said.text, 300) or (f"uses {called}" if called else "says nothing")


def _called(name: str, args: object) -> str:
    given = args if isinstance(args, dict) else {"": args}
    shown = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in given.items())
    return f"{name}({short(shown, 120)})"
