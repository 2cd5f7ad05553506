"""Where a visitor wants to go: a place by its name, by its sort, or by a question."""

from collections.abc import Sequence

from rapidfuzz import utils

from virl.errors import NotFound
from virl.geo import LatLng, distance
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.names import is_shortened, name_ratio
from virl.platform.places import Place, Places
from virl.platform.streetview import StreetView
from virl.routines.directions.replies import PlacePick, PlaceQuery
from virl.routines.directions.settings import DirectionsSettings

SAME_NAME = 90.0
"""Of 100: a place whose name is as like to what was asked for is meant. Chosen."""

SENTENCE_ENDS = (".", "?", "!", "\N{IDEOGRAPHIC FULL STOP}", "\N{FULLWIDTH QUESTION MARK}")
"""A text with one of these at its end is a sentence, and no name to look for."""

NEAREST_M = 1.0
"""To which radius the places of a kind have to be whole: only the nearest are chosen among."""

CANDIDATES = 5
"""How many places a local chooses among. Chosen."""


def find_destination(
    places: Places,
    streetview: StreetView,
    mind: Mind,
    here: LatLng,
    settings: DirectionsSettings,
    *,
    question: str,
    background: str,
    place_types: Sequence[str],
    prompts: Prompts = OUR_PROMPTS,
) -> Place:
    """The place to go to.

    Args:
        places: who knows the places.
        streetview: nobody is sent to a place that it does not come near to, if another answers as well.
        mind: reads a question, and chooses where that is wanted.
        here: where the visitor stands.
        settings: where to, how far at most, and which of several.
        question: asked where the settings do not say where to.
        background: of the local.
        place_types: the sorts of places there are.
        prompts: what the mind is asked with.

    Raises:
        NotFound: there is none within reach.
    """
    asked = settings.to.strip() or question
    kind = _kind(asked, place_types)
    is_name = kind is None and not asked.rstrip().endswith(SENTENCE_ENDS)
    if is_name and (named := _named(places, streetview, asked, here, settings.within)):
        return named
    if kind is None:
        prompt = prompts.load("directions/destination", PlaceQuery)
        searched = mind.ask(prompt, question=asked, place_types=list(place_types)).search
        kind = _kind(searched, place_types)
        if kind is None:
            if named := _named(places, streetview, searched, here, settings.within):
                return named
            kind = searched
    found = [place for place in _of_kind(places, kind, here, settings.within, place_types) if place.is_open]
    if not found:
        raise NotFound(
            f"no {kind} within {settings.within:g} m of {here}: ask for something else, or increase "
            f"`directions: within`"
        )
    if settings.choose == "nearest" or len(found) == 1:
        return found[0]
    return _chosen(mind, found[:CANDIDATES], here, asked, background, prompts)


def _named(places: Places, streetview: StreetView, name: str, here: LatLng, within: float) -> Place | None:
    """The nearest open place that goes by this name; where there is none, by a shorter form of it.

    Of several, one near street view: a chain has branches in yards and stations, too.
    """
    near = [
        place
        for place in places.search(name, here)
        if place.is_open and distance(here, place.position) <= within
    ]
    found = [place for place in near if name_ratio(place.name, name) >= SAME_NAME]
    found = found or [place for place in near if is_shortened(place.name, name)]
    found.sort(key=lambda place: (distance(here, place.position), place.id))
    near_a_street = (place for place in found if streetview.nearest(place.position)) if found[1:] else ()
    return next(iter(near_a_street), next(iter(found), None))


def _kind(asked: str, place_types: Sequence[str]) -> str | None:
    plain = utils.default_process(asked.replace("_", " "))
    for article in ("a ", "an ", "the nearest ", "nearest ", "the next "):
        plain = plain.removeprefix(article)
    return next((kind for kind in place_types if kind.replace("_", " ") == plain), None)


def _of_kind(
    places: Places, kind: str, here: LatLng, within: float, place_types: Sequence[str]
) -> list[Place]:
    if kind in place_types:
        return places.nearby(here, within, [kind], whole=NEAREST_M)
    found = [place for place in places.search(kind, here) if distance(here, place.position) <= within]
    return sorted(found, key=lambda place: (distance(here, place.position), place.id))


def _chosen(
    mind: Mind, found: Sequence[Place], here: LatLng, asked: str, background: str, prompts: Prompts
) -> Place:
    pick = mind.ask(
        prompts.load("directions/choice", PlacePick),
        question=asked,
        background=background,
        places=[
            {
                "name": place.name,
                "types": list(place.types),
                "rating": place.rating,
                "review_count": place.review_count,
                "metres": distance(here, place.position),
            }
            for place in found
        ],
    )
    return found[pick.index]
