"""Observations from the graph alone, from pictures put into words, and from files that NavGPT publishes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import degrees, tau
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from virl.errors import BadInput, NoStreetView
from virl.files.json_reading import misfits
from virl.geo.globe import normalize_heading
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.streetview import Camera, Link, StreetView
from virl.platform.navigators.follower.streets import MapInWords
from virl.platform.navigators.navgpt.observation import (
    DIRECTIONS,
    SECTOR_DEG,
    Observations,
    Thing,
    ViewpointObservation,
)
from virl.platform.perception.base import Describer

VIEW_FOV = 45.0  # NavGPT section 3.2: as wide as a sector, so that eight views meet and do not overlap
"""Width of a view in degrees."""


@dataclass(frozen=True, slots=True)
class GraphObservations:
    """A source of observations that have only the ways from a viewpoint, and no views."""

    graph: NavigationGraph

    name: ClassVar[str] = "graph"
    """Name of the source in results."""

    def at(self, viewpoint: str) -> ViewpointObservation:
        """Return the observation of the links that leave a viewpoint; no pictures are needed."""
        return ViewpointObservation(viewpoint, ways_from(self.graph, viewpoint))


@dataclass(frozen=True, slots=True)
class MappedObservations:
    """A source that adds, from a map, the ends of streets to another source's observations."""

    seen: Observations
    map: MapInWords

    @property
    def name(self) -> str:
        """Name of the source in results, such as `"graph, map in words"`."""
        return f"{self.seen.name}, map in words"

    def at(self, viewpoint: str) -> ViewpointObservation:
        """Return the observation at a viewpoint, with the ends of its streets by the map."""
        beyond = self.map.street_ends(self.map.graph.number(viewpoint))
        return replace(self.seen.at(viewpoint), beyond=beyond)


@dataclass(frozen=True, slots=True)
class DescribedObservations:
    """A source of observations by level views in eight directions, each described once in words."""

    graph: NavigationGraph
    streetview: StreetView
    describer: Describer
    width: int = 640
    """Width of a view in pixels."""
    height: int = 640
    """Height of a view in pixels."""
    _seen: dict[str, ViewpointObservation] = field(default_factory=dict, repr=False)

    name: ClassVar[str] = "described"
    """Name of the source in results."""

    def at(self, viewpoint: str) -> ViewpointObservation:
        """Return the observation at a viewpoint, its views described once and remembered.

        Raises:
            ModelUnavailable: the describer's model is missing.
        """
        if viewpoint not in self._seen:
            ways = ways_from(self.graph, viewpoint)
            cameras = [
                Camera(index * SECTOR_DEG, fov=VIEW_FOV, width=self.width, height=self.height)
                for index in range(len(DIRECTIONS))
            ]
            views = [self.streetview.view(viewpoint, camera) for camera in cameras]
            self._seen[viewpoint] = ViewpointObservation(
                viewpoint, ways, tuple(self.describer.describe(views))
            )
        return self._seen[viewpoint]


def ways_from(graph: NavigationGraph, viewpoint: str) -> tuple[Link, ...]:
    """Return the links that leave a node, by its id, each neighbour once and the node itself never.

    Raises:
        NoStreetView: the graph has no node of that id.
    """
    node = graph.number(viewpoint)
    ways: dict[int, Link] = {}
    for index in range(graph.links(node).start, graph.links(node).stop):
        target = int(graph.target[index])
        if target != node:
            way = Link(graph.ids[target], float(graph.heading[index]), float(graph.length[index]))
            ways.setdefault(target, way)
    return tuple(ways.values())


SHOWN_FAULTS = 5  # chosen: enough to see what is wrong with a set of files

ContentT = TypeVar("ContentT")


class _Object(BaseModel):
    """An object in a file of published observations."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    heading: float
    """Direction from the viewpoint, degrees clockwise from north."""
    distance: float = Field(ge=0)
    """Distance from the viewpoint in metres."""


class _PublishedWay(BaseModel):
    """A way to a neighbour in a file of published observations."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    heading: float = Field(ge=-2 * tau, le=2 * tau)
    """Direction to the neighbour in radians clockwise from north, [-2 pi, 2 pi]; others are refused."""
    distance: float = Field(ge=0)
    """Distance to the neighbour in metres."""


_Eight = Field(min_length=8, max_length=8)
_SENTENCES = TypeAdapter(dict[str, Annotated[tuple[str, ...], _Eight]])
_SUMMARIES = TypeAdapter(dict[str, str])
_OBJECTS = TypeAdapter(dict[str, Annotated[tuple[dict[str, _Object], ...], _Eight]])
_WAYS = TypeAdapter(dict[str, dict[str, _PublishedWay]])


@dataclass(frozen=True, slots=True)
class PublishedObservations:
    """A source of observations that were made beforehand, read by `read_published`."""

    observations: Mapping[str, ViewpointObservation]

    name: ClassVar[str] = "published"
    """Name of the source in results."""

    def at(self, viewpoint: str) -> ViewpointObservation:
        """Return the observation at a viewpoint that was made beforehand; no pictures are needed."""
        try:
            return self.observations[viewpoint]
        except KeyError:
            raise NoStreetView(f"no viewpoint has the id {viewpoint!r}") from None


def read_published(folder: Path, scan: str, graph: NavigationGraph) -> PublishedObservations:
    """Return the observations in the files of one scan, checked against its graph.

    `observations_list_summarized/SCAN.json` (eight sentences a viewpoint, north first, clockwise) and
    `navigable/SCAN_navigable.json` (the neighbours of each: `heading` in radians, `distance` in metres) must
    be there. `objects_list/SCAN.json` (eight maps a viewpoint, name to `heading` in degrees and `distance`)
    and `observations_summarized/SCAN_summarized.json` (a sentence a viewpoint) may be missing: walks then
    see no objects, or have summaries written as they go. Each may also be called just `SCAN.json`.

    Args:
        folder: path of the folder that holds the four.
        scan: name of the scan.
        graph: the scan's graph; every viewpoint of it must be described, and every neighbour linked in it.

    Raises:
        BadInput: a file is missing or has other content; the message names the file and its first faults.
    """
    sentences = _read(_find(folder, "observations_list_summarized", f"{scan}.json", scan), _SENTENCES)
    ways_file = _find(folder, "navigable", f"{scan}_navigable.json", scan)
    ways = _read(ways_file, _WAYS)
    objects = _read_if_there(folder / "objects_list", f"{scan}.json", scan, _OBJECTS)
    summaries = _read_if_there(
        folder / "observations_summarized", f"{scan}_summarized.json", scan, _SUMMARIES
    )
    for what, held in (("sentences", sentences), ("neighbours", ways), ("objects", objects)):
        if held is not None and (lacking := [one for one in graph.ids if one not in held]):
            raise _to_error(folder, [f"{scan}: no {what} for {one}" for one in lacking])
    linked = {viewpoint: {way.pano_id for way in ways_from(graph, viewpoint)} for viewpoint in graph.ids}
    if strays := [(here, there) for here in graph.ids for there in ways[here] if there not in linked[here]]:
        raise _to_error(
            ways_file, [f"{here}: {there} is not linked to it in the graph" for here, there in strays]
        )
    return PublishedObservations(
        {
            viewpoint: ViewpointObservation(
                viewpoint,
                tuple(
                    Link(other, normalize_heading(degrees(way.heading)), way.distance)
                    for other, way in ways[viewpoint].items()
                ),
                sentences[viewpoint],
                None if objects is None else _to_things(objects[viewpoint]),
                "" if summaries is None else summaries.get(viewpoint, ""),
            )
            for viewpoint in graph.ids
        }
    )


def _to_things(sectors: tuple[dict[str, _Object], ...]) -> tuple[Thing, ...]:
    """Return the objects of all eight sectors, sector 0 (north) first."""
    return tuple(
        Thing(name, normalize_heading(one.heading), one.distance)
        for seen in sectors
        for name, one in seen.items()
    )


def _find(folder: Path, part: str, name: str, scan: str) -> Path:
    """Return the path of a scan's file in the subfolder `part`; raise `BadInput` if it is missing."""
    path = _existing_file(folder / part, name, scan)
    if path is None:
        raise BadInput(f"{folder / part / name}: no such file: put NavGPT's observations of {scan} there")
    return path


def _read_if_there(folder: Path, name: str, scan: str, content: TypeAdapter[ContentT]) -> ContentT | None:
    """Return the checked content of a scan's file in a folder; `None` if there is no file."""
    path = _existing_file(folder, name, scan)
    return None if path is None else _read(path, content)


def _existing_file(folder: Path, name: str, scan: str) -> Path | None:
    """Return the path of the file `name`, or else of the scan's own JSON file; `None` if neither exists."""
    return next((path for path in (folder / name, folder / f"{scan}.json") if path.is_file()), None)


def _read(path: Path, content: TypeAdapter[ContentT]) -> ContentT:
    """Return the content of a JSON file; raise `BadInput` if it cannot be read or has another form."""
    try:
        return content.validate_json(path.read_bytes())
    except OSError as fault:
        raise BadInput(f"{path}: cannot be read ({fault.strerror})") from fault
    except ValidationError as invalid:
        raise _to_error(path, misfits(invalid, "file")) from None


def _to_error(path: Path, faults: list[str]) -> BadInput:
    """Return the error for a file or folder with faults: the first `SHOWN_FAULTS`, and how many more."""
    more = f" (and {len(faults) - SHOWN_FAULTS} more)" if len(faults) > SHOWN_FAULTS else ""
    return BadInput(f"{path}: {'; '.join(faults[:SHOWN_FAULTS])}{more}")
