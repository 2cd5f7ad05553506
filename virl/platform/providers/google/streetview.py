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
from functools import lru_cache, partial
from threading import Lock

from virl.errors import BadInput, NoImagery, NoStreetView, ProviderError
from virl.geo.globe import LatLng, bearing, distance
from virl.platform.city.streetview import MAX_RADIUS_M, Camera, Link, Panorama, View
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.static import nearest_of, panorama_of, static_view
from virl.platform.providers.google.tiles import SERVICE, THUMBNAIL, Capture, PanoramaTiles, mosaic
from virl.platform.providers.http.pace import ask_all
from virl.platform.providers.http.replies import UNREADABLE

KEPT_METADATA = 20_000
"""Number of panoramas whose metadata are kept in memory; chosen: about 10 MB."""


class GoogleStreetView:
    """Street view of Google Maps, with the links of panoramas if the key may use Map Tiles.

    The movers `grid` and `web` need no links. Without them, all but the pictures is free of charge.
    """

    def __init__(self, http: GoogleHttp, options: GoogleOptions | None = None) -> None:
        """Make street view by a client of Google and options, by default the usual; nothing is asked yet."""
        options = options or GoogleOptions()
        self._http = http
        self._tiles = PanoramaTiles(http)
        self._is_linked = http.settings.map_tiles
        self._asking = Lock()
        self._imagery = options.imagery
        self._outdoor = options.outdoor
        self._thumbnail = THUMBNAIL if options.thumbnails and options.imagery == "static" else (0, 0)
        self._capture = lru_cache(maxsize=KEPT_METADATA)(self._tiles.capture)
        self._unlinked = lru_cache(maxsize=KEPT_METADATA)(partial(panorama_of, http))
        self._mosaic = lru_cache(maxsize=options.panoramas_kept)(
            lambda pano_id: mosaic(self._tiles, self._capture(pano_id), options.zoom)
        )

    @property
    def is_linked(self) -> bool:
        """Return whether the key may use Map Tiles, which know links; asked once if unknown, free of charge.

        Raises:
            ProviderError: Google cannot be asked, or does not know the key.
        """
        with self._asking:
            if self._is_linked is None:
                self._is_linked = self._tiles.are_allowed()
            return self._is_linked

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position, or `None` if there is none within `radius` metres."""
        _check(radius)
        found = nearest_of(self._http, position, radius, outdoor=self._outdoor)
        # This free request comes first: where it finds nothing, links need not be known.
        if found is None or distance(position, found.position) > radius:
            return None
        return self._panorama_within(found.id, position, radius) if self.is_linked else found

    def nearest_many(self, positions: Sequence[LatLng], radius: float = 50.0) -> list[Panorama | None]:
        """Return the panorama nearest to each position; `None` where there is none within `radius` metres.

        With links one paid request for each 100 positions, else a free one for each.

        Raises:
            BadInput: the radius is outside (0, 1000].
        """
        _check(radius)
        if not self.is_linked:
            return ask_all(lambda position: self.nearest(position, radius), positions)
        found = self._tiles.pano_ids(positions, radius)
        known = self._prefetch([pano_id for pano_id in found if pano_id])
        indoor = {capture.id for capture in known if capture.indoor and self._outdoor}
        for number, position in enumerate(positions):
            # Map Tiles cannot leave out what is indoors: Street View Static, which can, is asked for these.
            if found[number] in indoor:
                near = nearest_of(self._http, position, radius, outdoor=True)
                found[number] = near.id if near else None
        # Links need the positions of their ends: those of all panoramas are asked for together.
        self._prefetch([link.pano_id for capture in known for link in capture.links])
        return [
            self._panorama_within(pano_id, position, radius)
            for pano_id, position in zip(found, positions, strict=True)
        ]

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id; where Map Tiles may not be used, its heading is unknown and 0.

        Links to panoramas that Google has taken away are left out, and, with `outdoor`, those taken indoors.
        """
        if not self.is_linked:
            return self._unlinked(pano_id)
        capture = self._capture(pano_id)
        self._http.credit(capture.copyright, capture.report_problem_link)
        ends = ask_all(self._capture_or_none, [link.pano_id for link in capture.links])
        links = tuple(
            Link(
                end.id,
                bearing(capture.position, end.position) if told.heading is None else told.heading,
                distance(capture.position, end.position),
            )
            for told, end in zip(capture.links, ends, strict=True)
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
            BadInput: views should come from tiles, and the key may not use them; or from `static`, and the
                camera is larger than 640 by 640 pixels.
        """
        if not self.is_linked:
            if self._imagery == "tiles":
                raise BadInput(
                    "`imagery: tiles` needs the Map Tiles API, which the key may not use: enable it, or set "
                    "`imagery: static`"
                )
            return View(pano_id, camera, static_view(self._http, pano_id, camera))
        if self._imagery == "tiles":
            return View(pano_id, camera, self._mosaic(pano_id).view(camera))
        try:
            if camera.width <= self._thumbnail[0] and camera.height <= self._thumbnail[1]:
                return View(pano_id, camera, self._tiles.thumbnail(pano_id, camera))
            return View(pano_id, camera, static_view(self._http, pano_id, camera))
        except NoImagery:
            self._capture(pano_id)  # tells a panorama without pictures from no panorama
            raise

    def _panorama_within(self, pano_id: str | None, position: LatLng, radius: float) -> Panorama | None:
        """Return the panorama with this id; `None` if none, or none within `radius` m of a position."""
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


def _check(radius: float) -> None:
    """Raise `BadInput` for a radius outside (0, 1000] metres."""
    if not 0 < radius <= MAX_RADIUS_M:
        raise BadInput(f"radius {radius:g} is outside (0, {MAX_RADIUS_M:g}] metres")
