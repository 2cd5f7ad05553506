"""An agent's tools for a LangGraph graph, with an interrupt before one moves the agent or may cost money."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, Self, Unpack

from langchain_core.tools import BaseTool
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict, ValidationError

from virl.agent.agent import Agent
from virl.agent.character import Character as AnyCharacter
from virl.agent.tool import FINISH, TOOLS, Arguments, tool_names
from virl.api.characters import Character
from virl.api.running import RunSettings, open_agent
from virl.errors import BadInput, UnknownName, check_keywords
from virl.mind.rules import RuleMind
from virl.mind.script import ScriptMind
from virl.platform.city.city import City
from virl.platform.providers.cities import open_city
from virl.tools.base import ToolResult, short
from virl.tools.body import Body
from virl.tools.use import RecordingExecutor, Use, tools_for

_MONEY = "money"
"""Name in `ask_first` that stands for all tools that may cost money."""
_TOPIC = "approval"
"""Topic of the notes on calls that a human was asked to approve."""


class OpenTools(list[BaseTool]):
    """The tools of one agent as a list, with the run in which their uses are recorded.

    In a `with` block, or by `close`, the run ends and its report is written. Without, it stays open as after
    a kill: `virl.open_agent(..., resume=True)` goes on with it.
    """

    def __init__(self, agent: Agent, made: Collection[BaseTool], closing: ExitStack) -> None:
        """Keep the tools, the agent that acts through them, and what to close at the end."""
        super().__init__(made)
        self.agent = agent
        """Agent that acts through the tools."""
        self._closing = closing

    def close(self) -> None:
        """End the run as stopped, if it has not ended yet; a second call does nothing."""
        self._closing.close()

    def __enter__(self) -> Self:
        """Return the tools; the end of the block ends their run."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the run as stopped, if it has not ended yet; leave it open after an exception."""
        self._closing.__exit__(kind, fault, trace)


def open_tools(
    who: str | City | AnyCharacter | Agent,
    *,
    names: Collection[str] | None = None,
    sees: bool = False,
    ask_first: Collection[str] = (),
    **settings: Unpack[RunSettings],
) -> OpenTools:
    """Return an agent's LangChain tools; `sees` gives the model pictures, `ask_first` names tools to approve.

    Each call is written into the run's journal and counts towards its budget and limits; `finish` ends the
    run. What cannot be done is told to the model. All tools move the same body: calls that come at the same
    time wait for one another. In a run that goes on, the body stands where it had got to.

    Args:
        who: a city, by name or as `virl.open_city` opens it, for a visitor who starts in its middle; or a
            character; or an agent of `virl.open_agent`, whose run is then not closed.
        names: of the tools, by default all; `docs/reference/characters.md` describes them. `finish` comes
            with them.
        sees: whether your model is shown pictures; else it is told in words what they show.
        ask_first: tools that are used only once a human has approved, by a LangGraph interrupt; `"money"`
            stands for those that may cost money. They need a graph with a checkpointer.
        **settings: of the run, as `virl.open_agent` takes them.

    Raises:
        UnknownName: there is no such tool.
        VirlError: something else that you can fix, said in one line.
        TypeError: there is no such argument.

    Examples:
        >>> with virl.open_tools("virlton", out="tools") as tools:
        ...     "look" in [tool.name for tool in tools]
        True
    """
    check_keywords(open_tools, settings, RunSettings)
    known = (*tool_names(), FINISH)
    names = known if names is None else names
    for name in (*names, *(one for one in ask_first if one != _MONEY)):
        if name not in known:
            raise UnknownName("tool", name, known)
    if isinstance(who, Agent) and settings:
        raise BadInput(f"{next(iter(settings))}=: the agent's run has begun: give it to virl.open_agent")
    with ExitStack() as stack:
        agent = who if isinstance(who, Agent) else stack.enter_context(_open_visitor(who, settings))
        body = Body(agent, sees=sees)
        use: Use = RecordingExecutor(body)
        made = tools_for(body, list(names), AsksFirst(agent, use, ask_first) if ask_first else use)
        return OpenTools(agent, made, stack.pop_all())


def _open_visitor(who: str | City | AnyCharacter, settings: RunSettings) -> AbstractContextManager[Agent]:
    """Return a context manager that opens a character's agent, or for a city a visitor at its centre."""
    if isinstance(who, AnyCharacter):
        return open_agent(who, **settings)
    city = open_city(who) if isinstance(who, str) else who
    if isinstance(who, City):
        settings = {**settings, "city": who}
    visitor = Character(
        name="Visitor",
        city=city.opened_as or city.name,
        start={"lat": city.center.lat, "lng": city.center.lng},
        background="A visitor.",
        intention="Do what is asked.",
        tools="all",
    )
    return open_agent(visitor, **settings)


class Approval(BaseModel):
    """A human's answer to a call: `{"approved": False, "comment": "Too far."}`, or just `True`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    approved: bool
    comment: str = ""
    """Words for the model if the call is not approved; may be empty."""


class AsksFirst:
    """A function that uses tools, and asks a human before those of certain names.

    The interrupt's value is a dict: `tool`, `arguments`, `why`, `spent_usd` and `budget_usd` (`None` without
    a limit). Answers are kept as notes of the run.
    """

    def __init__(self, agent: Agent, use: Use, names: Collection[str]) -> None:
        """Keep the agent, the function that uses any tool, and the names of tools to ask before.

        The name `_MONEY` stands for all tools that may cost money.
        """
        self._agent, self._use, self._names = agent, use, frozenset(names)

    def __call__(self, name: str, asked: Arguments) -> ToolResult[Any]:
        """Return the result of the tool of this name; a failed one if a human is asked and does not approve.

        Raises:
            BadInput: it is used outside of a graph with a checkpointer, or the answer is none.
        """
        why = self._confirmation_reason(name)
        if not why or self._agent.run.result is not None:
            return self._use(name, asked)
        arguments = asked.model_dump(mode="json", exclude_none=True)
        ledger = self._agent.run.ledger
        approval = _ask_human(
            {
                "tool": name,
                "arguments": arguments,
                "why": why,
                "spent_usd": ledger.spent_usd,
                "budget_usd": ledger.limit_usd,
            }
        )
        said = "approved" if approval.approved else "not approved"
        run = self._agent.run
        run.note(
            _TOPIC,
            str(len(run.notes(_TOPIC)) + 1),
            short(f"{name}: {said}. {approval.comment}".rstrip(), 300),
            data={"name": name, "arguments": dict(arguments), **approval.model_dump()},
            asked=(),
        )
        if approval.approved:
            return self._use(name, asked)
        return ToolResult(f"not done: a human did not approve it. {approval.comment}".rstrip(), failed=True)

    def _confirmation_reason(self, name: str) -> str:
        """Return the reason to ask before the tool of this name is used; empty if there is none."""
        city, mind, tool = self._agent.city, self._agent.mind, TOOLS.find(name)
        if _MONEY in self._names and tool.asks_services and city.ledger is not None:
            return f"{name} may send a request that costs money: {city.title} is asked over a network"
        if _MONEY in self._names and tool.asks_model and not isinstance(mind, RuleMind | ScriptMind):
            return f"{name} may cost money: it may ask {mind.name}"
        return f"{name} asks first" if name in self._names else ""


def _ask_human(question: Mapping[str, object]) -> Approval:
    """Interrupt the LangGraph graph with a question on a tool's call, and return the human's answer."""
    try:
        answer = interrupt(dict(question))
    except (KeyError, RuntimeError) as fault:
        raise BadInput(
            f"{question['tool']} asks a human first: use it in a LangGraph graph with a checkpointer"
        ) from fault
    try:
        return Approval.model_validate({"approved": answer} if isinstance(answer, bool) else answer)
    except ValidationError:
        raise BadInput(
            f"{question['tool']}: resume with Command(resume=True) or a dict of `approved` and `comment`"
        ) from None
