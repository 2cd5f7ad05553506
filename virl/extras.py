"""The packages of virl's extras: checked and imported where a part of virl needs them."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from virl.errors import ModelUnavailable, VirlError, first_line

PACKAGES = {
    "eyes": ("cv2", "numba", "onnxruntime", "rapidocr"),
    "mcp": ("mcp", "h11", "uvicorn"),
    "osm": ("opening_hours", "osmium", "tzfpy"),
    "serve": ("fastapi", "uvicorn"),
}
"""Import names of the packages in extras that several parts of virl need."""


def require(extra: str, *packages: str, what: str = "", error: type[VirlError] = ModelUnavailable) -> None:
    """Raise `error` if a package of an extra is not installed; imports none.

    Args:
        extra: name of the extra of virl.
        packages: their names in an import, such as `"torch"`; none takes those of `PACKAGES`.
        what: what needs them, for the message, such as `"reading an extract"`.
        error: the error to raise.

    Raises:
        VirlError: `error`: a package is not installed.
    """
    missing = " and ".join(missing_packages(packages or PACKAGES[extra]))
    if missing:
        said = f"{what} needs {missing}" if what else f"{missing} not installed"
        raise error(f"{said}: pip install 'virl[{extra}]'")


def extra_of(package: str) -> str:
    """Return the extra of virl that brings a package, by its name in an import; empty if none does."""
    name = package.partition(".")[0]
    return next((extra for extra, packages in PACKAGES.items() if name in packages), "")


def missing_packages(packages: Iterable[str]) -> list[str]:
    """Return the packages, by names in an import, that are not installed; imports none."""
    return [name for name in packages if find_spec(name) is None]


def module(name: str, *, extra: str) -> Any:
    """Return a module of an extra, imported.

    Raises:
        ModelUnavailable: it is not installed, or cannot be imported.
    """
    require(extra, name.partition(".")[0])
    try:
        return import_module(name)
    except ImportError as fault:
        raise ModelUnavailable(
            f"{name} cannot be imported ({first_line(fault)}): pip install --upgrade 'virl[{extra}]'"
        ) from fault


class Late:
    """A module of an extra that is imported at the first use of one of its names.

    Args:
        name: of the module in an import.
        extra: of virl.
    """

    def __init__(self, name: str, *, extra: str) -> None:
        self._name, self._extra = name, extra

    def __getattr__(self, name: str) -> Any:
        """Return a member of the module by name, importing the module first.

        Raises:
            ModelUnavailable: the module is not installed, or cannot be imported.
        """
        found = getattr(module(self._name, extra=self._extra), name)
        setattr(self, name, found)
        return found
