"""A run that died of replies that nobody can read goes on once they can be read."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from served_google import MARKER_KEY
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl.cli.main import app
from virl.platform.providers.cities import open_city
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

_PASSED = ("content-type", "x-goog-api-key", "x-goog-fieldmask")


@dataclass
class Between:
    """Stands between a client and a server, and cuts pictures in half once it has passed some."""

    server: str
    whole: int | None = None
    """Pictures that are passed whole; `None` for all."""
    pictures: int = 0
    url: str = ""

    def cut(self, kind: str, body: bytes) -> bytes:
        if not kind.startswith("image/"):
            return body
        self.pictures += 1
        return body if self.whole is None or self.pictures <= self.whole else body[: len(body) // 2]


@contextmanager
def between(server: str) -> Iterator[Between]:
    proxy = Between(server)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name: text for name, text in self.headers.items() if name.lower() in _PASSED}
            reply = httpx.request(self.command, server + self.path, content=given, headers=headers)
            kind = reply.headers.get("content-type", "")
            body = proxy.cut(kind, reply.content)
            self.send_response(reply.status_code)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - as http.server names it

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as opened:
        thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        proxy.url = f"http://127.0.0.1:{opened.server_port}"
        yield proxy
        opened.shutdown()
        thread.join()


def run(out: Path, *more: str) -> tuple[int, str]:
    asked = ["run", "hiro", "--city", "virlton-http", "--set", "limits.steps=3", "--out", str(out), "--quiet"]
    done = CliRunner().invoke(app, [*asked, *more])
    return done.exit_code, done.stderr


def told(out: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return {name: value for name, value in result.items() if name != "cost"}


@pytest.mark.slow
def test_a_run_that_died_of_half_pictures_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        serve_city(open_city("virlton"), ServeOptions(page_delay_s=0.0)) as server,
        between(server.url) as proxy,
    ):
        monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
        monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", proxy.url)
        monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
        assert run(tmp_path / "whole")[0] == 0
        pictures, proxy.pictures = proxy.pictures, 0
        proxy.whole = pictures // 2
        code, said = run(tmp_path / "cut")
        assert code == 2
        assert "Street View Static API" in said
        assert not (tmp_path / "cut/result.json").exists()
        proxy.pictures, proxy.whole = 0, None
        assert run(tmp_path / "cut", "--resume") == (0, "")
        assert proxy.pictures == pictures - pictures // 2  # what was whole is not asked for again
    assert told(tmp_path / "cut") == told(tmp_path / "whole")
