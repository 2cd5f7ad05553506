"""An agent's run as a `Runnable` of LangChain."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any, Unpack

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import get_executor_for_config, run_in_executor
from pydantic import Field, ValidationError

from virl.agent.character import Character
from virl.agent.plan import made_folder
from virl.api.running import Abandoned, RunSettings, run_and_tell, source_name
from virl.errors import BadInput, check_keywords
from virl.journal.recorded_run import Finished
from virl.journal.records import AnyRecord
from virl.settings.faults import faults_of
from virl.settings.model import Settings

__all__ = ["AgentRunnable", "RunInput", "runnable"]


class RunInput(Settings):
    """Input of one run of a `Runnable`; what is left out is as the runnable's settings have it."""

    intention: str | None = Field(default=None, min_length=1)
    """Wish of the character for this run; `None` keeps its own."""
    at: str | None = None
    """Start of the run: an address, or a position such as `"60.17,24.94"`; `None` keeps the settings'."""
    steps: int | None = None
    """Most moves from panorama to panorama; `None` keeps the settings'."""
    fields: dict[str, object] = Field(default_factory=dict)
    """Further fields of the character to set for this run, by name."""
    budget_usd: float | None = None
    """Most US dollars that the run may spend; `None` keeps the settings'."""
    seed: int | None = None
    out: Path | None = None
    """Folder of the run; `None` keeps the settings', and makes a new one if they name none."""
    resume: bool = False
    """True to resume the run in `out`, or without `out` the agent's latest run."""


class AgentRunnable(Runnable[str | Mapping[str, object] | RunInput, Finished]):
    """An agent as a `Runnable` of LangChain: from an intention, or a `RunInput`, to its finished run.

    `batch` runs several at once, each in a folder of its own. Callbacks of the config reach the models that
    the agent asks, and the tools that it uses.
    """

    def __init__(self, agent: str | Path | Character, settings: RunSettings) -> None:
        """Prepare to run an agent, given by name, file or character, with these settings in every run."""
        self._agent, self._settings = agent, settings
        self.name = agent.name if isinstance(agent, Character) else str(agent)

    def invoke(
        self,
        input: str | Mapping[str, object] | RunInput,  # noqa: A002 - as LangChain names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Finished:
        """Run the agent to its end, and return the finished run.

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
        """Yield the records of the run's journal as they are written, and last the finished run.

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
        """Yield the records of the run's journal asynchronously, as `stream` does."""
        with self._follow_in_thread(input, config, **kwargs) as next_record:
            while (one := await run_in_executor(None, next_record)) is not None:
                yield one

    @contextmanager
    def _follow_in_thread(
        self, asked: str | Mapping[str, object] | RunInput, config: RunnableConfig | None, **kwargs: Any
    ) -> Iterator[Callable[[], AnyRecord | Finished | None]]:
        """Run the agent in a thread, and yield a function that waits for and returns its next record.

        At the end the function returns the finished run, then `None`, or raises the run's error.
        """
        came: SimpleQueue[AnyRecord | Finished | None] = SimpleQueue()
        left = Event()

        def tell(record: AnyRecord) -> None:
            """Put a record into the queue; raise `Abandoned` if nobody follows the run any more."""
            came.put(record)
            if left.is_set():
                raise Abandoned

        def work() -> None:
            """Run the agent, and put its result and then `None` into the queue."""
            try:
                came.put(self._call_with_config(lambda one: self._run(one, tell), asked, config, **kwargs))
            finally:
                came.put(None)

        with get_executor_for_config(ensure_config(config)) as executor:
            under_way = executor.submit(work)

            def next_record() -> AnyRecord | Finished | None:
                """Return the next record or the finished run; after that `None`, or raise the run's error."""
                one = came.get()
                if one is None:
                    under_way.result()  # raises what the run has ended with
                return one

            try:
                yield next_record
            finally:
                # The run breaks off at its next record, and the executor waits for that.
                left.set()

    def _run(
        self, asked: str | Mapping[str, object] | RunInput, tell: Callable[[AnyRecord], None] | None
    ) -> Finished:
        """Run the agent with settings that the input overrides; `tell` is called with each record."""
        given = _as_run_input(asked)
        chosen: dict[str, Any] = dict(self._settings)
        said = given.model_dump(exclude_none=True, exclude={"intention", "fields", "resume"})
        fields = {**chosen.pop("fields", {}), **given.fields}
        fields |= {} if given.intention is None else {"intention": given.intention}
        settings = RunSettings(**{**chosen, **said, "fields": fields})  # type: ignore[typeddict-item]
        if given.resume:
            return run_and_tell(self._agent, settings, tell, resume=True)
        out = settings.get("out")
        with made_folder(source_name(self._agent)) if out is None else nullcontext(out) as folder:
            return run_and_tell(self._agent, {**settings, "out": folder}, tell)


def runnable(agent: str | Path | Character, **settings: Unpack[RunSettings]) -> AgentRunnable:
    """Return an agent as a `Runnable`, with `invoke`, `stream`, `batch` and their async forms.

    Args:
        agent: a name, the path of a character file, or a character made in Python.
        **settings: of all its runs, as `virl.run` takes them.

    Raises:
        TypeError: there is no such argument.
    """
    check_keywords(runnable, settings, RunSettings)
    return AgentRunnable(agent, settings)


def _as_run_input(asked: str | Mapping[str, object] | RunInput) -> RunInput:
    """Return the input of a run as a `RunInput`; raise `BadInput` if it does not fit."""
    if isinstance(asked, RunInput):
        return asked
    given = {"intention": asked} if isinstance(asked, str) else asked
    try:
        return RunInput.model_validate(given)
    except ValidationError as fault:
        wrong = given if isinstance(given, Mapping) else {}
        raise BadInput("input: " + "; ".join(map(str, faults_of(fault, RunInput, wrong)))) from None
