"""Looking around at a panorama and down the roads, and finding out which place a sign belongs to."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from virl.agent.agent import Agent
from virl.geo.globe import LatLng, distance
from virl.journal.records import PlaceRecord, ViewRecord
from virl.platform.city.places import Place, complete_to, nearby_in_full
from virl.platform.city.streetview import Camera, View
from virl.platform.movers.base import Step
from virl.platform.perception.active import look_closer
from virl.platform.perception.base import Describer, Detection
from virl.platform.perception.cameras import reading_fov, sweep_cameras
from virl.platform.perception.matching import RESEMBLES, is_toward, look_up, match_place, resemblance
from virl.platform.perception.signs import SIGN
from virl.routines.explore.settings import EXPLORE, LOOK_FOV, LOOK_RANGE, MATCH_RADIUS_M

ALL_AROUND = 360.0
DENSE_RANGE = 300.0
"""Degrees, centred ahead, that a look covers where looking names up is free: all but straight behind.
Passing a restaurant in Helsinki whose sign can be read, 180 degrees never show it well on 21 % of the passes,
240 on 7 %, 300 on 2 % (135 passes, by truth)."""
MATCH_SLACK = 5.0  # degrees added on either side of what a view or a box takes in
LOOK_UP_RADIUS_M = 40.0  # in which a name on a sign is looked up: signs are read from so far; chosen
LETTER_M = 0.2  # chosen: letters of a usual shop sign
FARTHEST_M = 35.0  # chosen: so far down a road names are read
NAMED_WITHIN_M = 60.0  # chosen: in which a name is looked up; what is read is a little nearer or farther off


@dataclass(slots=True)
class LookAround:
    """A look around so far: the views taken, and the places considered."""

    views: list[ViewRecord] = field(default_factory=list)
    places: list[PlaceRecord] = field(default_factory=list)

    @property
    def entered_place(self) -> PlaceRecord | None:
        """The place that the agent decided to enter; `None` if there is none."""
        return next((place for place in self.places if place.decision == "enter"), None)


def places_seen(
    agent: Agent, step: Step, place_type: str, known: set[str], look: LookAround
) -> Iterator[Place]:
    """Look around at a step; yield each place first seen, adding its id to `known` and the views to `look`.

    At the start it may be all around (`explore: {first_look: around}`); where every name may be looked up it
    is, and later all but straight behind.

    Args:
        agent: agent who looks.
        step: step at whose panorama it looks.
        place_type: place type that is sought.
        known: ids of the places considered before; those found now are added.
        look: takes the views down; nothing more is looked at once it has entered a place.
    """
    directory, here = agent.city.capabilities.has_free_lookup, step.panorama.position
    if agent.run.steps:
        degrees = DENSE_RANGE if directory else LOOK_RANGE
    else:
        around = directory or EXPLORE.of(agent.character).first_look == "around"
        degrees = ALL_AROUND if around else LOOK_RANGE
    cameras = sweep_cameras(step.pose.heading, degrees, LOOK_FOV)
    # Where each view is paid, places are asked for first: a view without a new place could bring none.
    if paid := agent.city.ledger is not None and not directory:
        nearby = nearby_in_full(agent.city.places, here, MATCH_RADIUS_M)
        cameras = _promising_cameras(cameras, here, nearby, known)
    views = [agent.city.streetview.view(step.pose.pano_id, camera) for camera in cameras]
    found = agent.senses.detector.detect(views, [place_type, SIGN] if directory else [place_type])
    if not paid:
        radius = LOOK_UP_RADIUS_M if directory else MATCH_RADIUS_M
        nearby = agent.city.places.nearby(here, radius) if any(found) else []
    scores = agent.senses.detector.look_scores
    for view, detections in zip(views, found, strict=True):
        look.views += agent.run.keep(view, "look", detections)
        for detection in detections:
            if look.entered_place or detection.score < scores.of(detection.label).first:
                continue
            named = look_up(detection.text, nearby) if directory else None
            if named:
                place = named if place_type in named.types else None
            else:
                place = _by_direction(agent, step, view, detection, nearby, known, look)
                if directory and place is None:
                    place = place_by_words(detection, here, place_type, nearby)
            if place and place.id not in known:
                known.add(place.id)
                yield place


def place_by_words(
    detection: Detection, here: LatLng, place_type: str, nearby: Sequence[Place]
) -> Place | None:
    """Return the nearest place of a type whose name is on a sign, in any direction; `None` if there is none.

    A map often has the place off its front, so directions may miss it.

    Args:
        detection: detection of the sign, with its words.
        here: position from which it was seen.
        place_type: type that the place must have.
        nearby: places to choose from.
    """
    named = [
        place
        for place in nearby
        if place_type in place.types and resemblance(detection.text, place.name) >= RESEMBLES
    ]
    return min(named, key=lambda place: (distance(here, place.position), place.id), default=None)


def _promising_cameras(
    cameras: Sequence[Camera], here: LatLng, nearby: Sequence[Place], known: set[str]
) -> list[Camera]:
    """Return the cameras that look toward places whose ids are not `known`; all if `nearby` is incomplete.

    What is seen is matched to no place but those around, so the other views could bring none.
    """
    if complete_to(nearby) < MATCH_RADIUS_M:
        return list(cameras)
    fresh = [place.position for place in nearby if place.id not in known]
    return [camera for camera in cameras if any(is_toward(camera, here, one, MATCH_SLACK) for one in fresh)]


def _by_direction(
    agent: Agent,
    step: Step,
    view: View,
    detection: Detection,
    nearby: list[Place],
    known: set[str],
    look: LookAround,
) -> Place | None:
    """Return the new place in the direction of a detection, if a closer look confirms it, or `None`."""
    here = step.panorama.position
    first = None if detection.label == SIGN else place_shown(here, view, detection, nearby)
    if first is None or first.id in known:
        return None
    detector, label = agent.senses.detector, [detection.label]
    (closer,) = look_closer(agent.city.streetview, detector, [(view, detection)], label)
    if closer is None:
        return None
    closer_view, confirmed = closer
    look.views += agent.run.keep(closer_view, "closer", [confirmed])
    return place_shown(here, closer_view, confirmed, nearby)


def place_shown(here: LatLng, view: View, detection: Detection, nearby: Sequence[Place]) -> Place | None:
    """Return the place that a detection shows, by direction and words; `None` if there is none.

    It is the one in its direction, unless its words name another place within reach, and not that one.

    Args:
        here: position of the camera.
        view: view in which the detection lies.
        detection: detection with its box, and the words that were read in it.
        nearby: places to choose from.
    """
    shown = match_place(
        view.camera,
        detection.box,
        here,
        nearby,
        radius=MATCH_RADIUS_M,
        slack=MATCH_SLACK,
        text=detection.text,
    )
    within = [one for one in nearby if distance(here, one.position) <= MATCH_RADIUS_M]
    named = [one for one in within if resemblance(detection.text, one.name) >= RESEMBLES]
    if shown is None or shown in named or not named:
        return shown
    return min(named, key=lambda one: (distance(here, one.position), one.id))


@dataclass(frozen=True, slots=True)
class Signposts:
    """A describer that adds to descriptions the names and types of places on signs down the road."""

    agent: Agent
    describer: Describer
    known: Set[str]
    """Ids of places that were considered already, which are not named again."""

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        """Return descriptions of views, to which places read on signs are added with their types."""
        texts = self.describer.describe(views, question)
        return [
            "; ".join([text, *self._describe_places(view, question)])
            for text, view in zip(texts, views, strict=True)
        ]

    def _describe_places(self, view: View, place_type: str) -> list[str]:
        """Return the name and type of each new place whose sign is in a view, as texts."""
        city, detector = self.agent.city, self.agent.senses.detector
        # Signs far down the road can be read in a narrower view only.
        fov = reading_fov(LETTER_M, FARTHEST_M, view.camera.width)
        farther = city.streetview.view(view.pano_id, Camera(view.camera.heading, fov=fov))
        found = [sign for signs in detector.detect([view, farther], [place_type, SIGN]) for sign in signs]
        if not found:
            return []
        nearby = city.places.nearby(city.streetview.panorama(view.pano_id).position, NAMED_WITHIN_M)
        read = (look_up(sign.text, nearby) for sign in found)
        places = {place.id: place for place in read if place and place.id not in self.known}
        return [
            f"'{place.name}' is a "
            f"{(place_type if place_type in place.types else place.types[0]).replace('_', ' ')}"
            for place in places.values()
            if place.types
        ]
