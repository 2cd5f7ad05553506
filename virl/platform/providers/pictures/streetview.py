"""Street view over a navigation graph, with panoramas out of a user's folder."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from virl.errors import BadInput, NoImagery
from virl.files.pictures import MOST_PANORAMA_PIXELS, PictureFault, open_picture
from virl.geo.globe import LatLng
from virl.platform.city.graph import NavigationGraph, panorama_at, panorama_near
from virl.platform.city.streetview import Camera, Panorama, View
from virl.platform.providers.pictures.projection import Equirectangular, equirectangular, perspective

KEPT = 8
"""Number of decoded panoramas kept in memory; chosen: one of 3328x1664 pixels takes 17 MB."""


class PanoramaFolder:
    """A folder of equirectangular pictures `PANO_ID.jpg`; the last few are kept decoded.

    Args:
        folder: it need not exist.
        kept: how many are kept.
    """

    def __init__(self, folder: Path, kept: int = KEPT) -> None:
        self._folder = folder
        self._read = lru_cache(maxsize=kept)(self._decode)

    def panorama(self, pano_id: str, yaw: float) -> Equirectangular:
        """Return the decoded panorama with this id, its middle column at heading `yaw` (degrees).

        Args:
            pano_id: which one.
            yaw: heading of its centre column, degrees.

        Raises:
            NoImagery: the folder has no picture of it, or a broken one.
        """
        return self._read(pano_id, yaw)

    def _decode(self, pano_id: str, yaw: float) -> Equirectangular:
        """Return the panorama read from its file."""
        file = self._folder / f"{pano_id}.jpg"
        if Path(pano_id).name != pano_id or not file.is_file():
            raise NoImagery(f"no picture of panorama {pano_id!r}: put it into {self._folder} as ID.jpg")
        try:
            with open_picture(file, most_pixels=MOST_PANORAMA_PIXELS) as picture:
                return equirectangular(np.asarray(picture.convert("RGB")), yaw)
        except PictureFault as fault:
            raise NoImagery(f"{file}: {fault}: download it again, or remove it") from fault
        except BadInput as fault:
            raise NoImagery(f"{file}: {fault}") from fault


class GraphStreetView:
    """Street view by a navigation graph and a folder of pictures, if there is one.

    A panorama's heading is the yaw of its node, 0 where that is not known.

    Args:
        graph: the panoramas.
        pictures: where their pictures are; without it there are no views.
    """

    def __init__(self, graph: NavigationGraph, pictures: PanoramaFolder | None = None) -> None:
        self._graph = graph
        self._pictures = pictures

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position, or `None` if there is none within `radius` metres.

        Raises:
            BadInput: the radius is outside (0, 1000], or the position is not finite.
        """
        return panorama_near(self._graph, position, radius)

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id; its links in the order of the graph.

        Raises:
            NoStreetView: there is none.
        """
        return panorama_at(self._graph, self._graph.number(pano_id))

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the picture through `camera` at a panorama.

        Raises:
            NoStreetView: there is no such panorama.
            NoImagery: there is no picture of it, or a broken one.
        """
        node = self._graph.number(pano_id)
        if self._pictures is None:
            raise NoImagery(f"no picture of panorama {pano_id!r}: this data set has none")
        panorama = self._pictures.panorama(pano_id, panorama_at(self._graph, node).heading)
        return View(pano_id, camera, perspective(panorama, camera))


class GraphStreetMap:
    """All streets of a navigation graph at once, for drawing."""

    def __init__(self, graph: NavigationGraph) -> None:
        self._graph = graph

    def lines(self) -> Sequence[Sequence[LatLng]]:
        """Return the streets as positions: from crossing to crossing or dead end, and rings.

        Each link is on one of them.
        """
        positions = list(map(LatLng, self._graph.lat.tolist(), self._graph.lng.tolist()))
        return [[positions[node] for node in line] for line in street_lines(self._graph)]

    def panorama_ids(self) -> Sequence[str]:
        """Return the ids of all panoramas, in the order of the graph."""
        return self._graph.ids


def street_lines(graph: NavigationGraph) -> list[list[int]]:
    """Return the streets as rows of node numbers along links, cut at crossings and ends; rings are closed.

    A ring begins and ends with the same node. A node without links is on no line.
    """
    source = np.repeat(np.arange(len(graph)), graph.degree)
    beside: list[set[int]] = [set() for _ in graph.ids]
    for here, there in zip(source.tolist(), graph.target.tolist(), strict=True):
        if here != there:
            beside[here].add(there)
            beside[there].add(here)
    left = [sorted(nodes) for nodes in beside]
    ends = [node for node, nodes in enumerate(beside) if len(nodes) != 2]
    lines = []
    for start in [*ends, *range(len(graph))]:
        while left[start]:
            line = [start]
            while True:
                here = line[-1]
                there = left[here].pop()
                left[there].remove(here)
                line.append(there)
                if len(beside[there]) != 2 or there == start:
                    break
            lines.append(line)
    return lines
