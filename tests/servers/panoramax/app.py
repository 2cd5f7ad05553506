"""Endpoints of the Panoramax stand-in."""

from starlette.types import ASGIApp

from servers.dispatch import OpenEndpoint, make_server
from servers.options import UploadOptions
from servers.panoramax.pictures import PictureFiles
from servers.panoramax.search import Catalogue, refused
from servers.uploads.painting import Painting
from servers.uploads.uploads import Uploads
from virl.platform.city.city import City
from virl.serve.city_server import Pools, Stats
from virl.serve.google.pictures import Painter

DEFAULT_PORT = 8767


def make_app(city: City, options: UploadOptions, stats: Stats, pools: Pools) -> ASGIApp:
    """Return the server of the pictures of a town.

    Raises:
        BadInput: the town has no whole panoramas, or does not know them at once.
    """
    uploads = Uploads(city, options)
    catalogue = Catalogue(uploads)
    files = PictureFiles(catalogue, Painting.of(city, options.width), Painter(lossless=False))
    one, many = "/api/collections/{collection}", "/api/collections"
    picture = "/api/pictures/{picture}"
    endpoints = [
        OpenEndpoint("landing", "/api/", catalogue.landing),
        OpenEndpoint("instances", "/api/instances", catalogue.instances),
        OpenEndpoint("search", "/api/search", catalogue.search),
        OpenEndpoint("collections", many, catalogue.collections),
        OpenEndpoint("collection", one, catalogue.collection),
        OpenEndpoint("items", f"{one}/items", catalogue.items),
        OpenEndpoint("item", f"{one}/items/{{picture}}", catalogue.item),
        OpenEndpoint("picture", picture, catalogue.item),
        OpenEndpoint("hd", f"{picture}/hd.jpg", files.hd, draws=True),
        OpenEndpoint("sd", f"{picture}/sd.jpg", files.sd, draws=True),
        OpenEndpoint("thumb", f"{picture}/thumb.jpg", files.thumb, draws=True),
        OpenEndpoint("tile", f"{picture}/tiled/{{tile}}.jpg", files.tile, draws=True),
    ]
    return make_server(f"Panoramax of {city.title}", endpoints, refused, options, stats, pools)
