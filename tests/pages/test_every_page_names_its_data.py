"""Every page, drawing and data set about a town of OpenStreetMap names who mapped it, and when."""

import html
from pathlib import Path

import pytest
from made_extract import CREDIT, FRAME, made_extract
from typer.testing import CliRunner

from virl.cli.main import app
from virl.osm.invented import INVENTED

SHOWN = {".html", ".svg", ".md", ".geojson"}
DATA = {"card.json", "counting.json", "export.json", "narration.json", "plan.json", "result.json"}
WRITTEN = {
    "gallery.html", "town.html",
    "hiro/report.html", "hiro/narration.html", "hiro/narration.md", "hiro/trajectory.svg", "hiro/result.json",
    "imani/report.html", "imani/consulted/round/report.html", "imani/consulted/round/objects.geojson",
    "export/README.md", "export/export.json", "building/README.md",
    "walks/report.html", "walks/episodes.html", "walks/narrations/0/trajectory.svg",
    "viewpoints/report.html", "viewpoints/episodes.html",
    "counting/report.html", "counting/counting.html", "counting/counting.json",
    "asked/report.html", "crooked/card.json",
}  # fmt: skip
"""Some of each kind; a kind that is new is found by its suffix."""

PLANNER = """\
name: Imani
city: virlton
start: 60.17,24.94
background: A planner.
intention: To know how bins are spread.
routine: imani
region: {region}
senses: {{detector: simulated}}
count: {{things: [trash bin], background: []}}
limits: {{steps: 40}}
"""
HERE = ("--engine", "threads", "--workers", "1")
"""Options of benchmarks: another process would first import all and read the town."""


def command(*words: object) -> None:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of each page, and nothing else of these kinds."""
    home, town = tmp_path_factory.mktemp("named"), tmp_path_factory.mktemp("osm") / "crooked.osm.pbf"
    made_extract(town)
    corners = [list(FRAME.position(*at)) for at in ((-20, -20), (110, -20), (110, 110), (-20, 110))]
    planner = town.with_name("planner.yaml")
    planner.write_text(PLANNER.format(region=corners))
    limits = ("--set", "limits.steps=2", "--set", "senses.detector=simulated")
    command("run", "hiro", "--city", town, "--out", home / "hiro", "--quiet", *limits)
    command("run", planner, "--city", town, "--out", home / "imani", "--quiet")
    command("narrate", home / "hiro")
    command("gallery", home, "--out", home / "gallery.html")
    command("town", town, "--out", home / "town.html", "--views", 1)
    command("data", "export", "--city", town, "--out", home / "export", "--episodes", 2)
    command("data", "export", "--city", town, "--out", home / "building", "--episodes", 2, "--format", "r2r",
            "--radius", 400)  # fmt: skip
    command("bench", "touchdown", "--data", home / "export", "--agent", "gold", "--out", home / "walks")
    command("bench", "r2r", "--data", home / "building", "--agent", "gold", "--out", home / "viewpoints",
            "--split", "val_seen")  # fmt: skip
    command("narrate", home / "walks", "--episode", "0")
    command("bench", "counting", "--city", town, "--limit", 1, *HERE, "--out", home / "counting")
    command("collect", "places", "--city", f"{town}@invented", "--out", home / "crooked")
    command("collect", "vqa", "--city", f"{town}@invented", "--out", home / "crooked")
    command("bench", "place-vqa", "--city", f"{town}@invented", "--data", home, "--limit", 1,
            "--out", home / "asked")  # fmt: skip
    return home


@pytest.mark.slow
def test_all_that_is_written_names_who_mapped_the_town(home: Path) -> None:
    files = [path for path in home.rglob("*") if path.suffix in SHOWN or path.name in DATA]
    assert {path.relative_to(home).as_posix() for path in files} >= WRITTEN
    silent = [
        path.relative_to(home).as_posix()
        for path in files
        if CREDIT not in html.unescape(path.read_text("utf-8"))
    ]
    assert silent == []


MADE_UP = {
    "hiro/report.html", "hiro/journal.jsonl", "hiro/result.json", "hiro/narration.html",
    "hiro/trajectory.svg", "vivek/report.html", "vivek/result.json", "gallery.html", "town.html",
    "counting/report.html", "counting/counting.html", "counting/results.json",
    "explored/report.html", "explored/results.json",
    "asked/report.html", "asked/results.json", "crooked/card.json",
}  # fmt: skip


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `home`, of the same town with invented life."""
    home, town = tmp_path_factory.mktemp("invented"), tmp_path_factory.mktemp("osm") / "crooked.osm.pbf"
    made_extract(town)
    city = f"{town}@invented"
    limits = ("--set", "limits.steps=2", "--set", "senses.detector=simulated")
    command("run", "hiro", "--city", city, "--out", home / "hiro", "--quiet", *limits)
    command("run", "vivek", "--city", city, "--out", home / "vivek", "--quiet")
    command("narrate", home / "hiro")
    command("gallery", home, "--out", home / "gallery.html")
    command("town", city, "--out", home / "town.html", "--views", 1)
    command("bench", "counting", "--city", city, "--limit", 1, *HERE, "--out", home / "counting")
    command("bench", "exploration", "--city", city, "--policy", "oracle", "--starts", 1,
            *HERE, "--out", home / "explored")  # fmt: skip
    command("collect", "places", "--city", city, "--out", home / "crooked")
    command("collect", "vqa", "--city", city, "--out", home / "crooked")
    command("bench", "place-vqa", "--city", city, "--data", home, "--limit", 1, "--out", home / "asked")
    return home


@pytest.mark.slow
def test_all_that_is_written_of_an_invented_life_says_so(invented: Path) -> None:
    told = DATA | {"results.json", "journal.jsonl"}
    files = [path for path in invented.rglob("*") if path.suffix in SHOWN or path.name in told]
    written = {path.relative_to(invented).as_posix() for path in files}
    assert written >= MADE_UP
    silent = {
        path.relative_to(invented).as_posix()
        for path in files
        if INVENTED not in html.unescape(path.read_text("utf-8"))
    }
    assert silent == set()
