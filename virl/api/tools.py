"""An agent's tools, for a graph of your own."""

from collections.abc import Collection

from langchain_core.tools import BaseTool

from virl.agent.assembly import Agent
from virl.errors import UnknownName
from virl.tools.body import Body
from virl.tools.catalogue import TOOLS, tools_for
from virl.tools.hand import Hand


def tools_of(agent: Agent, names: Collection[str] = tuple(TOOLS), *, sees: bool = False) -> list[BaseTool]:
    """LangChain tools in the hands of one agent, as `create_agent` takes them.

    Each call is written into the run's journal and may cost the run money; `finish` ends the run. What cannot
    be done is told to the model. All tools move the same body: call them one after another. In a run that
    goes on, the body stands where it had got to.

    Args:
        agent: as `open_agent` gives it.
        names: of the tools, by default all; `docs/reference/characters.md` describes them. `finish` comes
            with them.
        sees: whether your model is shown pictures; else it is told in words what they show.

    Raises:
        UnknownName: there is no such tool.
    """
    for name in names:
        if name not in TOOLS:
            raise UnknownName("tool", name, TOOLS)
    return tools_for(body := Body(agent, sees=sees), list(names), Hand(body))
