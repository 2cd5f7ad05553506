"""`virl collect`: make the data set that a benchmark runs on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virl.cli.completion import complete_cities, complete_minds, complete_recognizers
from virl.cli.group import HelpfulGroup
from virl.cli.guard import add_guard
from virl.cli.options import BudgetOption, CacheMode, CacheOption, DeviceOption, DownloadsOption
from virl.console import SafeConsole, echo

if TYPE_CHECKING:
    from virl.datasets.collect.collection import Collection
    from virl.datasets.collect.dataset import Card
    from virl.datasets.collect.places import Progress

collect_app = typer.Typer(
    cls=HelpfulGroup,
    help="Collect a city's data set for benchmarks; repeat a command to continue it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

CityOption = Annotated[
    str, typer.Option(help="City to collect from (see `virl cities`).", autocompletion=complete_cities)
]
OutOption = Annotated[Path, typer.Option(help="Folder of the data set.", file_okay=False)]
RegionOption = Annotated[
    Path | None, typer.Option(help="File with a polygon. By default, the city's district.", dir_okay=False)
]


@collect_app.command()
@add_guard()
def places(
    city: CityOption,
    out: OutOption,
    region: RegionOption = None,
    recognizer: Annotated[
        str | None,
        typer.Option(
            help="Recognizer that selects photos of storefronts (see `virl models`). By default, none.",
            autocompletion=complete_recognizers,
        ),
    ] = None,
    min_reviews: Annotated[
        int | None, typer.Option(help="Minimum number of reviews of a place.", min=0)
    ] = None,
    max_distance: Annotated[
        float | None,
        typer.Option(help="Maximum distance in metres from a place to the nearest panorama.", min=1),
    ] = None,
    photos: Annotated[
        int | None, typer.Option(help="Maximum number of photos to check for each place; 0 for none.", min=0)
    ] = None,
    device: DeviceOption = "auto",
    allow_downloads: DownloadsOption = False,
    budget_usd: BudgetOption = None,
    cache: CacheOption = None,
) -> None:
    """Collect the places of a region and their photos."""
    from virl.datasets.collect.collection import collect_city_places  # noqa: PLC0415 - brings in the providers
    from virl.datasets.collect.places import PlacesSettings  # noqa: PLC0415

    given = {
        "min_reviews": min_reviews,
        "max_distance_m": max_distance,
        "photos": photos,
        "recognizer": recognizer,
    }
    settings = PlacesSettings.model_validate({k: v for k, v in given.items() if v is not None})
    with _open_collection(out, city, region, None, budget_usd, cache) as (collection, progress):
        card = collect_city_places(
            collection, settings, device, allow_downloads=allow_downloads, progress=progress
        )
    _tell(out, card)


@collect_app.command()
@add_guard()
def vqa(
    city: CityOption,
    out: OutOption,
    region: RegionOption = None,
    mind: Annotated[
        str,
        typer.Option(
            envvar="VIRL_MIND",
            help="Who writes the questions: `rules`, or a chat model such as `openai:MODEL`.",
            autocompletion=complete_minds,
        ),
    ] = "rules",
    seed: Annotated[int, typer.Option(help="Random seed for the order of the answers.", min=0)] = 0,
    budget_usd: BudgetOption = None,
    cache: CacheOption = None,
) -> None:
    """Write a multiple-choice question for each collected place."""
    from virl.datasets.collect.collection import collect_city_questions  # noqa: PLC0415 - brings in the providers

    with _open_collection(out, city, region, mind, budget_usd, cache) as (collection, progress):
        card = collect_city_questions(collection, seed, progress)
    _tell(out, card)


@collect_app.command()
@add_guard()
def routes(
    city: CityOption,
    out: OutOption,
    region: RegionOption = None,
    mind: Annotated[
        str,
        typer.Option(
            envvar="VIRL_MIND",
            help="Who writes the directions: `rules`, or a chat model such as `openai:MODEL`.",
            autocompletion=complete_minds,
        ),
    ] = "rules",
    count: Annotated[int | None, typer.Option(help="Number of routes.", min=1)] = None,
    longest: Annotated[float | None, typer.Option(help="Maximum length of a route in metres.", min=1)] = None,
    farthest_start: Annotated[
        float | None,
        typer.Option(help="Maximum straight-line distance in metres from start to destination.", min=1),
    ] = None,
    most_turns: Annotated[int | None, typer.Option(help="Maximum number of turns in a route.", min=0)] = None,
    budget_usd: BudgetOption = None,
    cache: CacheOption = None,
) -> None:
    """Write walking directions to the collected places."""
    from virl.datasets.collect.collection import collect_city_routes  # noqa: PLC0415 - brings in the providers
    from virl.datasets.collect.routes import RoutesSettings  # noqa: PLC0415

    given = {
        "count": count,
        "longest_m": longest,
        "farthest_start_m": farthest_start,
        "most_turns": most_turns,
    }
    settings = RoutesSettings.model_validate({k: v for k, v in given.items() if v is not None})
    with _open_collection(out, city, region, mind, budget_usd, cache) as (collection, progress):
        card = collect_city_routes(collection, settings, progress)
    _tell(out, card)


@contextmanager
def _open_collection(
    out: Path,
    city: str,
    region: Path | None,
    mind: str | None,
    budget_usd: float | None,
    cache: CacheMode | None,
) -> "Iterator[tuple[Collection, Progress]]":
    from virl.datasets.collect.collection import collecting_bar, opened_collection  # noqa: PLC0415 - brings in the providers

    with (
        opened_collection(out, city, region, mind=mind, budget_usd=budget_usd, cache=cache) as collection,
        collecting_bar(SafeConsole(stderr=True)) as progress,
    ):
        yield collection, progress


def _tell(out: Path, card: "Card") -> None:
    from virl.pages.numbers import dollars  # noqa: PLC0415

    for name, count in card.counts.items():
        echo(f"{count:8,} {name}")
    echo(f"cost: {dollars(card.usd)}\ndata set: {out}")
