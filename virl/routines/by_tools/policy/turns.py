"""Plays a plan, turn by turn; what comes next depends on the conversation alone, so a run can be resumed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from virl.agent.character import Character
from virl.agent.roster import roster
from virl.agent.tool import FINISH
from virl.errors import BadInput, MindFailed
from virl.mind.lexicon import load_lexicon
from virl.routines.by_tools.policy.goals import ToolGoal, read_goal
from virl.routines.by_tools.policy.hands import Plan, PlanEnd, PlannedCall, Situation
from virl.routines.by_tools.policy.places import count_places, place_plan
from virl.routines.by_tools.policy.streets import count_things, find_on_street, tell_signs
from virl.routines.by_tools.policy.views import view_plan
from virl.tools.base import ToolResult


class PolicyTurns:
    """The turns of a character whose tools are used by rules.

    Args:
        character: has the intention and the tools.

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
        self._played: _Played | None = None

    def next_call(
        self, messages: Sequence[BaseMessage]
    ) -> tuple[str, list[tuple[str, Mapping[str, object]]]]:
        """Return the words and the call that follow a conversation; the last call ends the run."""
        call = self._call_after(messages)
        return call.says, [(call.tool, call.args)]

    def _call_after(self, messages: Sequence[BaseMessage]) -> PlannedCall:
        """Return the next call of the plan after the tools' replies; the last one ends the run.

        Replies that were heard before are not played again.
        """
        replies = [_result_of(message) for message in messages if isinstance(message, ToolMessage)]
        played = self._played
        if played is None or list(played.replies) != replies[: len(played.replies)]:
            limit = self._character.limits.calls
            situation = Situation(self._character, self._goal, load_lexicon(), self._agents, limit)
            played = _Played(situation, plan_for(situation))
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
        self._played = _Played(situation, played.plan, replies, call)
        if situation.turns_left <= 1:
            known = situation.known or f"Still looking for: {situation.goal.wanted_words}."
            return _finish_call(PlanEnd(f"No turns are left. {known}", succeeded=False))
        return call


@dataclass(frozen=True, slots=True)
class _Played:
    """A plan, the replies that it has had, and its call after them."""

    situation: Situation
    plan: Plan
    replies: Sequence[ToolResult[Any]] = ()
    call: PlannedCall | None = None


def plan_for(situation: Situation) -> Plan:
    """Return the plan for a goal."""
    goal = situation.goal
    if goal.seeking == "view":
        return view_plan(situation)
    if goal.seeking == "signs":
        return tell_signs(situation)
    if goal.seeking == "count":
        return count_things(situation) if goal.things else count_places(situation)
    return place_plan(situation) if goal.seeking == "place" else find_on_street(situation)


def check_tools(character: Character, goal: ToolGoal) -> None:
    """See whether a character has the tools that the rules need for its goal.

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


def _result_of(message: ToolMessage) -> ToolResult[Any]:
    """Return the result that a tool's message carries; without one, its text and whether it failed."""
    if isinstance(message.artifact, ToolResult):
        return message.artifact
    return ToolResult(message.text, failed=message.status == "error")


def _finish_call(end: PlanEnd) -> PlannedCall:
    """Return the call of the tool `finish` that an end of the plan makes."""
    args: dict[str, object] = {"answer": end.answer, "succeeded": end.succeeded}
    return PlannedCall(FINISH, args | ({"place_id": end.place_id} if end.place_id else {}), "That is all.")
