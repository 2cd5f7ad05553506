"""No key and no credential of a URL is written or printed, whatever a server does with it.

Real commands in a process of their own, with `--debug`, before a real server that repeats all it is sent.
"""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from echo_server import EchoServer
from made_characters import write_hiro
from warm_cache import warm_cache

from virl import resources

pytestmark = pytest.mark.slow

NOWHERE = "127.0.0.1:9"
PASSWORD = "marker/password+of=base-url 0123456789"  # noqa: S105
TOKEN = "marker-token-of-base-url-0123456789"  # noqa: S105
KEYS = {
    "GOOGLE_MAPS_API_KEY": "AIza-marker-of-google-maps-0123456789",
    "GOOGLE_MAPS_SIGNING_SECRET": "bWFya2VyLW9mLXNpZ25pbmctc2VjcmV0",
    "RENTCAST_API_KEY": "marker-of-rentcast+/0123456789",
    "VIRL_API_KEY": "marker-of-a-server-of-ones-own-0123456789",
    "OPENAI_API_KEY": "sk-marker-of-openai-0123456789abcdef",
    "ANTHROPIC_API_KEY": "sk-ant-marker-of-anthropic-0123456789",
    "GOOGLE_API_KEY": "AIzamarker_of_gemini-0123456789abcdef",
}
MARKERS = (*KEYS.values(), PASSWORD, TOKEN, f"user:{PASSWORD}")
DRIVER = """
import json, logging, os, sys, traceback
from virl.cli.main import app
for case in json.load(sys.stdin):
    os.environ.update(case["environment"])
    logging.root.handlers.clear()
    try:
        app(case["arguments"], standalone_mode=False)
    except BaseException:
        traceback.print_exc()
"""


def spellings(marker: str) -> Iterator[bytes]:
    coded = base64.b64encode(marker.encode()).rstrip(b"=")
    yield from (marker.encode(), quote(marker).encode(), quote(marker, safe="").encode(), coded)
    yield from (coded.replace(b"+", b"-").replace(b"/", b"_"), json.dumps(marker)[1:-1].encode())
    yield json.dumps(marker)[1:-1].replace("/", "\\/").encode()


class Servers:
    """One that answers well, one with 401, one with 500, and none."""

    def __init__(self, opened: ExitStack) -> None:
        self._by_status = {status: opened.enter_context(EchoServer(status)) for status in (200, 401, 500)}
        self.hosts = [*(server.host for server in self._by_status.values()), NOWHERE]

    def sent(self, status: int) -> str:
        return "".join(self._by_status[status].asked)


@pytest.fixture
def servers() -> Iterator[Servers]:
    with ExitStack() as opened:
        yield Servers(opened)


class Home:
    """A machine of its own: folders, and an environment with all keys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = b""
        own = {
            name: str(folder / name.lower()) for name in ("HOME", "XDG_CACHE_HOME", "VIRL_CACHE", "TMPDIR")
        }
        for path in own.values():
            Path(path).mkdir()
        warm_cache(Path(own["VIRL_CACHE"]))
        kept = {name: os.environ[name] for name in ("PATH", "NUMBA_CACHE_DIR") if name in os.environ}
        self._environment = {**kept, **own, **KEYS, "COLUMNS": "200"}

    def virl(self, *cases: tuple[Mapping[str, str], Sequence[str]]) -> str:
        """What these commands print, one after the other in one process."""
        given: list[dict[str, Any]] = [
            {"environment": environment, "arguments": [*arguments, "--debug"]}
            for environment, arguments in cases
        ]
        done = subprocess.run(
            [sys.executable, "-c", DRIVER], input=json.dumps(given).encode(), env=self._environment,
            cwd=self.folder, capture_output=True, timeout=1200, check=True,
        )  # fmt: skip
        self.said += done.stdout + done.stderr
        return (done.stdout + done.stderr).decode()

    def leaks(self) -> list[tuple[str, str]]:
        """Where which marker stands, in any spelling; links are of the warm cache, and were there before."""
        files = [file for file in self.folder.rglob("*") if file.is_file() and file.stat().st_nlink == 1]
        places = {str(file): file.read_bytes() for file in files}
        places |= {file: file.encode() for file in places} | places | {"output": self.said}
        return [
            (place, marker)
            for place, data in places.items()
            for marker in MARKERS
            if any(spelled in data for spelled in spellings(marker))
        ]

    def wrote(self, suffix: str) -> bool:
        return any(self.folder.rglob(f"*{suffix}"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


MINDS = {
    "openai:gpt-5-mini": ("langchain_openai", "VIRL_BASE_URL", "/v1", KEYS["VIRL_API_KEY"]),
    "anthropic:claude-sonnet-4-5": (
        "langchain_anthropic",
        "ANTHROPIC_BASE_URL",
        "",
        KEYS["ANTHROPIC_API_KEY"],
    ),
    "google_genai:gemini-2.5-flash": (
        "langchain_google_genai",
        "GOOGLE_GEMINI_BASE_URL",
        "",
        KEYS["GOOGLE_API_KEY"],
    ),
}


@pytest.mark.parametrize("mind", MINDS)
def test_no_key_of_a_model_is_left(home: Home, servers: Servers, mind: str) -> None:
    package, variable, path, key = MINDS[mind]
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    hiro = ["run", str(write_hiro(home.folder, steps=1)), "--mind", mind]
    user = f"user:{quote(PASSWORD, safe='')}@"
    good, refusing, _, nowhere = servers.hosts
    asked = [("", "", host) for host in servers.hosts]
    asked += [(user, "", good), (user, "", refusing), (user, "", nowhere)]
    asked += [("", f"?api_key={TOKEN}", refusing)]
    home.virl(
        *(
            ({variable: f"http://{before}{host}{path}{after}"}, [*hiro, "--out", f"run-{number}"])
            for number, (before, after, host) in enumerate(asked)
        ),
        ({}, ["doctor"]),
    )
    assert home.leaks() == []
    assert home.wrote("run-0/result.json")
    assert key in servers.sent(200)
    assert key in servers.sent(401)
    others = {*MARKERS[: len(KEYS)]} - {key}
    assert not [other for other in others if other in servers.sent(200) + servers.sent(401)]
    assert PASSWORD in servers.sent(401) or "genai" in mind, "it was sent, and came back"


def test_no_key_of_google_is_left(home: Home, servers: Servers) -> None:
    city = home.folder / "virlton.yaml"
    city.write_bytes((resources.data_folder("platform/cities") / "virlton-http.yaml").read_bytes())
    doctor = ["doctor", "--real", "--yes", "--budget-usd", "1", "--city", str(city)]
    hiro = ["run", str(write_hiro(home.folder, steps=1)), "--city", str(city), "--record", "recorded"]
    bases = [{"VIRL_GOOGLE_BASE_URL": f"http://{host}"} for host in servers.hosts]
    good = servers.hosts[0]
    said = home.virl(
        *((base, doctor) for base in bases),
        *((base, [*hiro, "--out", f"run-{number}"]) for number, base in enumerate(bases[:2])),
        ({"VIRL_GOOGLE_BASE_URL": f"http://user:{quote(PASSWORD, safe='')}@{good}"}, hiro),
        ({"VIRL_GOOGLE_BASE_URL": f"http://user:{PASSWORD}@{good}"}, ["doctor"]),
        ({"VIRL_GOOGLE_BASE_URL": f"http://{good}?key={TOKEN}"}, hiro),
    )
    assert home.leaks() == []
    assert said.count("VIRL_GOOGLE_BASE_URL: 'http://") == 3
    assert servers.sent(200).count(KEYS["GOOGLE_MAPS_API_KEY"]) > 20
    assert home.wrote(".sqlite")
    assert home.wrote(".body")


def test_no_key_of_rentcast_is_left(home: Home, servers: Servers) -> None:
    vivek = ["run", "vivek", "--set", "rent.listings=rentcast"]
    good = servers.hosts[0]
    said = home.virl(
        *(
            ({"VIRL_RENTCAST_BASE_URL": f"http://{host}"}, [*vivek, "--out", f"run-{number}"])
            for number, host in enumerate(servers.hosts)
        ),
        ({"VIRL_RENTCAST_BASE_URL": f"http://user:{quote(PASSWORD, safe='')}@{good}"}, vivek),
        ({"VIRL_RENTCAST_BASE_URL": f"http://{good}?api_key={TOKEN}"}, vivek),
    )
    assert home.leaks() == []
    assert said.count("VIRL_RENTCAST_BASE_URL: 'http://") == 2
    assert KEYS["RENTCAST_API_KEY"] in servers.sent(200)
    assert home.wrote("run-0/journal.jsonl")
