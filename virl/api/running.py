"""Run agents from Python, to their end or with your own code acting for them, and read runs again."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from threading import Event
from typing import Unpack

from rich.console import Console

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.plan import Objects, RunOptions, check_sense, source_of, with_folder
from virl.agent.start import RecordListener, begin, run_agent
from virl.api.types import SharedSettings
from virl.console import SafeConsole, echo
from virl.errors import BadInput, check_keywords
from virl.extras import require
from virl.geo.globe import LatLng
from virl.journal.recorded_run import Comparison, Finished, RecordedRun, compare_runs
from virl.journal.records import AccessRecord, AnyRecord
from virl.mind.open import GivenMind
from virl.money.book import check_budget
from virl.platform.city.city import City
from virl.platform.perception.base import Describer, Detector, Reader, Recognizer, Role
from virl.platform.providers.osm.city_file import with_part

OWN_CODE = "your own code"
"""Value of `decided_by` in runs of `open_agent`, which their reports show."""


class Abandoned(BaseException):
    """Error that ends a run from within, since nobody follows it any more."""


class RunSettings(SharedSettings, total=False):
    """Keyword arguments of `run` and `open_agent`; what is left out is as in the character's file."""

    city: str | City
    """City of the run: its name, the path of its file or of a map extract, or a `City`.

    A city that `open_city` made is opened anew, with the run's own budget; one with a part that was replaced
    is used as it is."""
    around: str | LatLng
    """Middle of the part that is read of the map extract in `city`: an address or a position."""
    radius: float
    """Half the side of the part that is read of a map extract, in metres; 600 by default."""
    invented_life: bool
    """True if reviews, ratings, prices and homes are invented for a map extract."""
    at: str | LatLng
    """Start of the run: an address, or a position."""
    mind: str | GivenMind
    """Mind: a name such as `"openai:gpt-5-mini"`, a LangChain chat model, or a `Mind`; by default rules."""
    mover: str
    """Name of the mover: `links`, `grid`, `web` or `hybrid`; by default the one that fits the city."""
    detector: str | Detector
    """Detector: name in `platform/models/`, path of a model file, or object in place of all detectors."""
    reader: Reader
    """Object that is used in place of all readers (OCR)."""
    recognizer: Recognizer
    """Object that is used in place of all recognizers."""
    describer: Describer
    """Object that is used in place of all describers."""
    prompts: str | Path
    """Folder with prompts that take precedence over the character's own."""
    steps: int
    """Most moves from panorama to panorama."""
    fields: Mapping[str, object]
    """Further fields of the character to set, such as `{"limits.minutes": 10}`."""
    feedback: str | Path
    """Path of a file with the user's feedback for moments of the run."""
    as_of: date | str
    """Day such as `2024-05-01`; street pictures that were taken later are left out."""
    seed: int
    """Random seed, 0 by default."""
    out: str | Path
    """Folder of the run; by default a new one in `runs/`."""


def run(
    agent: str | Path | Character,
    *,
    resume: bool = False,
    watch: bool = False,
    **settings: Unpack[RunSettings],
) -> Finished:
    """Run an agent to its end, or resume an interrupted run; return the finished run.

    Args:
        agent: a name, the path of a character file, or a character made in Python.
        resume: whether to go on with the run in `out`, by default with the agent's latest run.
        watch: whether to serve a page, until the run ends, that shows and steers it; its address is printed.
        **settings: as `RunSettings` says.

    Raises:
        VirlError: something you can fix, said in one line; what was done so far can be resumed.
        TypeError: there is no such argument.

    Examples:
        >>> finished = virl.run("local", city="virlton", steps=2, out="run")
        >>> finished.result.agent
        'local'
    """
    check_keywords(run, settings, RunSettings)
    return run_and_tell(agent, settings, None, resume=resume, watch=watch)


async def arun(
    agent: str | Path | Character,
    *,
    resume: bool = False,
    watch: bool = False,
    **settings: Unpack[RunSettings],
) -> Finished:
    """Run an agent as `run` does, with its arguments and errors, in a thread beside the event loop.

    Where it is cancelled, the run breaks off at its next record, and can be resumed; what it has paid is
    booked, and its folder is free when `CancelledError` is raised.

    Args:
        agent: its name, the path of its file, or a character.
        resume: go on with the run in `out`.
        watch: show the run in a browser while it goes on.
        settings: as of `run`.
    """
    check_keywords(arun, settings, RunSettings)
    left = Event()

    def tell(_: AnyRecord) -> None:
        """Raise `Abandoned` if nobody waits for the run any more; called with each record."""
        if left.is_set():
            raise Abandoned

    work = partial(copy_context().run, run_and_tell, agent, settings, tell, resume=resume, watch=watch)
    thread = ThreadPoolExecutor(1, "virl-run")
    running = asyncio.get_running_loop().run_in_executor(thread, work)
    # The thread ends with its only work, for which nobody waits here.
    thread.shutdown(wait=False)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        left.set()
        await asyncio.wait([running])
        running.exception()  # `Abandoned`, which nobody waits for
        raise


def run_and_tell(
    agent: str | Path | Character,
    settings: RunSettings,
    tell: RecordListener | None,
    *,
    resume: bool = False,
    watch: bool = False,
) -> Finished:
    """Run an agent as `run` does, and call `tell` with each record after it is written.

    Args:
        agent: its name, the path of its file, or a character.
        settings: as of `run`.
        tell: is told each record; `None` for nobody.
        resume: go on with the run in `out`.
        watch: show the run in a browser while it goes on.
    """
    options, console = run_options(agent, settings, resume=resume), console_of(settings)
    if not watch:
        return run_agent(options, console, tell=tell)
    require("serve", what="watching")
    from virl.serve.watch.server import serve_live_page  # noqa: PLC0415 - needs the extra

    with nullcontext(options) if resume else with_folder(options) as own, serve_live_page(own) as live_page:
        echo(f"Watch at {live_page.url}", err=True)
        return run_agent(live_page.options, console, live_page.control, tell)


def source_name(agent: str | Path | Character) -> str:
    """Return the name of an agent, with which the names of its runs' folders begin.

    Raises:
        VirlError: there is no such agent.
    """
    return source_of(run_options(agent, RunSettings())).stem


@contextmanager
def open_agent(
    agent: str | Path | Character, *, resume: bool = False, **settings: Unpack[RunSettings]
) -> Iterator[Agent]:
    """Yield an agent at the start of a new or resumed run, for your own code to act with.

    The journal is written as the agent acts, and the report when the context ends. A run that your code does
    not end with `agent.run.end(...)` ends as `"stopped"`; an exception leaves it open, to be resumed.

    Args:
        agent: a name, the path of a character file, or a character made in Python.
        resume: whether to go on with the run in `out`, by default with the agent's latest run: `open_tools`
            then stands where it had got to, and `agent.run.notes("tool")` says what was done.
        **settings: as `RunSettings` says.

    Raises:
        VirlError: something you can fix, said in one line.
        TypeError: there is no such argument.

    Examples:
        >>> with virl.open_agent("local", city="virlton", out="opened") as agent:
        ...     agent.character.name
        'Local'
    """
    check_keywords(open_agent, settings, RunSettings)
    options = replace(run_options(agent, settings, resume=resume), decided_by=OWN_CODE)
    with begin(options, console_of(settings)) as begun:
        yield begun


def run_options(agent: str | Path | Character, asked: RunSettings, *, resume: bool = False) -> RunOptions:
    """Return an agent and the keyword arguments `asked` of `run` as checked run options.

    Args:
        agent: its name, the path of its file, or a character.
        asked: keywords of `run`.
        resume: go on with the run in `out`.

    Raises:
        BadInput: a part is asked for of a city that is no map extract, `as_of` is no day, or the budget is no
            amount.
    """
    check_budget(asked.get("budget_usd"), "budget_usd")
    city, out = asked.get("city"), asked.get("out")
    fields = dict(asked.get("fields", {}))
    if "steps" in asked:
        fields["limits.steps"] = asked["steps"]
    around, radius, invented = asked.get("around"), asked.get("radius"), asked.get("invented_life", False)
    objects = _objects(asked)
    named = (city.opened_as or city.name) if isinstance(city, City) else city
    mind, detector, prompts = asked.get("mind"), asked.get("detector"), asked.get("prompts")
    if prompts is not None and not Path(prompts).is_dir():
        raise BadInput(f"prompts={str(prompts)!r}: no such folder: give a folder of prompts")
    return RunOptions(
        agent="" if isinstance(agent, Character) else str(agent),
        character=agent if isinstance(agent, Character) else None,
        city=with_part(named or "", _position_text(around), radius, invented=invented) or None,
        at=_position_text(asked.get("at")),
        mind=objects.names.get("mind") or (mind if isinstance(mind, str) else None),
        mover=asked.get("mover"),
        detector=detector if isinstance(detector, str) else None,
        device=asked.get("device", "auto"),
        allow_downloads=asked.get("allow_downloads", False),
        out=None if out is None else Path(out),
        resume=resume,
        seed=asked.get("seed", 0),
        fields=fields,
        objects=objects,
        prompts=_absolute_path(prompts) or "",
        feedback=_absolute_path(asked.get("feedback")),
        access=AccessRecord(
            budget_usd=asked.get("budget_usd"),
            cache=asked.get("cache"),
            record=_absolute_path(asked.get("record")),
            replay=_absolute_path(asked.get("replay")),
            as_of=_parse_day(asked.get("as_of")),
        ),
    )


def _objects(asked: RunSettings) -> Objects:
    """Return the city, the mind and the perception models that are given as objects, not by name.

    Raises:
        BadInput: one of them lacks what its role needs.
    """
    city, mind, price = asked.get("city"), asked.get("mind"), asked.get("price")
    senses: dict[Role, object] = {}
    for role in ("detector", "reader", "recognizer", "describer"):
        if (given := asked.get(role)) is not None and not isinstance(given, str):
            check_sense(role, given)
            senses[role] = given
    if city is not None and not isinstance(city, str | City):
        raise BadInput(f"city={type(city).__name__}: must be a name, a path or a virl.City")
    if price is not None and (mind is None or isinstance(mind, str)):
        raise BadInput("price=: is for a mind that is an object; write mind='openai:MODEL?price=0.15,0.60'")
    return Objects(
        city=city if isinstance(city, City) and not city.is_as_opened else None,
        mind=None if isinstance(mind, str) else mind,
        price=price,
        senses=senses,
    )


def console_of(settings: RunSettings) -> Console:
    """Return the console that shows progress; by default one that prints nothing."""
    return settings.get("console") or SafeConsole(quiet=True)


def _position_text(at: str | LatLng | None) -> str | None:
    """Return a position as text `lat,lng` in degrees; a text and `None` as they are."""
    return f"{at.lat:.9f},{at.lng:.9f}" if isinstance(at, LatLng) else at


def _absolute_path(path: str | Path | None) -> str | None:
    """Return the text of a path made absolute; `None` for `None`."""
    return None if path is None else str(Path(path).resolve())


def _parse_day(day: date | str | None) -> date | None:
    """Return the day in a text such as `2024-05-01`; a day and `None` as they are."""
    try:
        return date.fromisoformat(day) if isinstance(day, str) else day
    except ValueError:
        raise BadInput(f"as_of={day!r}: must be a day such as '2024-05-01'") from None


def read_run(folder: str | Path) -> RecordedRun:
    """Return a run as read from its folder, ended or not.

    Args:
        folder: of the run, with its `journal.jsonl`.

    Raises:
        JournalBroken: there is no run, or its journal is damaged.

    Examples:
        >>> folder = virl.run("local", city="virlton", steps=1, out="read").folder
        >>> virl.read_run(folder).start.agent
        'local'
    """
    run = RecordedRun(folder)
    run.start  # noqa: B018 - reads the journal
    return run


def compare(runs: Iterable[RecordedRun | str | Path], *, out: str | Path = "compared.html") -> Comparison:
    """Write a page and a table that put two or more runs side by side, and return the comparison.

    Args:
        runs: finished runs, runs that were read, or their folders.
        out: file of the page.

    Raises:
        BadInput: there is none.
        JournalBroken: there is no run in a folder, or its journal is damaged.
        CannotWrite: the page cannot be written.
    """
    read = [one if isinstance(one, RecordedRun) else read_run(one) for one in runs]
    if not read:
        raise BadInput("no runs to compare: give finished runs, or their folders")
    return compare_runs(read, Path(out))
