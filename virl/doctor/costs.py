"""The cost of a step, of a run of Hiro and of a district of place localization, found without a request.

The provider's own client is given a ledger that lets nothing through: the request that it was about to send,
field mask and all, is named and priced by what stops it.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np

from virl.agent.character_file import find_character, load_character
from virl.errors import BadInput, VirlError
from virl.geo.globe import LatLng
from virl.journal.journal import read_journal
from virl.journal.records import StepRecord
from virl.money.book import Price, Service
from virl.money.ledger import Hold, Ledger
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.perception.cameras import CLOSEST_FOV, ROAD_FOV, sweep_cameras
from virl.platform.providers.cities import all_cities
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.city_file import GoogleOptions, Imagery
from virl.platform.providers.google.client import Call, GoogleHttp, price_of
from virl.platform.providers.google.settings import GoogleSettings, Keys
from virl.platform.providers.google.tiles import Capture
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.pictures.projection import PAD, rays_of, sampled_tiles
from virl.routines.explore.settings import LOOK_FOV, LOOK_RANGE, MATCH_RADIUS_M


@dataclass(frozen=True, slots=True)
class Habits:
    """Counts, over some runs, of what an agent like Hiro does that costs money."""

    source: str
    """Words on which runs were counted, such as "15 runs in Virlton"."""
    runs: int
    steps: int
    """Number of panoramas at which the agent looked around, the first of each run included."""
    closer: int
    """Number of closer looks at something found."""
    crossings: int
    """Number of panoramas at which the agent looked down roads."""
    roads: int
    """Number of looks down a road."""
    nearby: int
    """Number of panoramas at which something was found, so that nearby places were asked for."""
    details: int
    """Number of places whose details were read."""

    def a_step(self, count: int) -> float:
        """Return `count` divided by the number of steps."""
        return count / self.steps


MEASURED = Habits(
    "15 runs in Virlton", runs=15, steps=274, closer=28, crossings=44, roads=108, nearby=37, details=25
)
"""Hiro's counts of what costs money, in 15 runs in Virlton.

Measured with rules and the sign detector, at most 60 moves, from the first 15 starts that
`benchmarks.exploration` draws with seed 0. Real streets and other detectors differ: `--runs` counts those."""


def count_runs(folders: Iterable[Path]) -> Habits:
    """Return counts of what costs money in the runs at or below `folders`, of an agent that walks as Hiro.

    Raises:
        BadInput: there are no runs, or none that kept its views.
        JournalBroken: a journal cannot be read.
    """
    given = list(folders)
    journals = sorted({path for folder in given for path in folder.rglob("journal.jsonl")})
    steps = [record for path in journals for record in read_journal(path) if isinstance(record, StepRecord)]
    names = ", ".join(map(str, given))
    if not any(step.views for step in steps):
        raise BadInput(f"{names}: no steps with views: give folders of runs with their views")
    looks = [[view.purpose for view in step.views] for step in steps]
    return Habits(
        source=f"{len(journals)} runs in {names}",
        runs=len(journals),
        steps=len(steps),
        closer=sum(purposes.count("closer") for purposes in looks),
        crossings=sum("road" in purposes for purposes in looks),
        roads=sum(purposes.count("road") for purposes in looks),
        nearby=sum(any(view.detections for view in step.views if view.purpose == "look") for step in steps),
        details=sum(len(step.places) for step in steps),
    )


_SOMEWHERE = LatLng(0.0, 0.0)
_ZOOM = GoogleOptions().zoom
_GOOGLES = Capture.model_validate(
    {"panoId": "any", "lat": 0, "lng": 0, "imageWidth": 13312, "imageHeight": 6656, "tileWidth": 512}
)
"""Made-up metadata of a Google panorama of 13,312 x 6,656 pixels, by which the tiles of views are found."""


@dataclass(frozen=True, slots=True)
class Item:
    """The requests of one kind that a unit of work sends: their endpoint, number and price."""

    what: str
    endpoint: str
    """Name of the endpoint in `platform/providers/google.yaml`."""
    count: float
    usd: float
    """List price of one request, in dollars."""
    source: str
    """Words on the source of the count."""

    def times(self, count: float) -> "Item":
        """Return the item with its count multiplied by `count`."""
        return replace(self, count=self.count * count)


class PriceTags:
    """A price list for what is done in a city of Google's, found without sending a request.

    Raises:
        ProviderError: `api: legacy` lacks its client library.
    """

    def __init__(self, settings: GoogleSettings, http: GoogleHttp) -> None:
        """Take prices from `settings`; `http` has a ledger that stops each request with its price."""
        self._settings = settings
        self._city = open_google("", "", _SOMEWHERE, http=http)

    def first_request(self, what: str, ask: Callable[[City], object], count: float, source: str) -> Item:
        """Return the first request that `ask` would send in a city, priced, `count` times, as item `what`.

        Args:
            what: of the item, in words.
            ask: makes the request.
            count: how often it is made.
            source: of the count.

        Raises:
            AssertionError: nothing was asked.
        """
        try:
            ask(self._city)
        except _Stopped as stopped:
            return Item(what, stopped.endpoint, count, stopped.usd, source)
        raise AssertionError(f"{what}: nothing was asked")

    def requests(self, what: str, endpoint: str, count: float, source: str) -> Item:
        """Return `count` requests to an endpoint of fixed price as item `what`; `source` says who counted.

        Args:
            what: of the item, in words.
            endpoint: of `google.yaml`.
            count: how often it is made.
            source: of the count.
        """
        return Item(what, endpoint, count, price_of(self._settings, Call(endpoint)).usd, source)


HIRO = "hiro"
ESTIMATED = frozenset({("google", "explore")})
"""Set of (provider, routine) of the runs whose cost can be estimated."""
SPACING_M = 20.0  # V-IRL's grid of a district
LOCALIZATION_FOVS = (60.0, 90.0, 120.0)  # degrees; all around with each (V-IRL's place localization)
LOCALIZATION_PITCH = 10.0  # degrees (V-IRL's place localization)
LOCALIZATION_RADIUS_M = 25.0  # in which places count (V-IRL's place localization)
SIDE_ROADS = (-90.0, 0.0, 90.0)  # degrees from straight ahead, for the tiles of a crossing; chosen
_RAYS = 160
"""Number of rays cast along each side of a view to find its tiles. Chosen: 640 rays would find no more."""
_GRID = f"upper bound: every position of the {SPACING_M:g} m grid has a panorama and a place"
_TILES = f"tiles touched at zoom {_ZOOM}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated cost of one unit of work, such as a run, with the requests it is made of."""

    unit: str
    imagery: Imagery
    items: tuple[Item, ...]
    usd: float
    """List price in dollars; Google's free monthly events are not taken off."""
    is_small: bool = False
    """True if the unit is a part of others, such as a step of a run."""
    is_run: bool = False
    """True if the unit is a whole run of an agent."""


@dataclass(frozen=True, slots=True)
class District:
    """A district of a city, with its size for the benchmark of place localization."""

    title: str
    positions: int
    """Number of positions in the district's grid."""


def estimates(settings: GoogleSettings, habits: Habits, moves: int | None = None) -> list[Estimate]:
    """Return costs of a step, a run (`moves=None`: Hiro's limit) and place localization in two districts.

    Args:
        settings: prices, and which generation of the APIs is asked.
        habits: how often Hiro does what costs something.
        moves: of the run; by default as many as his character allows.

    Raises:
        BadInput: Hiro's files or those of the cities are broken.
        ProviderError: `api: legacy` lacks its client library.
    """
    with closing(GoogleHttp(settings, Keys("unused"), Keeping(ledger=_NothingPasses()))) as http:
        return _estimates(PriceTags(settings, http), habits, moves)


def _estimates(tags: PriceTags, habits: Habits, moves: int | None) -> list[Estimate]:
    """Return the estimates by the prices of `tags`, for a run of `moves` moves; `None` is Hiro's limit."""
    character = load_character(find_character(HIRO))
    moves = character.limits.steps if moves is None else moves
    districts = smallest_and_largest()
    found: list[Estimate] = []
    start = "agents/hiro.yaml: an address"
    for imagery in get_args(Imagery):
        step = _price_step(tags, imagery, habits)
        address = tags.first_request(
            "address of the start", lambda city: city.maps.geocode("1 Main Street"), 1, start
        )
        moved = tags.first_request("relocation", lambda city: city.streetview.nearest(_SOMEWHERE), 1, start)
        # one more step than moves, as he looks around at the start, too
        run = [address, moved, *(item.times(moves + 1) for item in step)]
        found.append(_estimate(f"one step of {character.name}", imagery, step, is_small=True))
        found.append(_estimate(f"one run of {character.name}, {moves} moves", imagery, run, is_run=True))
        position = _price_position(tags, imagery)
        found.append(_estimate("one position of place localization", imagery, position, is_small=True))
        for district in districts:
            unit = f"{district.title}, {district.positions} positions: place localization"
            found.append(_estimate(unit, imagery, [item.times(district.positions) for item in position]))
    return found


def smallest_and_largest() -> tuple[District, District]:
    """Return the districts of `platform/cities` with the fewest and with the most positions.

    Raises:
        BadInput: a file is broken, or there is no district.
    """
    districts = [
        District(city.title, len(city.region.grid(SPACING_M)))
        for city in all_cities().values()
        if city.region and city.continent
    ]
    if not districts:
        raise BadInput("platform/cities contains no real city: restore its files")
    districts.sort(key=lambda district: district.positions)
    return districts[0], districts[-1]


def _look_around_cameras() -> list[Camera]:
    """Return the cameras of a look around, as Hiro looks."""
    return sweep_cameras(0.0, LOOK_RANGE, LOOK_FOV)


def _price_step(tags: PriceTags, imagery: Imagery, habits: Habits) -> list[Item]:
    """Return the priced requests of one step of a run, counted by the agent's habits."""
    counted = f"counted: {habits.source}"
    nearby, details = habits.a_step(habits.nearby), habits.a_step(habits.details)
    return [
        tags.requests("metadata", "tiles_metadata", 1, "docs/reference/google.md: one new panorama a step"),
        *_price_looks(tags, imagery, habits),
        tags.first_request(
            "places nearby", lambda city: city.places.nearby(_SOMEWHERE, MATCH_RADIUS_M), nearby, counted
        ),
        tags.first_request("details of a place", lambda city: city.places.details("id"), details, counted),
    ]


def _price_looks(tags: PriceTags, imagery: Imagery, habits: Habits) -> list[Item]:
    """Return the priced requests for a step's views: static pictures, or tiles of the panorama."""
    constants = "virl/routines/explore/settings.py: LOOK_RANGE, LOOK_FOV"
    counted = f"counted: {habits.source}"
    if imagery == "static":
        return [
            tags.requests("views around", "static_image", len(_look_around_cameras()), constants),
            tags.requests("closer looks", "static_image", habits.a_step(habits.closer), counted),
            tags.requests("looks down roads", "static_image", habits.a_step(habits.roads), counted),
        ]
    around = tiles_of([*_look_around_cameras(), Camera(0.0, fov=CLOSEST_FOV)])
    roads = tiles_of([Camera(heading, fov=ROAD_FOV) for heading in SIDE_ROADS])
    further = habits.a_step(habits.crossings) * len(roads - around)
    return [
        tags.requests("tiles around, closer looks too", "tiles_tile", len(around), f"{constants}; {_TILES}"),
        tags.requests("further tiles of roads", "tiles_tile", further, f"{counted}; {_TILES}"),
    ]


def _price_position(tags: PriceTags, imagery: Imagery) -> list[Item]:
    """Return the priced requests of place localization at one position."""
    cameras = localization_cameras()
    views = f"V-IRL: fov {', '.join(f'{fov:g}' for fov in LOCALIZATION_FOVS)} all around"
    if imagery == "static":
        looking = tags.requests("views", "static_image", len(cameras), views)
    else:
        looking = tags.requests("tiles of views", "tiles_tile", len(tiles_of(cameras)), f"{views}; {_TILES}")
    return [
        tags.first_request("relocations", lambda city: city.streetview.nearest(_SOMEWHERE), 1, _GRID),
        tags.requests("metadata", "tiles_metadata", 1, _GRID),
        looking,
        tags.first_request(
            "places nearby", lambda city: city.places.nearby(_SOMEWHERE, LOCALIZATION_RADIUS_M), 1, _GRID
        ),
    ]


def localization_cameras() -> list[Camera]:
    """Return the cameras of all views that place localization takes at one position."""
    return [
        camera
        for fov in LOCALIZATION_FOVS
        for camera in sweep_cameras(None, fov=fov, pitch=LOCALIZATION_PITCH)
    ]


def _estimate(
    unit: str, imagery: Imagery, items: Sequence[Item], *, is_small: bool = False, is_run: bool = False
) -> Estimate:
    """Return the estimate of a unit of work: its requests, and their price in dollars together."""
    usd = sum(item.count * item.usd for item in items)
    return Estimate(unit, imagery, tuple(items), round(usd, 6), is_small, is_run)


class _Stopped(VirlError):
    """The error that stops a request before it is sent, with the request's endpoint and price."""

    def __init__(self, endpoint: str, usd: float) -> None:
        """Name the stopped request's endpoint and its price, `usd` dollars."""
        super().__init__(f"{endpoint} would cost ${usd:.4f}")
        self.endpoint = endpoint
        self.usd = usd


class _NothingPasses(Ledger):
    """A ledger that stops every request, free ones too, to learn its price."""

    def hold(
        self, price: Price, request: str, service: Service = "provider", *, input_tokens: int = 0
    ) -> Hold:
        """Raise `_Stopped` with the endpoint and price of the request."""
        del service, input_tokens
        raise _Stopped(request, price.usd)


def tiles_of(cameras: Iterable[Camera], zoom: int = _ZOOM) -> set[tuple[int, int]]:
    """Return (column, row) of the tiles of a Google panorama that the cameras' views touch, at a zoom."""
    return {tile for camera in cameras for tile in _tiles_of_one(camera, zoom)}


@cache
def _tiles_of_one(camera: Camera, zoom: int) -> frozenset[tuple[int, int]]:
    """Return (column, row) of the tiles of a Google panorama that one camera's view touches."""
    width, height = _GOOGLES.size(zoom)
    right, up, forward = rays_of(replace(camera, width=_RAYS, height=_RAYS), _GOOGLES.attitude)
    columns = (np.arctan2(right, forward) / (2 * np.pi) + 0.5) * width - 0.5
    rows = (0.5 - np.arctan2(up, np.hypot(right, forward)) / np.pi) * height - 0.5 + PAD
    return frozenset(sampled_tiles(columns, rows, width, height, _GOOGLES.tile))
