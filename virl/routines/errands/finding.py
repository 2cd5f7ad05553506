"""Finding errands in a city: what is to be done, where that is, and the panorama there."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from virl.agent.agent import Agent
from virl.errors import BadInput, NotFound, VirlError
from virl.geo.globe import LatLng, distance
from virl.journal.records import NoteRecord
from virl.mind.lexicon import words_of
from virl.mind.rules import RuleMind
from virl.platform.city.locate import is_address, locate
from virl.platform.city.streetview import relocate
from virl.routines.errands.replies import ErrandList
from virl.routines.errands.rules import Demands, read_demands
from virl.routines.errands.settings import ERRANDS, Errands

READ, STOP = "errands", "stop"
"""Topics of notes."""
START, HOME = "the start", "home"
LEFT_OUT = ": that errand is left out."
"""The end of what is told of an errand that a town lacks."""


class ErrandStop(BaseModel):
    """Somewhere to go."""

    model_config = ConfigDict(frozen=True)

    title: str
    """The title of the stop: an address, or a place's name."""
    what: str
    """The errand to be done there; may be empty."""
    position: LatLng
    """The address or place itself."""
    pano_id: str
    """The panorama nearest to it."""
    stand: LatLng
    """The position of that panorama."""
    lacking: str = ""
    """The wish that a substitute does not fulfil as well; empty if it is no such substitute."""


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that was asked for."""

    errands: Errands
    """The errands as the character's file has them."""
    start: ErrandStop
    stops: tuple[ErrandStop, ...]
    """The stops in the order given."""
    end: ErrandStop | None
    """`None` where the end is open."""
    left_out: tuple[str, ...] = ()
    """The reasons why some of the errands cannot be done."""
    demands: Demands = field(default_factory=Demands)
    """The order and the deadline that the text demands, as rules read it."""


def find_errands(agent: Agent) -> Task:
    """Read what is to be done and find it in the city; what was found before a kill is not asked again.

    Raises:
        BadInput: the character has no errands, none of them is to be found, or the end is not.
        NotFound: the same in a city that the errands were not written for, or as a model read them.
        NoStreetView: one is too far from any street view.
        MindFailed: the mind cannot read the text.
    """
    errands = ERRANDS.of(agent.character)
    if errands is None:
        raise BadInput(
            f"{agent.run.start.agent}: `errands:` is missing: list `stops`, or describe them in `text`"
        )
    wanted, back_home = _wanted_errands(agent, errands)
    found: list[ErrandStop | str] = []
    for number, (where, what) in enumerate(wanted):
        again = [
            found[one] for one in range(number) if wanted[one] == (where, what) and not is_address(where)
        ]
        taken = tuple(one for one in again if isinstance(one, ErrandStop))
        found.append(_find_stop(agent, str(number + 1), where, what, taken if where.islower() else ()))
    stops = tuple(one for one in found if isinstance(one, ErrandStop))
    left_out = tuple(one for one in found if isinstance(one, str))
    if not stops:
        raise _fault_of(agent, left_out[0])
    here = agent.start.position
    name = agent.character.start if isinstance(agent.character.start, str) else START
    start = ErrandStop(title=name, what="", position=here, pano_id=agent.start.id, stand=here)
    match errands.end or (HOME if back_home else "open"):
        case "open":
            end = None
        case "home":
            end = start
        case address:
            last = _find_stop(agent, "end", address, "")
            if isinstance(last, str):
                raise _fault_of(agent, last)
            end = last
    demands = Demands()
    if isinstance(agent.mind, RuleMind):
        minute = agent.character.day_and_minute[1]
        demands = read_demands(errands.text, agent.character.intention, minute)
    return Task(errands, start, stops, end, left_out, demands)


def _fault_of(agent: Agent, reason: str) -> VirlError:
    """Return the fault of errands that cannot be run: of their file, of a model's reading, or of the city."""
    if agent.run.start.replaced:
        return NotFound(f"the errands cannot be run in {agent.city.title}: {agent.run.start.replaced[0]}")
    told = f"{agent.run.start.agent}: errands: {reason}"
    return (
        NotFound(told)
        if agent.run.find_note(READ, "text") and not isinstance(agent.mind, RuleMind)
        else BadInput(told)
    )


def _wanted_errands(agent: Agent, errands: Errands) -> tuple[Sequence[tuple[str, str]], bool]:
    """Return the places and errands asked for, and whether home comes last."""
    if errands.stops:
        return [(stop, "") for stop in errands.stops], False
    noted = agent.run.find_note(READ, "text") or _read_errands(agent, errands.text)
    told = ErrandList.model_validate(noted.data)
    if not told.errands:
        raise _fault_of(agent, "the text names no place to go to: list `stops`")
    return [(errand.where, errand.what) for errand in told.errands], told.back_home


def _read_errands(agent: Agent, text: str) -> NoteRecord:
    """Ask the mind to read the errands out of a text, and note them."""
    told = agent.mind.ask(agent.prompts.load("errands/list", ErrandList), text=text)
    places = ", ".join(errand.where for errand in told.errands)
    return agent.run.note(
        READ,
        "text",
        f"{len(told.errands)} errands: {places}." + (" Then home." if told.back_home else ""),
        data=told.model_dump(mode="json"),
    )


def _find_stop(
    agent: Agent, key: str, where: str, what: str, taken: tuple[ErrandStop, ...] = ()
) -> ErrandStop | str:
    """Return where an errand is done; why it is left out, if no place, or no other, is there or open."""
    noted = agent.run.find_note(STOP, key) or _note_stop(agent, key, where, what, taken)
    if reason := noted.data.get("left_out"):
        return str(reason)
    return ErrandStop.model_validate(noted.data)


def _locate(agent: Agent, where: str) -> tuple[str, LatLng, str]:
    """Return the title and position of an errand, and what it does not do as well as.

    Raises:
        NotFound: the city has no such place, and nothing in its place.
    """
    errands = ERRANDS.of(agent.character)
    if errands and (one := errands.stand_ins.get(where)):
        return one.title, LatLng(one.lat, one.lng), "" if one.does_as_well else where
    title, position = locate(agent.city, where, agent.start.position)
    return title, position, ""


def _another(agent: Agent, where: str, taken: tuple[ErrandStop, ...]) -> tuple[str, LatLng, str]:
    """Return the title and position of the nearest open place of a kind that is none of those taken.

    Raises:
        NotFound: the city has no other.
    """
    here = agent.start.position
    open_ones = (place for place in agent.city.places.search(where, here) if place.is_open)
    others = [place for place in open_ones if all(place.position != one.position for one in taken)]
    if not others:
        raise NotFound(f"no other {where} than {', '.join(one.title for one in taken)} in {agent.city.title}")
    nearest = min(others, key=lambda place: distance(here, place.position))
    return nearest.name, nearest.position, ""


def _note_stop(agent: Agent, key: str, where: str, what: str, taken: tuple[ErrandStop, ...]) -> NoteRecord:
    """Find the place of an errand and its panorama, and note the stop, or that it is left out."""
    try:
        title, position, lacking = _another(agent, where, taken) if taken else _locate(agent, where)
    except NotFound as fault:  # it may have closed, or the geocoder may have found something elsewhere
        begins = (f"{where} is not in", f"No {words_of(where)} within")
        told = next((one for one in agent.run.start.replaced if one.startswith(begins)), str(fault))
        told = told.removesuffix(LEFT_OUT)
        return agent.run.note(STOP, key, f"Left out: {told}.", data={"left_out": told})
    panorama = relocate(agent.city.streetview, position, title)
    stop = ErrandStop(
        title=title,
        what=what,
        position=position,
        pano_id=panorama.id,
        stand=LatLng(*panorama.position),
        lacking=lacking,
    )
    metres = distance(position, panorama.position)
    errand = f"{what}: {title}" if what else title
    return agent.run.note(
        STOP,
        key,
        f"{errand} is at {position}, {metres:.0f} m from the nearest panorama.",
        data=stop.model_dump(mode="json"),
    )
