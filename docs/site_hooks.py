"""What MkDocs does besides reading `mkdocs.yml`: the navigation, links into the repository, the API's names.

The pages stay as GitHub shows them; these hooks change only what the site is made of.
"""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

import virl
import virl.api.langchain

REPOSITORY = "https://github.com/virl-project/virl"
SECTIONS = {
    "tutorial": "Tutorials",
    "how-to": "How-to guides",
    "reference": "Reference",
    "explanation": "Explanations",
}
"""Folders of pages, in the order of the tabs."""
FIRST, LAST = ("index.md", "gallery.md"), "explanation"
"""The pages that are tabs of their own, and the folder whose tab has the other pages beside it."""
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
NAMES = "<!-- names of virl -->"
PUBLIC = (
    *(f"virl.{name}" for name in virl.__all__),
    *(f"virl.api.langchain.{name}" for name in virl.api.langchain.__all__),
)


def on_config(config: Any) -> Any:
    """Navigation by folder; within one, in the order in which the index leads to the pages."""
    docs = Path(config["docs_dir"])
    config["nav"] = navigation(docs)
    return config


def navigation(docs: Path) -> list[Any]:
    """Every page below a folder, as MkDocs takes it: the front page, a list for each section, the gallery."""
    index = (docs / "index.md").read_text(encoding="utf-8")
    listed = [link for link, _ in LINK.findall(index)]
    pages = sorted(page.relative_to(docs).as_posix() for page in docs.rglob("*.md"))
    pages.sort(key=lambda page: listed.index(page) if page in listed else len(listed))
    loose = [page for page in pages if "/" not in page and page not in FIRST]
    tabs: list[Any] = [{"Home": FIRST[0]}]
    for folder, title in SECTIONS.items():
        inside = [page for page in pages if page.startswith(f"{folder}/")]
        tabs.append({title: inside + (loose if folder == LAST else [])})
    return tabs + [page for page in FIRST[1:] if page in pages]


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
