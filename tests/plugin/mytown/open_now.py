"""A tool that lists the places around that are open."""

from pydantic import Field

from virl.agent.tool import ToolData, tool
from virl.tools.base import Away, Listing, ToolResult, away_to, tell_data
from virl.tools.body import Body


class OpenPlace(ToolData):
    """A place that is open."""

    id: str
    name: str
    away: Away

    def __str__(self) -> str:
        return f"id {self.id} | {self.name} | {self.away}"


@tool("Open now")
def open_now(
    body: Body,
    radius_m: float = Field(100.0, gt=0, le=1000, description="How far around you, in metres, up to 1000."),
) -> ToolResult[Listing[OpenPlace]]:
    """List the places around you that are open now, nearest first."""
    here, places = body.panorama.position, body.agent.city.places
    known = [places.details(place.id) for place in places.nearby(here, radius_m)]
    found = [
        OpenPlace(id=place.id, name=place.name, away=away_to(here, place.position))
        for place in known
        if place.open_at(*body.agent.character.day_and_minute)
    ]
    return tell_data(Listing[OpenPlace].fit(found, nothing="Nothing around is open."))
