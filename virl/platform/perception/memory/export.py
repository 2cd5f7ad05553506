"""Objects for other programs: a CSV table, and GeoJSON (RFC 7946)."""

import csv
import json
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

from virl.files.writing import write_whole
from virl.plain_text import plain_lines
from virl.platform.perception.memory.objects import MemoryObject

COLUMNS = ("id", "label", "lat", "lng", "sigma_m", "confidence", "views", "panoramas")
_FORMULA = ("=", "+", "-", "@")


def write_csv(objects: Iterable[MemoryObject], path: Path) -> None:
    """Write a table with a row for each object, in WGS84 degrees; `sigma_m` as in `Estimate.sigma`.

    A label that a spreadsheet would take for a formula gets an apostrophe before it.

    Raises:
        CannotWrite: the disk refuses.
    """
    text = StringIO()
    rows = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    rows.writeheader()
    for thing in objects:
        place = thing.estimate.position
        label = f"'{thing.label}" if thing.label.startswith(_FORMULA) else thing.label
        rows.writerow(
            {"id": thing.id, "label": label, "lat": f"{place.lat:.7f}", "lng": f"{place.lng:.7f}"}
            | _facts(thing)
        )
    write_whole(path, plain_lines(text.getvalue()).encode(), "go on")


def geojson(objects: Iterable[MemoryObject], attribution: str = "") -> dict[str, object]:
    """Return a FeatureCollection of points; longitude comes before latitude, as RFC 7946 wants it.

    Args:
        objects: one feature each.
        attribution: whom the file has to name: a member of its own, which programs pass over.
    """
    features = []
    for thing in objects:
        place = thing.estimate.position
        features.append(
            {
                "type": "Feature",
                "id": thing.id,
                "geometry": {"type": "Point", "coordinates": [round(place.lng, 7), round(place.lat, 7)]},
                "properties": {"label": thing.label, **_facts(thing)},
            }
        )
    named = {"attribution": attribution} if attribution else {}
    return {"type": "FeatureCollection", **named, "features": features}


def write_geojson(objects: Iterable[MemoryObject], path: Path, attribution: str = "") -> None:
    """Write `geojson(objects, attribution)`, on one line.

    Args:
        objects: to write.
        path: of the file.
        attribution: of the imagery.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_whole(path, json.dumps(geojson(objects, attribution), ensure_ascii=False).encode() + b"\n", "go on")


def _facts(thing: MemoryObject) -> dict[str, float | int]:
    """Return an object's error in metres, confidence, and number of views and panoramas, by column."""
    return {
        "sigma_m": round(thing.estimate.sigma, 2),
        "confidence": round(thing.confidence, 3),
        "views": len(thing.views),
        "panoramas": len(thing.panoramas),
    }
