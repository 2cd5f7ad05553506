"""Google's street view: each question goes to the cheapest request that answers it.

- Relocation: the metadata of Street View Static, free of charge, which can leave out what was taken indoors;
  many positions at once: Map Tiles' panoIds, one paid request for each 100.
- Links, heading, date: Map Tiles' metadata, free of charge, asked once for each panorama.
- Views: thumbnails of Map Tiles where they are small enough, else Street View Static, or tiles of the
  panorama; `docs/explanation/google.md` says which is cheaper.

Google gives the heading of a link but not its length. It is the distance between the two panoramas, whose
metadata is needed anyway as soon as one goes there: on a straight street each step asks for one panorama.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import Lock

from virl.errors import BadInput, NoImagery, NoStreetView, ProviderError
from virl.geo.globe import LatLng, bearing, distance
from virl.platform.city.streetview import MAX_RADIUS_M, Camera, Link, Panorama, View
from virl.platform.providers.google.city_file import KEPT_PANORAMAS, Imagery
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.static import nearest_of, panorama_of, static_view
from virl.platform.providers.google.tiles import SERVICE, THUMBNAIL, Capture, PanoramaTiles, mosaic
from virl.platform.providers.http.pace import ask_all
from virl.platform.providers.http.replies import UNREADABLE

KEPT_METADATA = 20_000
"""Number of panoramas whose metadata are kept in memory; chosen: about 10 MB."""


class GoogleStreetView:
    """Street view of Google Maps with links, for keys that may use Map Tiles.

    Args:
        http: client of Google.
        imagery: source of views: `static` pictures, or `tiles`.
        zoom: zoom level of tiles, 0 to 5; 3 is 9 pixels a degree, as in a view of 640 pixels and a fov of 62.
        outdoor: True to leave panoramas taken indoors out of relocation and links.
        panoramas_kept: number of panoramas put together from tiles that are kept in memory.
        thumbnails: True to take thumbnails as views of at most 600 by 250 pixels, with `static` imagery.
    """

    is_linked = True
    """True, as Map Tiles know the links of panoramas."""

    def __init__(
        self,
        http: GoogleHttp,
        *,
        imagery: Imagery = "static",
        zoom: int = 3,
        outdoor: bool = True,
        panoramas_kept: int = KEPT_PANORAMAS,
        thumbnails: bool = True,
    ) -> None:
        """Make street view with links by a client of Google; nothing is asked yet."""
        self._http = http
        self._tiles = PanoramaTiles(http)
        self._imagery = imagery
        self._outdoor = outdoor
        self._thumbnail = THUMBNAIL if thumbnails and imagery == "static" else (0, 0)
        self._capture = lru_cache(maxsize=KEPT_METADATA)(self._tiles.capture)
        self._mosaic = lru_cache(maxsize=panoramas_kept)(
            lambda pano_id: mosaic(self._tiles, self._capture(pano_id), zoom)
        )

    def is_allowed(self) -> bool:
        """Return whether the key may use Map Tiles, which know links; free of charge.

        Raises:
            ProviderError: Google cannot be asked, or does not know the key.
        """
        return self._tiles.are_allowed()

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position, or `None` if there is none within `radius` metres."""
        _check(radius)
        found = nearest_of(self._http, position, radius, outdoor=self._outdoor)
        return self.panorama_within(found.id if found else None, position, radius)

    def nearest_many(self, positions: Sequence[LatLng], radius: float = 50.0) -> list[Panorama | None]:
        """Return the panorama nearest to each position, `None` beyond `radius` metres; 100 a paid request.

        Raises:
            BadInput: the radius is outside (0, 1000].
        """
        _check(radius)
        found = self._tiles.pano_ids(positions, radius)
        known = self._prefetch([pano_id for pano_id in found if pano_id])
        indoor = {capture.id for capture in known if capture.indoor and self._outdoor}
        for number, position in enumerate(positions):
            if found[number] in indoor:
                near = nearest_of(self._http, position, radius, outdoor=True)
                found[number] = near.id if near else None
        self._prefetch([neighbour for capture in known for neighbour, _ in capture.links])
        return [
            self.panorama_within(pano_id, position, radius)
            for pano_id, position in zip(found, positions, strict=True)
        ]

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id.

        Links to panoramas that Google has taken away are left out, and, with `outdoor`, those taken indoors.
        """
        capture = self._capture(pano_id)
        self._http.credits.add(capture.copyright, capture.report_problem_link)
        ends = ask_all(self._capture_or_none, [neighbour for neighbour, _ in capture.links])
        links = tuple(
            Link(
                end.id,
                bearing(capture.position, end.position) if heading is None else heading,
                distance(capture.position, end.position),
            )
            for (_, heading), end in zip(capture.links, ends, strict=True)
            if end and not (self._outdoor and end.indoor)
        )
        faces = (heading for heading in (capture.heading, *(link.heading for link in links), 0.0))
        heading = next(one for one in faces if one is not None)
        return Panorama(capture.id, capture.position, heading, links, capture.date, capture.indoor)

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the picture through `camera` at a panorama.

        Raises:
            NoStreetView: there is no such panorama.
            NoImagery: there is no picture of it.
            BadInput: `imagery` is `static` and the camera is larger than 640 by 640 pixels.
        """
        if self._imagery == "tiles":
            return View(pano_id, camera, self._mosaic(pano_id).view(camera))
        try:
            if camera.width <= self._thumbnail[0] and camera.height <= self._thumbnail[1]:
                return View(pano_id, camera, self._tiles.thumbnail(pano_id, camera))
            return View(pano_id, camera, static_view(self._http, pano_id, camera))
        except NoImagery:
            self._capture(pano_id)  # tells a panorama without pictures from no panorama
            raise

    def panorama_within(self, pano_id: str | None, position: LatLng, radius: float) -> Panorama | None:
        """Return the panorama with this id; `None` for no id, or one over `radius` metres from a position.

        Args:
            pano_id: id of the panorama; `None` for none.
            position: position near which it has to lie.
            radius: largest distance in metres.
        """
        if pano_id is None or (capture := self._capture_or_none(pano_id)) is None:
            return None
        return self.panorama(capture.id) if distance(position, capture.position) <= radius else None

    def _prefetch(self, pano_ids: Sequence[str]) -> list[Capture]:
        """Return the metadata of panoramas that exist, asked several at once and kept for later."""
        return [one for one in ask_all(self._capture_or_none, list(dict.fromkeys(pano_ids))) if one]

    def _capture_or_none(self, pano_id: str) -> Capture | None:
        """Return the metadata of a panorama; `None` if it is gone or, reported, unreadable."""
        try:
            return self._capture(pano_id)
        except NoStreetView:
            return None
        except ProviderError as fault:
            if fault.code != UNREADABLE:
                raise
            self._http.notes(SERVICE)(f"panorama {pano_id}: {fault.reason}", pano_id)
            return None


class LinklessStreetView:
    """Street view of Google Maps without links, for keys that may not use Map Tiles.

    The movers `grid` and `web` need none. All but the pictures is free of charge.
    """

    is_linked = False
    """False, as no links are known without Map Tiles."""

    def __init__(self, http: GoogleHttp, *, outdoor: bool = True) -> None:
        """Make street view by a client of Google; with `outdoor`, `nearest` leaves out what is indoors."""
        self._http = http
        self._outdoor = outdoor
        self._panorama = lru_cache(maxsize=KEPT_METADATA)(partial(panorama_of, http))

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position, or `None` if there is none within `radius` metres."""
        _check(radius)
        found = nearest_of(self._http, position, radius, outdoor=self._outdoor)
        return found if found and distance(position, found.position) <= radius else None

    def nearest_many(self, positions: Sequence[LatLng], radius: float = 50.0) -> list[Panorama | None]:
        """Return the panorama nearest to each position, `None` beyond `radius` metres; a free request each.

        Raises:
            BadInput: the radius is outside (0, 1000].
        """
        return ask_all(lambda position: self.nearest(position, radius), positions)

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id, without links; its heading is unknown and set to 0."""
        return self._panorama(pano_id)

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the picture through `camera` at a panorama, at most 640 by 640 pixels.

        Raises:
            NoImagery: there is no such panorama, or no picture of it.
            BadInput: the camera is larger.
        """
        return View(pano_id, camera, static_view(self._http, pano_id, camera))


def _check(radius: float) -> None:
    """Raise `BadInput` for a radius outside (0, 1000] metres."""
    if not 0 < radius <= MAX_RADIUS_M:
        raise BadInput(f"radius {radius:g} is outside (0, {MAX_RADIUS_M:g}] metres")


TILES_REFUSED = (
    "`imagery: tiles` needs the Map Tiles API, which the key may not use: enable it, or set `imagery: static`"
)
"""Error text for a key that may not use Map Tiles."""


@dataclass(eq=False)
class KeyedStreetView:
    """Street view of Google Maps with links if the key may use Map Tiles, which is asked once."""

    linked: GoogleStreetView
    """Street view for keys that may use Map Tiles."""
    linkless: LinklessStreetView
    """Street view for all other keys."""
    imagery: Imagery
    """Source of views that the city's file asks for: `static` pictures, or `tiles`."""
    _is_linked: bool | None = None
    """True if the key may use Map Tiles; `None` until this is asked."""
    _lock: Lock = field(default_factory=Lock)
    """Lock that lets one thread ask."""

    @property
    def is_linked(self) -> bool:
        """Return whether the key may use Map Tiles; asked on the first use, free of charge."""
        with self._lock:
            if self._is_linked is None:
                self._is_linked = self.linked.is_allowed()
            return self._is_linked

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position; `None` where there is none within `radius` metres."""
        found = self.linkless.nearest(position, radius)
        return self.linked.panorama_within(found.id, position, radius) if found and self.is_linked else found

    def nearest_many(self, positions: Sequence[LatLng], radius: float = 50.0) -> list[Panorama | None]:
        """Return the panorama nearest to each position; `None` where there is none within `radius` metres."""
        return self._street_view.nearest_many(positions, radius)

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id."""
        return self._street_view.panorama(pano_id)

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the picture through `camera` at a panorama.

        Raises:
            BadInput: views should come from tiles, and the key may not use them.
        """
        if self.imagery == "tiles" and not self.is_linked:
            raise BadInput(TILES_REFUSED)
        return self._street_view.view(pano_id, camera)

    @property
    def _street_view(self) -> GoogleStreetView | LinklessStreetView:
        """Street view that fits the key: with or without links."""
        return self.linked if self.is_linked else self.linkless
