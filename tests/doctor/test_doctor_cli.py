"""`virl doctor` as a user meets it."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import typer
from rich.console import Console
from served_google import MARKER_KEY, FlatPhotos
from typer.testing import CliRunner, Result

from virl.cli.doctor import doctor
from virl.console import SafeConsole
from virl.doctor import examination, machine
from virl.doctor.examination import examine_machine
from virl.doctor.report import Report, tell
from virl.doctor.services import Finding, ProbeOutcomes
from virl.errors import BadInput
from virl.platform.city.streetview import Camera
from virl.platform.providers import open_city
from virl.serve.city_server import ServedCity
from virl.serve.faults import parse_faults
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

APP = typer.Typer(add_completion=False)
APP.command("doctor")(doctor)
OPEN_ONCE = cache(open_city)  # opening the town takes seconds


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GOOGLE_MAPS_API_KEY", "GOOGLE_MAPS_SIGNING_SECRET", "VIRL_GOOGLE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    for module in (machine, examination):
        monkeypatch.setattr(module, "open_city", OPEN_ONCE)


@pytest.fixture(scope="module")
def server() -> Iterator[ServedCity]:
    town = OPEN_ONCE("virlton")
    town.streetview.view("vt-00042", Camera(0, width=64, height=48))  # the first picture takes seconds
    options = ServeOptions(key=MARKER_KEY, panorama_width=512, faults=parse_faults("503:0.1,garbage:0.05"))
    with serve_city(replace(town, places=FlatPhotos(town.places)), options) as server:
        yield server


def run(*arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(APP, [*arguments], input=typed)


@pytest.mark.slow
def test_without_a_key_the_offline_core_works_and_every_remedy_is_told() -> None:
    done = run()
    assert done.exit_code == 0, done.output
    for line in ("Virlton opens", "GOOGLE_MAPS_API_KEY", "one step of Hiro", "virl data r2r --from DIR"):
        assert line in done.stdout
    assert "not asked | Routes API" in done.stdout
    first, second, third, *rest = done.stdout.splitlines()
    assert first == "made cities: work, try `virl run hiro`"
    assert second == "real cities: no key: set GOOGLE_MAPS_API_KEY"
    assert third.startswith("language models: ")
    last = [line for line in rest if line.startswith("  ")]
    states = [line.split(" | ")[0].strip() for line in last]
    assert "missing" not in states[: states.index("missing")]
    assert set(states[states.index("missing") :]) == {"missing"}, "what is missing stands last"


@pytest.mark.slow
def test_json_is_json_and_nothing_else(server: ServedCity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server.url)
    done = run("--json", "--city", "virlton", "--steps", "60")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["offline_core_works"] is True
    assert {finding["state"] for finding in report["machine"]} <= {"ok", "missing"}
    assert all({"what", "detail", "needed_for", "remedy"} <= finding.keys() for finding in report["machine"])
    assert report["google"]["spent_usd"] == 0
    assert {one["status"] for one in report["google"]["outcomes"]} >= {"not asked"}
    units = {(one["unit"], one["imagery"]): one["usd"] for one in report["costs"]}
    assert units["one run of Hiro, 60 moves", "static"] > units["one run of Hiro, 60 moves", "tiles"] > 0


@pytest.mark.slow
def test_prices_and_sum_come_before_paid_requests(
    server: ServedCity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server.url)
    done = run("--real", "--yes", "--budget-usd", "0.003", "--city", "virlton")
    assert done.exit_code == 0, done.output
    announced = [line for line in done.stderr.splitlines() if line.startswith("will ask")]
    assert len(announced) == 6
    assert sum(float(line.rpartition("$")[2]) for line in announced) == pytest.approx(0.063)
    assert "in all $0.063; the budget is $0.003" in done.stderr
    assert "0.002" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("key", [MARKER_KEY, f"{MARKER_KEY}-wrong", f"{MARKER_KEY} with spaces"])
@pytest.mark.parametrize("arguments", [("--debug",), ("--real", "--yes", "--json")])
def test_the_key_is_never_printed(
    server: ServedCity, key: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", key)
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server.url)
    done = run(*arguments, "--city", "virlton")
    assert done.exit_code == 0, done.output
    assert "marker" not in done.output + done.stdout + done.stderr + caplog.text
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(b"marker" not in path.read_bytes() for path in files)


@pytest.mark.slow
def test_an_unreachable_server_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", "http://127.0.0.1:9")
    done = run()
    assert done.exit_code == 0, done.output
    assert "unreachable | Street View Static API" in done.stdout
    assert "check the network" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--city", "atlantis"), "unknown city 'atlantis'"),
        (("--runs", "nowhere"), "nowhere"),
        (("--budget-usd", "-1"), "budget-usd"),
    ],
)
def test_bad_input_is_told_with_code_2(arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_base_url_that_is_none_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", "127.0.0.1/path")
    done = run()
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_broken_core_has_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise BadInput(f"{name}.yaml: no such file")

    monkeypatch.setattr(machine, "open_city", fail)
    done = run()
    assert done.exit_code == 1
    assert "broken | virl" in done.stdout


@pytest.mark.slow
def test_a_terminal_gets_tables_with_the_same_words() -> None:
    screen = io.StringIO()
    report = examine_machine(None, "london", None, None, Console(file=io.StringIO()))
    tell(report, Console(file=screen, force_terminal=True, width=200))
    assert "\x1b[" in screen.getvalue()
    assert "Virlton opens" in screen.getvalue()
    assert "imagery: tiles" in screen.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_texts_of_others_do_not_steer_the_screen(terminal: bool) -> None:
    fault = Finding("other packages", "missing", "ev\x1b[31mil: \x1b]0;owned\x07boom", "each provider")
    screen = io.StringIO()
    report = Report("1", True, (fault,), ProbeOutcomes((), 0.0), (), (), ())
    tell(report, SafeConsole(file=screen, force_terminal=terminal, color_system=None, width=200))
    assert "boom" in screen.getvalue()
    assert not {"\x1b", "\x07"} & set(screen.getvalue())


@pytest.mark.slow
def test_the_mover_that_fits_a_city_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    town = OPEN_ONCE("virlton")
    with serve_city(town, ServeOptions(panorama_width=512)) as plain:
        monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", plain.url)
        done = run("--city", "virlton-http")
    assert "mover in virlton-http | links: 0 of 12 panoramas around the start have fewer" in done.stdout
    with serve_city(town, ServeOptions(denied=("map-tiles",))) as without:
        monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", without.url)
        done = run("--city", "virlton-http")
    assert "mover in virlton-http | grid: the key may not use the Map Tiles API" in done.stdout
    monkeypatch.delenv("GOOGLE_MAPS_API_KEY")
    assert "mover in tokyo | links: until a run starts; then hybrid" in run("--city", "tokyo").stdout


@pytest.mark.slow
def test_the_mind_of_runs_is_asked_and_told_in_the_first_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("VIRL_BASE_URL", raising=False)
    monkeypatch.setenv("VIRL_MIND", "openai:gpt-5-mini")
    done = run()
    third = done.stdout.splitlines()[2]
    assert third.startswith("language models: openai:gpt-5-mini: cannot be opened (")
    assert "set OPENAI_API_KEY" in third
    assert done.exit_code == 0
