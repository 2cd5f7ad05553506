"""`virl serve`: a city for other programs, over HTTP or stdio."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from virl.cli.guard import LOG_DETAILS, HelpfulGroup, add_guard
from virl.cli.options import check_amount, city_option
from virl.console import echo
from virl.extras import require


class Transport(StrEnum):
    """The ways in which clients reach an MCP server: over standard input and output, or HTTP."""

    stdio = "stdio"
    http = "http"


PortOption = Annotated[int, typer.Option(help="Port to listen on; 0 chooses a free one.", min=0, max=65535)]
HostOption = Annotated[
    str,
    typer.Option(
        help="Address to listen on. By default, only this machine can connect; any other address needs "
        "a key in VIRL_SERVE_KEY."
    ),
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Host name by which clients may call this server. Can be repeated."),
]
AllowOriginOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="URL",
        help="Origin whose web pages may call this server, such as https://example.org. Can be repeated.",
    ),
]

serve_app = typer.Typer(cls=HelpfulGroup, help="Serve a city to other programs.", no_args_is_help=True)


@serve_app.callback()
def _group() -> None:
    """Serve a city to other programs."""


@serve_app.command()
@add_guard(LOG_DETAILS)
def google(
    city: Annotated[str, city_option("City to serve (see `virl cities`).")] = "virlton",
    port: PortOption = 8765,
    host: HostOption = "127.0.0.1",
    allow_host: AllowHostOption = None,
    allow_origin: AllowOriginOption = None,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            help="Budget in US dollars, for a city that costs money. Refuses what would exceed it.",
            callback=check_amount,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the record of spending. By default `runs/serve-CITY`.", file_okay=False),
    ] = None,
    latency_ms: Annotated[float, typer.Option(help="Milliseconds to add to every reply.", min=0)] = 0.0,
    fault: Annotated[
        str,
        typer.Option(
            help="Shares of requests that fail, such as "
            "`429:0.05,500:0.02,timeout:0.01,garbage:0.01,half:0.01`."
        ),
    ] = "",
    odd: Annotated[
        str,
        typer.Option(
            help="Shares of unusual data, such as `indoor:0.3,tilted:0.5,unlinked:0.3,stale:0.1,"
            "closed:0.1,bare:0.2,far:0.1,vague:0.1`: panoramas indoors or not level, missing links, places "
            "with expired ids, closed places, places without hours, prices and ratings, addresses with a "
            "distant or vague position."
        ),
    ] = "",
    deny: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVICE",
            help="Service that no key may use, such as map-tiles, places or routes. Can be repeated.",
        ),
    ] = None,
    country: Annotated[
        str, typer.Option(metavar="CODE", help="Country that the geocoder names, such as US.")
    ] = "",
    quota: Annotated[
        int | None,
        typer.Option(help="Number of requests to answer. Later requests are refused: quota exceeded.", min=0),
    ] = None,
    retry_after: Annotated[
        int | None, typer.Option(help="Seconds in the `Retry-After` header of 429 and 503 replies.", min=0)
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed for which requests fail.", min=0)] = 0,
    lossless: Annotated[
        bool, typer.Option("--lossless", help="Send PNG instead of JPEG, and all reviews instead of five.")
    ] = False,
    fine_types: Annotated[
        bool,
        typer.Option(
            "--fine-types",
            help="Give each place of a made town a finer primary type in Places (New), such as "
            "`japanese_restaurant`.",
        ),
    ] = False,
) -> None:
    """Serve a city with the API of Google Maps Platform.

    If VIRL_SERVE_KEY is set, clients have to show that key; otherwise, any key is accepted.
    """
    require("serve", what="serving")
    require("eyes", "cv2", what="serving pictures")
    from virl.serve.city_server import opened_to_serve  # noqa: PLC0415 - brings in the city
    from virl.serve.faults import parse_faults  # noqa: PLC0415 - loads when asked for
    from virl.serve.google.options import ServeOptions, parse_oddities  # noqa: PLC0415 - as above
    from virl.serve.google.server import serve  # noqa: PLC0415 - needs the extra
    from virl.serve.running import own_key  # noqa: PLC0415 - needs the extra

    options = ServeOptions(
        key=own_key(),
        hosts=tuple(allow_host or ()),
        origins=tuple(allow_origin or ()),
        latency_ms=latency_ms,
        faults=parse_faults(fault),
        odd=parse_oddities(odd, seed),
        denied=tuple(deny or ()),
        country=country,
        quota=quota,
        retry_after_s=retry_after,
        seed=seed,
        lossless=lossless,
        fine_types=fine_types,
    )
    with opened_to_serve(city, options.key, budget_usd, out) as opened:
        serve(opened, options, host, port, lambda url: echo(f"Serving {opened.title} at {url}"))


@serve_app.command()
@add_guard(LOG_DETAILS)
def mcp(
    city: Annotated[str, city_option("City that sessions open by default (see `virl cities`).")] = "",
    at: Annotated[str, typer.Option(help="Where sessions start by default: an address, or `LAT,LNG`.")] = "",
    agent: Annotated[
        str,
        typer.Option(
            help="Agent that acts by default: a name (see `virl agents`) or a character file. Without one, a "
            "visitor."
        ),
    ] = "",
    mind: Annotated[
        str, typer.Option(help="What decides for agents that a session asks: `rules`, or a model.")
    ] = "rules",
    budget_usd: Annotated[
        float | None,
        typer.Option(help="Budget in US dollars of all sessions together.", callback=check_amount),
    ] = None,
    transport: Annotated[
        Transport, typer.Option(help="`stdio` for a client that starts this command; `http` to listen.")
    ] = Transport.stdio,
    port: PortOption = 8766,
    host: HostOption = "127.0.0.1",
    allow_host: AllowHostOption = None,
    allow_origin: AllowOriginOption = None,
    out: Annotated[
        Path, typer.Option(help="Folder in which each session gets the folder of its run.", file_okay=False)
    ] = Path("runs"),
    resume: Annotated[
        str, typer.Option(metavar="ID", help="Interrupted session to resume at the start.")
    ] = "",
    sessions: Annotated[
        int, typer.Option(min=1, help="Maximum number of open sessions; each keeps a city in memory.")
    ] = 8,
) -> None:
    """Serve cities to clients of the Model Context Protocol (MCP).

    With `--transport http`, clients connect to the address that is printed. If VIRL_SERVE_KEY is set, they
    have to show that key as a bearer token.
    """
    require("mcp", what="serving")
    from virl.serve.gate import GateOptions  # noqa: PLC0415 - needs the extra
    from virl.serve.mcp.server import serve_http, serve_stdio  # noqa: PLC0415
    from virl.serve.mcp.sessions import SessionDefaults, opened_sessions  # noqa: PLC0415
    from virl.serve.running import own_key  # noqa: PLC0415

    defaults = SessionDefaults(city, at, agent, mind, out, budget_usd, sessions)
    over_http = transport is Transport.http
    key = own_key() if over_http else None
    opened = opened_sessions(defaults, resume, key=key, over_http=over_http)
    if over_http:
        options = GateOptions(key, tuple(allow_host or ()), tuple(allow_origin or ()))
        serve_http(opened, options, host, port, lambda url: echo(f"Serving MCP at {url}"))
    else:
        serve_stdio(opened)
