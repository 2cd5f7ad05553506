"""What a step costs with each mover: requests, dollars and seconds, and which true links it finds.

    python -m benchmarks.perf.movers [--city virlton] [--steps 400] [--latency-ms 80] [--seed 0]
        [--price tiles_pano_ids=2.0] [--web] [--json]

All movers take the same walk: from a few random panoramas on at random, back only where it must. Their street
view answers from a made city, and counts what the Google provider would ask in its place. `nearest` is one
free Static metadata request; `nearest_many` one for panorama ids per hundred positions, and the metadata of
what it finds; a panorama's metadata is one free request for itself and one for each neighbour, each of them
once in a walk. `paper` is V-IRL's grid: one request for each heading and radius that no link found before
covers, nothing remembered.

Seconds are the latency of all requests, one after another, and the time to compute; nothing really waits.
Prices are those of `platform/providers/google.yaml`, dollars per 1000, and can be given with `--price`. With
`--web` the page is loaded from the host in `VIRL_GOOGLE_BASE_URL`; its browser is billed once, for a panorama
object (14 dollars per 1000, Google's Dynamic Street View, also in `--price` as `maps_js`), and asks for the
metadata of each panorama it shows.
"""

import argparse
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from math import ceil

import numpy as np
from rich.table import Table

from virl.errors import BadInput, NoImagery
from virl.geo import globe
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map
from virl.platform.city.streetview import Camera, Link, Panorama, Pose, StreetView, View
from virl.platform.movers.base import LinksMover, Mover
from virl.platform.movers.grid import Rings
from virl.platform.movers.open_mover import open_mover
from virl.platform.providers.cities import open_city
from virl.platform.providers.google.settings import load_google_settings

from .figures import command, figure_table, figures

PAGE_USD_PER_1000 = 14.0  # Dynamic Street View: "each instantiation of a panorama object"; read 2026-11
BATCH = 100  # positions in one request for panorama ids
WALKS = 4

Walk = list[tuple[Pose, str]]
"""(pose, id of the panorama that the walk goes to from there) of each step."""


class CountingStreetView:
    """A street view that counts the requests it would send to Google, one position a request."""

    def __init__(self, streetview: StreetView) -> None:
        """Count the requests for answers of `streetview`, from 0."""
        self.requests: Counter[str] = Counter()
        """Number of requests by endpoint."""
        self._streetview = streetview
        self._met: set[str] = set()

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the nearest panorama within `radius` metres; counts one request."""
        self.requests["static_metadata"] += 1
        return self._streetview.nearest(position, radius)

    def panorama(self, pano_id: str) -> Panorama:
        """Return a panorama; counts the metadata not asked for before."""
        return self._meet(self._streetview.panorama(pano_id))

    def view(self, pano_id: str, camera: Camera) -> View:
        """Raise NoImagery: no mover looks at views.

        Raises:
            NoImagery: always.
        """
        raise NoImagery(f"{pano_id}: requests of movers are counted here, no view is drawn ({camera})")

    def _meet(self, panorama: Panorama) -> Panorama:
        """Return the panorama; counts requests for it and its neighbours not asked for before."""
        asked = {panorama.id, *(link.pano_id for link in panorama.links)} - self._met
        self.requests["tiles_metadata"] += len(asked)
        self._met |= asked
        return panorama


class CountingBatchStreetView(CountingStreetView):
    """A `CountingStreetView` that also finds panoramas for many positions in one request."""

    def nearest_many(self, positions: Sequence[LatLng], radius: float = 50.0) -> list[Panorama | None]:
        """Return the panorama nearest to each position, within `radius` metres; count the requests."""
        self.requests["tiles_pano_ids"] += ceil(len(positions) / BATCH)
        found = [self._streetview.nearest(position, radius) for position in positions]
        return [self._meet(panorama) if panorama else None for panorama in found]


@dataclass(frozen=True, slots=True)
class PaperGrid:
    """A mover by V-IRL's published grid, but for its faults at north; it forgets all at every step."""

    streetview: StreetView
    rings: Rings = field(default_factory=Rings)

    def links(self, pose: Pose) -> tuple[Link, ...]:
        """Return the links that leave a pose, sorted by heading, as V-IRL's grid finds them."""
        here = self.streetview.panorama(pose.pano_id)
        found: dict[str, Link] = {}
        for heading, ray in self.rings.rays(here.position):
            for position in ray:
                if self._covers(heading, found):
                    break
                there = self.streetview.nearest(position)
                if there is None or there.id in {here.id, *found}:
                    continue
                bearing = globe.bearing(here.position, there.position)
                if not self._covers(bearing, found):
                    found[there.id] = Link(there.id, bearing, globe.distance(here.position, there.position))
        return tuple(sorted(found.values(), key=lambda link: link.heading))

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose at the other end of a link; raise BadInput if it leads nowhere."""
        here = self.streetview.panorama(pose.pano_id)
        if here.id == link.pano_id:
            raise BadInput(f"no link to {link.pano_id!r} leaves panorama {pose.pano_id!r}")
        return Pose(link.pano_id, link.heading)

    def _covers(self, heading: float, found: Mapping[str, Link]) -> bool:
        """Return whether a link found already leads about in this heading, degrees."""
        turns = (abs(globe.signed_turn(heading, link.heading)) for link in found.values())
        return any(turn <= self.rings.heading_range for turn in turns)


@dataclass(frozen=True, slots=True)
class MoverResult:
    """The requests, dollars and seconds of one mover on the walk, and how well it finds the true links."""

    mover: str
    steps: int
    requests: dict[str, int]
    requests_a_step: float
    usd_per_1000_steps: float
    precision: float
    recall: float
    seconds_a_step: float


def main() -> None:
    """Measure each mover on the same walk, and print the table."""
    options = _parse_options()
    city = open_city(options.city)
    walk = random_walk(city, options.steps, options.seed)
    prices = google_prices() | dict(options.price)
    results = [
        measure(name, city.streetview, walk, prices, options.latency_ms / 1000)
        for name in (
            "paper",
            "links",
            "hybrid",
            "grid, one by one",
            "grid",
            *(["web"] if options.web else []),
        )
    ]
    with figures(options) as found:
        found |= {"city": options.city, "seed": options.seed, "latency_ms": options.latency_ms}
        found |= {"usd_per_1000": prices, "movers": [asdict(result) for result in results]}
        found.show(_movers_table(results, options))


def google_prices() -> dict[str, float]:
    """Return the dollars per 1000 requests by endpoint, as `platform/providers/google.yaml` states them."""
    settings = load_google_settings()
    endpoints = ("static_metadata", "tiles_pano_ids", "tiles_metadata")
    prices = {name: settings.skus[settings.endpoint(name).sku].micro_usd / 1000 for name in endpoints}
    return {**prices, "maps_js": PAGE_USD_PER_1000, "page_metadata": 0.0}


def random_walk(city: City, steps: int, seed: int) -> Walk:
    """Return a random walk of `steps` along the true links, back only in dead ends.

    Args:
        city: that lists its panoramas.
        steps: number.
        seed: same seed, same walk.

    Raises:
        BadInput: the city does not know all its panoramas.
    """
    rng = np.random.default_rng(seed)
    ids = held_street_map(city).panorama_ids()
    truth = LinksMover(city.streetview)
    walk: Walk = []
    for _ in range(WALKS):
        pose, before = Pose(ids[int(rng.integers(len(ids)))], 0.0), ""
        for _ in range(steps // WALKS):
            links = truth.links(pose)
            onward = [link for link in links if link.pano_id != before] or links
            link = onward[int(rng.integers(len(onward)))]
            walk.append((pose, link.pano_id))
            pose, before = truth.take(pose, link), pose.pano_id
    return walk


def measure(
    name: str, streetview: StreetView, walk: Walk, prices: Mapping[str, float], latency: float
) -> MoverResult:
    """Return the costs and finds of the mover with this name along a walk.

    Args:
        name: of the mover, `"paper"`, or `"grid, one by one"` for a street view that takes no batches.
        streetview: where, with all true links.
        walk: the poses.
        prices: dollars per 1000 requests, by endpoint.
        latency: seconds of a request.
    """
    counting = CountingBatchStreetView(streetview) if name == "grid" else CountingStreetView(streetview)
    found: dict[str, set[str]] = {}
    began = time.perf_counter()
    with ExitStack() as opened:
        mover: Mover = (
            PaperGrid(counting)
            if name == "paper"
            else opened.enter_context(open_mover(name.partition(",")[0], counting))
        )
        for pose, goal in walk:
            links = mover.links(pose)
            found[pose.pano_id] = {link.pano_id for link in links}
            for link in links:
                if link.pano_id == goal:
                    mover.take(pose, link)
    seconds = time.perf_counter() - began
    if name == "web":
        counting.requests += Counter(maps_js=1, page_metadata=len(found))
    requests = +counting.requests
    precision, recall = against_truth(streetview, found)
    return MoverResult(
        mover=name,
        steps=len(walk),
        requests=dict(requests),
        requests_a_step=requests.total() / len(walk),
        usd_per_1000_steps=sum(prices[one] * times for one, times in requests.items()) / len(walk),
        precision=precision,
        recall=recall,
        seconds_a_step=(seconds + latency * requests.total()) / len(walk),
    )


def against_truth(streetview: StreetView, found: Mapping[str, set[str]]) -> tuple[float, float]:
    """Return (precision, recall) of the links found, over all panoramas of the walk."""
    true = {pano_id: {link.pano_id for link in streetview.panorama(pano_id).links} for pano_id in found}
    hits = sum(len(found[pano_id] & true[pano_id]) for pano_id in found)
    return hits / sum(map(len, found.values())), hits / sum(map(len, true.values()))


def _movers_table(results: Sequence[MoverResult], options: argparse.Namespace) -> Table:
    """Return the table of all movers' results."""
    title = f"{results[0].steps} steps in {options.city}, {options.latency_ms:g} ms a request"
    columns = ("requests a step", "$ per 1000 steps", "precision", "recall", "seconds a step")
    table = figure_table("mover", *columns, title=title)
    for result in results:
        table.add_row(
            result.mover,
            f"{result.requests_a_step:.2f}",
            f"{result.usd_per_1000_steps:.2f}",
            f"{result.precision:.3f}",
            f"{result.recall:.3f}",
            f"{result.seconds_a_step:.3f}",
        )
    return table


def _parse_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = command(__doc__)
    parser.add_argument("--city", default="virlton")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=80.0)
    parser.add_argument(
        "--price", type=_parse_price, action="append", default=[], metavar="ENDPOINT=USD_PER_1000"
    )
    parser.add_argument("--web", action="store_true")
    return parser.parse_args()


def _parse_price(text: str) -> tuple[str, float]:
    """Return (endpoint, dollars per 1000 requests) of a text ENDPOINT=USD_PER_1000."""
    endpoint, _, usd = text.partition("=")
    return endpoint, float(usd)


if __name__ == "__main__":
    main()
