"""Tools about the task itself: the notebook, other agents, the end."""

import json
from typing import Annotated, Any

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from virl.agent.character_file import agent_names, find_character, load_character
from virl.agent.consult import consult as consult_agent
from virl.agent.roster import roster
from virl.agent.tool import Arguments, ToolData, tool
from virl.errors import BadInput, choices
from virl.journal.convert import place_record
from virl.tools.base import ToolResult, from_world, latest, short, told
from virl.tools.body import Body

NOTEBOOK = "notebook"
"""Topic of what an agent writes down for itself."""


class TakeNote(Arguments):
    """Write something down in your notebook, and read all that stands in it.

    Notes stay when earlier results are left out of the conversation.
    """

    text: str = Field(
        "", max_length=1000, description="What to write down, in a few sentences; empty to read only."
    )


class _AnyAgent:
    """Names all agents, and what each does, in the schema that a model is given."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        agents, _ = roster()
        who = "; ".join(f"{one.name}: {one.about.rstrip('.')}" for one in agents)
        return {
            **handler(schema),
            "enum": [one.name for one in agents],
            "description": f"Whom to consult. {who}.",
        }


class Consult(Arguments):
    """Let another agent do something for you in this city, and be told its result.

    What it spends and walks counts as yours. You stay where you are.
    """

    agent: Annotated[str, _AnyAgent()]
    request: str = Field(
        min_length=1,
        max_length=1000,
        description="What it should do or find, with all it needs to know, in full sentences. It takes the "
        "place of what it would want by itself.",
    )
    from_here: bool = Field(
        default=True, description="Whether it starts where you stand; else where it lives."
    )


class Finish(Arguments):
    """End your task with an answer. Call it once, when the task is done or cannot be done."""

    answer: str = Field(
        min_length=1, max_length=4000, description="What came of it, with the facts that show it."
    )
    succeeded: bool = Field(description="Whether you did what you set out to do.")
    place_id: str | None = Field(
        None, description="The id of the place you chose, if one place is the answer."
    )


class Notebook(ToolData):
    """All notes, the oldest first."""

    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{number}. {note}" for number, note in enumerate(self.notes, 1)]
        return latest(lines) if lines else "Your notebook is empty."


class PlaceChosen(ToolData):
    """The place that another agent chose."""

    id: str
    name: str
    address: str

    def __str__(self) -> str:
        return f"place: id {self.id} | {self.name} | {self.address}"


class Consulted(ToolData):
    """The result of another agent."""

    agent: str
    status: str
    moves: int
    reason: str
    place: PlaceChosen | None
    found: dict[str, int]
    """What it counted, by thing."""
    answer: dict[str, Any]

    def __str__(self) -> str:
        lines = [f"{self.agent}: {self.status} after {self.moves} moves. {self.reason}"]
        if self.place:
            lines.append(str(self.place))
        if self.found:
            lines.append("counted: " + ", ".join(f"{count} {thing}" for thing, count in self.found.items()))
        if self.answer:
            lines.append(short(json.dumps(self.answer, ensure_ascii=False), 1500))
        return from_world(lines)


class TaskEnded(ToolData):
    """The end of a task."""

    succeeded: bool

    def __str__(self) -> str:
        return "Done."


@tool("Take a note", changes=True)
def take_note(body: Body, asked: TakeNote) -> ToolResult[Notebook]:
    """Return the notebook, with the new note."""
    run = body.agent.run
    if asked.text.strip() and not run.noted(NOTEBOOK, body.doing):
        run.note(NOTEBOOK, body.doing, asked.text.strip(), asked=())
    return told(Notebook(notes=tuple(short(note.text, 1000) for note in run.notes(NOTEBOOK))))


@tool("Ask another agent", changes=True, asks_model=True)
def consult(body: Body, asked: Consult) -> ToolResult[Consulted]:
    """Return what another agent found."""
    if asked.agent not in agent_names():
        # A model has no command line to list them with, as `UnknownName` says of many.
        raise BadInput(f"unknown agent {asked.agent!r}: {choices(agent_names())}")
    left = body.moves_left
    if left < 1:
        raise BadInput("no moves are left for another agent: finish with what you know")
    other = load_character(find_character(asked.agent))
    limits = other.limits
    changes: dict[str, object] = {
        "intention": asked.request,
        "clock": body.agent.character.clock,
        "limits": limits.model_dump() | {"steps": min(limits.steps, left)},
    }
    if getattr(other, "client", None) is not None:  # such agents go by what their client wants
        me = body.agent.character
        changes["client"] = {"name": me.name, "background": me.background, "intention": asked.request}
    if asked.from_here:
        here = body.panorama.position
        changes |= {"start": {"lat": here.lat, "lng": here.lng}, "heading": body.standing.heading}
    about = f"{asked.agent} was asked: {short(asked.request, 200)}"
    result = consult_agent(body.agent, asked.agent, body.doing, about=about, changes=changes, user=body.user)
    place = result.place
    return told(
        Consulted(
            agent=asked.agent,
            status=result.status,
            moves=result.steps,
            reason=short(result.reason, 800),
            place=place and PlaceChosen(id=place.id, name=place.name, address=place.address),
            found=dict(result.found),
            answer=dict(result.answer),
        )
    )


@tool("Finish", changes=True, once=True, asks_services=False)
def finish(body: Body, asked: Finish) -> ToolResult[TaskEnded]:
    """Look at the answer; ending is the caller's."""
    place = None
    if asked.place_id is not None:
        found = body.agent.city.places.details(asked.place_id)
        place = place_record(
            found, decision="enter" if asked.succeeded else "continue", reason=short(asked.answer, 300)
        )
    return told(TaskEnded(succeeded=asked.succeeded), place=place)
