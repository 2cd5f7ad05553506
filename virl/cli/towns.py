"""What `virl cities --from FILE` prints: the towns in an extract."""

import shlex

from virl.cli.listing import print_json, print_table
from virl.console import echo
from virl.errors import BadInput
from virl.extras import require
from virl.osm.box import RADIUS_M, SUFFIXES
from virl.platform.providers.osm.city_file import city_of_path

SHOWN = 40
"""Rows of the table; `--json` has all."""


def print_towns(extract: str, *, as_json: bool) -> None:
    """Print the towns in an extract, those with the most places around their middle first.

    Args:
        extract: a path, or a name in the data folder.
        as_json: for programs.

    Raises:
        VirlError: it is no extract.
    """
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
