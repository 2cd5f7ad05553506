"""Extracts of OpenStreetMap in the data folder: a user's file copied or cut, or a box fetched."""

import filecmp
import gzip
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from virl.errors import BadInput, ProviderError
from virl.files.writing import refusals_in_a_line, replace_file
from virl.osm.box import DATA, LARGEST_KM2, SUFFIXES, Box
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
from virl.platform.providers.http.nominatim import find_places
from virl.platform.providers.http.osm_servers import LATER
from virl.platform.providers.http.overpass import download_server
from virl.platform.providers.http.service import Tell
from virl.resources import data_home


def install_extract(extract: Path, *, force: bool = False) -> tuple[Path, str]:
    """Copy an extract into the data folder, over another by `force` only; return (path, date of its data).

    Another extract of this name is replaced with `force` only.

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
    return _keep_extract(extract, force=force), date


def install_part(extract: Path, box: Box, name: str, *, force: bool = False) -> tuple[Path, str]:
    """Copy the part of an extract in a box, as `name`, into the data folder; return (path, date of its data).

    Args:
        extract: path of an OpenStreetMap extract.
        box: box around the part.
        name: name of the new file without its suffix.
        force: True to replace another extract of this name.

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
        return _keep_extract(part, force=force), date


def _kept_path(name: str) -> Path:
    """Return the path in the data folder of the extract with this file name."""
    return data_home() / DATA / name


def _keep_extract(extract: Path, *, force: bool) -> Path:
    """Copy a checked extract into the data folder, over another with `force` only; return its new path."""
    kept = _kept_path(extract.name)
    if kept.exists() and not filecmp.cmp(extract, kept, shallow=False) and not force:
        raise BadInput(
            f"{kept}: there is another extract of this name: rename {extract.name}, or add --force"
        )
    then = "set VIRL_DATA to a folder that can be written"
    with replace_file(kept, then) as copy, extract.open("rb") as source:
        shutil.copyfileobj(source, copy)
    return kept


SUFFIX = ".osm.gz"
"""Ending of the names of fetched extracts."""
LONGEST_NAME = 60
"""Largest number of characters of a fetched extract's name, without its ending."""

_NAME = re.compile(r"\w[\w.\-]*")
"""Pattern of an allowed file name."""


@dataclass(frozen=True, slots=True)
class ExtractDownload:
    """A box to fetch, and the name of the file to keep it in."""

    box: Box
    """Box whose map is fetched."""
    name: str
    """Name of the file without its ending."""


def box_target(box: Box, name: str | None) -> ExtractDownload:
    """Return a box to fetch with its file name: `name`, or for `None` one made of the box's middle.

    Raises:
        BadInput: the name is no file name.
    """
    lat, lng = box.middle
    own = f"town-{abs(lat):.3f}{'n' if lat >= 0 else 's'}-{abs(lng):.3f}{'e' if lng >= 0 else 'w'}"
    return ExtractDownload(box, own if name is None else _check_name(name))


def place_target(place: str, name: str | None, tell: Tell) -> ExtractDownload:
    """Look up a place and return the box to fetch there and the name of the file for it.

    Args:
        place: name of the place, such as `"Kallio, Helsinki"`.
        name: name of the file; `None` for one made of the place's name.
        tell: function that shows the user which place and which part of it is taken.

    Raises:
        BadInput: the name is no file name.
        NotFound: there is no such place.
        ProviderError: the server did not answer, refused, or answered nonsense.
    """
    kept = None if name is None else _check_name(name)
    first, *others = find_places(place, tell)
    more = f", the first of {len(others) + 1} matches; the next is {others[0]}" if others else ""
    tell(f"{place}: {first}{more}")
    box = first.fitting_box
    if box != first.box:
        than = "larger" if first.box.area_km2 > LARGEST_KM2 else "smaller"
        tell(f"{place}: {than} than a download: taking the square of 2 by 2 km around its middle, {box}")
    plain = re.sub(r"\W+", "-", (first.name or place.split(",", maxsplit=1)[0]).casefold()).strip("-_")
    return ExtractDownload(box, kept or plain[:LONGEST_NAME] or "town")


def fetch_extract(
    target: ExtractDownload, server: str | None, tell: Tell, *, force: bool = False
) -> tuple[Path, str]:
    """Fetch a box's map from `server` (`None`: usual) into the data folder; return (path, date of the data).

    Nothing is left behind where it fails or is interrupted.

    Args:
        target: box to fetch, and name of the file.
        server: URL of an Overpass server; `None` for that of `VIRL_OVERPASS_URL`, or the public one.
        tell: function that shows the user what is fetched, and each pause.
        force: True to replace another file of this name.

    Raises:
        BadInput: there is another file of its name, or no street is in the box.
        ProviderError: the server did not answer, refused, or answered nonsense.
        CannotWrite: the disk refuses.
    """
    kept = _kept_path(target.name + SUFFIX)
    if kept.exists() and not force:
        raise BadInput(f"{kept}: there is an extract of this name: give another --name, or add --force")
    overpass = download_server(server, tell)
    across, up = target.box.size_km
    tell(f"{overpass.title}: fetching {across:.1f} by {up:.1f} km around {target.box.middle}")
    try:
        with (
            refusals_in_a_line(Path(tempfile.gettempdir()), "run the command again"),
            tempfile.TemporaryDirectory(prefix="virl-osm-") as scratch,
        ):
            reply, packed = Path(scratch, "reply.osm"), Path(scratch, kept.name)
            overpass.fetch(target.box, reply)
            # Without a time in it, the same map makes the same file.
            with reply.open("rb") as plain, gzip.GzipFile(packed, "wb", compresslevel=6, mtime=0) as into:
                shutil.copyfileobj(plain, into)
            reply.unlink()
            try:
                date = check_extract(packed)
            except BadInput as fault:
                damaged = "the reply is damaged OpenStreetMap XML"
                raise ProviderError(overpass.title, damaged, LATER) from fault
            if not has_streets(packed):
                raise BadInput(f"no street is mapped in the box {target.box}: choose another one")
            return _keep_extract(packed, force=force), date
    finally:
        overpass.close()


def _check_name(name: str) -> str:
    """Return a file's name without its ending; raise `BadInput` for wrong characters or too many."""
    bare = name.removesuffix(SUFFIX)
    if not _NAME.fullmatch(bare) or len(bare) > LONGEST_NAME:
        raise BadInput(
            f"--name {name!r}: must be at most {LONGEST_NAME} letters, digits, dots, - and _, such as vaduz"
        )
    return bare
