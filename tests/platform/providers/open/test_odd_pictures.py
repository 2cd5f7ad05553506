"""Odd lists and pictures of shared pictures are read as far as they can be, and the rest is counted."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import cv2
import numpy as np
import pytest
from loopback import LoopbackServer, Quiet
from PIL import Image as Image_

from virl.errors import NoImagery, ProviderError
from virl.geo.globe import LatLng
from virl.platform.city.left_out import LeftOut
from virl.platform.city.streetview import Camera, Image
from virl.platform.providers.open.cells import Cell, cell_at
from virl.platform.providers.open.picture_services import THIN, PictureClient, Shot, TileMatrix
from virl.platform.providers.open.shots import (
    KeptPictures,
    ShotLists,
    load_open_settings,
    open_pictures,
    picture_settings,
    pictures_of,
)
from virl.platform.providers.open.streetview import ExploredGraph, Extent, OpenStreetView, tiled_panorama
from virl.platform.providers.pictures.picture import captures
from virl.platform.providers.pictures.projection import equirectangular, paste_tile, perspective
from virl.platform.providers.provider import Access

HERE = LatLng(48.58, 7.75)
CELL = cell_at(HERE)
SHOT = Shot(
    id="p",
    lat=48.58,
    lng=7.75,
    heading=90.0,
    fov=360.0,
    sequence="s",
    rank=1,
    taken=datetime(2024, 6, 1, tzinfo=UTC),
)
Query = dict[str, str]


@dataclass
class Scripted:
    """A server that answers by a function of path and query."""

    answer: Callable[[str, Query], tuple[int, object]] = lambda *_: (404, {})
    asked: list[tuple[str, Query]] = field(default_factory=list)
    url: str = ""
    left_out: LeftOut = field(default_factory=LeftOut)

    def client(self, name: str, page: int = 2000) -> PictureClient:
        settings = picture_settings(name, self.url).model_copy(update={"page": page})
        return open_pictures(name, settings, Access(left_out=self.left_out))[0]

    def says(self, *replies: object) -> None:
        """Give these replies in turn, the last one again and again."""
        self.answer = lambda *_: (200, replies[min(len(self.asked), len(replies)) - 1])


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    scripted = Scripted()

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            scripted.asked.append((parts.path, query))
            status, told = scripted.answer(parts.path, query)
            body = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    monkeypatch.setenv("MAPILLARY_ACCESS_TOKEN", "MLY|1234567890|of-nobody")
    with LoopbackServer(Handler) as server:
        scripted.url = f"http://{server.host}"
        yield scripted


def item(number: int, *, camera: object = None, **properties: object) -> dict[str, Any]:
    """A panorama of Panoramax, a few metres east of the one before it."""
    return {
        "id": f"p{number}",
        "collection": "drive",
        "geometry": {"type": "Point", "coordinates": [HERE.lng + number * 1e-5, HERE.lat]},
        "properties": {
            "datetime": f"2024-06-01T10:{number // 60:02}:{number % 60:02}Z",
            "license": "etalab-2.0",
            "view:azimuth": 90,
            "geovisio:producer": "Ada",
            "pers:interior_orientation": camera or {"field_of_view": 360},
        }
        | properties,
    }


def image(number: int, **told: object) -> dict[str, Any]:
    """A panorama of Mapillary."""
    return {
        "id": str(number),
        "geometry": {"type": "Point", "coordinates": [HERE.lng + number * 1e-5, HERE.lat]},
        "compass_angle": 30.0,
        "camera_type": "spherical",
        "is_pano": True,
        "captured_at": 1_717_243_200_000 + number * 2000,
        "sequence": "drive",
        "creator": {"username": "ada"},
    } | told


def ids(shots: object) -> list[str]:
    assert isinstance(shots, list)
    return [shot.id for shot in shots]


def tiles(width: float, columns: int, rows: int) -> dict[str, object]:
    matrix = {"tileWidth": width, "matrixWidth": columns, "matrixHeight": rows}
    return {"tiles:tile_matrix_sets": {"geovisio": {"tileMatrix": [matrix]}}}


ODD_ITEMS: dict[str, Callable[[dict[str, Any]], object]] = {
    "altitude": lambda one: one["geometry"]["coordinates"].append(143.2),
    "no licence": lambda one: one["properties"].update(license=None),
    "no camera": lambda one: one["properties"].update({"pers:interior_orientation": None}),
    "no roles": lambda one: one.update(providers=[{"name": "Ada", "roles": None}]),
    "no zone": lambda one: one["properties"].update(datetime="2024-06-01T10:00:00"),
    "no tiles": lambda one: one["properties"].update({"tiles:tile_matrix_sets": None}),
    "no rank": lambda one: one["properties"].update({"geovisio:rank_in_collection": None}),
    "part of a tile": lambda one: one["properties"].update(tiles(687.5, 16, 8)),
}


@pytest.mark.parametrize("make_odd", ODD_ITEMS.values(), ids=list(ODD_ITEMS))
def test_an_odd_item_is_read(served: Scripted, make_odd: Callable[[dict[str, Any]], object]) -> None:
    odd = item(1)
    make_odd(odd)
    served.says({"features": [item(0), odd, item(2)]})
    assert ids(served.client("panoramax").shots(CELL)) == ["p0", "p1", "p2"]
    assert not served.left_out.omissions()


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("panoramax", {"features": [item(0), item(1) | {"geometry": None}, item(2)]}),
        ("mapillary", {"data": [image(0), image(1, captured_at=None), image(2)]}),
        ("mapillary", {"data": [image(0), image(1, is_pano=False, camera_type="fisheye"), image(2)]}),
    ],
)
def test_what_cannot_be_read_is_counted_and_named(served: Scripted, name: str, reply: object) -> None:
    served.says(reply)
    assert len(ids(served.client(name).shots(CELL))) == 2
    (told,) = served.left_out.omissions()
    assert told.count == 1
    assert "1)" in told.reasons[0]


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("panoramax", {"features": [item(0), item(1) | {"geometry": None}]}),
        ("mapillary", {"data": [image(0), image(1, captured_at=None)]}),
    ],
)
def test_a_full_page_is_full_with_those_that_cannot_be_read(
    served: Scripted, name: str, reply: object
) -> None:
    served.says(reply)
    assert served.client(name, page=2).shots(CELL) is None


def test_the_next_page_is_followed(served: Scripted) -> None:
    pages = [[item(0), item(1)], [item(2), item(3)], [item(4)]]

    def answer(_: str, query: Query) -> tuple[int, object]:
        number = int(query.get("token", "0"))
        links = [{"rel": "next", "href": f"/api/search?token={number + 1}"}] if number < 2 else []
        return 200, {"features": pages[number], "links": links}

    served.answer = answer
    assert ids(served.client("panoramax").shots(CELL)) == ["p0", "p1", "p2", "p3", "p4"]
    assert len(served.asked) == 3


@pytest.mark.parametrize(
    "told",
    [{"links": [{"rel": "next", "href": "https://elsewhere.example/api/search"}]}, {"numberMatched": 3}],
)
def test_a_page_that_cannot_be_followed_is_split(served: Scripted, told: dict[str, object]) -> None:
    served.says({"features": [item(0)]} | told)
    assert served.client("panoramax").shots(CELL) is None


@pytest.mark.parametrize(("count", "is_split"), [(THIN, True), (THIN - 1, False)])
def test_a_next_page_that_is_none_of_the_search_is_not_followed_on(
    served: Scripted, count: int, is_split: bool
) -> None:
    listed = {"features": [item(number) for number in range(count)]}
    served.says(listed | {"links": [{"rel": "next", "href": "/api/search?token=next"}]})
    shots = served.client("panoramax").shots(CELL)
    assert shots is None if is_split else len(shots or ()) == count
    assert len(served.asked) == 2


def test_a_credit_links_to_a_page(served: Scripted) -> None:
    served.says({"features": [item(0)]})
    (shot,) = served.client("panoramax").shots(CELL) or ()
    assert shot.page == f"{served.url}/#focus=pic&pic=p0"


def test_pictures_without_rank_are_in_order_of_time(served: Scripted) -> None:
    served.says({"features": [item(number) | {"id": f"z{9 - number}"} for number in range(9)]})
    pictures = pictures_of(served.client("panoramax").shots(CELL) or ())
    ordered = captures(pictures).pictures
    assert [one.id for one in ordered] == [f"z{9 - number}" for number in range(9)]


def test_a_camera_without_compass_looks_the_way_it_goes(served: Scripted) -> None:
    served.says({"data": [image(0, compass_angle=-1), image(1, compass_angle=-1.0)]})
    shots = served.client("mapillary").shots(CELL) or ()
    assert [shot.heading for shot in shots] == [None, None]
    assert [one.attitude.heading for one in pictures_of(shots)] == pytest.approx([90.0, 90.0], abs=0.1)


@pytest.mark.parametrize("kind", [{}, {"camera_type": None}])
def test_a_picture_of_no_camera_type_is_flat(served: Scripted, kind: dict[str, None]) -> None:
    flat = image(0, is_pano=False)
    del flat["camera_type"]
    served.says({"data": [flat | kind]})
    (shot,) = served.client("mapillary").shots(CELL) or ()
    assert shot.fov == 70.0


def test_a_refused_token_is_named(served: Scripted) -> None:
    error = {"message": "Invalid OAuth 2.0 Access Token", "type": "MLYApiException", "code": 190}
    served.answer = lambda *_: (400, {"error": error})
    with pytest.raises(ProviderError, match="check MAPILLARY_ACCESS_TOKEN"):
        served.client("mapillary").shots(CELL)
    assert len(served.asked) == 1


def painted(width: int) -> Image:
    """A panorama whose colours change with the place."""
    across = np.linspace(0, 255, width)[None, :].repeat(width // 2, axis=0)
    down = np.linspace(0, 255, width // 2)[:, None].repeat(width, axis=1)
    return np.stack([across, down, np.full_like(across, 128)], axis=-1).astype(np.uint8)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("width", [1280, 1100])
def test_tiles_of_any_size_go_to_their_places(scale: float, width: int) -> None:
    whole, columns = painted(width), 16
    side = width // columns

    def fetch(part: str) -> Image:
        column, row = (int(number) for number in part.split("-")[1:])
        cut = whole[row * side : (row + 1) * side, column * side : (column + 1) * side]
        return np.asarray(cv2.resize(cut, None, fx=scale, fy=scale))

    (held,) = pictures_of([SHOT])
    tiles = TileMatrix(href="", columns=columns, rows=columns // 2, side=width / columns)
    tiled = tiled_panorama(tiles, held.attitude, fetch)
    panorama = equirectangular(whole, attitude=held.attitude)
    for camera in (Camera(200.0, 0.0, 100.0, 96, 96), Camera(272.0, -60.0, 100.0, 96, 96)):
        off = np.abs(tiled.view(camera).astype(float) - perspective(panorama, camera))
        assert off.mean() < 3
        assert np.percentile(off, 98) < 12


@pytest.mark.parametrize(("height", "width"), [(512, 512), (512, 256), (128, 512), (128, 256)])
@pytest.mark.parametrize("given", [256, 512, 1024])
def test_a_tile_at_the_edge_is_scaled_before_it_is_cut(height: int, width: int, given: int) -> None:
    whole = painted(1024)[:, :512]
    place = np.zeros((height, width, 3), np.uint8)
    paste_tile(place, np.asarray(cv2.resize(whole, (given, given))), 512)
    assert np.abs(place.astype(float) - whole[:height, :width]).max() < 3


def test_a_part_of_a_panorama_shows_what_lies_there_and_nothing_elsewhere(served: Scripted) -> None:
    whole = painted(1024)
    part = Image_.fromarray(whole[128:384, 256:640])  # margins as of the camera below, 135 of 360 degrees
    camera = {
        "field_of_view": 360,
        "sensor_array_dimensions": [2000, 1000],
        "visible_area": [500, 250, 750, 250],
    }
    written = BytesIO()
    part.save(written, "PNG")
    listed = {"features": [item(number, camera=camera) for number in range(3)]}
    served.answer = lambda path, _: (200, listed if path == "/api/search" else written.getvalue())
    client = served.client("panoramax")
    explored = ExploredGraph(ShotLists(client.shots, None, 30.0), Extent(HERE, None, 50.0))
    street = OpenStreetView("Panoramax", explored, client, KeptPictures(None, "x", load_open_settings()))
    shot = explored.graph.pictures["p0"]
    assert (shot.fov, shot.attitude.heading) == pytest.approx((135.0, 67.5))
    true = equirectangular(whole, 90.0)
    for heading in (30.0, 67.5, 110.0):
        seen = Camera(heading, fov=40.0, width=64, height=64)
        off = np.abs(street.view("p0", seen).pixels.astype(float) - perspective(true, seen))
        assert off.mean() < 2
    for heading in (180.0, 270.0, 340.0):
        with pytest.raises(NoImagery, match="field of view of 135"):
            street.view("p0", Camera(heading, fov=40.0, width=64, height=64))


def test_a_search_that_gives_too_few_is_asked_again_and_its_sequences_are_completed(served: Scripted) -> None:
    boxes: list[list[dict[str, Any]]] = [[], [image(0), image(3)]]

    def answer(path: str, query: Query) -> tuple[int, object]:
        if path == "/image_ids":
            return 200, {"data": [{"id": str(number)} for number in range(13)]}
        if "image_ids" in query:
            return 200, {"data": [image(int(one)) for one in query["image_ids"].split(",")]}
        return 200, {"data": boxes.pop(0)}

    served.answer = answer
    client = served.client("mapillary")
    assert sorted(ids(client.shots(CELL)), key=int) == [str(number) for number in range(13)]
    assert len(served.asked) == 4


def test_a_sequence_without_a_list_is_counted(served: Scripted) -> None:
    served.answer = lambda path, _: (200, {"data": [image(0)]}) if path == "/images" else (404, {})
    assert ids(served.client("mapillary").shots(CELL)) == ["0"]
    (told,) = served.left_out.omissions()
    assert "may lack pictures" in told.reasons[0]


@pytest.mark.parametrize(("count", "hours"), [(0, 6), (5, 6), (THIN, 24 * 30)])
def test_a_list_of_few_is_kept_for_hours(count: int, hours: int, tmp_path: Path) -> None:
    now, asked = [1e9], list[Cell]()

    def ask(cell: Cell) -> list[Shot]:
        asked.append(cell)
        return [SHOT] * count

    lists = ShotLists(ask, tmp_path, 30.0, clock=lambda: now[0])
    for passed, times in ((0.0, 1), (hours - 0.1, 1), (0.2, 2)):
        now[0] += passed * 3600
        assert len(lists.of(CELL)) == count
        assert len(asked) == times
