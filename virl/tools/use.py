"""Tools in use: traced, written into the run with what they claim, and as LangChain takes them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import count
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import AliasChoices, BaseModel, Field, ValidationError

from virl.agent.agent import Agent
from virl.agent.consult import TOPIC as CONSULTATION
from virl.agent.run import Run
from virl.agent.tool import FINISH, TOOLS, Arguments, Tool
from virl.errors import BudgetExceeded, CannotWrite, CodeFault, JournalBroken, UnknownName, VirlError
from virl.geo.globe import LatLng
from virl.journal.folder import CONSULTED
from virl.journal.records import NoteRecord, PlaceRecord
from virl.mind.cache import plain_json
from virl.mind.lexicon import load_lexicon
from virl.mind.wishes import kinds_wanted, requested_attributes
from virl.platform.city.claims import Claim, CountClaim, PlaceClaim
from virl.platform.city.outcome import Outcome
from virl.settings.faults import faults_of
from virl.tools.base import Listing, ToolResult, short
from virl.tools.body import Body, BodyState
from virl.tools.looking import Find
from virl.tools.task import NOTEBOOK, finish
from virl.traces.spans import Attributes, clean_text, content_wanted, span


def _trace_tool(name: str, asked: Arguments, act: Callable[[], ToolResult[Any]]) -> ToolResult[Any]:
    """Return the result of a tool's call, traced with arguments and text where the user wants content.

    Args:
        name: of the tool.
        asked: its arguments.
        act: calls it.
    """
    with span(f"execute_tool {name}", _identity(name, asked)) as told:
        is_wanted = told.is_on and content_wanted()
        if is_wanted:
            told.tell({"gen_ai.tool.call.arguments": clean_text(asked.model_dump_json(exclude_none=True))})
        result = act()
        told.tell({"virl.views": len(result.views)})
        if is_wanted:
            told.tell({"gen_ai.tool.call.result": clean_text(result.text)})
    return result


def tell_replayed(name: str) -> None:
    """Trace a call of a tool whose result a resumed run takes from its journal."""
    with span(f"execute_tool {name}", {**_identity(name), "virl.replayed": True}):
        pass


def _identity(name: str, asked: Arguments | None = None) -> Attributes:
    """Return the trace attributes that identify a tool and, where content is wanted, its arguments."""
    described = asked and " ".join((asked.__doc__ or "").split())
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": described or None,
    }


Use = Callable[[str, Arguments], ToolResult[Any]]
"""Function that calls a tool by name with its arguments, and returns its result."""


def use(body: Body, name: str, asked: Arguments) -> ToolResult[Any]:
    """Return the result of calling a tool for an agent.

    Args:
        body: of the agent.
        name: of the tool.
        asked: checked already.

    Raises:
        VirlError: what was asked cannot be done.
    """
    return _trace_tool(name, asked, lambda: TOOLS.find(name).act(body, asked))


def tools_for(body: Body, names: Sequence[str], using: Use | None = None) -> list[BaseTool]:
    """Return one agent's tools for LangChain, which run one call at a time.

    Each gives its text back as content and all that came of it, a `ToolResult`, as artifact. What cannot be
    done is raised as `VirlError`.

    Args:
        body: what they move.
        names: of the tools; `finish` comes with them.
        using: what uses a tool when it is called; by default nothing but `use`.

    Raises:
        UnknownName: there is no such tool.
        ModelUnavailable: another package's tool cannot be imported.
    """
    using = using or partial(use, body)
    lock = body.agent.run.lock
    return [
        _to_langchain_tool(name, TOOLS.find(name), using, lock) for name in dict.fromkeys([*names, FINISH])
    ]


def _to_langchain_tool(name: str, tool: Tool, using: Use, lock: AbstractContextManager[object]) -> BaseTool:
    """Return a tool for LangChain that holds a lock during each call."""

    def call(**given: object) -> tuple[str, ToolResult[Any]]:
        """Return the call's result as pair (text, result), after its arguments are validated."""
        with lock:
            result = using(name, tool.arguments.model_validate(given))
        return result.text, result

    return StructuredTool.from_function(
        call,
        name=name,
        description=tool.description,
        args_schema=tool.arguments,
        response_format="content_and_artifact",
        handle_validation_error=lambda fault: _describe_fault(fault, name, tool.arguments),
    )


def _describe_fault(fault: object, name: str, arguments: type[Arguments]) -> str:
    """Return a text for the model on what is wrong with a call's arguments."""
    if not isinstance(fault, ValidationError):
        return f"{name}: {fault}"
    wrong = {str(one["loc"][0]): one["input"] for one in fault.errors() if len(one["loc"]) == 1}
    return f"{name}: " + "; ".join(map(str, faults_of(fault, arguments, wrong))) + form_of(name)


def form_of(name: str) -> str:
    """Return the end of a sentence on the arguments that a tool takes; empty if there is no such tool."""
    try:
        schema = TOOLS.find(name).arguments.model_json_schema()
    except UnknownName:
        return ""
    needed = schema.get("required", ())
    fields = [
        f"{field}{'' if field in needed else '?'}: "
        + "|".join(one.get("type", "any") for one in about.get("anyOf", [about]))
        for field, about in schema.get("properties", {}).items()
    ]
    return f" ({name} takes {{{', '.join(fields)}}})"


DETECT = "detect"
"""Name of the tool that detects things in views."""


def claims_of(agent: Agent, place: PlaceRecord | None, notes: Iterable[NoteRecord]) -> list[Claim]:
    """Return the claims of a run by tools at its end: on the chosen place, and on things seen.

    Args:
        agent: whose intention says what was wished for.
        place: the place that it chose.
        notes: of the tools that it used, in their order.
    """
    character, lexicon = agent.character, load_lexicon()
    claims: list[Claim] = []
    if place:
        types = tuple(kinds_wanted(character.intention, lexicon.kinds, lexicon))
        wishes = requested_attributes(character.background, character.intention)
        claims.append(PlaceClaim(place.id, place.name, types, wishes, character.day_and_minute))
    looks = [_Look.model_validate(one.data) for one in notes if one.data.get("name") == DETECT]
    at_once: Counter[str] = Counter()
    stood: dict[str, LatLng] = {}
    for look in looks:
        if look.data:
            found = Counter(one.label for one in look.data.items if one.is_sure)
            at_once |= found + Counter()
            at_once.update(dict.fromkeys({*look.asked.labels, *found} - {*at_once}, 0))
            pano_id = look.standing.pano_id
            stood[pano_id] = agent.city.streetview.panorama(pano_id).position
    return [
        *claims,
        *(
            CountClaim(kind, (), tuple(stood.values()), at_once=count)
            for kind, count in sorted(at_once.items())
        ),
    ]


class _Asked(BaseModel):
    """The labels that a call of `detect` looked for."""

    labels: tuple[str, ...] = ()


class _Look(BaseModel):
    """The record of a call of `detect` in a note."""

    standing: BodyState
    asked: _Asked = Field(validation_alias=AliasChoices("args", "arguments"))
    data: Listing[Find] | None = None
    """Things that the detector found; `None` if the call failed."""


TOPIC = "tool"
"""Topic of the notes on calls of tools."""


class RecordingExecutor:
    """A caller of tools that writes a note on each call.

    In a run that goes on, the body stands where it had got to, and a `finish` that was cut off ends the run.

    Args:
        body: what the tools move.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        run = body.agent.run
        notes = run.notes(TOPIC)
        self._uses = count(1 + _uses_so_far(run))
        standing = next((note.data["standing"] for note in reversed(notes) if "standing" in note.data), None)
        body.go_on(None if standing is None else BodyState.model_validate(standing))
        if notes and run.result is None and _finishes(notes[-1]):
            self._end(notes[-1])

    def __call__(self, name: str, asked: Arguments) -> ToolResult[Any]:
        """Return the result of calling a tool, or the failure as a result; both are noted.

        Raises:
            BudgetExceeded: the run's money is spent.
            CannotWrite, JournalBroken: the run cannot be written down.
            CodeFault: an agent that was consulted has a bug.
        """
        body, run = self._body, self._body.agent.run
        if run.result is not None:
            return ToolResult("the run has ended: no tool can be used any more", failed=True)
        # before the use: the folder of a consulted agent and notes are named by it
        body.doing = str(next(self._uses))
        try:
            told: ToolResult[Any] = use(body, name, asked)
        # these end the run; of all other faults the model is told, so that it can do something else
        except (BudgetExceeded, CannotWrite, CodeFault, JournalBroken):
            raise
        except VirlError as fault:
            told = ToolResult(str(fault), failed=True)
        note = run.note(
            TOPIC,
            body.doing,
            short(f"{name}: {told.text}", 300),
            data={
                "name": name,
                "arguments": asked.model_dump(mode="json"),
                "failed": told.failed,
                "place": told.place and told.place.model_dump(mode="json"),
                "standing": body.standing.model_dump(),
                **plain_json({"data": told.data_as_json}),
            },
            asked=(),
            views=told.views,
        )
        if _finishes(note):
            self._end(note)
        return told

    def _end(self, note: NoteRecord) -> None:
        """End the run with the arguments of a noted call of `finish`."""
        asked = finish.arguments.model_validate(note.data["arguments"]).model_dump()
        place = note.data["place"]
        ended = Outcome("finished" if asked["succeeded"] else "gave up", asked["answer"])
        chosen = None if place is None else PlaceRecord.model_validate(place)
        self._body.stop(ended)
        self._body.agent.run.end(
            ended,
            chosen,
            answer={"answer": asked["answer"], "succeeded": asked["succeeded"]},
            claims=claims_of(self._body.agent, chosen, self._body.agent.run.notes(TOPIC)),
        )


def _finishes(note: NoteRecord) -> bool:
    """Return whether a note is of a successful call of `finish`."""
    return note.data.get("name") == FINISH and note.data.get("failed") is False


def _uses_so_far(run: Run) -> int:
    """Return the highest number among the run's calls of tools, those cut off included; 0 for none."""
    keys = [note.key for topic in (TOPIC, NOTEBOOK, CONSULTATION) for note in run.notes(topic)]
    keys += [folder.name for folder in (run.folder / CONSULTED).glob("*")]
    return max((int(key) for key in keys if key.isdecimal()), default=0)
