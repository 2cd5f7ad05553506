"""Errands in a city: what is to be done, the place and panorama for it, and stand-ins for what it lacks."""

from dataclasses import dataclass, field
from random import Random

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.errors import BadInput, MindFailed, NotFound, VirlError
from virl.files.json_reading import JsonRecord
from virl.geo.globe import LatLng, distance
from virl.journal.records import NoteRecord
from virl.mind.lexicon import load_lexicon, words_of
from virl.mind.rules import RuleMind
from virl.platform.city.city import City
from virl.platform.city.locate import is_address, locate
from virl.platform.city.places import Place
from virl.platform.city.starts import draw_address, is_there
from virl.platform.city.streetview import Panorama, relocate
from virl.routines.directions.destination import describe_nearest
from virl.routines.directions.rules import kind_named
from virl.routines.errands.rules import Demands, ErrandList, ErrandQuestion, list_errands, read_demands
from virl.routines.errands.settings import ERRANDS, Errands, StandIn

READ, STOP = "errands", "stop"
"""Topics under which the journal keeps its notes on errands read from a text, and on stops found."""
START, HOME = "the start", "home"
LEFT_OUT = ": that errand is left out."
"""End of the sentence that says which place the city lacks for an errand."""
WITHIN_M = 2000.0
"""Metres from the start within which a place is looked for, as for directions."""
_DRAWN_AMONG = 5  # nearest places of a kind; chosen


class ErrandStop(JsonRecord):
    """A place or address where an errand is done, with the panorama nearest to it."""

    title: str
    """Title of the stop: an address, or a place's name."""
    what: str
    """The errand to be done there; empty if not told."""
    position: LatLng
    """Position of the address or place."""
    pano_id: str
    """Id of the panorama nearest to the stop."""
    stand: LatLng
    """Position of the panorama nearest to the stop."""
    lacking: str = ""
    """Place or address asked for, if the stop is a substitute that does less well; else empty."""


@dataclass(frozen=True, slots=True)
class Task:
    """The errands of a run, found in the city: start, stops, end, and what is demanded."""

    errands: Errands
    """The errands as set in the character's file."""
    start: ErrandStop
    stops: tuple[ErrandStop, ...]
    """The stops in the order given."""
    end: ErrandStop | None
    """The end of the trip; `None` if any stop may be last."""
    left_out: tuple[str, ...] = ()
    """Sentences on errands that cannot be done, with reasons."""
    demands: Demands = field(default_factory=Demands)
    """Order and deadline that the text demands, as rules read it."""


def find_errands(agent: Agent) -> Task:
    """Return a character's errands, read and found in the city.

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
    if errands.stops:
        listed, back_home = [(stop, "") for stop in errands.stops], False
    else:
        read = _read_errands(agent, errands.text)
        listed, back_home = [(errand.where, errand.what) for errand in read.errands], read.back_home
    found: list[ErrandStop | str] = []
    for number, (where, what) in enumerate(listed):
        again = [
            found[one] for one in range(number) if listed[one] == (where, what) and not is_address(where)
        ]
        taken = tuple(one for one in again if isinstance(one, ErrandStop))
        # A name means the same place again; a kind of place, in small letters, the next one.
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


def fit(character: Character, city: City, start: Panorama, seed: int) -> tuple[Character, tuple[str, ...]]:
    """Replace places and addresses of errands that a city lacks; return (character, sentences on changes).

    A place type becomes the nearest place of the types in the character's `instead`.

    Args:
        character: character as its file has it.
        city: city of the run.
        start: panorama at which the run begins.
        seed: seed of what is chosen at random.
    """
    errands = ERRANDS.of(character)
    if errands is None:
        return character, ()
    random, found, lexicon = Random(seed), dict(errands.stand_ins), load_lexicon()
    kinds = tuple(lexicon.kinds)
    told: list[str] = []
    for where in dict.fromkeys(_errand_places(errands)):
        if where in found or is_there(city, where, start.position):
            continue
        lacking = f"{where} is not in {city.title}"
        if where in kinds:
            lacking = f"No {words_of(where)} within {WITHIN_M:,.0f} m"
        if stand_in := _find_stand_in(character, city, where, start.position, random, found):
            found[where] = stand_in
            told.append(f"{lacking}: goes to {stand_in.title} instead.")
            continue
        if not is_address(where):
            lacking += describe_nearest(city.places, kind_named(where, lexicon), start.position, kinds)
        told.append(f"{lacking}{LEFT_OUT}")
    fitted = errands.model_copy(update={"stand_ins": found})
    return character.model_copy(update={"errands": fitted}), tuple(told)


def _fault_of(agent: Agent, reason: str) -> VirlError:
    """Return the error for errands that cannot be run, which blames the file, the model or the city."""
    if agent.run.start.replaced:
        return NotFound(f"the errands cannot be run in {agent.city.title}: {agent.run.start.replaced[0]}")
    told = f"{agent.run.start.agent}: errands: {reason}"
    return (
        NotFound(told)
        if agent.run.find_note(READ, "text") and not isinstance(agent.mind, RuleMind)
        else BadInput(told)
    )


def _read_errands(agent: Agent, text: str) -> ErrandList:
    """Return the errands that the mind reads in a text, noted once; raise an error if there are none."""
    if noted := agent.run.find_note(READ, "text"):
        listed = ErrandList.model_validate(noted.data)
    else:
        listed = agent.mind.ask(agent.prompts.load("errands/list", ErrandList), text=text)
        places = ", ".join(errand.where for errand in listed.errands)
        agent.run.note(
            READ,
            "text",
            f"{len(listed.errands)} errands: {places}." + (" Then home." if listed.back_home else ""),
            data=listed.model_dump(mode="json"),
        )
    if not listed.errands:
        raise _fault_of(agent, "the text names no place to go to: list `stops`")
    return listed


def _find_stop(
    agent: Agent, key: str, where: str, what: str, taken: tuple[ErrandStop, ...] = ()
) -> ErrandStop | str:
    """Return the stop of an errand, at none of the places `taken`; or the reason why it is left out."""
    noted = agent.run.find_note(STOP, key) or _note_stop(agent, key, where, what, taken)
    if reason := noted.data.get("left_out"):
        return str(reason)
    return ErrandStop.model_validate(noted.data)


def _locate(agent: Agent, where: str, taken: tuple[ErrandStop, ...]) -> tuple[str, LatLng, str]:
    """Return (title, position, `where` for a lesser substitute or "") of an errand's place, none of `taken`.

    If stops of this type are taken, it is the nearest other open place of the type. `NotFound` is raised
    if the city has none.
    """
    errands, here = ERRANDS.of(agent.character), agent.start.position
    if not taken:
        if errands and (one := errands.stand_ins.get(where)):
            return one.title, LatLng(one.lat, one.lng), "" if one.does_as_well else where
        return (*locate(agent.city, where, here), "")
    open_ones = (place for place in agent.city.places.search(where, here) if place.is_open)
    others = [place for place in open_ones if all(place.position != one.position for one in taken)]
    if not others:
        raise NotFound(f"no other {where} than {', '.join(one.title for one in taken)} in {agent.city.title}")
    nearest = min(others, key=lambda place: distance(here, place.position))
    return nearest.name, nearest.position, ""


def _note_stop(agent: Agent, key: str, where: str, what: str, taken: tuple[ErrandStop, ...]) -> NoteRecord:
    """Find an errand's place and panorama, and return the note on the stop or on its omission."""
    try:
        title, position, lacking = _locate(agent, where, taken)
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


def _errand_places(errands: Errands) -> list[str]:
    """Return the places that errands lead to, as rules read them; empty if rules cannot read the errands."""
    end = [errands.end] if errands.end not in (None, "home", "open") else []
    if errands.stops:
        return [*errands.stops, *filter(None, end)]
    try:
        listed = list_errands(ErrandQuestion(text=errands.text), load_lexicon()).errands
    except MindFailed:
        listed = ()
    return [*(one.where for one in listed), *filter(None, end)]


def _find_stand_in(
    character: Character,
    city: City,
    where: str,
    near: LatLng,
    random: Random,
    found: dict[str, StandIn],
) -> StandIn | None:
    """Return a stand-in for the place or address `where`, near `near` and not yet in `found`, or `None`."""
    taken = {one.title for one in found.values()}
    if kind := "" if is_address(where) else kind_named(where, load_lexicon()):
        of_kind = _places(city, kind, near, taken)[:_DRAWN_AMONG] if where != kind else []
        if of_kind:
            return _to_stand_in(random.choice(of_kind))
        for other in character.instead.get(kind, ()):
            if places := _places(city, other, near, taken):
                return _to_stand_in(places[0], words_of(other), does_as_well=other in character.accepts)
        return None
    address = draw_address(city, near, taken, random)
    if address is None:
        return None
    return StandIn(title=address.text, lat=address.position.lat, lng=address.position.lng)


def _places(city: City, kind: str, near: LatLng, taken: set[str]) -> list[Place]:
    """Return the open places of a type near street view and not taken, nearest first."""
    found = [
        place
        for place in city.places.nearby(near, WITHIN_M, [kind])
        if place.is_open and place.name not in taken and city.streetview.nearest(place.position)
    ]
    return sorted(found, key=lambda place: (distance(near, place.position), place.id))


def _to_stand_in(place: Place, kind: str = "", *, does_as_well: bool = True) -> StandIn:
    """Return a place as a stand-in; `kind` names its type if that is another than asked for."""
    title = f"the {kind} {place.name}" if kind else place.name
    return StandIn(title=title, lat=place.position.lat, lng=place.position.lng, does_as_well=does_as_well)
