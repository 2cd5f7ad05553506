"""Street view of shared pictures over a graph that grows as a walk goes on, and maps and streets over it."""

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache, partial
from math import floor, pi
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from virl.errors import NoImagery, ProviderError
from virl.files.writing import write_whole
from virl.geo.globe import Floats, LatLng
from virl.geo.region import Region
from virl.osm.box import box_around
from virl.platform.city.graph import NavigationGraph, panorama_at, panorama_near
from virl.platform.city.maps import Address, Maps, ReverseMaps, Route, TravelMode, walked_route
from virl.platform.city.streetview import Attitude, Camera, Image, Panorama, View
from virl.platform.providers.http.replies import picture
from virl.platform.providers.open.cells import Cell, cells_around, cells_of
from virl.platform.providers.open.picture_services import PictureClient, Shot, TileMatrix
from virl.platform.providers.open.shots import KeptPictures, ShotLists, pictures_of
from virl.platform.providers.pictures.graph import PictureGraph, picture_graph
from virl.platform.providers.pictures.picture import FULL_TURN, Picture, credit_line
from virl.platform.providers.pictures.projection import Equirectangular, TiledPanorama, view_of, whole_of
from virl.platform.providers.pictures.streetview import GraphStreetMap

EDGE_M = 60.0
"""Distance in metres to the edge of the known pictures below which more are asked for; chosen."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Extent:
    """The area and the latest day of the pictures of a graph."""

    start: LatLng
    """Position that decides which connected part of the graph is kept."""
    region: Region | None
    """Region whose pictures are asked for at once; `None` to ask for more as a walk goes on."""
    reach_m: float
    """Radius in metres around the start whose pictures are asked for first, without a region."""
    as_of: date | None = None
    """Last day on which pictures may have been taken; `None` for no limit."""


class _State(BaseModel):
    """The squares and panoramas that runs have seen, kept in a file so that later runs find the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    """Version of the file's format."""
    cells: tuple[tuple[int, int, int], ...]
    """Squares as (zoom, column, row)."""
    panoramas: tuple[str, ...]
    """Ids of the panoramas in the graph."""


class ExploredGraph:
    """A panorama graph that is built on first use and grows as a walk goes on. Safe for several threads.

    Args:
        lists: lists of the pictures in squares.
        extent: area and latest day of the pictures.
        ways: walkable ways, split at their junctions, on which pictures are placed.
        folder: folder with the squares and panoramas that runs have seen; `None` keeps none.
        may_keep: function (author, licence) that says whether a picture may be kept and passed on; others
            are left out.
    """

    def __init__(
        self,
        lists: ShotLists,
        extent: Extent,
        ways: Sequence[Sequence[LatLng]] = (),
        folder: Path | None = None,
        may_keep: Callable[[str, str], bool] = lambda *_: True,
    ) -> None:
        """Prepare a graph of pictures in an extent, linked along `ways`; `folder` keeps what runs saw."""
        self._lists = lists
        self._may_keep = may_keep
        self._extent = extent
        self._ways = ways
        # Runs with the same extent share a file, so that later ones find the same panoramas.
        values = json.dumps([*extent.start, extent.reach_m, str(extent.as_of)]).encode()
        name = f"{hashlib.sha256(values).hexdigest()[:24]}.json"
        self._file = folder / name if folder and extent.region is None else None
        self._cells: set[Cell] = set()
        self._shots: dict[str, Shot] = {}
        self._made: PictureGraph | None = None
        self._lock = threading.RLock()

    @property
    def graph(self) -> PictureGraph:
        """Graph as far as it is known now; built if there is none yet.

        Raises:
            NoStreetView: there are no pictures.
            ProviderError: the service fails.
        """
        with self._lock:
            extent = self._extent
            if self._made is None and extent.region:
                self._grow(cells_of(box_around(extent.region)))
            elif self._made is None:
                state = self._load_state()
                known = {Cell(*one) for one in state.cells} if state else set()
                first = cells_around(extent.start, extent.reach_m)
                self._save(self._grow(first | known, state.panoramas if state else ()))
            assert self._made is not None  # noqa: S101  # `_grow` has made it
            return self._made

    def graph_around(self, position: LatLng) -> PictureGraph:
        """Return the graph, grown first if a position is near the edge of what is known.

        Raises:
            NoStreetView: there are no pictures.
            ProviderError: the service fails.
        """
        with self._lock:
            made = self.graph
            if self._extent.region is None and (more := cells_around(position, EDGE_M) - self._cells):
                made = self._grow(more, tuple(made.graph.ids))
                self._save(made)
            return made

    def credits(self) -> str:
        """Return a line of the authors and licences of all known panoramas; asks no service."""
        with self._lock:
            return credit_line(self._made.pictures.values(), "Pictures by", most=None) if self._made else ""

    def shot(self, pano_id: str) -> Shot:
        """Return the shared picture of a panorama in the graph."""
        with self._lock:
            return self._shots[pano_id]

    def lines(self) -> Sequence[Sequence[LatLng]]:
        """Return the streets known so far as positions along links, from crossing to crossing or dead end."""
        return GraphStreetMap(self.graph.graph).lines()

    def panorama_ids(self) -> Sequence[str]:
        """Return the ids of all panoramas known so far, in a fixed order."""
        return self.graph.graph.ids

    def _grow(self, cells: set[Cell], known: tuple[str, ...] = ()) -> PictureGraph:
        """Add the pictures of squares to the graph and return it; panoramas with the ids `known` stay."""
        region = self._extent.region
        listed = [shot for cell in sorted(cells) for shot in self._lists.of(cell)]
        inside = [shot for shot in listed if region is None or region.contains(shot.position)]
        shown = {shot.id: shot for shot in inside if self._may_keep(shot.author, shot.licence)}
        if len(shown) < len(inside):
            _log.warning(
                "%d of %d pictures are left out: they name no author, or no licence that allows to keep and "
                "share them",
                len(inside) - len(shown),
                len(inside),
            )
        self._shots |= shown
        self._cells |= cells
        as_of = self._extent.as_of
        self._made = picture_graph(
            pictures_of(self._shots.values()),
            start=self._extent.start,
            ways=self._ways,
            as_of=datetime.combine(as_of, time.max, UTC) if as_of else None,
            known=known,
        )
        _log.info("%d pictures, %d panoramas", len(self._shots), len(self._made.graph))
        return self._made

    def _load_state(self) -> _State | None:
        """Return the squares and panoramas that earlier runs have seen; `None` without a readable file."""
        try:
            return _State.model_validate_json(self._file.read_bytes()) if self._file else None
        except (OSError, ValidationError):
            return None

    def _save(self, made: PictureGraph) -> None:
        """Keep the squares and panoramas seen so far in a file."""
        if self._file:
            state = _State(
                cells=tuple((cell.zoom, cell.x, cell.y) for cell in sorted(self._cells)),
                panoramas=made.graph.ids,
            )
            write_whole(self._file, state.model_dump_json().encode(), "run it again")


@dataclass(eq=False)
class GrowingMaps:
    """Maps over a panorama graph that may grow."""

    explored: ExploredGraph
    """Graph of the panoramas."""
    make: Callable[[NavigationGraph], Maps]
    """Function from a graph to the maps over it."""
    _made: tuple[NavigationGraph, Maps] | None = None
    """Last graph for which maps were made, and these maps; `None` before the first use."""

    def geocode(self, address: str) -> LatLng:
        """Return the position of an address, or of the place that a text names."""
        return self._current.geocode(address)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the shortest route through two or more stops, in their order."""
        return self._current.route(stops, mode)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return the seconds from every origin to every destination, shape (origins, destinations)."""
        return self._current.travel_times(origins, destinations, mode)

    def address_at(self, position: LatLng, radius: float) -> Address | None:
        """Return the nearest address within `radius` metres; `None` if none is known."""
        maps = self._current
        return maps.address_at(position, radius) if isinstance(maps, ReverseMaps) else None

    def panorama_route(self, stops: Sequence[LatLng]) -> Route:
        """Return the shortest route from panorama to panorama through two or more stops, in their order."""
        return walked_route(self._current, stops)

    @property
    def _current(self) -> Maps:
        """Maps over the graph as it is now, made anew when it has grown."""
        graph = self.explored.graph.graph
        if self._made is None or self._made[0] is not graph:
            self._made = graph, self.make(graph)
        return self._made[1]


def tiled_panorama(tiles: TileMatrix, attitude: Attitude, fetch: Callable[[str], Image]) -> TiledPanorama:
    """Return a panorama whose tiles are fetched as views need them; none is fetched yet.

    Args:
        tiles: number and size of the tiles.
        attitude: attitude of the camera that took the panorama.
        fetch: function from the name of a part, such as `tile-3-1`, to its RGB pixels.
    """
    width = round(tiles.columns * tiles.side / 2) * 2
    return TiledPanorama(
        (width, width // 2),
        floor(tiles.side),
        (tiles.columns, tiles.rows),
        attitude,
        lambda tile: fetch(f"tile-{tile[0]}-{tile[1]}"),
    )


SD_WIDTH = 2048
"""Width in pixels of the picture `sd` of a panorama."""
SHARPER = 1.25
"""Ratio of a view's pixels per degree to those of `sd` above which tiles or `hd` are fetched; chosen."""
KEPT = 8
"""Number of decoded pictures kept in memory; chosen: one of 5760 x 2880 pixels takes 50 MB."""
_GONE = frozenset({403, 404, 410})
"""HTTP statuses of a picture that was taken away by its owner."""


class OpenStreetView:
    """Street view by shared pictures, over a graph that may grow.

    Args:
        service: name of the picture service, for errors.
        explored: graph of the panoramas.
        source: client that fetches pictures.
        kept: pictures that are kept on disk.
    """

    def __init__(
        self, service: str, explored: ExploredGraph, source: PictureClient, kept: KeptPictures
    ) -> None:
        """Make street view of the pictures of a service; nothing is asked yet."""
        self._service = service
        self._explored = explored
        self._source = source
        self._kept = kept
        self._whole = lru_cache(maxsize=KEPT)(self._whole_panorama)
        self._tiled = lru_cache(maxsize=KEPT)(self._start_tiled)
        self._flat = lru_cache(maxsize=KEPT)(self._pixels)

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position, or `None` if there is none within `radius` metres."""
        graph = self._explored.graph.graph
        panorama_near(graph, position, radius)  # refuses before anything is asked
        graph = self._explored.graph_around(position).graph
        found = panorama_near(graph, position, radius)
        return self.panorama(found.id) if found else None

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id."""
        graph = self._explored.graph.graph
        # Grown before it is shown, so that a panorama near the edge has all its links.
        made = self._explored.graph_around(graph.position(graph.number(pano_id)))
        picture = made.pictures[pano_id]
        return panorama_at(made.graph, made.graph.number(pano_id), f"{picture.taken:%Y-%m}")

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the picture through `camera` at a panorama.

        Raises:
            NoStreetView: there is no such panorama.
            NoImagery: its picture was taken away or is broken, or it is flat and looks elsewhere.
            ProviderError: the service fails.
        """
        made = self._explored.graph
        made.graph.number(pano_id)
        picture, tiles = made.pictures[pano_id], self._explored.shot(pano_id).tiles
        part = "hd" if _needs_full_size(picture, camera) else "sd"
        if part == "hd" and tiles and not picture.is_flat:
            return View(pano_id, camera, self._tiled(pano_id, tiles).view(camera))
        flat, whole = partial(self._flat, pano_id, part), partial(self._whole, pano_id, part)
        return View(pano_id, camera, view_of(picture, camera, flat, whole))

    def _whole_panorama(self, pano_id: str, part: str) -> Equirectangular:
        """Return a picture, `sd` or `hd`, as a whole panorama, black where it shows nothing."""
        return whole_of(self._explored.graph.pictures[pano_id], self._pixels(pano_id, part))

    def _start_tiled(self, pano_id: str, tiles: TileMatrix) -> TiledPanorama:
        """Return a panorama whose tiles are fetched as views need them; none is fetched yet."""
        attitude = self._explored.graph.pictures[pano_id].attitude
        return tiled_panorama(tiles, attitude, lambda part: self._pixels(pano_id, part))

    def _pixels(self, pano_id: str, part: str) -> Image:
        """Return the RGB pixels of a part of a picture: `sd`, `hd`, or `tile-COLUMN-ROW`."""
        shot = self._explored.shot(pano_id)
        try:
            data = self._kept.get(shot, part, lambda: self._source.picture(shot, part))
        except ProviderError as fault:
            if fault.status in _GONE:
                raise NoImagery(
                    f"{self._service} no longer has the picture {pano_id!r}: go on to another panorama"
                ) from None
            raise
        return picture(data, self._service)


def _needs_full_size(picture: Picture, camera: Camera) -> bool:
    """Return whether a view through a camera shows more pixels a degree than the picture `sd` has."""
    if picture.is_flat:
        return bool(camera.focal > SHARPER * SD_WIDTH / 2 / np.tan(np.radians(picture.fov / 2)))
    return 2 * pi * camera.focal * picture.fov / FULL_TURN > SHARPER * SD_WIDTH
