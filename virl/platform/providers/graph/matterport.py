"""Buildings of Matterport3D as R2R walks them: `SCAN_connectivity.json`, and the episodes of `R2R_*.json`."""

import logging
from collections.abc import Sequence
from math import degrees
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from virl.files.json_reading import JsonFault, misfits, read_json
from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.graph import InstructionEpisode, NavigationGraph, build_graph
from virl.platform.providers.graph.data_files import (
    EpisodeFile,
    FileFault,
    GraphFault,
    json_fault,
    keep_distinct,
    raise_faults,
)

FRAME = LocalFrame(LatLng(0.0, 0.0))
"""Frame that puts a building's metres on Earth: the scan's origin at 0, 0 degrees, its y axis northward."""

_SUFFIX = "_connectivity.json"
"""Ending of the name of a building's file, after the name of its scan."""
_log = logging.getLogger(__name__)


class _Viewpoint(BaseModel):
    """A viewpoint in a connectivity file, as far as its fields are read."""

    model_config = ConfigDict(strict=True, frozen=True)

    image_id: str = Field(min_length=1)
    """Id of the viewpoint, and of its panorama."""
    pose: Annotated[list[FiniteFloat], Field(min_length=16, max_length=16)]
    """4x4 matrix by rows; its last column is the camera's position in metres, z up."""
    included: bool
    """True for a viewpoint that is a node of the graph."""
    unobstructed: list[bool]
    """True for each viewpoint of the file that can be walked to from here."""


class _Route(BaseModel):
    """An entry of an R2R file: a path with its instructions."""

    model_config = ConfigDict(strict=True, frozen=True)

    path_id: int | str
    """Id of the path."""
    scan: str = Field(min_length=1)
    """Name of the scan of the building."""
    heading: FiniteFloat
    """Heading at the start, radians clockwise from the scan's y axis."""
    path: list[str] = Field(min_length=1)
    """Ids of the viewpoints along the path."""
    instructions: list[str] = Field(min_length=1)
    """Texts that tell the way along the path, each an episode of its own."""


_EntryT = TypeVar("_EntryT", _Viewpoint, _Route)


def scan_names(folder: Path) -> list[str]:
    """Return the names of the scans in a folder such as `r2r/connectivity`, sorted."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in folder.glob(f"*{_SUFFIX}"))


def read_matterport(folder: Path, scan: str) -> NavigationGraph:
    """Return the navigation graph of a building, checked, from `SCAN_connectivity.json` in a folder.

    Its nodes are the viewpoints that are `included`, and a link leads wherever the way is `unobstructed`, in
    the order of the file. A link is as long as the straight line in space; its heading is measured on the
    floor, clockwise from the scan's y axis, as the Matterport3D simulator does. Metres east (x) and north (y)
    are placed by `FRAME`; `height` is z.

    Raises:
        GraphFault: the file has faults; all of them are listed.
    """
    file = folder / f"{scan}{_SUFFIX}"
    viewpoints, faults = _read_entries(file, _Viewpoint)
    raise_faults(faults)
    raise_faults(_check_viewpoints(file, viewpoints))
    included = np.array([viewpoint.included for viewpoint in viewpoints])
    unobstructed = np.array([viewpoint.unobstructed for viewpoint in viewpoints])
    ways = unobstructed[np.ix_(included, included)]
    one_way = int(np.sum(ways & ~ways.T))
    if one_way:
        _log.warning("%s: %d ways are unobstructed in one direction only", file, one_way)
    x, y, z = np.array([viewpoint.pose for viewpoint in viewpoints])[included][:, [3, 7, 11]].T
    source, target = np.nonzero(ways)
    east, north, up = (axis[target] - axis[source] for axis in (x, y, z))
    return build_graph(
        [viewpoint.image_id for viewpoint in viewpoints if viewpoint.included],
        *FRAME.to_degrees(x, y),
        source,
        target,
        np.degrees(np.arctan2(east, north)),
        np.sqrt(east**2 + north**2 + up**2),
        height=z,
    )


def read_r2r_episodes(file: Path) -> list[InstructionEpisode]:
    """Return the episodes of a file such as `R2R_val_unseen.json`, one for each instruction.

    Raises:
        GraphFault: an entry has a fault; all of them are listed.
    """
    found = read_r2r_file(file)
    raise_faults(found.faults)
    return list(found.episodes)


def read_r2r_file(file: Path) -> EpisodeFile:
    """Return the good episodes of an R2R file, and the faults of the others.

    Raises:
        GraphFault: the file is missing, or is no JSON list.
    """
    routes, faults = _read_entries(file, _Route)
    found = [
        InstructionEpisode(
            id=f"{route.path_id}_{number}",
            instruction=instruction,
            path=tuple(route.path),
            heading=degrees(route.heading) % 360.0,
            scan=route.scan,
        )
        for route in routes
        for number, instruction in enumerate(route.instructions)
    ]
    return keep_distinct(file, [(0, episode) for episode in found], faults)


def _read_entries(file: Path, kind: type[_EntryT]) -> tuple[list[_EntryT], list[FileFault]]:
    """Return (good entries of a kind, faults of the others) of a JSON list of at least one entry."""
    try:
        items = read_json(file.read_bytes())
    except FileNotFoundError:
        raise GraphFault([FileFault(file, 0, "no such file")]) from None
    except OSError as fault:
        raise GraphFault([FileFault(file, 0, f"cannot be read ({fault.strerror})")]) from fault
    except JsonFault as fault:
        raise GraphFault([json_fault(file, fault)]) from None
    if not isinstance(items, list) or not items:
        raise GraphFault([FileFault(file, 0, "should be a JSON list of at least one entry")])
    entries: list[_EntryT] = []
    faults = []
    for number, item in enumerate(items):
        try:
            entries.append(kind.model_validate(item))
        except ValidationError as fault:
            faults.append(FileFault(file, 0, f"entry {number}: {'; '.join(misfits(fault))}"))
    return entries, faults


def _check_viewpoints(file: Path, viewpoints: Sequence[_Viewpoint]) -> list[FileFault]:
    """Return the faults of a building's viewpoints: repeated ids and wrong links."""
    faults = []
    first: dict[str, int] = {}
    for number, viewpoint in enumerate(viewpoints):
        name = f"entry {number} ({viewpoint.image_id!r}): "
        if first.setdefault(viewpoint.image_id, number) != number:
            faults.append(f"{name}entry {first[viewpoint.image_id]} has the same image_id")
        if len(viewpoint.unobstructed) != len(viewpoints):
            faults.append(
                f"{name}unobstructed has {len(viewpoint.unobstructed)} values, not {len(viewpoints)}"
            )
        elif viewpoint.unobstructed[number]:
            faults.append(f"{name}unobstructed leads from the viewpoint to itself")
    if not any(viewpoint.included for viewpoint in viewpoints):
        faults.append("no viewpoint is included")
    return [FileFault(file, 0, text) for text in faults]
