"""The records of visual memory: objects, their positions and views, and verdicts; as CSV and GeoJSON too."""

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from math import prod, sqrt
from pathlib import Path
from typing import Literal

from virl.files.writing import write_whole
from virl.geo.globe import LatLng
from virl.plain_text import plain_lines
from virl.platform.city.streetview import Box, Camera

Says = Literal["same", "different", "no verdict"]
"""Answer of a rule to the question whether a sighting shows an object."""
RuleName = Literal["same view", "same panorama", "geometry", "features"]
"""Name of a rule that compares sightings with objects."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated position of an object, with its error."""

    position: LatLng
    """Most likely position."""
    covariance: tuple[float, float, float]
    """Covariance (east-east, east-north, north-north) of the position, square metres."""

    @property
    def sigma(self) -> float:
        """Standard deviation of the position along its least certain direction, metres."""
        east, mixed, north = self.covariance
        return sqrt((east + north) / 2 + sqrt(((east - north) / 2) ** 2 + mixed**2))


@dataclass(frozen=True, slots=True)
class Seen:
    """A sighting as it is stored, with its pictures as files."""

    number: int
    """Number of the sighting among all of a memory, from 0."""
    label: str
    """Label of the object that was seen, such as a place type."""
    score: float
    """Confidence of the detection, [0, 1]."""
    pano_id: str
    """Id of the panorama from which the object was seen."""
    camera: Camera
    """Camera of the view in which the object was found."""
    position: LatLng
    """Position of the camera that saw the object."""
    box: Box
    """Box (left, top, right, bottom) of the object in pixels of the view."""
    crop: str
    """Path, within the memory's folder, of a picture of the object with a margin; empty if none is kept."""
    picture: str
    """Path, within the memory's folder, of the whole view with the box drawn in; empty if none is kept."""


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """An object that was seen once or often, with its estimated position."""

    id: str
    """Id of the object in its memory, such as `bench-12`."""
    label: str
    """Label of the object, such as a place type."""
    estimate: Estimate
    """Estimated position of the object, with its error."""
    views: tuple[Seen, ...]
    """Sightings of the object, in the order in which they were added."""

    @property
    def panoramas(self) -> frozenset[str]:
        """Ids of the panoramas from which the object was seen."""
        return frozenset(view.pano_id for view in self.views)

    @property
    def confidence(self) -> float:
        """Confidence that there is such an object, [0, 1].

        One minus the product of (1 - best score) over panoramas: looks from one count as one piece of
        evidence, those from different ones as independent.
        """
        best: dict[str, float] = {}
        for view in self.views:
            best[view.pano_id] = max(view.score, best.get(view.pano_id, 0.0))
        return 1.0 - prod(1.0 - score for score in best.values())


@dataclass(frozen=True, slots=True)
class Opinion:
    """The opinion of a rule on whether a sighting shows an object."""

    rule: RuleName
    """Name of the rule."""
    says: Says
    """Answer of the rule."""
    reason: str
    """Reason for the answer, in words."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of a sighting with one object: each rule's opinion, and the cost of their being one."""

    object_id: str
    """Id of the object."""
    opinions: tuple[Opinion, ...]
    """Opinions of the rules that were asked, in that order."""
    cost: float
    """Minus twice the logarithm of how much likelier "the same" is than "a new one"; negative if likelier."""

    @property
    def is_same(self) -> bool:
        """Return whether some rule says that both are the same, and none that they are different."""
        said = {opinion.says for opinion in self.opinions}
        return "same" in said and "different" not in said


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision on which object a sighting shows, with the comparisons that decided."""

    object_id: str
    """Id of the object that the sighting shows."""
    new: bool
    """True if the sighting is the first one of the object."""
    comparisons: tuple[Comparison, ...] = ()
    """Comparisons with the objects near it, the likeliest first."""


COLUMNS = ("id", "label", "lat", "lng", "sigma_m", "confidence", "views", "panoramas")
"""Columns of the CSV file of objects."""
_FORMULA = ("=", "+", "-", "@")
"""First characters of a text that a spreadsheet takes for a formula."""


def write_csv(objects: Iterable[MemoryObject], path: Path) -> None:
    """Write a CSV file with a row for each object and the columns `COLUMNS`, positions in WGS84 degrees.

    Raises:
        CannotWrite: the disk refuses.
    """
    text = StringIO()
    rows = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    rows.writeheader()
    for thing in objects:
        place = thing.estimate.position
        # A label that a spreadsheet would take for a formula gets an apostrophe.
        label = f"'{thing.label}" if thing.label.startswith(_FORMULA) else thing.label
        rows.writerow(
            {"id": thing.id, "label": label, "lat": f"{place.lat:.7f}", "lng": f"{place.lng:.7f}"}
            | _facts(thing)
        )
    write_whole(path, plain_lines(text.getvalue()).encode(), "go on")


def geojson(objects: Iterable[MemoryObject], attribution: str = "") -> dict[str, object]:
    """Return a GeoJSON FeatureCollection with a point for each object, longitude before latitude (RFC 7946).

    `attribution` is the notice that credits the imagery, a member of its own if it is not empty.
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
    """Write the GeoJSON of objects to a file, on one line.

    Args:
        objects: objects of a memory.
        path: path of the file.
        attribution: notice that credits the imagery; empty for none.

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
