"""Tools that move: go along the street, turn, tell where one is."""

from pydantic import Field

from virl.errors import BadInput
from virl.geo import compass_word, signed_turn
from virl.platform.streetview import Link
from virl.tools.base import (
    DIRECTION,
    Arguments,
    Direction,
    ToolResult,
    counted,
    from_world,
    heading_of,
    in_words,
    metres,
)
from virl.tools.body import Body

ASIDE_DEG = 50.0  # chosen: a way further off than this does not lead in the direction that was asked for
BEND_DEG = 60.0  # chosen: as long as a street turns no sharper than this it goes straight on
NEAR_M = 40.0  # chosen: the address of a place within this distance is about one's own


class Move(Arguments):
    """Walk along the street from panorama to panorama, usually some 10 m each.

    Give either a direction or the id of a neighbouring panorama. With steps above 1 you go straight on and
    stop before at crossings, dead ends and sharp bends. You then face the way you went. Each panorama counts
    as one of the moves you have.
    """

    direction: Direction | None = Field(None, description=f"Which way to go: {DIRECTION}.")
    pano_id: str | None = Field(
        None, description="Instead of a direction: the id of a neighbour, as where_am_i lists it."
    )
    steps: int = Field(1, ge=1, le=20, description="How many panoramas to go on, 1 to 20.")
    why: str = Field("", max_length=300, description="Why you go there, in a few words.")


class Turn(Arguments):
    """Turn on the spot without moving."""

    direction: Direction = Field(description=f"Which way to face: {DIRECTION}.")


class WhereAmI(Arguments):
    """Tell where you are: position, address, heading, the ways on from here, moves left, day and time."""


def move(body: Body, asked: Move) -> ToolResult:
    """Take a link, and go straight on as far as was asked."""
    link = _wanted(body, asked)
    why = asked.why or f"Goes {in_words(link.heading, body.standing.heading)}."
    gone = 0.0
    for step in range(asked.steps):
        body.go(link, why)
        gone += link.distance
        onward = _straight_on(body)
        if body.panorama.is_crossing or onward is None or body.moves_left <= 0 or step + 1 == asked.steps:
            break
        link = onward
    return ToolResult(f"You went {metres(gone)} in {counted(step + 1, 'move')}.\n{standing_told(body)}")


def turn(body: Body, asked: Turn) -> ToolResult:
    """Face another way."""
    body.turn(heading_of(asked.direction, body.standing.heading))
    return ToolResult(standing_told(body))


def where_am_i(body: Body, asked: WhereAmI) -> ToolResult:  # noqa: ARG001 - as every tool
    """Position, heading, ways and moves left."""
    agent, here = body.agent, body.panorama.position
    near = next((place for place in agent.city.places.nearby(here, NEAR_M) if place.address), None)
    address = [from_world([f"nearest address: {near.address} ({near.name})"])] if near else []
    facts = [f"You are in {agent.city.title} at {here}. It is {agent.character.clock}."]
    return ToolResult("\n".join([*facts, standing_told(body), *address]))


def _wanted(body: Body, asked: Move) -> Link:
    """The link that was asked for."""
    if (asked.direction is None) == (asked.pano_id is None):
        raise BadInput("give either direction or pano_id")
    links = body.links
    if not links:
        raise BadInput("no way leads on from here")
    if asked.pano_id is not None:
        link = next((link for link in links if link.pano_id == asked.pano_id), None)
        if link is None:
            raise BadInput(f"{asked.pano_id!r} is no neighbour of this panorama. {_ways(body)}")
        return link
    assert asked.direction is not None  # noqa: S101 - for the type checker
    heading = heading_of(asked.direction, body.standing.heading)
    link = min(links, key=lambda one: abs(signed_turn(heading, one.heading)))
    if abs(signed_turn(heading, link.heading)) > ASIDE_DEG:
        raise BadInput(f"no way leads there. {_ways(body)}")
    return link


def _straight_on(body: Body) -> Link | None:
    facing = body.standing.heading
    ahead = [link for link in body.links if abs(signed_turn(facing, link.heading)) <= BEND_DEG]
    return min(ahead, key=lambda link: abs(signed_turn(facing, link.heading)), default=None)


def standing_told(body: Body) -> str:
    """The way one faces, the ways from here, and the moves left, in words."""
    facing = body.standing.heading
    faced = f"{compass_word(facing)}, {round(facing) % 360} degrees"
    return f"You face {faced}. {_ways(body)} Moves left: {max(body.moves_left, 0)}."


def _ways(body: Body) -> str:
    facing = body.standing.heading
    ways = "; ".join(
        f"{in_words(link.heading, facing)}, {metres(link.distance)}, pano_id {link.pano_id}"
        for link in body.links
    )
    kind = "A crossing. " if body.panorama.is_crossing else ""
    return f"{kind}Ways from here: {ways or 'none'}."
