"""The views that show a town best: chosen by a score from its plan, and spread over its districts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from random import Random

import numpy as np
import PIL.Image
import shapely

from virl.errors import NoImagery
from virl.geo.globe import Floats, LatLng, LocalFrame, compass_word
from virl.pages.pictures import jpeg_uri
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map, in_metres, streets_at
from virl.platform.city.inventory import Inventory
from virl.platform.city.streetview import Camera, Image, Panorama

# All chosen.
CANDIDATES = 80  # panoramas from which each view is chosen
NAMED_M = 60.0  # a view is of the nearest named street within this distance
APART_M = 25.0  # least distance between two views
WIDTH, HEIGHT, FOV, PITCH = 640, 480, 90.0, 4.0  # pixels and degrees
HERO_WIDTH, HERO_HEIGHT, HERO_FOV, HERO_PITCH = 1120, 420, 100.0, 5.0  # of the view at the head of a page
TURNED = 14.0  # degrees from the direction of the street, so that one of its sides is seen better
QUALITY = 82  # of JPEG
RAYS = np.arange(-45.0, 46.0, 7.5)  # degrees from the middle of a view at which distances are measured
SEEN_M, BESIDE_M, CLEAR_M, NEAR_M, BIG_M = 60.0, 25.0, 50.0, 4.0, 8.0
"""Metres: reach of rays; to a house beside; of open road; to a house or pole, a car or tree, in the way."""
SIGN_M, SIGNS = 30.0, 4  # metres to the farthest sign that counts, and the most that count
SIDES, OPEN, READ, LEAST = 0.25, 0.35, 0.3, 0.1  # weights of houses on both sides, open road and signs
BIG, POLES = ("parked car", "tree"), ("street lamp", "traffic light", "bus stop")
"""Kinds of things that hide what is behind them within `BIG_M`, and within `NEAR_M`."""
NAMELESS, BLOCKED = 0.4, 0.05  # factors on the score of a way without a name, and of a view that is blocked


@dataclass(frozen=True, slots=True)
class TownView:
    """A view of a town with its panorama, camera and street."""

    panorama: Panorama
    camera: Camera
    street: str
    """Name of the street; empty if it is unknown."""
    pixels: Image
    """Picture of the view."""
    score: float = 0.0
    """Score of what the view shows, [0, 1]; larger is better."""

    @property
    def data(self) -> str:
        """Picture of the view as a JPEG data URI."""
        return jpeg_uri(PIL.Image.fromarray(self.pixels), QUALITY)

    @property
    def title(self) -> str:
        """Street and compass direction of the view, such as "Oak Street, looking north"."""
        way = f"looking {compass_word(self.camera.heading)}"
        return f"{self.street}, {way}" if self.street else way.capitalize()


@dataclass(frozen=True, slots=True)
class _Sight:
    """A candidate for a view: its panorama, heading, street and score."""

    panorama: Panorama
    along: float
    """Direction of the street, degrees clockwise from north."""
    heading: float
    """Direction of the view, degrees clockwise from north."""
    street: str
    score: float = 1.0


def town_views(city: City, count: int, seed: int) -> list[TownView]:
    """Return at most `count` views spread over a city, from north to south; a seed always gives the same.

    Empty if the city has no pictures; a panorama whose own picture is missing is left out.

    Args:
        city: a city with a street map that is held whole.
        count: the number of panoramas to choose.
        seed: any non-negative integer.
    """
    chosen = _spread(city, _candidates(city, count, Random(seed)), count)
    drawn = []
    for one in sorted(chosen, key=lambda one: (-one.panorama.position.lat, one.panorama.position.lng)):
        camera = Camera(one.heading, PITCH, FOV, WIDTH, HEIGHT)
        try:
            pixels = city.streetview.view(one.panorama.id, camera).pixels
        except NoImagery:
            continue
        drawn.append(TownView(one.panorama, camera, one.street, pixels, one.score))
    return list(_with_own_titles(city, drawn))


def _with_own_titles(city: City, views: Sequence[TownView]) -> Iterator[TownView]:
    """Yield views, each with a title of its own: equal ones get the nearest other street, or a number."""
    titles, told = Counter(view.title for view in views), Counter[str]()
    for view in views:
        street = view.street
        if titles[view.title] > 1:
            others = [one for one in city.mapped_streets if one.name and one.name not in street]
            (other,) = streets_at([view.panorama.position], others, inf)
            link = " and " if street.startswith("Near ") else " near " if street else "Near "
            street += f"{link}{other.name}" if other else ""
        named = replace(view, street=street)
        told[named.title] += 1
        yield replace(named, street=f"{street} ({told[named.title]})") if told[named.title] > 1 else named


def wide_view(city: City, view: TownView) -> TownView:
    """Return a view as the wide one at the head of a page."""
    camera = Camera(view.camera.heading, HERO_PITCH, HERO_FOV, HERO_WIDTH, HERO_HEIGHT)
    return replace(view, camera=camera, pixels=city.streetview.view(view.panorama.id, camera).pixels)


def _candidates(city: City, count: int, rng: Random) -> list[_Sight]:
    """Return a random sample of a city's panoramas, each as its best sight along a street."""
    names = held_street_map(city).panorama_ids()
    drawn = rng.sample(names, min(len(names), count * CANDIDATES))
    panoramas = [city.streetview.panorama(name) for name in drawn]
    named = [street for street in city.mapped_streets if street.name]
    streets = streets_at([one.position for one in panoramas], named, NAMED_M)
    nearest = streets_at([one.position for one in panoramas], city.mapped_streets, NAMED_M)
    sights = []
    for panorama, street, way in zip(panoramas, streets, nearest, strict=True):
        usual = 1.0 if way and way.name else NAMELESS
        where = way.name if way and way.name else f"Near {street.name}" if street else ""
        for along in [link.heading for link in panorama.links] or [panorama.heading]:
            heading = along + rng.choice((-TURNED, TURNED))
            sights.append(_Sight(panorama, along, heading, where, usual))
    if city.inventory and sights:
        scores = _scores(city, city.inventory, sights)
        sights = [replace(one, score=one.score * score) for one, score in zip(sights, scores, strict=True)]
    best: dict[str, _Sight] = {}
    for one in sights:
        if one.panorama.id not in best or one.score > best[one.panorama.id].score:
            best[one.panorama.id] = one
    return list(best.values())


def _spread(city: City, sights: Sequence[_Sight], count: int) -> Iterator[_Sight]:
    """Yield at most `count` sights: each the best that is far from those before it, and from traffic."""
    if not sights or not count:
        return
    frame = LocalFrame(sights[0].panorama.position)
    where = in_metres(frame, [one.panorama.position for one in sights])
    scores, nearest = np.array([one.score for one in sights]), np.full(len(sights), np.inf)
    # The side of a square district, if the town had as many as views.
    district = float(np.sqrt(max(np.prod(np.ptp(where, axis=0)), 1.0) / count))
    left, asked = min(count, len(sights)), set[int]()
    while left and (free := (scores > 0) & (nearest >= APART_M)).any():
        best = int(np.argmax(np.where(free, scores**2 * np.minimum(nearest / district, 1.0), -1.0)))
        # Traffic is in no list of things, and is looked for only where it matters.
        if best not in asked and _is_car_near(city, sights[best]):
            asked.add(best)
            scores[best] *= BLOCKED
            continue
        yield sights[best]
        left -= 1
        nearest = np.minimum(nearest, np.hypot(*(where - where[best]).T))
        scores[best] = 0.0


def _is_car_near(city: City, sight: _Sight) -> bool:
    """Return whether a moving car stands in the way, also in the wide view."""
    camera = Camera(sight.heading, PITCH, HERO_FOV, WIDTH, HEIGHT)
    seen = city.truth.visible(sight.panorama.id, camera, kinds={"car"}) if city.truth else ()
    return any(car.distance < BIG_M for car in seen)


def _scores(city: City, inventory: Inventory, sights: Sequence[_Sight]) -> list[float]:
    """Return how much each sight shows, [0, 1], by the town's houses, signs and street furniture."""
    frame = LocalFrame(city.center)
    eyes = in_metres(frame, [one.panorama.position for one in sights])
    headings = np.array([one.heading for one in sights])
    houses = shapely.transform(
        np.array([house.outline for house in inventory.houses() if not house.base], object),
        lambda at: np.column_stack(frame.to_metres(at[:, 1], at[:, 0])),
    )
    turns = np.column_stack([headings[:, None] + RAYS, [one.along for one in sights]])
    free = _distances(eyes, turns, houses)
    view, ahead = free[:, :-1], free[:, -1]
    beside = view < BESIDE_M
    sides = (beside[:, :4].mean(axis=1) + beside[:, -4:].mean(axis=1)) / 2
    with_sign = inventory.ids_with_sign()
    signs = [place.position for place in inventory.places() if place.id in with_sign]
    seen = _count_near(eyes, headings, signs, frame, SIGN_M, view)
    blocked = view.min(axis=1) < NEAR_M
    for kinds, near in ((BIG, BIG_M), (POLES, NEAR_M)):
        things = [thing.position for thing in city.truth.things(kinds)] if city.truth else []
        blocked |= _count_near(eyes, headings, things, frame, near) > 0
    read = np.minimum(seen, SIGNS) / SIGNS
    # A road that is open counts between houses: elsewhere all is open.
    score = LEAST + sides * (SIDES + OPEN * np.minimum(ahead / CLEAR_M, 1.0)) + READ * read
    found: list[float] = np.where(blocked, BLOCKED * score, score).tolist()
    return found


def _distances(eyes: Floats, turns: Floats, houses: np.ndarray) -> Floats:
    """Return the metres, at most `SEEN_M`, from each eye to the first house at each of `turns`, degrees."""
    east, north = np.sin(np.radians(turns)), np.cos(np.radians(turns))
    starts = np.repeat(eyes[:, None], turns.shape[1], axis=1).reshape(-1, 2)
    ways = np.stack([east, north], axis=-1).reshape(-1, 2) * SEEN_M
    rays = np.asarray(shapely.linestrings(np.stack([starts, starts + ways], axis=1)))
    free = np.full(len(rays), SEEN_M)
    ray, house = shapely.STRtree(houses).query(rays, predicate="intersects")
    met = shapely.intersection(rays[ray], houses[house])
    np.minimum.at(free, ray, shapely.distance(shapely.points(starts[ray]), met))
    return free.reshape(turns.shape)


def _count_near(
    eyes: Floats,
    headings: Floats,
    places: Sequence[LatLng],
    frame: LocalFrame,
    most: float,
    free: Floats | None = None,
) -> Floats:
    """Return the number of places in each view within some metres, and before the houses if `free` is given.

    Args:
        eyes: metres east and north of each eye, shape (n, 2).
        headings: direction of each view, degrees clockwise from north.
        places: positions of the places.
        frame: the frame of the metres.
        most: metres to the farthest place that counts.
        free: metres from each eye to the first house at each of `RAYS`.
    """
    counts = np.zeros(len(eyes))
    if not places:
        return counts
    points = in_metres(frame, places)
    tree = shapely.STRtree(np.asarray(shapely.points(points)))
    eye, point = tree.query(shapely.points(eyes), predicate="dwithin", distance=most)
    away = points[point] - eyes[eye]
    turn = (np.degrees(np.arctan2(away[:, 0], away[:, 1])) - headings[eye] + 180.0) % 360.0 - 180.0
    # What is in the way of the wide view counts too.
    is_seen = np.abs(turn) <= (HERO_FOV if free is None else FOV) / 2
    if free is not None:
        ray = np.abs(turn[:, None] - RAYS).argmin(axis=1)
        is_seen &= np.hypot(*away.T) < free[eye, ray] + NEAR_M
    np.add.at(counts, eye[is_seen], 1.0)
    return counts
