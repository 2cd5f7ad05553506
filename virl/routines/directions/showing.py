"""How directions are shown in a report."""

from collections.abc import Sequence

from virl.geo.globe import LatLng
from virl.journal.records import StepRecord
from virl.pages.exhibits import Exhibit, MapExhibit, MapLine, MapPoint, TableExhibit, TextExhibit
from virl.platform.city.city import City
from virl.platform.navigators.tourist.rules import Noticed
from virl.routines.directions.planning import Directions


def directions_exhibits(city: City, directions: Directions) -> list[Exhibit]:
    """Return the report's exhibits of directions: their text, a map of the walk, its milestones."""
    rows = tuple(
        (
            one.kind,
            one.turn or one.where,
            one.crossings,
            ", ".join(f"{sight.name} ({sight.where})" for sight in (one.passed, one.landmark) if sight),
        )
        for one in directions.milestones
    )
    columns: tuple[str, ...] = ("point", "to the", "crossings", "landmarks")
    columns = columns if any(row[-1] for row in rows) else columns[:-1]
    return [
        TextExhibit(title="Directions", text=directions.instruction),
        MapExhibit(
            title=f"Walk to {directions.destination}",
            points=(*milestone_points(directions), destination_point(directions)),
            lines=(MapLine(points=path_of(city, directions.route), label="the walk"),),
        ),
        TableExhibit(title="Milestones", columns=columns, rows=tuple(row[: len(columns)] for row in rows)),
    ]


def milestone_points(directions: Directions) -> tuple[MapPoint, ...]:
    """Return the map points of a walk's start and turns, turns numbered from 1."""
    return tuple(
        MapPoint(
            lat=one.lat,
            lng=one.lng,
            label="start" if one.kind == "start" else f"turn {one.turn}",
            text=one.landmark.name if one.landmark else "",
            mark="" if one.kind == "start" else str(number),
            style="start" if one.kind == "start" else "landmark",
        )
        for number, one in enumerate(directions.milestones)
        if one.kind != "end"
    )


def destination_point(directions: Directions) -> MapPoint:
    """Return the map point of the destination."""
    return MapPoint(lat=directions.lat, lng=directions.lng, label=directions.destination, style="pick")


def path_of(city: City, pano_ids: tuple[str, ...]) -> tuple[LatLng, ...]:
    """Return the positions of panoramas, in the order of their ids."""
    return tuple(city.streetview.panorama(pano_id).position for pano_id in pano_ids)


def tour_exhibits(
    city: City, steps: Sequence[StepRecord], legs: Sequence[tuple[Directions, str]]
) -> list[Exhibit]:
    """Return the exhibits of a tour: the directions of each local, a map, and the landmarks noticed.

    Args:
        city: city of the tour.
        steps: steps of all walks, in order.
        legs: pairs of a local's directions and the reason why following them ended.
    """
    texts = [
        TextExhibit(title=f"Directions of local {number}", text=f"{told.instruction}\n\n{reason}")
        for number, (told, reason) in enumerate(legs, 1)
    ]
    walked = tuple(LatLng(step.pose.lat, step.pose.lng) for step in steps)
    told_ways = tuple(
        MapLine(points=path_of(city, told.route), label=f"route of local {number}", style="other")
        for number, (told, _) in enumerate(legs, 1)
    )
    first, last = legs[0][0], legs[-1][0]
    stops = (MapPoint(lat=at.lat, lng=at.lng, label="stopped", style="stop") for at in walked[-1:])
    seen: list[tuple[int, str, str, str]] = []
    for step in steps:
        asked = next((one for one in reversed(step.asked) if one.prompt == "movement/tourist-action"), None)
        noticed = Noticed.model_validate(asked.inputs["here"]).seen if asked else ()
        seen += [(step.step, one.name, one.where, step.decided) for one in noticed]
    return [
        *texts,
        MapExhibit(
            title=f"Walk to {last.destination}",
            points=(*milestone_points(first), destination_point(last), *stops),
            lines=(*told_ways, MapLine(points=walked, label="walked")),
        ),
        TableExhibit(
            title="Landmarks seen", columns=("step", "landmark", "where", "decision"), rows=tuple(seen)
        ),
    ]
