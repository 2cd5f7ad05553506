"""`virl serve panoramax` and `virl serve mapillary`: the pictures of drives through a town."""

from functools import partial
from typing import Annotated, Any

import typer

from virl.cli.completion import complete_cities
from virl.cli.options import DebugOption
from virl.console import echo
from virl.extras import require
from virl.guard import guard

CityOption = Annotated[
    str,
    typer.Option(
        help="Made town or twin whose streets are driven (see `virl cities`).", autocompletion=complete_cities
    ),
]
PortOption = Annotated[int, typer.Option(help="Port to listen on; 0 chooses a free one.", min=0, max=65535)]
FlatOption = Annotated[
    float, typer.Option(help="Share of the drives with flat pictures instead of panoramas.", min=0, max=1)
]
TiltOption = Annotated[
    float,
    typer.Option(help="Standard deviation of the camera's pitch and roll, in degrees.", min=0, max=30),
]
DeletedOption = Annotated[
    float,
    typer.Option(help="Share of the pictures that are listed and can no longer be fetched.", min=0, max=1),
]
RelicensedOption = Annotated[
    float,
    typer.Option(
        help="Share of the pictures whose licence is closed from the second listing on.", min=0, max=1
    ),
]
ExpiredOption = Annotated[
    float,
    typer.Option(help="Share of the pictures whose first signed address has expired already.", min=0, max=1),
]
MostOption = Annotated[
    int, typer.Option(help="Refuse a box with more pictures: too much data is asked for.", min=1)
]
FaultOption = Annotated[
    str,
    typer.Option(
        help="Shares of requests that fail, such as `429:0.05,500:0.02,timeout:0.01,garbage:0.01,half:0.01`."
    ),
]
RetryAfterOption = Annotated[
    int | None, typer.Option(help="Seconds in the `Retry-After` header of 429 and 503 replies.", min=0)
]
WidthOption = Annotated[int, typer.Option(help="Pixels of a panorama: 512, 1024, 2048, 4096 or 8192.")]
LatencyOption = Annotated[float, typer.Option(help="Milliseconds to add to every reply.", min=0)]
SeedOption = Annotated[
    int, typer.Option(help="Random seed of the drives, and of which requests fail.", min=0)
]


def panoramax(
    city: CityOption = "virlton",
    port: PortOption = 8767,
    flat: FlatOption = 0.0,
    tilt: TiltOption = 0.0,
    width: WidthOption = 4096,
    deleted: DeletedOption = 0.0,
    relicensed: RelicensedOption = 0.0,
    fault: FaultOption = "",
    retry_after: RetryAfterOption = None,
    latency_ms: LatencyOption = 0.0,
    seed: SeedOption = 0,
    debug: DebugOption = False,
) -> None:
    """Serve pictures of drives through a town with the API of Panoramax.

    Positions and headings are as inexact as people's, some pictures are missing, and some streets were driven
    twice. Only this machine can connect. No key is needed.
    """
    given: dict[str, Any] = {
        "flat": flat,
        "tilt": tilt,
        "width": width,
        "deleted": deleted,
        "relicensed": relicensed,
    }
    given |= {"retry_after_s": retry_after, "latency_ms": latency_ms, "seed": seed}
    guard(lambda: _serve("panoramax", city, port, fault, given), debug=debug)


def mapillary(
    city: CityOption = "virlton",
    port: PortOption = 8768,
    flat: FlatOption = 0.0,
    tilt: TiltOption = 0.0,
    width: WidthOption = 4096,
    deleted: DeletedOption = 0.0,
    expired: ExpiredOption = 0.0,
    most: MostOption = 10_000,
    fault: FaultOption = "",
    retry_after: RetryAfterOption = None,
    latency_ms: LatencyOption = 0.0,
    seed: SeedOption = 0,
    debug: DebugOption = False,
) -> None:
    """Serve pictures of drives through a town with the API of Mapillary.

    Positions and headings are as inexact as those of `virl serve panoramax`. Any token is accepted, as long
    as there is one. Addresses of pictures are signed and expire.
    """
    given: dict[str, Any] = {
        "flat": flat,
        "tilt": tilt,
        "width": width,
        "deleted": deleted,
        "expired": expired,
    }
    given |= {"most": most, "retry_after_s": retry_after, "latency_ms": latency_ms, "seed": seed}
    guard(lambda: _serve("mapillary", city, port, fault, given), debug=debug)


def _serve(service: str, city: str, port: int, fault: str, given: dict[str, Any]) -> None:
    require("serve", what="serving")
    from virl.platform.providers.cities import open_city  # noqa: PLC0415 - brings in the city
    from virl.serve.faults import parse_faults  # noqa: PLC0415 - needs the extra
    from virl.serve.loopback import serve_app  # noqa: PLC0415
    from virl.serve.mapillary.app import make_app as make_mapillary  # noqa: PLC0415
    from virl.serve.panoramax.app import make_app as make_panoramax  # noqa: PLC0415
    from virl.serve.uploads.options import UploadOptions  # noqa: PLC0415

    options = UploadOptions(faults=parse_faults(fault), **given)
    make_app = make_panoramax if service == "panoramax" else make_mapillary
    town = open_city(city)
    serve_app(
        partial(make_app, town, options),
        port,
        lambda url: echo(f"Serving pictures of {town.title} at {url}"),
    )
