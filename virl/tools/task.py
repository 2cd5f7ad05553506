"""Tools about the task itself: the notebook, other agents, the end."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from virl.agent.character_file import agent_names, find_character, load_character
from virl.agent.consult import consult as consult_agent
from virl.agent.roster import roster
from virl.agent.tool import ToolData, tool
from virl.errors import BadInput, choices
from virl.journal.convert import place_record
from virl.journal.records import PlaceRecord
from virl.tools.base import ToolResult, from_world, latest, short, tell_data
from virl.tools.body import Body

NOTEBOOK = "notebook"
"""Topic under which the journal keeps the notes of an agent's notebook."""


class _AnyAgent:
    """The JSON schema of an agent's name, which lists all agents with their descriptions for the model."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of a string with all agents' names as its values."""
        agents, _ = roster()
        who = "; ".join(f"{one.name}: {one.about.rstrip('.')}" for one in agents)
        return {
            **handler(schema),
            "enum": [one.name for one in agents],
            "description": f"Whom to consult. {who}.",
        }


class Notebook(ToolData):
    """All notes, the oldest first."""

    notes: tuple[str, ...]

    def __str__(self) -> str:
        """Return the numbered notes, the latest that fit, or a sentence on an empty notebook."""
        lines = [f"{number}. {note}" for number, note in enumerate(self.notes, 1)]
        return latest(lines) if lines else "Your notebook is empty."


class Consulted(ToolData):
    """The result of another agent."""

    agent: str
    status: str
    moves: int
    reason: str
    place: PlaceRecord | None
    found: dict[str, int]
    """Number of things that the agent counted, by kind."""
    answer: dict[str, Any]

    def __str__(self) -> str:
        """Return status, moves, reason, place, counts and answer between marks, a line each."""
        lines = [f"{self.agent}: {self.status} after {self.moves} moves. {self.reason}"]
        if place := self.place:
            lines.append(f"place: id {place.id} | {place.name} | {place.address}")
        if self.found:
            lines.append("counted: " + ", ".join(f"{count} {thing}" for thing, count in self.found.items()))
        if self.answer:
            lines.append(short(json.dumps(self.answer, ensure_ascii=False), 1500))
        return from_world(lines)


class TaskEnded(ToolData):
    """The end of a task."""

    succeeded: bool

    def __str__(self) -> str:
        """Return the word "Done.", whether the task succeeded or not."""
        return "Done."


@tool("Take a note", changes=True)
def take_note(
    body: Body,
    text: str = Field(
        "", max_length=1000, description="What to write down, in a few sentences; empty to read only."
    ),
) -> ToolResult[Notebook]:
    """Write something down in your notebook, and read all that stands in it.

    Notes stay when earlier results are left out of the conversation.
    """
    run = body.agent.run
    if text.strip() and not run.find_note(NOTEBOOK, body.doing):
        run.note(NOTEBOOK, body.doing, text.strip(), asked=())
    return tell_data(Notebook(notes=tuple(short(note.text, 1000) for note in run.notes(NOTEBOOK))))


@tool("Ask another agent", changes=True, asks_model=True)
def consult(
    body: Body,
    agent: Annotated[str, _AnyAgent()],
    request: str = Field(
        min_length=1,
        max_length=1000,
        description="What it should do or find, with all it needs to know, in full sentences. It takes the "
        "place of what it would want by itself.",
    ),
    from_here: bool = Field(
        default=True, description="Whether it starts where you stand; else where it lives."
    ),
) -> ToolResult[Consulted]:
    """Let another agent do something for you in this city, and be told its result.

    What it spends and walks counts as yours. You stay where you are.
    """
    if agent not in agent_names():
        # A model has no command line to list them with, as `UnknownName` says of many.
        raise BadInput(f"unknown agent {agent!r}: {choices(agent_names())}")
    left = body.moves_left
    if left < 1:
        raise BadInput("no moves are left for another agent: finish with what you know")
    other = load_character(find_character(agent))
    limits = other.limits
    changes: dict[str, object] = {
        "intention": request,
        "clock": body.agent.character.clock,
        "limits": limits.model_dump() | {"steps": min(limits.steps, left)},
    }
    if getattr(other, "client", None) is not None:  # such agents go by what their client wants
        me = body.agent.character
        changes["client"] = {"name": me.name, "background": me.background, "intention": request}
    if from_here:
        here = body.panorama.position
        changes |= {"start": {"lat": here.lat, "lng": here.lng}, "heading": body.standing.heading}
    about = f"{agent} was asked: {short(request, 200)}"
    result = consult_agent(body.agent, agent, body.doing, about=about, changes=changes, user=body.user)
    return tell_data(
        Consulted(
            agent=agent,
            status=result.status,
            moves=result.steps,
            reason=short(result.reason, 800),
            place=result.place,
            found=dict(result.found),
            answer=dict(result.answer),
        )
    )


@tool("Finish", changes=True, once=True, asks_services=False)
def finish(
    body: Body,
    answer: str = Field(
        min_length=1, max_length=4000, description="What came of it, with the facts that show it."
    ),
    succeeded: bool = Field(description="Whether you did what you set out to do."),
    place_id: str | None = Field(
        None, description="The id of the place you chose, if one place is the answer."
    ),
) -> ToolResult[TaskEnded]:
    """End your task with an answer. Call it once, when the task is done or cannot be done."""
    place = None
    if place_id is not None:  # to end is the caller's part
        found = body.agent.city.places.details(place_id)
        decision: Literal["enter", "continue"] = "enter" if succeeded else "continue"
        place = place_record(found, decision=decision, reason=short(answer, 300))
    return tell_data(TaskEnded(succeeded=succeeded), place=place)
