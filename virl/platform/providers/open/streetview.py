"""Street view of shared pictures: the graph as far as it is known, and views out of what is fetched."""

from collections.abc import Callable
from functools import lru_cache
from math import floor, pi
from threading import Lock

import numpy as np

from virl.errors import NoImagery, ProviderError
from virl.geo.globe import LatLng
from virl.platform.city.graph import panorama_at, panorama_near
from virl.platform.city.streetview import Camera, Image, Panorama, View
from virl.platform.providers.http.bodies import picture
from virl.platform.providers.http.together import ask_all
from virl.platform.providers.open.explored import Explored
from virl.platform.providers.open.kept import KeptPictures
from virl.platform.providers.open.pictures import PictureClient
from virl.platform.providers.open.shots import TileMatrix
from virl.platform.providers.pictures.flat import flat_view
from virl.platform.providers.pictures.part import check_part, whole_attitude
from virl.platform.providers.pictures.picture import FULL_TURN, Picture, whole_panorama
from virl.platform.providers.pictures.projection import Equirectangular, equirectangular, perspective
from virl.platform.providers.pictures.tiling import paste_tile, tiles_seen

SD_WIDTH = 2048
"""Width in pixels of the `sd` picture of a panorama."""
SHARPER = 1.25
"""Ratio of a view's pixels a degree to those of `sd` above which tiles are fetched; chosen."""
KEPT = 8
"""Decoded pictures kept in memory; chosen: one of 5760 x 2880 pixels takes 50 MB."""
GONE = frozenset({403, 404, 410})
"""HTTP statuses of a picture that was taken away."""


class OpenStreetView:
    """Street view of shared pictures, over a graph that may grow.

    Args:
        service: its name, for errors.
        explored: the graph.
        source: gives pictures.
        kept: those on disk.
    """

    def __init__(self, service: str, explored: Explored, source: PictureClient, kept: KeptPictures) -> None:
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
