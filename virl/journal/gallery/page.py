"""The page of the gallery: one file that loads nothing."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from urllib.parse import quote

from virl.files import write_whole
from virl.journal.gallery.benchmarks import BenchmarkCard, benchmark_cards
from virl.journal.gallery.collect import Card, LeftOut, collect
from virl.journal.gallery.thumbnail import Thumbnail
from virl.journal.page import page
from virl.journal.report import REPORT
from virl.journal.town_streets import town_streets
from virl.platform.providers.cities import all_cities, name_of_city
from virl.version import __version__

_TEMPLATES = Path(__file__).parent / "templates"


def write_gallery(folders: Sequence[Path], out: Path) -> tuple[Path, list[Card], list[LeftOut]]:
    """Write the page.

    Args:
        folders: runs, or folders of runs.
        out: where the page goes.

    Returns:
        The page's path, the runs that are on it, and those left out.

    Raises:
        BadInput: one is no folder.
        CannotWrite: the page cannot be written.
    """
    cards, left_out = collect(folders, town_streets)
    html = page(
        "gallery.html.j2",
        {
            "cards": [(card, _link(card, out), isinstance(card.picture, Thumbnail)) for card in cards],
            "benchmarks": [
                (card, _link(card, out))
                for card in sorted(benchmark_cards(folders), key=lambda card: card.when, reverse=True)
            ],
            "left_out": left_out,
            "cities": _titles({card.start.city for card in cards}),
            "attributions": sorted({card.result.notice or card.start.attribution for card in cards} - {""}),
            "version": __version__,
        },
        styles=("gallery.css",),
        scripts=("gallery.js",) if len(cards) > 1 else (),
        folder=_TEMPLATES,
    )
    write_whole(out, html.encode("utf-8", "replace"), "choose another --out")
    return out, cards, left_out


def _link(card: Card | BenchmarkCard, out: Path) -> str:
    """The address of a run's report as seen from the page; empty if it has none."""
    if not card.has_report:
        return ""
    way = os.path.relpath((card.folder / REPORT).resolve(), out.parent.resolve())
    return "./" + quote(Path(way).as_posix())


def _titles(names: Collection[str]) -> dict[str, str]:
    """What cities are called; those given by a path, by the name of the file."""
    known = all_cities()
    return {name: known[name].title if name in known else name_of_city(name) for name in names}
