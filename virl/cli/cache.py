"""The command `virl cache`."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from virl.cli.guard import add_guard
from virl.cli.listing import print_json, print_table
from virl.cli.options import JsonOption
from virl.console import echo
from virl.errors import BadInput, CannotWrite, UnknownName
from virl.resources import cache_home

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
"""Folders below the cache that virl writes: what they hold, and what follows when they are gone."""


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
    """Delete the folders, once the user, or `--yes`, agrees."""
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
