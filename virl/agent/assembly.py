"""The one place where a character is put together with a city, a mind, senses, a mover and a record.

Runs, consultations and benchmarks all use it: `assemble` what does not depend on the record, and `perform`
the routine of the agent that comes of it.
"""

from dataclasses import dataclass, field
from pathlib import Path

from virl.agent.character import Character
from virl.agent.character_file import routine_of
from virl.agent.run import Run
from virl.agent.user import Silent, User
from virl.budget import Budget
from virl.errors import BadInput, MindFailed, NoStreetView, NotFound
from virl.geo import LatLng
from virl.journal.records import Result
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, PromptFolder, Prompts
from virl.platform.city import City
from virl.platform.movement.base import Mover
from virl.platform.perception.base import Senses
from virl.platform.perception.models import Models
from virl.platform.perception.open import open_senses
from virl.platform.relocate import relocate
from virl.platform.streetview import Panorama


@dataclass(frozen=True, slots=True)
class Agent:
    """A character in a city, with a mind, senses and a record of what it does."""

    source: Path
    """The character's file: paths in it are seen from there."""
    character: Character
    city: City
    start: Panorama
    mind: Mind
    senses: Senses
    models: Models
    """Opens further models by name, such as a matcher."""
    mover: Mover
    run: Run
    user: User = field(default_factory=Silent)
    """Who may speak up between two pieces of work."""
    budget: Budget = field(default_factory=Budget)
    """Of the whole run: checked before whatever costs something."""
    prompts: Prompts = OUR_PROMPTS
    """Where its prompts are looked for."""


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

    def agent(self, run: Run, user: User | None = None, budget: Budget | None = None) -> Agent:
        """The agent of a run.

        Args:
            run: its record.
            user: who may speak up; by default nobody does.
            budget: of the whole run; by default it knows no limit.
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
            budget or Budget(),
            self.prompts,
        )


def assemble(
    source: Path,
    character: Character,
    city: City,
    mind: Mind,
    models: Models,
    mover: Mover,
) -> Assembly:
    """Put a character into a city.

    Args:
        source: the character's file.
        character: as it was read, or changed.
        city: already open.
        mind: what answers its prompts.
        models: opens its senses.
        mover: how it gets about.

    Raises:
        BadInput: there is no such routine, or its start is not in the city.
        VirlError: what a model needs is missing.
    """
    routine = routine_of(source, character)
    beside = PromptFolder(source.parent / "prompts", routine.package)
    own = PromptFolder(routine.folder / "prompts", routine.package)
    return Assembly(
        source,
        character,
        city,
        start_panorama(city, character, source),
        mind,
        open_senses(character.senses.detector, character.senses.describer, models=models),
        models,
        mover,
        Prompts((beside, own)),
    )


def perform(agent: Agent) -> Result:
    """Do what the character does, to the end of its run.

    Raises:
        BadInput: there is no such routine, or it returned before it ended its run.
        VirlError: whatever the routine raises; the run can be resumed.
    """
    routine = routine_of(agent.source, agent.character)
    routine.run()(agent)
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
    try:
        routine_of(path, character).check(character, mind)
    except MindFailed as fault:
        raise BadInput(f"{path}: {fault}") from fault


def start_panorama(city: City, character: Character, source: Path) -> Panorama:
    """Where a character starts: its address or position, relocated.

    Raises:
        BadInput: the start is not in the city.
    """
    if isinstance(character.start, str):
        try:
            position = city.maps.geocode(character.start)
        except NotFound as fault:
            raise BadInput(f"{source}: start: {fault}") from fault
    else:
        position = LatLng(character.start.lat, character.start.lng)
    try:
        return relocate(city.streetview, position, f"the start in {city.title}")
    except NoStreetView as fault:
        raise BadInput(f"{source}: start: {fault}, such as {city.center}") from fault
