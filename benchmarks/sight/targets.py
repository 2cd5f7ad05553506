"""Targets of searches: places told by name, by what stands beside them, by a picture, or as a wish."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
from pydantic import Field

from virl.geo.globe import bearing, distances
from virl.mind.lexicon import words_of
from virl.platform.city.city import City, Visible
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.place_types import types_marked
from virl.platform.city.places import Moment, Place
from virl.platform.city.streetview import Camera
from virl.settings.model import Settings, load_settings

Among = Literal["landmarks", "all"]
Kind = Literal["name", "looks", "picture", "wish", "address"]

REACHED_M = 50.0
"""Metres within which a target in sight is reached, as CitySeeker (arXiv 2512.16755) links places."""
IN_SIGHT = 0.5
"""Least share of a sign that has to be seen, as for the detectors' truth."""
LEAST_PX = 8.0
"""Least height of a sign, pixels, in a view of 640 pixels and 90 degrees. Chosen: letters can be read."""
BESIDE_M = 15.0
"""Metres within which two places stand beside each other. Chosen: a shop front is 6 to 12 m wide."""
ALL_M = 5000.0
_VAGUE = frozenset({"store", "food", "health", "point_of_interest", "establishment", "finance"})

Neighbours = dict[str, list[str]]


class Wish(Settings):
    """A wish that names no place, with the types of places that fulfil it."""

    told: str = Field(min_length=1)
    kinds: tuple[str, ...] = Field(min_length=1)
    """Types of places that fulfil the wish, as its author chose them; closed places do not count."""
    at: Moment = (2, 12 * 60)
    """Day of the week, 0 for Monday, and minutes after midnight."""
    split: Literal["train", "dev", "test"]
    """Split to which the wish belongs; wishes of different splits are worded differently."""


class Wishes(Settings):
    """The contents of `wishes.yaml`."""

    wishes: tuple[Wish, ...]


@dataclass(frozen=True, slots=True)
class SightTarget:
    """A target of a search: the task in words, and the places that are right."""

    kind: Kind
    told: str
    """Task in words, as the walker is told it."""
    places: tuple[Place, ...]
    """Places that are right; reaching any of them is enough."""
    at: Moment | None = None
    """Time of the search; `None` if it does not matter."""


def targets(city: City, kind: Kind, among: Among, split: str, chance: Random) -> Iterator[SightTarget]:
    """Yield the targets of a kind in a city, in random order, no two for the same place.

    Args:
        city: whose places they are.
        kind: how they are told.
        among: which places are targets, and which wishes are asked: those that a landmark serves.
        split: of the wishes.
        chance: orders them.
    """
    places = sorted(city.places.nearby(city.center, ALL_M), key=lambda place: place.id)
    names = Counter(words_of(place.name) for place in places)
    if kind == "wish":
        yield from _draw_wishes(city, places, among, split, chance)
        return
    beside = _neighbours(places) if kind == "looks" else {}
    for place in chance.sample(places, len(places)):
        # A name that two places bear is left out: who finds the other one would be right too.
        if names[words_of(place.name)] > 1 or not _is_among(place.types[:1], among):
            continue
        if kind == "address" and place.address:
            street = place.address.split(",")[0]
            yield SightTarget(kind, f'Find the place called "{place.name}", at {street}.', (place,))
        elif kind == "name":
            yield SightTarget(kind, f'Find the place called "{place.name}".', (place,))
        elif kind == "picture" and city.places.photos(place.id):
            yield SightTarget(kind, "Find the place in the picture.", (place,))
        elif kind == "looks" and (told := _looks(place, places, beside)):
            yield SightTarget(kind, told, (place,))


def load_wishes() -> tuple[Wish, ...]:
    """Return all wishes of `wishes.yaml`.

    Raises:
        BadInput: the file is broken.
    """
    return load_settings(Path(__file__).with_name("wishes.yaml"), Wishes).wishes


def panoramas_in_sight(city: City, graph: NavigationGraph, places: Sequence[Place]) -> list[str]:
    """Return the ids, sorted, of the panoramas within 50 m of a place with its sign in sight.

    Args:
        city: with a known truth.
        graph: of the city.
        places: the targets.
    """
    reached: list[str] = []
    for place in places:
        away = distances(graph.lat, graph.lng, *place.position)
        for node in np.flatnonzero(away <= REACHED_M):
            heading = bearing(graph.position(int(node)), place.position)
            if _is_in_sight(city, graph.ids[node], heading, place):
                reached.append(graph.ids[node])
    return sorted(set(reached))


def _is_in_sight(city: City, pano_id: str, heading: float, place: Place) -> bool:
    """Return whether a place's sign is visible from a panorama in a heading, degrees."""
    if city.truth is None:
        return False
    seen = city.truth.visible(pano_id, Camera(heading, 10.0, 90.0, 640, 640), kinds={"sign"})
    return any(_shows(sign, place) for sign in seen)


def _shows(sign: Visible, place: Place) -> bool:
    """Return whether a visible sign is the place's own, clear and large enough."""
    return (
        sign.place_id == place.id
        and not sign.on_directory
        and sign.visible_fraction >= IN_SIGHT
        and sign.box[3] - sign.box[1] >= LEAST_PX
    )


def _looks(place: Place, places: Sequence[Place], beside: Neighbours) -> str:
    """Return a task that names a place's neighbours; empty if it would fit other places too."""
    own, near = place.types[0], beside[place.id][:2]
    if len(near) < 2 or own in {*near, *_VAGUE} or _VAGUE & set(near):
        return ""
    # Of others four neighbours count, so that the task is not nearly true of them.
    alike = [one for one in places if one.types and one.types[0] == own]
    if sum(set(near) <= set(beside[one.id][:4]) for one in alike) > 1:
        return ""
    first, second = (kind.replace("_", " ") for kind in near)
    return f"Find the {own.replace('_', ' ')} that stands between a {first} and a {second}."


def _neighbours(places: Sequence[Place]) -> Neighbours:
    """Return the types of the places within `BESIDE_M` of each place, by its id, nearest first."""
    lat, lng = np.array([place.position for place in places], float).T
    found: Neighbours = {}
    for number, place in enumerate(places):
        away = distances(lat, lng, *place.position)
        near = [
            index for index in np.argsort(away, kind="stable") if away[index] <= BESIDE_M and index != number
        ]
        found[place.id] = list(dict.fromkeys(places[index].types[0] for index in near if places[index].types))
    return found


def _is_among(kinds: Iterable[str], among: Among) -> bool:
    """Return whether places of these types are targets: all are, or one of the types is a landmark's."""
    return any(among == "all" or kind in types_marked("landmark") for kind in kinds)


def _draw_wishes(
    city: City, places: Sequence[Place], among: Among, split: str, chance: Random
) -> Iterator[SightTarget]:
    """Yield the wishes of a split that places of the city fulfil, in random order, as targets."""
    wishes = [wish for wish in load_wishes() if wish.split == split and _is_among(wish.kinds, among)]
    for wish in chance.sample(wishes, len(wishes)):
        fitting = tuple(
            whole
            for place in places
            if set(place.types) & set(wish.kinds)
            and (whole := city.places.details(place.id)).may_be_open_at(*wish.at)
        )
        if fitting:
            yield SightTarget("wish", wish.told, fitting, wish.at)
