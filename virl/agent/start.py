"""Start or resume a run: opens the city, the mind and the senses, and hands them to the routine."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from rich.console import Console

from virl.agent.agent import Agent, Assembly
from virl.agent.assembly import (
    assemble,
    compile_renderer,
    perform,
    report_opening,
    trace_agent,
    web_settings,
    with_mover,
)
from virl.agent.character_file import LoadedCharacter, load_character
from virl.agent.checking import check_before, check_character
from virl.agent.control import Control, ControlBridge, PausingAudience
from virl.agent.going_on import first_position, replace_missing_panoramas
from virl.agent.plan import (
    Plan,
    RunOptions,
    describe_start,
    latest_run,
    make_plan,
    merge_options,
    plan_resumed,
    source_of,
    with_folder,
)
from virl.agent.run import Audience, Run
from virl.agent.terminal import Story
from virl.agent.user import TERMINAL, AtTerminal, Scripted, User, open_user
from virl.console import as_markup, say
from virl.errors import BadInput, Interrupted, VirlError, raise_all
from virl.files.writing import refusals_in_a_line
from virl.journal.journal import (
    JOURNAL,
    Journal,
    count_replies,
    paid_by,
    read_result,
    total_cost,
    write_result,
)
from virl.journal.reading import RESUME
from virl.journal.recorded_run import Finished
from virl.journal.records import AnyRecord, EndRecord, Result, StartRecord
from virl.journal.report import REPORT, start_of, write_report
from virl.mind.base import AudibleMind, Mind
from virl.mind.open import open_mind, opened_mind, settings_of
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.mind.rules import RuleMind
from virl.mind.script import ScriptMind
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.claims import check_claims
from virl.platform.city.left_out import LEFT_OUT
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Image
from virl.platform.movers.base import LinksMover
from virl.platform.movers.open_mover import open_mover
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.standing import check_ready, check_without_truth
from virl.platform.providers.cities import city_settings, name_of_city, opened_city
from virl.platform.providers.provider import provider_of
from virl.resources import cache_home
from virl.traces.spans import export_traces

_log = logging.getLogger(__name__)


class Preview(BaseModel):
    """A forecast of a run's settings and limits, made without starting it."""

    model_config = ConfigDict(frozen=True)

    agent: str
    file: str
    city: str
    start: str
    provider: str
    network: bool
    """True if the city is on a network service, where requests may cost money."""
    mind: str
    mover: str
    mover_reason: str
    """The reason for the mover and what may replace it; empty if there is nothing to say."""
    routine: str
    max_steps: int
    """Most moves from panorama to panorama."""
    max_model_calls: int | None
    """Most turns of the model, for characters that live by tools; `None` for others."""
    budget_usd: float | None
    folder: str
    """Folder that the run would be written to."""
    not_checked: tuple[str, ...]
    """Conditions that only the run itself can check, in words."""


RecordListener = Callable[[AnyRecord], None]
"""A function that is called with each record of a journal once it is written."""


def run_agent(
    options: RunOptions, console: Console, control: Control | None = None, tell: RecordListener | None = None
) -> Finished:
    """Run an agent to its end, or resume its run that was cut off, and return the ended run.

    Args:
        options: the user's choices, such as agent, city and mind.
        console: where it is told.
        control: lets other threads pause, steer and speak to it.
        tell: is told each record of the journal once it is written.

    Raises:
        VirlError: something the user can mend; what was done so far can be resumed.
    """
    with control.open() if control else nullcontext():
        if options.resume:
            return _resume_run(options, console, control, tell)
        with with_folder(options) as own:
            # Which city it is may be known only once the plan is made.
            city = Path(options.city or f"{options.agent} and its city").name
            with report_opening("Reading", city, console):
                plan = make_plan(own)
            return _perform_plan(plan, (), None, console, control, tell)


@contextmanager
def begin(
    options: RunOptions, console: Console, *, audience: Audience | None = None, user: User | None = None
) -> Iterator[Agent]:
    """Yield an agent for the caller to act with, in a new or a resumed run; then write the run's report.

    A run that the caller does not end is ended as stopped. An exception leaves it open: the journal holds
    what was done, and `options.resume` goes on with it.

    Args:
        options: of the run. With `resume`, the run in the folder `out` goes on, by default the agent's
            latest; where `out` is given, `agent` may be empty.
        console: where the run is told.
        audience: who is told instead.
        user: who may speak up; by default the one that the options name.

    Raises:
        VirlError: something the user can mend.
    """
    with ExitStack() as stack:
        begun: tuple[Plan, Sequence[AnyRecord], Journal | None]
        if options.resume:
            begun = _reopen(options, stack)
        else:
            begun = make_plan(stack.enter_context(with_folder(options))), (), None
        plan, done, journal = begun
        beginning = _start_agent(plan, done, journal, console, audience=audience, user=user)
        agent = stack.enter_context(beginning)
        try:
            with trace_agent(agent):
                yield agent
                if agent.run.result is None:
                    agent.run.end(Outcome("stopped", "the program that ran it went no further"))
        finally:
            if agent.run.result:
                _with_truth(agent.run.folder, agent.run.result, agent.city, console)
            write_report(agent.run.folder, agent.city)


def preview_run(options: RunOptions) -> Preview:
    """Return a forecast of what `run_agent` would do; write nothing, and send no request to a city's service.

    Raises:
        BadInput: it would refuse; names all that is wrong.
    """
    if options.resume:
        raise BadInput("--dry-run previews a new run: remove --resume")
    plan = make_plan(options)
    start, character = plan.start, plan.loaded.character
    ledger = plan.ledger()
    access = plan.access(ledger)
    mind = open_mind(start.mind, cache_dir=None, ledger=ledger, settings=character.mind, seed=start.seed)
    found = check_character(
        plan.loaded,
        mind,
        access=access,
        allow_downloads=start.allow_downloads,
        may_move_start=plan.may_move_start,
        may_replace_names=plan.may_replace_names,
    )
    raise_all(found.faults)
    provider = provider_of(city_settings(character.city))
    return Preview(
        agent=start.agent,
        file=str(plan.loaded.source),
        city=start.city,
        start=describe_start(character)
        + (", or the liveliest part if that is not there" if plan.may_move_start else ""),
        provider=city_settings(character.city).provider,
        network=provider.network,
        mind=start.mind,
        mover=start.mover,
        mover_reason=start.mover_reason,
        routine=plan.loaded.routine.name,
        max_steps=character.limits.steps,
        max_model_calls=character.limits.calls if character.lives_by_tools else None,
        budget_usd=start.access.budget_usd,
        folder=str(plan.folder),
        not_checked=found.unknown,
    )


def _resume_run(
    options: RunOptions, console: Console, control: Control | None, tell: RecordListener | None
) -> Finished:
    """Return a resumed run at its end; one that had ended before gets a missing result or report written."""
    source = source_of(options)
    journal, records = Journal.resume(options.out or latest_run(source.stem))
    with journal:
        begun = start_of(records)
        if begun.decided_by:
            raise BadInput(
                f"{journal.folder}: {begun.decided_by} made the decisions of this run: resume it there"
            )
        start = merge_options(options, begun, journal.folder)
        for ended in records:
            if isinstance(ended, EndRecord):
                told = read_result(journal.folder, ended.result)
                if told and (report := journal.folder / REPORT).exists():
                    return Finished(told, report, had_ended=True)
                write_result(journal.folder, ended.result)  # the run may have been killed before
                with ExitStack() as stack:
                    loaded = LoadedCharacter(source, options.character or load_character(source))
                    plan = Plan(loaded, start, journal.folder)
                    opened = opened_city(start.city, plan.access(plan.ledger()))
                    city = options.objects.city or stack.enter_context(opened)
                    result = _with_truth(journal.folder, ended.result, city, console)
                    return Finished(result, write_report(journal.folder, city), had_ended=True)
        plan = plan_resumed(options, source, begun, journal.folder)
        return _perform_plan(plan, records, journal, console, control, tell)


def _reopen(options: RunOptions, stack: ExitStack) -> tuple[Plan, Sequence[AnyRecord], Journal]:
    """Return (plan, records, journal) of a run that the caller's code decides; `stack` closes the journal."""
    journal, records = Journal.resume(options.out or latest_run(source_of(options).stem))
    stack.enter_context(journal)
    begun = start_of(records)
    if not begun.decided_by:
        raise BadInput(f"{journal.folder}: a routine decides in this run: virl run AGENT --resume")
    if journal.is_over:
        raise BadInput(f"{journal.folder}: this run has ended: start a new one")
    given = options.agent or options.character
    source = source_of(options if given else replace(options, agent=begun.agent))
    return plan_resumed(options, source, begun, journal.folder), records, journal


def _perform_plan(
    plan: Plan,
    done: Sequence[AnyRecord],
    journal: Journal | None,
    console: Console,
    control: Control | None,
    tell: RecordListener | None,
) -> Finished:
    """Return the ended run of a plan: a new one, or one continued in its journal after the records `done`."""
    with _start_agent(plan, done, journal, console, control, tell) as agent:
        try:
            result = perform(agent)
        except VirlError:
            with suppress(Exception):  # what ended the run is what is told
                write_report(agent.run.folder, agent.city)
            raise
        result = _with_truth(agent.run.folder, result, agent.city, console)
        if isinstance(agent.user, AtTerminal | Scripted) and not agent.user.was_asked:
            option, name = "ask" if isinstance(agent.user, AtTerminal) else "feedback", plan.start.agent
            say(console, f"[dim]{as_markup(name)} asked for no feedback: --{option} changed nothing.[/]")
        return Finished(result, write_report(agent.run.folder, agent.city))


def _with_truth(folder: Path, result: Result, city: City, console: Console) -> Result:
    """Return the result with its claims checked against the city's truth, after printing and writing it."""
    if (truth := check_claims(city, result.claims)) is None:
        return result
    say(console, f"[bold]Truth[/]  {as_markup(truth.line)} [dim]({as_markup(truth.known)})[/]")
    told = result.model_copy(update={"truth": truth})
    write_result(folder, told)
    return told


def _fit_start_record(
    start: StartRecord, start_in_file: str, assembly: Assembly, console: Console
) -> StartRecord:
    """Return the start record with the character fitted to the city; print changes, as of `start_in_file`."""
    told, character = [*assembly.replaced], assembly.character
    if reason := assembly.start_reason:
        told.insert(0, f"{start_in_file} is not in {assembly.city.title}: starts at {reason} (see --at)")
    if not told:
        return start
    for one in told:
        say(console, as_markup(one))
    return start.model_copy(
        update={
            "character": character.model_dump(mode="json"),
            "start_reason": reason,
            "replaced": assembly.replaced,
        }
    )


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """Raise `Interrupted` with the run's folder where Ctrl-C ends the block and a journal exists."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if (folder / JOURNAL).exists():
            raise Interrupted(folder) from stop
        raise


@contextmanager
def _start_agent(
    plan: Plan,
    done: Sequence[AnyRecord],
    journal: Journal | None,
    console: Console,
    control: Control | None = None,
    tell: RecordListener | None = None,
    *,
    audience: Audience | None = None,
    user: User | None = None,
) -> Iterator[Agent]:
    """Yield the agent of a plan after all checks; a new run, with `None` as journal, gets a journal then."""
    start = plan.start
    with _resumable(plan.folder), ExitStack() as stack:
        stack.enter_context(export_traces())
        ledger = plan.ledger()
        if done:  # before anything is asked within the limit
            ledger.catch_up(paid_by(total_cost(done)), run=plan.folder)
        mind = _open_mind(plan, ledger, done)
        if isinstance(mind, ScriptMind):
            mind.go_on_after(count_replies(plan.folder))
        if not done:
            _check_unopened(plan, mind)
        given = plan.objects
        compile_renderer(start.city, given.city, console)
        with report_opening("Opening", name_of_city(start.city), console):
            city = given.city or stack.enter_context(opened_city(start.city, plan.access(ledger)))
            models = _models(plan, city, mind)
            # Which mover fits is known only once the start is.
            unmoved = LinksMover(city.streetview)
            assembly = assemble(
                plan.loaded,
                city,
                mind,
                models,
                unmoved,
                may_move_start=plan.may_move_start,
                first_position=first_position(done),
                replacement_seed=start.seed if plan.may_replace_names else None,
            )
        start = _fit_start_record(start, describe_start(plan.loaded.character), assembly, console)
        if not done:
            start = with_mover(start, city, assembly.start, plan.mover, console)
        mover = stack.enter_context(
            open_mover(start.mover, city.streetview, web=web_settings(start.mover, city))
        )
        assembly = replace(assembly, mover=mover).with_prompts(start.prompts)
        if not done:
            about_city = {"attribution": city.notice, "looks": city.capabilities.looks}
            start = start.model_copy(update={**about_city, "mind_settings": settings_of(mind)})
        journal = stack.enter_context(journal or Journal.create(plan.folder, start))
        journal.tell = tell
        if tell and not done:
            tell(start)
        city.left_out.keep(journal.folder / LEFT_OUT)
        done, moved = replace_missing_panoramas(done, city, start.mover)
        story = stack.enter_context(Story(console, city.inventory))
        if (console.is_terminal or control) and isinstance(mind, AudibleMind):
            mind.tell(story.thinking)
        if control:
            control.thinking = story.thinking.to_text
        bridge = _bridge(control, city, start, console, story)
        run = Run(
            journal,
            start,
            done,
            city=name_of_city(start.city),
            audience=PausingAudience(bridge, story) if bridge else audience or story,
            data=city,
            ledger=ledger,
        )
        run.note_resumed(done, moved)
        user = bridge or user or open_user(start.feedback, console, story.pause)
        with refusals_in_a_line(run.folder / REPORT, RESUME):
            (run.folder / REPORT).unlink(missing_ok=True)  # of a part of the run: a kill must not leave it
        if bridge:
            assembly = replace(assembly, mind=bridge.wrap_mind(assembly.mind))
        agent = assembly.agent(run, user)
        if bridge:
            stack.enter_context(bridge.open(agent))
        yield agent


def _bridge(
    control: Control | None, city: City, start: StartRecord, console: Console, story: Story
) -> ControlBridge | None:
    """Return the bridge by which a control reaches the run; `None` without a control."""
    if control is None:
        return None
    asks = start.feedback == TERMINAL
    user = open_user(None if asks else start.feedback, console, story.pause)
    return ControlBridge(control, city.streetview, user, asks=asks)


def _open_mind(plan: Plan, ledger: Ledger, done: Sequence[AnyRecord]) -> Mind:
    """Return the mind of a run: the object that the program passed, or the one that the options name."""
    start, given, settings = plan.start, plan.objects, plan.loaded.character.mind
    if given.mind is not None:
        return opened_mind(given.mind, ledger, price=given.price, settings=settings)
    replies = cache_home() / "replies"
    remarks = "; ".join(one.remark for record in done for one in getattr(record, "asked", ()))
    return open_mind(
        start.mind, cache_dir=replies, ledger=ledger, settings=settings, seed=start.seed, remarks=remarks
    )


def _models(plan: Plan, city: City, mind: Mind) -> Models:
    """Return the opener of the perception models of a run, which may use the city's truth and the mind."""
    start, given = plan.start, plan.objects.senses
    for role, name in plan.loaded.character.senses.by_role if city.truth is None else ():
        if role not in given:
            check_without_truth(role, name)
    is_drawn, describe = city.capabilities.is_drawn, _describer_by(mind)
    return Models(
        ModelOptions(start.device, start.allow_downloads, city.truth, is_drawn, start.seed, describe, given)
    )


def _check_unopened(plan: Plan, mind: Mind) -> None:
    """Check the mind and the perception models as far as possible before the city is opened."""
    if not plan.start.decided_by:
        check_before(plan.loaded, mind)
    for role, name in plan.loaded.character.senses.by_role:
        if role not in plan.objects.senses:
            check_ready(role, name, allow_downloads=plan.start.allow_downloads)


def _describer_by(mind: Mind) -> Callable[[str, Sequence[Image]], str] | None:
    """Return a function from (question, images) to a mind's answer; `None` for rules and scripts."""
    if isinstance(mind, RuleMind | ScriptMind):
        return None
    prompt = load_prompt("senses/describe-view", Text)
    return lambda question, images: mind.ask(prompt, images=images, question=question).text
