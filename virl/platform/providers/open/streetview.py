"""Street view of shared pictures: the graph as far as it is known, views, and maps and streets on the way."""

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from math import floor, pi
from pathlib import Path
from threading import Lock
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
from virl.platform.city.streetview import Camera, Image, Panorama, View
from virl.platform.providers.http.pace import ask_all
from virl.platform.providers.http.replies import picture
from virl.platform.providers.open.cells import Cell, cells_around, cells_of
from virl.platform.providers.open.picture_services import KeptPictures, PictureClient
from virl.platform.providers.open.shots import Shot, ShotLists, TileMatrix, pictures_of
from virl.platform.providers.pictures.graph import PictureGraph, picture_graph
from virl.platform.providers.pictures.picture import FULL_TURN, Picture, credit_line, whole_panorama
from virl.platform.providers.pictures.projection import (
    Equirectangular,
    check_part,
    equirectangular,
    flat_view,
    paste_tile,
    perspective,
    tiles_seen,
    whole_attitude,
)
from virl.platform.providers.pictures.streetview import GraphStreetMap

EDGE_M = 60.0
"""Least distance in metres to the edge of the known pictures; nearer, more are asked for. Chosen."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Extent:
    """The area and the time of the pictures that are wanted."""

    start: LatLng
    """Position that decides which connected part of the graph is kept."""
    region: Region | None
    """Region that is asked for at once; `None` to ask for more as a walk goes on."""
    reach_m: float
    """Radius in metres around the start that is known at first, without a region."""
    as_of: date | None = None
    """Last day on which pictures may have been taken; `None` for no limit."""


class _State(BaseModel):
    """The squares and panoramas that runs have seen, kept in a file so that later runs find the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    cells: tuple[tuple[int, int, int], ...]
    """Squares as (zoom, column, row)."""
    panoramas: tuple[str, ...]
    """Ids of the panoramas in the graph."""


class ExploredGraph:
    """A panorama graph that is built on first use and grows as a walk goes on. Safe for several threads.

    Args:
        lists: gives the pictures of squares.
        extent: which are wanted.
        ways: walkable ways, split at their junctions, which pictures are placed on.
        folder: where it is kept what has been seen; `None` keeps nothing.
        may_keep: whether pictures of an author, under a licence, may be kept and passed on; others are
            left out.
    """

    def __init__(
        self,
        lists: ShotLists,
        extent: Extent,
        ways: Sequence[Sequence[LatLng]] = (),
        folder: Path | None = None,
        may_keep: Callable[[str, str], bool] = lambda *_: True,
    ) -> None:
        self._lists = lists
        self._may_keep = may_keep
        self._extent = extent
        self._ways = ways
        self._file = folder / f"{_digest(extent)}.json" if folder and extent.region is None else None
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
            if self._made is None:
                self._begin()
            assert self._made is not None  # noqa: S101  # `_begin` has made it
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

    def _begin(self) -> None:
        """Build the first graph: of the region, or around the start with what earlier runs have seen."""
        extent = self._extent
        if extent.region:
            self._grow(cells_of(box_around(extent.region)))
            return
        state = self._load_state()
        first = cells_around(extent.start, extent.reach_m)
        kept = {Cell(*one) for one in state.cells} if state else set()
        self._save(self._grow(first | kept, state.panoramas if state else ()))

    def _grow(self, cells: set[Cell], known: tuple[str, ...] = ()) -> PictureGraph:
        """Return the graph with the pictures of more squares; panoramas of `known` stay in it."""
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
        """Return what earlier runs have seen; `None` if nothing readable is kept."""
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


def _digest(extent: Extent) -> str:
    """Return a hash of an extent, which names its file."""
    told = [*extent.start, extent.reach_m, str(extent.as_of)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


class GrowingMaps:
    """Maps over a panorama graph that may grow.

    Args:
        explored: the panoramas.
        make: makes the maps of a graph.
    """

    def __init__(self, explored: ExploredGraph, make: Callable[[NavigationGraph], Maps]) -> None:
        self._explored = explored
        self._make = make
        self._made: tuple[NavigationGraph, Maps] | None = None

    def geocode(self, address: str) -> LatLng:
        """Return the position of an address or of a place named in it."""
        return self._maps.geocode(address)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the shortest route through two or more stops, in their order."""
        return self._maps.route(stops, mode)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return the seconds from every origin to every destination, shape (origins, destinations)."""
        return self._maps.travel_times(origins, destinations, mode)

    def address_at(self, position: LatLng, radius: float) -> Address | None:
        """Return the nearest address within `radius` metres; `None` if none is known."""
        maps = self._maps
        return maps.address_at(position, radius) if isinstance(maps, ReverseMaps) else None

    def panorama_route(self, stops: Sequence[LatLng]) -> Route:
        """Return the shortest route from panorama to panorama through two or more stops, in their order."""
        return walked_route(self._maps, stops)

    @property
    def _maps(self) -> Maps:
        """Maps over the graph as it is now, made anew when it has grown."""
        graph = self._explored.graph.graph
        if self._made is None or self._made[0] is not graph:
            self._made = graph, self._make(graph)
        return self._made[1]


class GrowingStreetMap:
    """The streets of a panorama graph that may grow, as far as they are known.

    Args:
        explored: the panoramas.
    """

    def __init__(self, explored: ExploredGraph) -> None:
        self._explored = explored

    def lines(self) -> Sequence[Sequence[LatLng]]:
        """Return the centre lines of the streets."""
        return GraphStreetMap(self._explored.graph.graph).lines()

    def panorama_ids(self) -> Sequence[str]:
        """Return the ids of all panoramas, in a fixed order."""
        return self._explored.graph.graph.ids


SD_WIDTH = 2048
"""Width in pixels of the picture `sd` of a panorama."""
SHARPER = 1.25
"""Least ratio of a view's pixels a degree to those of `sd` for tiles to be fetched; chosen."""
KEPT = 8
"""Number of decoded pictures kept in memory; chosen: one of 5760 x 2880 pixels takes 50 MB."""
GONE = frozenset({403, 404, 410})
"""HTTP statuses of a picture that was taken away by its owner."""


class OpenStreetView:
    """Street view by shared pictures, over a graph that may grow.

    Args:
        service: its name, for errors.
        explored: the graph.
        source: gives pictures.
        kept: those on disk.
    """

    def __init__(
        self, service: str, explored: ExploredGraph, source: PictureClient, kept: KeptPictures
    ) -> None:
        self._service = service
        self._explored = explored
        self._source = source
        self._kept = kept
        self._whole = lru_cache(maxsize=KEPT)(self._whole_panorama)
        self._tiled = lru_cache(maxsize=KEPT)(self._new_tiled)
        self._flat = lru_cache(maxsize=KEPT)(self._pixels)

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position, or `None` if there is none within `radius` metres.

        Raises:
            BadInput: the radius is outside (0, 1000], or the position is not finite.
            ProviderError: the service fails.
        """
        graph = self._explored.graph.graph
        panorama_near(graph, position, radius)  # refuses before anything is asked
        graph = self._explored.graph_around(position).graph
        found = panorama_near(graph, position, radius)
        return self.panorama(found.id) if found else None

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id.

        Raises:
            NoStreetView: there is none.
            ProviderError: the service fails.
        """
        graph = self._explored.graph.graph
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
        shot, held = self._explored.shot(pano_id), made.pictures[pano_id]
        sharp = 2 * pi * camera.focal * held.fov / FULL_TURN > SHARPER * SD_WIDTH
        if shot.left is not None:
            check_part(held, shot.left, camera)
        elif not held.is_panorama:
            sharp = camera.focal > SHARPER * SD_WIDTH / 2 / np.tan(np.radians(held.fov / 2))
            pixels = self._flat(pano_id, "hd" if sharp else "sd")
            return View(pano_id, camera, flat_view(pixels, held.fov, held.attitude, camera))
        if sharp and shot.tiles:
            return View(pano_id, camera, self._tiled(pano_id, shot.tiles).view(camera))
        return View(pano_id, camera, perspective(self._whole(pano_id, "hd" if sharp else "sd"), camera))

    def _whole_panorama(self, pano_id: str, part: str) -> Equirectangular:
        """Return a picture as a whole panorama, black where it shows nothing."""
        shot, held = self._explored.shot(pano_id), self._find_picture(pano_id)
        whole = whole_panorama(self._pixels(pano_id, part), shot.sky, shot.left or 0.0, held.fov)
        return equirectangular(whole, attitude=whole_attitude(held, shot.left))

    def _new_tiled(self, pano_id: str, tiles: TileMatrix) -> "TiledPanorama":
        """Return a panorama of tiles, none of which is fetched yet."""
        return TiledPanorama(tiles, self._find_picture(pano_id), lambda part: self._pixels(pano_id, part))

    def _find_picture(self, pano_id: str) -> Picture:
        """Return the picture of a panorama in the graph."""
        return self._explored.graph.pictures[pano_id]

    def _pixels(self, pano_id: str, part: str) -> Image:
        """Return the RGB pixels of a part of a picture."""
        shot = self._explored.shot(pano_id)
        try:
            data = self._kept.get(shot, part, lambda: self._source.picture(shot, part))
        except ProviderError as fault:
            if fault.status in GONE:
                raise NoImagery(
                    f"{self._service} no longer has the picture {pano_id!r}: go on to another panorama"
                ) from None
            raise
        return picture(data, self._service)


class TiledPanorama:
    """A whole panorama of large tiles, fetched as views need them.

    Args:
        tiles: how it is cut.
        held: how the camera was held.
        fetch: gives the pixels of a part, such as `tile-3-1`.
    """

    def __init__(self, tiles: TileMatrix, held: Picture, fetch: Callable[[str], Image]) -> None:
        self._tiles, self._held, self._fetch = tiles, held, fetch
        width = round(tiles.columns * tiles.side / 2) * 2
        self._canvas = np.zeros((width // 2, width, 3), np.uint8)
        self._panorama = equirectangular(self._canvas, attitude=held.attitude)
        self._there: set[tuple[int, int]] = set()
        self._lock = Lock()

    def view(self, camera: Camera) -> Image:
        """Return the picture through a camera; missing tiles that it touches are fetched first."""
        height, width = self._canvas.shape[:2]
        side, columns, rows = floor(self._tiles.side), self._tiles.columns, self._tiles.rows
        with self._lock:
            seen = tiles_seen(camera, self._held.attitude, width, height, side)
            missing = sorted({(min(x, columns - 1), min(y, rows - 1)) for x, y in seen} - self._there)
            if missing:
                got = ask_all(lambda tile: self._fetch(f"tile-{tile[0]}-{tile[1]}"), missing)
                for (column, row), pixels in zip(missing, got, strict=True):
                    right = width if column == columns - 1 else (column + 1) * side
                    bottom = height if row == rows - 1 else (row + 1) * side
                    paste_tile(self._canvas[row * side : bottom, column * side : right], pixels, side)
                self._there.update(missing)
                self._panorama = equirectangular(self._canvas, attitude=self._held.attitude)
            return perspective(self._panorama, camera)
