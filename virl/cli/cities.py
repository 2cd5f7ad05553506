"""`virl cities`, `virl town` and `virl import`: the cities there are, a page about one, one from pictures."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virl.cli.completion import complete_cities
from virl.cli.guard import HelpfulGroup, add_guard
from virl.cli.listing import print_json, print_table
from virl.cli.options import AroundOption, JsonOption, RadiusOption, part_of
from virl.console import echo
from virl.errors import BadInput
from virl.extras import require

if TYPE_CHECKING:
    from virl.platform.providers.provider import CityFile


@add_guard()
def list_cities(
    region: Annotated[
        Path | None,
        typer.Option(help="Check the polygon in this file instead, and print where it lies.", dir_okay=False),
    ] = None,
    extract: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="List the towns in this OpenStreetMap extract instead."),
    ] = None,
    areas: Annotated[
        bool,
        typer.Option("--areas", help="List the areas that count as cities instead, and groups of them."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the cities: first those that need no key, then the others with what they need."""
    if sum(map(bool, (region, extract, areas))) > 1:
        raise BadInput("--region, --from and --areas exclude each other: keep one of them")
    if areas:
        _list_areas(as_json=as_json)
        return
    if extract:
        _print_towns(extract, as_json=as_json)
        return
    from virl.platform.providers.cities import listed_cities, region_line  # noqa: PLC0415 - heavy

    if region:
        echo(region_line(region))
        return
    cities, faults = listed_cities()
    rows = sorted(
        (_row(name, city) for name, city in cities.items()),
        key=lambda row: (bool(row["needs"]), not row["keyless"]),
    )
    if as_json:
        print_json(rows)
    else:
        print_table(
            ("city", "where"),
            [(row["name"], row["where"] + f" (needs {row['needs']})" * bool(row["needs"])) for row in rows],
            "The first need nothing. Run an agent in a city with `virl run AGENT --city CITY`.",
        )
    for fault in faults:
        echo(str(fault), err=True)


def _list_areas(*, as_json: bool) -> None:
    """Print the areas that can be used as cities, and the groups of them, as tables or JSON."""
    from virl.platform.providers.cities import area_book  # noqa: PLC0415 - heavy

    book = area_book()
    if as_json:
        rows = [
            {"name": name, "of": area.of, "label": area.label, "area_m2": round(area.region.area_m2)}
            for name, area in book.areas.items()
        ]
        groups = {name: group.model_dump(mode="json") for name, group in book.groups.items()}
        print_json([*rows, *({"name": name, **group} for name, group in groups.items())])
        return
    print_table(
        ("area", "of", "square metres"),
        [
            (name, f"{area.of}, {area.label}", f"{area.region.area_m2:,.0f}")
            for name, area in book.areas.items()
        ],
        "An area is used like a city: `--city london-mini1`.",
    )
    print_table(
        ("group", "areas", "what"),
        [(name, str(len(group.cities)), group.about) for name, group in book.groups.items()],
        "Benchmarks take groups, too: `virl bench vln --city vln-mini`.",
    )


def _row(name: str, city: "CityFile") -> dict[str, Any]:
    """Return the fields of a city that `--json` and the table show."""
    from virl.platform.providers.provider import provider_of  # noqa: PLC0415 - heavy

    needs = provider_of(city).needs if city.needs is None else city.needs
    return {
        "name": name,
        "title": city.title,
        "provider": city.provider,
        "keyless": "key" not in needs.lower(),
        "needs": needs,
        "where": city.place,
        "language": city.language,
        "time_zone": city.time_zone,
        "center": [*city.center] if city.center else None,
    }


SHOWN = 40
"""Most towns of an extract in the table; `--json` has all."""


def _print_towns(extract: str, *, as_json: bool) -> None:
    """Print the towns in a map extract, as a table or JSON; first those with most places around them."""
    from virl.osm.box import RADIUS_M, SUFFIXES  # noqa: PLC0415 - brings in the cities
    from virl.platform.providers.osm.city_file import city_of_path  # noqa: PLC0415

    if not extract.endswith(SUFFIXES):
        raise BadInput(
            f"--from {extract!r}: no OpenStreetMap extract: its name ends in {', '.join(SUFFIXES)}"
        )
    require("osm", what="reading an extract")
    from virl.osm.towns import towns_in  # noqa: PLC0415 - needs the extra

    towns = towns_in(city_of_path(extract).map_file)
    if as_json:
        print_json(
            [
                {
                    "name": town.name,
                    "kind": town.kind,
                    "population": town.population,
                    "center": [*town.position],
                    "places": town.places,
                }
                for town in towns
            ]
        )
        return
    if not towns:
        echo(f"{extract}: no city, town, village or suburb is mapped in it as a point")
        return
    best = towns[0].position
    command = f"virl run hiro --city {shlex.quote(extract)} --around {best.lat},{best.lng}"
    more = f"{SHOWN} of {len(towns)} towns; --json lists all. " * (len(towns) > SHOWN)
    print_table(
        ("town", "kind", "population", f"places within {RADIUS_M:g} m", "position"),
        [
            (
                town.name,
                town.kind,
                "" if town.population is None else f"{town.population:,}",
                str(town.places),
                f"{town.position.lat},{town.position.lng}",
            )
            for town in towns[:SHOWN]
        ],
        f"{more}Run an agent in the first with `{command}`.",
    )


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
    views: Annotated[int, typer.Option(help="Number of views on the page.", min=0, max=MOST_VIEWS)] = 6,
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
        if sheet:
            shown = write_sheet(opened, sheet, views, seed)
        else:
            shown = write_town(opened, out, views, seed, called=named)
    echo(f"{opened.title}, {count_noun(shown, 'view')}: {sheet or out}")


import_app = typer.Typer(cls=HelpfulGroup, help="Make a city from your own pictures.", no_args_is_help=True)


@import_app.callback()
def _group() -> None:
    """Make a city from your own pictures."""


@import_app.command()
@add_guard()
def photos(
    folder: Annotated[Path, typer.Argument(help="Folder of JPEG files; the folders in it are read, too.")],
    track: Annotated[
        Path | None,
        typer.Option(metavar="FILE.gpx", help="Track that places photographs without a position, by time."),
    ] = None,
    offset: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Add this to the time of each photograph, such as -7200 for a clock at UTC+2.",
        ),
    ] = 0.0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="NAME.photos.json", help="Index to write; by default beside the folder.", dir_okay=False
        ),
    ] = None,
    author: Annotated[str, typer.Option(help="Author of photographs that name nobody.")] = "",
    licence: Annotated[
        str, typer.Option(metavar="SPDX", help="Licence of the photographs, such as CC-BY-4.0.")
    ] = "",
) -> None:
    """Make a city from a folder of geotagged photographs.

    Reads EXIF and GPano. 360-degree photographs show all headings; flat ones only their own.
    """
    from virl.cli.photo_import import import_folder  # noqa: PLC0415 - loads when asked for

    for line in import_folder(folder, track, offset, out, author, licence):
        echo(line)
