"""How directions are shown in a report."""

from collections.abc import Iterator, Sequence

from pydantic import TypeAdapter

from virl.geo.globe import LatLng
from virl.journal.records import StepRecord
from virl.pages.exhibits import Cell, Exhibit, MapExhibit, MapLine, MapPoint, TableExhibit, TextExhibit
from virl.platform.city.city import City
from virl.platform.navigators.tourist.rules import Noticed
from virl.routines.directions.planning import Directions

ACTION = "movement/tourist-action"
"""Prompt by which a tourist says which sentence of the directions she follows."""
_SENTENCES = TypeAdapter(tuple[str, ...])


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
    city: City, steps: Sequence[StepRecord], legs: Sequence[tuple[Directions, int, str]]
) -> list[Exhibit]:
    """Return the exhibits of a tour: the directions of each local beside the steps that they led to, a map.

    Args:
        city: city of the tour.
        steps: steps of all walks, in order.
        legs: a local's directions, the number of steps by them, and why she gave up on them or empty.
    """
    tables, first = [], 0
    for number, (told, count, reason) in enumerate(legs, 1):
        rows = tuple(_told_rows(told, steps[first : first + count]))
        title, first = f"Directions of local {number}", first + count
        columns = ("directions", "steps", "saw", "then")
        tables.append(TableExhibit(title=title, columns=columns, rows=rows, note=reason))
    walked = tuple(LatLng(step.pose.lat, step.pose.lng) for step in steps)
    told_ways = tuple(
        MapLine(points=path_of(city, told.route), label=f"route of local {number}", style="other")
        for number, (told, *_) in enumerate(legs, 1)
    )
    last = legs[-1][0]
    lines = (*told_ways, MapLine(points=walked, label="walked"))
    return [
        *tables,
        MapExhibit(title=f"Walk to {last.destination}", points=(destination_point(last),), lines=lines),
    ]


def _told_rows(told: Directions, steps: Sequence[StepRecord]) -> Iterator[tuple[Cell, ...]]:
    """Yield (words of directions, numbers of the steps by them, landmarks seen there, the last decision)."""
    sentences: tuple[str, ...] = (told.instruction,)
    followed: dict[int, list[StepRecord]] = {}
    seen: dict[int, list[str]] = {}
    sentence = 1
    for step in steps:
        if asked := next((one for one in reversed(step.asked) if one.prompt == ACTION), None):
            sentences = _SENTENCES.validate_python(asked.inputs["sentences"])
            # She goes on in the words: what she goes back to was told by the words that she had come to.
            sentence = max(sentence, min(int(str(asked.reply["sentence"])), len(sentences)))
            noticed = Noticed.model_validate(asked.inputs["here"]).seen
            seen.setdefault(sentence, []).extend(f"{one.name} ({one.where})" for one in noticed)
        followed.setdefault(sentence, []).append(step)
    begin = 0
    for number, walked in followed.items():
        end = len(sentences) if number == max(followed) else number
        first, last = walked[0].step, walked[-1].step
        numbers = f"{first}\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}{last}" if first < last else str(first)
        words, marks = " ".join(sentences[begin:end]), ", ".join(dict.fromkeys(seen.get(number, ())))
        yield words, numbers, marks, walked[-1].decided
        begin = end
