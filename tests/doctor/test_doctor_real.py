"""`virl doctor --real`: prices first, one question each, within the budget, and a file without secrets."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from openai_server import ChatServer, fault, reply, text
from served_google import MARKER_KEY, FlatPhotos
from test_doctor_cli import OPEN_ONCE, run

from virl.doctor.model_server import ask_model, price_lines
from virl.doctor.report import shape_of, write_bundle
from virl.doctor.services import ask_google
from virl.platform.providers.google.settings import Keys, at_base_url, load_google_settings
from virl.platform.providers.http.stored_replies import Recording
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

SPEC = "openai:gpt-5-mini?price=0.25,2"
MODEL_KEY = "sk-marker-of-the-model-0123456789"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GOOGLE_MAPS_API_KEY", "GOOGLE_MAPS_SIGNING_SECRET", "VIRL_GOOGLE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VIRL_API_KEY", MODEL_KEY)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("answer", "budget", "state", "words", "requests"),
    [
        (reply({"ok": True}), 0.10, "ok", "one reply, in the shape that virl reads (", 1),
        (text("Sure!"), 0.10, "missing", "no reply of use", 1),
        (fault(401, f"bad key {MODEL_KEY}"), 0.10, "missing", "no reply of use (free)", 1),
        (reply({"ok": True}), 0.0, "missing", "no reply of use (free)", 0),
    ],
)
def test_a_model_is_asked_once_within_the_budget(
    answer: object, budget: float, state: str, words: str, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer([answer]) as server:  # type: ignore[list-item]
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        found = ask_model(SPEC, budget)
    assert found is not None
    assert found.state == state
    assert words in found.detail
    assert len(server.requests) == requests
    assert "marker" not in str(found)


def test_prices_are_told_of_what_is_configured() -> None:
    settings = load_google_settings()
    assert price_lines(settings, "rules", 0.1, has_google_key=False) == ()
    model, total = price_lines(settings, SPEC, 0.1, has_google_key=False)
    assert model == "will ask openai:gpt-5-mini for one short reply: at most $0.002"
    assert total == "in all $0.002; the budget is $0.100 (--budget-usd)"
    assert "price is unknown" in price_lines(settings, "openai:own", 0.1, has_google_key=False)[0]
    assert len(price_lines(settings, "rules", 0.1, has_google_key=True)) == 7


@pytest.mark.parametrize(
    ("typed", "code", "words"), [("n\n", 0, "no request was sent"), ("", 2, "add --yes")]
)
def test_without_a_yes_nothing_is_asked(
    typed: str, code: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer([reply({"ok": True})]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        done = run("--real", "--mind", SPEC, typed=typed)
    assert done.exit_code == code
    assert words in done.stderr
    assert server.requests == []
    assert not Path("virl-doctor.json").exists()


@pytest.mark.slow
def test_the_bundle_has_shapes_and_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    city = OPEN_ONCE("virlton")
    options = ServeOptions(key=MARKER_KEY, panorama_width=512)
    with serve_city(replace(city, places=FlatPhotos(city.places)), options) as server:
        settings = at_base_url(load_google_settings(), server.url)
        asked = ask_google(settings, Keys(MARKER_KEY), city.center, 0.01, record=Recording(tmp_path / "r"))
    findings = {"said": f"key={MARKER_KEY} {MODEL_KEY}", "at": str(Path.home() / ".cache")}
    write_bundle(tmp_path / "b.json", json.dumps(findings), tmp_path / "r")
    told = (tmp_path / "b.json").read_text(encoding="utf-8")
    assert 0 < asked.spent_usd <= 0.01
    assert not [secret for secret in (MARKER_KEY, MODEL_KEY, "marker") if secret in told]
    bundle = json.loads(told)
    assert bundle["findings"]["at"] == "~/.cache"
    shapes = {one["endpoint"]: one["shape"] for one in bundle["replies"]}
    assert shapes["static_metadata"]["pano_id"] == "str"
    assert shapes["tiles_tile"].endswith(" bytes")


def test_a_shape_has_types_and_no_values() -> None:
    said = {"places": [{"id": "a", "n": 1}, {"id": "b", "n": 2}], "none": None, "empty": []}
    assert shape_of(said) == {"places": [{"id": "str", "n": "int"}], "none": "NoneType", "empty": []}
