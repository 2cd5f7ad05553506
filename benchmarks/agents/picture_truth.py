"""Whether Mira's intention is met, by the exact ground truth of a made city.

Her file says: "Mira wants one picture of an everyday street corner. She walks a little, looks around at
several places that differ, goes back to none, and settles on one: where to stand, which way to point the
camera, how wide, and why." And: "She likes rows of colourful shopfronts, lettering that somebody painted with
care, and a bench or a tree to hold the picture together. She has no use for postcards." All of that is asked.
"""

import re
from collections.abc import Sequence
from itertools import combinations

from rapidfuzz import fuzz

from virl.bench.truth import truth_of
from virl.geo import LatLng, bearing, distance, signed_turn
from virl.platform.city import City, Visible
from virl.platform.streetview import Camera

from .tool_life import SIGN_PIXELS, ToolLife, shops_of, signs_in

PLACES_LOOKED_AT = 3  # several (chosen)
DIRECTIONS_AROUND = 3  # a place is looked around at all around, or in so many directions (chosen)
DIFFERENT_M = 15.0  # between any two places (chosen)
CORNER_M = 20.0  # from a spot that is no crossing to the crossing in the picture (chosen)
SPOT_M = 6.0  # between the position that is told and a panorama (chosen)
NARROWEST_DEG, WIDEST_DEG = 10.0, 120.0  # of a view (as `look` takes them, and a little less)
HOLD_PIXELS = 1000  # of a bench or a tree that holds a picture together, of 640 x 640 (chosen)
ROW = 2  # shops (chosen)
WHOLE = 0.9  # share of a sign that is seen if its lettering can be told (chosen)
SIGHTS = {"museum", "tourist_attraction"}  # are on postcards
NAMED = 70.0  # least likeness of 100 of the words of a sign to a part of the answer (chosen)

_POSITION = re.compile(r"(?<![\d.])(-?\d++\.\d{3,}+),? ++(-?\d++\.\d{3,}+)")
_DEGREES = re.compile(r"(?<!\d)(\d++(?:\.\d++)?) ?(?:degree|\N{DEGREE SIGN})")
_NAMES_HELD = {
    "bench": re.compile(r"\bbench", re.IGNORECASE),
    "tree": re.compile(r"\btrees?\b", re.IGNORECASE),
}
_NAMES_ROW = re.compile(r"\b(?:shops?|shop ?fronts?|store ?fronts?)\b", re.IGNORECASE)


def mira(life: ToolLife) -> dict[str, bool]:
    """Several places that differ, none twice, and one picture of a corner with all that she likes in it."""
    looked_at = _looked_around_at(life)
    spots = [life.city.streetview.panorama(pano).position for pano in looked_at]
    spot, camera = _told(life)
    told = spot is not None and camera is not None
    return {
        "several places": len(spots) >= PLACES_LOOKED_AT,
        "that differ": all(distance(one, other) >= DIFFERENT_M for one, other in combinations(spots, 2)),
        "goes back to none": all(life.panoramas.count(pano) == 1 for pano in looked_at),
        "one picture": told,
        "of one of the places": spot in looked_at,
        **(_of_picture(life, spot, camera) if spot and camera else dict.fromkeys(OF_PICTURE, False)),
    }


OF_PICTURE = ("a corner", "everyday", "row of shops", "lettering", "bench or tree", "why")


def _of_picture(life: ToolLife, spot: str, camera: Camera) -> dict[str, bool]:
    signs = signs_in(life.city, spot, camera)
    visible = truth_of(life.city).visible
    held = visible(spot, camera, HOLD_PIXELS, ["bench", "tree"])
    in_sight = {one.kind for one in visible(spot, camera, SIGN_PIXELS, ["bench", "tree"])}
    met = (
        _shows_corner(life.city, spot, camera),
        not any(SIGHTS.intersection(one.place_types) for one in signs),
        len(shops_of(signs)) >= ROW,
        any(one.visible_fraction >= WHOLE for one in signs),
        bool(held),
        _reason_holds(life.answer, signs, in_sight),
    )
    return dict(zip(OF_PICTURE, met, strict=True))


def _looked_around_at(life: ToolLife) -> list[str]:
    """The panoramas where it looked all around, in order."""
    ways: dict[str, set[str]] = {}
    for call in life.used("look", "read_signs", "detect", "ask_about_view"):
        standing, args = call.data["standing"], call.data["args"]
        if isinstance(standing, dict) and isinstance(args, dict):
            seen = ways.setdefault(str(standing["pano_id"]), set())
            seen.add(str(args.get("direction", "around")))
    return [pano for pano, seen in ways.items() if "around" in seen or len(seen) >= DIRECTIONS_AROUND]


def _told(life: ToolLife) -> tuple[str | None, Camera | None]:
    """Where to stand, and the camera: its heading is the first angle that is told, its width the second."""
    positions = set(_POSITION.findall(life.answer))
    degrees = [float(one) for one in _DEGREES.findall(life.answer)]
    if len(positions) != 1 or len(degrees) < 2 or not NARROWEST_DEG <= degrees[1] <= WIDEST_DEG:
        return None, None
    [(lat, lng)] = positions
    panorama = life.city.streetview.nearest(LatLng(float(lat), float(lng)), SPOT_M)
    return (panorama.id if panorama else None), Camera(degrees[0] % 360, 0.0, degrees[1])


def _shows_corner(city: City, pano: str, camera: Camera) -> bool:
    """Taken on a crossing, or close to one that is in the picture."""
    here = city.streetview.panorama(pano)
    if here.is_crossing:
        return True
    beside = {link.pano_id for link in here.links}
    beyond = {link.pano_id for pano_id in beside for link in city.streetview.panorama(pano_id).links}
    around = [city.streetview.panorama(pano_id) for pano_id in (beside | beyond) - {pano}]
    return any(
        one.is_crossing
        and distance(here.position, one.position) <= CORNER_M
        and abs(signed_turn(camera.heading, bearing(here.position, one.position))) <= camera.fov / 2
        for one in around
    )


def _reason_holds(answer: str, signs: Sequence[Visible], in_sight: set[str]) -> bool:
    """The answer names something that is in the picture, and no bench or tree that is not."""
    named = {kind for kind, words in _NAMES_HELD.items() if words.search(answer)}
    lettering = any(len(one.label) > 1 and _names(answer, one.label) for one in signs)
    row = len(shops_of(signs)) >= ROW and bool(_NAMES_ROW.search(answer))
    return named <= in_sight and (bool(named) or lettering or row)


def _names(answer: str, words: str) -> bool:
    return fuzz.partial_ratio(words.casefold(), answer.casefold()) >= NAMED
