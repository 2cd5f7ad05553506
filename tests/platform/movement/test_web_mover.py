import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from headless import needs_chromium
from hypothesis import given
from hypothesis import strategies as st
from made_maps_page import REFUSED, serve_maps_js
from made_streets import plus_sign

from virl.errors import ProviderError
from virl.geo import signed_turn
from virl.platform.movement.web import BrowserUnavailable, WebMover, WebSettings, arrow_heading
from virl.platform.streetview import Pose

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
    monkeypatch.setitem(__import__("sys").modules, "selenium.webdriver", None)
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
    ("address", "why"),
    [("http://127.0.0.1:9/maps/api/js", "did not load"), ("data:text/javascript,", "within 2 s")],
)
def test_a_script_that_does_not_come_is_told(address: str, why: str) -> None:
    with (
        pytest.raises(ProviderError, match=why),
        WebMover(plus_sign(), WebSettings(maps_js=address, key="marker", timeout=2)) as mover,
    ):
        mover.links(Pose("c", 0))
