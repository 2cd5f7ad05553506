import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from headless import needs_chromium
from hypothesis import given
from hypothesis import strategies as st
from made_maps_page import REFUSED, serve_maps_js
from made_streets import MadeStreetView, plus_sign

from virl.errors import NoStreetView, ProviderError
from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Panorama, Pose
from virl.platform.movers.web import BrowserUnavailable, WebMover, WebSettings, arrow_heading

NAMES = ["c", *(f"{way}{k}" for way in "nesw" for k in (1, 2, 3))]


@pytest.mark.parametrize(
    ("transform", "facing", "heading"),
    [
        ("rotate(90)", 300.0, 30.0),
        ("translate(1 2) rotate(-37.5 50 50) scale(2)", 10.0, 332.5),
        ("rotate(45deg)", 0.0, 45.0),
        ("rotate( 1e-3 )", 359.0, 359.001),
        ("scale(2)", 123.0, 123.0),
        ("", 359.5, 359.5),
    ],
)
def test_the_heading_of_an_arrow(transform: str, facing: float, heading: float) -> None:
    assert arrow_heading(transform, facing) == pytest.approx(heading)


@given(st.floats(-720, 720), st.floats(0, 359.9))
def test_arrows_turn_with_the_view(turn: float, facing: float) -> None:
    heading = arrow_heading(f"rotate({turn} 20 20)", facing)
    assert 0 <= heading < 360
    assert abs(signed_turn(heading, facing + turn)) < 1e-6


def test_settings_come_from_the_environment_and_hide_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "marker-key")
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", "http://127.0.0.1:8765/")
    settings = WebSettings.from_environment(arrows=True)
    assert settings.maps_js == "http://127.0.0.1:8765/maps/api/js"
    assert settings.key == "marker-key"
    assert "marker-key" not in repr(settings)
    monkeypatch.delenv("VIRL_GOOGLE_BASE_URL")
    assert WebSettings.from_environment().maps_js == "https://maps.googleapis.com/maps/api/js"


def test_without_a_browser_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BrowserUnavailable, match=r"needs Chromium: run `make web-deps`.*virl\[web\]"):
        WebMover(plus_sign(), WebSettings()).links(Pose("c", 0))


def test_without_its_extra_it_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "selenium", None)
    with pytest.raises(BrowserUnavailable, match=r"pip install 'virl\[web\]'"):
        WebMover(plus_sign(), WebSettings()).links(Pose("c", 0))


@pytest.fixture(scope="module")
def maps_js() -> Iterator[tuple[str, list[str]]]:
    with serve_maps_js(plus_sign(), NAMES) as served:
        yield served


@needs_chromium
@pytest.mark.browser
def test_the_key_reaches_the_script_and_no_file(
    maps_js: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, queries = maps_js
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        with WebMover(plus_sign(), WebSettings(maps_js=address, key="marker-key-4711", timeout=10)) as mover:
            assert len(mover.links(Pose("c", 0))) == 4
            files = [path for path in Path(folder).rglob("*") if path.is_file()]
            assert files
            assert not [path for path in files if b"marker-key-4711" in path.read_bytes()]
        assert list(Path(folder).iterdir()) == []
    assert "key=marker-key-4711" in queries[-1]


@needs_chromium
@pytest.mark.browser
def test_it_opens_again_after_it_was_closed_and_only_when_needed(maps_js: tuple[str, list[str]]) -> None:
    address, queries = maps_js
    before = len(queries)
    mover = WebMover(plus_sign(), WebSettings(maps_js=address, timeout=10))
    assert len(queries) == before
    links = mover.links(Pose("c", 0))
    mover.close()
    mover.close()
    assert mover.take(Pose("c", 0), links[1]) == Pose("e1", links[1].heading)
    mover.close()
    assert len(queries) == before + 2


@needs_chromium
@pytest.mark.browser
def test_a_refused_key_is_told(maps_js: tuple[str, list[str]]) -> None:
    with (
        pytest.raises(ProviderError, match="the key was refused") as told,
        WebMover(plus_sign(), WebSettings(maps_js=maps_js[0], key=REFUSED, timeout=10)) as mover,
    ):
        mover.links(Pose("c", 0))
    assert REFUSED not in str(told.value)


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize(
    ("address", "timeout", "why"),
    [
        ("http://127.0.0.1:9/maps/api/js", 20, "did not load"),
        ("data:text/javascript,", 20, "did not load"),
        ("data:text/javascript,google={maps:{}};//", 2, "within 2 s"),
    ],
)
def test_a_script_that_does_not_come_is_told(address: str, timeout: int, why: str) -> None:
    settings = WebSettings(maps_js=address, key="marker", timeout=timeout, further=1)
    with pytest.raises(ProviderError, match=why), WebMover(plus_sign(), settings) as mover:
        mover.links(Pose("c", 0))


@needs_chromium
@pytest.mark.browser
def test_what_fails_is_tried_again_in_a_page_that_is_paid_anew() -> None:
    paid: list[int] = []
    broken = ["noise", "unknown", "status"]
    with serve_maps_js(plus_sign(), NAMES, broken) as (address, queries):
        settings = WebSettings(address, timeout=10, first_wait=0.01, pay=lambda: paid.append(1))
        with WebMover(plus_sign(), settings) as mover:
            links = mover.links(Pose("c", 0))
            assert [link.pano_id for link in links] == ["n1", "e1", "s1", "w1"]
    assert len(queries) == len(paid) == 4


@needs_chromium
@pytest.mark.browser
def test_after_the_last_try_it_says_what_failed() -> None:
    with serve_maps_js(plus_sign(), NAMES, ["unknown"] * 2) as (address, queries):
        settings = WebSettings(address, timeout=10, further=1, first_wait=0.01)
        with WebMover(plus_sign(), settings) as mover, pytest.raises(ProviderError, match="UNKNOWN_ERROR"):
            mover.links(Pose("c", 0))
    assert len(queries) == 2


class _Changed(MadeStreetView):
    """In which a neighbour is gone and another one is indoors."""

    def panorama(self, pano_id: str) -> Panorama:
        if pano_id == "n1":
            raise NoStreetView("gone")
        return replace(super().panorama(pano_id), indoors=pano_id == "e1")


@needs_chromium
@pytest.mark.browser
def test_links_that_lead_nowhere_or_indoors_are_left_out(maps_js: tuple[str, list[str]]) -> None:
    made = plus_sign()
    made.__class__ = _Changed
    for outdoor, expected in ((True, ["s1", "w1"]), (False, ["e1", "s1", "w1"])):
        with WebMover(made, WebSettings(maps_js[0], timeout=10, outdoor=outdoor)) as mover:
            assert [link.pano_id for link in mover.links(Pose("c", 0))] == expected


_WAITING = """
import sys, time
from made_streets import MadeStreetView, plus_sign
from virl.platform.movers.web import WebMover, WebSettings
from virl.platform.city.streetview import Panorama, Pose
mover = WebMover(plus_sign(), WebSettings(sys.argv[1], timeout=20))
print(len(mover.links(Pose("c", 0))), flush=True)
time.sleep(600)
"""


@needs_chromium
@pytest.mark.browser
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no /proc: whose processes are left cannot be seen")
def test_a_browser_ends_with_the_process_that_opened_it(maps_js: tuple[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        environment = {**os.environ, "TMPDIR": folder, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", _WAITING, maps_js[0]]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
            assert process.stdout
            assert process.stdout.readline() == b"4\n"
            assert len(_processes_with(folder)) > 3
            process.kill()
        until = time.monotonic() + 20
        while (_processes_with(folder) or any(Path(folder).iterdir())) and time.monotonic() < until:
            time.sleep(0.1)
        assert _processes_with(folder) == []
        assert list(Path(folder).iterdir()) == []


def _processes_with(word: str) -> list[int]:
    """Processes whose command line holds a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found
