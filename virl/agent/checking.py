"""Checks of a character before its run: names, language, prompts, senses, start."""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from virl.agent.assembly import assemble, check_mind, refuse_swapped, start_panorama
from virl.agent.character import Point
from virl.agent.character_file import NOWHERE, LoadedCharacter, field_value, load_fitting
from virl.agent.tool import TOOLS
from virl.errors import BadInput, BadInputs, VirlError, raise_all
from virl.geo.globe import LatLng
from virl.mind.base import Mind
from virl.mind.prompt import check_prompt
from virl.mind.rules import RuleMind
from virl.mind.script import ScriptMind
from virl.platform.movers.base import LinksMover
from virl.platform.perception.base import Role
from virl.platform.perception.models import ModelOptions, Models, check_labels, read_model
from virl.platform.perception.standing import model_readiness
from virl.platform.providers.cities import Access, city_settings, opened_city
from virl.platform.providers.provider import provider_of


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking a character: its faults, and what remains unchecked."""

    faults: tuple[VirlError, ...] = ()
    """Errors that would stop a run; empty if all that was checked is in order."""
    unknown: tuple[str, ...] = ()
    """Conditions that only a run can check, such as that the address exists, in words."""


def name_faults(
    loaded: LoadedCharacter,
    *,
    is_city_open: bool = False,
    given: Collection[Role] = (),
    needs_routine: bool = True,
) -> list[VirlError]:
    """Return faults in a character's names and fields; skip the city if open, and models of roles `given`.

    Args:
        loaded: the character, as it was read.
        is_city_open: whether its city is given as an object, so that its name need not be known.
        given: perception roles whose models a program gives in place of those of the file.
        needs_routine: whether its routine decides, so that what the routine needs must be there.
    """
    faults, character = _Faults(), loaded.character
    with faults:
        loaded.routine.run()
    with faults, loaded.errors_at("city"):
        if not is_city_open:
            city_settings(character.city)
    for role, name in character.senses.by_role:
        with faults, loaded.errors_at("senses", role):
            read_model(role, name)
    for tool in character.tools:
        if tool not in TOOLS.builtin():
            with faults, loaded.errors_at("tools"):
                TOOLS.find(tool)
    with faults:
        raise_all(_faults_of_fields(loaded, given))
    if needs_routine:
        with faults:
            loaded.routine.check_character(character, loaded.source)
    return faults


def check_character(
    loaded: LoadedCharacter,
    mind: Mind | None = None,
    *,
    access: Access | None = None,
    allow_downloads: bool = False,
    may_move_start: bool = False,
    may_replace_names: bool = False,
) -> Finding:
    """Return a character's faults, found without paid requests or model weights, and what stays unchecked.

    Args:
        loaded: the character, as it was read or changed.
        mind: what will answer; `None` leaves open what needs one.
        access: how the city will be asked.
        allow_downloads: whether weights that are missing may be fetched.
        may_move_start: whether it may start elsewhere if the city lacks the start in its file.
        may_replace_names: whether names that the city lacks are replaced, since the file is of another city.
    """
    faults = _Faults(name_faults(loaded))
    with faults:
        _check_prompts(loaded, faults)
    for role, name in loaded.character.senses.by_role:
        model = model_readiness(role, name)
        for need in model.needs if model.kind else ():  # a name of no model is told already
            if need.blocks(allow_downloads=allow_downloads):
                faults.append(BadInput(f"{loaded.field_source('senses', role)}: {need.lacks}"))
    if mind:
        with faults:
            check_before(loaded, mind)
    unknown: tuple[str, ...] = ()
    if mind and not isinstance(mind, RuleMind | ScriptMind):
        unknown = (f"the model: whether {mind.name} answers (`virl doctor --real` asks it)",)
    try:
        city, access = city_settings(loaded.character.city), access or Access()
    except VirlError:
        return Finding(tuple(faults))
    is_far = provider_of(city).network
    if is_far:
        unknown += (f"the start and other places: asking {city.provider} for them may cost something",)
    with faults:
        if is_far:
            _check_opening(loaded, access)
        else:
            _check_in_city(
                loaded,
                mind,
                access,
                faults,
                may_move_start=may_move_start,
                may_replace_names=may_replace_names,
            )
    return Finding(tuple(faults), unknown)


def faults_beside(path: Path) -> tuple[VirlError, ...]:
    """Return a file's faults other than invalid fields; empty, unchecked, if its name or city is invalid.

    Raises:
        BadInput: the file cannot be read.
    """
    character = load_fitting(path)
    if character is None:
        return ()
    return check_character(LoadedCharacter(path, character), may_move_start=character.start == NOWHERE).faults


def check_before(loaded: LoadedCharacter, mind: Mind) -> None:
    """Raise an error if a mind cannot do what a routine needs, or rules cannot read a wish's language.

    Raises:
        BadInput: it cannot.
    """
    if isinstance(mind, RuleMind) and loaded.routine.asks_mind():
        sections: list[tuple[str, ...]] = [  # the fields in which somebody says what they want
            (section, field)
            for section in type(loaded.character).model_fields
            for field in ("intention", "text")
            if getattr(getattr(loaded.character, section), field, None)
        ]
        for field in sections or [("intention",)]:
            with loaded.errors_at(*field):
                if _is_foreign(str(field_value(loaded.character, field))):
                    raise BadInput(
                        "the rules speak English only: write it in English, or choose a model with "
                        "--mind openai:MODEL"
                    )
    check_mind(loaded, mind)


def _faults_of_fields(loaded: LoadedCharacter, given: Collection[Role]) -> list[VirlError]:
    """Return the faults in the routine's fields; labels are not checked if a detector is `given`."""
    faults, character = _Faults(), loaded.character
    try:
        routine = loaded.routine
    except VirlError:
        return faults  # named by another check
    for field in routine.fields():
        for name, check in field.named(field.of(character)):
            with faults, loaded.errors_at(field.name, name):
                check()
        if "detector" not in given:
            with faults, loaded.errors_at("senses", "detector"):
                check_labels(character.senses.detector, list(field.labels(field.of(character))))
    return faults


def _check_prompts(loaded: LoadedCharacter, faults: "_Faults") -> None:
    """Add to `faults` what is wrong in the prompts beside a character's file and in its routine's folder."""
    routine = loaded.routine
    beside, own = loaded.source.parent / "prompts", routine.folder / "prompts"
    for folder in dict.fromkeys((own, beside)):  # the same one for a routine beside the file
        for file in sorted(folder.rglob("*.md")):
            with faults:
                check_prompt(file, routine.package if folder == own else "")


def _check_opening(loaded: LoadedCharacter, access: Access) -> None:
    """Check that the city opens and that the start's two numbers are not swapped; sends no request."""
    character = loaded.character
    with opened_city(character.city, replace(access, cache="off", record=None)) as city:  # writes nothing
        if isinstance(character.start, Point):
            with loaded.errors_at("start"):
                refuse_swapped(LatLng(character.start.lat, character.start.lng), city)


def _check_in_city(
    loaded: LoadedCharacter,
    mind: Mind | None,
    access: Access,
    faults: "_Faults",
    *,
    may_move_start: bool,
    may_replace_names: bool,
) -> None:
    """Check a character in its city, opened for free; add a faulty start to `faults`, raise other errors."""
    with opened_city(loaded.character.city, access) as city:
        if not may_move_start:
            with faults:
                start_panorama(city, loaded)
        if faults:  # the rest is looked at from the middle, by the usual senses
            middle = Point(lat=city.center.lat, lng=city.center.lng)
            usual = {"start": middle, "senses": type(loaded.character.senses)()}
            loaded = replace(loaded, character=loaded.character.model_copy(update=usual))
        assemble(
            loaded,
            city,
            mind or RuleMind(),
            Models(ModelOptions(truth=city.truth, is_drawn=city.capabilities.is_drawn)),
            LinksMover(city.streetview),
            may_move_start=may_move_start,
            replacement_seed=0 if may_replace_names else None,
        )


def _is_foreign(text: str) -> bool:
    """Return whether more than half of a text's letters are not of the Latin script."""
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    return latin * 2 < len(letters)


class _Faults(list[VirlError]):
    """A list of errors, to which each `with` block adds the `VirlError` that is raised in it."""

    def __enter__(self) -> None:
        """Begin a block whose error is collected."""

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> bool:
        """Return whether the block's error is a `VirlError`, which was added; other errors are raised."""
        if isinstance(fault, VirlError):
            told = set(map(str, self))
            several = fault.faults if isinstance(fault, BadInputs) else (fault,)
            self.extend(one for one in several if str(one) not in told)
            return True
        return False
