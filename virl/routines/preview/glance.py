"""What is seen of the ground and of signs at one panorama of a way."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import radians

import numpy as np
from pydantic import BaseModel, ConfigDict

from virl.errors import NoImagery
from virl.geo.globe import LatLng, LocalFrame, normalize_heading
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, StreetView, View
from virl.platform.perception.ground import Strip, Surface, find_zebras, ground_patch, strips_beside
from virl.routines.directions.landmarks import LEFT, RIGHT, Lookout
from virl.routines.directions.walkway import Stand

AHEAD_PITCH, ASIDE_PITCH = -20.0, -35.0  # degrees; chosen: 3 to 18 m ahead, and 1 to 12 m aside
ZEBRA_M = 14.0  # from the camera at most: farther off, stripes run into one another; chosen on Virlbury
ASIDE_M, ACROSS_M = (-3.0, 3.0), (0.8, 12.0)  # of a patch that looks across the street
PAVEMENT_M = 1.0  # a strip beside a road is a pavement from this width on; chosen: kerbs and gutters are not


class _Seen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CrossingSeen(_Seen):
    """A marked crossing as it was seen once."""

    lat: float
    lng: float
    street: float
    """The way that the street leads which it crosses: degrees clockwise from north, [0, 180)."""
    stripes: int


class SideSeen(_Seen):
    """One side of the street."""

    kerb_m: float | None
    """The metres from the camera to the edge of the road; `None` where it is not seen."""
    pavement_m: float | None
    surface: Surface | None
    """The surface of the pavement, or of what the camera stands over where there is no edge."""


class LandmarkSeen(_Seen):
    """A place whose sign was read."""

    place_id: str
    name: str
    types: tuple[str, ...]
    lat: float
    lng: float


class Glance(_Seen):
    """The sights at a panorama, apart from the things that visual memory keeps."""

    lat: float
    lng: float
    heading: float
    """The heading on arrival."""
    onward: float | None
    """The way on; `None` at the end."""
    ways: tuple[float, ...]
    """Headings of all links."""
    crossings: tuple[CrossingSeen, ...] = ()
    left: SideSeen | None = None
    right: SideSeen | None = None
    landmarks: tuple[LandmarkSeen, ...] = ()


def glance_at(streetview: StreetView, stand: Stand, lookout: Lookout) -> tuple[Glance, View | None]:
    """Look at the ground in all ways that lead on, to both sides, and at signs.

    Where there is no imagery, nothing is seen.

    Args:
        streetview: of the city.
        stand: where one looks.
        lookout: reads signs.

    Returns:
        What is seen, and the view of the way on.

    Raises:
        ModelUnavailable: the reader is missing.
    """
    here, facing = stand.panorama, stand.pose.heading
    onward = stand.onward.heading if stand.onward else facing
    turns = _each_way(onward, [link.heading for link in stand.links])
    views = [_view_or_none(streetview, here.id, Camera(turn, AHEAD_PITCH)) for turn in turns]
    left, right = (
        _view_or_none(streetview, here.id, Camera(normalize_heading(onward + turn), ASIDE_PITCH))
        for turn in (LEFT, RIGHT)
    )
    seen = Glance(
        lat=here.position.lat,
        lng=here.position.lng,
        heading=facing,
        onward=stand.onward.heading if stand.onward else None,
        ways=tuple(link.heading for link in stand.links),
        crossings=tuple(one for view in views if view for one in _crossings_in(here.position, view)),
        left=_side_in(left) if left else None,
        right=_side_in(right) if right else None,
        landmarks=tuple(_landmarks(stand, lookout)),
    )
    return seen, views[0]


def _view_or_none(streetview: StreetView, pano_id: str, camera: Camera) -> View | None:
    """Return a view of a panorama; None where there is no picture."""
    try:
        return streetview.view(pano_id, camera)
    except NoImagery:
        return None


def _landmarks(stand: Stand, lookout: Lookout) -> Iterator[LandmarkSeen]:
    """Yield the places whose names are read to the left and to the right, each once."""
    found: dict[str, Place] = {}
    for turn in (LEFT, RIGHT):
        with suppress(NoImagery):
            found |= {one.place.id: one.place for one in lookout.in_sight(stand, (turn,))}
    for place in found.values():
        at = place.position
        yield LandmarkSeen(place_id=place.id, name=place.name, types=place.types, lat=at.lat, lng=at.lng)


def _each_way(onward: float, ways: Sequence[float]) -> list[float]:
    """Return the way on first, then the other ways; at a place without a junction only the way on."""
    others = [way for way in ways if way != onward]
    return [onward, *(others if len(ways) > 2 else [])]


def _crossings_in(here: LatLng, view: View) -> list[CrossingSeen]:
    """Return the zebra crossings in a view taken `here`, with position and the street's direction."""
    frame, heading = LocalFrame(here), radians(view.camera.heading)
    found = []
    for zebra in find_zebras(ground_patch(view)):
        if np.hypot(zebra.aside, zebra.ahead) > ZEBRA_M:
            continue
        x = zebra.ahead * np.sin(heading) + zebra.aside * np.cos(heading)
        y = zebra.ahead * np.cos(heading) - zebra.aside * np.sin(heading)
        at = frame.position(float(x), float(y))
        street = (view.camera.heading + zebra.turn) % 180.0
        found.append(CrossingSeen(lat=at.lat, lng=at.lng, street=street, stripes=zebra.stripes))
    return found


def _side_in(view: View) -> SideSeen:
    """Return the kerb's distance, the pavement's width, metres, and the surface that a view shows."""
    strips = strips_beside(ground_patch(view, aside=ASIDE_M, ahead=ACROSS_M))
    if not strips:
        return SideSeen(kerb_m=None, pavement_m=None, surface=None)
    kerb = next((at for at in range(1, len(strips)) if _is_wide(strips[at])), None)
    if kerb is None:
        return SideSeen(kerb_m=None, pavement_m=None, surface=strips[0].surface)
    pavement = strips[kerb]
    width = None if pavement.far is None else pavement.far - pavement.near
    return SideSeen(kerb_m=pavement.near, pavement_m=width, surface=pavement.surface)


def _is_wide(strip: Strip) -> bool:
    """Return whether a strip is as wide as a pavement, or without an end."""
    return strip.far is None or strip.far - strip.near >= PAVEMENT_M
