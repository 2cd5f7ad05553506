"""Commands in a terminal of their own, in a world that says hostile things."""

from pathlib import Path

import pytest
from hostile_texts import TEXTS, hidden_in, hidden_on_terminal
from hostile_world import hostile
from scripted_google import KEY, ScriptedGoogle, refusal
from terminals import in_terminal

from virl import resources
from virl.platform.providers.cities import open_city
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

pytestmark = pytest.mark.slow

NAME = "Hiro\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\U000e0041"
IN_YAML = '"Hiro\\e]0;owned\\a\\e[2J\\x9b31m\\u202e\\U000e0041"'


@pytest.fixture
def city(tmp_path: Path) -> str:
    """The file of a city at the address of `VIRL_GOOGLE_BASE_URL`."""
    path = tmp_path / "virlton.yaml"
    path.write_bytes((resources.data_folder("platform/cities") / "virlton-http.yaml").read_bytes())
    return str(path)


def test_a_run_among_hostile_places(tmp_path: Path, city: str) -> None:
    character = tmp_path / "aria.yaml"
    text = (resources.data_folder("agents") / "aria.yaml").read_text(encoding="utf-8")
    character.write_text(text.replace("name: Aria", f"name: {IN_YAML}"), encoding="utf-8")
    with serve_city(hostile(open_city("virlton"), TEXTS), ServeOptions(page_delay_s=0.0)) as server:
        code, received = in_terminal(
            tmp_path, "run", str(character), "--city", city, "--out", "run", "--debug",
            VIRL_GOOGLE_BASE_URL=server.url, GOOGLE_MAPS_API_KEY=KEY,
        )  # fmt: skip
    assert code == 0, received
    assert "\x1b[1m" in received  # Rich's own looks are there
    assert received.count("Bar") > 5
    assert hidden_on_terminal(received) == []
    for file in ("report.html", "narration.md"):
        if (tmp_path / "run" / file).exists():
            assert hidden_in((tmp_path / "run" / file).read_text(encoding="utf-8")) == []
    assert [path.name for path in (tmp_path / "run").rglob("*") if hidden_in(path.name)] == []


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["table", "json"])
def test_agents_with_hostile_names(tmp_path: Path, more: tuple[str, ...]) -> None:
    kept = (
        f"name: {IN_YAML}\nabout: {IN_YAML}\ncity: virlton\nstart: 91 Station Street\n"
        f"background: x\nintention: x\nroutine: hiro\n"
    )
    (tmp_path / "good.yaml").write_text(kept)
    (tmp_path / "Bar\x1b]0;owned\x07\x1b[2J.yaml").write_text(kept.replace("age", "\x9bage"))
    (tmp_path / "bad.yaml").write_text(kept + f"limits: {{{IN_YAML}: 3}}\n")
    code, received = in_terminal(tmp_path, "agents", *more)
    assert code == 0, received
    assert "good" in received
    assert "bad.yaml" in received
    assert hidden_on_terminal(received) == []


@pytest.mark.parametrize("more", [(), ("--debug",)], ids=["line", "debug"])
def test_an_error_of_a_provider(tmp_path: Path, city: str, more: tuple[str, ...]) -> None:
    with ScriptedGoogle([refusal(403, f"{NAME} is denied", f"DENIED\n{NAME}\nvirl: all is well")]) as server:
        code, received = in_terminal(
            tmp_path, "run", "aria", "--city", city, "--out", "run", *more, columns=500,
            VIRL_GOOGLE_BASE_URL=server.url, GOOGLE_MAPS_API_KEY=KEY,
        )  # fmt: skip
    assert code == 2, received
    assert "is denied" in received
    assert "\nvirl: all is well" not in received
    assert hidden_on_terminal(received) == []
