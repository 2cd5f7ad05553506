"""The map of a walk: the ground under it, its steps, the places considered, and the way between."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import shapely

from virl.errors import VirlError
from virl.geo.globe import LatLng, LocalFrame
from virl.journal.records import StepRecord
from virl.journal.story import kind_of, title_of
from virl.pages.exhibits import MapExhibit, MapLine
from virl.pages.ground import Area, MapGround, Way, WayKind, ground_of_lines
from virl.pages.maps import MapFigure, MapPath, exhibit_legend, exhibit_marks, exhibit_paths, map_figure
from virl.pages.marks import Mark
from virl.pages.paper import Extent, Paper, Point, arrows_along, lay_out, on_paper
from virl.pages.symbols import symbol_of
from virl.platform.city.city import City
from virl.platform.providers.cities import all_cities, open_city
from virl.platform.providers.provider import provider_of

KINDS = {
    "walk": "",
    "crossing": "crossing",
    "closer": "looked closer",
    "continue": "passed by",
    "enter": "entered",
}
"""Names of steps in the map's legend by their kind, the most important last; plain steps have none."""
_SHAPES = {"crossing": "lozenge", "closer": "plate", "enter": "hexagon"}
"""Shapes of the marks of steps by kind; others are discs."""


AROUND = Extent()
"""Extent of the ground that a walk's map shows by default."""

HIDDEN_M = 3.0
"""Most metres between a way and the walk that hides it. Chosen: less than half a street's width."""


def walk_paper(
    steps: Sequence[StepRecord],
    ground: MapGround,
    around: Sequence[LatLng] = (),
    *,
    extent: Extent = AROUND,
) -> Paper:
    """Return the map area that covers a walk, the places considered on it, and the positions `around`.

    Args:
        steps: at least one.
        ground: streets and houses, of which those far off are left out.
        around: what else shall be on the map.
        extent: how much ground is shown.
    """
    frame = LocalFrame(LatLng(steps[0].pose.lat, steps[0].pose.lng))
    shown = [LatLng(step.pose.lat, step.pose.lng) for step in steps]
    shown += [LatLng(place.lat, place.lng) for step in steps for place in step.places]
    points = [on_paper(frame, *position) for position in (*shown, *around)]
    return lay_out(frame, points, ground, extent=extent)


def walk_map(
    steps: Sequence[StepRecord],
    ground: MapGround,
    exhibit: MapExhibit | None = None,
    *,
    end: str = "End",
    notice: str = "",
    marked: Sequence[StepRecord] | None = None,
    extent: Extent = AROUND,
) -> MapFigure:
    """Return a walk's map: its steps (marks on those in `marked`), places considered, and `exhibit`'s points.

    Args:
        steps: at least one.
        ground: streets and houses, of which those far off are left out.
        exhibit: the map of the result, whose points and other ways are drawn on this one.
        end: label of the last step.
        notice: whom the map has to name.
        marked: the steps that have a mark; by default all.
        extent: how much ground is shown.
    """
    marked = steps if marked is None else marked
    shown = exhibit or MapExhibit(title="")
    # The pin says where the start is.
    spots = tuple(point for point in shown.points if point.style != "start")
    shown = shown.model_copy(update={"points": spots})
    paper = walk_paper(steps, ground, [LatLng(point.lat, point.lng) for point in spots], extent=extent)
    considered = exhibit_marks(paper, shown)
    way = walked_path(steps, paper)
    walked = shapely.LineString(way.points if len(way.points) > 1 else ()).buffer(HIDDEN_M)
    others = [line for line in shown.lines if line.style != "main" and not _is_in(walked, line, paper)]
    sights = [path for step in marked for path in sights_of(step, paper.frame)]
    told = {f"#step-{step.step}" for step in marked}
    pins = ends_of(steps, paper.frame, end)
    pins = [pin if pin.href in told else replace(pin, href="") for pin in pins]
    ends = {pin.href for pin in pins}
    marks = [mark for step in marked for mark in marks_of(step, paper.frame)]
    # The most important marks come last and lie on top.
    ranks = list(KINDS)
    marks.sort(key=lambda mark: ranks.index(mark.kind.split()[-1]))
    # The pins of start and end stand in for the marks of their steps.
    marks = [mark for mark in marks if mark.href not in ends or mark.kind.startswith("pin")]
    found = {kind_of(step) for step in marked}
    legend = [("line main", "way walked")] * (len(set(way.points)) > 1)
    legend += [(kind, words) for kind, words in KINDS.items() if words and kind in found]
    legend += exhibit_legend(shown, others)
    paths, marks = [*exhibit_paths(paper, others), way, *sights], [*marks, *considered, *pins]
    return map_figure("Map of the walk", paper, paths, marks, legend=legend, notice=notice)


def _is_in(area: shapely.Geometry, line: MapLine, paper: Paper) -> bool:
    """Return whether all of a line lies in an area of a paper."""
    return bool(shapely.covers(area, shapely.MultiPoint([paper.place(LatLng(*one)) for one in line.points])))


def walked_path(steps: Sequence[StepRecord], paper: Paper, *, arrows: bool = True) -> MapPath:
    """Return the line that a walk's steps make on a map.

    Args:
        steps: of a run, at least one.
        paper: that they are drawn on.
        arrows: whether the way shows its direction.
    """
    points = [_place(step, paper.frame) for step in steps]
    return MapPath(points, arrows=arrows_along(points) if arrows else ())


def marks_of(step: StepRecord, frame: LocalFrame) -> Iterator[Mark]:
    """Yield the map marks of a step and of the places considered at it; `frame` is the map's."""
    kind, link = kind_of(step), f"#step-{step.step}"
    is_minor = kind == "walk"
    shape, sign = ("dot", "") if is_minor else (_SHAPES.get(kind, "disc"), str(step.step))
    title = f"Step {step.step}: {title_of(step)}"
    at = _place(step, frame)
    yield Mark(*at, f"step {kind}", title, shape=shape, sign=sign, href=link, is_minor=is_minor)
    for place in step.places:
        label, decision = (place.name, "entered") if place.decision == "enter" else ("", "passed by")
        at = on_paper(frame, place.lat, place.lng)
        title = f"{place.name}: {decision}"
        pin = f"pin {place.decision}"
        yield Mark(*at, pin, title, shape="diamond", label=label, href=link, is_minor=True)


def sights_of(step: StepRecord, frame: LocalFrame) -> Iterator[MapPath]:
    """Yield map lines from a step to the places considered at it; `frame` is the map's."""
    for place in step.places:
        yield MapPath((_place(step, frame), on_paper(frame, place.lat, place.lng)), f"sight {place.decision}")


def ends_of(steps: Sequence[StepRecord], frame: LocalFrame, end: str = "End") -> list[Mark]:
    """Return map pins for a walk's first and last step, labelled "Start" and `end`; one if they coincide.

    Args:
        steps: of a run, at least one.
        frame: of the map.
        end: label of the last one.
    """
    last = steps[-1:] if _place(steps[-1], frame) != _place(steps[0], frame) else ()
    pins = []
    for step, label, plain in [(steps[0], "Start", "from"), *((step, end, "to") for step in last)]:
        mark = next(marks_of(step, frame))
        kind = mark.kind.replace("walk", plain)
        pins.append(replace(mark, kind=kind, shape="pin", label=label, is_minor=False))
    return pins


def _place(step: StepRecord, frame: LocalFrame) -> Point:
    """Return a step's position as a point in the map's frame."""
    return on_paper(frame, step.pose.lat, step.pose.lng)


_HIGHWAYS: Mapping[str, WayKind] = {
    **dict.fromkeys(("motorway", "trunk", "primary", "secondary", "tertiary"), "main"),
    **dict.fromkeys(("service", "living_street", "track", "road"), "lane"),
    **dict.fromkeys(("footway", "path", "pedestrian", "steps", "cycleway", "bridleway"), "footpath"),
}
"""Kind of way on the map by OpenStreetMap's `highway` value; other values are drawn as streets."""


def ground_of(city: City | None) -> MapGround:
    """Return the ways and areas that are drawn under a map of a city; none without a city."""
    if city is None:
        return MapGround()
    if city.inventory is None:
        return ground_of_lines(city.street_lines)
    ways = [
        Way(street.line, _HIGHWAYS.get(street.kind.removesuffix("_link"), "street"), street.name)
        for street in city.inventory.streets()
    ]
    houses = [Area(house.outline, "house") for house in city.inventory.houses() if not house.base]
    held = city.inventory.places()
    parks = {place.position: place.name for place in held if "park" in place.types}
    tree = shapely.STRtree([shapely.Point(lng, lat) for lat, lng in parks])
    named = list(parks.values())
    greens = [
        Area(
            area.outline,
            area.kind,
            area.name or next((named[at] for at in tree.query(area.outline, "contains")), ""),
        )
        for area in city.inventory.areas()
    ]
    places = [(symbol_of(place.types), place.position) for place in held if place.is_open]
    return MapGround(ways, [*greens, *houses], places)


@cache
def town_ground(name: str) -> MapGround:
    """Return a map's ways and areas for a city that needs no network, key or data; empty for other cities."""
    settings = all_cities().get(name)
    if settings is None or provider_of(settings).needs:
        return MapGround()
    try:
        return ground_of(open_city(name))
    except VirlError:
        return MapGround()
