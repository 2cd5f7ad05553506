"""Street view of a drawn town: its panoramas as a graph, its views rendered on demand.

The renderer is made for the first picture: its compiled code takes half a second to load.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.extras import require
from virl.files.stores import Arrays, ArrayStore
from virl.geo.flat import line_strings
from virl.geo.globe import Floats, LatLng, bearings
from virl.platform.city.graph import NavigationGraph, build_graph, panorama_at, panorama_near
from virl.platform.city.streetview import Camera, Image, Panorama, View
from virl.towns.plan.town_plan import CityPlan, StreetPlan, to_positions

if TYPE_CHECKING:
    from virl.towns.render.renderer import CityRenderer


FIRST_KEPT, MOST_KEPT = 128, 256
"""Largest number of pictures stored by one process, and by all, 1.2 MB each.
Chosen: a run of an agent has some 50, and a benchmark, which has thousands, shall not write them all."""
DATE = "2026-05"
"""Month in which all panoramas of a made town were taken; chosen."""
RendererOf = Callable[[], "CityRenderer"]
"""A function that returns the renderer of a town, always the same."""


def panorama_graph(layout: StreetPlan) -> NavigationGraph:
    """Return a plan's panoramas and links as a graph, with ids such as `vt-00042`."""
    panoramas = layout.panoramas
    lat, lng = layout.frame.to_degrees(panoramas.xy[:, 0], panoramas.xy[:, 1])
    return build_graph(
        _ids(layout), lat, lng, panoramas.source, panoramas.target, yaw=_street_headings(layout)
    )


class RenderedView(View):
    """A view whose pixels are drawn when they are first read.

    Args:
        pano_id: id of the panorama.
        camera: camera of the view.
        draw: returns the pixels; called once, or more than once with the same result if threads race.
        key: key of the picture, as `View.key`.
    """

    __slots__ = ("_draw", "_drawn")
    _draw: Callable[[], Image]
    _drawn: Image | None

    def __init__(self, pano_id: str, camera: Camera, draw: Callable[[], Image], key: str = "") -> None:
        """Keep how the view is drawn; no pixels are made yet. `key`: of the stored picture."""
        fields = {"pano_id": pano_id, "camera": camera, "key": key, "_draw": draw, "_drawn": None}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[type[View], tuple[str, Camera, Image, str]]:
        """Return the recipe by which copies and pickles become plain views with pixels."""
        return View, (self.pano_id, self.camera, self.pixels, self.key)

    @property
    def pixels(self) -> Image:
        """Pixels of the view in RGB, shape (height, width, 3), drawn when first read."""
        drawn = self._drawn
        if drawn is None:
            drawn = self._draw()
            object.__setattr__(self, "_drawn", drawn)
        return drawn


class OfflineStreetView:
    """Street view of a town's plan, drawn on demand.

    Args:
        layout: streets and panoramas of the plan.
        renderer: returns the renderer of the plan.
        key: key of all that its pictures depend on but their cameras. The first of them are kept, so that a
            run that repeats another draws them no more; empty keeps none.
        graph: graph of the panoramas; `None` builds it.
    """

    def __init__(
        self,
        layout: StreetPlan,
        renderer: RendererOf,
        key: str = "",
        graph: NavigationGraph | None = None,
    ) -> None:
        """Prepare the graph, the plan's own by default; nothing is drawn yet. `key`: of kept pictures."""
        self.graph = graph or panorama_graph(layout)
        """Graph of the town's panoramas and the links between them."""
        self._layout = layout
        self._xy = layout.panoramas.xy
        self._renderer = renderer
        self._key = key
        self._drawn = 0

    def with_own_count(self) -> "OfflineStreetView":
        """Return the same street view with a count of its own of the pictures that it keeps on disk."""
        return OfflineStreetView(self._layout, self._renderer, self._key, self.graph)

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position within `radius` metres; `None` without one.

        Raises:
            BadInput: the radius is outside (0, 1000].
        """
        return panorama_near(self.graph, position, radius, DATE)

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama of an id.

        Raises:
            NoStreetView: there is no panorama of that id.
        """
        return panorama_at(self.graph, self.graph.number(pano_id), DATE)

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the view through `camera` at a panorama, drawn when its pixels are first read.

        Raises:
            NoStreetView: there is no such panorama.
        """
        number = self.graph.number(pano_id)
        key = f"{self._key} {pano_id} {camera}" if self._key else ""
        return RenderedView(pano_id, camera, partial(self._picture, number, camera, key), key)

    def draw_views(self, views: Sequence[tuple[str, Camera]]) -> list[Image]:
        """Return the pixels of several views, drawn by all cores at once, without the cache on disk.

        Args:
            views: the id of the panorama and the camera of each.

        Raises:
            NoStreetView: there is no such panorama.
        """
        spots = self._xy[[self.graph.number(pano_id) for pano_id, _ in views]].tolist()
        return self._renderer().pictures(
            [(x, y, camera) for (x, y), (_, camera) in zip(spots, views, strict=True)]
        )

    def _picture(self, number: int, camera: Camera, key: str) -> Image:
        """Return the pixels of the view at a panorama, given by number, from the cache or newly drawn."""

        def draw() -> Image:
            """Return the pixels, newly drawn and counted among the pictures to store."""
            self._drawn += 1
            x, y = self._xy[number].tolist()
            return self._renderer().picture(x, y, camera)

        return _PICTURES.get(key, draw, keep=self._drawn < FIRST_KEPT) if key else draw()

    def panorama_image(self, pano_id: str, width: int = 2048) -> Image:
        """Return a whole panorama, equirectangular RGB, shape (width / 2, width, 3), its middle facing north.

        Columns run clockwise, and the top row looks up.

        Raises:
            NoStreetView: there is no such panorama.
        """
        x, y = self._xy[self.graph.number(pano_id)].tolist()
        return self._renderer().equirectangular(x, y, width)

    def panorama_part(self, pano_id: str, width: int, left: int, top: int, size: tuple[int, int]) -> Image:
        """Return `size` columns and rows of `panorama_image`, shape (rows, columns, 3), drawn alone.

        Args:
            pano_id: which panorama.
            width: pixels of the whole picture.
            left: its column at which the part begins; beyond the last one follows the first.
            top: its row at which the part begins.
            size: columns and rows of the part.

        Raises:
            NoStreetView: there is no such panorama.
        """
        x, y = self._xy[self.graph.number(pano_id)].tolist()
        return self._renderer().equirectangular_part(x, y, width, left, top, size)


@dataclass(frozen=True, eq=False)
class OfflineStreetMap:
    """The lines of all streets and the ids of all panoramas of a made city, for drawing."""

    layout: StreetPlan

    def lines(self) -> Sequence[Sequence[LatLng]]:
        """Return the centre line of each street."""
        return [to_positions(self.layout.frame, street.line) for street in self.layout.streets]

    def panorama_ids(self) -> Sequence[str]:
        """Return the ids of all panoramas, in the order of the plan."""
        return _ids(self.layout)


def _ids(layout: StreetPlan) -> list[str]:
    """Return the ids of all panoramas of a plan, by their numbers."""
    return [f"vt-{number:05d}" for number in range(len(layout.panoramas.xy))]


def _read_picture(arrays: Arrays) -> Image:
    """Return the picture in the arrays of a cache file; raise `ValueError` if they hold none."""
    rgb: NDArray[np.uint8] = arrays["rgb"]
    if rgb.dtype != np.uint8 or rgb.ndim != 3:
        raise ValueError("no picture")
    return rgb


_PICTURES = ArrayStore("views", "view", MOST_KEPT, lambda rgb: {"rgb": rgb}, _read_picture)
"""Cache of drawn pictures on disk."""


def _street_headings(layout: StreetPlan) -> Floats:
    """Return the heading of the street at each panorama in its line's direction, degrees, (panoramas,)."""
    mine = line_strings(street.line for street in layout.streets)[layout.panoramas.street]
    where = shapely.line_locate_point(mine, shapely.points(layout.panoramas.xy))
    # At the end of a street its last metre tells the direction.
    where = np.minimum(where, shapely.length(mine) - 1.0)
    ends = (
        shapely.get_coordinates(shapely.line_interpolate_point(mine, where + step)) for step in (0.0, 1.0)
    )
    (lat1, lng1), (lat2, lng2) = (layout.frame.to_degrees(xy[:, 0], xy[:, 1]) for xy in ends)
    return bearings(lat1, lng1, lat2, lng2)


def check_drawing() -> None:
    """Raise `ModelUnavailable` if a package that drawing needs is missing.

    Raises:
        ModelUnavailable: a package is not installed.
    """
    require("eyes", "cv2", "numba", what="drawing a town")


def renderer_on_demand(plan: CityPlan) -> RendererOf:
    """Return a function that makes a plan's renderer on its first call. Safe for several threads."""
    lock = Lock()

    @cache
    def make() -> "CityRenderer":
        """Return a new renderer; its kernels begin to be compiled if they are not yet."""
        check_drawing()
        from virl.towns.render.ahead import compile_ahead  # noqa: PLC0415
        from virl.towns.render.renderer import CityRenderer  # noqa: PLC0415

        compile_ahead()
        return CityRenderer(plan)

    def renderer() -> "CityRenderer":
        """Return the renderer, made by the first of several threads that asks for it."""
        with lock:
            return make()

    return renderer
