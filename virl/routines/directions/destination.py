"""Where a visitor wants to go: a place by its name, by its sort, or by a question."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import utils

from virl.agent.agent import Agent
from virl.errors import BadInput, NotFound, did_you_mean
from virl.geo.globe import LatLng, distance
from virl.mind.lexicon import words_of
from virl.mind.rules import RuleMind
from virl.platform.city.names import is_shortened, name_ratio
from virl.platform.city.places import Place, Places
from virl.routines.directions.rules import PlacePick, PlaceQuery, is_named
from virl.routines.directions.settings import DirectionsSettings

SAME_NAME = 90.0
"""Least likeness, 0 to 100, of a name that counts as the one asked for. Chosen."""
SENTENCE_ENDS = (".", "?", "!", "\N{IDEOGRAPHIC FULL STOP}", "\N{FULLWIDTH QUESTION MARK}")
"""Punctuation at the end of a text that makes it a sentence, not a name."""
NEAREST_M = 1.0
"""Radius in metres within which a listing of places must be complete; small: only the nearest are used."""
CANDIDATES = 5
"""Upper bound on the number of places among which a local chooses. Chosen."""
_NEAREST = re.compile(r"\b(?:nearest|closest)\b", re.IGNORECASE)
FARTHEST_M = 50_000.0
"""Search radius in metres for the nearest place of a type if none is within reach."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A place to go to; for a substitute, with what the town lacks."""

    place: Place
    lacking: str = ""
    """A sentence's beginning, such as `No library within 2,000 m`; empty unless the place is a substitute."""
    taken: str = ""
    """Words for the substitute's type; empty unless the place is a substitute."""
    does_as_well: bool = True
    """True if the place is as asked for, or of a type that the character accepts."""

    @property
    def display_name(self) -> str:
        """Name of the place; a substitute's with its type, such as "the cafe Blue Door"."""
        return f"the {self.taken} {self.place.name}" if self.taken else self.place.name

    def with_lacks(self, text: str) -> str:
        """Return a text, preceded by a sentence on what the town lacks if the place is a substitute."""
        return f"{self.lacking}. {text}" if self.lacking else text


def find_destination(agent: Agent, settings: DirectionsSettings) -> Destination:
    """Return the place near an agent's start that a visitor's question asks for, or a substitute for it.

    The question, the greatest distance and the choice among several places are in `settings`; without a
    question, it is the agent's intention.

    Raises:
        NotFound: there is none within reach, and no substitute; says what is nearest to it.
        BadInput: a substitute type is no place type.
    """
    places, here, place_types = agent.city.places, agent.start.position, agent.senses.place_types
    asked = settings.to.strip() or agent.character.intention
    kind = _named_kind(asked, place_types)
    is_name = kind is None and not asked.rstrip().endswith(SENTENCE_ENDS)
    if is_name and (named := _find_named(agent, asked, settings.within)):
        return Destination(named)
    if kind is None:
        prompt = agent.prompts.load("directions/destination", PlaceQuery)
        searched = agent.mind.ask(prompt, question=asked, place_types=list(place_types)).search
        kind = _named_kind(searched, place_types)
        if kind is None:
            if named := _find_named(agent, searched, settings.within):
                return Destination(named)
            kind = searched
    if kind in place_types:
        listed = places.nearby(here, settings.within, [kind], whole=NEAREST_M)
    else:
        listed = [
            place for place in places.search(kind, here) if distance(here, place.position) <= settings.within
        ]
        listed.sort(key=lambda place: (distance(here, place.position), place.id))
    found = [place for place in listed if place.is_open]
    if not found:
        return _substitute(agent, kind, settings.within)
    if is_name and isinstance(agent.mind, RuleMind) and is_named(asked):  # a word of the name gave the kind
        lacking = f"No place called {asked} within {settings.within:,.0f} m"
        return Destination(found[0], lacking, words_of(kind), does_as_well=False)
    asks_nearest = bool(_NEAREST.search(asked))
    candidates, chosen = found[:CANDIDATES], found[0]
    if asks_nearest and not agent.city.ledger:  # travel times cost money elsewhere
        seconds = agent.city.maps.travel_times([here], [place.position for place in candidates])[0]
        chosen = candidates[int(seconds.argmin())]
    elif settings.choose != "nearest" and not asks_nearest and len(found) > 1:
        chosen = _choose_place(agent, candidates, asked)
    return Destination(chosen)


def _substitute(agent: Agent, kind: str, within: float) -> Destination:
    """Return the nearest open place of the first type that the character takes instead of a missing one.

    `NotFound`, raised if there is none, names the nearest place of the missing type, else of any.
    """
    places, here, place_types = agent.city.places, agent.start.position, agent.senses.place_types
    lacking = f"No {words_of(kind)} within {within:,.0f} m"
    listed = agent.character.instead.get(kind, ())
    if unknown := [one for one in listed if one not in place_types]:
        raise BadInput(
            f"instead: {kind}: {unknown[0]!r} is no kind of place{did_you_mean(unknown[0], place_types)}"
        )
    for other in listed:
        near = places.nearby(here, within, [other], whole=NEAREST_M)
        for place in near:
            if place.is_open and agent.city.streetview.nearest(place.position):
                return Destination(place, lacking, words_of(other), other in agent.character.accepts)
    raise NotFound(f"{lacking} of the start{describe_nearest(places, kind, here, place_types)}")


def describe_nearest(places: Places, kind: str, here: LatLng, place_types: Sequence[str]) -> str:
    """Return the end of a sentence on a missing place: the nearest of its type, else of any type.

    It begins with a comma or semicolon.

    Args:
        places: directory of places.
        kind: place type, or other words, of which none was found within reach.
        here: position of the search.
        place_types: place types that the city knows.
    """
    if kind in place_types:
        near = places.nearby(here, FARTHEST_M, [kind], whole=NEAREST_M)
        if far := next((place for place in near if place.is_open), None):
            return f"; the nearest is {far.name}, {distance(here, far.position):,.0f} m off"
    near = places.nearby(here, FARTHEST_M, whole=NEAREST_M)
    if (other := next((one for one in near if one.is_open), None)) is None:
        return "; no place at all is known here"
    kinds = f" ({words_of(other.types[0])})" if other.types else ""
    return (
        f", and none farther off; the nearest place is {other.name}{kinds}, "
        f"{distance(here, other.position):,.0f} m off"
    )


def _find_named(agent: Agent, name: str, within: float) -> Place | None:
    """Return the nearest open place with a name or short form of it, within `within` metres; `None` if none.

    Of several, one near street view: a chain has branches in yards and stations, too.
    """
    here, streetview = agent.start.position, agent.city.streetview
    near = [
        place
        for place in agent.city.places.search(name, here)
        if place.is_open and distance(here, place.position) <= within
    ]
    found = [place for place in near if name_ratio(place.name, name) >= SAME_NAME]
    found = found or [place for place in near if is_shortened(place.name, name)]
    found.sort(key=lambda place: (distance(here, place.position), place.id))
    near_a_street = (place for place in found if streetview.nearest(place.position)) if found[1:] else ()
    return next(iter(near_a_street), next(iter(found), None))


def _named_kind(asked: str, place_types: Sequence[str]) -> str | None:
    """Return the place type if a text is nothing but its name, with or without an article; else `None`."""
    plain = utils.default_process(asked.replace("_", " "))
    for article in ("a ", "an ", "the nearest ", "nearest ", "the next "):
        plain = plain.removeprefix(article)
    return next((kind for kind in place_types if kind.replace("_", " ") == plain), None)


def _choose_place(agent: Agent, found: Sequence[Place], asked: str) -> Place:
    """Return the place in `found` that the mind chooses for a question and the asker's background."""
    pick = agent.mind.ask(
        agent.prompts.load("directions/choice", PlacePick),
        question=asked,
        background=agent.character.background,
        places=[
            {
                "name": place.name,
                "types": list(place.types),
                "rating": place.rating,
                "review_count": place.review_count,
                "metres": distance(agent.start.position, place.position),
            }
            for place in found
        ],
    )
    return found[pick.index]
