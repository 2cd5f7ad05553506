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
"""Sections of the index whose pages become a tab; their sub-sections become groups of it."""
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
    sections = sections_of((docs / FRONT).read_text(encoding="utf-8"), level=2)
    tabs = [{title: grouped(sections[title], level=3)} for title in TABS if title in sections]
    used = {FRONT, *LINKED_PAGE.findall(str(tabs))}
    pages = sorted(page.relative_to(docs).as_posix() for page in docs.rglob("*.md"))
    return [{"Home": FRONT}, *tabs, *(page for page in pages if page not in used)]


def grouped(text: str, level: int) -> list[Any]:
    """Return the pages that a section leads to, each once, and then its sub-sections as groups."""
    own = re.split(rf"^#{{{level}}} ", text, maxsplit=1, flags=re.MULTILINE)[0]
    pages = dict.fromkeys(link for link, _ in LINK.findall(own) if not link.startswith(".."))
    deeper = sections_of(text, level)
    return [*pages, *({title: grouped(part, level + 1)} for title, part in deeper.items())]


def sections_of(text: str, level: int) -> dict[str, str]:
    """Return the sections under headings of a level: title to text."""
    parts = re.split(rf"^#{{{level}}} (.+)$", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Links to files that are no part of the site lead to the repository; the API's page gets its names."""
    folder = PurePosixPath("docs", page.file.src_uri).parent

    def lead(found: re.Match[str]) -> str:
        path = normpath(str(folder / found[1]))
        outside = not path.startswith("docs/") or path.endswith((".ipynb", ".py"))
        return f"{REPOSITORY}/blob/main/{path}{found[2] or ''}" if outside else found[0]

    return LINK.sub(lead, markdown).replace(NAMES, "\n\n".join(map(entry, PUBLIC)))


def entry(name: str) -> str:
    """Return what mkdocstrings turns into the signature and the text of a public name."""
    return f"::: {name}"
