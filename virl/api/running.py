"""Run agents from Python: to their end, or with your own code acting for them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from rich.console import Console

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.plan import RunOptions, source_of
from virl.agent.start import Finished, Tell, begin, run_agent
from virl.console import SafeConsole
from virl.geo import LatLng
from virl.journal.records import AccessRecord
from virl.money.book import check_budget
from virl.platform.city import City

OWN_CODE = "your own code"
"""Who decides in a run of `open_agent`, as its report says."""


class RunSettings(TypedDict, total=False):
    """What `run` and `open_agent` take beside the agent; what is left out is as in the character's file."""

    city: str | City
    """Its name, the path of its file or of a map extract, or a city that `open_city` opened: the run opens it
    anew, with its own budget."""
    at: str | LatLng
    """Where to start: an address, or a position."""
    mind: str
    """What decides, such as `"openai:gpt-5-mini"`; by default rules."""
    mover: str
    """`links`, `grid`, `web` or `hybrid`; by default what fits the city."""
    detector: str
    """A name in `platform/models/`, or the path of a model file."""
    steps: int
    """Moves from panorama to panorama at most."""
    fields: Mapping[str, object]
    """Further fields of the character to set, such as `{"limits.minutes": 10}`."""
    budget_usd: float
    """US dollars that the run may spend at most."""
    seed: int
    """Of whatever is random: 0 by default."""
    out: str | Path
    """Folder of the run; by default a new one in `runs/`."""
    console: Console
    """Where the run is told; by default nowhere."""


def run(agent: str | Character, *, resume: bool = False, **settings: Unpack[RunSettings]) -> Finished:
    """Run an agent to its end, or go on with a run that was interrupted.

    Args:
        agent: a name, the path of a character file, or a character made in Python.
        resume: whether to go on with the run in `out`, by default with the agent's latest run.
        **settings: as `RunSettings` says.

    Raises:
        VirlError: something you can fix, said in one line; what was done so far can be resumed.
    """
    return run_told(agent, settings, None, resume=resume)


def run_told(
    agent: str | Character, settings: RunSettings, tell: Tell | None, *, resume: bool = False
) -> Finished:
    """As `run`; `tell` is told each record of the journal once it is written."""
    return run_agent(_options(agent, settings, resume=resume), settings.get("console") or _quiet(), tell=tell)


def source_name(agent: str | Character) -> str:
    """What an agent's runs are named by.

    Raises:
        VirlError: there is no such agent.
    """
    return source_of(_options(agent, RunSettings())).stem


@contextmanager
def open_agent(
    agent: str | Character, *, resume: bool = False, **settings: Unpack[RunSettings]
) -> Iterator[Agent]:
    """An agent at the start of a new run, or in one that goes on, for your own code to act with.

    The journal is written as the agent acts, and the report when the context ends. A run that your code does
    not end with `agent.run.end(...)` ends as `"stopped"`; an exception leaves it open, to be resumed.

    Args:
        agent: a name, the path of a character file, or a character made in Python.
        resume: whether to go on with the run in `out`, by default with the agent's latest run: `tools_of`
            then stands where it had got to, and `agent.run.notes("tool")` says what was done.
        **settings: as `RunSettings` says.

    Raises:
        VirlError: something you can fix, said in one line.
    """
    with begin(
        replace(_options(agent, settings, resume=resume), decided_by=OWN_CODE),
        settings.get("console") or _quiet(),
    ) as begun:
        yield begun


def _options(who: str | Character, asked: RunSettings, *, resume: bool = False) -> RunOptions:
    city, at, out = asked.get("city"), asked.get("at"), asked.get("out")
    check_budget(asked.get("budget_usd"))
    fields = dict(asked.get("fields", {}))
    if "steps" in asked:
        fields["limits.steps"] = asked["steps"]
    return RunOptions(
        agent=who if isinstance(who, str) else "",
        character=None if isinstance(who, str) else who,
        city=city if isinstance(city, str | None) else city.opened_as,
        at=f"{at.lat:.9f},{at.lng:.9f}" if isinstance(at, LatLng) else at,
        mind=asked.get("mind"),
        mover=asked.get("mover"),
        detector=asked.get("detector"),
        out=None if out is None else Path(out),
        resume=resume,
        seed=asked.get("seed", 0),
        fields=fields,
        access=AccessRecord(budget_usd=asked.get("budget_usd")),
    )


def _quiet() -> Console:
    return SafeConsole(quiet=True)
