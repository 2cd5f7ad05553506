"""Visual memory: sightings go in, objects come out, each once, with a position."""

from virl.errors import CannotWrite
from virl.platform.perception.memory.log import MemoryBroken
from virl.platform.perception.memory.memory import VisualMemory
from virl.platform.perception.memory.objects import (
    Comparison,
    Estimate,
    MemoryObject,
    Opinion,
    Seen,
    Verdict,
    geojson,
    write_csv,
    write_geojson,
)
from virl.platform.perception.memory.settings import MemorySettings, Rules, memory_settings

__all__ = [
    "CannotWrite",
    "Comparison",
    "Estimate",
    "MemoryBroken",
    "MemoryObject",
    "MemorySettings",
    "Opinion",
    "Rules",
    "Seen",
    "Verdict",
    "VisualMemory",
    "geojson",
    "memory_settings",
    "write_csv",
    "write_geojson",
]
