"""Puts the endpoints of Panoramax together."""

from starlette.types import ASGIApp

from virl.platform.city import City
from virl.serve.google.pictures import Painter
from virl.serve.google.stats import Stats
from virl.serve.panoramax.pictures import PictureFiles
from virl.serve.panoramax.search import Catalogue, refused
from virl.serve.uploads.dispatch import PictureEndpoint, make_server
from virl.serve.uploads.options import UploadOptions
from virl.serve.uploads.painting import Painting
from virl.serve.uploads.uploads import Uploads
from virl.serve.work import Pools

DEFAULT_PORT = 8767


def make_app(city: City, options: UploadOptions, stats: Stats, pools: Pools) -> ASGIApp:
    """The server of the pictures of a town.

    Raises:
        BadInput: the town has no whole panoramas, or does not know them at once.
    """
    uploads = Uploads(city, options)
    catalogue = Catalogue(uploads)
    files = PictureFiles(catalogue, Painting.of(city, options.width), Painter(lossless=False))
    one, many = "/api/collections/{collection}", "/api/collections"
    picture = "/api/pictures/{picture}"
    endpoints = [
        PictureEndpoint("landing", "/api/", catalogue.landing),
        PictureEndpoint("instances", "/api/instances", catalogue.instances),
        PictureEndpoint("search", "/api/search", catalogue.search),
        PictureEndpoint("collections", many, catalogue.collections),
        PictureEndpoint("collection", one, catalogue.collection),
        PictureEndpoint("items", f"{one}/items", catalogue.items),
        PictureEndpoint("item", f"{one}/items/{{picture}}", catalogue.item),
        PictureEndpoint("picture", picture, catalogue.item),
        PictureEndpoint("hd", f"{picture}/hd.jpg", files.hd, draws=True),
        PictureEndpoint("sd", f"{picture}/sd.jpg", files.sd, draws=True),
        PictureEndpoint("thumb", f"{picture}/thumb.jpg", files.thumb, draws=True),
        PictureEndpoint("tile", f"{picture}/tiled/{{tile}}.jpg", files.tile, draws=True),
    ]
    return make_server(f"Panoramax of {city.title}", endpoints, refused, options, stats, pools)
