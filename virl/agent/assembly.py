"""The one place where a character is put together with a city, a mind, senses, a mover and a record.

Runs, consultations and benchmarks all use it: `assemble` what does not depend on the record, and `perform`
the routine of the agent that comes of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from virl.agent.agent import Agent, Assembly
from virl.agent.character import Character, Point
from virl.agent.character_file import errors_at_field, routine_of
from virl.bugs import bug_of
from virl.errors import BadInput, MindFailed, NoStreetView, NotFound, VirlError
from virl.geo.globe import LatLng, distance
from virl.journal.journal import asks_model
from virl.journal.records import Result, WordsRecord
from virl.mind.base import DescribedMind, Mind
from virl.mind.lexicon import load_lexicon
from virl.mind.prompt import PromptFolder, Prompts
from virl.mind.rules import RuleMind
from virl.mind.understanding import Understanding, understand
from virl.plain_text import shorten
from virl.platform.city.city import City
from virl.platform.city.locate import locate
from virl.platform.city.outcome import Outcome
from virl.platform.city.starts import liveliest, start_near
from virl.platform.city.streetview import Panorama
from virl.platform.movers.base import Mover
from virl.platform.perception.models import Models, read_model
from virl.platform.perception.senses import open_senses
from virl.settings.region_file import MAX_FROM_CITY_M
from virl.traces.spans import conversation, span


@contextmanager
def trace_agent(agent: "Agent") -> Iterator[None]:
    """Trace an agent while it lives; the run's id is the id of the conversation."""
    start = agent.run.start
    with (
        conversation(start.id or agent.run.folder.name),
        span(
            f"invoke_agent {agent.character.name}",
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": "virl",
                "gen_ai.agent.name": agent.character.name,
                "gen_ai.agent.id": start.agent,
                "gen_ai.agent.version": start.virl,
                "virl.city": agent.run.city,
                "virl.mind": start.mind,
                "virl.routine": start.routine,
                "virl.seed": start.seed,
            },
        ) as told,
    ):
        try:
            yield
        finally:
            cost, result = agent.run.cost, agent.run.result
            told.tell(
                {
                    "gen_ai.usage.input_tokens": cost.input_tokens,
                    "gen_ai.usage.output_tokens": cost.output_tokens,
                    "virl.cost_usd": cost.usd,
                    "virl.steps": agent.run.steps[-1].step if agent.run.steps else 0,
                    "virl.status": result.status if result else None,
                }
            )


_LONGEST_FAULT = 300  # letters of a fault of the model that is the reason of the end; chosen


def assemble(
    source: Path,
    character: Character,
    city: City,
    mind: Mind,
    models: Models,
    mover: Mover,
    *,
    elsewhere: bool = False,
    begun_at: LatLng | None = None,
    fit_by: int | None = None,
) -> Assembly:
    """Put a character into a city.

    Args:
        source: the character's file.
        character: as it was read, or changed.
        city: already open.
        mind: what answers its prompts.
        models: opens its senses.
        mover: how it gets about.
        elsewhere: whether its file was written for another city; if its start is not in this one, it starts
            in the liveliest part, or in the middle of a city that is not held whole.
        begun_at: position of the first step of a run that goes on; if its start is not in the city any
            more, it started there.
        fit_by: seed from which stand-ins are drawn for what its file names and this city lacks; `None` takes
            the file as it is.

    Raises:
        BadInput: there is no such routine, or its start is not in the city.
        VirlError: what a model needs is missing.
    """
    routine = routine_of(source, character)
    senses = character.senses
    for role, name in senses.by_role:
        with errors_at_field(source, character, "senses", role):
            read_model(role, name)
    beside = PromptFolder(source.parent / "prompts", routine.package)
    own = PromptFolder(routine.folder / "prompts", routine.package)
    character, start, reason = _place_character(source, character, city, begun_at, elsewhere=elsewhere)
    fitted: tuple[str, ...] = ()
    if fit_by is not None:
        character, fitted = routine.fit(character, city, start, fit_by)
    opened = open_senses(senses.detector, senses.describer, models=models)
    if isinstance(mind, DescribedMind):
        mind.describe_by(opened.describer.describe)
    prompts = Prompts((beside, own))
    return Assembly(source, character, city, start, mind, opened, models, mover, prompts, reason, fitted)


def perform(agent: Agent) -> Result:
    """Do what the character does, to the end of its run; it gives up where its model gives no usable reply.

    Raises:
        BadInput: there is no such routine, or it returned before it ended its run.
        CodeFault: the routine has a bug; the run can be resumed once it is mended.
        VirlError: whatever the routine raises; the run can be resumed.
    """
    routine = routine_of(agent.source, agent.character)
    run = routine.run()
    with suppress(VirlError):  # checked before the run began; one of an earlier version may not have been
        if words := understood_by(agent.source, agent.character, agent.mind):
            agent.run.words = WordsRecord(
                understood=words.understood, not_understood=words.asides + words.narrowing
            )
    try:
        with trace_agent(agent):
            run(agent)
    except MindFailed as fault:
        if not asks_model(agent.run.start.mind) or agent.run.result is not None:
            raise  # a script can be continued
        agent.run.end(Outcome("no reply", shorten(str(fault), _LONGEST_FAULT)))
    except VirlError:
        raise
    except (Exception, SystemExit) as fault:
        raise bug_of(fault, home=routine.folder, run=agent.run.folder) from fault
    if agent.run.result is None:
        raise BadInput(f"{agent.source}: the routine {routine.name!r} returned before it ended its run")
    return agent.run.result


def check_mind(path: Path, character: Character, mind: Mind) -> None:
    """Check that a mind can do what a character needs, before anything is written; see `virl.agent.routine`.

    Args:
        path: file of the character, named in errors.
        character: with its fields checked.
        mind: that the run would ask.

    Raises:
        BadInput: the rules do not understand what the character wants, a script does not fit its tools, or
            its mind is no chat model.
    """
    try:
        understood_by(path, character, mind, check=True)
        routine_of(path, character).check_mind(character, mind)
    except MindFailed as fault:
        raise BadInput(f"{path}: {fault}") from fault


def understood_by(
    path: Path, character: Character, mind: Mind, *, check: bool = False
) -> Understanding | None:
    """Return what the rules make of the words that drive a run; `None` where no rules or no words do.

    Args:
        path: the character's file.
        character: as it was read, or changed.
        mind: what will answer.
        check: whether words that narrow what is wanted have to be understood.

    Raises:
        MindFailed: the rules do not understand what is wanted.
    """
    wish = routine_of(path, character).wish if isinstance(mind, RuleMind) else None
    if wish is None:
        return None
    with errors_at_field(path, character, wish.field) if wish.field else nullcontext():
        reading = wish.read(character, load_lexicon())
        understanding = understand(reading) if reading else None
        if understanding and check:
            understanding.check()
    return understanding


def start_panorama(city: City, character: Character, source: Path) -> Panorama:
    """Return the panorama at the start of a character: its address or position, relocated.

    Args:
        city: opened already.
        character: that starts there.
        source: file of the character, named in errors.

    Raises:
        BadInput: the start is not in the city.
    """
    with errors_at_field(source, character, "start"):
        return _start(city, character.start)


def _place_character(
    source: Path, character: Character, city: City, begun_at: LatLng | None, *, elsewhere: bool
) -> tuple[Character, Panorama, str]:
    """Return a character, where it starts, and why there if it was not asked to."""
    if begun_at:
        try:
            return character, _start(city, character.start), ""
        except (BadInput, NotFound, NoStreetView):
            return character, start_near(city, begun_at, f"the start in {city.title}"), ""
    if elsewhere:
        try:
            return character, _start(city, character.start), ""
        except (NotFound, NoStreetView):
            spot = liveliest(city)
            at = spot.panorama.position if spot else city.center
            moved = character.model_copy(update={"start": Point(lat=at.lat, lng=at.lng)})
            reason = str(spot) if spot else f"the middle of {city.title}"
            reason += f"; {city.choice}" if city.choice else ""
            return moved, spot.panorama if spot else start_panorama(city, moved, source), reason
    return character, start_panorama(city, character, source), ""


def _start(city: City, start: str | Point) -> Panorama:
    if isinstance(start, str):
        position = locate(city, start)[1]
    else:
        position = LatLng(start.lat, start.lng)
        refuse_swapped(position, city)
    return start_near(city, position, f"the start in {city.title}")


def refuse_swapped(position: LatLng, city: City) -> None:
    """See that a position is not one of the city's with its two numbers swapped; asks nobody.

    Raises:
        BadInput: it is.
    """
    if abs(position.lng) > 90 or distance(position, city.center) <= MAX_FROM_CITY_M:
        return
    swapped = LatLng(position.lng, position.lat)
    if distance(swapped, city.center) <= MAX_FROM_CITY_M:
        raise BadInput(
            f"{position} is far from {city.title}, and {swapped} is in it: swap latitude and longitude?"
        )
