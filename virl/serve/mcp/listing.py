"""The tools as a client is told of them: names, schemas, hints."""

from collections.abc import Mapping
from functools import cache
from inspect import cleandoc
from types import MappingProxyType

from mcp.types import Tool, ToolAnnotations
from pydantic import BaseModel, Field, create_model

from virl.serve.mcp.results import Answer
from virl.serve.mcp.sessions import OpenCity
from virl.tools.base import Arguments
from virl.tools.catalogue import FINISH, TOOLS

OPEN_CITY = "open_city"

_TITLES = {
    OPEN_CITY: "Open a city",
    "look": "Look around",
    "look_closer": "Look closer",
    "read_signs": "Read signs",
    "detect": "Find things in views",
    "ask_about_view": "Ask about a view",
    "move": "Walk",
    "turn": "Turn",
    "relocate": "Go elsewhere at once",
    "where_am_i": "Where am I",
    "nearby_places": "Places nearby",
    "search_places": "Search places",
    "place_details": "Details of a place",
    "photos": "Photos of a place",
    "geocode": "Position of an address",
    "route": "Route",
    "travel_times": "Travel times",
    "take_note": "Take a note",
    "consult": "Ask another agent",
    FINISH: "Finish",
}
_CHANGE = frozenset({OPEN_CITY, "move", "turn", "relocate", "take_note", "consult", FINISH})
"""What changes where the agent stands or what it has; the others only look."""
_ONCE = frozenset({"relocate", FINISH})
"""Of these, those that change nothing more when they are called again."""


class InSession(BaseModel):
    """What all tools but `open_city` take beside their own arguments."""

    session: str = Field(
        "",
        max_length=130,
        description="The id that open_city gave; may be left out while one session is open.",
    )


@cache
def arguments() -> Mapping[str, type[Arguments]]:
    """What each tool takes."""
    session = InSession.model_fields["session"]
    own = {
        name: create_model(
            tool.arguments.__name__,
            __base__=tool.arguments,
            __doc__=tool.arguments.__doc__,
            session=(str, session),
        )
        for name, tool in TOOLS.items()
    }
    return MappingProxyType({OPEN_CITY: OpenCity, **own})


@cache
def listed_tools() -> list[Tool]:
    """All tools."""
    return [_listed(name, takes) for name, takes in arguments().items()]


def _listed(name: str, takes: type[Arguments]) -> Tool:
    looks = name not in _CHANGE
    return Tool(
        name=name,
        title=_TITLES[name],
        description=" ".join(cleandoc(takes.__doc__ or "").split()),
        input_schema=takes.model_json_schema(),
        output_schema=Answer.model_json_schema(),
        annotations=ToolAnnotations(
            title=_TITLES[name],
            read_only_hint=looks,
            destructive_hint=False,
            idempotent_hint=looks or name in _ONCE,
            open_world_hint=True,
        ),
    )
