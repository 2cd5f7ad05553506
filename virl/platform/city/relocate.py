"""Relocate from where there may be no imagery: ask ever wider."""

import logging
from collections.abc import Sequence

from virl.errors import NoStreetView
from virl.geo.globe import LatLng, distance
from virl.platform.city.streetview import Panorama, StreetView

RADII_M = (50.0, 100.0, 200.0, 400.0, 800.0)
"""Search radii in metres (chosen): from Google's default to the other end of a large park, each doubled."""

_log = logging.getLogger(__name__)


def relocate(
    streetview: StreetView, position: LatLng, place: str, radii: Sequence[float] = RADII_M
) -> Panorama:
    """Return the panorama nearest to a position, within the first of ever wider radii that holds one.

    Args:
        streetview: who is asked, at most once for each radius.
        position: any position on Earth.
        place: what the position is, for the error, such as `"the start"`.
        radii: metres, each in (0, 1000], rising.

    Raises:
        NoStreetView: there is none within the widest.
    """
    for radius in radii:
        panorama = streetview.nearest(position, radius)
        if panorama is not None:
            if radius > radii[0]:
                metres = distance(position, panorama.position)
                _log.info("%s: the nearest street view is %.0f m from %s", place, metres, position)
            return panorama
    raise NoStreetView(
        f"no street view within {max(radii):g} m of {place} at {position}: choose one closer to a street"
    )
