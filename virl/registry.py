"""Objects that are found by name: routines, providers, models and benchmarks of virl and of other packages.

virl's own are found by scanning its folders, those of other packages by their entry points. Nothing is
imported before it is needed, and a package that is broken leaves the others usable.
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
"""Name of virl as the package that provides an object."""


@dataclass(frozen=True, slots=True)
class Registry(Generic[T]):
    """A table of objects of one kind by name: virl's own, and those of installed packages."""

    kind: str
    """Noun for one object in messages, such as "provider"."""
    group: str
    """Entry-point group through which packages provide objects."""
    expected: type[T]
    """Class that every object has to be an instance of."""
    builtin: Callable[[], Mapping[str, str]]
    """Function that returns virl's own objects, each "module:object", by name; see `scan`."""
    aliases: tuple[str, ...] = field(default=())
    """Earlier names of the entry-point group."""

    def names(self) -> list[str]:
        """Return all names, sorted; the import of an object may still fail."""
        return sorted({*self.builtin(), *(entry.name for entry in self._entries())})

    def __contains__(self, name: str) -> bool:
        """Return whether an object has this name; imports nothing."""
        return name in self.builtin() or any(entry.name == name for entry in self._entries())

    def find(self, name: str) -> T:
        """Return the object with a name, imported; virl's own come first.

        Raises:
            UnknownName: no object has the name.
            ModelUnavailable: the object cannot be imported; the message names the package and the fault.
            BadInput: the object is of another class, or two packages give the same name.
        """
        entry = self._entry(name)
        with import_errors(f"{self.kind} {entry.name!r} of {giver(entry)}"):
            found = entry.load()
        if not isinstance(found, self.expected):
            expected = f"{self.expected.__module__}.{self.expected.__qualname__}"
            raise BadInput(f"{self.kind} {entry.name!r} of {giver(entry)}: {entry.value} is not a {expected}")
        return found

    def usable(self) -> tuple[dict[str, T], list[VirlError]]:
        """Return (objects by name, faults): all objects that can be imported, and a fault for each other one.

        A package that gives one of virl's own names is among the faults.
        """
        return self._usable(self.names())

    def others(self) -> tuple[dict[str, T], list[VirlError]]:
        """Return (objects by name, faults) of other packages: importable objects, a fault for any other."""
        ours = self.builtin()
        return self._usable([name for name in self.names() if name not in ours])

    def modules_of_others(self) -> list[str]:
        """Return the dotted names of other packages' modules, broken ones included; import nothing."""
        return sorted({entry.value.partition(":")[0].strip() for entry in self._entries()})

    def module(self, name: str) -> str:
        """Return the dotted name of the module that has the object with a name; import nothing.

        Raises:
            UnknownName: no object has the name.
            BadInput: two packages give the same name.
        """
        return self._entry(name).value.partition(":")[0].strip()

    def giver(self, name: str) -> str:
        """Return the name of the package that provides the object with a name; import nothing.

        Raises:
            UnknownName: no object has the name.
            BadInput: two packages give the same name.
        """
        return OURS if name in self.builtin() else giver(self._entry(name))

    def _usable(self, names: Iterable[str]) -> tuple[dict[str, T], list[VirlError]]:
        """Return (objects by name, faults) for names: importable objects, and a fault for each other one."""
        found: dict[str, T] = {}
        faults: list[VirlError] = []
        for name in names:
            try:
                found[name] = self.find(name)
            except VirlError as fault:
                faults.append(fault)
        # Entry points that are not used, as virl has an object of that name, are faults too.
        ours = self.builtin()
        faults += [
            BadInput(
                f"{self.kind} {entry.name!r} of {giver(entry)} is not used: virl has one of that name; "
                f"rename it, or uninstall {giver(entry)}"
            )
            for entry in self._entries()
            if entry.value != ours.get(entry.name, entry.value)
        ]
        return found, faults

    def _entry(self, name: str) -> EntryPoint:
        """Return the entry point of a name, virl's own first; raise `BadInput` if two packages give it."""
        if ours := self.builtin().get(name):
            return EntryPoint(name, ours, self.group)
        found = [entry for entry in self._entries() if entry.name == name]
        if not found:
            raise UnknownName(self.kind, name, self.names())
        if len({entry.value for entry in found}) > 1 or len({giver(entry) for entry in found}) > 1:
            givers = " and ".join(sorted({giver(entry) for entry in found}))
            raise BadInput(f"{self.kind} {name!r} is provided by {givers}: uninstall one of them")
        return found[0]

    def _entries(self) -> list[EntryPoint]:
        """Return the entry points of other packages, under the group's current and earlier names."""
        return [
            entry
            for group in (self.group, *self.aliases)
            for entry in _entry_points_of(group, tuple(sys.path))
        ]


@lru_cache(maxsize=64)
def _entry_points_of(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group; `path` is the present `sys.path`, for which they are cached."""
    return tuple(_all_entry_points(path).select(group=group))


@lru_cache(maxsize=4)
def _all_entry_points(path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all packages; cached for each `sys.path`, since reading metadata is slow."""
    del path
    return cast("EntryPoints", entry_points())  # Python 3.11 groups them; `select` is the same


def giver(entry: EntryPoint) -> str:
    """Return the name of the package that an entry point belongs to; `OURS` for virl's own."""
    return entry.dist.name if entry.dist else OURS


@contextmanager
def import_errors(subject: str) -> Iterator[None]:
    """Raise `ModelUnavailable`, naming `subject` ("routine 'stroll'"), for any error in the block but Ctrl+C.

    Raises:
        ModelUnavailable: in place of the exception, which the message names.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        raise ModelUnavailable(
            f"{subject} cannot be imported ({type(fault).__name__}: {one_line(fault)}): "
            "install what it needs, update or uninstall it"
        ) from fault


def load(reference: str) -> Any:
    """Return the object that a reference "module:name" names, imported.

    Raises:
        Exception: any exception of the module's import; `AttributeError` if it lacks the name.
    """
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


@cache
def scan(package: str, module: str, name: str) -> Mapping[str, str]:
    """Return "package.folder.module:name" by folder, for each folder below a package that holds `module.py`.

    No folder is imported.

    Args:
        package: the dotted name of the package, such as "virl.routines".
        module: the name of the file that each folder has, such as "routine".
        name: the name of the object in the file.
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
    """Return "package.module:name" by the module's name, with "-" for "_", for all modules of a package.

    No module is imported. `name` is that of the object which each of them has.
    """
    modules = sorted(path.stem for root in _folders(package) for path in root.glob("*.py"))
    return {spelt(module): f"{package}.{module}:{name}" for module in modules if not module.startswith("__")}


@cache
def scan_functions(package: str, decorator: str) -> Mapping[str, str]:
    """Return "package.module:function" by function, for a package's functions with a decorator.

    No module is imported; the decorator must be called with arguments, as in `@tool(...)`.
    """
    declared = re.compile(rf"^@{decorator}\(.*?^def (\w+)", re.MULTILINE | re.DOTALL)
    modules = sorted(path for root in _folders(package) for path in root.glob("*.py"))
    return {
        name: f"{package}.{path.stem}:{name}"
        for path in modules
        for name in declared.findall(path.read_text(encoding="utf-8"))
    }


def first_line(module: str) -> str:
    """Return the first docstring line of the package that contains a module; import no module."""
    spec = find_spec(module.rpartition(".")[0])
    source = Path(spec.origin).read_text("utf-8") if spec and spec.origin else ""
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def spelt(module: str) -> str:
    """Return a module's name with hyphens for underscores, as users write it."""
    return module.replace("_", "-")


@cache
def _folders(package: str) -> list[Path]:
    """Return the folders of a package, found without importing it; empty if there is no such package."""
    spec = find_spec(package)
    return [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []


def one_line(fault: BaseException) -> str:
    """Return an exception's message on one line, or "no message" if its own code fails."""
    try:
        message = str(fault)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  code of others, as the exception itself
        message = "no message"
    return " ".join(message.split())


ROUTINES: Registry[Any] = Registry(
    "routine", "virl.routines", FunctionType, lambda: scan("virl.routines", "routine", "run")
)
"""Routines of characters; see `virl.agent.routine`."""
