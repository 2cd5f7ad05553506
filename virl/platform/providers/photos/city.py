"""A city made of photographs: a graph of those that can be walked between, and views out of them."""

from datetime import UTC, date, datetime, time
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import PIL.ImageOps

from virl.errors import NoImagery
from virl.extras import require
from virl.files.pictures import MOST_PANORAMA_PIXELS, PictureFault, open_picture
from virl.geo.globe import LatLng
from virl.osm.box import ExtractPart, find_extract
from virl.platform.city.city import City
from virl.platform.city.graph import GraphMaps, panorama_at, panorama_near
from virl.platform.city.places import NoPlaces
from virl.platform.city.streetview import Camera, Image, Panorama, View
from virl.platform.providers.photos.city_file import UNKNOWN_TIME, PhotosCity, read_index
from virl.platform.providers.pictures.graph import PictureGraph, picture_graph
from virl.platform.providers.pictures.picture import credit_line
from virl.platform.providers.pictures.projection import view_of, whole_of
from virl.platform.providers.pictures.streetview import GraphStreetMap

if TYPE_CHECKING:
    from virl.osm.mapped import MappedTown

AGAIN = "put it back, or run virl import photos again"
"""Advice on a missing or broken photograph."""
KEPT = 8
"""Number of decoded photographs kept in memory; chosen: one of 5760x2880 pixels takes 50 MB."""


class PhotoStreetView:
    """Street view by a folder of photographs, linked to a graph."""

    def __init__(self, linked: PictureGraph, folder: Path) -> None:
        """Make street view of the linked photographs of a folder; no file is read yet."""
        self._graph, self._pictures, self._folder = linked.graph, linked.pictures, folder
        self._flat = lru_cache(maxsize=KEPT)(self._pixels)
        self._whole = lru_cache(maxsize=KEPT)(
            lambda pano_id: whole_of(self._pictures[pano_id], self._pixels(pano_id))
        )

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position, or `None` if there is none within `radius` metres."""
        found = panorama_near(self._graph, position, radius)
        return self.panorama(found.id) if found else None

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id."""
        node = self._graph.number(pano_id)
        taken = self._pictures[pano_id].taken
        return panorama_at(self._graph, node, None if taken == UNKNOWN_TIME else f"{taken:%Y-%m}")

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the picture through `camera` at a panorama.

        Raises:
            NoStreetView: there is no such panorama.
            NoImagery: its file is missing or broken, or it is a flat photograph that looks elsewhere.
        """
        self._graph.number(pano_id)
        flat, whole = partial(self._flat, pano_id), partial(self._whole, pano_id)
        return View(pano_id, camera, view_of(self._pictures[pano_id], camera, flat, whole))

    def _pixels(self, pano_id: str) -> Image:
        """Return the RGB pixels of a photograph, turned upright."""
        file = self._folder / pano_id
        if not file.is_file():
            raise NoImagery(f"{file}: the photograph is missing: {AGAIN}")
        try:
            with open_picture(file, most_pixels=MOST_PANORAMA_PIXELS) as picture:
                return np.asarray(PIL.ImageOps.exif_transpose(picture).convert("RGB"))
        except PictureFault as fault:
            raise NoImagery(f"{file}: {fault}: {AGAIN}") from fault


def open_photos_city(name: str, file: PhotosCity, day: date | None = None) -> City:
    """Open the city of an index of photographs; places have the hours of a day, by default today.

    Args:
        name: name by which `open_city` opens the city.
        file: contents of the city's file.
        day: day for which the hours of places are read; by default today.

    Raises:
        BadInput: the index is missing or damaged.
        NoStreetView: it holds no photograph until the day that the file names.
    """
    index, town = read_index(file.photos), _mapped_town(name, file, day)
    until = datetime.combine(file.as_of, time.max, UTC) if file.as_of else None
    pictures = [photo.picture() for photo in index.photos]
    linked = picture_graph(pictures, start=file.center, ways=town.ways if town else (), as_of=until)
    graph = linked.graph
    middle, _ = graph.nearest(LatLng(float(graph.lat.mean()), float(graph.lng.mean())))
    return City(
        name=name,
        title=file.title,
        center=graph.position(middle),
        attribution=credit_line(linked.pictures.values()) + (f"; {town.attribution}" if town else ""),
        time_zone=town.time_zone if town else None,
        streetview=PhotoStreetView(linked, file.photos.parent / index.folder),
        places=town.places if town else NoPlaces(name),
        maps=town.maps(graph) if town else GraphMaps(graph),
        street_map=GraphStreetMap(graph),
        life=town.life if town else (),
    )


def _mapped_town(name: str, file: PhotosCity, day: date | None) -> "MappedTown | None":
    """Return the map, as of a day, of the extract that a city's file names; `None` without one."""
    if file.extract is None:
        return None
    require("osm", what=f"the map of {name}")
    from virl.osm.mapped import mapped_town  # noqa: PLC0415 - needs the extra

    return mapped_town(ExtractPart(find_extract(file.extract), file.title, part=file.region), day)
