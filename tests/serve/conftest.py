from collections.abc import Iterator

import httpx
import pytest

from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.providers import open_city
from virl.serve.city_server import ServedCity
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city

KEY = "AIza-test"


@pytest.fixture(scope="package")
def city() -> City:
    opened = open_city("virlton")
    opened.streetview.view("vt-00042", Camera(0, width=64, height=48))  # the first picture takes seconds
    return opened


@pytest.fixture(scope="package")
def server(city: City) -> Iterator[ServedCity]:
    with serve_city(city, ServeOptions(page_delay_s=0.5, panorama_width=1024)) as server:
        yield server


@pytest.fixture
def client(server: ServedCity) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, params={"key": KEY}, timeout=30) as client:
        yield client


@pytest.fixture
def session(client: httpx.Client) -> str:
    body = {"mapType": "streetview", "language": "en-US", "region": "US"}
    return str(client.post("/v1/createSession", json=body).json()["session"])
