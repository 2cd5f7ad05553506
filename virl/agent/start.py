"""Start or resume a run: opens the city, the mind and the senses, and hands them to the routine."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from pydantic import BaseModel, ConfigDict, ValidationError
from rich.console import Console

from virl import __version__
from virl.agent.assembly import assemble, perform
from virl.agent.character import Character, start_of
from virl.agent.character_file import (
    find_character,
    load_character,
    recorded_character,
    routine_of,
    with_fields,
)
from virl.agent.checking import check_assembly, check_before, check_character, name_faults
from virl.agent.mover import planned_mover, web_settings, with_mover
from virl.agent.run import Run
from virl.agent.terminal import Story
from virl.agent.user import open_user
from virl.budget import SPENDING, Budget
from virl.console import as_markup
from virl.errors import BadInput, JournalBroken, VirlError, raise_all
from virl.files import writing
from virl.geo import LatLng
from virl.journal.journal import Journal, replies_given, write_result
from virl.journal.reading import RESUME
from virl.journal.records import AccessRecord, AnyRecord, EndRecord, Result, StartRecord
from virl.journal.report import REPORT, write_report
from virl.mind.base import Mind
from virl.mind.open import open_mind, settings_of
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.mind.rules import RuleMind
from virl.mind.script import ScriptMind
from virl.platform.movement.links import LinksMover
from virl.platform.movement.open_mover import open_mover
from virl.platform.perception.models import Device, ModelOptions, Models
from virl.platform.perception.standing import check_ready
from virl.platform.providers.open import Access, city_settings, name_of_city, opened_city
from virl.platform.providers.registry import provider_of
from virl.platform.streetview import Image
from virl.resources import cache_home

RUNS = Path("runs")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a user asks of a run; `None` leaves it to the character, or to the run that is resumed."""

    agent: str
    city: str | None = None
    at: str | None = None
    """Where to start: an address in the city, or a position as in `60.17,24.94`."""
    mind: str | None = None
    mover: str | None = None
    detector: str | None = None
    device: Device = "auto"
    allow_downloads: bool = False
    out: Path | None = None
    resume: bool = False
    seed: int = 0
    fields: tuple[str, ...] = ()
    """Fields of the character to set anew, each `FIELD=VALUE`."""
    feedback: str | None = None
    """A file of what the user says on the way, or `"terminal"`."""
    access: AccessRecord = field(default_factory=AccessRecord)


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that has ended."""

    result: Result
    report: Path
    before: bool = False
    """Whether it had ended before it was asked for: nothing was run."""


class Preview(BaseModel):
    """What a run would do."""

    model_config = ConfigDict(frozen=True)

    agent: str
    file: str
    city: str
    start: str
    provider: str
    network: bool
    """Whether the city is asked over a network, where requests may cost something."""
    mind: str
    mover: str
    mover_reason: str
    """Why, and what may come instead where that is seen in the run only; empty if there is nothing to say."""
    routine: str
    max_steps: int
    """Moves from panorama to panorama at most."""
    max_model_calls: int | None
    """Turns of the model at most, for characters that live by tools."""
    budget_usd: float | None
    folder: str
    """Where the run would be written."""
    not_checked: tuple[str, ...]
    """What can only be seen in the run."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a run is about to do."""

    source: Path
    character: Character
    start: StartRecord
    folder: Path
    elsewhere: bool = False
    """Whether the city is another than the character's own, so that its start may not be there."""
    mover: str | None = None
    """The mover that the user asked for, if any."""

    def budget(self) -> Budget:
        """Of the run, with its book."""
        return Budget(self.start.access.budget_usd, book=self.folder / SPENDING)

    def access(self, budget: Budget) -> Access:
        """How the city is asked."""
        asked = self.start.access
        return Access(
            budget=budget,
            cache=asked.cache,
            session=self.start.id,
            record=Path(asked.record) if asked.record else None,
            replay=Path(asked.replay) if asked.replay else None,
        )


def run_agent(options: RunOptions, console: Console) -> Finished:
    """Run an agent to its end, or go on with a run that was cut off.

    Raises:
        VirlError: something the user can mend; what was done so far can be resumed.
    """
    source = find_character(options.agent)
    if options.resume:
        return _resume(options, source, console)
    plan = _planned(options, source)
    return _live(plan, (), lambda start: Journal.create(plan.folder, start), console)


def preview_run(options: RunOptions) -> Preview:
    """What `run_agent` would do; writes nothing, and asks a city on the network nothing.

    Raises:
        BadInput: it would refuse; names all that is wrong.
    """
    if options.resume:
        raise BadInput("--dry-run previews a new run: remove --resume")
    plan = _planned(options, find_character(options.agent))
    start, character = plan.start, plan.character
    if plan.folder.exists() and any(plan.folder.iterdir()):
        raise BadInput(f"{plan.folder}: already holds files: choose another --out, or add --resume")
    budget = plan.budget()
    access = plan.access(budget)
    mind = open_mind(start.mind, cache_dir=None, budget=budget, settings=character.mind, seed=start.seed)
    found = check_character(
        plan.source,
        character,
        mind,
        access=access,
        allow_downloads=start.allow_downloads,
        elsewhere=plan.elsewhere,
    )
    raise_all(found.faults)
    provider = provider_of(city_settings(character.city))
    return Preview(
        agent=start.agent,
        file=str(plan.source),
        city=start.city,
        start=_start_told(character) + (", or the middle if that is not there" if plan.elsewhere else ""),
        provider=city_settings(character.city).provider,
        network=provider.network,
        mind=start.mind,
        mover=start.mover,
        mover_reason=start.mover_reason,
        routine=routine_of(plan.source, character).name,
        max_steps=character.limits.steps,
        max_model_calls=character.limits.calls if character.lives_by_tools else None,
        budget_usd=start.access.budget_usd,
        folder=str(plan.folder),
        not_checked=found.unknown,
    )


def _start_told(character: Character) -> str:
    start = character.start
    return start if isinstance(start, str) else str(LatLng(start.lat, start.lng))


def _planned(options: RunOptions, source: Path) -> _Plan:
    """What is to be done, from the character and the options."""
    character = load_character(source)
    elsewhere = options.city not in (None, character.city) and not options.at
    if options.city:
        character = character.model_copy(update={"city": options.city})
    if options.at:
        character = character.model_copy(update={"start": start_of(options.at)})
    if options.detector:
        senses = character.senses.model_copy(update={"detector": options.detector})
        character = character.model_copy(update={"senses": senses})
    character = with_fields(character, options.fields) if options.fields else character
    raise_all(name_faults(source, character))
    folder = options.out or _new_folder(source.stem)
    mover = planned_mover(character.city, options.mover)
    start = StartRecord(
        virl=__version__,
        agent=source.stem,
        city=character.city,
        mind=options.mind or "rules",
        seed=options.seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        id=uuid5(NAMESPACE_URL, folder.resolve().as_uri()).hex,
        mover=mover.name,
        mover_reason=mover.reason,
        device=options.device,
        allow_downloads=options.allow_downloads,
        access=options.access,
        feedback=options.feedback,
        routine=routine_of(source, character).registered,
        character=character.model_dump(mode="json"),
    )
    return _Plan(source, character, start, folder, elsewhere, options.mover)


def _resume(options: RunOptions, source: Path, console: Console) -> Finished:
    journal, records = Journal.resume(options.out or _latest_run(source.stem))
    with journal:
        begun = next(record for record in records if isinstance(record, StartRecord))
        start = _as_asked(options, begun, journal.folder)
        for ended in records:
            if isinstance(ended, EndRecord):
                write_result(journal.folder, ended.result)  # the run may have been killed between the two
                if (report := journal.folder / REPORT).exists():
                    return Finished(ended.result, report, before=True)
                with ExitStack() as stack:
                    plan = _Plan(source, load_character(source), start, journal.folder)
                    city = stack.enter_context(opened_city(start.city, plan.access(plan.budget())))
                    return Finished(ended.result, write_report(journal.folder, city), before=True)
        try:
            character = recorded_character(source, dict(start.character))
        except ValidationError as fault:
            field = ".".join(map(str, fault.errors()[0]["loc"]))
            raise JournalBroken(f"{journal.folder}: line 1: character: {field} is not valid") from fault
        return _live(_Plan(source, character, start, journal.folder), records, lambda _: journal, console)


def _as_asked(options: RunOptions, begun: StartRecord, folder: Path) -> StartRecord:
    """How a run goes on: as it began, with another budget or place to keep replies where that is asked."""
    for asked, was in (
        (options.city, begun.city),
        (options.mind, begun.mind),
        (options.mover, begun.mover),
    ):
        if asked and asked != was:
            raise BadInput(
                f"{folder}: this run was started with {was!r}, not {asked!r}: resume it with {was!r}"
            )
    given = {name: value for name, value in options.access if value is not None}
    return begun.model_copy(
        update={
            "access": begun.access.model_copy(update=given),
            "feedback": options.feedback or begun.feedback,
            "device": options.device,
            "allow_downloads": options.allow_downloads,
        }
    )


def _live(
    plan: _Plan, done: Sequence[AnyRecord], open_journal: Callable[[StartRecord], Journal], console: Console
) -> Finished:
    """Check everything that can be wrong, and only then write the first line."""
    start, character = plan.start, plan.character
    with ExitStack() as stack:
        budget = plan.budget()
        replies = cache_home() / "replies"
        mind = open_mind(
            start.mind, cache_dir=replies, budget=budget, settings=character.mind, seed=start.seed
        )
        if isinstance(mind, ScriptMind):
            mind.go_on_after(replies_given(plan.folder))
        if not done:
            check_before(plan.source, character, mind)
            for role, name in character.senses.named:
                check_ready(role, name, allow_downloads=start.allow_downloads)
        city = stack.enter_context(opened_city(start.city, plan.access(budget)))
        models = Models(
            ModelOptions(start.device, start.allow_downloads, city.truth, start.seed, _eyes_of(mind))
        )
        unmoved = LinksMover(city.streetview)
        assembly = assemble(plan.source, character, city, mind, models, unmoved, elsewhere=plan.elsewhere)
        if assembly.character.start != character.start:
            own, town = as_markup(_start_told(character)), as_markup(city.title)
            console.print(f"{own} is not in {town}: starting in the middle (see --at)", highlight=False)
            start = start.model_copy(update={"character": assembly.character.model_dump(mode="json")})
        if not done:
            start = with_mover(start, city, assembly.start, plan.mover, console)
        mover = stack.enter_context(
            open_mover(start.mover, city.streetview, web=web_settings(start.mover, city))
        )
        assembly = replace(assembly, mover=mover)
        if not done:
            check_assembly(assembly)
            start = start.model_copy(update={"attribution": city.notice, "mind_settings": settings_of(mind)})
        journal = stack.enter_context(open_journal(start))
        story = stack.enter_context(Story(console, character.limits.steps))
        if console.is_terminal and (tell := getattr(mind, "tell", None)):
            tell(story.thinking)
        run = Run(
            journal,
            start,
            done,
            city=name_of_city(start.city),
            audience=story,
            notice=city.notice,
            meter=city.meter,
            paid=budget.paid,
        )
        user = open_user(start.feedback, console, story.pause)
        with writing(run.folder / REPORT, RESUME):
            (run.folder / REPORT).unlink(missing_ok=True)  # of a part of the run: a kill must not leave it
        try:
            result = perform(assembly.agent(run, user, budget))
        except VirlError:
            with suppress(Exception):  # what ended the run is what is told
                write_report(run.folder, city)
            raise
        return Finished(result, write_report(run.folder, city))


def _new_folder(agent: str) -> Path:
    """A folder for a run that begins now; one that begins in the same second as another gets a number."""
    first = RUNS / f"{agent}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    others = (first.with_name(f"{first.name}-{number}") for number in count(2))
    return next(folder for folder in chain([first], others) if not folder.exists())


def _eyes_of(mind: Mind) -> Callable[[str, Sequence[Image]], str] | None:
    """What the chat describer asks; rules and scripts cannot see."""
    if isinstance(mind, RuleMind | ScriptMind):
        return None
    prompt = load_prompt("senses/describe-view", Text)
    return lambda question, images: mind.ask(prompt, images=images, question=question).text


def _latest_run(agent: str) -> Path:
    runs = sorted(path.parent for path in RUNS.glob(f"{agent}-*/journal.jsonl"))
    if not runs:
        raise BadInput(f"{RUNS}: no run of {agent!r} to resume: start one without --resume")
    return runs[-1]
