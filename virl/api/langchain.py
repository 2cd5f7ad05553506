"""An agent's run as a `Runnable` of LangChain."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any, Unpack

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import get_executor_for_config, run_in_executor
from pydantic import Field, ValidationError

from virl.agent.character import Character
from virl.agent.plan import made_folder
from virl.api.running import Abandoned, RunSettings, run_told, source_name
from virl.errors import BadInput, check_keywords
from virl.journal.recorded_run import Finished
from virl.journal.records import AnyRecord
from virl.settings.faults import faults_of
from virl.settings.model import Settings

__all__ = ["AgentRunnable", "RunInput", "runnable"]


class RunInput(Settings):
    """Input of one run of a `Runnable`; what is left out is as the runnable's settings have it."""

    intention: str | None = Field(default=None, min_length=1)
    """The character's wish for this run."""
    at: str | None = None
    """Start of the run: an address, or a position such as `"60.17,24.94"`."""
    steps: int | None = None
    """Moves from panorama to panorama at most."""
    fields: dict[str, object] = Field(default_factory=dict)
    """Further fields of the character to set."""
    budget_usd: float | None = None
    """US dollars that the run may spend at most."""
    seed: int | None = None
    out: Path | None = None
    """Folder of the run."""
    resume: bool = False
    """True to go on with the run in `out`, by default with the agent's latest run."""


class AgentRunnable(Runnable[str | Mapping[str, object] | RunInput, Finished]):
    """An agent as LangChain runs it: from an intention, or a `RunInput`, to its finished run.

    `batch` runs several at once, each in a folder of its own. Callbacks of the config reach the models that
    the agent asks, and the tools that it uses.
    """

    def __init__(self, agent: str | Path | Character, settings: RunSettings) -> None:
        self._agent, self._settings = agent, settings
        self.name = agent.name if isinstance(agent, Character) else str(agent)

    def invoke(
        self,
        input: str | Mapping[str, object] | RunInput,  # noqa: A002 - as LangChain names it
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
        input: str | Mapping[str, object] | RunInput,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[AnyRecord | Finished]:
        """Yield the records of the run's journal as they are written, and at last the finished run.

        A run that is not followed to its end breaks off at its next record, and can be resumed.

        Raises:
            VirlError: as `invoke`.
        """
        with self._follow_in_thread(input, config, **kwargs) as next_record:
            while (one := next_record()) is not None:
                yield one

    async def astream(  # type: ignore[override] # as `stream`
        self,
        input: str | Mapping[str, object] | RunInput,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AnyRecord | Finished]:
        """Stream the records of a run asynchronously, as `stream` does."""
        with self._follow_in_thread(input, config, **kwargs) as next_record:
            while (one := await run_in_executor(None, next_record)) is not None:
                yield one

    @contextmanager
    def _follow_in_thread(
        self, asked: str | Mapping[str, object] | RunInput, config: RunnableConfig | None, **kwargs: Any
    ) -> Iterator[Callable[[], AnyRecord | Finished | None]]:
        """Run in a thread of its own, and give what waits for its next record, the last time `None`."""
        came: SimpleQueue[AnyRecord | Finished | None] = SimpleQueue()
        left = Event()

        def tell(record: AnyRecord) -> None:
            came.put(record)
            if left.is_set():
                raise Abandoned

        def work() -> None:
            try:
                came.put(self._call_with_config(lambda one: self._run(one, tell), asked, config, **kwargs))
            finally:
                came.put(None)

        with get_executor_for_config(ensure_config(config)) as executor:
            under_way = executor.submit(work)

            def next_record() -> AnyRecord | Finished | None:
                one = came.get()
                if one is None:
                    under_way.result()  # raises what the run has ended with
                return one

            try:
                yield next_record
            finally:
                left.set()

    def _run(
        self, asked: str | Mapping[str, object] | RunInput, tell: Callable[[AnyRecord], None] | None
    ) -> Finished:
        """Run the agent with an input over the settings; `tell` is called with each record."""
        given = _as_run_input(asked)
        chosen: dict[str, Any] = dict(self._settings)
        said = given.model_dump(exclude_none=True, exclude={"intention", "fields", "resume"})
        fields = {**chosen.pop("fields", {}), **given.fields}
        fields |= {} if given.intention is None else {"intention": given.intention}
        settings = RunSettings(**{**chosen, **said, "fields": fields})  # type: ignore[typeddict-item]
        if given.resume:
            return run_told(self._agent, settings, tell, resume=True)
        with _own_folder(self._agent, settings) as out:
            return run_told(self._agent, {**settings, "out": out}, tell)


def runnable(agent: str | Path | Character, **settings: Unpack[RunSettings]) -> AgentRunnable:
    """Make an agent a `Runnable`: `invoke`, `stream`, `batch`, their async forms, and in chains.

    Args:
        agent: a name, the path of a character file, or a character made in Python.
        **settings: of all its runs, as `virl.run` takes them.

    Raises:
        TypeError: there is no such argument.
    """
    check_keywords(runnable, settings, RunSettings)
    return AgentRunnable(agent, settings)


def _as_run_input(asked: str | Mapping[str, object] | RunInput) -> RunInput:
    """Return the input as RunInput; raises BadInput if it does not fit."""
    if isinstance(asked, RunInput):
        return asked
    given = {"intention": asked} if isinstance(asked, str) else asked
    try:
        return RunInput.model_validate(given)
    except ValidationError as fault:
        wrong = given if isinstance(given, Mapping) else {}
        raise BadInput("input: " + "; ".join(map(str, faults_of(fault, RunInput, wrong)))) from None


@contextmanager
def _own_folder(agent: str | Path | Character, settings: RunSettings) -> Iterator[str | Path]:
    """Hold the folder of a new run so that no other run beside it takes it."""
    if "out" in settings:
        yield settings["out"]
        return
    with made_folder(source_name(agent)) as folder:
        yield folder
