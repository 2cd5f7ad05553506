"""The prompts: one for each agent, for a client's model that takes its part."""

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from virl.agent.roster import RosterEntry, roster
from virl.errors import UnknownName
from virl.mind.prompt import load_prompt
from virl.mind.rendering import render
from virl.mind.replies import Reply

LONGEST = 1000
"""Characters of an argument; chosen."""

_ARGUMENTS = {
    "city": "The city, a name of the resource virl://cities; by default the character's own.",
    "request": "What to do; by default what the character wants by itself.",
}


def instructions() -> str:
    """What a client's model is told of the server."""
    return render(load_prompt("mcp/instructions", Reply), {}).strip()


def listed_prompts() -> ListPromptsResult:
    """The agents."""
    return ListPromptsResult(prompts=[_listed(entry) for entry in roster()[0]])


def given_prompt(params: GetPromptRequestParams) -> GetPromptResult:
    """What an agent is and wants.

    Raises:
        MCPError: there is no such agent, or an argument that is not taken.
    """
    known = {entry.name: entry for entry in roster()[0]}
    if params.name not in known:
        raise MCPError(INVALID_PARAMS, str(UnknownName("agent", params.name[:100], known)))
    asked = params.arguments or {}
    if unknown := next((name for name in asked if name not in _ARGUMENTS), None):
        raise MCPError(INVALID_PARAMS, str(UnknownName("argument", unknown[:100], _ARGUMENTS)))
    entry = known[params.name]
    character = entry.character
    text = render(
        load_prompt("mcp/character", Reply),
        {
            "agent": entry.name,
            "name": character.name,
            "age": character.age,
            "background": character.background,
            "intention": asked.get("request", "")[:LONGEST].strip() or character.intention,
            "city": asked.get("city", "")[:100].strip() or character.city,
            "clock": character.clock,
        },
    )
    return GetPromptResult(
        description=entry.about, messages=[PromptMessage(role="user", content=TextContent(text=text.strip()))]
    )


def _listed(entry: RosterEntry) -> Prompt:
    return Prompt(
        name=entry.name,
        title=entry.character.name,
        description=entry.about,
        arguments=[
            PromptArgument(name=name, description=about, required=False) for name, about in _ARGUMENTS.items()
        ],
    )
