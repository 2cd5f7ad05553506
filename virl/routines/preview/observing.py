"""What is seen of the ground and of signs at each panorama, and what is told of the whole way from it."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import radians
from statistics import median, mode
from typing import Literal

import numpy as np

from virl.errors import NoImagery
from virl.files.json_reading import JsonRecord
from virl.geo.globe import LatLng, LocalFrame, compass_word, distance, normalize_heading, signed_turn
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, StreetView, View
from virl.platform.perception.ground import Surface, find_zebras, ground_patch, strips_beside
from virl.platform.perception.memory import MemoryObject
from virl.routines.directions.walkway import LEFT, RIGHT, Lookout, Stand
from virl.routines.preview.facts import CROSSING, LANDMARK, Fact, Leg, SideOfStreet, Track

AHEAD_PITCH, ASIDE_PITCH = -20.0, -35.0  # degrees; chosen: 3 to 18 m ahead, and 1 to 12 m aside
ZEBRA_M = 14.0  # from the camera at most: farther off, stripes run into one another; chosen on Virlbury
ASIDE_M, ACROSS_M = (-3.0, 3.0), (0.8, 12.0)  # of a patch that looks across the street
PAVEMENT_M = 1.0  # a strip beside a road is a pavement from this width on; chosen: kerbs and gutters are not
SAME_CROSSING_M = (
    4.5  # between two sightings of one crossing; chosen: two at a junction are 8 m apart or more
)
BESIDE_M = 22.0  # from the way at most: what is farther off is left out; chosen
LIGHTS_M = 12.0  # of a traffic light from its crossing at most; chosen: it stands across the road
TURN_DEG = 35.0  # chosen: less is a bend, which the pavement follows
TRAFFIC_LIGHT = "traffic light"


class CrossingSeen(JsonRecord):
    """A marked crossing as seen from one panorama."""

    lat: float
    lng: float
    street: float
    """Heading of the street that is crossed, degrees clockwise from north, [0, 180)."""
    stripes: int
    """Number of stripes that were seen."""


class SideSeen(JsonRecord):
    """One side of the street as seen from one panorama."""

    kerb_m: float | None
    """Metres from the camera to the road's edge; `None` if not seen."""
    pavement_m: float | None
    """Width of the pavement in metres; `None` if not seen."""
    surface: Surface | None
    """Surface of the pavement, or, without an edge, of what the camera stands on; `None` if not seen."""


class LandmarkSeen(JsonRecord):
    """A place whose sign was read from one panorama."""

    place_id: str
    name: str
    types: tuple[str, ...]
    lat: float
    lng: float


class Glance(JsonRecord):
    """All that is seen from one panorama, except things in visual memory."""

    lat: float
    lng: float
    heading: float
    """Heading on arrival, degrees clockwise from north."""
    onward: float | None
    """Heading of the way on in degrees; `None` at the end."""
    ways: tuple[float, ...]
    """Headings of all links in degrees."""
    crossings: tuple[CrossingSeen, ...] = ()
    left: SideSeen | None = None
    right: SideSeen | None = None
    landmarks: tuple[LandmarkSeen, ...] = ()


def glance_at(streetview: StreetView, stand: Stand, lookout: Lookout) -> tuple[Glance, View | None]:
    """Return (what is seen from a stand, the view along the way on or `None` without a picture).

    Args:
        streetview: street view of the city.
        stand: stand of the walk from which one looks.
        lookout: reads the signs.

    Raises:
        ModelUnavailable: the reader is missing.
    """
    here, facing = stand.panorama, stand.pose.heading
    onward = stand.onward.heading if stand.onward else facing
    ways = [link.heading for link in stand.links]
    # Two ways are a bend of the street: only a junction has crossings to the sides.
    others = [way for way in ways if way != onward]
    turns = [onward, *(others if len(ways) > 2 else [])]
    views = [_view_or_none(streetview, here.id, Camera(turn, AHEAD_PITCH)) for turn in turns]
    left, right = (
        _view_or_none(streetview, here.id, Camera(normalize_heading(onward + turn), ASIDE_PITCH))
        for turn in (LEFT, RIGHT)
    )
    places: dict[str, Place] = {}
    for turn in (LEFT, RIGHT):
        with suppress(NoImagery):
            places |= {one.place.id: one.place for one in lookout.in_sight(stand, (turn,))}
    landmarks = tuple(
        LandmarkSeen(
            place_id=place.id,
            name=place.name,
            types=place.types,
            lat=place.position.lat,
            lng=place.position.lng,
        )
        for place in places.values()
    )
    seen = Glance(
        lat=here.position.lat,
        lng=here.position.lng,
        heading=facing,
        onward=stand.onward.heading if stand.onward else None,
        ways=tuple(ways),
        crossings=tuple(one for view in views if view for one in _crossings_in(here.position, view)),
        left=_side_in(left) if left else None,
        right=_side_in(right) if right else None,
        landmarks=landmarks,
    )
    return seen, views[0]


def _view_or_none(streetview: StreetView, pano_id: str, camera: Camera) -> View | None:
    """Return a view of a panorama; `None` without a picture."""
    try:
        return streetview.view(pano_id, camera)
    except NoImagery:
        return None


def _crossings_in(here: LatLng, view: View) -> list[CrossingSeen]:
    """Return the zebra crossings in a view that was taken at a position."""
    frame, heading = LocalFrame(here), radians(view.camera.heading)
    found = []
    for zebra in find_zebras(ground_patch(view)):
        if np.hypot(zebra.aside, zebra.ahead) > ZEBRA_M:
            continue
        x = zebra.ahead * np.sin(heading) + zebra.aside * np.cos(heading)
        y = zebra.ahead * np.cos(heading) - zebra.aside * np.sin(heading)
        at = frame.position(float(x), float(y))
        street = (view.camera.heading + zebra.turn) % 180.0
        found.append(CrossingSeen(lat=at.lat, lng=at.lng, street=street, stripes=zebra.stripes))
    return found


def _side_in(view: View) -> SideSeen:
    """Return the ground in a view to one side: metres to the kerb, width and surface of the pavement."""
    strips = strips_beside(ground_patch(view, aside=ASIDE_M, ahead=ACROSS_M))
    if not strips:
        return SideSeen(kerb_m=None, pavement_m=None, surface=None)
    # The camera stands on the first strip; the next that is wide or has no visible end is the pavement.
    wide = (one for one in strips[1:] if one.far is None or one.far - one.near >= PAVEMENT_M)
    pavement = next(wide, None)
    if pavement is None:
        return SideSeen(kerb_m=None, pavement_m=None, surface=strips[0].surface)
    width = None if pavement.far is None else pavement.far - pavement.near
    return SideSeen(kerb_m=pavement.near, pavement_m=width, surface=pavement.surface)


@dataclass(frozen=True, slots=True)
class SightedThing:
    """A crossing, landmark or other thing, with the number of panoramas from which it was seen."""

    kind: str
    position: LatLng
    looks: int
    name: str = ""
    place_id: str = ""
    street: float | None = None
    """Heading of the street that a crossing crosses, degrees in [0, 180); `None` for others."""


def legs_of(
    glances: Sequence[Glance], things: Sequence[MemoryObject], near: Callable[[LatLng], str]
) -> tuple[Leg, ...]:
    """Return a way's stretches between turns, with what is beside them; `near` gives a position's address.

    Args:
        glances: what is seen at two or more points of the way, in order.
        things: objects in visual memory.
        near: returns the address nearest to a position, or an empty text.
    """
    track = Track([LatLng(one.lat, one.lng) for one in glances])
    facts = sorted(_facts_beside(glances, things, track), key=lambda fact: fact.along_m)
    turns = [at for at in range(1, len(glances) - 1) if abs(_turn_degrees(glances[at])) > TURN_DEG]
    bounds = [0, *turns, len(glances) - 1]
    legs = []
    for first, last in itertools.pairwise(bounds):
        low, high = track.metres_along(first), track.metres_along(last)
        # What lies at a turn is told before it.
        mine = [
            one
            for one in facts
            if (low < one.along_m or first == 0) and (one.along_m <= high or last == bounds[-1])
        ]
        # Where streets meet, a view to the side shows the other street.
        inner = [one for one in glances[first : last + 1] if len(one.ways) <= 2] or glances[first : last + 1]
        legs.append(
            Leg(
                turn="" if first == 0 else turn_word(_turn_degrees(glances[first])),
                compass=compass_word(track.heading(low)),
                near=near(track.position((low + high) / 2)),
                from_m=low,
                to_m=high,
                junctions=tuple(
                    track.metres_along(index)
                    for index in range(first + 1, last + 1)
                    if len(glances[index].ways) > 2
                ),
                left=_summarize_side([one.left for one in inner]),
                right=_summarize_side([one.right for one in inner]),
                facts=tuple(mine),
            )
        )
    return tuple(legs)


def turn_word(turn: float) -> str:
    """Return a turn, in signed degrees with clockwise positive, as words such as "slightly left"."""
    side = "left" if turn < 0 else "right"
    size = abs(turn)
    if size <= TURN_DEG:
        return "straight on"
    if size >= 160.0:
        return "around"
    return f"slightly {side}" if size < 60.0 else f"sharply {side}" if size > 120.0 else side


def found_crossings(glances: Sequence[Glance]) -> list[SightedThing]:
    """Return the marked crossings of a way, each once, with the mean position of its sightings."""
    groups: list[list[tuple[int, CrossingSeen]]] = []
    for number, glance in enumerate(glances):
        for seen in glance.crossings:
            at = LatLng(seen.lat, seen.lng)
            near = min(groups, key=lambda group: distance(_mean_position(group), at), default=None)
            if near is not None and distance(_mean_position(near), at) <= SAME_CROSSING_M:
                near.append((number, seen))
            else:
                groups.append([(number, seen)])
    return [
        SightedThing(
            CROSSING,
            _mean_position(group),
            len({number for number, _ in group}),
            street=max((seen for _, seen in group), key=lambda seen: seen.stripes).street,
        )
        for group in groups
    ]


def _facts_beside(glances: Sequence[Glance], things: Sequence[MemoryObject], track: Track) -> list[Fact]:
    """Return what lies within 22 m of a way as facts, with their place along it."""
    signs = [seen for glance in glances for seen in glance.landmarks]
    looks = Counter(seen.place_id for seen in signs)
    landmarks = {
        seen.place_id: SightedThing(
            LANDMARK, LatLng(seen.lat, seen.lng), looks[seen.place_id], seen.name, seen.place_id
        )
        for seen in signs
    }
    beside = [SightedThing(one.label, one.estimate.position, len(one.panoramas)) for one in things]
    lights = [one.position for one in beside if one.kind == TRAFFIC_LIGHT]
    facts = []
    for one in (*found_crossings(glances), *landmarks.values(), *beside):
        spot = track.spot(one.position)
        if abs(spot.off) > BESIDE_M or distance(track.position(spot.along), one.position) > BESIDE_M:
            continue
        over: Literal["your street", "a side street"] | None = None
        if one.street is not None:  # headings of streets have no direction: compared modulo 180 degrees
            apart = abs((one.street - track.heading(spot.along) + 90.0) % 180.0 - 90.0)
            over = "your street" if apart < 45.0 else "a side street"
        facts.append(
            Fact(
                kind=one.kind,
                along_m=spot.along,
                side=spot.side,
                off_m=abs(spot.off),
                clock=spot.clock,
                lat=one.position.lat,
                lng=one.position.lng,
                name=one.name,
                place_id=one.place_id,
                lights=one.kind == CROSSING and any(distance(one.position, at) <= LIGHTS_M for at in lights),
                over=over,
                looks=one.looks,
            )
        )
    return facts


def _turn_degrees(glance: Glance) -> float:
    """Return the turn of the way at a glance, in signed degrees, clockwise positive; 0 at the end."""
    return 0.0 if glance.onward is None else float(signed_turn(glance.heading, glance.onward))


def _summarize_side(seen: Sequence[SideSeen | None]) -> SideOfStreet:
    """Return a side's median kerb and pavement metres, if half of the views show them, and usual surface."""
    sides = [one for one in seen if one]
    kerbs = [one.kerb_m for one in sides if one.kerb_m is not None]
    widths = [one.pavement_m for one in sides if one.pavement_m is not None]
    surfaces: list[Surface] = [one.surface for one in sides if one.surface is not None]
    half = len(sides) / 2
    return SideOfStreet(
        kerb_m=round(median(kerbs), 1) if len(kerbs) >= half and kerbs else None,
        pavement_m=round(median(widths), 1) if len(widths) >= half and widths else None,
        surface=mode(surfaces) if surfaces else None,
    )


def _mean_position(group: Sequence[tuple[int, CrossingSeen]]) -> LatLng:
    """Return the mean position of a crossing's sightings."""
    return LatLng(
        float(np.mean([seen.lat for _, seen in group])), float(np.mean([seen.lng for _, seen in group]))
    )
