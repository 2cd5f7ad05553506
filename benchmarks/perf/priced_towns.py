"""The two towns in which agents are priced: what each agent is asked there, and what it needs to be there.

Boxes are drawn from the truth of the served city, as a person would draw them into panoramas; `write_boxes`
keeps them, and the detector `recorded` repeats them.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import atan, atan2, degrees, hypot, radians, tan
from pathlib import Path

import numpy as np

from virl.doctor.measured import Density
from virl.geo.globe import LatLng, LocalFrame, destination
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection
from virl.platform.perception.detectors.recorded import write_boxes
from virl.platform.providers.cities import open_city
from virl.serve.city_server import ServedCity
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

_THINGS = {"trash bin": (0.5, 1.0), "bench": (1.5, 0.85)}
"""(width, height) in metres of the things whose boxes are recorded, by kind."""
_REGION, _HOMES, _DETECTOR = "square.txt", "homes.json", "recorded.yaml"
"""Names of the files that `furnish` writes: region, homes and detector."""
_CAMERA_M = 2.5
_SEEN_M = 15.0
"""Most metres from a panorama at which a thing is seen."""
_REGION_M = 35.0
"""Metres from the middle of the region to its corners."""
COUNT = 8
"""Number of homes to rent."""
_CAMERA = Camera(0.0)
TOWNS: dict[Density, str] = {
    "thin": "Virlton, a made town: about 20 places within 90 m",
    "dense": "the middle of Helsinki from OpenStreetMap, with invented reviews and fine types",
}
_DETECTS = ("--detector", f"DATA/{_DETECTOR}")
_COUNTS = (*_DETECTS, "--set", "count.things=[trash bin, bench]")
_SURVEYS = (
    *(*_COUNTS, "--set", f"region=DATA/{_REGION}"),
    *("--set", "intention=Imani wants to know how trash bins and benches are spread."),
)
_LETS = ("--set", f"rent.listings=DATA/{_HOMES}")
_READS = ("--set", "preview.reader=rapidocr")
_SEARCHES = ("--set", "search.reader=rapidocr", "--set", "limits.steps=12")
MORE: dict[Density, dict[str, tuple[str, ...]]] = {
    "thin": {
        "hiro": ("--set", "limits.steps=12"),
        "rx399": _COUNTS,
        "imani": _SURVEYS,
        "vivek": _LETS,
        "mira": _DETECTS,
        "otto": _DETECTS,
        "noor": (*_DETECTS, "--set", "preview.to=115 Station Street", *_READS),
        "iris": _SEARCHES,
    },
    "dense": {
        "hiro": ("--set", "limits.steps=12"),
        "peng": ("--set", 'errands={stops: ["Ravintola Savoy", "Pohjoisesplanadi 27", "bank"]}'),
        "rx399": (
            *_COUNTS,
            *("--set", "route=[{lat: 60.16745, lng: 24.94720}, {lat: 60.16760, lng: 24.94780}]"),
        ),
        "imani": _SURVEYS,
        "vivek": (
            *_LETS,
            *("--set", "rent.areas=[{lat: 60.1676, lng: 24.9478, radius: 300}]"),
        ),
        "mira": _DETECTS,
        "otto": _DETECTS,
        "noor": (*_DETECTS, "--set", "preview.to=Ravintola Savoy", *_READS),
        "iris": _SEARCHES,
    },
}
"""Options of `virl run` that agents need beyond their files, by town and agent."""
CENTERS = {"thin": (41.2508, -38.7570), "dense": (60.1690, 24.9425)}
RECORDED_M = {"thin": 2000.0, "dense": 800.0}
STREETS = {"thin": "Station Street", "dense": "Pohjoisesplanadi"}
DENSE_START = "60.1690,24.9425"
ESPLANADI = "60.1676,24.9478"
"""Start in Helsinki of agents that count, rent, run errands or use tools: 40 benches are within 200 m."""
STARTS = dict.fromkeys(("peng", "rx399", "imani", "vivek", "june", "mira", "otto", "noor"), ESPLANADI)
DENSE_CITY = """\
title: Helsinki over HTTP
about: Helsinki in Google's formats, for a measurement
provider: google
city: Helsinki
district: the middle
country: Finland
language: en
time_zone: Europe/Helsinki
polygon: [[60.163, 24.930], [60.163, 24.955], [60.175, 24.955], [60.175, 24.930]]
center: [60.169, 24.9425]
"""


@dataclass(frozen=True, slots=True)
class ServedTown:
    """A town that is served in Google's formats, with the files that agents need there."""

    density: Density
    served: str
    """Name of the town itself, as `--city` takes it."""
    data: Path
    """Folder of the files that `furnish` wrote."""
    url: str

    @property
    def city(self) -> str:
        """Name or file of the town over HTTP, as `--city` takes it."""
        return "virlton-http" if self.density == "thin" else str(self.data / "helsinki-http.yaml")

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that send requests to the server, apart from the cache's."""
        return {"GOOGLE_MAPS_API_KEY": "any-key-of-a-measurement", "VIRL_GOOGLE_BASE_URL": self.url}

    def run(self, agent: str, out: Path, city: str = "") -> list[str]:
        """Return the arguments of `virl` for a run of an agent, over HTTP unless `city` names another.

        Args:
            agent: its name.
            out: folder of the run.
            city: name; empty for the served one.
        """
        start = ["--at", STARTS.get(agent, DENSE_START)] if self.density == "dense" else []
        more = [part.replace("DATA", str(self.data)) for part in MORE[self.density].get(agent, ())]
        return ["run", agent, "--city", city or self.city, *start, *more, "--out", str(out)]


@contextmanager
def served_town(density: Density, extract: str, data: Path) -> Iterator[tuple[ServedCity, ServedTown]]:
    """Yield (server, town) of a density, with the files that agents need in the folder `data`.

    Args:
        density: of the town.
        extract: of the dense town.
        data: folder for what agents need.
    """
    name = "virlton" if density == "thin" else f"{extract}@invented"
    city = open_city(name)
    middle = CENTERS["thin"] if density == "thin" else ESPLANADI.split(",")
    furnish(data, city, LatLng(*map(float, middle)), STREETS[density], RECORDED_M[density])
    (data / "helsinki-http.yaml").write_text(DENSE_CITY, encoding="utf-8")
    with serve_city(city, ServeOptions(fine_types=density == "dense")) as server:
        yield server, ServedTown(density, name, data, server.url)


def furnish(folder: Path, city: City, middle: LatLng, street: str, recorded_m: float) -> None:
    """Write the files that agents need in a town: region, homes, and boxes of the detector.

    Args:
        folder: where.
        city: whose truth is told.
        middle: of the region and the homes.
        street: in which the homes are said to lie.
        recorded_m: from the middle, within which panoramas have boxes, if only of nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    corners = [destination(middle, heading, _REGION_M) for heading in (45.0, 135.0, 225.0, 315.0)]
    (folder / _REGION).write_text("".join(f"{one.lat}, {one.lng}\n" for one in corners))
    homes = [
        _home(number, destination(middle, 36.0 * number, 25.0 * number), street) for number in range(COUNT)
    ]
    (folder / _HOMES).write_text(json.dumps(homes))
    boxes = folder / "boxes.jsonl"
    looks = "first_look: 0.55\nsecond_look: 0.65\n"
    model = f"kind: recorded\nboxes: {boxes}\nmin_score: 0.0\n{looks}min_seen: 0.3\nmax_overlap: 0.5\n"
    (folder / _DETECTOR).write_text(model)
    write_boxes(boxes, _seen_from_everywhere(city, middle, recorded_m))


def _home(number: int, position: LatLng, street: str) -> dict[str, object]:
    """Return a home as RentCast lists it, by its number; every fourth lacks its rooms."""
    rooms = {} if number % 4 == 3 else {"bedrooms": number % 3, "bathrooms": 1}
    return {
        "id": f"home-{number}",
        "formattedAddress": f"{street} {2 * number + 1}",
        "latitude": position.lat,
        "longitude": position.lng,
        "propertyType": "Apartment",
        "squareFootage": 400 + 50 * number,
        "status": "Active",
        "price": 900 + 90 * number,
        **rooms,
    }


def _seen_from_everywhere(
    city: City, middle: LatLng, recorded_m: float
) -> Iterator[tuple[View, list[Detection]]]:
    """Yield (view, boxes in it) of the things around each panorama within `recorded_m`, or none."""
    assert city.truth  # noqa: S101 - who serves a town knows its truth
    assert city.street_map  # noqa: S101
    frame, nothing = LocalFrame(middle), np.zeros((1, 1, 3), np.uint8)
    things = [(thing, frame.point(thing.position)) for thing in city.truth.things(set(_THINGS))]
    for pano_id in city.street_map.panorama_ids():
        stood = frame.point(city.streetview.panorama(pano_id).position)
        if hypot(*stood) > recorded_m:
            continue
        yield View(pano_id, _CAMERA, nothing), []
        for thing, (x, y) in things:
            east, north = x - stood[0], y - stood[1]
            if 2.0 < hypot(east, north) <= _SEEN_M:
                yield _draw_thing(View(pano_id, _CAMERA, nothing), thing.kind, east, north)


def _draw_thing(view: View, kind: str, east: float, north: float) -> tuple[View, list[Detection]]:
    """Return a view aimed at a thing and the thing's box; `east` and `north` are metres from the camera."""
    far, (wide, high) = hypot(east, north), _THINGS[kind]
    low, top = (degrees(atan((up - _CAMERA_M) / far)) for up in (0.0, high))
    camera = Camera(degrees(atan2(east, north)), (low + top) / 2, 60.0)
    half_high = camera.focal * tan(radians((top - low) / 2))
    half_wide = camera.focal * wide / 2 / far
    middle = camera.width / 2
    box = (middle - half_wide, middle - half_high, middle + half_wide, middle + half_high)
    return replace(view, camera=camera), [Detection(kind, 0.9, box)]
