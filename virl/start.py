"""Start or resume a run: opens the city, the mind and the senses, and hands them to the routine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from virl import __version__
from virl.agent import Agent, Character, find_character, load_character, load_routine, start_panorama
from virl.errors import BadInput, JournalBroken
from virl.journal.journal import Journal, write_result
from virl.journal.records import EndRecord, Result, StartRecord, StepRecord
from virl.journal.report import write_report
from virl.mind.open import open_mind
from virl.platform.perception.open import open_senses
from virl.platform.providers import open_city
from virl.resources import cache_home
from virl.run import Run
from virl.terminal import Story

RUNS = Path("runs")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a user asks of a run."""

    agent: str
    city: str | None = None
    mind: str | None = None
    out: Path | None = None
    resume: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that has ended."""

    result: Result
    report: Path


def run_agent(options: RunOptions, console: Console) -> Finished:
    """Run an agent to its end, or go on with a run that was cut off.

    Raises:
        VirlError: something the user can mend; what was done so far can be resumed.
    """
    source = find_character(options.agent)
    if options.resume:
        return _resume(options, source, console)
    character = load_character(source)
    if options.city:
        character = character.model_copy(update={"city": options.city})
    start = StartRecord(
        virl=__version__,
        agent=source.stem,
        city=character.city,
        mind=options.mind or "rules",
        seed=options.seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        character=character.model_dump(mode="json"),
    )
    folder = options.out or RUNS / f"{source.stem}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    return _live(source, character, start, (), lambda: Journal.create(folder, start), console)


def _resume(options: RunOptions, source: Path, console: Console) -> Finished:
    journal, records = Journal.resume(options.out or _latest_run(source.stem))
    with journal:
        start = next(record for record in records if isinstance(record, StartRecord))
        steps = [record for record in records if isinstance(record, StepRecord)]
        for asked, begun in ((options.city, start.city), (options.mind, start.mind)):
            if asked and asked != begun:
                raise BadInput(
                    f"{journal.folder}: was begun with {begun!r}, not {asked!r}: resume it with that"
                )
        for ended in records:
            if isinstance(ended, EndRecord):
                write_result(journal.folder, ended.result)  # the run may have been killed between the two
                return Finished(ended.result, write_report(journal.folder, open_city(start.city)))
        try:
            character = Character.model_validate(start.character)
        except ValidationError as fault:
            field = ".".join(map(str, fault.errors()[0]["loc"]))
            raise JournalBroken(f"{journal.folder}: line 1: character: {field} is not valid") from fault
        return _live(source, character, start, steps, lambda: journal, console)


def _live(
    source: Path,
    character: Character,
    start: StartRecord,
    steps: Sequence[StepRecord],
    open_journal: Callable[[], Journal],
    console: Console,
) -> Finished:
    """Check everything that can be wrong, and only then write the first line."""
    routine = load_routine(source, character)
    mind = open_mind(start.mind, cache_dir=cache_home() / "replies")
    city = open_city(start.city)
    begin = start_panorama(city, character, source)
    senses = open_senses()
    with open_journal() as journal, Story(console, character.limits.steps) as story:
        run = Run(journal, start, steps, audience=story)
        routine(Agent(character, city, begin, mind, senses, run))
    if run.result is None:
        raise BadInput(f"{source}: the routine {character.routine!r} returned before it ended its run")
    return Finished(run.result, write_report(run.folder, city))


def _latest_run(agent: str) -> Path:
    runs = sorted(path.parent for path in RUNS.glob(f"{agent}-*/journal.jsonl"))
    if not runs:
        raise BadInput(f"{RUNS}: no run of {agent!r} to resume; begin one without --resume")
    return runs[-1]
