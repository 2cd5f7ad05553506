"""What a photograph says of itself: EXIF, and the XMP fields of GPano."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import atan, degrees
from pathlib import Path
from typing import Any

import PIL.Image
from PIL.ExifTags import GPS, IFD, Base

from virl.geo import LatLng
from virl.picture_reading import MOST_PANORAMA_PIXELS, open_picture
from virl.plain_text import plain_line
from virl.platform.attitude import Attitude
from virl.platform.providers.pictures.picture import FULL_TURN
from virl.region import position_fault

FILM_WIDTH_MM = 36.0  # to which `FocalLengthIn35mmFilm` refers


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known of a photograph; `None` for what it does not say."""

    size: tuple[int, int]
    """Width and height in pixels."""
    position: LatLng | None
    heading: float | None
    """The way its middle column faces, degrees."""
    pitch: float
    roll: float
    fov: float | None
    """Horizontal degrees; 360 for a panorama."""
    equirectangular: bool
    """Whether it is a panorama, or a part of one."""
    sky: float | None
    """Share of a whole panorama's height that is cut off above the picture; `None` where it does not say."""
    taken: datetime | None
    """By GPS, else by the clock of the camera, which is taken for UTC where the file tells no offset."""
    author: str
    copyright: str

    @property
    def attitude(self) -> Attitude:
        """How the camera was held; heading 0 where it is not known."""
        return Attitude(self.heading or 0.0, self.pitch, self.roll)


def read_metadata(file: Path) -> Metadata:
    """Read what a photograph says of itself.

    Raises:
        PictureFault: it is not a picture that can be read.
    """
    with open_picture(file, most_pixels=MOST_PANORAMA_PIXELS) as picture:
        exif = picture.getexif()
        gps, camera = dict(exif.get_ifd(IFD.GPSInfo)), dict(exif.get_ifd(IFD.Exif))
        pano = _gpano(picture)
        heading = _number(pano.get("PoseHeadingDegrees"))
        return Metadata(
            size=picture.size,
            position=_position(gps),
            heading=_heading(gps) if heading is None else heading % FULL_TURN,
            pitch=_number(pano.get("PosePitchDegrees")) or 0.0,
            roll=_number(pano.get("PoseRollDegrees")) or 0.0,
            fov=_fov(picture, pano, camera),
            equirectangular=_is_equirectangular(picture, pano),
            sky=_ratio(pano.get("CroppedAreaTopPixels"), pano.get("FullPanoHeightPixels")),
            taken=_gps_time(gps) or _camera_time(camera),
            author=plain_line(str(exif.get(Base.Artist, "")))[:200],
            copyright=plain_line(str(exif.get(Base.Copyright, "")))[:200],
        )


def _gpano(picture: PIL.Image.Image) -> Mapping[str, Any]:
    """The fields of GPano, which stand as attributes of the description or as elements in it."""
    found: Any = picture.getxmp().get("xmpmeta", {}).get("RDF", {}).get("Description", {})
    every = found if isinstance(found, list) else [found]
    return {key: value for one in every if isinstance(one, dict) for key, value in one.items()}


def _position(gps: Mapping[int, Any]) -> LatLng | None:
    lat = _degrees(gps.get(GPS.GPSLatitude), gps.get(GPS.GPSLatitudeRef), "S")
    lng = _degrees(gps.get(GPS.GPSLongitude), gps.get(GPS.GPSLongitudeRef), "W")
    if lat is None or lng is None or (lat, lng) == (0.0, 0.0):
        return None
    position = LatLng(lat, lng)
    return None if position_fault(position) else position


def _degrees(parts: Any, side: Any, negative: str) -> float | None:
    try:
        whole, minutes, seconds = (float(part) for part in parts)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    value = whole + minutes / 60 + seconds / 3600
    return -value if str(side).strip("\0 ").upper() == negative else value


def _heading(gps: Mapping[int, Any]) -> float | None:
    found = _number(gps.get(GPS.GPSImgDirection))
    return None if found is None else found % FULL_TURN


def _fov(picture: PIL.Image.Image, pano: Mapping[str, Any], camera: Mapping[int, Any]) -> float | None:
    if _is_equirectangular(picture, pano):
        shown = _ratio(pano.get("CroppedAreaImageWidthPixels"), pano.get("FullPanoWidthPixels"))
        return FULL_TURN if shown is None else FULL_TURN * shown
    focal = _number(camera.get(Base.FocalLengthIn35mmFilm))
    return degrees(2 * atan(FILM_WIDTH_MM / 2 / focal)) if focal else None


def _is_equirectangular(picture: PIL.Image.Image, pano: Mapping[str, Any]) -> bool:
    width, height = picture.size
    told = str(pano.get("ProjectionType", "")).lower()
    return told == "equirectangular" or (not pano and width == 2 * height)


def _ratio(part: Any, whole: Any) -> float | None:
    one, other = _number(part), _number(whole)
    return min(max(one / other, 0.0), 1.0) if one is not None and other else None


def _gps_time(gps: Mapping[int, Any]) -> datetime | None:
    try:
        day = datetime.strptime(str(gps[GPS.GPSDateStamp]).strip("\0 "), "%Y:%m:%d").replace(tzinfo=UTC)
        hours, minutes, seconds = (float(part) for part in gps[GPS.GPSTimeStamp])
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    return day + timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _camera_time(camera: Mapping[int, Any]) -> datetime | None:
    text = str(camera.get(Base.DateTimeOriginal, "")).strip("\0 ")
    offset = str(camera.get(Base.OffsetTimeOriginal, "")).strip("\0 ")
    fraction = str(camera.get(Base.SubsecTimeOriginal, "")).strip("\0 ")
    try:
        taken = datetime.strptime(f"{text}{offset or '+00:00'}", "%Y:%m:%d %H:%M:%S%z").astimezone(UTC)
        return taken + timedelta(seconds=float(f"0.{fraction}") if fraction.isdigit() else 0.0)
    except ValueError:
        return None


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if abs(number) < 1e6 else None
