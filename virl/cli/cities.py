"""`virl cities`: the cities there are, those that need nothing first."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virl.cli.guard import add_guard
from virl.cli.listing import print_json, print_table
from virl.cli.options import JsonOption
from virl.console import echo
from virl.errors import BadInput

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
        from virl.cli.towns import print_towns  # noqa: PLC0415 - loads when asked for

        print_towns(extract, as_json=as_json)
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
