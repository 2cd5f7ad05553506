"""virl within LangChain: the tools of a city for `create_agent`, and an agent's run as a `Runnable`."""

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from types import TracebackType
from typing import Any, Self, Unpack

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import get_executor_for_config, run_in_executor
from langchain_core.tools import BaseTool
from pydantic import Field, ValidationError

from virl.agent.agent import Agent
from virl.agent.character import Character as AnyCharacter
from virl.agent.plan import made_folder
from virl.agent.start import Finished
from virl.api.characters import Character
from virl.api.running import RunSettings, open_agent, run_told, source_name
from virl.api.tools import tools_of
from virl.errors import BadInput
from virl.journal.records import AnyRecord
from virl.platform.city import City
from virl.platform.providers.cities import open_city
from virl.settings.faults import faults_of
from virl.settings.model import Settings

__all__ = ["AgentRunnable", "OpenTools", "RunInput", "runnable", "tools"]


class OpenTools(list[BaseTool]):
    """Tools of one agent, and the run that they are written into.

    In a `with` block, or by `close`, the run ends and its report is written. Without, it stays open as after
    a kill: `virl.open_agent(..., resume=True)` goes on with it.
    """

    def __init__(self, agent: Agent, made: Collection[BaseTool], closing: ExitStack) -> None:
        super().__init__(made)
        self.agent = agent
        """Whose tools they are."""
        self._closing = closing

    def close(self) -> None:
        """End the run, as stopped unless it has ended. Harmless if done before."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.__exit__(kind, fault, trace)


def tools(
    who: str | City | AnyCharacter | Agent,
    names: Collection[str] | None = None,
    *,
    sees: bool = False,
    ask_first: Collection[str] = (),
    **settings: Unpack[RunSettings],
) -> OpenTools:
    """Tools of a city, as `create_agent` takes them.

    Each call is written into the journal of a new run, and counts towards its budget and limits. All tools
    move the same body: set `max_concurrency` to 1.

    Args:
        who: a city, by name or as `virl.open_city` opens it, for a visitor who starts in its middle; or a
            character; or an agent of `virl.open_agent`, whose run is then not closed.
        names: of the tools, by default all; `finish`, which ends the run, comes with them.
        sees: whether your model is shown pictures; else it is told in words what they show.
        ask_first: tools that are used only once a human has approved, by a LangGraph interrupt; `"money"`
            stands for those that may cost money.
        **settings: of the run, as `virl.open_agent` takes them.

    Raises:
        VirlError: something you can fix, said in one line.
    """
    with ExitStack() as stack:
        agent = who if isinstance(who, Agent) else stack.enter_context(open_agent(_who(who), **settings))
        made = tools_of(agent, names, sees=sees, ask_first=ask_first)
        return OpenTools(agent, made, stack.pop_all())


def _who(who: str | City | AnyCharacter) -> AnyCharacter:
    if isinstance(who, AnyCharacter):
        return who
    city = open_city(who) if isinstance(who, str) else who
    return Character(
        name="Visitor",
        city=city.opened_as,
        start={"lat": city.center.lat, "lng": city.center.lng},
        background="A visitor.",
        intention="Do what is asked.",
        tools="all",
    )


class RunInput(Settings):
    """What one run of a `Runnable` is asked; what is left out is as the runnable's settings have it."""

    intention: str | None = Field(default=None, min_length=1)
    """What the character wants."""
    at: str | None = None
    """Where to start: an address, or a position such as `"60.17,24.94"`."""
    steps: int | None = None
    """Moves from panorama to panorama at most."""
    fields: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the character to set."""
    budget_usd: float | None = None
    """US dollars that the run may spend at most."""
    seed: int | None = None
    out: Path | None = None
    """Folder of the run."""
    resume: bool = False
    """Whether to go on with the run in `out`, by default with the agent's latest run."""


class _Left(BaseException):
    """Nobody follows the run any more."""


class AgentRunnable(Runnable[str | Mapping[str, Any] | RunInput, Finished]):
    """An agent as LangChain runs it: from an intention, or a `RunInput`, to its finished run.

    `batch` runs several at once, each in a folder of its own. Callbacks of the config reach the models that
    the agent asks, and the tools that it uses.
    """

    def __init__(self, agent: str | AnyCharacter, settings: RunSettings) -> None:
        self._agent, self._settings = agent, settings
        self.name = agent if isinstance(agent, str) else agent.name

    def invoke(
        self,
        input: str | Mapping[str, Any] | RunInput,  # noqa: A002 - as LangChain names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Finished:
        """Run the agent to its end.

        Raises:
            VirlError: something you can fix, said in one line; what was done so far can be resumed.
        """
        return self._call_with_config(lambda asked: self._run(asked, None), input, config, **kwargs)

    def stream(  # type: ignore[override] # on the way there is no `Finished` yet
        self,
        input: str | Mapping[str, Any] | RunInput,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[AnyRecord | Finished]:
        """The records of the run's journal as they are written, and at last the finished run.

        A run that is not followed to its end breaks off at its next record, and can be resumed.

        Raises:
            VirlError: as `invoke`.
        """
        with self._followed(input, config, **kwargs) as following:
            while (one := following()) is not None:
                yield one

    async def astream(  # type: ignore[override] # as `stream`
        self,
        input: str | Mapping[str, Any] | RunInput,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AnyRecord | Finished]:
        """As `stream`."""
        with self._followed(input, config, **kwargs) as following:
            while (one := await run_in_executor(None, following)) is not None:
                yield one

    @contextmanager
    def _followed(
        self, asked: str | Mapping[str, Any] | RunInput, config: RunnableConfig | None, **kwargs: Any
    ) -> Iterator[Callable[[], AnyRecord | Finished | None]]:
        """A run in a thread of its own; gives what waits for its next record, the last time `None`."""
        came: SimpleQueue[AnyRecord | Finished | None] = SimpleQueue()
        left = Event()

        def tell(record: AnyRecord) -> None:
            came.put(record)
            if left.is_set():
                raise _Left

        def work() -> None:
            try:
                came.put(self._call_with_config(lambda one: self._run(one, tell), asked, config, **kwargs))
            finally:
                came.put(None)

        with get_executor_for_config(ensure_config(config)) as executor:
            under_way = executor.submit(work)

            def following() -> AnyRecord | Finished | None:
                one = came.get()
                if one is None:
                    under_way.result()  # raises what the run has ended with
                return one

            try:
                yield following
            finally:
                left.set()

    def _run(
        self, asked: str | Mapping[str, Any] | RunInput, tell: Callable[[AnyRecord], None] | None
    ) -> Finished:
        given = _checked(asked)
        chosen: dict[str, Any] = dict(self._settings)
        said = given.model_dump(exclude_none=True, exclude={"intention", "fields", "resume"})
        fields = {**chosen.pop("fields", {}), **given.fields}
        fields |= {} if given.intention is None else {"intention": given.intention}
        settings = RunSettings(**{**chosen, **said, "fields": fields})  # type: ignore[typeddict-item]
        if given.resume:
            return run_told(self._agent, settings, tell, resume=True)
        with _own_folder(self._agent, settings) as out:
            return run_told(self._agent, {**settings, "out": out}, tell)


def runnable(agent: str | AnyCharacter, **settings: Unpack[RunSettings]) -> AgentRunnable:
    """An agent as a `Runnable`: `invoke`, `stream`, `batch`, their async forms, and in chains.

    Args:
        agent: a name, the path of a character file, or a character made in Python.
        **settings: of all its runs, as `virl.run` takes them.
    """
    return AgentRunnable(agent, settings)


def _checked(asked: str | Mapping[str, Any] | RunInput) -> RunInput:
    if isinstance(asked, RunInput):
        return asked
    given = {"intention": asked} if isinstance(asked, str) else asked
    try:
        return RunInput.model_validate(given)
    except ValidationError as fault:
        wrong = given if isinstance(given, Mapping) else {}
        raise BadInput("input: " + "; ".join(map(str, faults_of(fault, RunInput, wrong)))) from None


@contextmanager
def _own_folder(agent: str | AnyCharacter, settings: RunSettings) -> Iterator[str | Path]:
    """The folder of a new run, held so that no other run beside it takes it."""
    if "out" in settings:
        yield settings["out"]
        return
    with made_folder(source_name(agent)) as folder:
        yield folder
