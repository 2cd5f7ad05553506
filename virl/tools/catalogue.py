"""The tools there are, and those of one agent as LangChain takes them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import cleandoc
from types import MappingProxyType

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import ValidationError

from virl.settings.faults import faults_of
from virl.tools import finding, moving, others, seeing, travelling
from virl.tools.base import Arguments, Tool, ToolResult
from virl.tools.body import Body
from virl.tools.tracing import tell_result
from virl.tools.tracing import using as traced_use

FINISH = "finish"

TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        "look": Tool(seeing.Look, seeing.look),
        "look_closer": Tool(seeing.LookCloser, seeing.look_closer),
        "read_signs": Tool(seeing.ReadSigns, seeing.read_signs),
        "detect": Tool(seeing.Detect, seeing.detect),
        "ask_about_view": Tool(seeing.AskAboutView, seeing.ask_about_view),
        "move": Tool(moving.Move, moving.move),
        "turn": Tool(moving.Turn, moving.turn),
        "relocate": Tool(travelling.Relocate, travelling.relocate),
        "where_am_i": Tool(moving.WhereAmI, moving.where_am_i),
        "nearby_places": Tool(finding.NearbyPlaces, finding.nearby_places),
        "search_places": Tool(finding.SearchPlaces, finding.search_places),
        "place_details": Tool(finding.PlaceDetails, finding.place_details),
        "photos": Tool(seeing.Photos, seeing.photos),
        "geocode": Tool(finding.Geocode, finding.geocode),
        "route": Tool(finding.FindRoute, finding.route),
        "travel_times": Tool(travelling.TravelTimes, travelling.travel_times),
        "take_note": Tool(others.TakeNote, others.take_note),
        "consult": Tool(others.Consult, others.consult),
        FINISH: Tool(others.Finish, others.finish),
    }
)
"""All by name; `finish` is always there, a character chooses among the others (`character.ToolName`)."""


Use = Callable[[str, Arguments], ToolResult]
"""Uses a tool of `TOOLS`, given by its name."""


def use(body: Body, name: str, asked: Arguments) -> ToolResult:
    """Use a tool.

    Raises:
        VirlError: what was asked cannot be done.
    """
    with traced_use(name, asked) as told:
        result = TOOLS[name].act(body, asked)
        tell_result(told, result)
    return result


def tools_for(body: Body, names: Sequence[str], using: Use | None = None) -> list[BaseTool]:
    """Tools in the hands of one agent.

    Each gives its text back as content and all that came of it, a `ToolResult`, as artifact. What cannot be
    done is raised as `VirlError`.

    Args:
        body: what they move.
        names: which, of `TOOLS`; `finish` comes with them.
        using: what uses a tool when it is called; by default nothing but `use`.
    """
    using = using or partial(use, body)
    return [_tool(name, TOOLS[name], using) for name in dict.fromkeys([*names, FINISH])]


def _tool(name: str, tool: Tool, using: Use) -> BaseTool:
    return StructuredTool.from_function(
        _acting(tool.arguments, partial(using, name)),
        name=name,
        description=" ".join(cleandoc(tool.arguments.__doc__ or "").split()),
        args_schema=tool.arguments,
        response_format="content_and_artifact",
        handle_validation_error=lambda fault: _plain(fault, name, tool.arguments),
    )


def _plain(fault: object, name: str, arguments: type[Arguments]) -> str:
    """What is wrong with a call's arguments, for the model."""
    if not isinstance(fault, ValidationError):
        return f"{name}: {fault}"
    wrong = {str(one["loc"][0]): one["input"] for one in fault.errors() if len(one["loc"]) == 1}
    return f"{name}: " + "; ".join(map(str, faults_of(fault, arguments, wrong)))


def _acting(
    arguments: type[Arguments], act: Callable[[Arguments], ToolResult]
) -> Callable[..., tuple[str, ToolResult]]:
    def call(**given: object) -> tuple[str, ToolResult]:
        told = act(arguments.model_validate(given))
        return told.text, told

    return call
