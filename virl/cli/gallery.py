"""The command `virl gallery`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virl.cli.guard import add_guard
from virl.cli.listing import print_json
from virl.console import echo

if TYPE_CHECKING:
    from virl.journal.gallery import Card

RUNS = Path("runs")
PAGE = "gallery.html"


@add_guard()
def gallery(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders, or folders that contain runs at any depth. By default `runs`."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help=f"File of the page. By default `{PAGE}` in the first folder.", dir_okay=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the runs on the page as JSON.")] = False,
) -> None:
    """Build an overview page of finished runs."""
    from virl.journal.gallery import write_gallery  # noqa: PLC0415 - brings in the cities
    from virl.pages.numbers import count_noun  # noqa: PLC0415 - loads when asked for

    where = folders or [RUNS]
    pages, cards, left_out = write_gallery(where, out or where[0] / PAGE)
    for one in left_out:
        echo(f"skipped {one.folder}: {one.why}", err=as_json)
    if as_json:
        print_json([_row(card) for card in cards])
    else:
        others = f" and {count_noun(len(pages) - 1, 'page')} beside it" if len(pages) > 1 else ""
        echo(f"{count_noun(len(cards), 'run')}: {pages[0]}{others}")


def _row(card: "Card") -> dict[str, Any]:
    from virl.journal.report import REPORT  # noqa: PLC0415 - loads when asked for

    start, result = card.start, card.result
    return {
        "folder": str(card.folder),
        "agent": start.agent,
        "name": card.who,
        "city": start.city,
        "mind": start.mind,
        "started": start.started,
        "status": result.status,
        "outcome": card.outcome,
        "steps": result.steps,
        "distance_m": result.distance_m,
        "usd": result.cost.usd,
        "report": str(card.folder / REPORT) if card.has_report else None,
    }
