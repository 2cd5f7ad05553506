"""Tool-using agents that live in real cities, and in one that needs no key."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from virl.api.characters import Character
    from virl.api.running import open_agent, run
    from virl.api.tools import tools_of
    from virl.geo import LatLng
    from virl.platform.geoframes import save_geodataframes, to_geodataframes
    from virl.platform.networks import to_networkx
    from virl.platform.providers.open import open_city

__version__ = "0.1.0"

__all__ = [
    "Character",
    "LatLng",
    "open_agent",
    "open_city",
    "run",
    "save_geodataframes",
    "to_geodataframes",
    "to_networkx",
    "tools_of",
]

_MODULES = {
    "Character": "virl.api.characters",
    "LatLng": "virl.geo",
    "open_agent": "virl.api.running",
    "open_city": "virl.platform.providers.open",
    "run": "virl.api.running",
    "save_geodataframes": "virl.platform.geoframes",
    "to_geodataframes": "virl.platform.geoframes",
    "to_networkx": "virl.platform.networks",
    "tools_of": "virl.api.tools",
}
"""Where each name is, so that `import virl` loads none of them."""


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
