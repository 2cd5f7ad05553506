"""Stand-ins for the errands that a file written for another city names and this one lacks."""

from random import Random

from virl.agent.character import Character
from virl.errors import MindFailed
from virl.geo.globe import LatLng, distance
from virl.mind.lexicon import load_lexicon, words_of
from virl.platform.city.city import City
from virl.platform.city.locate import is_address
from virl.platform.city.places import Place
from virl.platform.city.starts import draw_address, is_there
from virl.platform.city.streetview import Panorama
from virl.routines.directions.destination import nearest_told
from virl.routines.directions.rules import kind_named
from virl.routines.errands.finding import LEFT_OUT
from virl.routines.errands.rules import ErrandQuestion, list_errands
from virl.routines.errands.settings import ERRANDS, Errands, StandIn

WITHIN_M = 2000.0
"""Metres from the start in which a place is looked for, as for directions."""
_DRAWN_AMONG = 5  # nearest places of a kind; chosen


def fit(character: Character, city: City, start: Panorama, seed: int) -> tuple[Character, tuple[str, ...]]:
    """Find for each errand that is not in the city a place of its kind, or for an address one near the start.

    A kind of place becomes the nearest of those in the character's `instead`.

    Args:
        character: as its file has it.
        city: where it runs.
        start: where the run begins.
        seed: for what is chosen at random.
    """
    errands = ERRANDS.of(character)
    if errands is None:
        return character, ()
    random, found, lexicon = Random(seed), dict(errands.stand_ins), load_lexicon()
    kinds = tuple(lexicon.kinds)
    told: list[str] = []
    for where in dict.fromkeys(_wanted_places(errands)):
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
            lacking += nearest_told(city.places, kind_named(where, lexicon), start.position, kinds)
        told.append(f"{lacking}{LEFT_OUT}")
    fitted = errands.model_copy(update={"stand_ins": found})
    return character.model_copy(update={"errands": fitted}), tuple(told)


def _wanted_places(errands: Errands) -> list[str]:
    """Return where the errands lead, as the rules read them; nothing where they do not."""
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
    """Return a place or address in the city to replace `where`; None if there is none."""
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
    """Return the open places of a kind near street view, nearest first."""
    found = [
        place
        for place in city.places.nearby(near, WITHIN_M, [kind])
        if place.is_open and place.name not in taken and city.streetview.nearest(place.position)
    ]
    return sorted(found, key=lambda place: (distance(near, place.position), place.id))


def _to_stand_in(place: Place, kind: str = "", *, does_as_well: bool = True) -> StandIn:
    """Return a place as a stand-in; `kind` is named if it is another than was asked for."""
    title = f"the {kind} {place.name}" if kind else place.name
    return StandIn(title=title, lat=place.position.lat, lng=place.position.lng, does_as_well=does_as_well)
