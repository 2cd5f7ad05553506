"""A service of pictures that a package brings: KartaView, at a server that speaks its format."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import PIL.Image
import pytest
from loopback import LoopbackServer, Quiet
from made_package import PLUGIN, install_plugin
from typer.testing import CliRunner

from virl.cli.main import app
from virl.doctor.open_services import ask_open
from virl.errors import BadInput, ProviderError
from virl.geo.globe import LatLng, destination, distance
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import open_city, opened_city, read_city
from virl.platform.providers.open.city_file import OpenCity
from virl.platform.providers.provider import Access

CENTER = LatLng(52.37, 4.9)
SPOTS = [destination(CENTER, 90.0, 12.0 * step) for step in range(6)]
PAGE = 4  # photos of a page at this server


def _picture() -> bytes:
    file = BytesIO()
    PIL.Image.new("RGB", (512, 256), "orange").save(file, "JPEG")
    return file.getvalue()


class KartaViewServer(LoopbackServer):
    """Photos on a street, in the format of `api.openstreetcam.org/2.0`: numbers are text."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.refuses = False
        here, picture = self, _picture()

        class Handler(Quiet, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if parts.path.endswith(".jpg"):
                    return self._answer(picture, "image/jpeg")
                assert parts.path == "/2.0/photo/"
                here.asked.append(dict(parse_qsl(parts.query)))
                return self._answer(json.dumps(here.photos(here.asked[-1])).encode(), "application/json")

            def _answer(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        super().__init__(Handler)

    def photos(self, query: dict[str, str]) -> dict[str, object]:
        """Return the reply to a search."""
        if self.refuses:
            return {"status": {"apiCode": "401", "apiMessage": "You have to be authenticated"}}
        middle, radius = LatLng(float(query["lat"]), float(query["lng"])), float(query["radius"])
        near = [number for number, spot in enumerate(SPOTS) if distance(middle, spot) <= radius]
        first = (int(query["page"]) - 1) * PAGE
        page = near[first : first + PAGE]
        status = {"apiCode": "600" if page else "601", "apiMessage": "The request has been processed"}
        result = {"data": [self._photo(number) for number in page], "hasMoreData": len(near) > first + PAGE}
        return {"status": status, "result": result}

    def _photo(self, number: int) -> dict[str, object]:
        return {
            "id": str(1000 + number),
            "lat": f"{SPOTS[number].lat:.7f}",
            "lng": f"{SPOTS[number].lng:.7f}",
            "heading": "90.00",
            "projection": "SPHERE",
            "fieldOfView": "360",
            "sequenceId": "3879193",
            "sequenceIndex": str(number),
            "shotDate": "2023-01-01 10:00:00.000",
            "fileurlProc": f"{self.url}/proc/{number}.jpg",
            "fileurlLTh": f"{self.url}/lth/{number}.jpg",
            "username": "someone",
            "cameraParameters": None,
        }


@pytest.fixture(autouse=True)
def _package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_plugin(monkeypatch, tmp_path / "site")
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VIRL_KARTAVIEW_URL", raising=False)


@pytest.fixture
def server() -> Iterator[KartaViewServer]:
    with KartaViewServer() as server:
        yield server


@pytest.fixture
def file(server: KartaViewServer, tmp_path: Path) -> Path:
    """A city file that names KartaView."""
    file = tmp_path / "amsterdam.yaml"
    file.write_text(
        "title: Amsterdam\nabout: Pictures of KartaView\nprovider: open\nstreetview: kartaview\n"
        f"kartaview_url: {server.url}\ncenter: [{CENTER.lat}, {CENTER.lng}]\nreach_m: 60\n"
    )
    return file


def test_a_city_of_its_pictures_opens_relocates_and_gives_a_view(file: Path, server: KartaViewServer) -> None:
    with opened_city(str(file), Access()) as city:
        assert "KartaView" in city.attribution
        here = city.streetview.nearest(destination(CENTER, 90.0, 25.0), 50.0)
        assert here is not None
        assert here.id == "1002"
        assert {link.pano_id for link in here.links} >= {"1001", "1003"}
        view = city.streetview.view(here.id, Camera(45.0, width=64, height=64))
        assert abs(view.pixels.astype(int) - [255, 165, 0]).max() < 20
        assert city.ledger is not None
        sent = city.ledger.take().sent
    pages = [asked["page"] for asked in server.asked]
    assert sent == {"kartaview_photos": len(pages), "kartaview_sd": 1}
    assert "2" in pages
    with opened_city(str(file), Access()) as city:
        assert city.streetview.nearest(CENTER, 50.0)
    assert len(server.asked) == len(pages), "lists are kept on disk"


def test_a_recorded_walk_is_replayed_without_the_server(file: Path, tmp_path: Path) -> None:
    with opened_city(str(file), Access(record=tmp_path / "replies")) as city:
        found = city.streetview.nearest(CENTER, 50.0)
    file.write_text(file.read_text().replace("kartaview_url", "# kartaview_url"))
    with opened_city(str(file), Access(replay=tmp_path / "replies")) as city:
        assert city.streetview.nearest(CENTER, 50.0) == found


def test_a_refusal_in_a_good_reply_is_told_in_its_own_words(file: Path, server: KartaViewServer) -> None:
    server.refuses = True
    with opened_city(str(file), Access()) as city, pytest.raises(ProviderError) as refused:
        city.streetview.nearest(CENTER, 50.0)
    assert "code 401: You have to be authenticated" in str(refused.value)
    assert (refused.value.status, refused.value.verdict) == (401, "refused")
    assert len(server.asked) == 1


def test_the_commands_check_and_doctor_know_it(file: Path) -> None:
    done = CliRunner().invoke(app, ["check", str(file)])
    assert done.exit_code == 0, done.output
    read = read_city(file)
    assert isinstance(read, OpenCity)
    first, second = ask_open("amsterdam", read)
    assert first.service.startswith("KartaView (http://127.0.0.1")
    assert (first.status, second.status) == ("reached", "reached")
    assert "CC-BY-SA-4.0" in first.detail


def test_a_service_that_nobody_brings_is_refused_with_the_names_of_the_others(file: Path) -> None:
    file.write_text(file.read_text().replace("streetview: kartaview", "streetview: kartavue"))
    with pytest.raises(BadInput, match=r"kartavue.*kartaview"):
        open_city(str(file))


def test_its_client_has_at_most_80_lines() -> None:
    assert len((PLUGIN / "mytown/kartaview/client.py").read_text().splitlines()) <= 80


def test_a_server_that_is_none_is_refused_at_its_line(file: Path) -> None:
    file.write_text(file.read_text().replace("kartaview_url: http:", "kartaview_url: nonsense:"))
    with pytest.raises(BadInput, match=r"line 5: kartaview_url: must match the pattern"):
        open_city(str(file))
