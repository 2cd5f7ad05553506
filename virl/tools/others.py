"""Tools that end or hand over: consult another agent, finish."""

import json
from typing import Annotated

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from virl.agent.character_file import agent_names, find_character, load_character
from virl.agent.consult import consult as consult_agent
from virl.agent.roster import roster
from virl.errors import BadInput, choices
from virl.journal.convert import place_record
from virl.tools.base import Arguments, ToolResult, from_world, latest, short
from virl.tools.body import Body

NOTEBOOK = "notebook"
"""Topic of what an agent writes down for itself."""


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


class TakeNote(Arguments):
    """Write something down in your notebook, and read all that stands in it.

    Notes stay when earlier results are left out of the conversation.
    """

    text: str = Field(
        "", max_length=1000, description="What to write down, in a few sentences; empty to read only."
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


def consult(body: Body, asked: Consult) -> ToolResult:
    """What another agent found."""
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
    lines = [f"{asked.agent}: {result.status} after {result.steps} moves. {short(result.reason, 800)}"]
    if result.place:
        lines.append(f"place: id {result.place.id} | {result.place.name} | {result.place.address}")
    if result.found:
        lines.append("counted: " + ", ".join(f"{count} {thing}" for thing, count in result.found.items()))
    if result.answer:
        lines.append(short(json.dumps(result.answer, ensure_ascii=False), 1500))
    return ToolResult(from_world(lines))


def take_note(body: Body, asked: TakeNote) -> ToolResult:
    """The notebook, with the new note."""
    run = body.agent.run
    if asked.text.strip() and not run.noted(NOTEBOOK, body.doing):
        run.note(NOTEBOOK, body.doing, asked.text.strip(), asked=())
    lines = [f"{number}. {short(note.text, 1000)}" for number, note in enumerate(run.notes(NOTEBOOK), 1)]
    return ToolResult(latest(lines) if lines else "Your notebook is empty.")


def finish(body: Body, asked: Finish) -> ToolResult:
    """Looks at the answer; ending is the caller's."""
    place = None
    if asked.place_id is not None:
        found = body.agent.city.places.details(asked.place_id)
        place = place_record(
            found, decision="enter" if asked.succeeded else "continue", reason=short(asked.answer, 300)
        )
    return ToolResult("Done.", place=place)
