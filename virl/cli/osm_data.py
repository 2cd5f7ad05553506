"""What `virl data osm` does: copies an extract or a part of it, or fetches one from a server."""

import shlex
from pathlib import Path

import typer

from virl.console import echo
from virl.extras import require
from virl.guard import INTERRUPTED

LICENCE = "© OpenStreetMap contributors, Open Database License 1.0: name them wherever you show it"


def copy_extract(extract: Path, *, force: bool) -> None:
    """Copy an extract to the data folder, and say where it is.

    Raises:
        VirlError: it is no extract, or there is another one of its name.
    """
    require("osm", what="reading an extract")
    from virl.platform.providers.osm.install import install_extract  # noqa: PLC0415 - needs the extra

    kept, date = install_extract(extract, force=force)
    echo(f"{kept}: copied; data of {date or 'an unknown date'}")
    echo(LICENCE)


def copy_part(extract: Path, box: str, *, name: str | None, force: bool) -> None:
    """Copy a box of an extract to the data folder, and say where it is.

    Raises:
        VirlError: it is no extract, has nothing there, or there is another one of this name.
    """
    require("osm", what="reading an extract")
    from virl.platform.providers.osm.box import box_of  # noqa: PLC0415 - loads when asked for
    from virl.platform.providers.osm.download import box_target  # noqa: PLC0415 - needs the extra
    from virl.platform.providers.osm.install import install_part  # noqa: PLC0415 - needs the extra

    target = box_target(box_of(box, is_copied=True), name)
    _tell_kept(*install_part(extract, target.box, target.name, force=force))


def fetch_part(
    box: str | None, place: str | None, *, name: str | None, server: str | None, force: bool
) -> None:
    """Fetch a box or a place from an Overpass server, and say where it is.

    Raises:
        VirlError: there is no such box or place, or the server gave nothing of use.
    """
    require("osm", what="fetching an extract")
    from virl.platform.providers.osm import download  # noqa: PLC0415 - needs the extra
    from virl.platform.providers.osm.box import box_of  # noqa: PLC0415 - loads when asked for

    try:
        if place is None:
            target = download.box_target(box_of(box or ""), name)
        else:
            target = download.place_target(place, name, _tell)
        kept, date = download.fetch_extract(target, server, _tell, force=force)
    except KeyboardInterrupt:
        _tell("virl: stopped: nothing was kept")
        raise typer.Exit(INTERRUPTED) from None
    _tell_kept(kept, date)


def _tell_kept(kept: Path, date: str) -> None:
    echo(f"{kept}: {kept.stat().st_size / 1000:,.0f} kB; data of {date or 'an unknown date'}")
    echo(LICENCE)
    echo(f"Run an agent there with `virl run hiro --city {shlex.quote(str(kept))}`.")


def _tell(line: str) -> None:
    echo(line, err=True)
