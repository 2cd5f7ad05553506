"""Tool-using agents that live in real cities, and in one that needs no key."""

from importlib import import_module
from typing import TYPE_CHECKING

from virl.version import __version__ as __version__

if TYPE_CHECKING:
    from virl.api.asking import ask
    from virl.api.benchmarks import BenchmarkReport, read_benchmark, run_benchmark
    from virl.api.characters import Character
    from virl.api.environments import make_env
    from virl.api.lists import Catalogue, Listed, agents, benchmarks, cities, minds, models
    from virl.api.running import arun, compare, open_agent, read_run, run
    from virl.api.tools import OpenTools, open_tools
    from virl.api.types import Agent, Comparison, Detection, Finished, RecordedRun, Step
    from virl.api.walking import navigate, walk
    from virl.api.web_maps import to_folium
    from virl.errors import VirlError
    from virl.geo.globe import LatLng
    from virl.platform.city.city import City
    from virl.platform.city.interchange import save_geodataframes, to_geodataframes, to_networkx
    from virl.platform.city.maps import Route
    from virl.platform.city.places import Place
    from virl.platform.city.streetview import Camera, Pose, View
    from virl.platform.perception.boxes import draw_detections
    from virl.platform.providers.cities import open_city

__all__ = [
    "Agent",
    "BenchmarkReport",
    "Camera",
    "Catalogue",
    "Character",
    "City",
    "Comparison",
    "Detection",
    "Finished",
    "LatLng",
    "Listed",
    "OpenTools",
    "Place",
    "Pose",
    "RecordedRun",
    "Route",
    "Step",
    "View",
    "VirlError",
    "agents",
    "arun",
    "ask",
    "benchmarks",
    "cities",
    "compare",
    "draw_detections",
    "make_env",
    "minds",
    "models",
    "navigate",
    "open_agent",
    "open_city",
    "open_tools",
    "read_benchmark",
    "read_run",
    "run",
    "run_benchmark",
    "save_geodataframes",
    "to_folium",
    "to_geodataframes",
    "to_networkx",
    "walk",
]

_NAMES = {
    "virl.api.asking": ("ask",),
    "virl.api.benchmarks": ("BenchmarkReport", "read_benchmark", "run_benchmark"),
    "virl.api.characters": ("Character",),
    "virl.api.environments": ("make_env",),
    "virl.api.lists": ("Catalogue", "Listed", "agents", "benchmarks", "cities", "minds", "models"),
    "virl.api.running": ("arun", "compare", "open_agent", "read_run", "run"),
    "virl.api.tools": ("OpenTools", "open_tools"),
    "virl.api.types": ("Agent", "Comparison", "Detection", "Finished", "RecordedRun", "Step"),
    "virl.api.walking": ("navigate", "walk"),
    "virl.api.web_maps": ("to_folium",),
    "virl.errors": ("VirlError",),
    "virl.geo.globe": ("LatLng",),
    "virl.platform.city.city": ("City",),
    "virl.platform.city.interchange": ("save_geodataframes", "to_geodataframes", "to_networkx"),
    "virl.platform.city.maps": ("Route",),
    "virl.platform.city.places": ("Place",),
    "virl.platform.city.streetview": ("Camera", "Pose", "View"),
    "virl.platform.perception.boxes": ("draw_detections",),
    "virl.platform.providers.cities": ("open_city",),
}
"""Public names by their modules, none of which `import virl` imports before use."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Return the object with a public name, importing its module at the first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """Return all names of the module, sorted, with those not imported yet."""
    return sorted({*globals(), *__all__})
