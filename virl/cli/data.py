"""`virl data` and `virl collect`: data sets on this machine, installed, exported and collected."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from virl.cli.completion import complete_cities, complete_minds, complete_recognizers
from virl.cli.guard import INTERRUPTED, LOG_DETAILS, HelpfulGroup, add_guard
from virl.cli.listing import print_json, print_table
from virl.cli.options import BudgetOption, CacheMode, CacheOption, DeviceOption, DownloadsOption, JsonOption
from virl.console import SafeConsole, counting_bar, echo
from virl.errors import BadInput
from virl.extras import require
from virl.resources import data_home

if TYPE_CHECKING:
    from virl.datasets.collect.collection import Collection
    from virl.datasets.collect.dataset import Card
    from virl.datasets.collect.places import Progress


data_app = typer.Typer(
    cls=HelpfulGroup, help="Install, list and export navigation data sets.", no_args_is_help=True
)

OSM_LICENCE = "© OpenStreetMap contributors, Open Database License 1.0: name them wherever you show it"

From = Annotated[
    Path,
    typer.Option("--from", help="Folder of your copy: virl's layout, or a clone of the public repository."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that differ.")]


@data_app.command()
@add_guard(LOG_DETAILS)
def touchdown(source: From, force: Force = False) -> None:
    """Install the street graph and episodes of Touchdown and Map2seq from your copy."""
    _get("touchdown", source, force=force)


@data_app.command()
@add_guard(LOG_DETAILS)
def r2r(source: From, force: Force = False) -> None:
    """Install the episodes and navigation graphs of R2R from your copy."""
    _get("r2r", source, force=force)


@data_app.command()
@add_guard(LOG_DETAILS)
def osm(
    extract: Annotated[
        Path | None, typer.Argument(help="OpenStreetMap extract to copy, such as helsinki.osm.pbf.")
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            metavar="S,W,N,E",
            help="Box to copy from the extract, in degrees; without an extract, to download, at most 4 km2.",
        ),
    ] = None,
    place: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Fetch this place instead: all of it, or its middle 2 by 2 km."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the new file, with --box or --place.")] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Overpass server; by default VIRL_OVERPASS_URL, or overpass-api.de."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Copy an OpenStreetMap extract to the data folder, or fetch a part of the map into it.

    City files find it there. With an extract, --box copies a part of it.
    Without one, --box and --place ask an Overpass server; --place asks Nominatim too.
    """
    if (place is None) == (extract is None and box is None):
        raise BadInput("virl data osm: give one of these: an extract, --box S,W,N,E or --place NAME")
    if extract is None:
        _fetch_part(box, place, name=name, server=server, force=force)
    elif server is not None:
        raise BadInput("--server is for --box and --place without an extract: a file is not fetched")
    elif box is not None:
        _copy_part(extract, box, name=name, force=force)
    elif name is not None:
        raise BadInput("--name is for --box and --place: a whole extract is copied as it is")
    else:
        _copy_extract(extract, force=force)


@data_app.command("list")
@add_guard(LOG_DETAILS)
def list_data(as_json: JsonOption = False) -> None:
    """List the data sets with their folders, and verify their checksums."""
    from virl.platform.providers.graph.city import MARKS  # noqa: PLC0415 - heavy

    states = [_state(data_home() / name) for name in MARKS]
    if as_json:
        print_json([asdict(state) | {"folder": str(state.folder)} for state in states])
    else:
        print_table(("data set", "state"), [(state.name, state.text) for state in states])


@data_app.command()
@add_guard(LOG_DETAILS)
def export(
    out: Annotated[
        Path,
        typer.Option(help="Folder of the export: a new one, or one of an earlier export.", file_okay=False),
    ],
    city: Annotated[
        str,
        typer.Option(
            help="City to export: a made one, or a town of OpenStreetMap by name or extract.",
            autocompletion=complete_cities,
        ),
    ] = "virlton",
    layout: Annotated[
        Literal["touchdown", "r2r"], typer.Option("--format", help="Layout of the files.")
    ] = "touchdown",
    episodes: Annotated[
        int | None,
        typer.Option(help="Number of episodes in each split. By default 400, or 100 for r2r.", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed for paths and wording.", min=0)] = 0,
    radius: Annotated[
        float | None, typer.Option(help="Export only what lies within this many metres of the centre.", min=1)
    ] = None,
) -> None:
    """Export a made city or a town of OpenStreetMap in the layout of Touchdown and Map2seq, or of R2R."""
    from virl.datasets.export import r2r, touchdown  # noqa: PLC0415 - brings in the city

    if layout == "r2r":
        count, within = episodes or r2r.EPISODES, radius or r2r.RADIUS_M
        folder = r2r.export_r2r(city, out, episodes=count, seed=seed, radius=within)
    else:
        count = episodes or touchdown.EPISODES
        folder = touchdown.export_touchdown(city, out, episodes=count, seed=seed, radius=radius)
    echo(f"Exported to {folder}")


def _get(name: str, source: Path, *, force: bool) -> None:
    """Install the data set `name` from a folder with the user's copy, and print the result."""
    from virl.platform.providers.graph.install import DATA_SETS, find_files, install  # noqa: PLC0415 - heavy

    files = find_files(name, source)
    with counting_bar(f"checking and copying {name}", 2 * len(files), SafeConsole(stderr=True)) as advance:
        install(name, source, data_home(), force=force, tell=lambda _: advance())
    known = DATA_SETS[name]
    echo(f"{name}: {known.about}")
    echo(f"{len(files)} files verified and copied to {data_home() / name}")
    echo(f"licence: {known.licence}")
    echo(f"public repositories: {', '.join(known.sources)}")


def _copy_extract(extract: Path, *, force: bool) -> None:
    """Copy an OpenStreetMap extract to the data folder, and print its path there."""
    require("osm", what="reading an extract")
    from virl.platform.providers.osm.install import install_extract  # noqa: PLC0415 - needs the extra

    kept, date = install_extract(extract, force=force)
    echo(f"{kept}: copied; data of {date or 'an unknown date'}")
    echo(OSM_LICENCE)


def _copy_part(extract: Path, box: str, *, name: str | None, force: bool) -> None:
    """Copy the part of an extract in a box ("S,W,N,E", degrees) to the data folder, and print its path."""
    require("osm", what="reading an extract")
    from virl.osm.box import box_of  # noqa: PLC0415 - loads when asked for
    from virl.platform.providers.osm.install import box_target, install_part  # noqa: PLC0415 - the extra

    target = box_target(box_of(box, is_copied=True), name)
    _tell_kept(*install_part(extract, target.box, target.name, force=force))


def _fetch_part(
    box: str | None, place: str | None, *, name: str | None, server: str | None, force: bool
) -> None:
    """Fetch the map in a box, or of a place, from an Overpass server, and print the path of the extract."""
    require("osm", what="fetching an extract")
    from virl.osm.box import box_of  # noqa: PLC0415 - loads when asked for
    from virl.platform.providers.osm import install  # noqa: PLC0415 - needs the extra

    try:
        if place is None:
            target = install.box_target(box_of(box or ""), name)
        else:
            target = install.place_target(place, name, _tell_progress)
        kept, date = install.fetch_extract(target, server, _tell_progress, force=force)
    except KeyboardInterrupt:
        _tell_progress("virl: stopped: nothing was kept")
        raise typer.Exit(INTERRUPTED) from None
    _tell_kept(kept, date)


def _tell_kept(kept: Path, date: str) -> None:
    """Print the path, size and date of an extract, and the command that runs an agent there."""
    echo(f"{kept}: {kept.stat().st_size / 1000:,.0f} kB; data of {date or 'an unknown date'}")
    echo(OSM_LICENCE)
    echo(f"Run an agent there with `virl run hiro --city {shlex.quote(str(kept))}`.")


def _tell_progress(line: str) -> None:
    """Print a line of progress to stderr."""
    echo(line, err=True)


@dataclass(frozen=True, slots=True)
class InstalledData:
    """The state of a data set on this machine: its folder, and whether its files are unchanged."""

    name: str
    folder: Path
    """Folder that holds the data set, or in which it would be installed."""
    state: Literal["installed", "changed", "unchecked", "not installed"]
    """State of the files; `unchecked` if there are no checksums to compare them with."""
    files: int
    """Number of files that have a checksum."""
    changed: tuple[str, ...] = ()
    """Paths of the files that differ from their checksums."""

    @property
    def text(self) -> str:
        """The state in words, on one line."""
        if self.state == "not installed":
            return f"not installed: run `virl data {self.name} --from DIR` to copy it to {self.folder}"
        if self.state == "unchecked":
            return f"{self.folder}: no checksums, because `virl data` did not install it"
        if self.changed:
            names = ", ".join(self.changed)
            return f"{self.folder}: {len(self.changed)} of {self.files} files have changed: {names}"
        return f"{self.folder}: {self.files} files, checksums match"


def _state(folder: Path) -> InstalledData:
    """Return the state of the data set in a folder, whose name is the data set's."""
    from virl.platform.providers.graph.install import changed_files, read_manifest  # noqa: PLC0415 - heavy

    if not folder.is_dir():
        return InstalledData(folder.name, folder, "not installed", 0)
    manifest = read_manifest(folder)
    if manifest is None:
        return InstalledData(folder.name, folder, "unchecked", 0)
    changed = tuple(changed_files(folder, manifest))
    return InstalledData(
        folder.name, folder, "changed" if changed else "installed", len(manifest.files), changed
    )


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


def _writer_option(what: str) -> Any:
    """Return the option for the mind that writes `what` in the help, such as "questions"."""
    return typer.Option(
        envvar="VIRL_MIND",
        help=f"Who writes the {what}: `rules`, or a chat model such as `openai:MODEL`.",
        autocompletion=complete_minds,
    )


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
    mind: Annotated[str, _writer_option("questions")] = "rules",
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
    mind: Annotated[str, _writer_option("directions")] = "rules",
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
    """Yield (collection of a city's data in `out`, function that shows its progress)."""
    from virl.datasets.collect.collection import (  # noqa: PLC0415 - brings in the providers
        collecting_bar,
        opened_collection,
    )

    with (
        opened_collection(out, city, region, mind=mind, budget_usd=budget_usd, cache=cache) as collection,
        collecting_bar(SafeConsole(stderr=True)) as progress,
    ):
        yield collection, progress


def _tell(out: Path, card: "Card") -> None:
    """Print what a collected data set holds, what collecting cost, and its folder."""
    from virl.pages.numbers import dollars  # noqa: PLC0415

    for name, count in card.counts.items():
        echo(f"{count:8,} {name}")
    echo(f"cost: {dollars(card.usd)}\ndata set: {out}")
