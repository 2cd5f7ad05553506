"""Street View Static: pictures, and their metadata, which is free."""

import re
from dataclasses import dataclass

from fastapi import Response

from virl.errors import NoImagery, NoStreetView, NotFound
from virl.geo.globe import LatLng, bearing, distance
from virl.platform.city.city import City
from virl.platform.city.streetview import MAX_FOV, MAX_RADIUS_M, MIN_FOV, Camera, Image, Panorama
from virl.serve.google.options import Oddities
from virl.serve.google.pictures import Painter, no_imagery
from virl.serve.google.reading import optional_number, position_in
from virl.serve.google.wire import Ask, answer, invalid

COPYRIGHT = "\u00a9 Google"
MAX_SIDE = 640  # pixels, limit of Street View Static
RADIUS_M = 50.0  # default of Street View Static


@dataclass(frozen=True, slots=True)
class StaticStreetView:
    """Handlers of `/maps/api/streetview` and `/maps/api/streetview/metadata`.

    Args:
        city: what is served.
        painter: encodes pictures.
        odd: which panoramas are indoors.
    """

    city: City
    painter: Painter
    odd: Oddities

    def metadata(self, ask: Ask) -> Response:
        """Answer with the place of the panorama that a picture would be taken from."""
        try:
            found = self._panorama(ask)
        except NotFound:
            return answer({"status": "NOT_FOUND"})
        if found is None:
            return answer({"status": "ZERO_RESULTS"})
        panorama, _ = found
        dated = {} if panorama.date is None else {"date": panorama.date}
        location = {"lat": panorama.position.lat, "lng": panorama.position.lng}
        return answer(
            {
                "copyright": self.city.attribution or COPYRIGHT,
                **dated,
                "location": location,
                "pano_id": panorama.id,
                "status": "OK",
            }
        )

    def image(self, ask: Ask) -> Response:
        """Return the picture; a gray one where there is none, with 404 if `return_error_code` says so."""
        width, height = _parse_size(ask.query.get("size", ""))
        try:
            found = self._panorama(ask)
            if found is not None:
                return self.painter.picture(self._draw(ask, *found, width, height))
        except (NotFound, NoImagery):
            pass
        code = 404 if ask.query.get("return_error_code", "").lower() == "true" else 200
        return self.painter.picture(no_imagery(width, height), code)

    def _draw(self, ask: Ask, panorama: Panorama, wanted: LatLng | None, width: int, height: int) -> Image:
        """Return the view asked for; by default towards the position that was wanted."""
        toward = panorama.heading if wanted is None else bearing(panorama.position, wanted)
        camera = Camera(
            heading=optional_number(ask.query, "heading", -360, 360, toward),
            pitch=optional_number(ask.query, "pitch", -90, 90, 0.0),
            fov=optional_number(ask.query, "fov", MIN_FOV, MAX_FOV, 90.0),
            width=width,
            height=height,
        )
        return self.city.streetview.view(panorama.id, camera).pixels

    def _panorama(self, ask: Ask) -> tuple[Panorama, LatLng | None] | None:
        """Return the panorama asked for, and the position where one was given.

        `None` if there is none near it.
        """
        pano, location = ask.query.get("pano"), ask.query.get("location")
        if ask.query.get("source", "default") not in {"default", "outdoor"}:
            raise invalid("Invalid request. Invalid 'source' parameter.")
        if pano:
            try:
                return self.city.streetview.panorama(pano), None
            except NoStreetView:
                return None
        if not location:
            raise invalid("Invalid request. Missing the 'location' or 'pano' parameter.")
        wanted = position_in(location) or self.city.maps.geocode(location)
        radius = optional_number(ask.query, "radius", 1, 1e6, RADIUS_M)
        radius = min(radius, MAX_RADIUS_M)
        panorama = self.city.streetview.nearest(wanted, radius)
        if panorama and ask.query.get("source") == "outdoor":
            panorama = self._outdoors(panorama, wanted, radius)
        return None if panorama is None else (panorama, wanted)

    def _outdoors(self, panorama: Panorama, wanted: LatLng, radius: float) -> Panorama | None:
        """Return the panorama if it is outdoors, else one that is, a few links away."""
        seen, level = {panorama.id}, [panorama]
        while level:
            if found := [one for one in level if not self.odd.has("indoor", one.id)]:
                return min(found, key=lambda one: distance(wanted, one.position))
            linked = dict.fromkeys(link.pano_id for one in level for link in one.links)
            ahead = [self.city.streetview.panorama(name) for name in linked if name not in seen]
            seen |= linked.keys()
            level = [one for one in ahead if distance(wanted, one.position) <= radius]
        return None


def _parse_size(text: str) -> tuple[int, int]:
    """Return (width, height), pixels, of a text such as "640x480"; refuses others."""
    found = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    sides = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(16 <= side <= MAX_SIDE for side in sides):
        raise invalid(
            "The Google Maps Platform server rejected your request. Invalid 'size' parameter: "
            f"give WIDTHxHEIGHT, each from 16 to {MAX_SIDE}."
        )
    return sides
