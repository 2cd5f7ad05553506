"""The page as it is served, and as one file that replays finished runs without a server."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment

from virl.errors import BadInput
from virl.files.writing import write_whole
from virl.journal.report import TEMPLATES as REPORT_TEMPLATES
from virl.pages.pictures import Grades, embed_all
from virl.pages.shell import THEME, html_page, join_files, open_templates
from virl.serve.watch.feed import Feed, cards_of, files_of

PAGE = Path(__file__).parent / "page"
STYLES = ("story.css", "live.css", "watch.css")
SCRIPTS = (
    *("dom.js", "maps.js", "map.js", "stage.js", "timeline.js"),
    *("wheel.js", "panel.js", "grid.js", "main.js"),
)
SAVED_BYTES = 12_000_000
"""Most bytes of all pictures in a saved page, before base64 adds a third. Chosen: a mail may carry it."""
SAVED: Grades = ((640, 80), (480, 75), (400, 70), (320, 65), (240, 60), (160, 50))
"""Longest sides (pixels) and JPEG qualities of a saved page's pictures, the best first; chosen."""
MOST_SAVED = 100
"""Most runs in a saved page; chosen: of more, the pictures of each would be too few."""


@cache
def templates() -> Environment:
    """Return the templates of the page."""
    return open_templates(PAGE, REPORT_TEMPLATES)


@cache
def served_files() -> Mapping[str, tuple[str, str]]:
    """Return (media type, content) of the page, its style and its script, by file name; "" is the page."""
    found = templates()
    return {
        "": ("text/html", found.get_template("watch.html.j2").render()),
        "watch.css": ("text/css", join_files(found, (*THEME, *STYLES))),
        "watch.js": ("text/javascript", join_files(found, SCRIPTS)),
    }


def save_page(feeds: Sequence[Feed], out: Path) -> tuple[Path, int]:
    """Write an HTML file that replays runs, at most `MOST_SAVED`; return (its path, number of runs left out).

    Raises:
        BadInput: a journal cannot be read.
        CannotWrite: the file cannot be written.
    """
    latest = sorted(feeds, key=lambda feed: feed.began)[-MOST_SAVED:]
    left, feeds = len(feeds) - len(latest), latest
    told = [feed.read_records() for feed in feeds]
    for feed in feeds:
        if feed.fault:
            raise BadInput(feed.fault)
    views = {
        f"{run}/{place}": (feed.folder, file)
        for run, feed in enumerate(feeds)
        for place, file in files_of(feed).items()
    }
    found = embed_all(views.values(), SAVED, SAVED_BYTES)
    numbers = {view: number for number, view in enumerate(found)}
    index = cards_of(dict(enumerate(feeds)))
    html = html_page(
        templates(),
        "saved.html.j2",
        {"title": ", ".join(card["title"] for card in index[:4])},
        styles=STYLES,
        scripts=SCRIPTS,
        data={
            "index": index,
            "runs": [list(records) for records in told],
            "maps": [feed.map() for feed in feeds],
            "views": {place: numbers[view] for place, view in views.items() if view in numbers},
            "pictures": list(found.values()),
        },
    )
    write_whole(out, html.encode("utf-8", "replace"), "choose another --save")
    return out, left
