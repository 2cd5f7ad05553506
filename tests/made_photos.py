"""Photographs of a made town, as a 360-degree camera or a phone would have written them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import PIL.Image
from PIL.ExifTags import GPS, IFD, Base

from virl.geo.globe import LatLng
from virl.platform.city.streetview import Attitude, Image

MORNING = datetime(2026, 5, 2, 8, 0, 0, tzinfo=UTC)


def write_photo(
    file: Path,
    pixels: Image,
    position: LatLng | None,
    *,
    held: Attitude | None = None,
    taken: datetime | None = MORNING,
    heading: float | None = None,
    focal_35mm: int | None = None,
    author: str = "",
    more: str = "",
    gps_fields: Mapping[int, object | None] | None = None,
    orientation: int = 1,
    xmp: bytes = b"",
) -> None:
    """A JPEG with EXIF; with the fields of GPano where it says how it was held, which makes it a panorama.

    Further fields of GPano are `more`; `gps_fields` replace those of EXIF, or take them away (`None`).
    `orientation` says how the pixels are stored; it turns nothing.
    """
    exif = PIL.Image.Exif()
    gps: dict[int, object] = {}
    if position is not None:
        gps = {
            GPS.GPSLatitude: _parts(position.lat),
            GPS.GPSLatitudeRef: "N" if position.lat >= 0 else "S",
            GPS.GPSLongitude: _parts(position.lng),
            GPS.GPSLongitudeRef: "E" if position.lng >= 0 else "W",
        }
    if heading is not None:
        gps |= {GPS.GPSImgDirection: Fraction(round(heading * 100), 100), GPS.GPSImgDirectionRef: "T"}
    gps = {tag: value for tag, value in (gps | dict(gps_fields or {})).items() if value is not None}
    camera: dict[int, object] = {}
    if taken is not None:
        camera = {Base.DateTimeOriginal: f"{taken:%Y:%m:%d %H:%M:%S}", Base.OffsetTimeOriginal: "+00:00"}
    if focal_35mm is not None:
        camera[Base.FocalLengthIn35mmFilm] = focal_35mm
    exif[IFD.GPSInfo], exif[IFD.Exif] = gps, camera
    if orientation != 1:
        exif[Base.Orientation] = orientation
    if author:
        exif[Base.Artist] = author
    if held:
        xmp = _gpano(held, more)
    file.parent.mkdir(parents=True, exist_ok=True)
    PIL.Image.fromarray(pixels).save(file, "JPEG", quality=92, exif=exif, xmp=xmp)


def write_track(file: Path, *segments: Iterable[tuple[datetime, LatLng]]) -> None:
    lines = "</trkseg><trkseg>".join("".join(map(_point, points)) for points in segments)
    file.write_text(
        '<?xml version="1.0"?><gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">'
        f"<trk><trkseg>{lines}</trkseg></trk></gpx>",
        encoding="utf-8",
    )


def _point(timed: tuple[datetime, LatLng]) -> str:
    time, at = timed
    return f'<trkpt lat="{at.lat:.8f}" lon="{at.lng:.8f}"><time>{time:%Y-%m-%dT%H:%M:%SZ}</time></trkpt>'


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def _parts(value: float) -> tuple[Fraction, Fraction, Fraction]:
    whole = abs(value)
    minutes = (whole - int(whole)) * 60
    return Fraction(int(whole)), Fraction(int(minutes)), Fraction(round((minutes % 1) * 60 * 1e6), 1_000_000)


def _gpano(held: Attitude, more: str) -> bytes:
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" '
        f'GPano:ProjectionType="equirectangular" GPano:PoseHeadingDegrees="{held.heading:.3f}" '
        f'GPano:PosePitchDegrees="{held.pitch:.3f}" GPano:PoseRollDegrees="{held.roll:.3f}" {more}/>'
        "</rdf:RDF></x:xmpmeta>"
    ).encode()
