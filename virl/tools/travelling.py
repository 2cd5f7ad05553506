"""Tools that take one elsewhere at once, and that tell how long the ways take."""

from math import isfinite

from pydantic import Field

from virl.errors import BadInput
from virl.geo import distance
from virl.platform.maps import TravelMode
from virl.platform.relocate import relocate as nearest_panorama
from virl.tools.base import Arguments, ToolResult, metres, short
from virl.tools.body import Body
from virl.tools.finding import Target, position_of, target_of
from virl.tools.moving import standing_told

MOST_TARGETS = 20


class Relocate(Target):
    """Stand at once at the street view nearest to an address or a place, without walking there.

    You face the same way as before. It counts as one of the moves you have.
    """

    why: str = Field("", max_length=300, description="Why you go there, in a few words.")


class TravelTimes(Arguments):
    """How long the ways take from where you are to several addresses and places, soonest first."""

    addresses: list[str] = Field(
        default_factory=list,
        max_length=MOST_TARGETS,
        description=f"Where to: addresses, or 'lat,lng'; with place_ids up to {MOST_TARGETS}.",
    )
    place_ids: list[str] = Field(
        default_factory=list, max_length=MOST_TARGETS, description="Where to: ids of places."
    )
    mode: TravelMode = Field("walking", description="How: walking, cycling or driving.")


def relocate(body: Body, asked: Relocate) -> ToolResult:
    """Stand elsewhere."""
    target = target_of(body, asked)
    told = asked.address if asked.place_id is None else f"place {asked.place_id}"
    there = nearest_panorama(body.agent.city.streetview, target, short(told or "", 80))
    if there.id == body.standing.pano_id:
        raise BadInput("you stand there already")
    body.relocate(there, asked.why or f"Relocates to {short(told or '', 120)}.")
    away = distance(there.position, target)
    return ToolResult(f"You are at {there.position}, {metres(away)} from it.\n{standing_told(body)}")


def travel_times(body: Body, asked: TravelTimes) -> ToolResult:
    """Minutes to each target."""
    names = [*asked.addresses, *asked.place_ids]
    if not 0 < len(names) <= MOST_TARGETS:
        raise BadInput(f"give 1 to {MOST_TARGETS} addresses and place_ids")
    city = body.agent.city
    targets = [position_of(body, address) for address in asked.addresses]
    targets += [city.places.details(place_id).position for place_id in asked.place_ids]
    [seconds] = city.maps.travel_times([body.panorama.position], targets, asked.mode)
    lines = [
        f"{short(name, 80)}: {f'{time / 60:.0f} min' if isfinite(time) else 'no way'}"
        for time, name in sorted(zip(map(float, seconds), names, strict=True))
    ]
    return ToolResult(f"From here, {asked.mode}:\n" + "\n".join(lines))
