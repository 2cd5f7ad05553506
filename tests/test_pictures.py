"""The pictures of the documentation: each is there, is shown, says what it shows, and is small."""

import re
import runpy
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image

import virl
from virl.journal.journal import read_journal
from virl.journal.records import StepRecord

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
MOST_BYTES, MOST_BYTES_OF_ONE, MOST_PIXELS = 6_000_000, 1_500_000, 2400
LEAST_WORDS = 3


def shown() -> list[tuple[Path, str, Path]]:
    """Every picture of a page: the page, the words in its place, the file."""
    return [
        (page, words, (page.parent / target).resolve())
        for page in PAGES
        for words, target in SHOWN.findall(page.read_text(encoding="utf-8"))
    ]


def test_every_picture_is_shown_and_every_one_shown_is_there() -> None:
    assert {file for _, _, file in shown()} == set(IMAGES.iterdir())


def test_every_picture_says_in_words_what_it_shows() -> None:
    short = [(page.name, words) for page, words, _ in shown() if len(words.split()) < LEAST_WORDS]
    assert not short


def test_pictures_are_small() -> None:
    sizes = {file.name: file.stat().st_size for file in IMAGES.iterdir()}
    assert sum(sizes.values()) <= MOST_BYTES, sizes
    assert max(sizes.values()) <= MOST_BYTES_OF_ONE, sizes
    for file in IMAGES.glob("*.webp"):
        with Image.open(file) as picture:
            assert max(picture.size) <= MOST_PIXELS, file


def test_pictures_of_mapped_towns_name_their_mappers_and_every_picture_has_its_command() -> None:
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert len(sections) > 5
    for section in sections:
        assert SHOWN.search(section), section
        assert "```sh\nvirl " in section, section
        assert (".osm" in section) == ("© OpenStreetMap contributors." in section), section


def test_the_run_of_the_readme_moves() -> None:
    assert "docs/images/hiro.webp" in (ROOT / "README.md").read_text(encoding="utf-8")
    with Image.open(IMAGES / "hiro.webp") as picture:
        assert picture.n_frames > 10


@pytest.mark.slow
def test_a_run_becomes_an_animated_picture(tmp_path: Path) -> None:
    run = tmp_path / "run"
    virl.run("hiro", city="virlton", steps=2, out=run)
    out = tmp_path / "run.webp"
    animation = runpy.run_path(str(ROOT / "docs" / "animate_run.py"))
    animation["main"](run, out)
    steps = [record for record in read_journal(run) if isinstance(record, StepRecord)]
    side = animation["SIDE"]
    maps = []
    with Image.open(out) as picture:
        assert picture.n_frames > len(steps)
        for number in range(len(steps)):
            picture.seek(number)
            maps.append(picture.convert("RGB").crop((side, 0, 2 * side, side)))
    assert all(before.tobytes() != after.tobytes() for before, after in pairwise(maps)), (
        "the path does not grow"
    )
