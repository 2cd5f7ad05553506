"""What can be had by name: routines, providers, models and benchmarks, virl's own and other packages'.

virl's own are found by scanning its folders, those of other packages by their entry points. Nothing is
imported before it is asked for, and a package that is broken leaves the others usable.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from virl.errors import BadInput, ModelUnavailable, UnknownName

T = TypeVar("T")

OURS = "virl"
"""Who provides what is found in virl's own folders."""


@dataclass(frozen=True, slots=True)
class Registry(Generic[T]):
    """The things of one kind, by name."""

    kind: str
    """What they are called in errors, such as `"provider"`."""
    group: str
    """The entry-point group of other packages."""
    expected: type[T]
    """What each must be an instance of."""
    builtin: Callable[[], Mapping[str, str]]
    """virl's own: names and where each is, as `"module:object"` (see `scan`)."""
    aliases: tuple[str, ...] = field(default=())
    """Earlier names of the entry-point group."""

    def names(self) -> list[str]:
        """All names, sorted; what stands behind one may still be broken."""
        return sorted({*self.builtin(), *(entry.name for entry in self._entries())})

    def find(self, name: str) -> T:
        """What has this name.

        Raises:
            UnknownName: nothing has.
            ModelUnavailable: it cannot be imported; names the package and the fault.
            BadInput: it is not what it should be, or two packages give the same name.
        """
        entry = self._entry(name)
        found = self._load(entry)
        if not isinstance(found, self.expected):
            wanted = f"{self.expected.__module__}.{self.expected.__qualname__}"
            raise BadInput(f"{self.kind} {name!r} of {giver(entry)}: {entry.value} is not a {wanted}")
        return found

    def module(self, name: str) -> str:
        """The dotted name of the module that holds it; imports nothing.

        Raises:
            UnknownName: nothing has this name.
            BadInput: two packages give the same name.
        """
        return self._entry(name).module

    def _entry(self, name: str) -> EntryPoint:
        ours = self.builtin().get(name)
        found = [EntryPoint(name, ours, self.group)] if ours else []
        found += [entry for entry in self._entries() if entry.name == name]
        if not found:
            raise UnknownName(self.kind, name, self.names())
        if len({entry.value for entry in found}) > 1:
            givers = " and ".join(giver(entry) for entry in found)
            raise BadInput(f"{self.kind} {name!r} is given by {givers}: uninstall one of them")
        return found[0]

    def _entries(self) -> list[EntryPoint]:
        return [entry for group in (self.group, *self.aliases) for entry in entry_points(group=group)]

    def _load(self, entry: EntryPoint) -> object:
        try:
            return load(entry.value)
        except Exception as fault:
            raise ModelUnavailable(
                f"{self.kind} {entry.name!r} of {giver(entry)} cannot be imported "
                f"({type(fault).__name__}: {one_line(fault)}): install what it needs, or update or uninstall it"
            ) from fault


def giver(entry: EntryPoint) -> str:
    """The package that an entry point belongs to."""
    return entry.dist.name if entry.dist else OURS


def load(reference: str) -> Any:
    """The object that `"module:name"` names.

    Raises:
        Exception: whatever importing the module raises; `AttributeError` if it lacks the name.
    """
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def scan(package: str, module: str, name: str) -> dict[str, str]:
    """Where the folders of a package hold a `module.py`; imports nothing but the package.

    Args:
        package: such as `"virl.routines"`.
        module: the file that each folder of the shape has, such as `"routine"`.
        name: the object in it.

    Returns:
        `"package.folder.module:name"` by the folder's name, with `-` for `_`.
    """
    spec = find_spec(package)
    roots = (spec.submodule_search_locations or ()) if spec else ()
    folders = sorted(path.parent.name for root in roots for path in Path(root).glob(f"*/{module}.py"))
    return {
        folder.replace("_", "-"): f"{package}.{folder}.{module}:{name}" for folder in folders
    }


def one_line(fault: BaseException) -> str:
    """What an exception says, without line breaks."""
    return " ".join(str(fault).split())
