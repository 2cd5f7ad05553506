"""The command `virl town`."""

from pathlib import Path
from typing import Annotated

import typer

from virl.cli.completion import complete_cities
from virl.cli.guard import add_guard
from virl.cli.options import AroundOption, RadiusOption, part_of
from virl.console import echo

PAGE = Path("town.html")
MOST_VIEWS = 100


@add_guard()
def town(
    city: Annotated[
        str,
        typer.Argument(
            help="An OpenStreetMap extract, such as helsinki.osm.pbf, or a city (see `virl cities`).",
            autocompletion=complete_cities,
        ),
    ],
    around: AroundOption = None,
    radius: RadiusOption = None,
    out: Annotated[Path, typer.Option(help="File of the page.", dir_okay=False)] = PAGE,
    views: Annotated[int, typer.Option(help="Number of views on the page.", min=0, max=MOST_VIEWS)] = 10,
    sheet: Annotated[
        Path | None,
        typer.Option(
            help="Write a picture sheet, the views beside a map, to this PNG or JPEG instead of the page.",
            dir_okay=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed; it chooses the views.", min=0)] = 0,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print statistics, and what cannot be used, as JSON; write no page."),
    ] = False,
) -> None:
    """Build a page about a town: its map, statistics and views; or a sheet of its views."""
    from virl.cli.listing import print_json  # noqa: PLC0415 - loads when asked for
    from virl.pages.numbers import count_noun  # noqa: PLC0415 - loads when asked for
    from virl.platform.providers.cities import Access, opened_city  # noqa: PLC0415 - brings in the cities
    from virl.sheets.town import write_sheet  # noqa: PLC0415 - heavy
    from virl.sheets.town_page import town_summary, write_town  # noqa: PLC0415 - heavy

    named = part_of(city, around, radius) or city
    if as_json:
        with opened_city(named, Access()) as opened:
            print_json(town_summary(opened))
        return
    echo(f"reading {named}, then drawing {count_noun(views, 'view')}", err=True)
    with opened_city(named, Access()) as opened:
        shown = write_sheet(opened, sheet, views, seed) if sheet else write_town(opened, out, views, seed)
    echo(f"{opened.title}, {count_noun(shown, 'view')}: {sheet or out}")
