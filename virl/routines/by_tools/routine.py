"""The routine of characters that have `tools` and no routine: a mind decides what to do, until all is done.

The mind is a chat model, a script or the rules; `deciding.py` has them, `recording.py` writes what they do.
"""

from operator import add
from typing import Annotated, Any, Required

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    ToolCallRequest,
    ToolErrorMiddleware,
)
from langchain.agents.middleware.types import InputAgentState
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.errors import (
    BudgetExceeded,
    CannotWrite,
    CodeFault,
    JournalBroken,
    MindFailed,
    RunStopped,
    VirlError,
)
from virl.journal.film import PICTURE
from virl.mind.base import Mind
from virl.mind.chat.answers import NOTHING, refusal_in
from virl.mind.chat.sending import OutOfReplies
from virl.mind.lexicon import Lexicon
from virl.mind.llm import LLMMind
from virl.mind.prompt import render
from virl.mind.replies import Reply
from virl.mind.script import ScriptMind
from virl.mind.understanding import Reading
from virl.pages.exhibits import Exhibit, TextExhibit
from virl.platform.city.outcome import Outcome
from virl.routines.by_tools.deciding import Decider, check_script, check_tools, decider_of, stop_at_fault
from virl.routines.by_tools.goals import UNFULFILLED, read_goal, seeks_view, words_of_goal
from virl.routines.by_tools.picturing import keep_picture
from virl.routines.by_tools.recording import TOOL, Recording, ToolRunOutcome, ended_early
from virl.tools.base import short
from virl.tools.body import Body
from virl.tools.use import claims_of, tools_for

CLEAR_AT_TOKENS, RESULTS_KEPT = 30_000, 12
"""Tokens of a request above which old tool results are left out, and number of the latest results that stay.
Chosen."""
CONTEXT_USED = 0.6
"""Share of the context length set by the user above which old results are left out; the rest is for replies.
Chosen."""
CLEARED = "(left out to save room: call the tool again if you need it)"
NODES_A_TURN = 8  # of the graph that LangChain walks; no more than these stand in one round


class _Conversation(AgentState[Any]):
    """The state of LangChain's graph; messages are only ever appended."""

    # LangGraph's own reducer indexes all messages by id at every turn, to find those that are replaced.
    messages: Required[Annotated[list[AnyMessage], add]]


def _read_intention(character: Character, lexicon: Lexicon) -> Reading:
    """Return the intention with its words that the plan acts on; check that the tools suffice for it."""
    goal = read_goal(character, lexicon)
    check_tools(character, goal)
    used = tuple(words_of_goal(character, goal, lexicon))
    return Reading(character.intention, used, (character.name,), "tools", UNFULFILLED[goal.seeking])


WISH = Wish(_read_intention)


def check_mind(character: Character, mind: Mind) -> None:
    """Raise an error unless a script's calls fit the character's tools, or the model is a chat model.

    Raises:
        BadInput: the script does not fit.
        MindFailed: the model is no chat model.
    """
    from virl.mind.llm import LLMMind  # noqa: PLC0415 - LangChain takes a second to import

    if isinstance(mind, ScriptMind):
        check_script(mind, character)
    elif isinstance(mind, LLMMind):
        _ = mind.chat_model  # raises where it is none


def run(agent: Agent) -> None:
    """Run the character by its mind's tool calls until it finishes or a limit is reached; end the run.

    Raises:
        BadInput: the mind can use no tools, the rules do not understand the intention, or a script does not
            fit.
        BudgetExceeded, ModelUnavailable, MindFailed: the run can be resumed; no turn is asked for twice.
    """
    decider, model = decider_of(agent)
    body = Body(agent, sees=isinstance(agent.mind, LLMMind) and _takes_pictures(agent, model))
    ended = _converse(body, decider, model)
    body.stop(ended.outcome)
    answer = {**ended.answer, "succeeded": ended.outcome.kind == "finished"}
    if picture := keep_picture(agent, ended.outcome.reason, ended.place, is_view=seeks_view(agent.character)):
        answer[PICTURE] = picture
    agent.run.end(
        ended.outcome,
        ended.place,
        answer=answer,
        exhibits=_exhibits(ended),
        claims=claims_of(agent, ended.place, agent.run.notes(TOOL)),
    )


def _converse(body: Body, decider: Decider, model: BaseChatModel) -> ToolRunOutcome:
    """Run the conversation of model and tools to its end, and return its outcome."""
    character = body.agent.character
    recording = Recording(body, decider)
    mind = body.agent.mind

    def describe_error(fault: Exception, request: ToolCallRequest) -> str | None:
        """Return a tool's error as text for the mind; `None` for one that ends the run."""
        if isinstance(mind, ScriptMind):  # which cannot react to it
            stop_at_fault(mind, fault, request)
        ends = BudgetExceeded | CannotWrite | CodeFault | JournalBroken | RunStopped
        return str(fault) if isinstance(fault, VirlError) and not isinstance(fault, ends) else None

    middleware: list[AgentMiddleware[Any, None, Any]] = [recording, ToolErrorMiddleware(describe_error)]
    if isinstance(mind, LLMMind):  # whose context is limited
        context = mind.settings.context
        most = CLEAR_AT_TOKENS if context is None else min(CLEAR_AT_TOKENS, int(CONTEXT_USED * context))
        clear = ClearToolUsesEdit(most, keep=RESULTS_KEPT, placeholder=CLEARED)
        middleware.insert(0, ContextEditingMiddleware(edits=[clear]))
    graph = create_agent(
        model,
        tools_for(body, character.tools),
        system_prompt=_system_prompt(body),
        middleware=middleware,
        state_schema=_Conversation,
    )
    task = render(body.agent.prompts.load("by_tools/task", Reply), {"intention": character.intention})
    messages: list[AnyMessage] = [HumanMessage(content=task)]
    config: RunnableConfig = {
        "max_concurrency": 1,  # the tools move the same body, and write into the same journal
        "recursion_limit": NODES_A_TURN * (character.limits.calls + 1),
    }
    try:
        for state in graph.stream(InputAgentState(messages=[*messages]), config, stream_mode="values"):
            messages = state["messages"]
    except (OutOfReplies, GraphRecursionError):
        return recording.outcome or recording.out_of_turns(messages)
    except MindFailed as fault:  # of the model itself: a tool's is told to it
        if not isinstance(decider, LLMMind):
            raise  # a script that ends can be continued
        return recording.outcome or ended_early(Outcome("no reply", short(str(fault), 300)), messages)
    return recording.outcome or _outcome_of(messages)


def _outcome_of(messages: list[AnyMessage]) -> ToolRunOutcome:
    """Return the outcome of a last turn without a tool call: a refusal, silence, or plain text."""
    said = messages[-1]
    if isinstance(said, AIMessage) and (refusal := refusal_in(said)):
        ended = Outcome("no reply", f"the model would not go on: {short(refusal, 200)}")
    elif (text := said.text.strip()) in ("", NOTHING):
        ended = Outcome("no reply", "the model said nothing more")
    else:
        ended = Outcome("gave up", f"the model called no tool and never finished: {short(text, 200)}")
    return ended_early(ended, messages)


def _system_prompt(body: Body) -> str:
    """Return the model's instructions: character, city, limits, and whether it gets pictures."""
    character = body.agent.character
    return render(
        body.agent.prompts.load("by_tools/agent", Reply),
        {
            "name": character.name,
            "age": character.age,
            "background": character.background,
            "city": body.agent.city.title,
            "clock": character.clock,
            "steps": character.limits.steps,
            "calls": character.limits.calls,
            "sees": body.sees,
        },
    )


def _takes_pictures(agent: Agent, model: BaseChatModel) -> bool:
    """Return whether the model gets pictures, as set by the character, else the mind, else its profile."""
    asked = agent.character.senses.pictures
    profile: dict[str, Any] = dict(model.profile or {})
    wanted = agent.mind.settings.pictures if isinstance(agent.mind, LLMMind) else None
    chosen = wanted if asked is None else asked
    return bool(profile.get("image_inputs")) if chosen is None else chosen


def _exhibits(outcome: ToolRunOutcome) -> list[Exhibit]:
    """Return the report's exhibit: the answer, unless the outcome repeats it."""
    answer = outcome.answer.get("answer")
    is_new = answer and answer != outcome.outcome.reason
    return [TextExhibit(title="Answer", text=str(answer))] if is_new else []
