"""The picture of a run that says most: a map of its result, a view with something found, or its way."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from virl.drawing.exhibits import MapExhibit
from virl.drawing.paper import Extent, Paper, lay_out, on_paper, svg_points
from virl.drawing.pictures import Grades, embed
from virl.geo import LatLng, LocalFrame
from virl.journal.folder import CONSULTED
from virl.journal.journal import JOURNAL, read_journal
from virl.journal.records import AnyRecord, EndRecord, NoteRecord, StepRecord, ViewRecord

GRADES: Grades = ((420, 74),)  # width in pixels and JPEG quality; chosen: shown about 340 wide

Streets = Sequence[Sequence[LatLng]]


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small map."""

    paper: Paper
    ways: tuple[str, ...]
    """SVG points of each."""
    spots: tuple[tuple[float, float, str], ...]
    """Where each point lies, and its style."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A view, with what was found in it."""

    data: str
    """Data URI."""
    view: ViewRecord


def thumbnail(folder: Path, records: Sequence[AnyRecord], streets: Streets) -> Thumbnail | Photo | None:
    """The picture of a run; `None` where nothing was drawn, seen or walked.

    Args:
        folder: the run's.
        records: of its journal.
        streets: centre lines of the city, for a map; may be empty.

    Raises:
        JournalBroken: the journal of an agent that was consulted is missing or damaged.
    """
    shown = [exhibit for one in records if isinstance(one, EndRecord) for exhibit in one.exhibits]
    for exhibit in shown:
        if isinstance(exhibit, MapExhibit) and (exhibit.points or exhibit.lines):
            return _map(exhibit, streets)
    return _photo(folder, records) or _way(records, streets) or _of_others(folder, streets)


def _of_others(folder: Path, streets: Streets) -> Thumbnail | Photo | None:
    """The picture of an agent that was consulted, for one that did not set foot in the street itself."""
    for journal in sorted(folder.glob(f"{CONSULTED}/*/{JOURNAL}")):
        if picture := thumbnail(journal.parent, read_journal(journal.parent), streets):
            return picture
    return None


def _photo(folder: Path, records: Sequence[AnyRecord]) -> Photo | None:
    """The view with the surest detection: of the places entered first, then of all."""
    views = [
        (_has_entered(one), max(found.score for found in view.detections), view)
        for one in records
        if isinstance(one, StepRecord | NoteRecord)
        for view in one.views
        if view.detections
    ]
    for _, _, view in sorted(views, key=lambda rated: rated[:2], reverse=True)[:3]:
        data = embed(folder, [view.file], GRADES).get(view.file)
        if data:
            return Photo(data, view)
    return None


def _has_entered(record: StepRecord | NoteRecord) -> bool:
    return isinstance(record, StepRecord) and any(place.decision == "enter" for place in record.places)


def _map(exhibit: MapExhibit, streets: Streets) -> Thumbnail:
    points = [(LatLng(point.lat, point.lng), point.style) for point in exhibit.points]
    return _drawing(
        points, [[LatLng(*position) for position in line.points] for line in exhibit.lines], streets
    )


def _way(records: Sequence[AnyRecord], streets: Streets) -> Thumbnail | None:
    way = [LatLng(step.pose.lat, step.pose.lng) for step in records if isinstance(step, StepRecord)]
    return _drawing([(way[0], "start"), (way[-1], "stop")], [way], streets) if way else None


def _drawing(
    points: Sequence[tuple[LatLng, str]], lines: Sequence[Sequence[LatLng]], streets: Streets
) -> Thumbnail:
    positions = [*(position for position, _ in points), *(position for line in lines for position in line)]
    frame = LocalFrame(positions[0])
    places = [on_paper(frame, *one) for one in positions]
    paper = lay_out(frame, places, streets, extent=Extent(beyond=0.0), across=340.0)
    return Thumbnail(
        paper,
        tuple(svg_points([paper.place(position) for position in line]) for line in lines if line),
        tuple((*paper.place(position), style) for position, style in points),
    )
