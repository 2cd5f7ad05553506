"""Finished walks to narrate: read from a journal or along a path of a graph, and the streets they take."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import shapely

from virl.errors import BadInput
from virl.geo.globe import Floats, LatLng, LocalFrame, distance, signed_turn
from virl.journal.journal import read_journal
from virl.journal.records import EndRecord, StartRecord, StepRecord, ViewRecord
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.places import Place, Places
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import name_of_city

AHEAD_DEG = 30.0
"""Degrees from straight ahead, or straight behind, within which things are "ahead" or "behind"; chosen."""


@dataclass(frozen=True, slots=True)
class WalkStop:
    """A stop of a walk: a panorama at which the walker stood."""

    pano_id: str
    position: LatLng
    walked: float = 0.0
    """Metres walked from the stop before; 0 at the first."""
    crossing: bool = False
    """True if three or more ways meet at the stop."""
    seen: tuple[str, ...] = ()
    """Name and side of each thing that was seen, such as "bench on the left"."""
    thought: str = ""
    """Decision made at the stop, with its reason; may be empty."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk from its first stop to its last; no two stops in a row are at one panorama."""

    title: str
    """Title, such as the character's name and the city."""
    heading: float
    """Initial heading, degrees clockwise from north."""
    stops: tuple[WalkStop, ...]
    outcome: str = ""
    """Sentence on how the walk ended; may be empty."""

    def points(self) -> Floats:
        """Return the positions of the stops in metres (east, north) of the first, shape (stops, 2)."""
        frame = LocalFrame(self.stops[0].position)
        return np.array([frame.point(stop.position) for stop in self.stops])


def read_walk(run: Path, city: str = "") -> Walk:
    """Return the walk recorded in a run's journal so far; `city` is its city's title, if not the journal's.

    Args:
        run: the run's folder.
        city: the title of its city; empty for the name in the journal.

    Raises:
        JournalBroken: the journal is missing or damaged.
        BadInput: the run was stopped before its first step was written down.
    """
    records = read_journal(run)
    start = next(record for record in records if isinstance(record, StartRecord))
    steps = [record for record in records if isinstance(record, StepRecord)]
    result = next((record.result for record in records if isinstance(record, EndRecord)), None)
    if not steps:
        raise BadInput(f"{run}: contains no step to narrate: continue the run first")
    outcome = ""
    if result is not None:
        outcome = f"Entered {result.place.name}." if result.place else f"{result.status.capitalize()}."
    return Walk(
        f"{start.character.get('name') or start.agent} in {city or name_of_city(start.city)}",
        steps[0].pose.heading,
        tuple(_collapse([_stop(step) for step in steps])),
        outcome,
    )


def walk_on_graph(
    graph: NavigationGraph, path: Sequence[str], heading: float, title: str, *, indoors: bool = False
) -> Walk:
    """Return the walk along a graph's path of panorama ids; if `indoors`, no stop counts as a crossing.

    Args:
        graph: the graph.
        path: ids of panoramas; one that stands several times in a row, as turns leave it, counts once.
        heading: the walker's heading at the start, degrees clockwise from north.
        title: the walk's title.
        indoors: True for a building's graph, where ways meet everywhere and no stop counts as a crossing.

    Raises:
        BadInput: the path is empty.
        NoStreetView: an id is not in the graph.
    """
    if not path:
        raise BadInput(f"{title}: the path is empty, so there is nothing to narrate")
    nodes = [graph.number(pano_id) for pano_id in path]
    degree = graph.degree
    walked = [0.0, *(_link_metres(graph, *pair) for pair in pairwise(nodes))]
    stops = [
        WalkStop(graph.ids[node], graph.position(node), metres, not indoors and bool(degree[node] >= 3))
        for node, metres in zip(nodes, walked, strict=True)
    ]
    return Walk(title, heading, tuple(_collapse(stops)))


def _link_metres(graph: NavigationGraph, source: int, target: int) -> float:
    """Return the metres of the link from node `source` to `target`; without a link, of the straight line."""
    links = graph.links(source)
    lengths = graph.length[links][graph.target[links] == target]
    return float(lengths[0]) if len(lengths) else distance(graph.position(source), graph.position(target))


def _collapse(stops: Sequence[WalkStop]) -> Iterator[WalkStop]:
    """Yield the stops, but only the first of consecutive ones at one panorama."""
    for index, stop in enumerate(stops):
        if index == 0 or stop.pano_id != stops[index - 1].pano_id:
            yield stop


def _stop(step: StepRecord) -> WalkStop:
    """Return a step of a journal as a stop, with the things seen and the places considered there."""
    seen = [thing for view in step.views for thing in _things_in(view, step.pose.heading)]
    seen += [f"{' '.join(place.types[:1]).replace('_', ' ')} {place.name}".strip() for place in step.places]
    pose = step.pose
    things = tuple(dict.fromkeys(seen))
    position = LatLng(pose.lat, pose.lng)
    return WalkStop(pose.pano_id, position, step.distance_m, step.crossing, things, step.decided)


def _things_in(view: ViewRecord, heading: float) -> Iterator[str]:
    """Yield the name and side of each thing in a view, as "bench on the left", for one facing `heading`."""
    camera = Camera(view.heading, view.pitch, view.fov, view.width, view.height)
    for found in view.detections:
        x0, y0, x1, y1 = found.box
        toward = camera.direction((x0 + x1) / 2, (y0 + y1) / 2)[0]
        name = f"sign '{found.text}'" if found.text else found.label.replace("_", " ")
        yield f"{name} {_side(signed_turn(heading, toward))}"
    if view.caption:
        yield f"{view.caption} {_side(signed_turn(heading, view.heading))}"


def _side(turn: float) -> str:
    """Return the side that lies `turn` degrees clockwise, in words: "ahead", "behind", "on the left" ..."""
    if abs(turn) <= AHEAD_DEG:
        return "ahead"
    if abs(turn) >= 180 - AHEAD_DEG:
        return "behind"
    return "on the left" if turn < 0 else "on the right"


# Chosen on single stretches of Virlton's streets, 40 m and longer, the hardest case: of 281, 89 are named
# rightly, 4 wrongly (a shop on a corner stands in the other street), and 188 not at all.
BESIDE_M = 18.0
"""Metres from the way within which a place belongs to its street."""
ENDS_M = 12.0
"""Metres from a leg's ends within which places are ignored, as they may belong to a crossing street."""
LEAST, LEAST_SHARE = 2, 0.75
"""Least number, and least share in [0, 1], of the addresses beside a leg that have to name one street."""
SAMPLES = 5
"""Most positions of a leg around which places are looked up."""
LOOK_M = 40.0
"""Radius in metres within which places are looked up around a position of a leg."""

StreetOf = Callable[[Sequence[LatLng]], str | None]
"""A function from a line of positions to the name of the street there; `None` if it is unknown."""

_NUMBER_FIRST = re.compile(r"^\d+\w?(?:-\d+\w?)?\s+(?P<street>.+)$")


def no_streets(positions: Sequence[LatLng]) -> str | None:
    """Return `None` for any positions: the `StreetOf` for a city whose streets are unknown."""
    del positions
    return None


def streets_by_addresses(places: Places) -> StreetOf:
    """Return a function that names the street of a line by the addresses of places beside it.

    Only places within 18 m of the line count, none of those level with its first or last 12 m.
    """

    def street_of(positions: Sequence[LatLng]) -> str | None:
        """Return the street that enough addresses beside a line of positions name; `None` if none."""
        frame = LocalFrame(positions[0])
        line = shapely.LineString([frame.point(position) for position in positions])
        samples = np.unique(np.linspace(0, len(positions) - 1, SAMPLES).round().astype(int))
        near: dict[str, Place] = {}
        for index in samples:
            near |= {place.id: place for place in places.nearby(positions[index], LOOK_M)}
        names = []
        for place in near.values():
            point = shapely.Point(frame.point(place.position))
            is_beside = line.distance(point) <= BESIDE_M
            # A place level with an end may belong to the street that crosses there.
            is_inside = ENDS_M <= line.project(point) <= line.length - ENDS_M
            if is_beside and is_inside and (name := street_in(place.address)):
                names.append(name)
        if not names:
            return None
        name, count = Counter(names).most_common(1)[0]
        return name if count >= max(LEAST, LEAST_SHARE * len(names)) else None

    return street_of


def street_in(address: str) -> str | None:
    """Return the street in an address such as "18 Harbor Street, Virlton"; `None` without a number first."""
    found = _NUMBER_FIRST.match(address.partition(",")[0].strip())
    return found["street"] if found else None
