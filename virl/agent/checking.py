"""What would stop a run, found before it begins: names, language, prompts, senses, start."""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from virl.agent.assembly import Assembly, assemble, check_mind, refuse_swapped
from virl.agent.character import Character, Point
from virl.agent.character_file import located, routine_of, where
from virl.agent.tool import TOOLS
from virl.errors import BadInput, VirlError, raise_all
from virl.geo import LatLng
from virl.mind.base import Mind
from virl.mind.prompt import check_prompt
from virl.mind.rules import RuleMind
from virl.platform.movement.links import LinksMover
from virl.platform.perception.base import Role
from virl.platform.perception.models import ModelOptions, Models, read_model
from virl.platform.perception.standing import standing
from virl.platform.providers.cities import Access, city_settings, opened_city
from virl.platform.providers.registry import provider_of


@dataclass(frozen=True, slots=True)
class Finding:
    """What checking a character has shown."""

    faults: tuple[VirlError, ...] = ()
    unknown: tuple[str, ...] = ()
    """What can only be seen in a run, such as whether an address is found."""


def name_faults(path: Path, character: Character) -> list[VirlError]:
    """What a character's file names and there is not: routine, city, senses. Opens nothing."""
    return list(_raised(_name_checks(path, character)))


def check_character(
    path: Path,
    character: Character,
    mind: Mind | None = None,
    *,
    access: Access | None = None,
    allow_downloads: bool = False,
    elsewhere: bool = False,
) -> Finding:
    """Everything that can be checked without a paid request, and without weights being loaded.

    Args:
        path: the character's file.
        character: as it was read, or changed.
        mind: what will answer; `None` leaves open what needs one.
        access: how the city will be asked.
        allow_downloads: whether weights that are missing may be fetched.
        elsewhere: whether the city is not the one that its file was written for.
    """
    faults = name_faults(path, character)
    if not faults:
        faults += _raised(_prompt_checks(path, character))
        faults += _raised(_sense_checks(path, character, allow_downloads=allow_downloads))
        faults += _raised([lambda: check_before(path, character, mind)] if mind else [])
    if faults:
        return Finding(tuple(faults))
    city, access = city_settings(character.city), access or Access()
    if provider_of(city).network:
        start = f"the start: asking {city.provider} for it may cost something"
        return Finding(tuple(_raised([lambda: _check_far(path, character, access)])), (start,))
    check = partial(_check_in_city, path, character, mind, access, elsewhere=elsewhere)
    return Finding(tuple(_raised([check])))


def check_before(path: Path, character: Character, mind: Mind) -> None:
    """See whether a mind can do what a character needs, in the language that its wishes are written in.

    Raises:
        BadInput: it cannot.
    """
    if isinstance(mind, RuleMind) and routine_of(path, character).asks_mind():
        for field in _wishes(character):
            with located(path, character, *field):
                if _is_foreign(str(_at(character, field))):
                    raise BadInput(
                        "the rules speak English only: write it in English, or choose a model with "
                        "--mind openai:MODEL"
                    )
    check_mind(path, character, mind)


def check_assembly(assembly: Assembly) -> None:
    """What the routine itself sees before a run is begun.

    Raises:
        VirlError: what would stop it.
    """
    routine_of(assembly.source, assembly.character).check_assembly(assembly)


def _name_checks(path: Path, character: Character) -> Iterator[Callable[[], object]]:
    yield lambda: routine_of(path, character).run()
    yield lambda: _city(path, character)
    for role, name in character.senses.named:
        yield lambda role=role, name=name: _model(path, character, role, name)  # type: ignore[misc]
    for tool in character.tools:
        if tool not in TOOLS.builtin():
            yield lambda tool=tool: _named(path, character, ("tools",), partial(TOOLS.find, tool))  # type: ignore[misc]
    yield lambda: raise_all(_raised(_checks_of_fields(path, character)))


def _checks_of_fields(path: Path, character: Character) -> Iterator[Callable[[], object]]:
    """Of what the routine's own fields name."""
    try:
        routine = routine_of(path, character)
    except VirlError:
        return  # named by another check
    for field in routine.fields():
        for name, check in field.named(field.of(character)):
            yield lambda field=field, name=name, check=check: _named(  # type: ignore[misc]
                path, character, (field.name, name), check
            )


def _named(path: Path, character: Character, field: tuple[str, ...], check: Callable[[], object]) -> None:
    with located(path, character, *field):
        check()


def _city(path: Path, character: Character) -> None:
    with located(path, character, "city"):
        city_settings(character.city)


def _model(path: Path, character: Character, role: Role, name: str) -> None:
    with located(path, character, "senses", role):
        read_model(role, name)


def _sense_checks(
    path: Path, character: Character, *, allow_downloads: bool
) -> Iterator[Callable[[], object]]:
    for role, name in character.senses.named:
        for need in standing(role, name).needs:
            if need.lacks and not (allow_downloads and need.what.startswith("weights")):
                yield lambda role=role, lacks=need.lacks: _lack(path, character, role, lacks)  # type: ignore[misc]


def _lack(path: Path, character: Character, role: Role, lacks: str) -> None:
    raise BadInput(f"{where(path, character, 'senses', role)}: {lacks}")


def _prompt_checks(path: Path, character: Character) -> Iterator[Callable[[], object]]:
    """Of the prompts that come with a character or its routine."""
    routine = routine_of(path, character)
    beside, own = path.parent / "prompts", routine.folder / "prompts"
    for folder in dict.fromkeys((own, beside)):
        for file in sorted(folder.rglob("*.md")):
            package = routine.package if folder == own else ""
            yield lambda file=file, package=package: check_prompt(file, package)  # type: ignore[misc]


def _check_far(path: Path, character: Character, access: Access) -> None:
    """See that the city opens, and that its start is not a position with its numbers swapped; asks nobody."""
    with opened_city(character.city, replace(access, cache="off", record=None)) as city:  # writes nothing
        if isinstance(character.start, Point):
            with located(path, character, "start"):
                refuse_swapped(LatLng(character.start.lat, character.start.lng), city)


def _check_in_city(
    path: Path, character: Character, mind: Mind | None, access: Access, *, elsewhere: bool
) -> None:
    """Put the character into a city that costs nothing, and let its routine look around."""
    with opened_city(character.city, access) as city:
        models = Models(ModelOptions(truth=city.truth))
        mover = LinksMover(city.streetview)
        check_assembly(
            assemble(path, character, city, mind or RuleMind(), models, mover, elsewhere=elsewhere)
        )


def _wishes(character: Character) -> list[tuple[str, ...]]:
    """The fields in which somebody says what they want: those of sections, else the character's own."""
    sections = [
        (section, field)
        for section in type(character).model_fields
        for field in ("intention", "text")
        if getattr(getattr(character, section), field, None)
    ]
    return [*sections] or [("intention",)]


def _at(character: Character, field: tuple[str, ...]) -> object:
    value: object = character
    for name in field:
        value = getattr(value, name)
    return value


def _is_foreign(text: str) -> bool:
    """Whether most letters are of another script than English is written in."""
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    return latin * 2 < len(letters)


def _raised(checks: Iterator[Callable[[], object]] | list[Callable[[], object]]) -> list[VirlError]:
    """What some checks raise."""
    faults: list[VirlError] = []
    for check in checks:
        try:
            check()
        except VirlError as fault:
            faults.append(fault)
    return faults
