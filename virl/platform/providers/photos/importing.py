"""Photographs of a folder, placed by their EXIF and GPano fields or by a track, and put into sequences."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import atan, degrees
from pathlib import Path
from typing import Any

import PIL.Image
from PIL.ExifTags import GPS, IFD, Base

from virl.errors import BadInput
from virl.extras import module
from virl.files.pictures import MOST_PANORAMA_PIXELS, PictureFault, open_picture
from virl.geo.globe import LatLng, distance
from virl.geo.region import position_fault
from virl.plain_text import plain_line, whole_text
from virl.platform.providers.photos.city_file import UNKNOWN_TIME, Photo
from virl.platform.providers.photos.track import GpsTrack
from virl.platform.providers.pictures.picture import FULL_TURN, USUAL_FOV, course_at


def true_heading(magnetic: float, position: LatLng, taken: datetime) -> float | None:
    """Return a true heading, degrees, from a magnetic one; `None` near a pole or outside 2010 to 2029.

    Args:
        magnetic: heading in degrees clockwise from magnetic north.
        position: position of the compass.
        taken: time of the reading; models cover the years 2010 to 2029.

    Raises:
        ModelUnavailable: the package of the model is not installed.
    """
    model = module("pygeomag", extra="photos")
    try:
        field = model.GeoMag(base_year=taken).calculate(
            position.lat,
            position.lng,
            alt=0,
            time=model.decimal_year_from_date(taken),
            raise_in_warning_zone=True,
        )
    except (ValueError, model.BlackoutZoneException, model.CautionZoneException):
        return None  # another year, or near a magnetic pole, where a compass turns freely
    return (magnetic + float(field.d)) % FULL_TURN


SUFFIXES = (".jpg", ".jpeg")
"""Endings, in small letters, of the names of photographs."""
PAUSE_S = 120.0
"""Seconds between photographs above which a new sequence begins; chosen."""
JUMP_M = 100.0
"""Distance in metres between photographs above which a new sequence begins; chosen."""
MOST_APART_M = 30.0
"""Largest distance in metres between a photograph and the track for the track to be used; chosen."""

_FILM_MM = (36.0, 24.0)
"""Size (longer, shorter side) in millimetres of the film that `FocalLengthIn35mmFilm` refers to."""
_ON_ITS_SIDE = frozenset({5, 6, 7, 8})
"""Values of EXIF's `Orientation` for pictures turned by a quarter."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata in a photograph's file; `None` for what is missing."""

    position: LatLng | None
    """Position in the file; `None` for a missing, wrong or zero one."""
    heading: float | None
    """Heading of the middle column in degrees, true unless `magnetic`; `None` where it is missing or -1."""
    magnetic: bool
    """True where the heading is from magnetic north."""
    pitch: float
    """Elevation of the picture's middle above the horizon, degrees."""
    roll: float
    """Lean of the camera to the right, degrees."""
    fov: float | None
    """Horizontal field of view in degrees, 360 for a panorama; `None` where unknown."""
    equirectangular: bool
    """True for an equirectangular panorama, or a part of one."""
    sky: float | None
    """Share of the panorama's height cut off above the picture, [0, 1]; `None` where not known."""
    left: float | None
    """Share of the panorama's width cut off left of the picture, [0, 1]; `None` for a whole one."""
    taken: datetime | None
    """Time of GPS, or else of the camera, taken as UTC if without offset; `None` where both are missing."""
    author: str
    """Name of the author; empty where the file has none."""
    lacks_hemisphere: bool
    """True if latitude or longitude lacks its N or S, E or W."""


@dataclass(frozen=True, slots=True)
class PhotoImport:
    """The photographs imported from a folder, and the files that were left out."""

    photos: tuple[Photo, ...]
    """Photographs with a position, sorted by sequence and by their place in it."""
    left_out: dict[str, list[str]]
    """Names of the files that were left out, by reason."""
    off_track: tuple[str, ...]
    """Names of files whose own position is far from the track's, so that the track is not used."""


@dataclass(frozen=True, slots=True)
class _PlacedPhoto:
    """A photograph with a position and, where known, time and heading."""

    name: str
    """Path within the folder of photographs."""
    position: LatLng
    taken: datetime | None
    """Time at which it was taken; `None` where unknown."""
    heading: float | None
    """Heading of the middle column from true north, degrees; `None` where unknown."""
    metadata: Metadata
    """Metadata of the photograph's file."""
    off_track: bool
    """True if the photograph's own position is far from the track's."""


def import_photos(
    folder: Path,
    *,
    track: GpsTrack | None = None,
    offset_s: float = 0.0,
    author: str = "",
    licence: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> PhotoImport:
    """Return all photographs below a folder with a position; `offset_s` seconds are added to their times.

    Args:
        folder: folder with JPEG files.
        track: GPX track that gives positions, by time, to photographs without one of their own.
        offset_s: seconds to add to the time of each photograph, of a clock that was wrong or at local time.
        author: name of the author of photographs that name nobody.
        licence: SPDX identifier of the licence of all photographs.
        progress: function that is called with (number of files read, number of all files).

    Raises:
        BadInput: there is no such folder, or no photograph in it can be placed.
    """
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise BadInput(f"{folder}: no JPEG files here: give the folder of your photographs")
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    placed: list[_PlacedPhoto] = []
    for done, file in enumerate(files, start=1):
        path = file.relative_to(folder).as_posix()
        name = whole_text(path)
        try:
            metadata = _read_metadata(file)
        except PictureFault:
            left_out["not a readable picture"].append(name)
        else:
            photo = _place(name, metadata, track, offset_s)
            if name != path:  # it could stand in no index
                left_out["a name that is not UTF-8"].append(name)
            elif metadata.equirectangular and metadata.fov != FULL_TURN and metadata.left is None:
                left_out["a part of a panorama and no CroppedAreaLeftPixels"].append(name)
            elif photo is None:
                lacks = "no GPSLatitudeRef or GPSLongitudeRef" if metadata.lacks_hemisphere else "no position"
                left_out[lacks + (" and outside the track" if track else "")].append(name)
            else:
                placed.append(photo)
        if progress:
            progress(done, len(files))
    if not placed:
        reasons = ", ".join(f"{len(names)} with {reason}" for reason, names in left_out.items())
        raise BadInput(f"{folder}: no photograph can be placed ({reasons}): give --track FILE.gpx")
    photos = [
        photo
        for number, sequence in enumerate(_split_sequences(placed), start=1)
        for photo in _to_photos(sequence, f"{number:04d}", author, licence)
    ]
    return PhotoImport(tuple(photos), dict(left_out), tuple(one.name for one in placed if one.off_track))


def _place(name: str, metadata: Metadata, track: GpsTrack | None, offset_s: float) -> _PlacedPhoto | None:
    """Return a photograph at its own position, else the track's at its time plus `offset_s`; else `None`."""
    taken = metadata.taken
    if taken is not None:
        taken += timedelta(seconds=offset_s)
    position, heading = metadata.position, metadata.heading
    computed, course = (track.at(taken) if track and taken else None) or (None, None)
    off_track = bool(position and computed and distance(position, computed) > MOST_APART_M)
    position = position or computed
    if position is None:
        return None
    if heading is not None and metadata.magnetic:
        heading = true_heading(heading, position, taken) if taken else None
    heading = course if heading is None and not off_track else heading
    return _PlacedPhoto(name, position, taken, heading, metadata, off_track)


def _split_sequences(placed: Sequence[_PlacedPhoto]) -> list[list[_PlacedPhoto]]:
    """Return the photographs in sequences: by folder and time, cut at pauses and jumps."""
    order = sorted(
        placed, key=lambda one: (Path(one.name).parent.as_posix(), one.taken or UNKNOWN_TIME, one.name)
    )
    sequences: list[list[_PlacedPhoto]] = []
    for one in order:
        before = sequences[-1][-1] if sequences else None
        if (
            before
            and Path(before.name).parent == Path(one.name).parent
            and distance(before.position, one.position) <= JUMP_M
            and (not (before.taken and one.taken) or (one.taken - before.taken).total_seconds() <= PAUSE_S)
        ):
            sequences[-1].append(one)
        else:
            sequences.append([one])
    return sequences


def _to_photos(sequence: list[_PlacedPhoto], name: str, author: str, licence: str) -> list[Photo]:
    """Return the photographs of a named sequence; one without a heading faces along the sequence."""
    positions = [one.position for one in sequence]
    return [
        Photo(
            file=one.name,
            position=one.position,
            heading=(course_at(positions, rank) if one.heading is None else one.heading) % FULL_TURN,
            pitch=one.metadata.pitch,
            roll=one.metadata.roll,
            fov=one.metadata.fov or USUAL_FOV,
            sky=one.metadata.sky,
            left=one.metadata.left,
            sequence=name,
            rank=rank,
            taken=one.taken or UNKNOWN_TIME,
            author=one.metadata.author or author,
            licence=licence,
        )
        for rank, one in enumerate(sequence)
    ]


def _read_metadata(file: Path) -> Metadata:
    """Return the metadata in a photograph's file.

    Raises:
        PictureFault: it is not a picture that can be read.
    """
    with open_picture(file, most_pixels=MOST_PANORAMA_PIXELS) as picture:
        exif = picture.getexif()
        gps, camera = dict(exif.get_ifd(IFD.GPSInfo)), dict(exif.get_ifd(IFD.Exif))
        pano = _xmp_fields(picture)
        size = picture.size[::-1] if exif.get(Base.Orientation) in _ON_ITS_SIDE else picture.size
        lat = _degrees(gps.get(GPS.GPSLatitude), gps.get(GPS.GPSLatitudeRef), "NS")
        lng = _degrees(gps.get(GPS.GPSLongitude), gps.get(GPS.GPSLongitudeRef), "EW")
        xmp = (str(pano.get(name, "")).strip() for name in ("GPSLatitude", "GPSLongitude"))  # as 52,5,30N
        xmp_lat, xmp_lng = (
            _degrees(text[:-1].split(","), text[-1:], sides)
            for text, sides in zip(xmp, ("NS", "EW"), strict=True)
        )
        position = _valid_position(lat, lng) or _valid_position(xmp_lat, xmp_lng)
        whole = _is_equirectangular(size, pano)
        heading = _compass(pano.get("PoseHeadingDegrees"))
        fov = _panorama_fov(pano) if whole else _flat_fov(size, camera)
        left = _ratio(pano.get("CroppedAreaLeftPixels"), pano.get("FullPanoWidthPixels"))
        if not (whole and fov and fov < FULL_TURN):
            left = None
        elif left is not None and heading is not None:  # that of the middle of the whole
            heading = (heading + (left - 0.5) * FULL_TURN + fov / 2) % FULL_TURN
        return Metadata(
            position=position,
            heading=_compass(gps.get(GPS.GPSImgDirection)) if heading is None else heading,
            magnetic=heading is None and _side(gps.get(GPS.GPSImgDirectionRef), "TM") == "M",
            pitch=_number(pano.get("PosePitchDegrees")) or 0.0,
            roll=_number(pano.get("PoseRollDegrees")) or 0.0,
            fov=fov,
            equirectangular=whole,
            left=left,
            sky=_ratio(pano.get("CroppedAreaTopPixels"), pano.get("FullPanoHeightPixels")),
            taken=_gps_time(gps) or _camera_time(camera),
            author=plain_line(str(exif.get(Base.Artist, "")))[:200],
            lacks_hemisphere=GPS.GPSLatitude in gps
            and not (_side(gps.get(GPS.GPSLatitudeRef), "NS") and _side(gps.get(GPS.GPSLongitudeRef), "EW")),
        )


def _xmp_fields(picture: PIL.Image.Image) -> Mapping[str, Any]:
    """Return the XMP fields of a picture, by name; empty where it has none."""
    try:
        found: Any = picture.getxmp()
    except (SyntaxError, ValueError, RecursionError):  # XML that is broken, or deep: the picture may be whole
        return {}
    for name in ("xmpmeta", "RDF", "Description"):
        found = found.get(name) if isinstance(found, dict) else None
    every = found if isinstance(found, list) else [found]
    return {key: value for one in every if isinstance(one, dict) for key, value in one.items()}


def _valid_position(lat: float | None, lng: float | None) -> LatLng | None:
    """Return the position of a latitude and longitude; `None` for missing, invalid or zero ones."""
    # Cameras without a fix write zeros.
    if lat is None or lng is None or (lat, lng) == (0.0, 0.0):
        return None
    position = LatLng(lat, lng)
    return None if position_fault(position) else position


def _side(value: Any, sides: str) -> str | None:
    """Return the one of two letters, such as `NS`, that a value of EXIF begins with; `None` for neither."""
    word = value.decode("latin-1") if isinstance(value, bytes) else str(value or "")
    return next((letter for letter in sides if word.strip("\0 ").upper().startswith(letter)), None)


def _degrees(parts: Any, value: Any, sides: str) -> float | None:
    """Return degrees of (degrees, minutes, seconds), positive for the first of two `sides`, such as `NS`.

    The side is in a value of EXIF; `None` is returned where it or a part is missing or wrong.
    """
    side = _side(value, sides)
    if side is None:
        return None
    try:
        whole, minutes, seconds = (*map(float, parts), 0.0, 0.0)[: max(len(parts), 3)]
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    total = whole + minutes / 60 + seconds / 3600
    return total if side == sides[0] else -total


def _compass(value: Any) -> float | None:
    """Return the heading in a field, degrees, [0, 360); `None` for -1 or no number."""
    number = _number(value)
    return None if number in {None, -1.0} else number % FULL_TURN


def _panorama_fov(pano: Mapping[str, Any]) -> float:
    """Return the horizontal field of view of a panorama, degrees, by XMP fields; 360 without them."""
    shown = _ratio(pano.get("CroppedAreaImageWidthPixels"), pano.get("FullPanoWidthPixels"))
    return FULL_TURN if shown is None else FULL_TURN * shown


def _flat_fov(size: tuple[int, int], camera: Mapping[int, Any]) -> float | None:
    """Return the horizontal field of view of a flat photograph, degrees, by EXIF; `None` if not known."""
    focal = _number(camera.get(Base.FocalLengthIn35mmFilm))
    film = _FILM_MM[size[0] < size[1]]
    return degrees(2 * atan(film / 2 / focal)) if focal and focal > 0 else None


def _is_equirectangular(size: tuple[int, int], pano: Mapping[str, Any]) -> bool:
    """Return whether a picture is a panorama, by its XMP or its shape."""
    width, height = size
    told = str(pano.get("ProjectionType", "")).lower()
    return told == "equirectangular" or (not told and width == 2 * height)


def _ratio(part: Any, whole: Any) -> float | None:
    """Return a part as a share of a whole, cut to [0, 1]; `None` if either is missing or the whole is 0."""
    one, other = _number(part), _number(whole)
    return min(max(one / other, 0.0), 1.0) if one is not None and other else None


def _gps_time(gps: Mapping[int, Any]) -> datetime | None:
    """Return the time in GPS fields, UTC; `None` without one."""
    try:
        day = datetime.strptime(str(gps[GPS.GPSDateStamp]).strip("\0 "), "%Y:%m:%d").replace(tzinfo=UTC)
        hours, minutes, seconds = (float(part) for part in gps[GPS.GPSTimeStamp])
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    return day + timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _camera_time(camera: Mapping[int, Any]) -> datetime | None:
    """Return the time of the camera's clock, taken as UTC if it has no offset; `None` where there is none."""
    text = str(camera.get(Base.DateTimeOriginal, "")).strip("\0 ")
    offset = str(camera.get(Base.OffsetTimeOriginal, "")).strip("\0 ")
    fraction = str(camera.get(Base.SubsecTimeOriginal, "")).strip("\0 ")
    try:
        taken = datetime.strptime(f"{text}{offset or '+00:00'}", "%Y:%m:%d %H:%M:%S%z").astimezone(UTC)
        return taken + timedelta(seconds=float(f"0.{fraction}") if fraction.isdigit() else 0.0)
    except ValueError:
        return None


def _number(value: Any) -> float | None:
    """Return a value as a number; `None` if it is none, or its size is a million or more."""
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if abs(number) < 1e6 else None
