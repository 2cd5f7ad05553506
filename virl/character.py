"""Who lives in a city: a character, read from a YAML file. Described in `docs/reference/characters.md`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from virl import resources
from virl.client import Client, Recommending, Renting
from virl.day_settings import Day
from virl.errand_settings import Errands
from virl.errors import BadInput, UnknownName
from virl.platform.perception.active import RECHECK_SCORE
from virl.platform.places import DAYS
from virl.region_file import read_region
from virl.settings import Settings, check_settings, load_settings, yaml_value
from virl.walk_settings import DirectionsSettings, FollowSettings

Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _weekly_clock(text: str) -> str:
    day, _, clock = text.strip().lower().partition(" ")
    hour, _, minute = clock.partition(":")
    if day not in DAYS or not (hour.isdigit() and minute.isdigit() and int(hour) < 24 and int(minute) < 60):
        raise ValueError(f"{text!r} is not a day and time such as 'wed 12:30'")
    return f"{day} {int(hour):02d}:{int(minute):02d}"


ToolName = Literal[
    "look",
    "read_signs",
    "detect",
    "ask_about_view",
    "move",
    "turn",
    "where_am_i",
    "nearby_places",
    "search_places",
    "place_details",
    "geocode",
    "route",
    "consult",
]
"""What a character without a routine may use; each is described in `docs/reference/characters.md`."""


def _tool_names(given: object) -> object:
    return get_args(ToolName) if given == "all" else given


class Limits(Settings):
    """When an agent gives up."""

    steps: int = Field(default=60, ge=1, le=100_000)
    """Moves from panorama to panorama."""
    calls: int = Field(default=60, ge=1, le=1000)
    """Requests to the model, for characters that live by `tools`."""
    minutes: float | None = Field(default=None, gt=0)
    """Minutes of work, for characters that live by `tools`; `None` sets no limit."""


class Point(Settings):
    """A start given as a position: WGS84 degrees."""

    lat: float = Field(ge=-90, le=90)
    lng: float = Field(ge=-180, le=180)


class SensesChoice(Settings):
    """Which perception models a character carries: names in `platform/models/`, or paths of model files."""

    detector: str = "sign-detector"
    describer: str = "sign-describer"
    matcher: str = "sift"
    pictures: bool | None = None
    """Whether a model that uses tools is shown views as pictures, not in words; `None`: if it is known to
    take them."""


class Counting(Settings):
    """What RX-399 counts, by itself or for Imani, and how it looks for it."""

    things: tuple[Label, ...] = Field(min_length=1)
    """What to count, in the detector's words."""
    background: tuple[Label, ...] = ()
    """What else may stand there: gives the detector something else to choose."""
    recheck: float = Field(default=RECHECK_SCORE, ge=0, le=1)
    """Least score at the closer look."""
    active: bool = True
    """Whether to look closer before believing."""
    memory: str = "default"
    """Settings of visual memory: a name in `platform/memory/`."""
    keep: Literal["found", "all"] = "found"
    """Which views are kept as files: those in which something was found, or all."""


class Character(Settings):
    """Who lives in the city: one YAML file, described in `docs/reference/characters.md`."""

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
    about: str = Field(default="", max_length=120, pattern=r"^[^\n]*$")
    """What the character does, in a line, for lists of agents."""
    background: str
    intention: str = Field(min_length=1)
    routine: str | None = Field(default=None, pattern=r"^[a-z0-9_]+$")
    """Whose routine to follow: `NAME` of `NAME.py`, beside the character file or in `agents/`; by default,
    that of the file's own name."""
    tools: Annotated[tuple[ToolName, ...], BeforeValidator(_tool_names)] = ()
    """What a language model may use to fulfil the intention; without a `routine` of its own, the character
    lives by them. `all` stands for all."""
    senses: SensesChoice = SensesChoice()
    count: Counting | None = None
    directions: DirectionsSettings = DirectionsSettings()
    """How an agent gives directions."""
    follow: FollowSettings = FollowSettings()
    """How an agent follows directions that it is given."""
    route: tuple[str | Point, ...] = ()
    """Where to go, in order, for agents that follow a route: addresses or positions."""
    region: str | tuple[tuple[float, float], ...] | None = None
    """What to visit, for agents that cover a region: `[lat, lng]` corners, or a file of them, seen from the
    character's file; by default the city's own."""
    client: Client | None = None
    """For whom the character works, if not for themself."""
    recommend: Recommending = Recommending()
    """How Aria looks for a place."""
    rent: Renting | None = None
    """Which homes Vivek looks at."""
    day: Day | None = None
    """The client's day that Diego plans."""
    errands: Errands | None = None
    """What Peng has to do, and where."""
    limits: Limits = Limits()

    @property
    def lives_by_tools(self) -> bool:
        """Whether a model decides what to do, not a routine."""
        return bool(self.tools) and self.routine is None

    @property
    def served(self) -> Client:
        """The client, or the character itself where there is none."""
        return self.client or Client(
            name=self.name, age=self.age, background=self.background, intention=self.intention
        )

    @property
    def day_and_minute(self) -> tuple[int, int]:
        """The clock as a day (0 is Monday) and minutes after midnight."""
        day, clock = self.clock.split()
        hour, minute = clock.split(":")
        return DAYS.index(day), int(hour) * 60 + int(minute)


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


def with_fields(character: Character, fields: Sequence[str]) -> Character:
    """A character with some fields set anew.

    Args:
        character: as its file says.
        fields: each `FIELD=VALUE`, such as `limits.steps=20`; a value is YAML.

    Raises:
        BadInput: there is no such field, or the value does not fit it.
    """
    data = character.model_dump()
    for text in fields:
        name, equals, value = text.partition("=")
        *sections, last = name.strip().split(".")
        if not equals or not last:
            raise BadInput(f"--set {text}: give FIELD=VALUE, such as limits.steps=20")
        section = data
        for part in sections:
            if not isinstance(section.setdefault(part, {}), dict):
                section[part] = {}
            section = section[part]
        section[last] = yaml_value(value, source=f"--set {text}")
    return check_settings(data, Character, source="--set " + " ".join(fields))


def load_character(path: Path) -> Character:
    """Read a character file, and that of its region.

    Raises:
        BadInput: one is missing or broken; names file, line and field.
    """
    character = load_settings(path, Character)
    if isinstance(character.region, str):
        corners = read_region(path.parent / character.region).corners
        character = character.model_copy(update={"region": corners})
    return character
