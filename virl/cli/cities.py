"""`virl cities`: the cities there are, those that need nothing first."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virl.cli.listing import print_json, print_table
from virl.cli.options import DebugOption, JsonOption
from virl.console import echo
from virl.errors import BadInput
from virl.guard import guard

if TYPE_CHECKING:
    from virl.platform.providers.city_file import CityFile

NOTHING = "nothing"


def list_cities(
    region: Annotated[
        Path | None,
        typer.Option(help="Check the polygon in this file instead, and print where it lies.", dir_okay=False),
    ] = None,
    extract: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="List the towns in this OpenStreetMap extract instead."),
    ] = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List the cities: first those that need no key, then the others with what they need."""

    def tell() -> None:
        if region and extract:
            raise BadInput("--region and --from exclude each other: remove one of them")
        if extract:
            from virl.cli.towns import print_towns  # noqa: PLC0415 - loads when asked for

            print_towns(extract, as_json=as_json)
            return
        from virl.platform.providers.open import listed_cities, region_line  # noqa: PLC0415 - heavy

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
                ("city", "needs", "where"),
                [(row["name"], row["needs"] or NOTHING, row["where"]) for row in rows],
                "Run an agent in a city with `virl run AGENT --city CITY`.",
            )
        for fault in faults:
            echo(str(fault), err=True)

    guard(tell, debug=debug)


def _row(name: str, city: "CityFile") -> dict[str, Any]:
    from virl.platform.providers.registry import provider_of  # noqa: PLC0415 - heavy

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
