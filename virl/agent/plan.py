"""What a run is about to do, from the character, what the user asks and the objects that a program gives."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from pydantic import ValidationError

from virl.agent.character import Character, start_of
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

MEMBERS: Mapping[Role, tuple[str, ...]] = {
    "detector": ("look_scores", "detect"),
    "reader": ("read",),
    "recognizer": ("name", "embed_images", "embed_texts", "recognize"),
    "describer": ("describe",),
}
"""Names of the members that an object passed for a role must have."""


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
        """Return the names that stand for the objects in a journal, by argument."""
        given: list[tuple[str, object]] = [("city", self.city), ("mind", self.mind), *self.senses.items()]
        return {role: object_name(one) for role, one in given if one is not None}

    def check_same(self, begun: Mapping[str, str], folder: Path) -> None:
        """Raise `BadInput` unless a resumed run has objects of the same classes as at its beginning.

        Raises:
            BadInput: it has not; says which it needs.
        """
        names = self.names
        for role in sorted({*begun, *names}):
            if begun.get(role) != names.get(role):
                needs = f"needs the {begun[role]}" if role in begun else f"began without {role}={names[role]}"
                how = f"with {role}=..." if role in begun else f"without {role}="
                raise BadInput(f"{folder}: this run {needs}: resume it from Python {how}")


def check_sense(role: Role, given: object) -> None:
    """Raise `BadInput` if an object lacks members that a model of its role needs.

    Raises:
        BadInput: it lacks something; says what.
    """
    lacking = [member for member in MEMBERS[role] if not hasattr(given, member)]
    if lacking:
        name = type(given).__name__
        raise BadInput(f"{role}={name}: lacks {', '.join(lacking)}: see docs/reference/python.md")


RUNS = Path("runs")

_PLACES = frozenset({"route", "region", "errands", "preview.to", "client.where", "rent.areas"})
"""Fields of characters whose values are addresses, places or regions of a city."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """A user's options for a run; `None` leaves one to the character, or to the run that is resumed."""

    agent: str = ""
    """The agent's name, or the path of a character file."""
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
    """Folder of prompts that precede the character's own; empty for none."""
    decided_by: str = ""
    """Decider in place of the character's routine, named in the report; empty if the routine decides."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All choices for a run, made and checked before it starts."""

    loaded: LoadedCharacter
    start: StartRecord
    folder: Path
    elsewhere: bool = False
    """True if the city is not the character's own, so that its start may lie outside."""
    mover: str | None = None
    """The mover that the user asked for; `None` for no choice."""
    is_abroad: bool = False
    """True if the city is not the character's own, so that names in its file may be unknown there."""
    objects: Objects = field(default_factory=Objects)
    """Objects that a program passes in place of names."""

    def ledger(self) -> Ledger:
        """Return a new ledger for the run, with its limit in dollars and its book file."""
        return Ledger(self.start.access.budget_usd, book=self.folder / SPENDING, run=self.start.id)

    def access(self, ledger: Ledger) -> Access:
        """Return how requests to the city are made: ledger, cache, recording and latest day of pictures."""
        asked = self.start.access
        return Access(
            ledger=ledger,
            cache=asked.cache,
            session=self.start.id,
            record=Path(asked.record) if asked.record else None,
            replay=Path(asked.replay) if asked.replay else None,
            as_of=asked.as_of,
            day=datetime.fromisoformat(self.start.started).date() if self.start.started else None,
        )


def source_of(options: RunOptions) -> Path:
    """Return the file of a run's character; for one made in Python, a name used in error messages.

    Raises:
        UnknownName: there is no agent of this name.
        BadInput: there is no such file.
    """
    if options.character is None:
        return find_character(options.agent)
    return Path(slug(options.character.name) or "character")


def character_of(options: RunOptions, source: Path) -> Character:
    """Return a run's character, made in Python or read from its file.

    Raises:
        BadInput: the file is broken.
    """
    return options.character or load_character(source)


def make_plan(options: RunOptions) -> Plan:
    """Return the plan of a new run, made from the character and the options.

    Raises:
        BadInput: something that the character or the options name does not exist.
    """
    source = source_of(options)
    character = character_of(options, source)
    is_abroad = options.city not in (None, character.city)
    elsewhere = is_abroad and not options.at
    is_abroad = is_abroad and not _names_places(options.fields)  # what the user gives has to be there
    if options.city:
        character = character.model_copy(update={"city": options.city})
    if options.at:
        character = character.model_copy(update={"start": start_of(options.at)})
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
    return Plan(loaded, start, folder, elsewhere, options.mover, is_abroad, options.objects)


def _names_places(fields: Mapping[str, object]) -> bool:
    """Return whether any of the fields that a user sets holds an address, place or region."""
    named = {field.partition(".")[0] for field in fields} | set(fields)
    return bool(named & _PLACES) or bool(address_in(str(fields.get("intention", ""))))


def planned_again(options: RunOptions, source: Path, begun: StartRecord, folder: Path) -> Plan:
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
    start = as_asked(options, begun, folder)
    options.objects.check_same(begun.objects, folder)
    try:
        character = recorded_character(source, dict(start.character))
    except ValidationError as fault:
        field = ".".join(map(str, fault.errors()[0]["loc"]))
        raise JournalBroken(f"{folder}: line 1: character: {field} is not valid") from fault
    return Plan(LoadedCharacter(source, character), start, folder, objects=options.objects)


def as_asked(options: RunOptions, begun: StartRecord, folder: Path) -> StartRecord:
    """Return a resumed run's start record with the budget, cache and feedback that are given now.

    Args:
        options: what is asked for now.
        begun: first record in the journal.
        folder: of the run, named in errors.

    Raises:
        BadInput: the options ask for another run.
    """
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


def _check_access(asked: AccessRecord, city: City) -> None:
    """Raise `BadInput` if options on budget or cache are given for a city object, which keeps its own.

    Raises:
        BadInput: something is.
    """
    told = ["budget_usd"] if asked.budget_usd is not None and city.ledger is not None else []
    told += [name for name, value in asked if name != "budget_usd" and value is not None]
    if told:
        raise BadInput(
            f"{told[0]}=: {city.title} was changed since it was opened and keeps its own budget and cache: "
            "give a city by its name"
        )


def start_told(character: Character) -> str:
    """Return a character's start in words."""
    start = character.start
    return start if isinstance(start, str) else str(LatLng(start.lat, start.lng))


@contextmanager
def made_folder(agent: str, runs: Path = RUNS) -> Iterator[Path]:
    """Make a new run's folder at once and yield it; remove it after the block if it is still empty.

    At the end of the block it is removed where it is still empty, as a run that cannot begin leaves it.

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
    """Yield the options with the run's folder as `out`, made by `made_folder` if none is named."""
    if options.out:
        yield options
        return
    with made_folder(source_of(options).stem) as folder:
        yield replace(options, out=folder)


def new_folder(agent: str, runs: Path = RUNS) -> Path:
    """Return a new run folder's path: agent, date and time, and a number if that is taken."""
    first = runs / f"{agent}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    others = (first.with_name(f"{first.name}-{number}") for number in count(2))
    return next(folder for folder in chain([first], others) if not folder.exists())


def latest_run(agent: str) -> Path:
    """Return the folder of an agent's last run.

    Raises:
        BadInput: there is none.
    """
    runs = sorted(path.parent for path in RUNS.glob(f"{agent}-*/journal.jsonl"))
    if not runs:
        raise BadInput(f"{RUNS}: no run of {agent!r} to resume: start one without --resume")
    return runs[-1]
