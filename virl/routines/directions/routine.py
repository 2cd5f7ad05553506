"""Local, who gives directions: plans a walk, looks which signs are seen from it, and tells it in words.

V-IRL, section 3.4 and appendix B.8; what differs from it is in `docs/reference/agents.md`.
"""

from functools import partial

from pydantic import TypeAdapter

from virl.agent.assembly import Agent
from virl.errors import NoRoute, NoStreetView
from virl.plain_text import plain_lines
from virl.platform.movement.instruction.tourist.signs import SignReader
from virl.platform.places import Place
from virl.platform.streetview import Pose
from virl.routines.directions.destination import find_destination
from virl.routines.directions.landmarks import Lookout
from virl.routines.directions.planning import Directions, directions_for, plan_walk
from virl.routines.directions.settings import DIRECTIONS
from virl.routines.directions.showing import shown
from virl.routines.directions.walkway import straight_on

_PLACE = TypeAdapter(Place)


def run(agent: Agent) -> None:
    """Find the destination, plan the walk, and write the directions; give up where no walk leads there."""
    destination = _destination(agent)
    try:
        directions = _directions(agent, destination)
    except (NoRoute, NoStreetView) as fault:
        agent.run.end("gave up", f"No directions to {destination.name}: {fault}.")
        return
    agent.run.end(
        "finished",
        f"Gave directions to {directions.destination}, {directions.length_m:.0f} m.",
        answer=directions.model_dump(mode="json"),
        files=[agent.run.attach("directions.txt", plain_lines(directions.instruction) + "\n")],
        exhibits=shown(agent.city, directions),
    )


def _destination(agent: Agent) -> Place:
    """The place that the visitor is sent to."""
    if noted := agent.run.noted("destination", "place"):
        if set(noted.data) == {"id"}:  # as earlier versions wrote it
            return agent.city.places.details(str(noted.data["id"]))
        return _PLACE.validate_python(noted.data)
    place = find_destination(
        agent.city.places,
        agent.city.streetview,
        agent.mind,
        agent.start.position,
        DIRECTIONS.of(agent.character),
        question=agent.character.intention,
        background=agent.character.background,
        place_types=agent.senses.place_types,
        prompts=agent.prompts,
    )
    text = f"They want to go to {place.name}, {place.address}."
    data = _PLACE.dump_python(place, mode="json")
    agent.run.note("destination", "place", text, data=data)
    return place


def _directions(agent: Agent, destination: Place) -> Directions:
    """The walk there, looked at and put into words."""
    if noted := agent.run.noted("directions", destination.id):
        return Directions.model_validate(noted.data)
    settings = DIRECTIONS.of(agent.character)
    start = Pose(agent.start.id, agent.character.heading or 0.0)
    signs = SignReader(agent.city.streetview, agent.models.reader(settings.reader), agent.city.cheap_view)
    lookout = Lookout(agent.city.places, signs)
    walk = plan_walk(agent.city.streetview, agent.city.maps, agent.mover, start, destination, lookout)
    directions = directions_for(
        agent.mind,
        walk,
        destination,
        lookout,
        count_crossings=settings.count_crossings,
        beyond=partial(straight_on, agent.city.streetview, agent.mover, walk[-1]),
        prompts=agent.prompts,
    )
    agent.run.note(
        "directions",
        destination.id,
        directions.instruction,
        data=directions.model_dump(mode="json"),
    )
    return directions
