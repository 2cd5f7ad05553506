"""Routines: what characters do. Each is a folder, or a module beside a character file.

A routine's folder holds `routine.py` with `run(agent)`. The same module may say what would stop a run before
it begins: by `WISH`, what the rules must be able to read, by the functions `check_mind(character, mind)` and
`check_character(character, source)`. By `fit(character, city, start, seed)` it may replace what a file
written for another city names and this one lacks. `settings.py` may declare `FIELDS` of character files,
`showing.py` may draw the page of a run, and `prompts/` may hold its prompts.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from virl import resources
from virl.agent.character import Character, CharacterField
from virl.errors import BadInput
from virl.mind.base import Mind
from virl.registry import ROUTINES, import_errors

if TYPE_CHECKING:
    from virl.mind.lexicon import Lexicon
    from virl.mind.understanding import Reading
    from virl.platform.city.city import City
    from virl.platform.city.streetview import Panorama

RunFunction = Callable[..., None]
"""A function that takes an `Agent` and acts for it until its run has ended."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The text in a character's file that must be understood when rules decide."""

    read: Callable[[Character, "Lexicon"], "Reading | None"]
    """Function from (character, lexicon) to the text that drives a run, as rules read it; `None` for no text.

    It raises `MindFailed` where the rules understand nothing."""
    field: str = ""
    """Name of the character's field with the text, for error messages; empty where the error names it."""


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine that an agent follows: its name, and where its code is."""

    name: str
    module: str
    """Dotted name of the module with the function `run`."""
    folder: Path
    """Folder of the routine's code; its prompts are in the subfolder `prompts/`."""
    loose: bool = False
    """True if the routine is a single module without a folder of its own, which itself declares `FIELDS`."""
    giver: str = ""
    """Package that provides the routine; empty if it lies beside a character's file."""

    @property
    def package(self) -> str:
        """Dotted name of the routine's package; a leading dot in an import of its prompts stands for it."""
        return self.module.rpartition(".")[0]

    def part(self, name: str) -> str | None:
        """Return the dotted name of the routine's module `name`, as `settings`; `None` if there is none."""
        there = self.package and not self.loose and (self.folder / f"{name}.py").is_file()
        return f"{self.package}.{name}" if there else None

    def run(self) -> RunFunction:
        """Return the routine's function `run(agent)`, which performs a whole run.

        Raises:
            BadInput: the module lacks `run(agent)`.
            ModelUnavailable: it cannot be imported; names the fault.
        """
        module = self._import_module(self.module)
        run: RunFunction | None = getattr(module, "run", None)
        if callable(run):
            return run
        old = "; rename its `live(agent)`" if hasattr(module, "live") else ""
        raise BadInput(f"{module.__file__}: a routine needs a function `run(agent)`{old}")

    @property
    def registry_name(self) -> str:
        """Name of the routine in the registry; empty if it lies beside a character's file."""
        return self.name if self.giver else ""

    @property
    def source(self) -> Path:
        """The file with the function `run`."""
        return self.folder / f"{self.module.rpartition('.')[2]}.py"

    @property
    def wish(self) -> Wish | None:
        """The `WISH` of the routine's module; `None` if it has none."""
        return getattr(self._import_module(self.module), "WISH", None)

    def check_mind(self, character: Character, mind: Mind) -> None:
        """Call the module's `check_mind`, if any, to check that a mind can do what a character needs.

        Raises:
            BadInput, MindFailed: it cannot.
        """
        if check := getattr(self._import_module(self.module), "check_mind", None):
            check(character, mind)

    def check_character(self, character: Character, source: Path) -> None:
        """Call the module's `check_character`, if any, to check that a character in a file is complete.

        Raises:
            VirlError: it is not.
        """
        if check := getattr(self._import_module(self.module), "check_character", None):
            check(character, source)

    def fit(
        self, character: Character, city: "City", start: "Panorama", seed: int
    ) -> tuple[Character, tuple[str, ...]]:
        """Return (character with what the city lacks replaced by the module's `fit`, sentences on changes).

        Args:
            character: as its file has it.
            city: where it runs.
            start: where the run begins.
            seed: for what is chosen at random.
        """
        fit: Callable[..., tuple[Character, tuple[str, ...]]] | None
        fit = getattr(self._import_module(self.module), "fit", None)
        return fit(character, city, start, seed) if fit else (character, ())

    def asks_mind(self) -> bool:
        """Return whether the routine asks a mind: yes, unless its settings say `ASKS_MIND = False`."""
        home = self.module if self.loose else self.part("settings")
        return home is None or getattr(self._import_module(home), "ASKS_MIND", True)

    def fields(self) -> tuple[CharacterField[Any], ...]:
        """Return the character fields that the routine declares.

        Raises:
            BadInput: `FIELDS` of the module holds something else.
        """
        home = self.module if self.loose else self.part("settings")
        if home is None:
            return ()
        module = self._import_module(home)
        fields: tuple[CharacterField[Any], ...] = tuple(getattr(module, "FIELDS", ()))
        if not all(isinstance(field, CharacterField) for field in fields):
            raise BadInput(
                f"{module.__file__}: FIELDS must contain virl.agent.character.CharacterField objects only"
            )
        return fields

    def _import_module(self, module: str) -> ModuleType:
        """Return the routine's module with a dotted name; an import error tells where the routine is from."""
        where = f"of {self.giver}" if self.giver else f"in {self.source}"
        with import_errors(f"routine {self.name!r} {where}"):
            return import_module(module)


def find_routine(folder: Path, name: str) -> Routine | None:
    """Return the routine of a name: `NAME/` or `NAME.py` in a character's folder, else installed, or `None`.

    Raises:
        BadInput: two packages give the same name.
    """
    if (folder / name / "routine.py").is_file():
        return Routine(name, f"{_local_package(folder / name)}.routine", folder / name)
    source = folder / f"{name}.py"  # the examples in `agents/`, which start virl, are no routines
    if source.is_file() and folder.resolve() != resources.data_folder("agents").resolve():
        return Routine(name, f"{_local_package(folder)}.{name}", folder, loose=True)
    return _load_installed(name) if name in ROUTINES.names() else None


@cache
def our_fields() -> tuple[CharacterField[Any], ...]:
    """Return the fields of character files that virl's own routines declare; any character may have them."""
    return tuple(field for name in ROUTINES.builtin() for field in _load_installed(name).fields())


def package_folders() -> list[Path]:
    """Return the folders of other packages' routines, where their character files are.

    A routine that is a module outside of a package brings no characters.
    """
    folders = (_folder_of(module) for module in ROUTINES.modules_of_others() if "." in module)
    return sorted({folder for folder in folders if folder})


def _load_installed(name: str) -> Routine:
    """Return the routine with a name from virl or an installed package."""
    module = ROUTINES.module(name)
    return Routine(name, module, _folder_of(module) or Path(), giver=ROUTINES.giver(name))


def _local_package(folder: Path) -> str:
    """Make a package of a folder, so that its modules can be imported, and return the package's name."""
    # Named by its whole path: two folders may hold routines of one name.
    name = f"virl_routine_{sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder.resolve())]
        sys.modules[name] = module_from_spec(spec)
    return name


def _folder_of(module: str) -> Path | None:
    """Return the folder of a module, given by dotted name, without importing it; `None` if there is none."""
    package = module.rpartition(".")[0]
    try:
        spec = find_spec(package) if package else find_spec(module)
    except Exception:  # noqa: BLE001 - the packages above are somebody else's
        spec = None
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ())
    return Path(places[0]) if places else Path(spec.origin or "").parent
