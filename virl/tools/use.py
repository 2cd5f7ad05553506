"""Calling tools: traced, recorded in the run with the claims that follow, and as tools of LangChain."""

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
from virl.redaction import Redaction
from virl.settings.faults import faults_of
from virl.tools.base import Listing, ToolResult, short
from virl.tools.body import Body, BodyState
from virl.tools.looking import Find
from virl.tools.task import NOTEBOOK, finish
from virl.traces.spans import Attributes, content_wanted, span


def tell_replayed(name: str) -> None:
    """Trace a call of a tool whose result a resumed run takes from its journal."""
    with span(f"execute_tool {name}", {**_trace_attributes(name), "virl.replayed": True}):
        pass


def _trace_attributes(name: str, arguments: Arguments | None = None) -> Attributes:
    """Return the trace attributes of a tool: its name, and its description if `arguments` are given."""
    described = arguments and " ".join((arguments.__doc__ or "").split())
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": described or None,
    }


Use = Callable[[str, Arguments], ToolResult[Any]]
"""Function that calls a tool by name with its arguments, and returns its result."""


def use(body: Body, name: str, arguments: Arguments) -> ToolResult[Any]:
    """Return the result of calling a tool; traced, with arguments and text if traces have content.

    Args:
        body: the body of the agent that calls.
        name: the tool's name.
        arguments: the validated arguments.

    Raises:
        VirlError: the tool cannot do what it is called for.
    """
    with span(f"execute_tool {name}", _trace_attributes(name, arguments)) as traced:
        has_content = traced.is_on and content_wanted()
        if has_content:
            text = Redaction.of().text(arguments.model_dump_json(exclude_none=True))
            traced.tell({"gen_ai.tool.call.arguments": text})
        result: ToolResult[Any] = TOOLS.find(name).act(body, arguments)
        traced.tell({"virl.views": len(result.views)})
        if has_content:
            traced.tell({"gen_ai.tool.call.result": Redaction.of().text(result.text)})
    return result


def tools_for(body: Body, names: Sequence[str], using: Use | None = None) -> list[BaseTool]:
    """Return one agent's tools for LangChain, run one call at a time by `using`, or by `use` if `None`.

    Each returns its text as content and its `ToolResult` as artifact, and raises `VirlError` if it fails.

    Args:
        body: the body that they move.
        names: the names of the tools; `finish` is added.
        using: the function by which a tool is called; by default `use`.

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
    """Return a tool for LangChain that calls `using` and holds a lock during each call."""

    def call(**arguments: object) -> tuple[str, ToolResult[Any]]:
        """Return (text, result) of a call, after its arguments are validated."""
        with lock:
            result = using(name, tool.arguments.model_validate(arguments))
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
    """Return a text for the model: what is wrong with a call's arguments, and which ones the tool takes."""
    if not isinstance(fault, ValidationError):
        return f"{name}: {fault}"
    wrong = {str(one["loc"][0]): one["input"] for one in fault.errors() if len(one["loc"]) == 1}
    return f"{name}: {'; '.join(map(str, faults_of(fault, arguments, wrong)))}{form_of(name)}"


def form_of(name: str) -> str:
    """Return a tool's arguments and types, such as " (move takes {steps?: integer})"; "" if it is unknown."""
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
    """Return the claims that a run by tools makes at its end: on the chosen place, and on things counted.

    Args:
        agent: the agent, whose intention names the place's types and attributes.
        place: the place that it chose; `None` for none.
        notes: the notes on the tools that it called, in their order.
    """
    character, lexicon = agent.character, load_lexicon()
    claims: list[Claim] = []
    if place:
        types = tuple(kinds_wanted(character.intention, lexicon.kinds, lexicon))
        wishes = requested_attributes(character.background, character.intention)
        claims.append(PlaceClaim(place.id, place.name, types, wishes, character.day_and_minute))
    looks = [_DetectCall.model_validate(one.data) for one in notes if one.data.get("name") == DETECT]
    at_once: Counter[str] = Counter()
    stood: dict[str, LatLng] = {}
    for look in looks:
        if look.data:
            found = Counter(one.label for one in look.data.items if one.is_sure)
            # The most of a kind in one look, as a sum would count what several looks share more than once.
            at_once |= found + Counter()
            at_once.update(dict.fromkeys({*look.arguments.labels, *found} - {*at_once}, 0))
            pano_id = look.standing.pano_id
            stood[pano_id] = agent.city.streetview.panorama(pano_id).position
    positions = tuple(stood.values())
    counts = [CountClaim(kind, (), positions, at_once=count) for kind, count in sorted(at_once.items())]
    return [*claims, *counts]


class _DetectArguments(BaseModel):
    """The arguments of a recorded call of `detect`: the labels that it looked for."""

    labels: tuple[str, ...] = ()


class _DetectCall(BaseModel):
    """A recorded call of `detect`, as a note has it."""

    standing: BodyState
    arguments: _DetectArguments = Field(validation_alias=AliasChoices("args", "arguments"))
    data: Listing[Find] | None = None
    """Things that the detector found; `None` if the call failed."""


TOPIC = "tool"
"""Topic under which the journal keeps its notes on calls of tools."""


class RecordingExecutor:
    """A caller of tools that writes a note on each call.

    In a resumed run it first moves the body to where the run was cut off, and completes a noted `finish`.
    """

    def __init__(self, body: Body) -> None:
        """Move the body to where a resumed run was cut off; end the run if its last note is a `finish`."""
        self._body = body
        run = body.agent.run
        notes = run.notes(TOPIC)
        # Calls that were cut off have left notes of their own, or the folder of a consulted agent.
        keys = [note.key for topic in (TOPIC, NOTEBOOK, CONSULTATION) for note in run.notes(topic)]
        keys += [folder.name for folder in (run.folder / CONSULTED).glob("*")]
        self._numbers = count(1 + max((int(key) for key in keys if key.isdecimal()), default=0))
        standing = next((note.data["standing"] for note in reversed(notes) if "standing" in note.data), None)
        body.go_on(None if standing is None else BodyState.model_validate(standing))
        if notes and run.result is None and _finishes(notes[-1]):
            self._end(notes[-1])

    def __call__(self, name: str, arguments: Arguments) -> ToolResult[Any]:
        """Return the result of calling a tool, or its failure as a result; write a note on either.

        Raises:
            BudgetExceeded: the run's money is spent.
            CannotWrite, JournalBroken: the run cannot be written down.
            CodeFault: an agent that was consulted has a bug.
        """
        body, run = self._body, self._body.agent.run
        if run.result is not None:
            return ToolResult("the run has ended: no tool can be used any more", failed=True)
        # before the use: the folder of a consulted agent and notes are named by it
        body.doing = str(next(self._numbers))
        try:
            result: ToolResult[Any] = use(body, name, arguments)
        # these end the run; of all other faults the model is told, so that it can do something else
        except (BudgetExceeded, CannotWrite, CodeFault, JournalBroken):
            raise
        except VirlError as fault:
            result = ToolResult(str(fault), failed=True)
        note = run.note(
            TOPIC,
            body.doing,
            short(f"{name}: {result.text}", 300),
            data={
                "name": name,
                "arguments": arguments.model_dump(mode="json"),
                "failed": result.failed,
                "place": result.place and result.place.model_dump(mode="json"),
                "standing": body.standing.model_dump(),
                **plain_json({"data": result.data_as_json}),
            },
            asked=(),
            views=result.views,
        )
        if _finishes(note):
            self._end(note)
        return result

    def _end(self, note: NoteRecord) -> None:
        """End the run with the arguments of a noted call of `finish`."""
        arguments = finish.arguments.model_validate(note.data["arguments"]).model_dump()
        answer = {name: arguments[name] for name in ("answer", "succeeded")}
        place = note.data["place"]
        outcome = Outcome("finished" if answer["succeeded"] else "gave up", answer["answer"])
        chosen = None if place is None else PlaceRecord.model_validate(place)
        self._body.stop(outcome)
        self._body.agent.run.end(
            outcome,
            chosen,
            answer=answer,
            claims=claims_of(self._body.agent, chosen, self._body.agent.run.notes(TOPIC)),
        )


def _finishes(note: NoteRecord) -> bool:
    """Return whether a note records a successful call of `finish`."""
    return note.data.get("name") == FINISH and note.data.get("failed") is False
