"""A character put together with a city, a mind and senses."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from virl import resources
from virl.budget import Budget
from virl.character import Character, agent_names
from virl.errors import BadInput, NoStreetView, NotFound
from virl.geo import LatLng
from virl.mind.base import Mind
from virl.mind.rules import RuleMind
from virl.platform.city import City
from virl.platform.movement.base import Mover
from virl.platform.perception.base import Senses
from virl.platform.perception.models import Models
from virl.platform.relocate import relocate
from virl.platform.streetview import Panorama
from virl.run import Run
from virl.user import Silent, User


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


Routine = Callable[[Agent], None]

TOOLS_ROUTINE = "with_tools"
"""The routine of characters that have tools and no routine of their own."""


def load_routine(path: Path, character: Character) -> Routine:
    """The `live` function of the module that a character's file follows.

    Raises:
        BadInput: no such routine, or it has no `live`.
    """
    name = TOOLS_ROUTINE if character.lives_by_tools else character.routine or path.stem
    for folder in (path.parent, resources.data_folder("agents")):
        source = folder / f"{name}.py"
        if source.is_file():
            live = getattr(_load_module(source), "live", None)
            if not callable(live):
                raise BadInput(f"{source}: a routine needs a function `live(agent)`")
            routine: Routine = live
            return routine
    raise BadInput(f"{path}: no routine {name!r}: set `routine:` to one of {', '.join(agent_names())}")


def check_mind(path: Path, character: Character, mind: Mind) -> None:
    """See whether a mind can do what a character needs.

    Raises:
        BadInput: the character lives by tools, and the mind is no chat model.
    """
    if not character.lives_by_tools:
        return
    if isinstance(mind, RuleMind):
        raise BadInput(
            f"{path}: {character.name} has tools and no routine, and needs a model: --mind openai:MODEL, "
            "with a key (see docs/how-to/language-models.md)"
        )
    from virl.mind.llm import LLMMind  # noqa: PLC0415 - LangChain takes a second to import

    if isinstance(mind, LLMMind):
        _ = mind.chat_model  # raises where it is none


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
        raise BadInput(f"{source}: start: {fault}, for instance to {city.center}") from fault


def _load_module(source: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"virl_routine_{source.stem}", source)
    if spec is None or spec.loader is None:
        raise BadInput(f"{source}: cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
