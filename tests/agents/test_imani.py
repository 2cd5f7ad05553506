"""Imani sends RX-399 over a region: its run stands within hers, and her page shows what it found."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from made_characters import PLANNER
from typer.testing import CliRunner, Result

from virl.cli.main import app
from virl.journal.report import write_report

pytestmark = pytest.mark.slow


def live(folder: Path, text: str = PLANNER, *options: str) -> Result:
    character = folder / "planner.yaml"
    character.write_text(text)
    return CliRunner().invoke(app, ["run", str(character), "--out", str(folder / "run"), *options])


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("imani")
    done = live(folder)
    assert done.exit_code == 0, done.output
    return folder / "run", done.output


def result_of(run: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((run / "result.json").read_text())
    return result


def test_the_robot_counts_in_a_run_of_its_own(told: tuple[Path, str]) -> None:
    run, _ = told
    hers, its = result_of(run), result_of(run / "consulted/round")
    begun = json.loads((run / "consulted/round/journal.jsonl").read_text().splitlines()[0])
    assert (begun["agent"], begun["caller"]) == ("rx399", "planner")
    assert hers["found"] == its["found"]
    assert sum(hers["found"].values()) >= 2
    assert hers["cost"]["views"] == its["cost"]["views"] > 0
    assert hers["reason"].startswith(f"RX-399 took {its['steps']} steps, ")
    assert all((run / file).is_file() for file in hers["files"])
    assert len(hers["files"]) == 2


def test_the_terminal_follows_the_robot(told: tuple[Path, str]) -> None:
    run, text = told
    assert "RX-399 starts" in text
    bins = result_of(run)["found"]["trash bin"]
    assert text.count("found trash bin ") >= bins
    assert "0 steps" not in text


def test_her_page_has_the_heat_map_and_the_pictures(told: tuple[Path, str]) -> None:
    run, _ = told
    html = (run / "report.html").read_text()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    data = json.loads(found[1])
    assert len(data["finds"]) == sum(result_of(run)["found"].values())
    assert any(level["cells"] for level in data["heat"])
    sights = [sight for find in data["finds"] for sight in find["sights"]]
    own = [picture for sight in sights for picture in sight["pictures"] if picture is not None]
    assert own
    assert all(picture.startswith("data:image/") for picture in own), "the others are taken from tiles"
    assert "every panorama of the region is visited" in html
    assert 'href="consulted/round/report.html"' in html.replace("./", "")


def test_her_card_in_the_gallery_shows_what_the_robot_saw(told: tuple[Path, str], tmp_path: Path) -> None:
    run, _ = told
    page = tmp_path / "gallery.html"
    done = CliRunner().invoke(app, ["gallery", str(run), "--out", str(page)])
    assert done.exit_code == 0, done.output
    assert "1 run:" in done.output
    assert page.read_text().count("data:image/webp") == 1


def test_before_the_robot_is_back_her_page_shows_what_it_found_so_far(
    told: tuple[Path, str], tmp_path: Path
) -> None:
    run, _ = told
    begun = tmp_path / "run"
    nested = begun / "consulted/round"
    nested.mkdir(parents=True)
    for name in ("journal.jsonl", "region.jsonl", "memory/memory.jsonl"):
        (nested / name).parent.mkdir(exist_ok=True)
        (nested / name).write_bytes((run / "consulted/round" / name).read_bytes())
    (begun / "journal.jsonl").write_bytes((run / "journal.jsonl").read_bytes().splitlines(keepends=True)[0])
    html = write_report(begun).read_text()
    assert "Found so far" in html
    assert "trash bin 1" in html


def test_steps_of_the_robot_are_hers(tmp_path: Path) -> None:
    done = live(tmp_path, PLANNER.replace("steps: 200", "steps: 5"))
    assert done.exit_code == 0, done.output
    assert result_of(tmp_path / "run/consulted/round")["steps"] == 5
    result = result_of(tmp_path / "run")
    assert (result["status"], "the limit of 5 steps is reached" in result["reason"]) == ("gave up", True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (re.sub(r"count: .*\n", "", PLANNER), "planner.yaml: `count:` is missing"),
        (
            PLANNER.replace("routine: imani", "routine: rx399\nroute: [130 Elm Walk]"),
            "region: there is a `route:` too: remove one of them",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(wrong: str, said: str, tmp_path: Path) -> None:
    refused = live(tmp_path, wrong)
    assert refused.exit_code == 2
    assert said in refused.stderr
