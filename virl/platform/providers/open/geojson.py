"""Positions in replies, as GeoJSON has them."""

from virl.platform.providers.http.bodies import Latitude, Longitude, ReplyBody


class PointBody(ReplyBody):
    """A point: longitude before latitude."""

    coordinates: tuple[Longitude, Latitude]
