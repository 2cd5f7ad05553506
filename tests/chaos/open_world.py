"""A city of open services that count what they are asked: Panoramax, Overpass, Nominatim and OSRM."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from chaos.world import HERE, REPOSITORY
from servers.options import MapServeOptions, UploadOptions
from servers.town import served_open

from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import open_city
from virl.serve.city_server import ServedCity
from virl.serve.faults import Faults

TOWN = "virlbury"
"""A town on which no rule of the provider was tuned."""
UPLOADS = UploadOptions(seed=5, width=512, deleted=0.05)
FAULTS = Faults({"429": 0.12, "500": 0.08, "503": 0.08, "half": 0.08, "garbage": 0.06})
"""Two of five replies."""


@dataclass(frozen=True)
class OpenWorld:
    """Servers, and the file of a city that asks them."""

    city_file: Path
    servers: tuple[ServedCity, ...]

    def environment(self, home: Path) -> dict[str, str]:
        """Of a process with data and a cache of its own."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("VIRL_")}
        return kept | {
            "VIRL_DATA": str(home / "data"),
            "VIRL_CACHE": str(home / "cache"),
            "PYTHONPATH": os.pathsep.join((str(HERE / "inject"), str(REPOSITORY))),
            "OMP_NUM_THREADS": "1",
        }

    def counted(self, what: str) -> Counter[str]:
        """A count of all servers since the last reset, such as `repeated`; see `Stats.snapshot`."""
        return sum((Counter(server.stats()[what]) for server in self.servers), Counter[str]())

    def reset(self) -> None:
        """Forget all counts."""
        for server in self.servers:
            server.reset()


@contextmanager
def opened_open_world(
    home: Path,
    uploads: UploadOptions = UPLOADS,
    maps: MapServeOptions | None = None,
    town: City | None = None,
) -> Iterator[OpenWorld]:
    """Serve a town as four services.

    Args:
        home: the folder of the city's file.
        uploads: how the server of pictures behaves.
        maps: how the others behave.
        town: what is served; by default `TOWN`.
    """
    city = town or open_city(TOWN)
    if city.street_map:  # the first picture takes longer than those that follow
        city.streetview.view(city.street_map.panorama_ids()[0], Camera(0.0))
    told = {"title": "Open", "about": "Served here", "provider": "open", "places": "overpass", "maps": "osrm"}
    told["center"] = f"[{city.center.lat}, {city.center.lng}]"
    with served_open(city, TOWN, uploads, maps or MapServeOptions()) as served:
        file = home / "open.yaml"
        file.write_text("".join(f"{field}: {value}\n" for field, value in (told | served.fields).items()))
        yield OpenWorld(file, tuple(served.servers.values()))


def faulty(seed: int) -> tuple[UploadOptions, MapServeOptions]:
    """Options of servers that fail often: the same pictures and places, other faults for each seed."""
    uploads = replace(UPLOADS, faults=FAULTS, expired=0.3, retry_after_s=0)
    return uploads, MapServeOptions(seed=seed, faults=FAULTS, retry_after_s=0, remark=0.05)
