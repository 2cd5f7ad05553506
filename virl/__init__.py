"""Tool-using agents that live in real cities, and in one that needs no key."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from virl.platform.geoframes import save_geodataframes, to_geodataframes
    from virl.platform.networks import to_networkx

__version__ = "0.1.0"

__all__ = ["save_geodataframes", "to_geodataframes", "to_networkx"]

_MODULES = {
    "save_geodataframes": "virl.platform.geoframes",
    "to_geodataframes": "virl.platform.geoframes",
    "to_networkx": "virl.platform.networks",
}
"""Where each function is, so that `import virl` loads none of them."""


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
