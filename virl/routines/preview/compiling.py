"""From what was seen at each panorama to what is told of the way."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, mode

import numpy as np

from virl.geo.globe import LatLng, compass_word, distance, signed_turn
from virl.platform.perception.ground import Surface
from virl.platform.perception.memory import MemoryObject
from virl.routines.preview.facts import CROSSING, LANDMARK, Fact, Leg, SideOfStreet
from virl.routines.preview.glance import CrossingSeen, Glance, SideSeen
from virl.routines.preview.track import Beside, Track

SAME_CROSSING_M = (
    4.5  # between two sightings of one crossing; chosen: two at a junction are 8 m apart or more
)
BESIDE_M = 22.0  # from the way at most: what is farther off is left out; chosen
LIGHTS_M = 12.0  # of a traffic light from its crossing at most; chosen: it stands across the road
TURN_DEG = 35.0  # chosen: less is a bend, which the pavement follows
TRAFFIC_LIGHT = "traffic light"


@dataclass(frozen=True, slots=True)
class SightedThing:
    """Something that was seen, with the panoramas it was seen from."""

    kind: str
    position: LatLng
    looks: int
    name: str = ""
    place_id: str = ""
    street: float | None = None


def legs_of(
    glances: Sequence[Glance], things: Sequence[MemoryObject], near: Callable[[LatLng], str]
) -> tuple[Leg, ...]:
    """Return the stretches of a way, each with what is on and beside it.

    Args:
        glances: in the order of the way, two or more.
        things: what visual memory holds.
        near: the address nearest to a position, or nothing.
    """
    track = Track([LatLng(one.lat, one.lng) for one in glances])
    facts = sorted(_facts_beside(glances, things, track), key=lambda fact: fact.along_m)
    bounds = _bounds(glances)
    legs = []
    for first, last in itertools.pairwise(bounds):
        low, high = track.metres_along(first), track.metres_along(last)
        # What lies at a turn is told before it.
        mine = [
            one
            for one in facts
            if (low < one.along_m or first == 0) and (one.along_m <= high or last == bounds[-1])
        ]
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
    """Return a turn in words, from degrees clockwise."""
    side = "left" if turn < 0 else "right"
    size = abs(turn)
    if size <= TURN_DEG:
        return "straight on"
    if size >= 160.0:
        return "around"
    return f"slightly {side}" if size < 60.0 else f"sharply {side}" if size > 120.0 else side


def found_crossings(glances: Sequence[Glance]) -> list[SightedThing]:
    """Return the marked crossings of a way, each once."""
    groups: list[list[tuple[int, CrossingSeen]]] = []
    for number, glance in enumerate(glances):
        for seen in glance.crossings:
            near = min(
                groups, key=lambda group: distance(_mean_position(group), _position_of(seen)), default=None
            )
            if near is not None and distance(_mean_position(near), _position_of(seen)) <= SAME_CROSSING_M:
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


def found_landmarks(glances: Sequence[Glance]) -> list[SightedThing]:
    """Return the places whose signs were read, each once."""
    every = {seen.place_id: seen for glance in glances for seen in glance.landmarks}
    looks = [seen.place_id for glance in glances for seen in glance.landmarks]
    return [
        SightedThing(LANDMARK, LatLng(one.lat, one.lng), looks.count(one.place_id), one.name, one.place_id)
        for one in every.values()
    ]


def found_things(things: Sequence[MemoryObject]) -> list[SightedThing]:
    """Return the things that visual memory holds."""
    return [SightedThing(one.label, one.estimate.position, len(one.panoramas)) for one in things]


def _facts_beside(glances: Sequence[Glance], things: Sequence[MemoryObject], track: Track) -> list[Fact]:
    """Return the facts near the track: crossings, landmarks and things, each with its spot beside it."""
    beside = found_things(things)
    lights = [one.position for one in beside if one.kind == TRAFFIC_LIGHT]
    facts = []
    for one in (*found_crossings(glances), *found_landmarks(glances), *beside):
        spot = track.spot(one.position)
        if abs(spot.off) > BESIDE_M or distance(track.position(spot.along), one.position) > BESIDE_M:
            continue
        has_lights = one.kind == CROSSING and any(distance(one.position, at) <= LIGHTS_M for at in lights)
        facts.append(_to_fact(one, spot, track, lights=has_lights))
    return facts


def _to_fact(one: SightedThing, spot: Beside, track: Track, *, lights: bool) -> Fact:
    """Return a sighted thing as a fact at a spot of the track; `lights` if traffic lights are near."""
    over = None
    if one.street is not None:
        apart = abs((one.street - track.heading(spot.along) + 90.0) % 180.0 - 90.0)
        over = "your street" if apart < 45.0 else "a side street"
    return Fact.model_validate(
        {
            "kind": one.kind,
            "along_m": spot.along,
            "side": spot.side,
            "off_m": abs(spot.off),
            "clock": spot.clock,
            "lat": one.position.lat,
            "lng": one.position.lng,
            "name": one.name,
            "place_id": one.place_id,
            "lights": lights,
            "over": over,
            "looks": one.looks,
        }
    )


def _bounds(glances: Sequence[Glance]) -> list[int]:
    """Return the numbers of the glances at which legs begin, and of the last."""
    turns = [at for at in range(1, len(glances) - 1) if abs(_turn_degrees(glances[at])) > TURN_DEG]
    return [0, *turns, len(glances) - 1]


def _turn_degrees(glance: Glance) -> float:
    """Return the signed degrees to turn at a glance; 0 at the end."""
    return 0.0 if glance.onward is None else float(signed_turn(glance.heading, glance.onward))


def _summarize_side(seen: Sequence[SideSeen | None]) -> SideOfStreet:
    """Return a side of the street: median kerb and pavement, metres, if half know it; commonest surface."""
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


def _position_of(seen: CrossingSeen) -> LatLng:
    return LatLng(seen.lat, seen.lng)


def _mean_position(group: Sequence[tuple[int, CrossingSeen]]) -> LatLng:
    """Return the mean position of several sightings of a crossing."""
    return LatLng(
        float(np.mean([seen.lat for _, seen in group])), float(np.mean([seen.lng for _, seen in group]))
    )
