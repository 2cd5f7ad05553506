"""The one place where a character is put together with a city, a mind, senses, a mover and a record.

Runs, consultations and benchmarks all use it: `assemble` what does not depend on the record, and `perform`
the routine of the agent that comes of it.
"""

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from virl.agent.character import Character, Point
from virl.agent.character_file import located, routine_of
from virl.agent.run import Run
from virl.agent.tracing import living
from virl.agent.user import Silent, User
from virl.bugs import bug_of
from virl.errors import BadInput, MindFailed, NoStreetView, NotFound, VirlError
from virl.geo import LatLng, distance
from virl.journal.records import Result
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, PromptFolder, Prompts
from virl.money.ledger import Ledger
from virl.platform.city import City
from virl.platform.locate import locate
from virl.platform.movement.base import Mover
from virl.platform.perception.base import Senses
from virl.platform.perception.models import Models, read_model
from virl.platform.perception.open import open_senses
from virl.platform.relocate import relocate
from virl.platform.streetview import Panorama
from virl.region_file import MAX_FROM_CITY_M


@dataclass(frozen=True, slots=True)
class Agent:
    """A character in a city, with a mind, senses and a record of what it does."""

    source: Path
    """The character's file: paths in it are seen from there."""
    character: Character
    """Who it is."""
    city: City
    """Where it is: street view, places, maps."""
    start: Panorama
    """Where the run begins."""
    mind: Mind
    """What decides: a model, or rules."""
    senses: Senses
    """The models that look at its views."""
    models: Models
    """Opens further models by name, such as a matcher."""
    mover: Mover
    """Says which ways lead on from a pose, and takes them."""
    run: Run
    """Its journal, and the limits of the run."""
    user: User = field(default_factory=Silent)
    """Who may speak up between two pieces of work."""
    ledger: Ledger = field(default_factory=Ledger)
    """Of the whole run: checked before whatever costs something."""
    prompts: Prompts = OUR_PROMPTS
    """Where its prompts are looked for."""

    def __post_init__(self) -> None:
        """Have the run take what the mind is asked."""
        self.run.asked_in = self.mind.ledger


@dataclass(frozen=True, slots=True)
class Assembly:
    """An agent but for its record: whatever can be wrong with a character has been checked."""

    source: Path
    character: Character
    city: City
    start: Panorama
    mind: Mind
    senses: Senses
    models: Models
    mover: Mover
    prompts: Prompts

    def agent(self, run: Run, user: User | None = None, ledger: Ledger | None = None) -> Agent:
        """The agent of a run.

        Args:
            run: its record.
            user: who may speak up; by default nobody does.
            ledger: of the whole run; by default it knows no limit.
        """
        return Agent(
            self.source,
            self.character,
            self.city,
            self.start,
            self.mind,
            self.senses,
            self.models,
            self.mover,
            run,
            user or Silent(),
            ledger or Ledger(),
            self.prompts,
        )


def assemble(
    source: Path,
    character: Character,
    city: City,
    mind: Mind,
    models: Models,
    mover: Mover,
    *,
    elsewhere: bool = False,
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
            in the middle.

    Raises:
        BadInput: there is no such routine, or its start is not in the city.
        VirlError: what a model needs is missing.
    """
    routine = routine_of(source, character)
    senses = character.senses
    for role, name in senses.named:
        with located(source, character, "senses", role):
            read_model(role, name)
    beside = PromptFolder(source.parent / "prompts", routine.package)
    own = PromptFolder(routine.folder / "prompts", routine.package)
    character, start = _placed(source, character, city, elsewhere=elsewhere)
    opened = open_senses(senses.detector, senses.describer, models=models)
    if describe_by := getattr(mind, "describe_by", None):
        describe_by(opened.describer.describe)
    prompts = Prompts((beside, own))
    return Assembly(source, character, city, start, mind, opened, models, mover, prompts)


def perform(agent: Agent) -> Result:
    """Do what the character does, to the end of its run.

    Raises:
        BadInput: there is no such routine, or it returned before it ended its run.
        CodeFault: the routine has a bug; the run can be resumed once it is mended.
        VirlError: whatever the routine raises; the run can be resumed.
    """
    routine = routine_of(agent.source, agent.character)
    run = routine.run()
    try:
        with living(agent):
            run(agent)
    except VirlError:
        raise
    except Exception as fault:
        raise bug_of(fault, home=routine.folder, run=agent.run.folder) from fault
    if agent.run.result is None:
        raise BadInput(f"{agent.source}: the routine {routine.name!r} returned before it ended its run")
    return agent.run.result


def check_mind(path: Path, character: Character, mind: Mind) -> None:
    """See whether a mind can do what a character needs, before anything is written.

    A routine that can tell beforehand has a module `checking` with `check(character, mind)`.

    Raises:
        BadInput: the rules do not understand what the character wants, a script does not fit its tools, or
            its mind is no chat model.
    """
    routine = routine_of(path, character)
    try:
        with located(path, character, routine.wish) if routine.wish else nullcontext():
            routine.check(character, mind)
    except MindFailed as fault:
        raise BadInput(f"{path}: {fault}") from fault


def start_panorama(city: City, character: Character, source: Path) -> Panorama:
    """Where a character starts: its address or position, relocated.

    Raises:
        BadInput: the start is not in the city.
    """
    with located(source, character, "start"):
        return _start(city, character.start)


def _placed(source: Path, character: Character, city: City, *, elsewhere: bool) -> tuple[Character, Panorama]:
    """A character and where it starts."""
    if elsewhere:
        try:
            return character, _start(city, character.start)
        except (NotFound, NoStreetView):
            middle = Point(lat=city.center.lat, lng=city.center.lng)
            character = character.model_copy(update={"start": middle})
    return character, start_panorama(city, character, source)


def _start(city: City, start: str | Point) -> Panorama:
    if isinstance(start, str):
        return _relocated(city, locate(city, start)[1])
    position = LatLng(start.lat, start.lng)
    refuse_swapped(position, city)
    return _relocated(city, position)


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


def _relocated(city: City, position: LatLng) -> Panorama:
    try:
        return relocate(city.streetview, position, f"the start in {city.title}")
    except NoStreetView as fault:
        raise NoStreetView(f"{fault}, such as {city.center}") from fault
