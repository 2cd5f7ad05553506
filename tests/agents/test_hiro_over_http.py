"""Hiro in a city that is served in Google's formats: the same end, within a budget, whatever fails."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from chaos.jobs import dealt
from made_characters import write_hiro
from served_google import MARKER_KEY
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl import resources
from virl.cli.main import app
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, StreetView, View
from virl.platform.perception.base import Detection, Detector, LookScores, Senses
from virl.platform.perception.senses import open_senses
from virl.platform.providers.google import city as google_city
from virl.platform.providers.google.settings import load_google_settings
from virl.platform.providers.http.settings import Retries, Timeouts
from virl.serve.city_server import ServedCity
from virl.serve.faults import parse_faults
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

pytestmark = pytest.mark.slow

START = "91 Station Street"
STEPS = 13
KILLS, NEVER = 6, 10**6
FAULTS = "429:0.03,500:0.02,503:0.02,timeout:0.005,garbage:0.025"
FREE = {"static_metadata", "tiles_metadata", "tiles_session"}
COSTS = ("requests", "usd", "seconds", "interrupted", "views")
"""Where views are paid, fewer are looked at."""


class Remembering:
    """A detector and a street view that do each thing once: both give the same for the same."""

    def __init__(self, detector: Detector, streetview: StreetView) -> None:
        self._detector = detector
        self._found: dict[tuple[bytes, tuple[str, ...]], list[Detection]] = {}
        self.nearest, self.panorama = streetview.nearest, streetview.panorama
        self.view: Callable[[str, Camera], View] = lru_cache(maxsize=2000)(streetview.view)

    look_scores = LookScores(0.55, 0.55)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        found = []
        for view in views:
            key = (view.pixels.tobytes(), tuple(labels))
            if key not in self._found:
                self._found[key] = self._detector.detect([view], labels)[0]
            found.append(self._found[key])
        return found


@pytest.fixture(scope="module")
def memory(virlton: City) -> Remembering:
    return Remembering(open_senses().detector, virlton.streetview)


@pytest.fixture(scope="module")
def server(virlton: City, memory: Remembering) -> Iterator[ServedCity]:
    with serve_city(replace(virlton, streetview=memory), ServeOptions(lossless=True)) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, virlton: City, memory: Remembering) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    senses = open_senses()
    remembering = Senses(memory, senses.describer, senses.place_types)
    monkeypatch.setattr("virl.agent.assembly.open_senses", lambda *_, **__: remembering)


def at(server: ServedCity, monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """The file of Virlton behind this server, under the name that it has without."""
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server.url)
    path = folder / "virlton.yaml"
    path.write_bytes((resources.data_folder("platform/cities") / "virlton-http.yaml").read_bytes())
    return str(path)


def hiro(character: Path, city: str, out: str, *more: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["run", str(character), "--city", city, "--out", out, "--quiet", *more])
    return done.exit_code, f"{done.output}{done.exception!r}"


def end(out: str) -> dict[str, Any]:
    """Return `result.json` without what the way costs and whom its pictures name."""
    result: dict[str, Any] = json.loads(Path(out, "result.json").read_text())
    assert result.pop("notice") == ("" if out.startswith("within") else "Street view: © Google")
    del result["truth"]
    for name in COSTS:
        result["cost"].pop(name)
    return result


def paid_twice(server: ServedCity) -> dict[str, int]:
    repeated: dict[str, int] = server.stats()["repeated"]
    return {name: count for name, count in repeated.items() if name not in FREE}


def test_the_same_result_over_http_as_in_process(
    server: ServedCity, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    character = write_hiro(tmp_path, steps=STEPS, start=START)
    assert hiro(character, "virlton", "within")[0] == 0
    code, output = hiro(character, at(server, monkeypatch, tmp_path), "over-http")
    assert code == 0, output
    assert end("over-http") == end("within")
    assert end("within")["steps"] > 8
    cost = json.loads(Path("over-http/result.json").read_text())["cost"]
    assert cost["usd"] == cost["requests"]["usd"] > 0.1
    assert cost["requests"]["sent"] == server.stats()["requests"]
    assert not paid_twice(server)


def test_his_own_detector_sees_the_same_over_http(
    virlton: City, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    start = dealt(("91 Station Street", "102 Station Street", "20 Vine Road"))
    monkeypatch.setattr("virl.agent.assembly.open_senses", open_senses)
    with serve_city(virlton, ServeOptions(lossless=True)) as opened:
        for city, out in (("virlton", "within"), (at(opened, monkeypatch, tmp_path), "over-http")):
            code, output = hiro(Path("hiro"), city, out, "--at", start)
            assert code == 0, output
    assert end("over-http")["place"] == end("within")["place"]
    steps = [
        [(one["pose"]["pano_id"], one["decided"], one["places"]) for one in steps_of(out)]
        for out in ("within", "over-http")
    ]
    assert steps[0] == steps[1]


def steps_of(out: str) -> list[dict[str, Any]]:
    lines = map(json.loads, Path(out, "journal.jsonl").read_text().splitlines())
    return [line for line in lines if line["kind"] == "step"]


def test_a_recording_is_played_with_no_network(
    server: ServedCity, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    character = write_hiro(tmp_path, steps=3, start=START)
    city = at(server, monkeypatch, tmp_path)
    assert hiro(character, city, "live", "--record", "recording", "--cache", "off")[0] == 0
    monkeypatch.delenv("GOOGLE_MAPS_API_KEY")
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", "http://127.0.0.1:9")
    code, output = hiro(character, city, "played", "--replay", "recording")
    assert code == 0, output
    assert end("played") == end("live")
    assert json.loads(Path("played/result.json").read_text())["cost"]["usd"] == 0
    code, output = hiro(
        write_hiro(tmp_path, steps=3, start="102 Station Street"), city, "else", "--replay", "recording"
    )
    assert code == 2
    assert "no reply to" in output
    assert "102 Station Street" in output


def test_a_budget_stops_the_run_and_more_lets_it_go_on(
    server: ServedCity, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    character = write_hiro(tmp_path, steps=6, start=START)
    city = at(server, monkeypatch, tmp_path)
    assert hiro(character, city, "whole", "--cache", "off")[0] == 0
    server.reset()
    code, output = hiro(character, city, "run", "--budget-usd", "0.06")
    assert code == 2
    assert "--budget-usd" in output
    assert "--resume" in output
    first = server.stats()["good"]
    assert 5 * first["geocode"] + 7 * first["static_image"] <= 60, "thousandths of a dollar"
    code, output = hiro(character, city, "run", "--resume")
    assert code == 2, "the budget of the start holds until another is given"
    code, output = hiro(character, city, "run", "--resume", "--budget-usd", "5")
    assert code == 0, output
    assert end("run") == end("whole")
    assert not paid_twice(server)


def test_twelve_runs_among_faults_end_as_without(
    virlton: City, memory: Remembering, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    impatient = load_google_settings().model_copy(
        update={
            "timeouts": Timeouts(connect=1, read=0.8, total=5),
            "retries": Retries(further=8, first_wait=0.005, longest_wait=2.0),
        }
    )
    starts = [f"{number} Station Street" for number in (91, 102, 86, 77)]
    characters = []
    for number, start in enumerate(starts):
        (tmp_path / str(number)).mkdir()
        characters.append(write_hiro(tmp_path / str(number), steps=2, start=start))
        code, output = hiro(characters[-1], "virlton", f"within-{number}")
        assert code == 0, output
    failed = 0
    for seed in range(3):
        options = ServeOptions(lossless=True, faults=parse_faults(FAULTS), seed=seed, hang_s=1.5)
        with serve_city(replace(virlton, streetview=memory), options) as faulty:
            city = at(faulty, monkeypatch, tmp_path)
            faultless = google_city.at_base_url(impatient, faulty.url)
            monkeypatch.setattr(google_city, "load_google_settings", lambda settings=faultless: settings)
            for number, character in enumerate(characters):
                out = f"run-{seed}-{number}"
                code, output = hiro(character, city, out, "--cache", "off")
                assert code == 0, output
                assert end(out) == end(f"within-{number}")
            stats = faulty.stats()
            failed += sum(stats["requests"].values()) - sum(stats["good"].values())
    assert failed > 12, "the faults must have happened for the test to mean anything"


KILLED = """
import os, signal, sys
from virl.cli.main import main
from virl.platform.providers.http.stored_replies import ReplyCache
from virl.platform.providers.http.wire import Wire

left = int(sys.argv[1])

def dying(method, before):
    def wrapped(*arguments, **options):
        global left
        left -= 1
        if before and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        done = method(*arguments, **options)
        if not before and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    return wrapped

Wire.send = dying(Wire.send, before=True)
ReplyCache.put = dying(ReplyCache.put, before=False)
main(sys.argv[2:])
"""


def test_killed_and_resumed_it_pays_for_nothing_twice(
    server: ServedCity, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is killed where no reply is under way; nothing can know a reply that never arrived."""
    character = write_hiro(tmp_path, steps=3, start=START)
    city = at(server, monkeypatch, tmp_path)
    assert hiro(character, city, "whole", "--cache", "off")[0] == 0
    server.reset()
    chance, kills = random.Random(5), 0
    while True:
        left = chance.randint(2, 24) if kills < KILLS else NEVER
        more = ["--resume"] if Path("run/journal.jsonl").exists() else []
        arguments = ["run", str(character), "--city", city, "--out", "run", "--quiet", "--cache", "session"]
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(left), *arguments, *more],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        )
        assert done.returncode in (0, -9), done.stderr
        if done.returncode == 0:
            break
        kills += 1
    assert kills >= 3, "the run must have been killed for the test to mean anything"
    assert end("run") == end("whole")
    assert not paid_twice(server)
    spent = sum(json.loads(line)["micro_usd"] for line in Path("run/spending.jsonl").read_text().splitlines())
    true = json.loads(Path("whole/result.json").read_text())["cost"]["usd"]
    cost = json.loads(Path("run/result.json").read_text())["cost"]
    assert cost["usd"] == pytest.approx(spent / 1e6, abs=1e-9)
    assert cost["interrupted"]["usd"] > 0
    assert "paid in interrupted steps" in Path("run/report.html").read_text()
    assert true <= spent / 1e6 <= true + kills * 0.04, "what was held for requests that were never sent"


def test_the_key_is_left_nowhere(
    server: ServedCity, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    character = write_hiro(tmp_path, steps=2, start=START)
    city = at(server, monkeypatch, tmp_path)
    said = [hiro(character, city, "run", "--record", "recording", "--debug")[1]]
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(google_city, "load_google_settings", no_patience)
    said.append(hiro(character, city, "failed", "--cache", "off", "--debug")[1])
    assert "127.0.0.1" in said[-1] or "cannot be reached" in said[-1]
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in left} >= {".jsonl", ".json", ".html", ".jpg", ".body"}
    assert any("google" in path.parts for path in left), "the cache was written"
    assert not [path for path in left if MARKER_KEY.encode() in path.read_bytes()]
    assert MARKER_KEY not in "".join([*said, caplog.text])


def no_patience() -> Any:
    return load_google_settings().model_copy(update={"retries": Retries(further=0)})
