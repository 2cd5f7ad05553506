"""The ways that are told, and what truly lies beside them."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from virl.errors import BadInput, NoRoute
from virl.geo.globe import distance
from virl.platform.city.city import City, Truth
from virl.platform.city.interchange import held_street_map
from virl.platform.city.streetview import Camera, Pose
from virl.platform.movers.base import LinksMover
from virl.platform.perception.active import Look
from virl.routines.directions.walkway import Stand, walk_to
from virl.routines.preview.facts import Side, Track

from ..counting.trip import required_things

WAY_M = (200.0, 500.0)  # between its ends as the crow flies; chosen: some 300 to 700 m to walk
TRIES = 500
BESIDE_M = 15.0  # from the way: what is told has to name what is nearer; chosen before anything was measured
SIGN_PIXELS, SIGN_SEEN = 16.0, 0.5  # height of a sign's box, and its visible share, that can be read
SIDES: Mapping[Side, float] = {"left": -90.0, "right": 90.0}


@dataclass(frozen=True, slots=True)
class ToldWay:
    """A way between two panoramas, given by their ids."""

    id: str
    start: str
    end: str


def choose_ways(city: City, count: int, seed: int) -> list[ToldWay]:
    """Return up to `count` random ways between panoramas of a city, 200 to 500 m apart.

    Args:
        city: that lists its panoramas.
        count: number.
        seed: same seed, same ways.

    Raises:
        BadInput: the city is too small for such ways.
    """
    chance = random.Random(f"{city.name} {seed}")
    everywhere = list(held_street_map(city).panorama_ids())
    ways: list[ToldWay] = []
    for _ in range(TRIES):
        if len(ways) == count:
            return ways
        start, end = chance.sample(everywhere, 2)
        ends = [city.streetview.panorama(one).position for one in (start, end)]
        if WAY_M[0] <= distance(*ends) <= WAY_M[1] and stands_of(city, ToldWay("", start, end)):
            ways.append(ToldWay(f"way-{len(ways) + 1:02d}", start, end))
    if not ways:
        raise BadInput(f"{city.title} is too small for walks of {WAY_M[0]:g} m: choose another city")
    return ways


def stands_of(city: City, way: ToldWay) -> tuple[Stand, ...]:
    """Return the panoramas along a way, with the decision at each; empty if no links lead along it."""
    try:
        end = city.streetview.panorama(way.end)
        return walk_to(city.streetview, city.maps, LinksMover(city.streetview), Pose(way.start, 0.0), end)
    except NoRoute:
        return ()


@dataclass(frozen=True, slots=True)
class TrueWay:
    """The true crossings, benches and landmarks beside a way."""

    crossings: tuple[int, ...]
    """Indices of the marked crossings within `BESIDE_M` in `Truth.crossings`."""
    benches: frozenset[str]
    """Ids of the benches within `BESIDE_M` that should be seen."""
    landmarks: frozenset[str]
    """Ids of the places whose signs can be read from the way."""
    sides: Mapping[str, Side]
    """Side of the way on which each place's sign is seen best, readable or not, by the place's id."""


def true_way(truth: Truth, stands: Sequence[Stand], looks: Sequence[Look]) -> TrueWay:
    """Return what truly lies beside a way, from its panoramas and the looks around on it.

    Args:
        truth: of the city.
        stands: of the way.
        looks: around, with their views.
    """
    track = Track([stand.panorama.position for stand in stands])
    crossings = [
        number for number, at in enumerate(truth.crossings()) if abs(track.spot(at).off) <= BESIDE_M
        and distance(track.position(track.spot(at).along), at) <= BESIDE_M
    ]  # fmt: skip
    near = {
        thing.id
        for thing in truth.things({"bench"})
        if distance(track.position(track.spot(thing.position).along), thing.position) <= BESIDE_M
    }
    seen = {name for look in looks for name in required_things(truth, look, {"bench"})}
    best: dict[str, tuple[float, Side]] = {}
    readable: defaultdict[str, bool] = defaultdict(bool)
    for stand in stands:
        for side, turn in SIDES.items():
            camera = Camera((stand.pose.heading + turn) % 360.0, 0.0, 90.0)
            for sign in truth.visible(stand.panorama.id, camera, kinds={"sign"}):
                if sign.place_id is None or sign.on_directory:
                    continue
                high = sign.box[3] - sign.box[1]
                size = high * (sign.box[2] - sign.box[0])
                best[sign.place_id] = max(best.get(sign.place_id, (0.0, side)), (size, side))
                if high >= SIGN_PIXELS and sign.visible_fraction >= SIGN_SEEN and sign.distance <= BESIDE_M:
                    readable[sign.place_id] = True
    sides = {place: side for place, (_, side) in best.items()}
    return TrueWay(tuple(crossings), frozenset(near & seen), frozenset(readable), sides)
