"""The docs name only what exists: pages, pictures, commands, options and Python names."""

import ast
import importlib
import re
import runpy
import shlex
import sys
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from made_package import install_plugin
from typer.testing import CliRunner

from virl.agent.character_file import agent_names
from virl.cli.main import app, main
from virl.platform.providers import city_names
from virl.platform.providers.cities import area_book

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
SOURCES = ["virl", "benchmarks", "agents", "prompts", "platform", "tests", "Makefile", "pyproject.toml"]
WRITTEN = {".py", ".md", ".yaml", ".j2", ".toml", ".js", ".html", ""}
OURS = {"virl", "benchmarks"}

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"`((?:virl|python -m) [^`.]+(?:\.[^`.]+)*)`")  # none with an ellipsis
PAGE_IN_SOURCE = re.compile(r"(?<![\w/.-])docs/[\w/.-]+\.md")


@pytest.fixture(scope="module", autouse=True)
def _example_package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The package that docs/how-to/extending.md shows is installed."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        install_plugin(monkeypatch, tmp_path_factory.mktemp("site"))
        yield


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, *languages: str) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [textwrap.dedent(text) for _, language, text in found if language in languages]


@cache
def anchors(page: Path) -> set[str]:
    """Names of the headings of a page, as GitHub makes them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    targets = [target for target in LINK.findall(text) if not target.startswith(("http", "mailto:"))]
    for target in targets:
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.is_file(), target
        assert not anchor or anchor in anchors(path), target


def test_the_index_leads_to_every_page() -> None:
    index = DOCS / "index.md"
    linked = {
        (DOCS / target.partition("#")[0]).resolve()
        for target in LINK.findall(index.read_text(encoding="utf-8"))
    }
    assert {page for page in DOCS.rglob("*.md") if page.resolve() not in linked} == {index}


def test_every_page_says_at_once_what_its_subject_is_or_does() -> None:
    assert not [name(page) for page in PAGES if "\nAfter this page" in page.read_text(encoding="utf-8")]


def test_every_page_that_the_source_names_exists() -> None:
    roots = [ROOT / source for source in SOURCES]
    files = [path for root in roots for path in ([root] if root.is_file() else root.rglob("*"))]
    missing = {
        f"{name(file)}: {found}"
        for file in files
        if file.is_file() and file.suffix in WRITTEN and "__pycache__" not in file.parts
        for found in PAGE_IN_SOURCE.findall(file.read_text(encoding="utf-8"))
        if not (ROOT / found).is_file()
    }
    assert not missing


def commands() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every command in a shell block or in a sentence: the page it is on, and its words."""
    for page in PAGES:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        lines = [line for block in blocks(page, "sh") for line in block.replace("\\\n", " ").splitlines()]
        for line in [*lines, *COMMAND.findall(text)]:
            words = shlex.split(line, comments=True)
            if words[:1] == ["virl"] or words[:2] == ["python", "-m"]:
                yield name(page), tuple(words)


@cache
def help_of(words: tuple[str, ...]) -> str:
    """What a command says of itself; nothing if there is no such command."""
    said = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(StringIO()):
        patch.setenv("COLUMNS", "300")
        patch.setattr(sys, "argv", [*words[2:], "--help"])
        with warnings.catch_warnings(), suppress(SystemExit):
            warnings.simplefilter("ignore", RuntimeWarning)  # of a module that was imported before it is run
            if words[0] == "virl":
                main([*words[1:], "--help"])
            else:
                runpy.run_module(words[2], run_name="__main__")
    return said.getvalue()


def test_every_command_exists_with_its_options() -> None:
    faults = []
    for page, words in commands():
        options = [word for word in words if word.startswith("-") and word != "-m"]
        known = help_of(words[: words.index(options[0])] if options else words)
        unknown = [option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", known)]
        if unknown or not known:
            faults.append(f"{page}: {' '.join(words)}: {', '.join(unknown) or 'no such command'}")
    assert not faults


def test_the_agent_of_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = DOCS / "tutorial/own-agent.md"
    [routine] = blocks(page, "python")
    [character] = [block for block in blocks(page, "yaml") if "name: Scout" in block]
    (tmp_path / "scout").mkdir()
    for file in ("scout.py", "scout/routine.py"):  # as a module, and then as a folder
        (tmp_path / file).write_text(routine)
        (tmp_path / "scout.yaml").write_text(character)
        monkeypatch.chdir(tmp_path)
        done = CliRunner().invoke(app, ["run", "scout.yaml", "--out", f"run-of-{Path(file).stem}"])
        assert done.exit_code == 0, done.output
        assert "finished: Found 26 restaurants." in done.stdout
        (tmp_path / "scout.py").unlink(missing_ok=True)


def test_agents_and_cities_of_commands_exist() -> None:
    book = area_book()
    names = {"run": agent_names(), "--city": [*city_names(), *book.areas, *book.groups]}
    for page, words in commands():
        for before, word in pairwise(words[1:]):
            known = names.get(before)
            if known and not word.startswith("-") and not word.isupper():  # not a placeholder
                assert word in known or word.partition("@")[0].endswith(
                    (".yaml", ".osm.pbf", ".photos.json")
                ), (page, words)


def imported(block: str) -> Iterator[tuple[str, str]]:
    """Modules of this project that a block imports from, and the names it takes."""
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in OURS:
            yield from ((node.module, one.name) for one in node.names)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_on_a_page_compiles_and_imports_what_exists(page: Path) -> None:
    for block in blocks(page, "python"):
        for module, wanted in imported(block):
            assert hasattr(importlib.import_module(module), wanted), f"{module} has no {wanted}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_yaml_on_a_page_is_yaml(page: Path) -> None:
    for block in blocks(page, "yaml"):
        assert yaml.safe_load(block), block
