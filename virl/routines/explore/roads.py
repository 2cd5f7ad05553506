"""Reading the signs farther down a road, and looking up the places on them."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from virl.agent.agent import Agent
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Describer
from virl.platform.perception.cameras import reading_fov
from virl.platform.perception.matching import look_up
from virl.platform.perception.signs import SIGN

LETTER_M = 0.2  # chosen: letters of a usual shop sign
FARTHEST_M = 35.0  # chosen: so far down a road names are read
NAMED_WITHIN_M = 60.0  # chosen: in which a name is looked up; what is read is a little nearer or farther off


@dataclass(frozen=True, slots=True)
class Signposts:
    """A describer that also reads the signs farther down the road, and says what the places on them are."""

    agent: Agent
    describer: Describer
    known: Set[str]
    """Ids of places that were considered already: they draw nobody any more."""

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        """Describe views as the describer behind does, and add the new names with their types."""
        told = self.describer.describe(views, question)
        return [
            _join_names(text, self._names_in(view, question)) for text, view in zip(told, views, strict=True)
        ]

    def _names_in(self, view: View, question: str) -> list[str]:
        """Return the new places that signs in a view name, each with its kind, as text."""
        city, detector = self.agent.city, self.agent.senses.detector
        fov = reading_fov(LETTER_M, FARTHEST_M, view.camera.width)
        farther = city.streetview.view(view.pano_id, Camera(view.camera.heading, fov=fov))
        found = [sign for signs in detector.detect([view, farther], [question, SIGN]) for sign in signs]
        if not found:
            return []
        nearby = city.places.nearby(city.streetview.panorama(view.pano_id).position, NAMED_WITHIN_M)
        read = (look_up(sign.text, nearby) for sign in found)
        places = {place.id: place for place in read if place and place.id not in self.known}
        return [_describe_kind(place, question) for place in places.values() if place.types]


def _describe_kind(place: Place, question: str) -> str:
    """Return a place's name and kind as text; the kind asked for, if it is one of its types."""
    kind = question if question in place.types else place.types[0]
    return f"'{place.name}' is a {kind.replace('_', ' ')}"


def _join_names(text: str, names: Sequence[str]) -> str:
    return "; ".join([text, *names])
