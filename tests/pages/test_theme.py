"""One theme: colours, type, spaces and corners of all pages are its tokens."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import ImageColor

from virl.pages.theme import TEMPLATES, colours, rgb

ROOT = Path(__file__).parents[2]
THEME = TEMPLATES / "theme.css"
FOREIGN = {"virl/serve/google/place_json.py", "virl/serve/google/maps.js"}
"""Files that give what Google gives."""

NAMED = "|".join(name for name in ImageColor.colormap if name != "tan")
COLOUR = re.compile(
    rf"#[0-9a-f]{{3,8}}\b|\b(?:rgba?|hsla?|oklch|lab)\(|(?<![\w-])(?:{NAMED})(?![\w-])", re.IGNORECASE
)
HEX = re.compile(r"[\"'(:]\s*#(?:[0-9a-f]{3}|[0-9a-f]{6})\b", re.IGNORECASE)
SIZE = r"var\(--(?:small|text|large|title|head|hero|map-(?:sign|name|label))\)|inherit"
FONT = re.compile(rf"(?:(?:400|600) )?(?:(?:{SIZE})(?:/[\w.]+)? var\(--(?:sans|mono)\)|inherit)")
SCALE = {"13", "15", "17", "21", "28"}
SPACE = re.compile(r"0|auto|var\(--s[1-7]\)|(?:calc|clamp)\((?:var\(--s[1-7]\)|[-+*\s,]|\d+vw|\d)+\)")
CORNER = re.compile(r"0|50%|var\(--(?:radius|pill)\)")


def sources(*suffixes: str) -> Iterator[Path]:
    for folder in ("virl", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in suffixes and name not in FOREIGN:
                yield path


def declarations(path: Path) -> Iterator[tuple[str, str]]:
    """Property and value of every declaration, without comments and the theme's own tokens."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    if path == THEME:
        text = re.sub(r":root \{.*?\}", "", text, flags=re.DOTALL)
    for block in re.findall(r"\{([^{}]*)\}", text):
        for line in filter(str.strip, block.split(";")):
            name, _, value = line.partition(":")
            yield name.strip(), re.sub(r"\s+", " ", value.replace("!important", "")).strip()


def parts(value: str) -> list[str]:
    return re.findall(r"(?:[^\s(]|\((?:[^()]|\([^()]*\))*\))+", value)


def faults_of(name: str, value: str) -> Iterator[str]:
    if name != "content" and COLOUR.search(value):
        yield "colour"
    if "italic" in value or "oblique" in value:
        yield "italics"
    if name == "font" and not FONT.fullmatch(value):
        yield "font"
    if name == "font-size" and not re.fullmatch(SIZE, value):
        yield "size of type"
    if name == "font-weight" and value not in {"400", "600"}:
        yield "weight"
    if name == "font-family" and value != "var(--sans)":
        yield "face"
    if re.fullmatch(r"(?:margin|padding)(?:-\w+)?|(?:row-|column-)?gap", name):
        yield from ("space" for part in parts(value) if not SPACE.fullmatch(part))
    if name.endswith("-radius") and not CORNER.fullmatch(value):
        yield "corner"


def test_style_sheets_use_the_tokens_of_the_theme_alone() -> None:
    assert THEME in list(sources(".css"))
    faults = [
        f"{path.name}: {fault}: {name}: {value}"
        for path in sources(".css")
        for name, value in declarations(path)
        for fault in faults_of(name, value)
        if (path, name) != (THEME, "font-size") or value != "12.8px"  # of the root, on paper: 9 pt text
    ]
    assert faults == []


def test_templates_scripts_and_modules_have_no_colours_and_sizes_of_their_own() -> None:
    faults = []
    for path in sources(".j2", ".html", ".js", ".py"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            styles = re.findall(r"style=\"([^\"]*)\"|\.style\.(?:color|font\w*|background\w*) = (.*)", line)
            if (
                HEX.search(line)
                or any(size not in SCALE for size in re.findall(r"font-size\"?[:=]\s*\"?([\d.]+)", line))
                or any(COLOUR.search(style) or "font" in style for pair in styles for style in pair)
            ):
                faults.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert faults == []


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("color", "#123456", "colour"),
        ("background", "linear-gradient(red, var(--card))", "colour"),
        ("font", "italic 400 var(--text)/1.5 var(--sans)", "italics"),
        ("font-size", "14px", "size of type"),
        ("font-weight", "700", "weight"),
        ("padding", "var(--s1) 5px", "space"),
        ("border-radius", "6px", "corner"),
    ],
)
def test_a_value_that_is_no_token_is_found(name: str, value: str, fault: str) -> None:
    assert fault in list(faults_of(name, value))


def test_pictures_made_without_a_browser_have_the_colours_of_the_theme() -> None:
    assert colours()["accent"] == "#1a5fd0"
    assert rgb("bad") == (0xB3, 0x26, 0x1E)
    dark = THEME.read_text(encoding="utf-8").partition("@media")[2]
    assert {name for name in colours() if f"--{name}:" in dark} >= {"page", "card", "ink", "accent", "c0"}


@pytest.mark.parametrize(
    "sheets",
    [
        {"story.css", "charts.css", "finds.css", "day.css"},
        {"story.css", "charts.css", "town.css"},
        {"story.css", "live.css", "watch.css"},
        {"charts.css", "bench.css"},
    ],
)
def test_no_two_style_sheets_of_a_page_mean_different_things_by_one_class(sheets: set[str]) -> None:
    meant: dict[str, str] = {}
    for path in sources(".css"):
        if path.name in sheets:
            text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            for name in re.findall(r"^\.([\w-]+) \{", text, flags=re.MULTILINE):
                assert meant.setdefault(name, path.name) == path.name, name
