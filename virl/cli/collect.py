"""`virl collect`: make the data set that a benchmark runs on."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from virl.guard import guard

collect_app = typer.Typer(
    help="Make the data set of a city that benchmarks run on; a collection that was cut off goes on.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

CityOption = Annotated[str, typer.Option(help="A city; see `virl cities`.")]
OutOption = Annotated[Path, typer.Option(help="Folder of the data set.", file_okay=False)]
RegionOption = Annotated[
    Path | None, typer.Option(help="A polygon; by default the city's district.", dir_okay=False)
]
BudgetOption = Annotated[
    float | None, typer.Option(help="Stop before a request that would cost more than this in all.")
]
CacheOption = Annotated[
    Literal["off", "session", "ttl"] | None,
    typer.Option(help="What replies of Google's to keep; see docs/reference/google.md."),
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]


@collect_app.command()
def places(
    city: CityOption,
    out: OutOption,
    region: RegionOption = None,
    recognizer: Annotated[
        str | None,
        typer.Option(help="Keeps photos that show a storefront; `virl models` lists them. None: any photo."),
    ] = None,
    min_reviews: Annotated[int | None, typer.Option(help="Of a place that is kept.", min=0)] = None,
    max_distance: Annotated[
        float | None, typer.Option(help="Metres from a place to the nearest panorama.", min=1)
    ] = None,
    photos: Annotated[int | None, typer.Option(help="Looked at for each place; 0 for none.", min=0)] = None,
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Where models run.")] = "auto",
    allow_downloads: Annotated[
        bool, typer.Option("--allow-downloads", help="Fetch weights that are not on this machine.")
    ] = False,
    budget_usd: BudgetOption = None,
    cache: CacheOption = None,
    debug: DebugOption = False,
) -> None:
    """Find the places of a region and their photos, and keep those that a benchmark can ask about."""

    def work() -> None:
        # brings in the providers
        from virl.datasets.collect.bar import collecting_bar  # noqa: PLC0415
        from virl.datasets.collect.collecting import collect_city_places, opened_collection  # noqa: PLC0415
        from virl.datasets.collect.places import PlacesSettings  # noqa: PLC0415

        given = {
            "min_reviews": min_reviews,
            "max_distance_m": max_distance,
            "photos": photos,
            "recognizer": recognizer,
        }
        settings = PlacesSettings.model_validate({k: v for k, v in given.items() if v is not None})
        with (
            opened_collection(out, city, region, budget_usd=budget_usd, cache=cache) as collection,
            collecting_bar(Console(stderr=True)) as progress,
        ):
            card = collect_city_places(
                collection, settings, device, allow_downloads=allow_downloads, progress=progress
            )
        _tell(out, card.counts, card.usd)

    guard(work, debug=debug)


@collect_app.command()
def vqa(
    city: CityOption,
    out: OutOption,
    region: RegionOption = None,
    mind: Annotated[
        str,
        typer.Option(envvar="VIRL_MIND", help="Writes the questions: `rules`, or a chat model."),
    ] = "rules",
    seed: Annotated[int, typer.Option(help="Of the order of the answers.", min=0)] = 0,
    budget_usd: BudgetOption = None,
    cache: CacheOption = None,
    debug: DebugOption = False,
) -> None:
    """Make questions of the places collected: four wishes, one of which the place fulfils."""

    def work() -> None:
        # brings in the providers
        from virl.datasets.collect.bar import collecting_bar  # noqa: PLC0415
        from virl.datasets.collect.collecting import collect_city_questions, opened_collection  # noqa: PLC0415

        with (
            opened_collection(out, city, region, mind=mind, budget_usd=budget_usd, cache=cache) as collection,
            collecting_bar(Console(stderr=True)) as progress,
        ):
            card = collect_city_questions(collection, seed, progress)
        _tell(out, card.counts, card.usd)

    guard(work, debug=debug)


@collect_app.command()
def routes(
    city: CityOption,
    out: OutOption,
    region: RegionOption = None,
    mind: Annotated[
        str,
        typer.Option(envvar="VIRL_MIND", help="Writes the directions: `rules`, or a chat model."),
    ] = "rules",
    count: Annotated[int | None, typer.Option(help="How many routes.", min=1)] = None,
    longest: Annotated[float | None, typer.Option(help="Metres of a walk at most.", min=1)] = None,
    farthest_start: Annotated[
        float | None, typer.Option(help="Metres from start to destination at most.", min=1)
    ] = None,
    most_turns: Annotated[int | None, typer.Option(help="Turns of a walk at most.", min=0)] = None,
    budget_usd: BudgetOption = None,
    cache: CacheOption = None,
    debug: DebugOption = False,
) -> None:
    """Have a local write directions to the places collected."""

    def work() -> None:
        # brings in the providers
        from virl.datasets.collect.bar import collecting_bar  # noqa: PLC0415
        from virl.datasets.collect.collecting import collect_city_routes, opened_collection  # noqa: PLC0415
        from virl.datasets.collect.routes import RoutesSettings  # noqa: PLC0415

        given = {
            "count": count,
            "longest_m": longest,
            "farthest_start_m": farthest_start,
            "most_turns": most_turns,
        }
        settings = RoutesSettings.model_validate({k: v for k, v in given.items() if v is not None})
        with (
            opened_collection(out, city, region, mind=mind, budget_usd=budget_usd, cache=cache) as collection,
            collecting_bar(Console(stderr=True)) as progress,
        ):
            card = collect_city_routes(collection, settings, progress)
        _tell(out, card.counts, card.usd)

    guard(work, debug=debug)


def _tell(out: Path, counts: dict[str, int], usd: float) -> None:
    for name, count in counts.items():
        typer.echo(f"{count:8,} {name}")
    typer.echo(f"cost: ${usd:.4f}\ndata set: {out}")
