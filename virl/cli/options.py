"""Options that several commands share."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from virl.cli.completion import complete_cities, complete_minds

if TYPE_CHECKING:
    from virl.journal.records import AccessRecord

CacheMode = Literal["off", "session", "ttl"]
Device = Literal["auto", "cpu", "cuda"]

DeviceOption = Annotated[Device, typer.Option(help="Device that models run on.")]
DownloadsOption = Annotated[
    bool, typer.Option("--allow-downloads", help="Download model weights that are missing.")
]
CacheOption = Annotated[
    CacheMode | None, typer.Option(help="How long to cache Google's replies. See docs/reference/google.md.")
]
AroundOption = Annotated[
    str | None,
    typer.Option(metavar="LAT,LNG", help="Read only the part of the OpenStreetMap extract around here."),
]
RadiusOption = Annotated[
    float | None, typer.Option(help="Half the side of that part in metres; 600 by default.", min=50)
]
InventedOption = Annotated[
    bool,
    typer.Option(
        "--invented-life",
        help="Add invented reviews, ratings, prices and homes to the OpenStreetMap extract.",
    ),
]
RecordOption = Annotated[
    Path | None, typer.Option(help="Record Google's replies in this folder.", file_okay=False)
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(help="Replay replies from this folder, without network access.", file_okay=False),
]
AsOfOption = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d"],
        metavar="DATE",
        help="Leave out street pictures taken after this day, in cities of open imagery or photographs.",
    ),
]


def mind_option(help_text: str) -> Any:
    """Return the option `--mind`, by default `VIRL_MIND`, with a help text that says what the mind does."""
    return typer.Option(envvar="VIRL_MIND", help=help_text, autocompletion=complete_minds)


def city_option(help_text: str) -> Any:
    """Return the option `--city` with a help text; the shell completes names of cities."""
    return typer.Option(help=help_text, autocompletion=complete_cities)


def check_amount(usd: float | None) -> float | None:
    """Return a budget in dollars; print one line and exit with code 2 if it is no valid amount."""
    from virl.cli.guard import guard  # noqa: PLC0415 - loads when asked for
    from virl.money.book import check_budget  # noqa: PLC0415 - loads when asked for

    guard(lambda: check_budget(usd, "--budget-usd"), debug=False)
    return usd


BudgetOption = Annotated[
    float | None,
    typer.Option(
        help="Budget in US dollars. Stops before a request that would exceed it.", callback=check_amount
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def access_of(
    *,
    budget_usd: float | None,
    cache: CacheMode | None,
    record: Path | None,
    replay: Path | None,
    as_of: datetime | None,
) -> "AccessRecord":
    """Return how a run accesses its city: budget, cache, recordings and latest date of pictures.

    Args:
        budget_usd: dollars at most; `None` for no limit.
        cache: how replies are kept; `None` for the default.
        record: folder to record replies in.
        replay: folder to answer from.
        as_of: leave out pictures that are newer.
    """
    from virl.journal.records import AccessRecord  # noqa: PLC0415 - loads when asked for

    return AccessRecord(
        budget_usd=budget_usd,
        cache=cache,
        record=str(record.resolve()) if record else None,
        replay=str(replay.resolve()) if replay else None,
        as_of=as_of.date() if as_of else None,
    )


def part_of(
    city: str | None, around: str | None, radius: float | None, *, invented: bool = False
) -> str | None:
    """Return the name of a city, or of its part `radius` metres `around` a place, or with `invented` life.

    The life of a made city is invented anyway.

    Args:
        city: name or path; `None` for the character's own.
        around: address or position of the middle of the part.
        radius: of the part, metres.
        invented: whether places and people are invented.

    Raises:
        BadInput: the city is no OpenStreetMap extract, or the part is no position with a radius.
    """
    if around is None and radius is None and not invented:
        return city
    from virl.platform.providers.cities import city_settings  # noqa: PLC0415 - as below
    from virl.platform.providers.osm.city_file import with_part  # noqa: PLC0415 - loads when asked for

    is_made = invented and bool(city) and city_settings(city or "").invents_life
    return with_part(city or "", around, radius, invented=invented and not is_made) or None
