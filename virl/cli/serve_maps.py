"""`virl serve overpass`, `nominatim` and `osrm`: maps of a town in the formats of open services."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from virl.cli.completion import complete_cities
from virl.cli.options import DebugOption
from virl.cli.serve_pictures import LatencyOption, PortOption, RetryAfterOption
from virl.console import echo
from virl.extras import require
from virl.guard import guard

if TYPE_CHECKING:
    from virl.serve.maps.opening import MapServer

CityOption = Annotated[
    str,
    typer.Option(
        help="Made city (see `virl cities`), or path of an OpenStreetMap extract.",
        autocompletion=complete_cities,
    ),
]
MapFaultOption = Annotated[
    str,
    typer.Option(help="Shares of requests that fail, such as `429:0.05,504:0.02,timeout:0.01,half:0.01`."),
]
MapSeedOption = Annotated[int, typer.Option(help="Random seed for which requests fail.", min=0)]


def overpass(
    city: CityOption = "virlton",
    port: PortOption = 8769,
    fault: MapFaultOption = "",
    remark: Annotated[
        float,
        typer.Option(help="Share of queries that are cut off, with a remark of a timeout.", min=0, max=1),
    ] = 0.0,
    most_km2: Annotated[
        float | None,
        typer.Option(help="Area of the largest box; queries of larger ones are cut off.", min=0.001),
    ] = None,
    retry_after: RetryAfterOption = None,
    latency_ms: LatencyOption = 0.0,
    seed: MapSeedOption = 0,
    debug: DebugOption = False,
) -> None:
    """Serve what is mapped in a town, as the Overpass API does.

    Only this machine can connect. Set VIRL_OVERPASS_URL to the printed URL followed by /api/interpreter.
    """
    given = _given(retry_after, latency_ms, seed) | {"remark": remark}
    if most_km2 is not None:
        given["most_km2"] = most_km2
    guard(lambda: _serve("overpass", city, port, fault, given), debug=debug)


def nominatim(
    city: CityOption = "virlton",
    port: PortOption = 8770,
    fault: MapFaultOption = "",
    retry_after: RetryAfterOption = None,
    latency_ms: LatencyOption = 0.0,
    seed: MapSeedOption = 0,
    debug: DebugOption = False,
) -> None:
    """Serve the addresses of a town, as Nominatim does.

    Only this machine can connect. Set VIRL_NOMINATIM_URL to the printed URL followed by /search.
    """
    given = _given(retry_after, latency_ms, seed)
    guard(lambda: _serve("nominatim", city, port, fault, given), debug=debug)


def osrm(
    city: CityOption = "virlton",
    port: PortOption = 8771,
    fault: MapFaultOption = "",
    retry_after: RetryAfterOption = None,
    latency_ms: LatencyOption = 0.0,
    seed: MapSeedOption = 0,
    debug: DebugOption = False,
) -> None:
    """Serve the ways of a town, as OSRM does.

    Only this machine can connect. Set VIRL_OSRM_URL to the printed URL, with /routed-{profile} behind it for
    ways by bicycle and car.
    """
    given = _given(retry_after, latency_ms, seed)
    guard(lambda: _serve("osrm", city, port, fault, given), debug=debug)


def _given(retry_after: int | None, latency_ms: float, seed: int) -> dict[str, Any]:
    """What every server can be told."""
    return {"retry_after_s": retry_after, "latency_ms": latency_ms, "seed": seed}


def _serve(server: "MapServer", city: str, port: int, fault: str, given: dict[str, Any]) -> None:
    require("serve", what="serving")
    from virl.serve.faults import parse_faults  # noqa: PLC0415 - loads when asked for
    from virl.serve.loopback import serve_app  # noqa: PLC0415 - needs the extra
    from virl.serve.maps.opening import map_app  # noqa: PLC0415 - brings in the city
    from virl.serve.maps.options import MapServeOptions  # noqa: PLC0415

    with map_app(server, city, MapServeOptions(faults=parse_faults(fault), **given)) as make_app:
        serve_app(make_app, port, lambda url: echo(f"Serving {server} of {city} at {url}"))
