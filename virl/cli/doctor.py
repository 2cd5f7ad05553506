"""`virl doctor` and `virl cache`: what works on this machine, and what is kept on it."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from virl.cli.completion import complete_cities
from virl.cli.guard import LOG_DETAILS, add_guard
from virl.cli.listing import print_json, print_table
from virl.cli.options import JsonOption, check_amount
from virl.console import SafeConsole, echo, echo_json
from virl.errors import BadInput, CannotWrite, UnknownName
from virl.resources import cache_home

BUNDLE = Path("virl-doctor.json")
CORE_BROKEN = 1
"""Exit code if not even the made town opens."""
BUDGET_USD = 0.10
"""Default budget of `--real` in dollars. Chosen: the paid probes of either generation of APIs fit in."""


@add_guard(LOG_DETAILS)
def doctor(
    real: Annotated[
        bool,
        typer.Option(
            "--real",
            help="Also ask each paid service and the model once. Prints prices and asks first.",
        ),
    ] = False,
    budget_usd: Annotated[
        float, typer.Option(help="Budget in US dollars for --real.", callback=check_amount)
    ] = BUDGET_USD,
    yes: Annotated[bool, typer.Option("--yes", help="With --real: do not ask before it spends.")] = False,
    bundle: Annotated[
        Path,
        typer.Option(
            help="With --real: file for a bug report: findings and shapes of replies, no keys, no content.",
            dir_okay=False,
        ),
    ] = BUNDLE,
    city: Annotated[
        str,
        typer.Option(
            help="City to test Google's services in, or those of open data (see `virl cities`).",
            autocompletion=complete_cities,
        ),
    ] = "london",
    mind: Annotated[
        str,
        typer.Option(
            envvar="VIRL_MIND",
            help="Language model to check, such as `openai:MODEL`. Sends one free request to its server.",
        ),
    ] = "rules",
    steps: Annotated[
        int | None,
        typer.Option(
            help="Number of steps of the run to estimate a price for. By default, Hiro's limit.", min=0
        ),
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(
            help="Folder of your own Hiro runs to estimate requests per step from.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check the installation, your API keys and what runs cost."""
    from virl.doctor import report  # noqa: PLC0415 - brings in the cities and the senses
    from virl.doctor.examination import examine_machine  # noqa: PLC0415
    from virl.platform.providers.http.stored_replies import Recording  # noqa: PLC0415

    console = SafeConsole(stderr=True)
    if real and not _may_spend(budget_usd, mind, yes=yes):
        echo("no request was sent", err=True)
        return
    with TemporaryDirectory() as folder:
        record = Recording(Path(folder)) if real else None
        found = examine_machine(budget_usd if real else None, city, steps, runs, console, mind, record)
        told = report.as_json(found)
        if real:
            report.write_bundle(bundle, told, Path(folder))
            echo(f"for a bug report: {bundle} (no keys, no content of replies)", err=True)
    if as_json:
        echo_json(told)
    else:
        report.tell(found, SafeConsole())
    if not found.offline_core_works:
        raise typer.Exit(CORE_BROKEN)


def _may_spend(budget_usd: float, mind: str, *, yes: bool) -> bool:
    """Return whether the user, or `--yes`, agrees to the requests and prices, which are printed."""
    from virl.doctor.examination import google_keys  # noqa: PLC0415 - brings in the cities
    from virl.doctor.model_server import price_lines  # noqa: PLC0415
    from virl.platform.providers.google.settings import load_google_settings  # noqa: PLC0415

    has_key = google_keys() is not None
    lines = price_lines(load_google_settings(), mind, budget_usd, has_google_key=has_key)
    for line in lines or ("nothing paid is configured: set a key, or choose --mind",):
        echo(line, err=True)
    if yes or not lines:
        return True
    try:
        return typer.confirm("Ask them?", err=True)
    except typer.Abort:
        raise BadInput("--real asks before it spends: add --yes where nobody can answer") from None


_PAID = "requested and paid again"
KINDS = {
    "replies": ("replies of language models", _PAID),
    "google": ("replies of Google", _PAID),
    "rentcast": ("replies of RentCast", _PAID),
    "open-maps": ("replies of open services", "requested again"),
    "views": ("drawn views", "drawn again"),
    "plans": ("plans of made towns", "made again in seconds"),
    "tiles": ("textures of made towns", "made again in seconds"),
    "twins": ("towns of extracts", "read again in about a minute each"),
    "busiest": ("busiest towns of extracts", "read again in about a minute each"),
    "graphs": ("street graphs of data sets", "read again"),
    "opened": ("times that cities took to open", "measured again"),
    "finds": ("what detectors found in views", "searched again"),
    "embeddings": ("embeddings of views", "computed again"),
}
"""{folder of the cache: (contents, what happens once they are deleted)}."""


@add_guard()
def cache(
    kinds: Annotated[
        list[str] | None, typer.Argument(metavar="[KIND]...", help="Kinds to show or empty; by default all.")
    ] = None,
    empty: Annotated[bool, typer.Option("--empty", help="Delete what is listed, after you confirm.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --empty: do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show how much virl has kept on this machine, by kind, and empty it."""
    from virl.files.writing import folder_size  # noqa: PLC0415 - heavy
    from virl.pages.numbers import megabytes  # noqa: PLC0415 - heavy

    for kind in kinds or ():
        if kind not in KINDS:
            raise UnknownName("kind", kind, list(KINDS))
    home = cache_home()
    folders = {kind: home / kind for kind in kinds or KINDS if (home / kind).is_dir()}
    sizes = {kind: folder_size(folder) for kind, folder in folders.items()}
    if as_json:
        print_json({"folder": str(home), "bytes": sizes})
    else:
        rows = [(kind, megabytes(size), *KINDS[kind]) for kind, size in sizes.items()]
        print_table(
            ("kind", "size", "what", "without it"), rows, f"{megabytes(sum(sizes.values()))} in {home}"
        )
    if empty and folders:
        _empty(folders.values(), home, yes=yes)


def _empty(folders: Iterable[Path], home: Path, *, yes: bool) -> None:
    """Delete folders of the cache if the user, or `--yes`, agrees."""
    try:
        agreed = yes or typer.confirm("Delete them? End runs that use them first.", err=True)
    except typer.Abort:
        raise BadInput("--empty asks before it deletes: add --yes where nobody can answer") from None
    if not agreed:
        echo("nothing was deleted", err=True)
        return
    for folder in folders:
        try:
            shutil.rmtree(folder)
        except OSError as fault:
            raise CannotWrite(
                f"cannot delete {folder}: {fault.strerror}: fix that, then try again"
            ) from fault
    echo(f"emptied: {home}", err=True)
