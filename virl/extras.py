"""The packages of virl's extras: checked and imported where a part of virl needs them."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from virl.errors import ModelUnavailable, VirlError, first_line

PACKAGES = {
    "eyes": ("cv2", "numba", "onnxruntime", "rapidocr"),
    "film": ("av",),
    "mcp": ("mcp", "h11", "uvicorn"),
    "osm": ("opening_hours", "osmium", "tzfpy"),
    "serve": ("fastapi", "uvicorn"),
}
"""Import names of packages, by the extra of virl that brings them; for extras that several parts need."""


def require(extra: str, *packages: str, what: str = "", error: type[VirlError] = ModelUnavailable) -> None:
    """Raise `error` if an extra's package is not installed; `what`: the work that needs it. Imports nothing.

    Args:
        extra: the name of virl's extra, such as "osm".
        packages: import names of its packages, such as "torch"; without any, those of `PACKAGES`.
        what: the subject of the message, such as "reading an extract"; may be empty.
        error: the class of the error.

    Raises:
        VirlError: an `error`, if a package is not installed.
    """
    missing = " and ".join(missing_packages(packages or PACKAGES[extra]))
    if missing:
        reason = f"{what} needs {missing}" if what else f"{missing} not installed"
        raise error(f"{reason}: pip install 'virl[{extra}]'")


def extra_of(package: str) -> str:
    """Return the extra of virl that brings a package, by the package's import name; empty if none does."""
    name = package.partition(".")[0]
    return next((extra for extra, packages in PACKAGES.items() if name in packages), "")


def missing_packages(packages: Iterable[str]) -> list[str]:
    """Return those of the packages, given by import names, that are not installed; import none."""
    return [name for name in packages if find_spec(name) is None]


def module(name: str, *, extra: str) -> Any:
    """Return a module by its dotted name, imported; it belongs to a package of an extra.

    Raises:
        ModelUnavailable: the module is not installed, or cannot be imported.
    """
    require(extra, name.partition(".")[0])
    try:
        return import_module(name)
    except ImportError as fault:
        raise ModelUnavailable(
            f"{name} cannot be imported ({first_line(fault)}): pip install --upgrade 'virl[{extra}]'"
        ) from fault


class Late:
    """A module of an extra that is imported at the first use of one of its names."""

    def __init__(self, name: str, *, extra: str) -> None:
        """Keep the module's dotted name and the name of virl's extra; import nothing."""
        self._name, self._extra = name, extra

    def __getattr__(self, name: str) -> Any:
        """Return a member of the module by name, importing the module first.

        Raises:
            ModelUnavailable: the module is not installed, or cannot be imported.
        """
        found = getattr(module(self._name, extra=self._extra), name)
        setattr(self, name, found)
        return found
