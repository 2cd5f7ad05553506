"""Endpoints of the Mapillary stand-in."""

from starlette.types import ASGIApp

from servers.dispatch import OpenEndpoint, make_server
from servers.mapillary.graph_api import GraphApi, refused
from servers.mapillary.thumbs import Thumbs
from servers.options import UploadOptions
from servers.uploads.painting import Painting
from servers.uploads.uploads import Uploads
from virl.platform.city.city import City
from virl.serve.city_server import Pools, Stats
from virl.serve.google.pictures import Painter

DEFAULT_PORT = 8768


def make_app(city: City, options: UploadOptions, stats: Stats, pools: Pools) -> ASGIApp:
    """Return the server of the pictures of a town.

    Raises:
        BadInput: the town has no whole panoramas, or does not know them at once.
    """
    uploads = Uploads(city, options)
    thumbs = Thumbs(uploads, Painting.of(city, options.width), Painter(lossless=False))
    api = GraphApi(uploads, thumbs)
    endpoints = [
        OpenEndpoint("images", "/images", api.images),
        OpenEndpoint("image_ids", "/image_ids", api.image_ids),
        OpenEndpoint("thumb", "/thumbs/{image}/{size}.jpg", thumbs.picture, draws=True),
        OpenEndpoint("image", "/{image}", api.image),
    ]
    return make_server(f"Mapillary of {city.title}", endpoints, refused, options, stats, pools)
