"""Collects the routes of the VLN benchmark: directions to places, from others nearby (V-IRL, section 5.4)."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from pydantic import Field

from virl.datasets.collect.dataset import KeyPoint, PlaceRow, RouteRow, Rows, TriedRow
from virl.datasets.collect.places import Progress
from virl.errors import MindFailed, NoImagery, NoRoute, NoStreetView, NotFound
from virl.geo.globe import LatLng, distance
from virl.mind.base import Mind
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import Mover
from virl.routines.directions.planning import Directions, Milestone, directions_for, milestones_of, plan_walk
from virl.routines.directions.walkway import Lookout, Stand, length_of
from virl.settings.model import Settings

NORTH = 0.0
"""Heading at the start of each route, degrees clockwise from north (V-IRL's code)."""


class RoutesSettings(Settings):
    """The settings for collecting routes; defaults are those of V-IRL's code unless said otherwise."""

    count: int = Field(default=10, ge=1)
    """Number of routes that are collected."""
    types: tuple[str, ...] = ()
    """Types of places that routes lead to; empty takes all types."""
    max_place_m: float = Field(default=20.0, gt=0)
    """Most metres from a destination to its nearest panorama."""
    nearest_start_m: float = Field(default=40.0, ge=0)
    farthest_start_m: float = Field(default=150.0, gt=0)
    """Most metres, as the crow flies, from a destination to the place where its route begins."""
    longest_m: float = Field(default=150.0, gt=0)
    """Most metres along a route."""
    end_m: float = Field(default=18.0, gt=0)
    """Most metres from the end of a route to its destination."""
    fewest_turns: int = Field(default=1, ge=0)
    most_turns: int = Field(default=2, ge=0)
    starts: int = Field(default=3, ge=1)
    """Number of starts compared for each destination; the one with the most landmarks is taken.

    V-IRL's code means to compare and takes the first."""
    reader: str = "rapidocr"
    """Name of the model that reads signs along a route."""


@dataclass(frozen=True, slots=True)
class Guide:
    """The city, mover, mind and lookout (for landmarks) with which routes are planned and described."""

    city: City
    mover: Mover
    mind: Mind
    lookout: Lookout


def collect_routes(
    guide: Guide,
    places: Sequence[PlaceRow],
    routes: Rows[RouteRow],
    tried: Rows[TriedRow],
    settings: RoutesSettings,
    *,
    progress: Progress,
) -> None:
    """Fill `routes` with routes that lead to the most reviewed places, until it holds `settings.count`.

    Args:
        guide: plans and tells the walks.
        places: of the data set.
        routes: where they go.
        tried: where it is written which destinations were tried.
        settings: which routes.
        progress: is told how far it is.

    Raises:
        VirlError: the provider or the mind refuses; what was collected is kept.
    """
    for place in _destinations(places, settings):
        progress("writing directions", len(routes), settings.count)
        if len(routes) >= settings.count:
            return
        # Those that failed too, as each try costs requests.
        if place.id in tried:
            continue
        reason = "kept" if place.id in routes else _try(guide, place, places, routes, settings)
        tried.add(TriedRow(id=place.id, reason=reason))


def _destinations(places: Sequence[PlaceRow], settings: RoutesSettings) -> list[PlaceRow]:
    """Return the places that routes may lead to by the settings, the most reviewed first.

    Where any place has an image, only those with one: parks and sculptures have none.
    """
    pictured = any(place.image for place in places)
    wanted = [
        place
        for place in places
        if place.distance_m <= settings.max_place_m
        and (place.image or not pictured)
        and (not settings.types or not set(settings.types).isdisjoint(place.types))
    ]
    return sorted(wanted, key=lambda place: (-place.review_count, place.id))


def _try(
    guide: Guide,
    place: PlaceRow,
    places: Sequence[PlaceRow],
    routes: Rows[RouteRow],
    settings: RoutesSettings,
) -> str:
    """Add to `routes` the route to `place` that has most landmarks; return `"kept"`, or why there is none."""
    walks = ((start, _walk(guide, start, place, settings)) for start in _starts(place, places, settings))
    fitting = list(islice(((start, walk) for start, walk in walks if walk), settings.starts))
    if not fitting:
        return "no walk that fits"
    destination = _destination(place)
    try:
        # only the walk that is taken is told: the others cost no question to the mind
        start, walk = max(
            fitting,
            key=lambda pair: sum(
                one.landmark is not None
                for one in milestones_of(pair[1], destination, guide.lookout, count_crossings=True)
            ),
        )
        counted, uncounted = (
            directions_for(guide.mind, walk, destination, guide.lookout, count_crossings=count)
            for count in (True, False)
        )
    except (MindFailed, NoImagery) as fault:
        return str(fault)
    routes.add(_route_row(counted, uncounted.instruction, start.id, guide.city))
    return "kept"


def _starts(place: PlaceRow, places: Sequence[PlaceRow], settings: RoutesSettings) -> Iterator[PlaceRow]:
    """Yield the places where a route to `place` may begin, by their distance from it, one per panorama."""
    # Places at one panorama would give the same walk.
    met: set[str] = set()
    for other in places:
        metres = distance(place.position, other.position)
        near = settings.nearest_start_m <= metres <= settings.farthest_start_m
        if near and other.pano_id not in met:
            met.add(other.pano_id)
            yield other


def _walk(
    guide: Guide, start: PlaceRow, place: PlaceRow, settings: RoutesSettings
) -> tuple[Stand, ...] | None:
    """Return the points of a walk to `place`; `None` if there is none within the settings' limits."""
    city, pose = guide.city, Pose(start.pano_id, NORTH)
    try:
        walk = plan_walk(city.streetview, city.maps, guide.mover, pose, _destination(place), guide.lookout)
    except (NoRoute, NoStreetView, NoImagery):
        return None
    turns = sum(bool(stand.onward and index and not stand.goes_on) for index, stand in enumerate(walk))
    beside = distance(walk[-1].panorama.position, place.position) <= settings.end_m
    fits = settings.fewest_turns <= turns <= settings.most_turns and 0 < length_of(walk) <= settings.longest_m
    return walk if beside and fits else None


def _destination(place: PlaceRow) -> Place:
    """Return a data set's row as a place, without its address and rating."""
    return Place(place.id, place.name, place.types, place.position, review_count=place.review_count)


def _route_row(directions: Directions, uncounted: str, start_id: str, city: City) -> RouteRow:
    """Return directions as a data set's row; `uncounted` is the instruction without counts of crossings."""
    return RouteRow(
        id=directions.place_id,
        place_id=directions.place_id,
        place_name=directions.destination,
        place_lat=directions.lat,
        place_lng=directions.lng,
        start_id=start_id,
        heading=directions.heading,
        pano_ids=directions.route,
        metres=round(directions.length_m, 2),
        instruction=directions.instruction,
        instruction_paper=uncounted,
        key_points=tuple(_key_point(one, city) for one in directions.milestones),
    )


def _key_point(milestone: Milestone, city: City) -> KeyPoint:
    """Return a milestone of directions as a key point, with its landmark's position from `city`."""
    seen = milestone.landmark
    where: LatLng | None = None
    with suppress(NotFound):  # the landmark's id is empty or unknown
        where = city.places.details(seen.place_id).position if seen else None
    return KeyPoint.model_validate(
        {
            "kind": milestone.kind,
            "pano_id": milestone.pano_id,
            "lat": milestone.lat,
            "lng": milestone.lng,
            "heading": milestone.heading % 360.0,
            "turn": milestone.turn,
            "landmark": seen.name if seen else "",
            "landmark_id": seen.place_id if seen else "",
            "landmark_position": (where.lat, where.lng) if where else None,
        }
    )
