"""Journals that somebody else wrote: they read nothing outside their folder, whatever they name."""

import json
import re
from io import BytesIO
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from made_run import keep_made_run, made_city
from typer.testing import CliRunner

from virl.cli.main import app
from virl.errors import JournalBroken
from virl.journal.journal import Journal, read_journal
from virl.journal.report import write_report
from virl.pages.pictures import embed

OUTSIDE = {
    "above": "../secret.jpg",
    "above, from within": "views/../../secret.jpg",
    "absolute": "/secret.jpg",
    "empty": "",
    "itself": ".",
    "of 6,000 characters": "a" * 6_000,
    "a folder of 6,000 characters": "a" * 6_000 + "/b.jpg",
    "of Windows": "..\\secret.jpg",
    "with a zero byte": "views/a\0.jpg",
    "an escape sequence": "views/\x1b[2J.jpg",
    "turned around": "views/\u202egpj.exe",
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    pixels = np.full((32, 32, 3), (250, 0, 250), np.uint8)
    PIL.Image.fromarray(pixels).save(tmp_path / "secret.jpg")
    return keep_made_run(tmp_path / "run", size=64)


def name_first_view(run: Path, file: str) -> None:
    lines = (run / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    step = json.loads(lines[1])
    step["views"][0]["file"] = file
    lines[1] = json.dumps(step)
    (run / "journal.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("file", OUTSIDE.values(), ids=OUTSIDE)
def test_a_view_outside_its_folder_is_refused_in_one_line(run: Path, file: str) -> None:
    name_first_view(run, file)
    with pytest.raises(JournalBroken, match=r"journal\.jsonl, line 2: .*views\.0\.file") as refused:
        read_journal(run)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1_000


def test_a_position_off_the_earth_is_refused_in_one_line(run: Path) -> None:
    lines = (run / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    step = json.loads(lines[1])
    step["pose"]["lat"] = 1e308
    lines[1] = json.dumps(step)
    (run / "journal.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(JournalBroken, match=r"journal\.jsonl, line 2: .*pose\.lat"):
        read_journal(run)


def test_a_link_that_leads_out_is_refused_where_the_run_goes_on(run: Path, tmp_path: Path) -> None:
    (run / "views/link.jpg").symlink_to(tmp_path / "secret.jpg")
    name_first_view(run, "views/link.jpg")
    with pytest.raises(JournalBroken, match="a link that leads out of the run's folder"):
        Journal.resume(run)


@pytest.mark.slow
def test_commands_tell_it_in_one_line(run: Path, tmp_path: Path) -> None:
    name_first_view(run, "../secret.jpg")
    done = CliRunner().invoke(app, ["narrate", str(run)])
    assert done.exit_code == 2
    assert re.fullmatch(r"virl: .*journal\.jsonl, line 2: .*\n", done.stderr)
    gallery = tmp_path / "gallery.html"
    done = CliRunner().invoke(app, ["gallery", str(tmp_path), "--out", str(gallery)])
    assert done.exit_code == 0
    page = gallery.read_text(encoding="utf-8")
    assert "journal.jsonl, line 2" in page
    assert "data:image/jpeg" not in page
    assert "data:image/webp" not in page


def test_no_page_shows_what_a_link_leads_to(run: Path, tmp_path: Path) -> None:
    for view in (run / "views").glob("*.jpg"):
        view.unlink()
        view.symlink_to(tmp_path / "secret.jpg")
    # The icon of the page is no picture of the run.
    assert "data:image/jpeg" not in (page := write_report(run, made_city()).read_text(encoding="utf-8"))
    assert "data:image/webp" not in page
    gallery = tmp_path / "gallery.html"
    assert CliRunner().invoke(app, ["gallery", str(run), "--out", str(gallery)]).exit_code == 0
    assert "data:image/jpeg" not in gallery.read_text(encoding="utf-8")
    assert "data:image/webp" not in gallery.read_text(encoding="utf-8")


def test_pages_embed_nothing_from_outside(run: Path, tmp_path: Path) -> None:
    (run / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    (run / "loop.jpg").symlink_to("loop.jpg")
    names = [
        "../secret.jpg",
        str(tmp_path / "secret.jpg"),
        "link.jpg",
        "loop.jpg",
        "a" * 6_000,
        "a\0b.jpg",
        ".",
    ]
    assert embed(run, names) == {}


def test_a_view_that_is_a_bomb_is_left_out_of_the_report(run: Path, jpeg_bomb: bytes) -> None:
    view = next(iter(sorted((run / "views").glob("*.jpg"))))
    view.write_bytes(jpeg_bomb)
    page = write_report(run, made_city()).read_text(encoding="utf-8")
    assert f"The view is not in this page: views/{view.name}" in page


@pytest.fixture
def jpeg_bomb() -> bytes:
    """A JPEG whose header tells of 240 megapixels."""
    written = BytesIO()
    PIL.Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(written, "JPEG")
    data = bytearray(written.getvalue())
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = (12_000).to_bytes(2, "big") + (20_000).to_bytes(2, "big")
    return bytes(data)
