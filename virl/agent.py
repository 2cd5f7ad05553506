"""A character put together with a city, a mind and senses."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated

from pydantic import AfterValidator, Field

from virl import resources
from virl.errors import BadInput, NoStreetView, NotFound, UnknownName
from virl.geo import LatLng
from virl.mind.base import Mind
from virl.platform.city import City
from virl.platform.movement.base import Mover
from virl.platform.perception.base import Senses
from virl.platform.places import DAYS
from virl.platform.relocate import relocate
from virl.platform.streetview import Panorama
from virl.run import Run
from virl.settings import Settings, load_settings


def _weekly_clock(text: str) -> str:
    day, _, clock = text.strip().lower().partition(" ")
    hour, _, minute = clock.partition(":")
    if day not in DAYS or not (hour.isdigit() and minute.isdigit() and int(hour) < 24 and int(minute) < 60):
        raise ValueError(f"{text!r} is not a day and time such as 'wed 12:30'")
    return f"{day} {int(hour):02d}:{int(minute):02d}"


class Limits(Settings):
    """When an agent gives up."""

    steps: int = Field(default=60, ge=1, le=100_000)
    """Moves from panorama to panorama."""


class Point(Settings):
    """A start given as a position: WGS84 degrees."""

    lat: float = Field(ge=-90, le=90)
    lng: float = Field(ge=-180, le=180)


class Character(Settings):
    """Who lives in the city: one YAML file, described in `docs/characters.md`."""

    name: str = Field(min_length=1)
    age: int | None = Field(default=None, ge=0, le=150)
    city: str
    """A name from `platform/cities/`."""
    start: str | Point
    """An address in the city, or a position."""
    heading: float | None = Field(default=None, ge=0, lt=360)
    """Where the character faces at first; `None` leaves it open."""
    clock: Annotated[str, AfterValidator(_weekly_clock)] = "wed 12:30"
    """Day and local time at which it all happens."""
    background: str
    intention: str = Field(min_length=1)
    routine: str | None = Field(default=None, pattern=r"^[a-z0-9_]+$")
    """Whose routine to follow: `NAME` of `NAME.py`, beside the character file or in `agents/`; by default,
    that of the file's own name."""
    limits: Limits = Limits()

    @property
    def day_and_minute(self) -> tuple[int, int]:
        """The clock as a day (0 is Monday) and minutes after midnight."""
        day, clock = self.clock.split()
        hour, minute = clock.split(":")
        return DAYS.index(day), int(hour) * 60 + int(minute)


@dataclass(frozen=True, slots=True)
class Agent:
    """A character in a city, with a mind, senses and a record of what it does."""

    character: Character
    city: City
    start: Panorama
    mind: Mind
    senses: Senses
    mover: Mover
    run: Run


Routine = Callable[[Agent], None]


def agent_names() -> list[str]:
    """The agents that come with virl."""
    return resources.names_in("agents", ".yaml")


def find_character(agent: str) -> Path:
    """The file of an agent given by name, or by the path of its YAML file.

    Raises:
        UnknownName: there is no agent of this name.
        BadInput: there is no such file.
    """
    path = Path(agent)
    if path.suffix in {".yaml", ".yml"}:
        if not path.is_file():
            raise BadInput(f"{agent}: no such file")
        return path
    if agent not in agent_names():
        raise UnknownName("agent", agent, agent_names())
    return resources.data_folder("agents") / f"{agent}.yaml"


def load_character(path: Path) -> Character:
    """Read a character file.

    Raises:
        BadInput: it is missing or broken; names file, line and field.
    """
    return load_settings(path, Character)


def load_routine(path: Path, character: Character) -> Routine:
    """The `live` function of the module that a character's file follows.

    Raises:
        BadInput: no such routine, or it has no `live`.
    """
    name = character.routine or path.stem
    for folder in (path.parent, resources.data_folder("agents")):
        source = folder / f"{name}.py"
        if source.is_file():
            live = getattr(_load_module(source), "live", None)
            if not callable(live):
                raise BadInput(f"{source}: a routine needs a function `live(agent)`")
            routine: Routine = live
            return routine
    raise BadInput(f"{path}: no routine {name!r}: set `routine:` to one of {', '.join(agent_names())}")


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
