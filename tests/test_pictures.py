"""The pictures of the documentation: each is there, is shown, says what it shows, and is small."""

import re
import runpy
from pathlib import Path

from PIL import Image

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


def test_the_run_of_the_front_doors_moves_and_names_its_mappers() -> None:
    for page in PAGES[0], ROOT / "docs" / "index.md":
        text = page.read_text(encoding="utf-8")
        first = next(file for _, file in SHOWN.findall(text) if file.endswith(".webp"))
        assert first.endswith("images/hiro.webp")
        assert "OpenStreetMap contributors" in text.partition(first)[2][:200]
    with Image.open(IMAGES / "hiro.webp") as picture:
        assert picture.n_frames > 10
        assert picture.size == (1200, 500)


def test_a_script_makes_every_picture_of_a_run_a_town_or_a_page() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_pictures.py"))["PICTURES"]
    # Two states of virl draw the looks: benchmarks/perf/make_look_pairs.py.
    assert made.keys() | {"looks"} == {file.stem for file in IMAGES.glob("*.webp")}
