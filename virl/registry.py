"""What can be had by name: routines, providers, models and benchmarks, virl's own and other packages'.

virl's own are found by scanning its folders, those of other packages by their entry points. Nothing is
imported before it is asked for, and a package that is broken leaves the others usable.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, TypeVar, cast

from virl.errors import BadInput, ModelUnavailable, UnknownName, VirlError

T = TypeVar("T")

OURS = "virl"
"""Name that stands for virl as the source of its own objects."""


@dataclass(frozen=True, slots=True)
class Registry(Generic[T]):
    """A table of objects of one kind by name: virl's own, and those of installed packages."""

    kind: str
    """Noun for one object in messages, such as `"provider"`."""
    group: str
    """Entry-point group through which packages provide objects."""
    expected: type[T]
    """Class that every object has to be an instance of."""
    builtin: Callable[[], Mapping[str, str]]
    """Function that returns virl's own objects: `"module:object"` by name (see `scan`)."""
    aliases: tuple[str, ...] = field(default=())
    """Earlier names of the entry-point group."""

    def names(self) -> list[str]:
        """Return all names, sorted; an object's import may still fail."""
        return sorted({*self.builtin(), *(entry.name for entry in self._entries())})

    def __contains__(self, name: str) -> bool:
        """Return whether an object has this name; imports nothing."""
        return name in self.builtin() or any(entry.name == name for entry in self._entries())

    def find(self, name: str) -> T:
        """Return the object with a name, imported; virl's own come first.

        Raises:
            UnknownName: nothing has.
            ModelUnavailable: it cannot be imported; names the package and the fault.
            BadInput: it is not what it should be, or two packages give the same name.
        """
        return self._object(self._entry(name))

    def usable(self) -> tuple[dict[str, T], list[VirlError]]:
        """Return (objects by name, faults): all objects that can be imported, and a fault for each other.

        A package that gives one of virl's own names is among the faults.
        """
        return self._usable(self.names())

    def others(self) -> tuple[dict[str, T], list[VirlError]]:
        """Return (objects by name, faults) of other packages."""
        ours = self.builtin()
        return self._usable([name for name in self.names() if name not in ours])

    def modules_of_others(self) -> list[str]:
        """Return the dotted names of other packages' modules, broken ones included; imports nothing.

        Imports nothing.
        """
        return sorted({entry.value.partition(":")[0].strip() for entry in self._entries()})

    def module(self, name: str) -> str:
        """Return the dotted name of the module with the object of a name; imports nothing.

        Raises:
            UnknownName: nothing has this name.
            BadInput: two packages give the same name.
        """
        return self._entry(name).value.partition(":")[0].strip()

    def giver(self, name: str) -> str:
        """Return the name of the package that provides an object; imports nothing.

        Raises:
            UnknownName: nothing has this name.
            BadInput: two packages give the same name.
        """
        return OURS if name in self.builtin() else giver(self._entry(name))

    def _usable(self, names: Iterable[str]) -> tuple[dict[str, T], list[VirlError]]:
        """Return (objects by name, faults) for names: importable objects, and a fault for each other."""
        found: dict[str, T] = {}
        faults: list[VirlError] = []
        for name in names:
            try:
                found[name] = self.find(name)
            except VirlError as fault:
                faults.append(fault)
        return found, faults + self._shadowed_entries()

    def _entry(self, name: str) -> EntryPoint:
        """Return the entry point of a name, virl's own first; raise an error if unknown or ambiguous."""
        if ours := self.builtin().get(name):
            return EntryPoint(name, ours, self.group)
        found = [entry for entry in self._entries() if entry.name == name]
        if not found:
            raise UnknownName(self.kind, name, self.names())
        if len({entry.value for entry in found}) > 1 or len({giver(entry) for entry in found}) > 1:
            givers = " and ".join(sorted({giver(entry) for entry in found}))
            raise BadInput(f"{self.kind} {name!r} is provided by {givers}: uninstall one of them")
        return found[0]

    def _object(self, entry: EntryPoint) -> T:
        """Return the object of an entry point, imported; raise an error if it has another class."""
        with import_errors(f"{self.kind} {entry.name!r} of {giver(entry)}"):
            found = entry.load()
        if not isinstance(found, self.expected):
            wanted = f"{self.expected.__module__}.{self.expected.__qualname__}"
            raise BadInput(f"{self.kind} {entry.name!r} of {giver(entry)}: {entry.value} is not a {wanted}")
        return found

    def _entries(self) -> list[EntryPoint]:
        """Return the entry points of other packages, under all names of the group."""
        return [
            entry
            for group in (self.group, *self.aliases)
            for entry in _entry_points_of(group, tuple(sys.path))
        ]

    def _shadowed_entries(self) -> list[VirlError]:
        """Return a fault for each entry point that is not used because virl has one of that name."""
        ours = self.builtin()
        return [
            BadInput(
                f"{self.kind} {entry.name!r} of {giver(entry)} is not used: virl has one of that name; "
                f"rename it, or uninstall {giver(entry)}"
            )
            for entry in self._entries()
            if entry.value != ours.get(entry.name, entry.value)
        ]


@lru_cache(maxsize=64)
def _entry_points_of(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group; cached for each `sys.path`."""
    return tuple(_all_entry_points(path).select(group=group))


@lru_cache(maxsize=4)
def _all_entry_points(path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all packages, looked up once for each `sys.path`.

    Reading all metadata takes long.
    """
    del path
    return cast("EntryPoints", entry_points())  # Python 3.11 groups them; `select` is the same


def giver(entry: EntryPoint) -> str:
    """Return the name of the package that an entry point belongs to."""
    return entry.dist.name if entry.dist else OURS


@contextmanager
def import_errors(what: str) -> Iterator[None]:
    """Raise one `ModelUnavailable` for any exception of the block, which imports foreign code; not Ctrl+C.

    Args:
        what: such as `"routine 'stroll' of mytown"`.

    Raises:
        ModelUnavailable: names it, and the fault.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        raise ModelUnavailable(
            f"{what} cannot be imported ({type(fault).__name__}: {one_line(fault)}): "
            "install what it needs, update or uninstall it"
        ) from fault


def load(reference: str) -> Any:
    """Return the object that `"module:name"` names, imported.

    Raises:
        Exception: whatever importing the module raises; `AttributeError` if it lacks the name.
    """
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


@cache
def scan(package: str, module: str, name: str) -> Mapping[str, str]:
    """Return `"module:name"` by folder, for the folders of a package with a `module.py`; imports no folder.

    Args:
        package: such as `"virl.routines"`.
        module: the file that each folder of the shape has, such as `"routine"`.
        name: the object in it.

    Returns:
        `"package.folder.module:name"` by the folder's name; folders within folders count too.
    """
    roots = _folders(package)
    found = sorted(path.parent.relative_to(root) for root in roots for path in root.rglob(f"{module}.py"))
    return {
        spelt(folder.name): f"{'.'.join((package, *folder.parts, module))}:{name}"
        for folder in found
        if folder.parts
    }


@cache
def scan_modules(package: str, name: str) -> Mapping[str, str]:
    """Return `"module:name"` by module, for the modules of a package; imports none of them.

    Args:
        package: such as `"virl.platform.perception.detectors"`, all of whose modules hold one thing each.
        name: the object in each of them.

    Returns:
        `"package.module:name"` by the module's name, with `-` for `_`.
    """
    modules = sorted(path.stem for root in _folders(package) for path in root.glob("*.py"))
    return {spelt(module): f"{package}.{module}:{name}" for module in modules if not module.startswith("__")}


@cache
def scan_functions(package: str, decorator: str) -> Mapping[str, str]:
    """Return where the modules of a package have functions with a decorator; imports nothing but its parents.

    Args:
        package: such as `"virl.tools"`.
        decorator: the name of the decorator, which is called with arguments, such as `"tool"`.

    Returns:
        `"package.module:function"` by the function's name, in the order of the modules' names and lines.
    """
    declared = re.compile(rf"^@{decorator}\(.*?^def (\w+)", re.MULTILINE | re.DOTALL)
    modules = sorted(path for root in _folders(package) for path in root.glob("*.py"))
    return {
        name: f"{package}.{path.stem}:{name}"
        for path in modules
        for name in declared.findall(path.read_text(encoding="utf-8"))
    }


def first_line(module: str) -> str:
    """Return the first line of the docstring of a module's package; imports no module."""
    spec = find_spec(module.rpartition(".")[0])
    source = Path(spec.origin).read_text("utf-8") if spec and spec.origin else ""
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def spelt(module: str) -> str:
    """Return a module's name with hyphens, as users write it."""
    return module.replace("_", "-")


@cache
def _folders(package: str) -> list[Path]:
    """Return the subfolders of a package, found without importing it."""
    spec = find_spec(package)
    return [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []


def one_line(fault: BaseException) -> str:
    """Return an exception's message on one line."""
    try:
        said = str(fault)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  code of others, as the exception itself
        said = "no message"
    return " ".join(said.split())


ROUTINES: Registry[Any] = Registry(
    "routine", "virl.routines", FunctionType, lambda: scan("virl.routines", "routine", "run")
)
"""Routines of characters; see `virl.agent.routine`."""
