"""The kinds of models: which code stands behind the `kind` of a model file.

Each module of the folder of a role, such as `detectors/grounding_dino.py`, holds one as `KIND`: there,
`grounding-dino`. Other packages add kinds by the entry-point group `virl.models`: the name is the kind, the
object a `Kind`. Nothing is imported before it is asked for, and no kind loads a framework before it is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from virl.errors import ModelUnavailable
from virl.platform.perception.base import Role
from virl.platform.perception.model_settings import ModelSettings
from virl.registry import Registry, load, scan_modules

__all__ = ["KINDS", "ROLES", "Kind", "Role", "find_kind", "kind_names", "resolve"]

T = TypeVar("T")

ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Kind:
    """The code behind one `kind`. Instead of an object, `"module:name"` may say where it is."""

    role: Role
    settings: type[ModelSettings] | str
    """The model of its model files."""
    opener: Callable[[Any, Any], object] | str
    """A function from those settings and a `Models` to the model, without loading its weights."""
    models: Path | None = None
    """A folder of model files that come with it; those of virl's own lie in `platform/models/`."""


def _own_kinds() -> dict[str, str]:
    """Return the place of each kind of virl's own, by name."""
    folders = (f"virl.platform.perception.{role}s" for role in ROLES)
    return {kind: where for folder in folders for kind, where in scan_modules(folder, "KIND").items()}


KINDS: Registry[Kind] = Registry(
    kind="kind of model",
    group="virl.models",
    expected=Kind,
    builtin=_own_kinds,
    aliases=("virl.model_kinds",),
)
"""virl's own, and those of other packages."""


def find_kind(name: str) -> Kind:
    """Find the kind of this name, virl's own or a plug-in's.

    Raises:
        UnknownName: there is none.
        ModelUnavailable: a plug-in cannot be imported.
        BadInput: a plug-in's entry point is no `Kind`, or two packages give the same kind.
    """
    return KINDS.find(name)


def kind_names() -> list[str]:
    """Return all kinds, sorted, those of plug-ins included."""
    return KINDS.names()


def resolve(part: T | str) -> T:
    """Return a part of a kind, imported if it is given as `"module:name"`.

    Raises:
        ModelUnavailable: it cannot be imported.
    """
    if not isinstance(part, str):
        return part
    try:
        found: T = load(part)
    except (ImportError, AttributeError) as fault:
        raise ModelUnavailable(f"{part} cannot be imported ({fault}): install what it needs") from fault
    return found
