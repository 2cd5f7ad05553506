"""Inputs that are made to hang, fill or mislead virl: each kind draws its inputs from a generator.

Inputs are JSON, with what the generator drew; a reader builds the file, the reply or the request from it.
"""

import bz2
import gzip
import json
import os
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import PIL.Image
import pytest
from packed_bomb import bomb_pbf
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from fuzz.mutate import mutate_json_lines
from fuzz.session import Kind
from virl.errors import BadInput
from virl.files.pictures import PictureFault, open_picture
from virl.mind.chat.faults import bound_connections
from virl.money.book import Paid
from virl.money.ledger import Ledger
from virl.osm import extract_file
from virl.pages.pictures import embed
from virl.platform.navigators.instruction.in_order import plan_in_order
from virl.platform.providers.http.wire import add_deadlines, deadline
from virl.registry import import_errors, load
from virl.serve.gate import GateOptions, add_gate
from virl.serve.running import Address, serve_in_thread

Drawn = Mapping[str, Any]
WORDS = ("the", "2nd", "left", "right", "turn", "at", "go", "straight", "past", "next", "light", "or", "a",
         "so", "until", "you", "see", "then", ".", ",", "hôtel")  # fmt: skip
RAISED = ("ValueError('x')", "SystemExit(3)", "SystemExit('a\\nb')", "RecursionError()", "MemoryError()",
          "GeneratorExit()", "BaseException('x' * 5000)", "UnicodeError('\\ud800')",
          "ImportError()")  # fmt: skip
TIME_S = 0.008
"""Seconds that a reply may take in the kind of heads."""
LATE_S = 1.0
"""Seconds beyond which a reply was not given up in time, however busy the machine is."""
FREE_BYTES = 100_000
"""Bytes that an extract may unpack to here, so that bombs are quick to make."""


@contextmanager
def hostile_kinds(folder: Path) -> Iterator[list[Kind]]:
    """The kinds; their servers run until the context ends."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(extract_file, "FREE_BYTES", FREE_BYTES)
        patch.syspath_prepend(str(folder))
        trickle, send = stack.enter_context(_trickle()), stack.enter_context(_served())
        replay = _replay(folder / "run")
        yield [
            _kind("views", {"what": "file", "size": 0}, _draw_view, lambda drawn: _see(folder, drawn)),
            _kind("scans", {"scans": 3, "fill": 0, "cut": 0}, _draw_scans, _decode),
            _kind("heads", {"whole": True, "steps": 3, "own": True}, _draw_head, trickle),
            _kind("packed", {"how": "gz", "size": 50}, _draw_packed, lambda drawn: _unpack(folder, drawn)),
            _kind("words", {"text": "Turn left at the light."}, _draw_words, _plan),
            _book(folder / "spending.jsonl"),
            _kind("replays", {"views": 3, "side": 8, "budget": 9000, "times": 1}, _draw_replay, replay),
            _kind("plugins", {"code": "NAME = 7"}, _draw_plugin, lambda drawn: _import(folder, drawn)),
            _kind("lengths", {"headers": ["Content-Length: 0"]}, _draw_lengths, send),
        ]


def _kind(
    name: str, good: Drawn, draw: Callable[[random.Random], Drawn], read: Callable[[Drawn], object]
) -> Kind:
    """A kind whose inputs are drawn; those that are JSON no longer are refused."""
    return Kind(
        f"hostile-{name}",
        [json.dumps(good).encode()],
        lambda data: read(json.loads(data)),
        lambda rng, _: json.dumps(draw(rng)).encode(),
        weight=4,
    )


def _draw_view(rng: random.Random) -> Drawn:
    kinds = ("file", "pipe", "holes", "folder", "link", "socket", "missing", "rubbish")
    return {"what": rng.choice(kinds), "size": rng.choice((0, 3, 10**7, 10**9, 2 * 10**10))}


def _see(home: Path, drawn: Drawn) -> None:
    """Embed one view of a foreign folder, which may be no picture."""
    path, what = home / "view.jpg", drawn["what"]
    with closing(socket.socket(socket.AF_UNIX)) as opened:
        if what == "socket":
            opened.bind(str(path))
        elif what == "pipe":
            os.mkfifo(path)
        elif what == "folder":
            path.mkdir()
        elif what == "link":
            path.symlink_to("/dev/zero")
        elif what != "missing":
            path.write_bytes(_progressive(0) if what == "file" else b"\xff\xd8\xff")
            if what == "holes":
                os.truncate(path, drawn["size"])
        try:
            assert bool(embed(home, [path.name])) == (what == "file"), "a view that is none is shown"
        finally:
            path.rmdir() if what == "folder" else path.unlink(missing_ok=True)


def _progressive(scans: int) -> bytes:
    """A progressive JPEG whose last scan, and the table before it, are repeated."""
    file = BytesIO()
    PIL.Image.new("L", (32, 32), 128).save(file, "JPEG", progressive=True)
    data = file.getvalue()
    return data[:-2] + data[data.rindex(b"\xff\xc4") : -2] * scans + b"\xff\xd9"


def _draw_scans(rng: random.Random) -> Drawn:
    scans, fill = rng.choice((0, 5, 90, 150, rng.randrange(3000))), rng.choice((0, 0, 3, 40_000))
    return {"scans": scans, "fill": fill, "cut": rng.choice((0, 0, rng.randrange(300)))}


def _decode(drawn: Drawn) -> None:
    data = _progressive(drawn["scans"])
    data = data[:2] + b"\xff" * drawn["fill"] + data[2 : len(data) - drawn["cut"]]
    try:
        with open_picture(data) as opened:
            opened.load()
    except PictureFault as fault:
        raise BadInput(str(fault)) from None
    assert drawn["scans"] <= 100, "a picture of very many scans was decoded"


def _draw_head(rng: random.Random) -> Drawn:
    return {"whole": rng.random() < 0.2, "steps": rng.randrange(1, 60), "own": rng.random() < 0.5}


@contextmanager
def _trickle() -> Iterator[Callable[[Drawn], None]]:
    """A server that sends heads in steps, for ever if they are not to be whole; and who asks it."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        asked: list[Drawn] = []

        def answer() -> None:
            while True:
                try:
                    opened, _ = listener.accept()
                except OSError:
                    return
                with opened, suppress(OSError):
                    opened.recv(65536)
                    drawn = asked[-1]
                    if drawn["whole"]:
                        opened.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                        continue
                    head = b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 200
                    for at in range(0, len(head), drawn["steps"]):
                        opened.sendall(head[at : at + drawn["steps"]])
                        time.sleep(0.001)
                    opened.recv(1)  # until the client leaves

        def read(drawn: Drawn) -> None:
            asked.append(drawn)
            transport = httpx.HTTPTransport(verify=False)  # reading certificates takes longer than a try
            limit = 5.0 if drawn["whole"] else TIME_S
            start = time.monotonic()
            with httpx.Client(transport=transport, timeout=limit) as client:
                if drawn["own"]:
                    add_deadlines(transport)
                else:
                    bound_connections(_Model(client))
                try:
                    with deadline(start + limit):
                        client.get(f"http://127.0.0.1:{listener.getsockname()[1]}/")
                except (httpx.TimeoutException, TimeoutError):
                    assert time.monotonic() - start < LATE_S, "a head was awaited beyond its time"
                    raise BadInput("given up") from None

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield read


class _Model:
    """A model with a client at the place where LangChain's have theirs."""

    def __init__(self, client: httpx.Client) -> None:
        self.root_client = self
        self._client = client


def _draw_packed(rng: random.Random) -> Drawn:
    return {"how": rng.choice(("gz", "gz+", "bz2", "pbf")), "size": rng.choice((50, 99_000, 200_000, 10**6))}


def _unpack(home: Path, drawn: Drawn) -> None:
    how, size = drawn["how"], drawn["size"]
    blank = b"<osm>" + b" " * size
    if how == "pbf":
        data = bomb_pbf(blobs=2, nodes=size // 6)
    elif how == "gz+":  # many members
        data = gzip.compress(blank[: size // 50 + 1], 6) * 50
    else:
        data = bz2.compress(blank) if how == "bz2" else gzip.compress(blank, 6)
    path = home / f"bomb.osm.{how.rstrip('+')}"
    path.write_bytes(data)
    extract_file.check_unpacked(path)
    assert size <= max(FREE_BYTES, extract_file.MOST_TIMES * len(data)), "a bomb is let through"


def _draw_words(rng: random.Random) -> Drawn:
    some = [rng.choice(WORDS) for _ in range(rng.randrange(1, 5))]
    joint = rng.choice((" ", " ", "", "\n", " . ", ", "))
    return {"text": (joint.join(some) + joint) * rng.choice((*(1, 3, 10, 30) * 4, rng.randrange(1, 10_000)))}


def _plan(drawn: Drawn) -> None:
    plan_in_order(drawn["text"])


def _book(file: Path) -> Kind:
    """The book of a run, damaged, beside a journal that knows of 4 dollars."""
    told = Paid(4.0, {"geocode": 800}, 4.0)

    def read(data: bytes) -> None:
        file.write_bytes(data)
        ledger = Ledger(9.0, book=file)
        ledger.catch_up(told)
        assert 4.0 <= ledger.spent_usd < 1e9, "what the journal knows of is not counted"
        assert Ledger(9.0, book=file).spent_usd == pytest.approx(ledger.spent_usd)

    line = b'{"micro_usd": 5000, "request": "geocode", "sent": 1}\n'
    return Kind("hostile-books", [line * 8, b""], read, mutate_json_lines, weight=4)


def _draw_replay(rng: random.Random) -> Drawn:
    views, side = rng.randrange(1, 40), rng.choice((1, 8, 24))
    return {
        "views": views,
        "side": side,
        "budget": rng.randrange(1, 9000),
        "times": rng.choice((1, 1, 5, 50)),
    }


def _replay(folder: Path) -> Callable[[Drawn], None]:
    folder.mkdir()
    for side in (1, 8, 24):
        for number in range(40):
            PIL.Image.new("RGB", (side, side), (number * 6, 90, side)).save(folder / f"{side}-{number}.jpg")

    def read(drawn: Drawn) -> None:
        names = [f"{drawn['side']}-{number}.jpg" for number in range(drawn["views"])]
        kept = embed(folder, names * drawn["times"], ((480, 78), (160, 50)), drawn["budget"])
        size = sum(len(uri) - 23 for uri in kept.values()) * 3 // 4
        assert size * drawn["times"] <= drawn["budget"] + 3 * len(kept) * drawn["times"]
        places = [names.index(name) for name in kept]
        gaps = {after - before for before, after in pairwise(places)}
        assert len(gaps) <= 1, f"views are not taken evenly: {places}"

    return read


def _draw_plugin(rng: random.Random) -> Drawn:
    raised = rng.choice(RAISED)
    wrong = f"class Wrong(ValueError):\n def __str__(self): raise {raised}\nraise Wrong"
    code = rng.choice((f"raise {raised}", f"def f(): raise {raised}\nf()", "def f(): f()\nf()", "NAME = None",
                       "import no_such_module", "NAME = (", "x = 1", "\0", wrong))  # fmt: skip
    return {"code": code}


def _import(home: Path, drawn: Drawn) -> None:
    (home / "hostile_plugin.py").write_text(drawn["code"])
    sys.modules.pop("hostile_plugin", None)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with import_errors("routine 'x' of hostile_plugin"):
            load("hostile_plugin:NAME")
    finally:
        sys.dont_write_bytecode = before


def _draw_lengths(rng: random.Random) -> Drawn:
    length = f"{rng.choice(('Content-Length', 'content-length', 'CONTENT-LENGTH'))}: {rng.randrange(60)}"
    coding = rng.choice(("Transfer-Encoding", "transfer-encoding", "TRANSFER-ENCODING"))
    value = rng.choice(
        ("chunked", "Chunked", " chunked ", "identity", "gzip, chunked", "chunked, chunked", "x")
    )
    headers = [length, f"{coding}: {value}"]
    rng.shuffle(headers)
    return {"headers": [*headers, *rng.choice(([], [], [length], ["X-A: b"]))]}


@contextmanager
def _served() -> Iterator[Callable[[Drawn], None]]:
    """A server behind its gate, and who sends it requests of two lengths with a second one behind them."""
    reached: list[str] = []

    async def take(request: Request) -> Response:
        reached.append(request.url.path)
        return PlainTextResponse(str(len(await request.body())))

    app = add_gate(Starlette(routes=[Route("/{path:path}", take, methods=["GET", "POST"])]), GateOptions())
    with serve_in_thread(app, Address()) as url:
        parts = urlsplit(url)

        def read(drawn: Drawn) -> None:
            reached.clear()
            lines = ["POST /first HTTP/1.1", f"Host: {parts.netloc}", *drawn["headers"], "", ""]
            smuggled = f"0\r\n\r\nGET /second HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n"
            with socket.create_connection((str(parts.hostname), parts.port or 80), 5.0) as opened:
                two = len(drawn["headers"]) > 1
                opened.sendall(("\r\n".join(lines) + (smuggled if two else "")).encode())
                answer = opened.recv(65536)
                while two and (piece := opened.recv(65536)):  # until the server closes
                    answer += piece
            status = int(answer.split()[1])
            assert answer.count(b"HTTP/1.1 ") == 1, "the second request is answered"
            assert not (two and reached), f"a request of two lengths has reached {reached}"
            assert status == (400 if two else 200) or (two and status == 501), status
            if two:
                raise BadInput("refused")

        yield read
