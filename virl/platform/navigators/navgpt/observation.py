"""The observation at a viewpoint, and its text: eight blocks clockwise from the walker's front."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from virl.geo.globe import normalize_heading, signed_turn
from virl.platform.city.streetview import Link
from virl.platform.navigators.follower.streets import StreetEnd

NEAR_M = 3.0  # NavGPT tells objects within 3 m (section 3.2)
"""Radius in metres within which objects are named."""
DIRECTIONS = ("Front", "Front Right", "Right", "Rear Right", "Rear", "Rear Left", "Left", "Front Left")
"""Names of the eight sectors, clockwise from the one that the walker faces (NavGPT, section 3.4)."""
SECTOR_DEG = 360.0 / len(DIRECTIONS)
"""Width of a sector in degrees."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An object seen from a viewpoint."""

    name: str
    heading: float
    """Direction from the viewpoint, degrees clockwise from north."""
    distance: float
    """Distance from the viewpoint in metres."""


@dataclass(frozen=True, slots=True)
class ViewpointObservation:
    """The ways, texts and objects known at a viewpoint, whichever way the walker faces."""

    viewpoint: str
    """Id of the viewpoint."""
    ways: tuple[Link, ...]
    """Links to the viewpoints that can be walked to from here, each once."""
    sentences: tuple[str, ...] = ()
    """The text of each of the eight sectors, sector 0 (north) first; empty where nobody has looked."""
    things: tuple[Thing, ...] | None = None
    """Objects seen from here; `None` where nobody has looked for any."""
    summary: str = ""
    """Summary of the observation in a sentence; empty where none is stored."""
    beyond: Mapping[str, StreetEnd] = field(default_factory=dict)
    """Ends of the streets over neighbouring viewpoints, by the neighbour's id; empty without a map."""


@dataclass(frozen=True, slots=True)
class WayAhead:
    """A way that leads on, as seen by a walker with some heading."""

    viewpoint: str
    """Id of the viewpoint that the way leads to."""
    turn: float
    """Turn to the way in degrees, (-180, 180], positive to the right, to two decimal places."""
    steps: int | None = None
    """Number of steps to the next crossing on the way; `None` without a map."""


@dataclass(frozen=True, slots=True)
class Stand:
    """A viewpoint that the walk visited, with the ways from there as the walker saw them."""

    viewpoint: str
    ways: tuple[WayAhead, ...]


def stand(observation: ViewpointObservation, heading: float) -> Stand:
    """Return the viewpoint of an observation with its ways, clockwise from `heading` in degrees."""
    front = sector(heading)
    ordered = sorted(observation.ways, key=lambda way: (sector(way.heading) - front) % len(DIRECTIONS))
    return Stand(
        observation.viewpoint,
        tuple(
            WayAhead(way.pano_id, _turn(heading, way.heading), end.steps if end else None)
            for way in ordered
            for end in (observation.beyond.get(way.pano_id),)
        ),
    )


class Observations(Protocol):
    """A source of what is known at viewpoints."""

    @property
    def name(self) -> str:
        """Name of the source in results, such as `"graph"`."""
        ...

    def at(self, viewpoint: str) -> ViewpointObservation:
        """Return the observation at a viewpoint.

        Raises:
            NoStreetView: there is no viewpoint of that id.
            NoImagery: there is no picture of it where one is needed.
        """
        ...


def observation_text(observation: ViewpointObservation, heading: float) -> str:
    """Return the observation as text for a walker who faces `heading`, degrees.

    Eight blocks, clockwise from the sector that holds the heading. Each has its range in angles relative to
    the heading, the sentence, the objects within 3 m and the viewpoints to walk to, both as a JSON map from
    the name or id to `"left|right angle, distance m"`, or `None`. What nobody has looked for is left out.
    """
    front = sector(heading)
    blocks = [
        _block(observation, heading, name, (front + step) % len(DIRECTIONS))
        for step, name in enumerate(DIRECTIONS)
    ]
    return "\n".join(blocks)


def observation_parts(observation: ViewpointObservation, heading: float) -> list[dict[str, object]]:
    """Return the observation as plain data for chat models: text, objects and viewpoints by sector.

    A direction of which there is nothing to tell is left out, and so is a field.
    """
    front, parts = sector(heading), list[dict[str, object]]()
    for step, name in enumerate(DIRECTIONS):
        index = (front + step) % len(DIRECTIONS)
        near = [thing for thing in observation.things or () if thing.distance <= NEAR_M]
        told = {
            "seen": " ".join(observation.sentences[index].split()) if observation.sentences else "",
            "objects": _by_name(near, index, heading),
            "viewpoints": _by_name(observation.ways, index, heading, observation.beyond),
        }
        if any(told.values()):
            parts.append({"direction": name, **{field: one for field, one in told.items() if one}})
    return parts


def _block(observation: ViewpointObservation, heading: float, name: str, index: int) -> str:
    """Return the lines on the sector numbered `index`, under its `name`, for a walker who faces `heading`."""
    left, right = (side(heading, edge) for edge in sector_edges(index))
    lines = [f"{name}, range ({left} to {right}):"]
    if observation.sentences:
        lines[0] += f" '{' '.join(observation.sentences[index].split())}'"
    if observation.things is not None:
        near = [thing for thing in observation.things if thing.distance <= NEAR_M]
        lines.append(f"{name} objects within {NEAR_M:g} m: {_to_json(near, index, heading)}")
    ways = _to_json(observation.ways, index, heading, observation.beyond)
    lines.append(f"{name} navigable viewpoints: {ways}")
    return "\n".join(lines)


def _to_json(
    seen: Iterable[Link | Thing], index: int, heading: float, beyond: Mapping[str, StreetEnd] | None = None
) -> str:
    """Return objects or ways in sector `index`, with street ends `beyond`, as JSON; `"None"` without any."""
    told = _by_name(seen, index, heading, beyond)
    return json.dumps(told, ensure_ascii=False) if told else "None"


def _by_name(
    seen: Iterable[Link | Thing], index: int, heading: float, beyond: Mapping[str, StreetEnd] | None = None
) -> dict[str, str]:
    """Return turn and metres to each object or way in a sector, and street end `beyond`, in words by name."""
    told: dict[str, str] = {}
    for one in seen:
        if sector(one.heading) == index:
            name = one.pano_id if isinstance(one, Link) else one.name
            where = f"{side(heading, one.heading)}, {one.distance:.2f} m"
            if beyond and name in beyond:
                where += f"; map: {beyond[name]}"
            told[name] = f"{told[name]}; {where}" if name in told else where
    return told


def sector(heading: float) -> int:
    """Return the number, 0 to 7, of the sector that holds a heading, any number of degrees from north.

    Sector `k` reaches from `45 k - 22.5` degrees up to, but not including, `45 k + 22.5`: those are the views
    that NavGPT describes, whichever way the walker faces.
    """
    return int(normalize_heading(heading + SECTOR_DEG / 2) // SECTOR_DEG)


def sector_edges(index: int) -> tuple[float, float]:
    """Return (left edge, right edge) of a sector as headings in degrees, [0, 360)."""
    middle = index * SECTOR_DEG
    return normalize_heading(middle - SECTOR_DEG / 2), normalize_heading(middle + SECTOR_DEG / 2)


def side(heading: float, target: float) -> str:
    """Return the turn from one heading to another in words, such as `"right 61.44"` degrees.

    Degrees, at most 180; straight ahead is `"right 0.00"`, straight behind `"right 180.00"`.
    """
    angle = _turn(heading, target)
    return f"left {-angle:.2f}" if angle < 0 else f"right {abs(angle):.2f}"


def _turn(heading: float, target: float) -> float:
    """Return the turn from one heading to another, degrees in (-180, 180], to two decimal places."""
    angle = round(signed_turn(heading, target), 2)
    # Rounding may give -180, the same turn as 180.
    return angle if angle > -180 else 180.0
