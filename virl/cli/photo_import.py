"""What `virl import photos` does: reads a folder, writes its index, and says what came of it."""

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from virl.console import SafeConsole
from virl.errors import BadInput
from virl.extras import require
from virl.pages.numbers import count_noun
from virl.platform.city.left_out import MOST_REASONS
from virl.platform.providers.photos.city_file import SUFFIX, PhotoIndex, write_index
from virl.platform.providers.photos.importing import MOST_APART_M, import_photos
from virl.platform.providers.photos.track import read_track
from virl.platform.providers.pictures.graph import picture_graph


def import_folder(
    folder: Path, track_file: Path | None, offset_s: float, out: Path | None, author: str, licence: str
) -> Iterator[str]:
    """Import photographs, times moved by `offset_s`, and a track as a city with index `out`; yield lines.

    Args:
        folder: with photographs.
        track_file: GPX track of the walk, if there is one.
        offset_s: seconds to add to the time of each photograph.
        out: index to write; by default beside the folder.
        author: who took the photographs.
        licence: of the photographs.

    Raises:
        VirlError: nothing in it can be used, or the index cannot be written.
    """
    require("photos", "defusedxml", "gpxpy", what="importing photographs")
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder: give the folder of your photographs")
    file = out or folder.resolve().parent / f"{folder.resolve().name}{SUFFIX}"
    if not file.name.endswith(SUFFIX):
        raise BadInput(f"--out {file}: must end in {SUFFIX}")
    track = read_track(track_file) if track_file else None
    console = SafeConsole(stderr=True)
    columns = TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("")
        found = import_photos(
            folder,
            track=track,
            offset_s=offset_s,
            author=author,
            licence=licence,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    made = picture_graph([photo.picture() for photo in found.photos])
    title = file.name.removesuffix(SUFFIX).replace("-", " ").replace("_", " ").title()
    seen_from = os.path.relpath(folder.resolve(), file.resolve().parent)
    write_index(file, PhotoIndex(title=title, folder=seen_from, photos=found.photos))
    whole = sum(photo.picture().is_panorama for photo in found.photos)
    sequences = len({photo.sequence for photo in found.photos})
    yield (
        f"{file}: {count_noun(len(found.photos), 'photograph')} in {count_noun(sequences, 'sequence')}, "
        f"{whole} of 360 degrees"
    )
    for reason, names in found.left_out.items():
        yield f"left out: {len(names)} ({reason}): {_first(names)}"
    if found.off_track:
        told = f"farther than {MOST_APART_M:.0f} m from the position of the photograph"
        yield f"track not used: {len(found.off_track)} ({told}): {_first(found.off_track)}"
    if track and track.left_out:
        yield f"left out of the track: {count_noun(track.left_out, 'point')} without a time or a position"
    walked = count_noun(len(made.graph), "panorama")
    yield f"{walked} to walk between; {made.left_out} that no link connects with them"
    named = shlex.quote(str(file))
    yield f"virl town {named} shows it; virl run AGENT --city {named} walks there"


def _first(names: Sequence[str]) -> str:
    """Return the first `MOST_REASONS` names as text, with "and more" if there are others."""
    return ", ".join(names[:MOST_REASONS]) + (" and more" if len(names) > MOST_REASONS else "")
