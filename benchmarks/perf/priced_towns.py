"""The two towns in which agents are priced, and what each agent is asked there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from virl.doctor.measured import Density
from virl.geo import LatLng
from virl.platform.providers.cities import open_city
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import served
from virl.serve.loopback import ServedCity

from .furnishing import DETECTOR, HOMES, REGION, furnish

TOWNS: dict[Density, str] = {
    "thin": "Virlton, a made town: about 20 places within 90 m",
    "dense": "the middle of Helsinki from OpenStreetMap, with invented reviews and fine types",
}
_DETECTS = ("--detector", f"DATA/{DETECTOR}")
_COUNTS = (*_DETECTS, "--set", "count.things=[trash bin, bench]")
_SURVEYS = (*_COUNTS, "--set", f"region=DATA/{REGION}")
_LETS = ("--set", f"rent.listings=DATA/{HOMES}")
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
"""What agents are asked that their files do not say, as `virl run` takes it."""
CENTERS = {"thin": (41.2508, -38.7570), "dense": (60.1690, 24.9425)}
RECORDED_M = {"thin": 2000.0, "dense": 800.0}
STREETS = {"thin": "Station Street", "dense": "Pohjoisesplanadi"}
DENSE_START = "60.1690,24.9425"
ESPLANADI = "60.1676,24.9478"
"""Where those start in Helsinki who count, rent, run errands or use tools: 40 benches are within 200 m."""
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
    """A town behind Google's formats, with what agents need there."""

    density: Density
    served: str
    """The city itself, as `--city` takes it."""
    data: Path
    """The folder of `furnish`."""
    url: str

    @property
    def city(self) -> str:
        """The city over HTTP, as `--city` takes it."""
        return "virlton-http" if self.density == "thin" else str(self.data / "helsinki-http.yaml")

    @property
    def environment(self) -> dict[str, str]:
        """What the environment has to say, but for the cache."""
        return {"GOOGLE_MAPS_API_KEY": "any-key-of-a-measurement", "VIRL_GOOGLE_BASE_URL": self.url}

    def run(self, agent: str, out: Path, city: str = "") -> list[str]:
        """What `virl` is asked for a run of an agent, over HTTP unless a city is named."""
        start = ["--at", STARTS.get(agent, DENSE_START)] if self.density == "dense" else []
        more = [part.replace("DATA", str(self.data)) for part in MORE[self.density].get(agent, ())]
        return ["run", agent, "--city", city or self.city, *start, *more, "--out", str(out)]


@contextmanager
def served_town(density: Density, extract: str, data: Path) -> Iterator[tuple[ServedCity, ServedTown]]:
    """Serve a town, and write what agents need there into a folder."""
    name = "virlton" if density == "thin" else f"{extract}@invented"
    city = open_city(name)
    middle = CENTERS["thin"] if density == "thin" else ESPLANADI.split(",")
    furnish(data, city, LatLng(*map(float, middle)), STREETS[density], RECORDED_M[density])
    (data / "helsinki-http.yaml").write_text(DENSE_CITY, encoding="utf-8")
    with served(city, ServeOptions(fine_types=density == "dense")) as server:
        yield server, ServedTown(density, name, data, server.url)
