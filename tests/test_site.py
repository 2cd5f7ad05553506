"""The documentation as a site: whole, for every public name, and without another host."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import griffe
import markdown
import pytest
from headless import chromium, emulate, needs_chromium, violations
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

import virl

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MOST_ENTRIES = 7
README_PX, TALLEST_README_PX = 880, 5000
GITHUB = """
body { margin: 0; font: 16px/1.5 "Noto Sans", Helvetica, Arial, sans-serif; }
h1, h2 { margin: 24px 0 16px; padding-bottom: 0.3em; font-size: 1.5em; line-height: 1.25; }
h1 { font-size: 2em; }
p, pre, ul, table { margin: 0 0 16px; }
pre { padding: 16px; font: 85%/1.45 monospace; }
table { border-collapse: collapse; }
th, td { padding: 6px 13px; border: 1px solid; }
img { max-width: 100%; }
"""
"""Sizes of type and spaces as GitHub has them."""
FETCHED = re.compile(
    r"""<(?:script|link|img|iframe|source|video)\b[^>]*?\s(?:src|href)=["']?(?!data:)([^"'> ]+)"""
)
IMPORTED = re.compile(r"""(?:url\(|@import )["']?(?!data:)([^"')]+)""")


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
    return subprocess.run(
        [*command, "--site-dir", str(site)],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def public_members() -> Iterator[tuple[str, Any]]:
    """The public names and, of classes, their own members, as griffe reads them in the source."""
    package = griffe.load("virl", search_paths=[ROOT])
    for name in virl.__all__:
        member = package[name]
        target = member.final_target if member.is_alias else member
        yield name, target
        if target.is_class:
            arguments = told_arguments(target)
            for inner, one in target.members.items():
                if not (inner.startswith("_") or one.is_alias or inner in arguments):
                    yield f"{name}.{inner}", one


def told_arguments(target: Any) -> set[str]:
    """The fields of a dataclass that its own text tells."""
    sections = target.docstring.parse("google") if target.docstring else []
    kind = griffe.DocstringSectionKind.parameters
    return {one.name for section in sections if section.kind is kind for one in section.value}


@pytest.mark.slow
def test_every_public_name_and_member_has_a_text_and_stands_in_the_reference(site: Path) -> None:
    page = (site / "reference/python-api.html").read_text(encoding="utf-8")
    members = dict(public_members())
    assert len(members) > 2 * len(virl.__all__)
    assert not [name for name, member in members.items() if not member.docstring], "has no docstring"
    assert not [name for name in members if f'id="virl.{name}"' not in page], "is not in the reference"


def test_the_navigation_has_every_page_and_at_most_seven_entries_a_level() -> None:
    def pages(entries: list[Any]) -> Iterator[str]:
        assert len(entries) <= MOST_ENTRIES, entries
        for entry in entries:
            for inner in entry.values() if isinstance(entry, dict) else [entry]:
                yield from [inner] if isinstance(inner, str) else pages(inner)

    navigation = runpy.run_path(str(DOCS / "site_hooks.py"))["navigation"](DOCS)
    there = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
    assert sorted(pages(navigation)) == there


@pytest.mark.slow
def test_the_site_holds_every_page_and_asks_no_other_host(site: Path) -> None:
    for page in DOCS.rglob("*.md"):
        assert (site / page.relative_to(DOCS)).with_suffix(".html").is_file(), page
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert not [url for url in FETCHED.findall(text) if "//" in url], file
        assert "```" not in re.sub(r"<code.*?</code>", "", text, flags=re.DOTALL), (
            f"{file}: a block is not drawn"
        )
    for file in site.rglob("*.css"):
        assert not [url for url in IMPORTED.findall(file.read_text(encoding="utf-8")) if "//" in url], file


@pytest.mark.slow
def test_a_dead_link_stops_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    dead, live = ("gone.md", "other.md#gone"), ("other.md#what-it-is", "../README.md")
    (docs / "index.md").write_text("".join(f"# Front\n\n[a link]({link})\n" for link in (*dead, *live)))
    (docs / "other.md").write_text("# Other\n\n## What it *is*?\n")
    shutil.copy(DOCS / "site_hooks.py", docs)
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    without_api = re.sub(r"^plugins:\n(?:  .*\n)+", "plugins: []\n", settings, flags=re.MULTILINE)
    theme = re.sub(r"^theme:\n(?:  .*\n)+", "theme: mkdocs\n", without_api, flags=re.MULTILINE)
    (tmp_path / "mkdocs.yml").write_text(theme)
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode != 0
    assert [link for link in (*dead, *live) if f"'{link}'" in done.stderr] == list(dead)
    assert done.stderr.count("WARNING") == len(dead)


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as driver:
        yield driver


@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("from_folder", [False, True])
def test_the_search_finds_a_page_without_a_network(
    site: Path, served: str, browser: webdriver.Chrome, from_folder: bool
) -> None:
    home = site.as_uri() if from_folder else served
    browser.get(f"{home}/index.html")
    field = browser.find_element(By.CSS_SELECTOR, "input[data-md-component=search-query]")
    browser.execute_script("arguments[0].focus()", field)
    field.send_keys("panorama")
    found = WebDriverWait(browser, 30).until(
        lambda now: now.find_elements(By.CSS_SELECTOR, ".md-search-result__link")
    )
    assert all(str(link.get_attribute("href")).startswith(home) for link in found)
    asked = browser.execute_script("return performance.getEntriesByType('resource').map(one => one.name)")
    assert asked or from_folder
    assert all(url.startswith(home) for url in asked), asked


@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize(
    "page", ["index.html", "how-to/watch.html", "explanation/agent-results.html", "reference/python-api.html"]
)
@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_a_page_can_be_read_by_everybody(
    site: Path, browser: webdriver.Chrome, page: str, width: int, dark: bool
) -> None:
    emulate(browser, width, dark=dark)
    browser.get((site / page).as_uri())
    scheme = browser.execute_script("return document.body.dataset.mdColorScheme")
    assert scheme == ("slate" if dark else "default"), (
        "what the system prefers, whatever it did at a visit before"
    )
    browser.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert violations(browser) == []
    across = browser.execute_script("""return [...document.querySelectorAll(".md-typeset :is(td, img)")]
        .map((one) => one.getBoundingClientRect().right)""")
    assert max(across) <= width, "something is cut"


@pytest.mark.browser
@needs_chromium
def test_the_readme_is_short_and_none_of_its_pictures_is_missing(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    text = markdown.markdown((ROOT / "README.md").read_text(), extensions=["tables", "fenced_code"])
    page = tmp_path / "readme.html"
    page.write_text(f"<base href='{ROOT.as_uri()}/'><style>{GITHUB}</style>{text}", encoding="utf-8")
    emulate(browser, README_PX, dark=False)
    browser.get(page.as_uri())
    assert browser.execute_script("return [...document.images].every((one) => one.naturalWidth > 0)")
    assert browser.execute_script("return document.documentElement.scrollHeight") <= TALLEST_README_PX


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Write nothing."""
