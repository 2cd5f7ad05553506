"""The minds that decide which tool a character uses next: a chat model, a script, or the rules.

The rules play a plan turn by turn. What comes next depends on the conversation
alone, so a run can be resumed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, runtime_checkable

from langchain.agents.middleware import ToolCallRequest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatResult
from pydantic import ValidationError

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.roster import roster
from virl.agent.tool import FINISH, TOOLS
from virl.errors import BadInput, MindFailed, VirlError
from virl.files.json_reading import misfits
from virl.mind.cache import summarize_answer, summarize_request
from virl.mind.chat.asking import ModelCall
from virl.mind.chat.client import MessagesInWords
from virl.mind.lexicon import load_lexicon
from virl.mind.llm import LLMMind
from virl.mind.rules import RuleMind
from virl.mind.script import ScriptMind
from virl.money.book import Exchange
from virl.routines.by_tools.goals import ToolGoal, read_goal
from virl.routines.by_tools.place_plans import count_places, place_plan
from virl.routines.by_tools.street_plans import (
    Plan,
    PlanEnd,
    PlannedCall,
    Situation,
    count_things,
    find_on_street,
    tell_signs,
)
from virl.routines.by_tools.view_plans import view_plan
from virl.tools.base import ToolResult

Turn = tuple[str, Sequence[tuple[str, Mapping[str, object]]]]
"""A turn of the conversation as (text, calls), each call as (tool's name, arguments)."""


@runtime_checkable
class Decider(Protocol):
    """Interface of what decides a conversation's next turn: a chat model, a script, or rules."""

    def converse(
        self,
        prompt: str,
        ask: ModelCall,
        messages: Sequence[BaseMessage],
        frame: Mapping[str, object],
        in_words: MessagesInWords | None = None,
    ) -> AIMessage:
        """Return the turn after `messages`; `ask` calls a chat model, `frame` has its orders, tool schemas.

        Args:
            prompt: what the turn goes by in the journal.
            ask: puts messages to a chat model, where there is one.
            messages: the conversation so far.
            frame: what goes with it: orders, and the schemas of the tools.
            in_words: gives the same conversation without pictures, for a model that takes none.

        Raises:
            MindFailed: there is none.
        """
        ...


def decider_of(agent: Agent) -> tuple[Decider, BaseChatModel]:
    """Return (decider, model for LangChain) of an agent; the model is a placeholder unless a model decides.

    Raises:
        BadInput: the mind can neither use tools nor decide by rules, or a turn of the script does not fit.
    """
    mind = agent.mind
    if isinstance(mind, LLMMind):
        return mind, mind.chat_model
    if isinstance(mind, ScriptMind):
        check_script(mind, agent.character)

        def scripted_turn(_: Sequence[BaseMessage], number: int) -> Turn:
            """Return the script's turn with a number, from 1."""
            turn = mind.turn(number)
            return turn.says, [(one.tool, _drop_unset(one.args)) for one in turn.all_calls]

        return LocalDecider(mind, scripted_turn), NoModel()
    if isinstance(mind, Decider):
        return mind, NoModel()
    if isinstance(mind, RuleMind):
        plan = _PlanPlayer(agent.character)

        def planned_turn(messages: Sequence[BaseMessage], _: int) -> Turn:
            """Return the plan's next call as a turn, given the tool results in the messages."""
            call = plan.next_call(messages)
            return call.reason, [(call.tool, call.args)]

        return LocalDecider(mind, planned_turn), NoModel()
    raise BadInput(f"{mind.name} cannot call tools: choose a model that can, as with --mind openai:MODEL")


class _PlanPlayer:
    """Player of the rules' plan for a character's intention, one tool call after another.

    Raises:
        BadInput: the rules do not understand the intention, or the tools do not suffice for it.
    """

    def __init__(self, character: Character) -> None:
        """Read the goal of a character, check its tools for it, and list the agents to consult."""
        self._character = character
        self._goal = read_goal(character)
        check_tools(character, self._goal)
        others = roster()[0] if "consult" in character.tools else []
        self._agents = {one.name: one.about for one in others}
        self._played: _PlanState | None = None

    def next_call(self, messages: Sequence[BaseMessage]) -> PlannedCall:
        """Return the plan's next call, given the tools' results so far; the plan's last call ends the run.

        Results that were in the conversation of an earlier call are not played again.
        """
        replies: list[ToolResult[Any]] = [
            message.artifact
            if isinstance(message.artifact, ToolResult)
            else ToolResult(message.text, failed=message.status == "error")
            for message in messages
            if isinstance(message, ToolMessage)
        ]
        played = self._played
        if played is None or list(played.replies) != replies[: len(played.replies)]:
            limit = self._character.limits.calls
            situation = Situation(self._character, self._goal, load_lexicon(), self._agents, limit)
            played = _PlanState(situation, plan_for(situation))
        self._played, situation = None, played.situation  # a plan that ends is played anew if asked again
        try:
            call = played.call or next(played.plan)
            for reply in replies[len(played.replies) :]:
                situation.turns_left -= 1
                call = played.plan.send(reply)
        except StopIteration as stop:
            return _finish_call(stop.value)
        except MindFailed as fault:
            return _finish_call(PlanEnd(f"{situation.known} {fault}".strip(), succeeded=False))
        self._played = _PlanState(situation, played.plan, replies, call)
        # The last turn is for `finish`, or the run would end without an answer.
        if situation.turns_left <= 1:
            known = situation.known or f"Still looking for: {situation.goal.wanted_words}."
            return _finish_call(PlanEnd(f"No turns are left. {known}", succeeded=False))
        return call


@dataclass(frozen=True, slots=True)
class _PlanState:
    """A plan under way: the tool results sent to it so far, and its next call, `None` before the first."""

    situation: Situation
    plan: Plan
    replies: Sequence[ToolResult[Any]] = ()
    call: PlannedCall | None = None


def plan_for(situation: Situation) -> Plan:
    """Return the generator of tool calls that pursues a situation's goal."""
    goal = situation.goal
    if goal.seeking == "view":
        return view_plan(situation)
    if goal.seeking == "signs":
        return tell_signs(situation)
    if goal.seeking == "count":
        return count_things(situation) if goal.things else count_places(situation)
    return place_plan(situation) if goal.seeking == "place" else find_on_street(situation)


def check_tools(character: Character, goal: ToolGoal) -> None:
    """Raise `BadInput` unless a character has the tools with which the rules can reach its goal.

    Raises:
        BadInput: it has not; says which are needed.
    """
    tools = set(character.tools)
    enough = {
        "view": ({"where_am_i", "read_signs"}, {"where_am_i", "look"}),
        "count": ({"detect"},) if goal.things else ({"nearby_places"},),
        "thing": ({"detect"},),
        "signs": ({"read_signs"}, {"look"}),
        "place": (
            ({"route"},)
            if goal.address and not (goal.name or goal.place_type)
            else (
                {"search_places"},
                {"nearby_places"},
                {"read_signs"},
                {"look"},
                {"consult", "place_details"},
            )
        ),
    }[goal.seeking]
    if not any(needed <= tools for needed in enough):
        needed = ", or ".join(" and ".join(sorted(one)) for one in enough)
        raise BadInput(
            f"the rules cannot do what {character.name} wants with these tools: they need {needed}; "
            "add them to `tools`, or give --mind openai:MODEL"
        )


def _finish_call(end: PlanEnd) -> PlannedCall:
    """Return the call of the tool `finish` that reports the end of a plan."""
    args: dict[str, object] = {"answer": end.answer, "succeeded": end.succeeded}
    return PlannedCall(FINISH, args | ({"place_id": end.place_id} if end.place_id else {}), "That is all.")


class NoModel(BaseChatModel):
    """A placeholder for LangChain's chat model where no model is asked."""

    @property
    def _llm_type(self) -> str:
        """The type of the model for LangChain's logs, `none`."""
        return "none"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> "NoModel":  # noqa: ARG002
        """Return the placeholder itself, whatever the tools."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Raise `NotImplementedError`, since no chat model is asked."""
        raise NotImplementedError("no chat model is asked here")


@dataclass(frozen=True, slots=True)
class LocalDecider:
    """Decider that plays a script or the rules, and asks no chat model."""

    mind: ScriptMind | RuleMind
    """Script or rules whose turns are played; each turn is entered in its ledger."""
    next_turn: Callable[[Sequence[BaseMessage], int], Turn]
    """Function of the messages so far and the new turn's number, from 1, that returns the turn."""

    def converse(
        self,
        prompt: str,
        ask: ModelCall,  # noqa: ARG002 - of the protocol
        messages: Sequence[BaseMessage],
        frame: Mapping[str, object],  # noqa: ARG002 - of the protocol
        in_words: MessagesInWords | None = None,  # noqa: ARG002 - of the protocol
    ) -> AIMessage:
        """Return the next turn of a conversation, by script or rules, and enter it in the ledger."""
        number = _count_turns(messages) + 1
        says, made = self.next_turn(messages, number)
        calls = [
            ToolCall(name=name, args=dict(args), id=f"turn-{number}-{at}")
            for at, (name, args) in enumerate(made, 1)
        ]
        said = AIMessage(content=says, tool_calls=calls)
        request, answer = summarize_request(messages), summarize_answer(said)
        self.mind.ledger.add(Exchange(prompt, self.mind.name, request, answer))
        return said


def check_script(mind: ScriptMind, character: Character) -> None:
    """Raise `BadInput` unless every turn of a script uses tools that the character has, with valid arguments.

    Raises:
        BadInput: the first turn that does not fit; names file and line.
    """
    for at, turn in enumerate(mind.script.turns):
        for call in turn.all_calls:
            fault = ""
            if call.tool not in (offered := [*character.tools, FINISH]):
                fault = f"{character.name} has no tool {call.tool!r}: choose one of: {', '.join(offered)}"
            else:
                try:
                    TOOLS.find(call.tool).arguments.model_validate(_drop_unset(call.args))
                except ValidationError as error:
                    fault = f"{call.tool}: {misfits(error, 'args')[0]}"
            if fault:
                raise BadInput(f"{mind.path}, line {mind.line('turns', at)}: turn {at + 1}: {fault}")
    if not mind.script.turns:
        raise BadInput(
            f"{mind.path}, line 1: `turns` is empty, and {character.name} has no routine: list its tool calls"
        )


def stop_at_fault(mind: ScriptMind, fault: Exception, request: ToolCallRequest) -> NoReturn:
    """Raise `BadInput` that names the script's line of a failed call; raise `fault` itself if it is a bug.

    Args:
        mind: the script that asked for the call.
        fault: exception that the tool raised.
        request: the failed call.

    Raises:
        BadInput: what was asked cannot be done; names the line of the script.
        Exception: the fault itself, if it is a bug.
    """
    turns = _count_turns(request.state["messages"])
    line = mind.line("turns", turns - 1)
    if not isinstance(fault, VirlError):
        raise fault
    raise BadInput(
        f"{mind.path}, line {line}: turn {turns}: {request.tool_call['name']}: {fault} "
        "(correct the script and start a new run)"
    ) from fault


def _drop_unset(args: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments without those whose value is `None`."""
    return {name: value for name, value in args.items() if value is not None}


def _count_turns(messages: Sequence[BaseMessage]) -> int:
    """Return how many messages of a conversation are the model's."""
    return sum(isinstance(message, AIMessage) for message in messages)
