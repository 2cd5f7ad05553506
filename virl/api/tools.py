"""An agent's tools, for a graph of your own."""

from collections.abc import Collection
from itertools import count

from langchain_core.tools import BaseTool

from virl.agent.assembly import Agent
from virl.errors import BudgetExceeded, CannotWrite, CodeFault, JournalBroken, UnknownName, VirlError
from virl.tools.base import Arguments, ToolResult, short
from virl.tools.body import Body
from virl.tools.catalogue import FINISH, TOOLS, tools_for, use
from virl.tools.others import Finish

TOPIC = "tool"
"""Of the notes."""


def tools_of(agent: Agent, names: Collection[str] = tuple(TOOLS), *, sees: bool = False) -> list[BaseTool]:
    """LangChain tools in the hands of one agent, as `create_agent` takes them.

    Each call is written into the run's journal and may cost the run money; `finish` ends the run. What cannot
    be done is told to the model. All tools move the same body: call them one after another.

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
    return tools_for(body := Body(agent, sees=sees), list(names), _Hand(body))


class _Hand:
    """Uses tools, and writes down each use."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._uses = count(1)

    def __call__(self, name: str, asked: Arguments) -> ToolResult:
        """What came of it, or why it could not be done.

        Raises:
            BudgetExceeded: the run's money is spent.
            CannotWrite, JournalBroken: the run cannot be written down.
            CodeFault: an agent that was consulted has a bug.
        """
        body, run = self._body, self._body.agent.run
        body.doing = str(next(self._uses))
        try:
            told = use(body, name, asked)
        except (BudgetExceeded, CannotWrite, CodeFault, JournalBroken):
            raise
        except VirlError as fault:
            told = ToolResult(str(fault))
        data = {"name": name, "arguments": asked.model_dump(mode="json")}
        run.note(TOPIC, body.doing, short(f"{name}: {told.text}", 300), data=data, views=told.views)
        if isinstance(asked, Finish) and name == FINISH and run.result is None:
            body.stop(asked.answer)
            run.end(
                "finished" if asked.succeeded else "gave up",
                asked.answer,
                told.place,
                answer={"answer": asked.answer, "succeeded": asked.succeeded},
            )
        return told
