"""An agent's tools, for a graph of your own."""

from collections.abc import Collection

from langchain_core.tools import BaseTool

from virl.agent.agent import Agent
from virl.agent.tool import FINISH, tool_names
from virl.api.approval import MONEY, AsksFirst
from virl.errors import UnknownName
from virl.tools.body import Body
from virl.tools.catalogue import Use, tools_for
from virl.tools.hand import Hand


def tools_of(
    agent: Agent,
    names: Collection[str] | None = None,
    *,
    sees: bool = False,
    ask_first: Collection[str] = (),
) -> list[BaseTool]:
    """LangChain tools in the hands of one agent, as `create_agent` takes them.

    Each call is written into the run's journal and may cost the run money; `finish` ends the run. What cannot
    be done is told to the model. All tools move the same body: call them one after another. In a run that
    goes on, the body stands where it had got to.

    Args:
        agent: as `open_agent` gives it.
        names: of the tools, by default all; `docs/reference/characters.md` describes them. `finish` comes
            with them.
        sees: whether your model is shown pictures; else it is told in words what they show.
        ask_first: tools that are used only once a human has approved, by a LangGraph interrupt; `"money"`
            stands for those that may cost money. They need a graph with a checkpointer.

    Raises:
        UnknownName: there is no such tool.
        ModelUnavailable: another package's tool cannot be imported.
    """
    known = (*tool_names(), FINISH)
    names = known if names is None else names
    for name in (*names, *(one for one in ask_first if one != MONEY)):
        if name not in known:
            raise UnknownName("tool", name, known)
    body = Body(agent, sees=sees)
    use: Use = Hand(body)
    return tools_for(body, list(names), AsksFirst(agent, use, ask_first) if ask_first else use)
