"""Street view as far as the key reaches: with links where it may use Map Tiles, without where it may not."""

from collections.abc import Sequence
from threading import Lock

from virl.errors import BadInput
from virl.geo import LatLng
from virl.platform.providers.google.options import Imagery
from virl.platform.providers.google.streetview import GoogleStreetView, LinklessStreetView
from virl.platform.streetview import Camera, Panorama, View

TILES_REFUSED = (
    "`imagery: tiles` needs the Map Tiles API, which the key may not use: enable it, or set `imagery: static`"
)


class KeyedStreetView:
    """Street view of Google Maps. The first question that matters finds out what the key may use.

    Args:
        linked: for keys with Map Tiles.
        linkless: for keys without.
        imagery: where views should come from.
    """

    def __init__(self, linked: GoogleStreetView, linkless: LinklessStreetView, imagery: Imagery) -> None:
        self._linked = linked
        self._linkless = linkless
        self._imagery = imagery
        self._is_linked: bool | None = None
        self._lock = Lock()

    @property
    def is_linked(self) -> bool:
        """Whether the key may use Map Tiles; asked once, free of charge."""
        with self._lock:
            if self._is_linked is None:
                self._is_linked = self._linked.is_allowed()
            return self._is_linked

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """As `StreetView.nearest`."""
        found = self._linkless.nearest(position, radius)
        return self._linked.within(found.id, position, radius) if found and self.is_linked else found

    def nearest_many(self, positions: Sequence[LatLng], radius: float = 50.0) -> list[Panorama | None]:
        """As `GoogleStreetView.nearest_many`, or `LinklessStreetView.nearest_many`."""
        return self._chosen.nearest_many(positions, radius)

    def panorama(self, pano_id: str) -> Panorama:
        """As `StreetView.panorama`."""
        return self._chosen.panorama(pano_id)

    def view(self, pano_id: str, camera: Camera) -> View:
        """As `StreetView.view`.

        Raises:
            BadInput: views should come from tiles, and the key may not use them.
        """
        if self._imagery == "tiles" and not self.is_linked:
            raise BadInput(TILES_REFUSED)
        return self._chosen.view(pano_id, camera)

    @property
    def _chosen(self) -> GoogleStreetView | LinklessStreetView:
        return self._linked if self.is_linked else self._linkless
