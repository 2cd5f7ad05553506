"""Copies a user's extract, or a part of it, to the data folder."""

import filecmp
import shutil
import tempfile
from pathlib import Path

from virl.errors import BadInput
from virl.files.writing import replace_file
from virl.osm.box import DATA, SUFFIXES, Box
from virl.osm.extract import (
    check_extract,
    check_name,
    check_readable,
    damage_reported,
    date_of,
    has_streets,
    is_large,
)
from virl.osm.thin import cut_part
from virl.resources import data_home


def install_extract(extract: Path, *, force: bool = False) -> tuple[Path, str]:
    """Copy an extract into the data folder, and return (its new path, the date of its data).

    Args:
        extract: the file.
        force: whether another file of this name is replaced.

    Raises:
        BadInput: it is no extract, larger than a town, or there is another one of its name.
        CannotWrite: the disk refuses.
    """
    check_name(extract)
    if is_large(extract):
        raise BadInput(
            f"{extract}: {extract.stat().st_size / 1e6:,.0f} MB is more than one town: give the part to copy "
            "with --box S,W,N,E, or name the file where it is, as in `--city FILE --around LAT,LNG`"
        )
    date = check_extract(extract)
    return keep_extract(extract, force=force), date


def install_part(extract: Path, box: Box, name: str, *, force: bool = False) -> tuple[Path, str]:
    """Copy the part of an extract in a box into the data folder; return (path, date of its data).

    Gives its path and the date of its data.

    Args:
        extract: OpenStreetMap file.
        box: of the part.
        name: of the part.
        force: whether another extract of this name may be replaced.

    Raises:
        BadInput: the file is no extract, does not cover the box or has no street there, or there is another
            extract of this name.
        CannotWrite: the disk refuses.
    """
    region = box.region
    check_readable(extract, region)
    with damage_reported(extract), tempfile.TemporaryDirectory(prefix="virl-osm-") as scratch:
        part = Path(scratch, name + SUFFIXES[0])
        date = date_of(extract)
        cut_part(extract, region, part, date)
        if not has_streets(part):
            raise BadInput(f"{extract}: no street is mapped in the box {box}: choose another one")
        return keep_extract(part, force=force), date


def kept_path(name: str) -> Path:
    """Return the path at which an extract of this file name is kept."""
    return data_home() / DATA / name


def keep_extract(extract: Path, *, force: bool) -> Path:
    """Copy a checked extract into the data folder, and return its new path.

    Raises:
        BadInput: there is another one of its name.
        CannotWrite: the disk refuses.
    """
    kept = kept_path(extract.name)
    if kept.exists() and not filecmp.cmp(extract, kept, shallow=False) and not force:
        raise BadInput(
            f"{kept}: there is another extract of this name: rename {extract.name}, or add --force"
        )
    then = "set VIRL_DATA to a folder that can be written"
    with replace_file(kept, then) as copy, extract.open("rb") as source:
        shutil.copyfileobj(source, copy)
    return kept
