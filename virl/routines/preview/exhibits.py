"""How a preview is shown in the report of its run."""

from collections.abc import Sequence

from virl.drawing.exhibits import Exhibit, MapExhibit, MapLine, MapPoint, TableExhibit, TextExhibit
from virl.geo import LatLng
from virl.routines.preview.facts import WayPreview
from virl.routines.preview.telling import leg_sentences, summary


def shown(preview: WayPreview, points: Sequence[LatLng]) -> list[Exhibit]:
    """The way in words, on a map, and its facts."""
    facts = [fact for leg in preview.legs for fact in leg.facts]
    told = [summary(preview), *(" ".join(leg_sentences(leg, preview.profile)) for leg in preview.legs)]
    marks = tuple(
        MapPoint(lat=fact.lat, lng=fact.lng, label=fact.name or fact.kind, mark=str(number))
        for number, fact in enumerate(facts, start=1)
    )
    ends = (
        MapPoint(lat=points[0].lat, lng=points[0].lng, label=preview.start, style="start"),
        MapPoint(lat=points[-1].lat, lng=points[-1].lng, label=preview.destination, style="pick"),
    )
    rows = tuple(
        (number, fact.name or fact.kind, round(fact.along_m), fact.side, round(fact.off_m, 1), fact.looks)
        for number, fact in enumerate(facts, start=1)
    )
    return [
        TextExhibit(title="The way", text="\n\n".join([*told, preview.arrival])),
        MapExhibit(
            title=f"Way to {preview.destination}",
            points=(*marks, *ends),
            lines=(MapLine(points=tuple((at.lat, at.lng) for at in points), label="the way"),),
        ),
        TableExhibit(
            title="What is on and beside it",
            columns=("number", "what", "m from the start", "side", "m aside", "seen from"),
            rows=rows,
        ),
    ]
