"""Who may ask a server, how much and for how long: over real sockets, whatever the server serves."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from raw_http import all_of, connection, exchange, head, message_of
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from virl.errors import BadInput
from virl.serve.city_server import ClientLeft, while_waited_for
from virl.serve.gate import GateOptions, RequestLimits, add_gate
from virl.serve.running import Address, run, serve_in_thread

OPEN = GateOptions()
KEY = "marker-of-a-serve-key-0123456789"
HASTY = RequestLimits(
    body_bytes=1000, headers=20, head_bytes=2000, head_s=0.4, body_s=0.4, reading_s=0.4, connections=400
)
ANYWHERE = "0.0.0.0"  # noqa: S104
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")


@dataclass
class Echo:
    """An application that says what it got, and counts."""

    reached: int = 0
    begun: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    go: threading.Event = field(default_factory=threading.Event)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    async def echo(self, request: Request) -> Response:
        self.reached += 1
        return PlainTextResponse(str(len(await request.body())))

    async def work(self, request: Request) -> Response:
        name = request.query_params["name"]
        await request.body()
        try:
            return PlainTextResponse(
                await while_waited_for(request.receive, self.pool, lambda: self.slow(name))
            )
        except ClientLeft:
            self.left.append(name)
            return Response()

    async def large(self, request: Request) -> Response:
        return Response(b"x" * int(request.query_params["bytes"]))

    def slow(self, name: str) -> str:
        self.begun.append(name)
        self.go.wait(20)
        return name

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/work", self.work),
                Route("/large", self.large),
                Route("/{path:path}", self.echo, methods=METHODS),
            ]
        )


@pytest.fixture
def echo() -> Iterator[Echo]:
    made = Echo()
    yield made
    made.go.set()
    made.pool.shutdown()


@pytest.fixture
def serve(echo: Echo) -> Iterator[object]:
    """Serves the application behind a gate, and gives its URL."""
    with ExitStack() as opened:

        def serve(options: GateOptions = OPEN, host: str = "127.0.0.1") -> str:
            app = add_gate(echo.app(), options)
            return opened.enter_context(serve_in_thread(app, Address(host, 0, options.key, options.limits)))

        yield serve


def own(url: str) -> str:
    return urlsplit(url).netloc


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::1", "8.8.8.8"]
)
def test_a_foreign_host_is_refused(serve, echo: Echo, host: str) -> None:
    url = serve()
    for method in METHODS[:-1]:
        status, body = exchange(url, head(host, method=method))
        assert status == 421
        assert "--allow-host" in message_of(body)
    assert echo.reached == 0


def test_the_names_of_this_machine_and_those_allowed_are_its_hosts(serve, echo: Echo) -> None:
    url = serve(GateOptions(hosts=("Maps.lan",)))
    port = own(url).partition(":")[2]
    names = (own(url), "127.0.0.1", f"localhost:{port}", "LOCALHOST", f"[::1]:{port}", f"maps.lan:{port}")
    assert [exchange(url, head(name))[0] for name in names] == [200] * len(names)


ORIGINS = (
    "http://evil.example",
    "https://127.0.0.1.evil.example",
    "null",
    "file://",
    "http://evil@127.0.0.1x",
)


@pytest.mark.parametrize("origin", ORIGINS)
def test_pages_of_a_foreign_origin_are_refused_for_every_method(serve, echo: Echo, origin: str) -> None:
    url = serve()
    for method in METHODS:
        headers = {"Origin": origin, "Content-Type": "text/plain"}
        answer = httpx.request(method, f"{url}/stats/reset", headers=headers, content=b"x")
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert method == "HEAD" or "--allow-origin" in message_of(answer.text)
    assert echo.reached == 0


def test_a_picture_on_a_foreign_page_is_refused(serve, echo: Echo) -> None:
    url = serve(GateOptions(origins=("https://example.org",)))
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert httpx.get(url, headers=foreign).status_code == 403
    assert httpx.get(url, headers=foreign | {"Referer": "https://evil.example/"}).status_code == 403
    assert echo.reached == 0
    assert httpx.get(url, headers=foreign | {"Referer": "https://example.org/a"}).status_code == 200
    assert httpx.get(url, headers={"Sec-Fetch-Site": "none"}).status_code == 200


def test_pages_of_this_machine_and_those_allowed_may_ask(serve) -> None:
    url = serve(GateOptions(origins=("https://example.org",)))
    for origin in (
        url,
        "http://localhost:3000",
        "http://127.0.0.1:5",
        "http://[::1]:5",
        "https://example.org",
    ):
        answer = httpx.post(url, headers={"Origin": origin}, content=b"abc")
        assert (answer.text, answer.headers["access-control-allow-origin"]) == ("3", origin)
        asks = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        assert httpx.options(url, headers=asks).status_code == 200
    assert "access-control-allow-origin" not in httpx.get(url).headers


@pytest.mark.parametrize("wrong", ["http://a.example", "a.example:80", "a/b", ""])
def test_an_allowed_host_is_a_name(wrong: str) -> None:
    with pytest.raises(BadInput, match="--allow-host"):
        GateOptions(hosts=(wrong,))


@pytest.mark.parametrize(
    "wrong", ["example.org", "*", "https://example.org/", "https://u:p@example.org", "null"]
)
def test_an_allowed_origin_is_a_scheme_and_a_host(wrong: str) -> None:
    with pytest.raises(BadInput, match="--allow-origin"):
        GateOptions(origins=(wrong,))


@pytest.mark.parametrize("host", [ANYWHERE, "", "::"])
@pytest.mark.parametrize("key", [None, "short"])
def test_other_machines_can_connect_only_with_a_key(echo: Echo, host: str, key: str | None) -> None:
    with pytest.raises(BadInput, match="VIRL_SERVE_KEY") as caught:
        run(echo.app(), Address(host, 0, key, HASTY), print)
    assert "\n" not in str(caught.value)
    assert "short" not in str(caught.value)


def test_the_key_of_a_server_is_no_key_of_something_else(echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", KEY)
    with pytest.raises(BadInput, match="GOOGLE_MAPS_API_KEY") as caught:
        run(echo.app(), Address(ANYWHERE, 0, KEY, HASTY), print)
    assert KEY not in str(caught.value)


def test_a_server_with_a_key_answers_those_who_show_it(serve, echo: Echo) -> None:
    port = own(serve(GateOptions(key=KEY), ANYWHERE)).partition(":")[2]
    url = f"http://127.0.0.1:{port}"
    for given in (
        {},
        {"X-Goog-Api-Key": f"{KEY}x"},
        {"Authorization": f"Basic {KEY}"},
        {"X-Goog-Api-Key": "é".encode()},
    ):
        answer = httpx.get(f"{url}/stats", headers=given)
        assert answer.status_code == 401
        assert "VIRL_SERVE_KEY" in message_of(answer.text)
        assert KEY not in answer.text
    assert httpx.get(url, params={"key": KEY[:-1]}).status_code == 401
    assert echo.reached == 0
    assert httpx.get(url, params={"key": KEY}).status_code == 200
    assert httpx.get(url, headers={"X-Goog-Api-Key": KEY}).status_code == 200
    assert httpx.get(url, headers={"Authorization": f"Bearer {KEY}"}).status_code == 200
    assert exchange(url, head("evil.example", f"X-Goog-Api-Key: {KEY}"))[0] == 421


def test_a_server_listens_at_ipv6_too(serve) -> None:
    try:
        url = serve(host="::1")
    except BadInput:
        pytest.skip("this machine has no IPv6")
    assert httpx.get(url).status_code == 200


def test_a_body_that_is_too_large_is_not_read(serve, echo: Echo) -> None:
    url = serve(GateOptions(limits=HASTY))
    assert httpx.post(url, content=b"x" * 1000).text == "1000"
    declared = exchange(url, head(own(url), "Content-Length: 400000000", method="POST"))
    assert declared[0] == 413
    assert "1000 bytes" in message_of(declared[1])
    piece = b"3e8\r\n" + b"x" * 1000 + b"\r\n"
    digits = exchange(url, head(own(url), f"Content-Length: {'9' * 1500}", method="POST"))
    assert digits[0] in {400, 413}
    chunked = head(own(url), "Transfer-Encoding: chunked", method="POST") + 2 * piece
    assert exchange(url, chunked)[0] == 413
    assert echo.reached == 1


def test_headers_are_bounded(serve, echo: Echo) -> None:
    url = serve(GateOptions(limits=HASTY))
    many = exchange(url, head(own(url), *(f"X-{number}: 1" for number in range(30))))
    assert many[0] == 431
    assert "20 headers" in message_of(many[1])
    assert exchange(url, head(own(url), f"X: {'x' * 2500}"))[0] in {400, 431}
    assert exchange(url, head(own(url), path=f"/?{'x' * 2500}"))[0] in {400, 431}
    assert echo.reached == 0


@pytest.mark.slow
def test_a_half_sent_body_is_not_waited_for(serve, echo: Echo) -> None:
    url = serve(GateOptions(limits=HASTY))
    status, body = exchange(url, head(own(url), "Content-Length: 10", method="POST") + b"abc")
    assert status == 408
    assert "0.4 seconds" in message_of(body)
    assert echo.reached == 0


@pytest.mark.slow
def test_300_half_sent_heads_are_closed_and_the_server_answers(serve) -> None:
    url = serve(GateOptions(limits=HASTY))
    with ExitStack() as opened:
        halves = [opened.enter_context(connection(url)) for _ in range(300)]
        for number, half in enumerate(halves):
            half.sendall([b"GET / HTTP/1.1\r\nHost: ", b"", b"G", b"POST"][number % 4])
        assert httpx.get(url).status_code == 200
        assert [all_of(half) for half in halves] == [b""] * 300  # each ends, or `recv` times out


@pytest.mark.slow
def test_a_head_that_trickles_in_is_closed_at_the_same_time(serve) -> None:
    url = serve(GateOptions(limits=HASTY))
    with connection(url) as opened, pytest.raises(ConnectionError):
        trickle(opened)


def trickle(opened: socket.socket) -> None:
    for _ in range(200):
        opened.sendall(b"G")
        time.sleep(0.05)


@pytest.mark.slow
def test_a_second_request_on_a_connection_may_take_as_long_as_the_first(serve) -> None:
    url = serve(GateOptions(limits=HASTY))
    asked = f"GET / HTTP/1.1\r\nHost: {own(url)}\r\n\r\n".encode()
    with connection(url) as opened:
        for _ in range(3):
            opened.sendall(asked)
            answer = b""
            while not answer.endswith(b"\r\n\r\n0"):
                answer += opened.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200")
            time.sleep(0.3)
        opened.sendall(asked[:10])
        assert all_of(opened) == b""


@pytest.mark.slow
@pytest.mark.parametrize("size", [20_000_000, 4_000_000])
def test_an_answer_that_is_not_read_is_not_kept(serve, size: int) -> None:
    url = serve(GateOptions(limits=HASTY))
    with socket.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.connect((urlsplit(url).hostname, urlsplit(url).port))
        opened.sendall(f"GET /large?bytes={size} HTTP/1.1\r\nHost: {own(url)}\r\n\r\n".encode())
        time.sleep(7)  # uvicorn waits 5 s for a further request
        assert len(all_of(opened)) < size


def test_work_for_a_client_that_left_is_not_begun(serve, echo: Echo) -> None:
    url = serve()
    with ExitStack() as opened:
        for name in ("first", "second", "third"):
            client = opened.enter_context(connection(url))
            client.sendall(head(own(url), path=f"/work?name={name}"))
            until(lambda: echo.begun == ["first"])
    until(lambda: sorted(echo.left) == ["first", "second", "third"])
    echo.go.set()
    assert httpx.get(f"{url}/work", params={"name": "last"}).text == "last"
    assert echo.begun == ["first", "last"]


def until(ready) -> None:
    end = time.monotonic() + 20
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.01)


SERVER = """
import resource, sys
from virl.platform.providers import open_city
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve
serve(open_city("virlton"), ServeOptions(), port=0, tell=lambda url: print(url, flush=True))
"""


@pytest.mark.slow
def test_400_megabytes_do_not_fill_the_memory(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            url = server.stdout.readline().strip()
            query = {"key": "k", "fields": "id"}
            httpx.get(f"{url}/v1/places/place-0001", params=query, timeout=60)
            before = peak_mb(server.pid)
            for headers in ({"Content-Length": "400000000"}, {}):
                try:
                    pieces = (b"x" * 1_000_000 for _ in range(400))
                    answer = httpx.post(
                        f"{url}/v1/places:searchText", params=query, content=pieces, headers=headers
                    )
                    assert answer.status_code == 413
                except httpx.TransportError:
                    pass  # the server closed before all was sent
            assert httpx.get(f"{url}/v1/places/place-0001", params=query, timeout=60).status_code == 200
            assert peak_mb(server.pid) - before < 30
        finally:
            server.terminate()


def peak_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    [peak] = [line.split()[1] for line in lines if line.startswith("VmHWM")]
    return int(peak) / 1024


def test_the_key_does_not_show_in_a_repr() -> None:
    assert KEY not in repr(GateOptions(key=KEY)) + str(os.getpid())


FEW = GateOptions(limits=RequestLimits(connections=4))


def test_connections_that_ask_nothing_make_room_for_one_that_does(serve) -> None:
    url = serve(FEW)
    with ExitStack() as opened:
        for number in range(12):
            opened.enter_context(connection(url)).sendall([b"GET / HTTP/1.1\r\nHost: ", b""][number % 2])
        assert httpx.get(url).status_code == 200


def test_at_the_limit_those_that_are_in_are_served_and_those_that_come_refused(serve, echo: Echo) -> None:
    url = serve(FEW)
    with ThreadPoolExecutor(4) as clients:
        asked = [clients.submit(httpx.get, f"{url}/work?name={name}", timeout=20) for name in "abcd"]
        while len(echo.begun) < 1 or not all(one.running() for one in asked):
            time.sleep(0.01)
        time.sleep(0.2)  # all four are in
        assert exchange(url, head(own(url)))[0] == 503
        echo.go.set()
        assert [one.result().status_code for one in asked] == [200] * 4
    assert httpx.get(url).status_code == 200


def test_a_request_with_two_lengths_is_refused(serve, echo: Echo) -> None:
    url = serve()
    both = head(own(url), "Content-Length: 5", "Transfer-Encoding: chunked", method="POST")
    status, body = exchange(url, both + b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n")
    assert status == 400
    assert "not both" in message_of(body)
    assert echo.reached == 0
