"""Hooks of MkDocs: the navigation, links into the repository, the API's names.

The pages stay as GitHub shows them; these hooks change only what the site is made of.
"""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

import virl
import virl.api.langchain

REPOSITORY = "https://github.com/virl-project/virl"
TABS = ("Tutorials", "How-to guides", "Reference", "Explanations")
"""Folded sections of the index whose pages become a tab; their sub-sections become groups of it."""
FOLDED, HEADING = r"<summary>(.+)</summary>$", "^## (.+)$"
FRONT = "index.md"
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
LINKED_PAGE = re.compile(r"'([^']+\.md)'")
NAMES = "<!-- names of virl -->"
PUBLIC = (
    *(f"virl.{name}" for name in virl.__all__),
    *(f"virl.api.langchain.{name}" for name in virl.api.langchain.__all__),
)


def on_config(config: Any) -> Any:
    """Take the navigation from the index."""
    config["nav"] = navigation(Path(config["docs_dir"]))
    return config


def navigation(docs: Path) -> list[Any]:
    """Return the front page, a tab for each section of the index, and the pages that no section has."""
    sections = sections_of((docs / FRONT).read_text(encoding="utf-8"), FOLDED)
    tabs = [{title: grouped(sections[title], HEADING)} for title in TABS if title in sections]
    used = {FRONT, *LINKED_PAGE.findall(str(tabs))}
    pages = sorted(page.relative_to(docs).as_posix() for page in docs.rglob("*.md"))
    return [{"Home": FRONT}, *tabs, *(page for page in pages if page not in used)]


def grouped(text: str, heading: str) -> list[Any]:
    """Return the pages that a section leads to, each once, and then its sub-sections as groups."""
    own = re.split(heading, text, maxsplit=1, flags=re.MULTILINE)[0]
    pages = dict.fromkeys(link for link, _ in LINK.findall(own) if not link.startswith(".."))
    deeper = sections_of(text, heading)
    return [
        *pages,
        *({title: grouped(part, heading.replace("#", "##", 1))} for title, part in deeper.items()),
    ]


def sections_of(text: str, heading: str) -> dict[str, str]:
    """Return the sections under headings that match a pattern: title to text."""
    parts = re.split(heading, text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Links to files that are no part of the site lead to the repository; the API's page gets its names."""
    if page.file.src_uri == FRONT:
        page.meta["hide"] = ["navigation", "toc"]
    folder = PurePosixPath("docs", page.file.src_uri).parent

    def lead(found: re.Match[str]) -> str:
        path = normpath(str(folder / found[1]))
        outside = not path.startswith("docs/") or path.endswith((".ipynb", ".py"))
        return f"{REPOSITORY}/blob/main/{path}{found[2] or ''}" if outside else found[0]

    return LINK.sub(lead, markdown).replace(NAMES, "\n\n".join(map(entry, PUBLIC)))


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Take the table of contents from the front page, whose headings are folded."""
    if page.file.src_uri == FRONT:
        page.toc.items.clear()
    return html


def entry(name: str) -> str:
    """Return what mkdocstrings turns into the signature and the text of a public name."""
    return f"::: {name}"
