"""The plan of a run: from the character, what the user asks and the objects that a program gives."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from pydantic import ValidationError

from virl.agent.character import Character, parse_start
from virl.agent.character_file import (
    LoadedCharacter,
    find_character,
    load_character,
    recorded_character,
    with_fields,
)
from virl.agent.checking import name_faults
from virl.agent.user import TERMINAL, read_feedback
from virl.errors import BadInput, JournalBroken, raise_all
from virl.files.writing import refusals_in_a_line
from virl.geo.globe import LatLng
from virl.journal.folder import check_unused
from virl.journal.records import AccessRecord, StartRecord
from virl.mind.open import Dollars, GivenMind, object_name
from virl.money.book import SPENDING
from virl.money.ledger import Ledger
from virl.plain_text import slug
from virl.platform.city.city import City, MoverChoice
from virl.platform.city.locate import address_in
from virl.platform.movers.open_mover import planned_mover
from virl.platform.perception.base import Role
from virl.platform.perception.models import Device
from virl.platform.providers.cities import Access
from virl.version import code_version

_NEEDED_METHODS: Mapping[Role, tuple[str, ...]] = {
    "detector": ("look_scores", "detect"),
    "reader": ("read",),
    "recognizer": ("name", "embed_images", "embed_texts", "recognize"),
    "describer": ("describe",),
}
"""Names of the methods that an object must have, by the perception role that it is passed for."""


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects that a program passes in place of names, used by the run's agent and those it consults."""

    city: City | None = None
    mind: GivenMind | None = None
    price: Dollars | None = None
    """US dollars for a million tokens (input, output) of `mind`; `None` for known prices."""
    senses: Mapping[Role, object] = field(default_factory=dict)
    """Perception models by role, each used in place of every model of its role."""

    @property
    def names(self) -> dict[str, str]:
        """Names that stand for the given objects in a journal, by the argument that passes each."""
        given: list[tuple[str, object]] = [("city", self.city), ("mind", self.mind), *self.senses.items()]
        return {role: object_name(one) for role, one in given if one is not None}

    def check_same(self, begun: Mapping[str, str], folder: Path) -> None:
        """Check that these objects have the class names, by argument, with which the resumed run had `begun`.

        Raises:
            BadInput: it is not; says which it needs.
        """
        names = self.names
        for role in sorted({*begun, *names}):
            if begun.get(role) != names.get(role):
                needs = f"needs the {begun[role]}" if role in begun else f"began without {role}={names[role]}"
                how = f"with {role}=..." if role in begun else f"without {role}="
                raise BadInput(f"{folder}: this run {needs}: resume it from Python {how}")


def check_sense(role: Role, given: object) -> None:
    """Check that an object has the methods that a perception model of its role needs.

    Raises:
        BadInput: it lacks one; says which.
    """
    lacking = [member for member in _NEEDED_METHODS[role] if not hasattr(given, member)]
    if lacking:
        name = type(given).__name__
        raise BadInput(f"{role}={name}: lacks {', '.join(lacking)}: see docs/reference/python.md")


RUNS = Path("runs")

_PLACE_FIELDS = frozenset({"route", "region", "errands", "preview.to", "client.where", "rent.areas"})
"""Dotted names of the fields of characters that hold addresses, places or regions of a city."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """A user's options for a run; `None` leaves a choice to the character, or to the run that is resumed."""

    agent: str = ""
    """The agent's name, or the path of a character file; empty if `character` is given."""
    character: Character | None = None
    """A character made in Python, used in place of `agent`; `None` for none."""
    city: str | None = None
    at: str | None = None
    """The start: an address in the city, or a position such as `60.17,24.94`; `None` for the character's."""
    mind: str | None = None
    mover: str | None = None
    detector: str | None = None
    device: Device = "auto"
    allow_downloads: bool = False
    out: Path | None = None
    resume: bool = False
    seed: int = 0
    fields: Mapping[str, object] = field(default_factory=dict)
    """Values for character fields by dotted name, such as `{"limits.steps": 20}`."""
    feedback: str | None = None
    """File of what the user says during the run, or `"terminal"`; `None` for no user."""
    access: AccessRecord = field(default_factory=AccessRecord)
    objects: Objects = field(default_factory=Objects)
    """Objects that a program passes in place of names."""
    prompts: str = ""
    """Folder whose prompts replace the character's own of the same names; empty for none."""
    decided_by: str = ""
    """Name of the program that decides in place of the routine, for the report; empty if the routine does."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that is checked and ready to start: character, start record, folder and objects."""

    loaded: LoadedCharacter
    start: StartRecord
    folder: Path
    may_move_start: bool = False
    """True if the city is not the character's own and the user names no start: the start may be moved."""
    mover: str | None = None
    """Name of the mover that the user asked for; `None` for no choice."""
    may_replace_names: bool = False
    """True if names in the character's file may be replaced by others, since they are of another city."""
    objects: Objects = field(default_factory=Objects)
    """Objects that a program passes in place of names."""

    def ledger(self) -> Ledger:
        """Return a new ledger for the run, with its budget in dollars and its book in the run's folder."""
        return Ledger(self.start.access.budget_usd, book=self.folder / SPENDING, run=self.start.id)

    def access(self, ledger: Ledger) -> Access:
        """Return the access to the city's services: ledger, cache, recording and latest day of pictures."""
        start, asked = self.start, self.start.access
        return Access(
            ledger=ledger,
            cache=asked.cache,
            session=start.id,
            record=Path(asked.record) if asked.record else None,
            replay=Path(asked.replay) if asked.replay else None,
            as_of=asked.as_of,
            day=datetime.fromisoformat(start.started).date() if start.started else None,
            crowd=self.loaded.character.crowd,
        )


def source_of(options: RunOptions) -> Path:
    """Return the path of a run's character file; for one made in Python, a path that does not exist.

    Raises:
        UnknownName: there is no agent of this name.
        BadInput: there is no such file.
    """
    if options.character is None:
        return find_character(options.agent)
    return Path(slug(options.character.name) or "character")


def make_plan(options: RunOptions) -> Plan:
    """Return the plan of a new run, made from the character and the options.

    Raises:
        BadInput: something that the character or the options name does not exist.
    """
    source = source_of(options)
    character = options.character or load_character(source)
    may_replace_names = options.city not in (None, character.city)
    may_move_start = may_replace_names and not options.at
    named = {field.partition(".")[0] for field in options.fields} | set(options.fields)
    if named & _PLACE_FIELDS or address_in(str(options.fields.get("intention", ""))):
        may_replace_names = False  # what the user names has to be there
    if options.city:
        character = character.model_copy(update={"city": options.city})
    if options.at:
        character = character.model_copy(update={"start": parse_start(options.at)})
    if options.detector:
        senses = character.senses.model_copy(update={"detector": options.detector})
        character = character.model_copy(update={"senses": senses})
    character = with_fields(character, options.fields) if options.fields else character
    town = options.objects.city
    loaded = LoadedCharacter(source, character)
    faults = name_faults(
        loaded,
        is_city_open=town is not None,
        given=options.objects.senses,
        needs_routine=not options.decided_by,
    )
    raise_all(faults)
    if options.feedback not in (None, TERMINAL):
        read_feedback(Path(options.feedback))
    folder = options.out or new_folder(source.stem)
    check_unused(folder)
    if town is not None:
        _check_access(options.access, town)
    if town is None or town.opened_as:
        mover = planned_mover(character.city, options.mover)
    else:
        mover = MoverChoice(options.mover or "links", "")
    start = StartRecord(
        virl=code_version(),
        agent=source.stem,
        city=character.city,
        mind=options.mind or "rules",
        seed=options.seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        # Made from the folder, in which no two runs can be.
        id=uuid5(NAMESPACE_URL, folder.resolve().as_uri()).hex,
        mover=mover.name,
        mover_reason=mover.reason,
        objects=options.objects.names,
        prompts=options.prompts,
        device=options.device,
        allow_downloads=options.allow_downloads,
        access=options.access,
        feedback=options.feedback,
        decided_by=options.decided_by,
        routine=loaded.routine.registry_name,
        character=character.model_dump(mode="json"),
    )
    return Plan(loaded, start, folder, may_move_start, options.mover, may_replace_names, options.objects)


def plan_resumed(options: RunOptions, source: Path, begun: StartRecord, folder: Path) -> Plan:
    """Return the plan of a resumed run, from its start record and the options given now.

    Args:
        options: what the user asks now.
        source: the character's file.
        begun: the first record of the run's journal.
        folder: the run's.

    Raises:
        BadInput: the options ask for another run.
        JournalBroken: the character is not valid any more.
    """
    start = merge_options(options, begun, folder)
    options.objects.check_same(begun.objects, folder)
    try:
        character = recorded_character(source, dict(start.character))
    except ValidationError as fault:
        field = ".".join(map(str, fault.errors()[0]["loc"]))
        raise JournalBroken(f"{folder}: line 1: character: {field} is not valid") from fault
    return Plan(LoadedCharacter(source, character), start, folder, objects=options.objects)


def merge_options(options: RunOptions, begun: StartRecord, folder: Path) -> StartRecord:
    """Return a resumed run's start record with the budget, cache, feedback and device that are given now.

    Args:
        options: what is asked for now.
        begun: first record in the journal.
        folder: of the run, named in errors.

    Raises:
        BadInput: the options ask for another run.
    """
    for asked, was in ((options.city, begun.city), (options.mind, begun.mind), (options.mover, begun.mover)):
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


def _check_access(asked: AccessRecord, city: City) -> None:
    """Raise `BadInput` if options on budget or cache are given for a city object, which keeps its own."""
    told = ["budget_usd"] if asked.budget_usd is not None and city.ledger is not None else []
    told += [name for name, value in asked if name != "budget_usd" and value is not None]
    if told:
        raise BadInput(
            f"{told[0]}=: {city.title} was changed since it was opened and keeps its own budget and cache: "
            "give a city by its name"
        )


def describe_start(character: Character) -> str:
    """Return a character's start in words."""
    start = character.start
    return start if isinstance(start, str) else str(LatLng(start.lat, start.lng))


@contextmanager
def made_folder(agent: str, runs: Path = RUNS) -> Iterator[Path]:
    """Make a folder for a new run of an agent, inside `runs`; yield it, and remove it afterwards if empty.

    Raises:
        CannotWrite: it cannot be made.
    """
    is_first = not runs.exists()
    with refusals_in_a_line(runs, "start again"):
        runs.mkdir(parents=True, exist_ok=True)
        while True:
            folder = new_folder(agent, runs)
            with suppress(FileExistsError):  # another process was faster
                folder.mkdir(parents=True)
                break
    try:
        yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()
            if is_first:
                runs.rmdir()


@contextmanager
def with_folder(options: RunOptions) -> Iterator[RunOptions]:
    """Yield the options with a folder as `out`: the one that they name, else a new one from `made_folder`."""
    if options.out:
        yield options
        return
    with made_folder(source_of(options).stem) as folder:
        yield replace(options, out=folder)


def new_folder(agent: str, runs: Path = RUNS) -> Path:
    """Return an unused path in `runs` for a new run: agent, date and time, and a number if that is taken."""
    first = runs / f"{agent}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    others = (first.with_name(f"{first.name}-{number}") for number in count(2))
    return next(folder for folder in chain([first], others) if not folder.exists())


def latest_run(agent: str) -> Path:
    """Return the folder of an agent's last run in `RUNS`.

    Raises:
        BadInput: there is none.
    """
    runs = sorted(path.parent for path in RUNS.glob(f"{agent}-*/journal.jsonl"))
    if not runs:
        raise BadInput(f"{RUNS}: no run of {agent!r} to resume: start one without --resume")
    return runs[-1]
