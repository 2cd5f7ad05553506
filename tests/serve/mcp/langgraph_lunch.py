"""A LangGraph agent that finds lunch with the tools of `virl serve mcp`; what its model says is scripted.

It runs in an environment of its own, without virl: langchain-mcp-adapters needs mcp below 2. It takes
the command of the server, or its address, and prints the messages as JSON.
"""

import asyncio
import json
import re
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

NEEDED = {"open_city", "nearby_places", "place_details", "relocate", "look", "finish"}


class LunchModel(BaseChatModel):
    """Opens a city, asks for restaurants, goes to the best rated one that is open, looks, and finishes."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> "LunchModel":
        assert {tool.name for tool in tools} >= NEEDED
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        told = [str(message.text) for message in messages if isinstance(message, ToolMessage)]
        turn = next_call(told)
        calls = [{"name": turn[0], "args": turn[1], "id": f"call-{len(told)}"}] if turn else []
        said = AIMessage("" if turn else "That is where you can eat.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


def next_call(told: list[str]) -> tuple[str, dict[str, Any]] | None:
    """The next call, by what the tools have said so far."""
    if not told:
        return "open_city", {"city": "virlton", "intention": "Find a restaurant for lunch."}
    if len(told) == 1:
        return "nearby_places", {"radius_m": 400, "types": ["restaurant"], "limit": 10}
    ranked = re.findall(r"^id (\S+) \|.*rated ([\d.]+) by", told[1], re.MULTILINE)
    ids = [place for place, _ in sorted(ranked, key=lambda one: -float(one[1]))]
    details = told[2:]
    found = next((at for at, text in enumerate(details) if "): open;" in text), None)
    if found is None:
        return "place_details", {"place_id": ids[len(details)]}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("relocate", {"place_id": ids[found]}),
        ("look", {"direction": "around"}),
        ("finish", {"answer": f"Lunch at {ids[found]}.", "succeeded": True, "place_id": ids[found]}),
    ]
    done = len(details) - found - 1
    return steps[done] if done < len(steps) else None


async def lunch(connection: dict[str, Any]) -> list[BaseMessage]:
    async with MultiServerMCPClient({"virl": connection}).session("virl") as session:  # type: ignore[dict-item]
        graph = create_agent(LunchModel(), await load_mcp_tools(session))
        asked: Any = {"messages": [HumanMessage("Find me lunch.")]}
        done = await graph.ainvoke(asked, {"max_concurrency": 1, "recursion_limit": 60})
    return list(done["messages"])


if __name__ == "__main__":
    first, *others = sys.argv[1:]
    stdio = {"transport": "stdio", "command": first, "args": others}
    http = {"transport": "streamable_http", "url": first}
    messages = asyncio.run(lunch(http if first.startswith("http") else stdio))
    print(json.dumps([message.model_dump(mode="json") for message in messages]))
