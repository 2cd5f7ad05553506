"""Measures of whether characters with tools met their intentions, by the exact truth of a made city.

What each wants is in its character file. The conditions here were written from that text, apart from the
rules that decide what they do.

Mira's file says: "Mira wants one picture of an everyday street corner. She walks a little, looks around at
several places that differ, goes back to none, and settles on one: where to stand, which way to point the
camera, how wide, and why." And: "She likes rows of colourful shopfronts, lettering that somebody painted with
care, and a bench or a tree to hold the picture together. She has no use for postcards." All of that is asked.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from rapidfuzz import fuzz

from virl.bench.resources import truth_of
from virl.geo.globe import LatLng, bearing, distance, signed_turn
from virl.platform.city.city import City, Visible
from virl.platform.city.maps import walked_route
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera
from virl.routines.by_tools.picturing import SPOT_M, view_in

from .tool_life import SIGN_PIXELS, ToolLife, shops_of, signs_in

_PLACES_LOOKED_AT = 3  # several (chosen)
_DIRECTIONS_AROUND = 3  # a place is looked around at all around, or in so many directions (chosen)
_DIFFERENT_M = 15.0  # between any two places (chosen)
_CORNER_M = 20.0  # from a spot that is no crossing to the crossing in the picture (chosen)
_HOLD_PIXELS = 1000  # of a bench or a tree that holds a picture together, of 640 x 640 (chosen)
ROW = 2  # shops (chosen)
_WHOLE = 0.9  # share of a sign that is seen if its lettering can be told (chosen)
_SIGHTS = {"museum", "tourist_attraction"}  # are on postcards
_NAMED = 70.0  # least likeness of 100 of the words of a sign to a part of the answer (chosen)
_NAMES_HELD = {
    "bench": re.compile(r"\bbench", re.IGNORECASE),
    "tree": re.compile(r"\btrees?\b", re.IGNORECASE),
}
_NAMES_ROW = re.compile(r"\b(?:shops?|shop ?fronts?|store ?fronts?)\b", re.IGNORECASE)


def mira(life: ToolLife) -> dict[str, bool]:
    """Return {condition: whether it is met}: places that differ, and one picture of a corner as she likes."""
    looked_at = _looked_around_at(life)
    spots = [life.city.streetview.panorama(pano).position for pano in looked_at]
    spot, camera = _read_answer(life)
    told = spot is not None and camera is not None
    return {
        "several places": len(spots) >= _PLACES_LOOKED_AT,
        "that differ": all(distance(one, other) >= _DIFFERENT_M for one, other in combinations(spots, 2)),
        "goes back to none": all(life.panoramas.count(pano) == 1 for pano in looked_at),
        "one picture": told,
        "of one of the places": spot in looked_at,
        **(_picture_conditions(life, spot, camera) if spot and camera else dict.fromkeys(OF_PICTURE, False)),
    }


LIKED, WELL_LIKED = 3.8, 4.0
"""Least stars, of 5, of a place that is liked, and (second) of a nearer one that should be chosen."""
CHEAP, MODERATE = 1, 2  # Google's price levels
SAME_WALK_MIN, SAME_WALK = 1.0, 0.1  # a walk is told right within a minute, or within a tenth of its metres
NEARER = 0.95  # a way shorter than this share of the chosen one's is truly nearer
HALF_WAY = 0.5
CLOSE_M, NEAR_M = 12.0, 40.0
MOST_MISSED = 1  # sorts of things beside the walk that the report may leave out

Check = Callable[[ToolLife], dict[str, bool]]
"""A function from a finished run to {condition: whether it is met}."""

_MINUTES = re.compile(r"(?<!\d)(\d++(?:\.\d++)?) ?min")
_METRES = re.compile(r"(?<!\d)(\d++(?:\.\d++)?) ?(km|m)(?:et\w+)?\b")
_UNSEEN = re.compile(
    r"(?:not|n't|no|never) (?:\w+ ){0,3}(?:seen|visible)|invisible|not be seen|out of sight", re.IGNORECASE
)
_SAID = {
    "bench": r"bench",
    "trash bin": r"\bbins?\b|trash",
    "fire hydrant": r"hydrant",
    "planter": r"planter",
    "parked car": r"\bcars?\b",
}
_NONE_OF = re.compile(r"(?:\bno|none of these stands in sight:|without) [^.]*", re.IGNORECASE)


def june(life: ToolLife) -> dict[str, bool]:
    """Return {condition: whether it is met}: an open, liked, not too dear restaurant, and an agent asked."""
    place = _result_place(life)
    return {
        "asked another agent": bool(life.calls_of("consult")),
        "restaurant": place is not None and "restaurant" in place.types,
        "open": place is not None and _is_open(life, place),
        "not too dear": place is not None and place.price_level is not None and place.price_level <= MODERATE,
        "liked": place is not None and (place.rating or 0.0) >= LIKED,
        "looked into it": place is not None and _has_details_of(life, place),
        "walk told right": place is not None and _walk_is_told(life, place),
    }


def otto(life: ToolLife) -> dict[str, bool]:
    """Return {condition: whether it is met}: nearest open, liked pharmacy, and a true report of the way."""
    place = _result_place(life)
    if place is None:
        return {"pharmacy": False}
    chosen_m = _walk_metres(life.city, life.start, place)
    left_m = _walk_metres(life.city, life.city.streetview.panorama(life.panoramas[-1]).position, place)
    out_of_steps = life.steps[-1].step >= 0.8 * life.character.limits.steps
    return {
        "pharmacy": "pharmacy" in place.types,
        "open": _is_open(life, place),
        "liked": (place.rating or 0.0) >= LIKED,
        "nearest": not _nearer(life, place, chosen_m, WELL_LIKED),
        "walk told right": _walk_is_told(life, place),
        "went there": left_m <= max(HALF_WAY * chosen_m, NEAR_M) or out_of_steps,
        "things told right": _things_are_told(life),
        "sign told right": _sign_is_told(life, place),
    }


def nora(life: ToolLife) -> dict[str, bool]:
    """Return {condition: whether it is met}: the nearest open library, where she ends, and the walk to it."""
    place = _result_place(life)
    if place is None:
        return {"library": False}
    here = life.city.streetview.panorama(life.panoramas[-1]).position
    return {
        "library": "library" in place.types,
        "open": _is_open(life, place),
        "nearest": not _nearer(life, place, _walk_metres(life.city, life.start, place), 0.0),
        "walk told right": _walk_is_told(life, place),
        "went there": _walk_metres(life.city, here, place) <= NEAR_M,
    }


def pavel(life: ToolLife) -> dict[str, bool]:
    """Return {condition: whether it is met}: he finds a bench, and one truly stands near where he ends."""
    here = life.city.streetview.panorama(life.panoramas[-1]).position
    benches = truth_of(life.city).things(["bench"])
    return {
        "found": life.result.status == "finished" and "bench" in life.answer,
        "stands there": any(distance(one.position, here) <= NEAR_M for one in benches),
    }


def yuki(life: ToolLife) -> dict[str, bool]:
    """Return {condition: whether it is met}: an open, cheap café, another agent asked, and the walk told."""
    place = _result_place(life)
    return {
        "asked another agent": bool(life.calls_of("consult")),
        "cafe": place is not None and "cafe" in place.types,
        "open": place is not None and _is_open(life, place),
        "cheap": place is not None and place.price_level is not None and place.price_level <= CHEAP,
        "walk told right": place is not None and _walk_is_told(life, place),
    }


CHECKS: Mapping[str, Check] = {
    "june": june,
    "mira": mira,
    "otto": otto,
    "nora": nora,
    "pavel": pavel,
    "yuki": yuki,
}


def _result_place(life: ToolLife) -> Place | None:
    """Return the place that the run ended with; `None` if it ended with none."""
    return life.city.places.details(life.result.place.id) if life.result.place else None


def _is_open(life: ToolLife, place: Place) -> bool:
    """Return whether a place still exists and is open at the character's time."""
    return place.is_open and place.open_at(*life.character.day_and_minute)


def _has_details_of(life: ToolLife, place: Place) -> bool:
    """Return whether the run asked for the details of a place by `place_details`."""
    return any(one.data["args"]["place_id"] == place.id for one in life.calls_of("place_details"))  # type: ignore[index]


def _walk_metres(city: City, start: LatLng, place: Place) -> float:
    """Return the metres on foot from a position to a place."""
    return walked_route(city.maps, [start, place.position]).distance


def _nearer(life: ToolLife, place: Place, chosen_m: float, rated: float) -> list[Place]:
    """Return open places of the same kind, of `rated` stars or more, nearer on foot than `chosen_m`."""
    others = [
        life.city.places.details(one.id)
        for one in life.city.places.nearby(life.start, chosen_m, place.types[:1])
    ]
    return [
        one
        for one in others
        if one.id != place.id
        and _is_open(life, one)
        and (one.rating or 0.0) >= rated
        and _walk_metres(life.city, life.start, one) < NEARER * chosen_m
    ]


def _walk_is_told(life: ToolLife, place: Place) -> bool:
    """Return whether the answer states about the true minutes or metres on foot from start to place."""
    way = walked_route(life.city.maps, [life.start, place.position])
    minutes = [float(one) for one in _MINUTES.findall(life.answer)]
    metres = [float(far) * (1000 if unit == "km" else 1) for far, unit in _METRES.findall(life.answer)]
    return any(abs(one - way.duration / 60) <= SAME_WALK_MIN for one in minutes) or any(
        abs(one - way.distance) <= SAME_WALK * way.distance + 5 for one in metres
    )


def _things_are_told(life: ToolLife) -> bool:
    """Return whether all furniture reported stands near the walk, and at most one kind is left out."""
    walk = [life.city.streetview.panorama(pano).position for pano in life.panoramas]
    said = _NONE_OF.sub("", life.answer)
    reported = {kind for kind, words in _SAID.items() if re.search(words, said, re.IGNORECASE)}
    near: set[str] = set()
    close: set[str] = set()
    for thing in truth_of(life.city).things(_SAID.keys()):
        away = min(distance(thing.position, one) for one in walk)
        near |= {thing.kind} if away <= NEAR_M else set()
        close |= {thing.kind} if away <= CLOSE_M else set()
    return reported <= near and len(close - reported) <= MOST_MISSED


def _sign_is_told(life: ToolLife, place: Place) -> bool:
    """Return whether the answer says rightly if the place's sign is visible from the end of the walk."""
    sentences = [
        one
        for one in re.split(r"(?<=[.!?;])\s+", life.answer)
        if re.search(r"\bsigns?\b", one, re.IGNORECASE)
    ]
    if not sentences:
        return False
    if any(_UNSEEN.search(one) for one in sentences):
        return not _sees_sign(life.city, life.panoramas[-1], place)
    return any(_sees_sign(life.city, pano, place) for pano in life.panoramas[-3:])


def _sees_sign(city: City, pano: str, place: Place) -> bool:
    """Return whether a sign of a place can be read from a panorama."""
    cameras = [Camera(float(heading), 0.0, 60.0) for heading in range(0, 360, 60)]
    return any(place.id in shops_of(signs_in(city, pano, camera)) for camera in cameras)


OF_PICTURE = ("a corner", "everyday", "row of shops", "lettering", "bench or tree", "why")


def _picture_conditions(life: ToolLife, spot: str, camera: Camera) -> dict[str, bool]:
    """Return {condition of a good picture: whether the view meets it}."""
    signs = signs_in(life.city, spot, camera)
    visible = truth_of(life.city).visible
    held = visible(spot, camera, _HOLD_PIXELS, ["bench", "tree"])
    in_sight = {one.kind for one in visible(spot, camera, SIGN_PIXELS, ["bench", "tree"])}
    met = (
        _shows_corner(life.city, spot, camera),
        not any(_SIGHTS.intersection(one.place_types) for one in signs),
        len(shops_of(signs)) >= ROW,
        any(one.visible_fraction >= _WHOLE for one in signs),
        bool(held),
        _reason_holds(life.answer, signs, in_sight),
    )
    return dict(zip(OF_PICTURE, met, strict=True))


def _looked_around_at(life: ToolLife) -> list[str]:
    """Return the ids of the panoramas at which the character looked all around, in order."""
    ways: dict[str, set[str]] = {}
    for call in life.calls_of("look", "read_signs", "detect", "ask_about_view"):
        standing, args = call.data["standing"], call.data["args"]
        if isinstance(standing, dict) and isinstance(args, dict):
            seen = ways.setdefault(str(standing["pano_id"]), set())
            seen.add(str(args.get("direction", "around")))
    return [pano for pano, seen in ways.items() if "around" in seen or len(seen) >= _DIRECTIONS_AROUND]


def _read_answer(life: ToolLife) -> tuple[str | None, Camera | None]:
    """Return (panorama's id, camera) read from an answer with one position and the angles heading, width."""
    if not (told := view_in(life.answer)):
        return None, None
    panorama = life.city.streetview.nearest(told[0], SPOT_M)
    return (panorama.id if panorama else None), told[1]


def _shows_corner(city: City, pano: str, camera: Camera) -> bool:
    """Return whether a view was taken on a crossing, or shows one that is within `_CORNER_M`."""
    here = city.streetview.panorama(pano)
    if here.is_crossing:
        return True
    beside = {link.pano_id for link in here.links}
    beyond = {link.pano_id for pano_id in beside for link in city.streetview.panorama(pano_id).links}
    around = [city.streetview.panorama(pano_id) for pano_id in (beside | beyond) - {pano}]
    return any(
        one.is_crossing
        and distance(here.position, one.position) <= _CORNER_M
        and abs(signed_turn(camera.heading, bearing(here.position, one.position))) <= camera.fov / 2
        for one in around
    )


def _reason_holds(answer: str, signs: Sequence[Visible], in_sight: set[str]) -> bool:
    """Return whether the answer names something in the picture, and no bench or tree that is not in it."""
    named = {kind for kind, words in _NAMES_HELD.items() if words.search(answer)}
    lettering = any(len(one.label) > 1 and _mentions(answer, one.label) for one in signs)
    row = len(shops_of(signs)) >= ROW and bool(_NAMES_ROW.search(answer))
    return named <= in_sight and (bool(named) or lettering or row)


def _mentions(answer: str, words: str) -> bool:
    """Return whether the answer contains the words, at least roughly."""
    return fuzz.partial_ratio(words.casefold(), answer.casefold()) >= _NAMED
