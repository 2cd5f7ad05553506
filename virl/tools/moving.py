"""Tools that move the agent: walk, turn, relocate; and the one that tells where it is."""

from typing import Annotated

from pydantic import Field

from virl.agent.tool import ToolData, tool
from virl.errors import BadInput
from virl.geo.globe import LatLng, compass_word, distance, signed_turn
from virl.pages.numbers import count_noun
from virl.platform.city.streetview import Link
from virl.platform.city.streetview import relocate as nearest_panorama
from virl.tools.base import (
    DIRECTION,
    Bearing,
    Degrees,
    Direction,
    Metres,
    Position,
    ToolResult,
    bearing_of,
    from_world,
    heading_of,
    metres,
    short,
    tell_data,
)
from virl.tools.body import Body
from virl.tools.routes import Address, PlaceId, target_of

ASIDE_DEG = 50.0  # chosen: a link further off than this does not lead in the direction of the call
BEND_DEG = 60.0  # chosen: a street that turns no sharper than this goes straight on
NEAR_M = 40.0  # chosen: the address of a place within this distance is about the agent's own


Why = Annotated[str, Field(max_length=300, description="Why you go there, in a few words.")]


class WayOn(ToolData):
    """A way to a neighbouring panorama."""

    direction: Bearing
    distance_m: Metres
    pano_id: str

    def __str__(self) -> str:
        """Return the link's direction, length and panorama id as text."""
        return f"{self.direction}, {metres(self.distance_m)}, pano_id {self.pano_id}"


class Surroundings(ToolData):
    """The way one faces, the ways from here, and the moves left."""

    facing: str
    """Compass direction that the agent faces."""
    heading: Degrees
    is_crossing: bool
    ways: tuple[WayOn, ...]
    moves_left: int
    position: Position | None = None
    """Position of the agent; `None` except from `where_am_i`."""

    @property
    def ways_told(self) -> str:
        """Sentence on the links from the agent's panorama, and on a crossing."""
        kind = "A crossing. " if self.is_crossing else ""
        return f"{kind}Ways from here: {'; '.join(map(str, self.ways)) or 'none'}."

    def __str__(self) -> str:
        """Return heading, links and moves left in sentences."""
        faced = f"{self.facing}, {self.heading:.0f} degrees"
        return f"You face {faced}. {self.ways_told} Moves left: {self.moves_left}."


class Moved(ToolData):
    """The end of a move."""

    distance_m: Metres
    moves: int
    surroundings: Surroundings

    def __str__(self) -> str:
        """Return the metres and moves made, and the surroundings, as text."""
        gone = f"{metres(self.distance_m)} in {count_noun(self.moves, 'move')}"
        return f"You went {gone}.\n{self.surroundings}"


class Relocated(ToolData):
    """The end of a leap."""

    position: Position
    distance_m: Metres
    """Distance from the target, in metres."""
    surroundings: Surroundings

    def __str__(self) -> str:
        """Return the position, its distance from the target, and the surroundings, as text."""
        return f"You are at {self.position}, {metres(self.distance_m)} from it.\n{self.surroundings}"


class Whereabouts(ToolData):
    """The place and the time where one is."""

    city: str
    clock: str
    surroundings: Surroundings
    nearest_address: str
    """Nearest address; empty if there is none near."""
    nearest_place: str
    """Name of the place at that address; empty for none."""

    def __str__(self) -> str:
        """Return city, position and time, then the surroundings, then the nearest address, if any."""
        place = f"nearest address: {self.nearest_address} ({self.nearest_place})"
        return "\n".join(
            [
                f"You are in {self.city} at {self.surroundings.position}. It is {self.clock}.",
                str(self.surroundings),
                *([from_world([place])] if self.nearest_address else []),
            ]
        )


@tool("Walk", changes=True)
def move(
    body: Body,
    direction: Direction | None = Field(None, description=f"Which way to go: {DIRECTION}."),
    pano_id: str | None = Field(
        None, description="Instead of a direction: the id of a neighbour, as where_am_i lists it."
    ),
    steps: int = Field(1, ge=1, le=20, description="How many panoramas to go on, 1 to 20."),
    why: Why = "",
) -> ToolResult[Moved]:
    """Walk along the street from panorama to panorama, usually some 10 m each.

    Give either a direction or the id of a neighbouring panorama. With steps above 1 you go straight on and
    stop before at crossings, dead ends and sharp bends. You then face the way you went. Each panorama counts
    as one of the moves you have.
    """
    link = _find_link(body, direction, pano_id)
    why = why or f"Goes {bearing_of(link.heading, body.standing.heading)}."
    gone = 0.0
    for step in range(steps):
        body.go(link, why)
        gone += link.distance
        facing = body.standing.heading
        ahead = [link for link in body.links if abs(signed_turn(facing, link.heading)) <= BEND_DEG]
        onward = min(ahead, key=lambda link: abs(signed_turn(facing, link.heading)), default=None)
        if body.panorama.is_crossing or onward is None or body.moves_left <= 0 or step + 1 == steps:
            break
        link = onward
    return tell_data(Moved(distance_m=gone, moves=step + 1, surroundings=surroundings(body)))


@tool("Turn", changes=True)
def turn(
    body: Body, direction: Annotated[Direction, Field(description=f"Which way to face: {DIRECTION}.")]
) -> ToolResult[Surroundings]:
    """Turn on the spot without moving."""
    body.turn(heading_of(direction, body.standing.heading))
    return tell_data(surroundings(body))


@tool("Go elsewhere at once", changes=True, once=True)
def relocate(
    body: Body, address: Address = None, place_id: PlaceId = None, why: Why = ""
) -> ToolResult[Relocated]:
    """Stand at once at the street view nearest to an address or a place, without walking there.

    You face the same way as before. It counts as one of the moves you have.
    """
    target = target_of(body, address, place_id)
    name = address if place_id is None else f"place {place_id}"
    there = nearest_panorama(body.agent.city.streetview, target, short(name or "", 80))
    if there.id == body.standing.pano_id:
        raise BadInput("you stand there already")
    body.relocate(there, why or f"Relocates to {short(name or '', 120)}.")
    away_m = distance(there.position, target)
    return tell_data(Relocated(position=there.position, distance_m=away_m, surroundings=surroundings(body)))


@tool("Where am I")
def where_am_i(body: Body) -> ToolResult[Whereabouts]:
    """Tell where you are: position, address, heading, the ways on from here, moves left, day and time."""
    agent, here = body.agent, body.panorama.position
    near = next((place for place in agent.city.places.nearby(here, NEAR_M) if place.address), None)
    return tell_data(
        Whereabouts(
            city=agent.city.title,
            clock=agent.character.clock,
            surroundings=surroundings(body, here),
            nearest_address=near.address if near else "",
            nearest_place=near.name if near else "",
        )
    )


def surroundings(body: Body, position: LatLng | None = None) -> Surroundings:
    """Return the agent's heading, the links from its panorama, its moves left and, if given, its position."""
    facing = body.standing.heading
    return Surroundings(
        facing=compass_word(facing),
        heading=facing,
        is_crossing=body.panorama.is_crossing,
        ways=tuple(
            WayOn(direction=bearing_of(link.heading, facing), distance_m=link.distance, pano_id=link.pano_id)
            for link in body.links
        ),
        moves_left=max(body.moves_left, 0),
        position=position,
    )


def _find_link(body: Body, direction: Direction | None, pano_id: str | None) -> Link:
    """Return the link in a direction, or to a panorama; raise `BadInput` if there is none."""
    if (direction is None) == (pano_id is None):
        raise BadInput("give either direction or pano_id")
    links = body.links
    if not links:
        raise BadInput("no way leads on from here")
    if direction is None:
        link = next((link for link in links if link.pano_id == pano_id), None)
        if link is None:
            raise BadInput(f"{pano_id!r} is no neighbour of this panorama. {surroundings(body).ways_told}")
        return link
    heading = heading_of(direction, body.standing.heading)
    link = min(links, key=lambda one: abs(signed_turn(heading, one.heading)))
    if abs(signed_turn(heading, link.heading)) > ASIDE_DEG:
        raise BadInput(f"no way leads there. {surroundings(body).ways_told}")
    return link
