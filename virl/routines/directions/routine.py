"""Local, who gives directions: plans a walk, looks which signs are seen from it, and tells it in words.

V-IRL, section 3.4 and appendix B.8; what differs from it is in `docs/reference/agents.md`.
"""

from functools import partial

from pydantic import TypeAdapter

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.errors import NoRoute, NoStreetView, NotFound
from virl.mind.lexicon import Lexicon
from virl.mind.understanding import Reading
from virl.plain_text import plain_lines
from virl.platform.city.claims import ArrivalClaim
from virl.platform.city.outcome import Outcome
from virl.platform.city.places import Place
from virl.platform.city.streetview import Pose
from virl.platform.navigators.tourist.signs import SignReader
from virl.routines.by_tools.picturing import keep_picture
from virl.routines.directions.destination import Destination, find_destination
from virl.routines.directions.planning import Directions, directions_for, plan_walk
from virl.routines.directions.rules import read_question
from virl.routines.directions.settings import DIRECTIONS
from virl.routines.directions.showing import directions_exhibits
from virl.routines.directions.walkway import Lookout, straight_on

_PLACE, _DESTINATION = TypeAdapter(Place), TypeAdapter(Destination)


def _read_question(character: Character, lexicon: Lexicon) -> Reading | None:
    """Return the question with its words that rules act on; `None` if `to` names a place."""
    return read_question(DIRECTIONS.of(character).to, character, lexicon, "directions")


WISH = Wish(_read_question, field="intention")


def run(agent: Agent) -> None:
    """Find the destination, plan the walk and write directions; end the run, if need be without any."""
    try:
        destination = _destination(agent)
    except NotFound as fault:
        agent.run.end(Outcome("not found", f"{fault}."))
        return
    try:
        directions = _directions(agent, destination)
    except (NoRoute, NoStreetView) as fault:
        agent.run.end(
            Outcome("blocked", destination.with_lacks(f"No directions to {destination.place.name}: {fault}."))
        )
        return
    keep_picture(agent, "", destination.place, is_view=False)
    told = f"Gave directions to {destination.display_name}, {directions.length_m:.0f} m."
    agent.run.end(
        Outcome(
            "finished" if destination.does_as_well else "substituted",
            destination.with_lacks(told),
        ),
        answer=directions.model_dump(mode="json"),
        files=[agent.run.attach("directions.txt", plain_lines(directions.instruction) + "\n")],
        exhibits=directions_exhibits(agent.city, directions),
        claims=[
            ArrivalClaim(
                directions.destination, agent.city.streetview.panorama(directions.route[-1]).position
            )
        ],
    )


def _destination(agent: Agent) -> Destination:
    """Return the place to which the visitor is sent, noted once; raise `NotFound` if there is none."""
    if noted := agent.run.find_note("destination", "place"):
        if set(noted.data) == {"id"}:  # as earlier versions wrote it
            return Destination(agent.city.places.details(str(noted.data["id"])))
        if "place" in noted.data:
            return _DESTINATION.validate_python(noted.data)
        return Destination(_PLACE.validate_python(noted.data))
    found = find_destination(agent, DIRECTIONS.of(agent.character))
    text = f"They want to go to {found.place.name}, {found.place.address}."
    if found.lacking:
        text = f"{found.lacking}: they go to {found.display_name}."
    data = _DESTINATION.dump_python(found, mode="json")
    agent.run.note("destination", "place", text, data=data)
    return found


def _directions(agent: Agent, found: Destination) -> Directions:
    """Return directions to a place, noted once; raise `NoRoute` or `NoStreetView` without a walk."""
    destination = found.place
    if noted := agent.run.find_note("directions", destination.id):
        return Directions.model_validate(noted.data)
    settings = DIRECTIONS.of(agent.character)
    start = Pose(agent.start.id, agent.character.heading or 0.0)
    signs = SignReader(
        agent.city.streetview,
        agent.models.keeping_reader(settings.reader),
        agent.city.capabilities.cheap_view,
    )
    lookout = Lookout(agent.city.places, signs, free=agent.city.ledger is None)
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
    if found.lacking:
        update = {"lacking": found.lacking, "taken": found.taken, "succeeded": found.does_as_well}
        directions = directions.model_copy(update=update)
    agent.run.note(
        "directions",
        destination.id,
        directions.instruction,
        data=directions.model_dump(mode="json"),
    )
    return directions
