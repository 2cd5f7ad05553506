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

_MODULES = {
    "Agent": "virl.api.types",
    "BenchmarkReport": "virl.api.benchmarks",
    "Camera": "virl.platform.city.streetview",
    "Catalogue": "virl.api.lists",
    "Character": "virl.api.characters",
    "City": "virl.platform.city.city",
    "Comparison": "virl.api.types",
    "Detection": "virl.api.types",
    "Finished": "virl.api.types",
    "LatLng": "virl.geo.globe",
    "Listed": "virl.api.lists",
    "OpenTools": "virl.api.tools",
    "Place": "virl.platform.city.places",
    "Pose": "virl.platform.city.streetview",
    "RecordedRun": "virl.api.types",
    "Route": "virl.platform.city.maps",
    "Step": "virl.api.types",
    "View": "virl.platform.city.streetview",
    "VirlError": "virl.errors",
    "agents": "virl.api.lists",
    "arun": "virl.api.running",
    "ask": "virl.api.asking",
    "benchmarks": "virl.api.lists",
    "cities": "virl.api.lists",
    "compare": "virl.api.running",
    "draw_detections": "virl.platform.perception.boxes",
    "minds": "virl.api.lists",
    "models": "virl.api.lists",
    "make_env": "virl.api.environments",
    "navigate": "virl.api.walking",
    "open_agent": "virl.api.running",
    "open_city": "virl.platform.providers.cities",
    "open_tools": "virl.api.tools",
    "read_benchmark": "virl.api.benchmarks",
    "read_run": "virl.api.running",
    "run": "virl.api.running",
    "run_benchmark": "virl.api.benchmarks",
    "save_geodataframes": "virl.platform.city.interchange",
    "to_folium": "virl.api.web_maps",
    "to_geodataframes": "virl.platform.city.interchange",
    "to_networkx": "virl.platform.city.interchange",
    "walk": "virl.api.walking",
}
"""Module of each public name, so that `import virl` imports none of them before use."""


def __getattr__(name: str) -> object:
    """Return the object with a public name, importing its module at the first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """Return all names of the module, sorted, with those not imported yet."""
    return sorted({*globals(), *__all__})
