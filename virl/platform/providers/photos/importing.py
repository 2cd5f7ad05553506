"""Photographs of a folder, placed by what they say of themselves or by a track, and put into sequences."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from virl.errors import BadInput
from virl.geo import LatLng, bearing, distance
from virl.picture_reading import PictureFault
from virl.platform.providers.photos.index import UNKNOWN_TIME, Photo
from virl.platform.providers.photos.metadata import Metadata, read_metadata
from virl.platform.providers.photos.track import GpsTrack
from virl.platform.providers.pictures.picture import FULL_TURN

SUFFIXES = (".jpg", ".jpeg")
PAUSE_S = 120.0
"""A longer pause begins another sequence; chosen."""
JUMP_M = 100.0
"""A longer way between two photographs begins another sequence; chosen."""
USUAL_FOV = 70.0
"""Of a flat photograph that does not say: a phone's main camera has 65 to 78 degrees."""
STILL_M = 0.5


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a folder."""

    photos: tuple[Photo, ...]
    left_out: Counter[str]
    """How many files were left out, by reason."""


@dataclass(frozen=True, slots=True)
class _Placed:
    name: str
    position: LatLng
    taken: datetime | None
    heading: float | None
    told: Metadata


def import_photos(
    folder: Path,
    *,
    track: GpsTrack | None = None,
    offset_s: float = 0.0,
    author: str = "",
    licence: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Read all photographs of a folder and of those in it.

    Args:
        folder: with JPEG files.
        track: places what has no position of its own, by its time.
        offset_s: seconds to add to the time of each photograph, of a clock that was wrong or at local time.
        author: of those that name nobody.
        licence: of all, as an SPDX identifier.
        progress: is told how many files of how many were read.

    Raises:
        BadInput: there is no such folder, or no photograph in it can be placed.
    """
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise BadInput(f"{folder}: no JPEG files here: give the folder of your photographs")
    left_out: Counter[str] = Counter()
    placed: list[_Placed] = []
    for done, file in enumerate(files, start=1):
        try:
            told = read_metadata(file)
        except PictureFault:
            left_out["not a readable picture"] += 1
        else:
            found = _place(file.relative_to(folder).as_posix(), told, track, offset_s)
            if told.equirectangular and told.fov != FULL_TURN:
                left_out["a part of a panorama"] += 1
            elif found is None:
                left_out["no position" + (" and outside the track" if track else "")] += 1
            else:
                placed.append(found)
        if progress:
            progress(done, len(files))
    if not placed:
        reasons = ", ".join(f"{count} with {reason}" for reason, count in left_out.items())
        raise BadInput(f"{folder}: no photograph can be placed ({reasons}): give --track FILE.gpx")
    photos = [
        photo
        for number, sequence in enumerate(_sequences(placed), start=1)
        for photo in _photos(sequence, f"{number:04d}", author, licence)
    ]
    return Imported(tuple(photos), left_out)


def _place(name: str, told: Metadata, track: GpsTrack | None, offset_s: float) -> _Placed | None:
    taken = told.taken
    if taken is not None:
        taken += timedelta(seconds=offset_s)
    position, course = told.position, None
    if track and taken and (found := track.at(taken)):
        position, course = position or found[0], found[1]
    if position is None:
        return None
    return _Placed(name, position, taken, course if told.heading is None else told.heading, told)


def _sequences(placed: Sequence[_Placed]) -> list[list[_Placed]]:
    """By folder, in the order of time and then of names; cut at pauses and jumps."""
    order = sorted(
        placed, key=lambda one: (Path(one.name).parent.as_posix(), one.taken or UNKNOWN_TIME, one.name)
    )
    sequences: list[list[_Placed]] = []
    for one in order:
        if sequences and _follows(sequences[-1][-1], one):
            sequences[-1].append(one)
        else:
            sequences.append([one])
    return sequences


def _follows(before: _Placed, one: _Placed) -> bool:
    if Path(before.name).parent != Path(one.name).parent:
        return False
    if distance(before.position, one.position) > JUMP_M:
        return False
    return not (before.taken and one.taken) or (one.taken - before.taken).total_seconds() <= PAUSE_S


def _photos(sequence: list[_Placed], name: str, author: str, licence: str) -> list[Photo]:
    """Those without a heading look the way that the sequence goes."""
    photos = []
    for rank, one in enumerate(sequence):
        heading = _course(sequence, rank) if one.heading is None else one.heading
        photos.append(
            Photo(
                file=one.name,
                position=one.position,
                heading=heading % FULL_TURN,
                pitch=one.told.pitch,
                roll=one.told.roll,
                fov=one.told.fov or USUAL_FOV,
                sky=one.told.sky,
                sequence=name,
                rank=rank,
                taken=one.taken or UNKNOWN_TIME,
                author=one.told.author or author,
                licence=licence,
            )
        )
    return photos


def _course(sequence: list[_Placed], rank: int) -> float:
    before, after = sequence[max(rank - 1, 0)], sequence[min(rank + 1, len(sequence) - 1)]
    moved = distance(before.position, after.position) > STILL_M
    return bearing(before.position, after.position) if moved else 0.0
