"""The tools as a client is told of them: names, schemas, hints."""

import logging
from collections.abc import Mapping
from functools import cache, lru_cache
from inspect import cleandoc
from types import MappingProxyType
from typing import Any

from mcp.types import Tool as ListedTool
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field, create_model

from virl.agent.tool import FINISH, TOOLS, Arguments, tool_names
from virl.errors import VirlError
from virl.serve.mcp.results import Answer
from virl.serve.mcp.sessions import OpenCity

OPEN_CITY = "open_city"

_log = logging.getLogger(__name__)


class InSession(BaseModel):
    """Arguments that all tools but `open_city` take beside their own."""

    session: str = Field(
        "",
        max_length=130,
        description="The id that open_city gave; may be left out while one session is open.",
    )


def arguments() -> Mapping[str, type[Arguments]]:
    """Return what each tool takes."""
    return _arguments((*tool_names(), FINISH))


def listed_tools() -> list[ListedTool]:
    """Return all tools."""
    return [_listing(name, takes) for name, takes in arguments().items()]


@lru_cache(maxsize=8)
def _arguments(names: tuple[str, ...]) -> Mapping[str, type[Arguments]]:
    session = InSession.model_fields["session"]
    own: dict[str, type[Arguments]] = {}
    for name in names:
        try:
            takes = TOOLS.find(name).arguments
        except VirlError as fault:
            _log.warning("%s", fault)
            continue
        own[name] = create_model(
            takes.__name__, __base__=takes, __doc__=takes.__doc__, session=(str, session)
        )
    return MappingProxyType({OPEN_CITY: OpenCity, **own})


@cache
def _listing(name: str, takes: type[Arguments]) -> ListedTool:
    if name == OPEN_CITY:
        title, looks, once, answer = "Open a city", False, False, Answer
    else:
        tool = TOOLS.find(name)
        title, looks, once = tool.title, not tool.changes, tool.once
        data: Any = (tool.returns | None, None)
        answer = create_model("Answer", __base__=Answer, data=data)
    return ListedTool(
        name=name,
        title=title,
        description=" ".join(cleandoc(takes.__doc__ or "").split()),
        input_schema=takes.model_json_schema(),
        output_schema=answer.model_json_schema(),
        annotations=ToolAnnotations(
            title=title,
            read_only_hint=looks,
            destructive_hint=False,
            idempotent_hint=looks or once,
            open_world_hint=True,
        ),
    )
