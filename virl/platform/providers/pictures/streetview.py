"""Street view over a navigation graph, with panoramas out of a user's folder."""

from collections.abc import Sequence
from dataclasses import dataclass
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
    """A folder of equirectangular pictures `PANO_ID.jpg`; the last few are kept decoded."""

    def __init__(self, folder: Path, kept: int = KEPT) -> None:
        """Prepare to read pictures of a folder, which need not exist; the last `kept` stay in memory."""
        self._folder = folder
        self.panorama = lru_cache(maxsize=kept)(self._decode)
        """Function (panorama id, heading of the middle column in degrees) to the decoded panorama.
        It raises `NoImagery` if the folder has no picture of it, or a broken one."""

    def _decode(self, pano_id: str, yaw: float) -> Equirectangular:
        """Return the panorama in its file, its middle column at heading `yaw` in degrees."""
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


@dataclass(frozen=True, slots=True)
class GraphStreetView:
    """Street view by a navigation graph and a folder of pictures, which may lack some or all.

    A panorama's heading is the yaw of its node, 0 where that is not known.
    """

    graph: NavigationGraph
    """Graph of the panoramas."""
    pictures: PanoramaFolder
    """Folder of the pictures of the graph's panoramas."""

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position, or `None` if there is none within `radius` metres."""
        return panorama_near(self.graph, position, radius)

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id, its links in the order of the graph."""
        return panorama_at(self.graph, self.graph.number(pano_id))

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the picture through `camera` at a panorama.

        Raises:
            NoStreetView: there is no such panorama.
            NoImagery: there is no picture of it, or a broken one.
        """
        node = self.graph.number(pano_id)
        panorama = self.pictures.panorama(pano_id, panorama_at(self.graph, node).heading)
        return View(pano_id, camera, perspective(panorama, camera))


@dataclass(frozen=True, slots=True)
class GraphStreetMap:
    """All streets of a navigation graph at once, for drawing."""

    graph: NavigationGraph
    """Graph of the panoramas."""

    def lines(self) -> Sequence[Sequence[LatLng]]:
        """Return the streets as positions, from crossing to crossing or dead end, and rings.

        Each link is on one of them.
        """
        positions = list(map(LatLng, self.graph.lat.tolist(), self.graph.lng.tolist()))
        return [[positions[node] for node in line] for line in street_lines(self.graph)]

    def panorama_ids(self) -> Sequence[str]:
        """Return the ids of all panoramas, in the order of the graph."""
        return self.graph.ids


def street_lines(graph: NavigationGraph) -> list[list[int]]:
    """Return the streets of a graph as lists of node numbers along links, cut at crossings and ends.

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
