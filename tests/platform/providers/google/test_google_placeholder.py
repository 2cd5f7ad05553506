"""A key such as `any`, which words and pictures hold by chance: what comes back is as it was sent."""

import numpy as np
import pytest
from scripted_google import PICTURE, ScriptedGoogle, answer, client, good
from served_google import google_http

from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.client import Call
from virl.platform.providers.google.settings import Keys
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

GEOCODE = Call("geocode", query={"address": "1 Main St"})
IMAGE = Call("static_image", query={"pano": "a"})
LONG = "AIza-marker-0123456789"


def test_a_short_key_is_left_in_replies_and_a_real_one_is_not() -> None:
    said = {"status": "OK", "review": f"Far too many people. {LONG}"}
    for key, review in (("any", said["review"]), (LONG, "Far too many people. ***")):
        script = [good(said), answer(200, PICTURE + b"any")]
        with ScriptedGoogle(script) as server, client(server, keys=Keys(key)) as http:
            assert http.json(http.request(GEOCODE))["review"] == review
            assert http.bytes(http.request(IMAGE)) == PICTURE + b"any"


@pytest.mark.slow
def test_views_and_reviews_are_those_of_the_city(virlton: City) -> None:
    panos = [f"vt-{number:05}" for number in range(40, 60)]
    with (
        serve_city(virlton, ServeOptions(lossless=True, page_delay_s=0.0)) as server,
        google_http(server.url, "any") as http,
    ):
        google = open_google("served", "Served", virlton.center, None, http)
        for pano in panos:
            camera = Camera(90.0, width=320, height=240)
            drawn = virlton.streetview.view(pano, camera).pixels
            assert np.array_equal(google.streetview.view(pano, camera).pixels, drawn)
        reviews = 0
        for place in virlton.places.nearby(virlton.center, 400):
            ours = virlton.places.details(place.id).reviews
            assert [review.text for review in google.places.details(place.id).reviews] == [
                review.text for review in ours
            ]
            reviews += len(ours)
    assert reviews > 90
