"""The page of a counting run: that of any run, with the things found and how they are spread."""

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import shapely
from pydantic import BaseModel, ValidationError

from virl.errors import JournalBroken
from virl.files.json_reading import misfits
from virl.files.writing import JsonLines
from virl.geo.globe import LatLng
from virl.journal.film import embed_views, is_same_look, shown_views, view_of_end
from virl.journal.folder import CONSULTED
from virl.journal.journal import JOURNAL, read_journal, read_result
from virl.journal.reading import line_error
from virl.journal.records import AnyRecord, StartRecord, StepRecord, ViewRecord
from virl.journal.report import BESIDE, SCRIPTS, STYLES, end_of, page, report_context, start_of
from virl.journal.story import chapters
from virl.journal.walk_map import AROUND, ends_of, ground_of, walk_paper, walked_path
from virl.pages.maps import MapFigure, MapPath, map_figure
from virl.pages.marks import Mark
from virl.pages.paper import Paper
from virl.pages.pictures import embed
from virl.platform.city.city import City
from virl.platform.city.claims import CountClaim
from virl.platform.navigators.survey import RECORD, SurveyPlan
from virl.platform.perception.memory import Seen
from virl.platform.perception.models import measured_error
from virl.routines.counting.density import Level, heat
from virl.routines.counting.finds import MEMORY, SURVEY, Find, RecordedSighting, read_finds

_GRADES = ((320, 72), (240, 65), (160, 55))
"""Pairs (width in pixels, JPEG quality) for the page's pictures, best first; chosen: shown 224 wide."""

THUMBNAILS = ((128, 70), (96, 60), (80, 50), (64, 45))
THUMBNAIL_BYTES = 2_000_000
"""Most bytes of all thumbnails together; chosen: the page opens in about a second."""

LARGE_BYTES = 150_000
"""Most bytes of the view beside the map; chosen."""

EMBEDDED_VIEWS = 150
"""Most views embedded in the page, chosen; with more, each thing has a thumbnail, and views stay in files."""

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class KindCount:
    """A row of the table of counts: one kind of thing, with its counts."""

    kind: str
    count: int
    confirmed: int
    """Number of things that were seen from at least two panoramas."""
    per_hectare: float | None
    """Number of things per hectare of the region; `None` without a region."""


def draw_page(folder: Path, records: Sequence[AnyRecord], city: City | None) -> str:
    """Return the HTML page of a run that counted things, itself or through a consulted agent.

    Args:
        folder: folder of the run.
        records: all records of its journal.
        city: city of the run; without it the map shows no streets.

    Raises:
        JournalBroken: the survey of its region, or the journal of the agent that counted, is damaged, or its
            start does not tell what was counted.
        MemoryBroken: the visual memory is damaged.
    """
    if fault := character_fault(start_of(records).character):
        raise line_error(folder / JOURNAL, 1, fault)
    # Who sends another agent to count has the finds in that agent's folder.
    nested = sorted(path.parent for path in folder.glob(f"{CONSULTED}/*/{MEMORY}"))
    counted = nested[0] if nested else folder
    walk = records if counted == folder else read_journal(counted)
    steps = [record for record in walk if isinstance(record, StepRecord)]
    finds = read_finds(folder, counted)
    told = list(chapters(steps, lambda step: bool(step.objects or step.decided_by)))
    end = end_of(walk)
    end_view = view_of_end(shown_views(told), end.result if end else None)
    large = embed_views(counted, [end_view], frozenset([end_view.file]), LARGE_BYTES) if end_view else {}
    around = [find.position for find in finds]
    extent = BESIDE if large else AROUND
    paper = walk_paper(steps, ground_of(city), around, extent=extent) if steps else None
    above = {find.id for find in finds if end_view and _is_seen_in(end_view, find.best.seen)}
    found = _page_data(folder, counted, start_of(records), steps, finds, paper, above)
    data = found.pop("data")
    context = report_context(folder, records, city, steps) | {
        "held": held_positions(folder, records),
        "chapters": told,
        "end_view": end_view if large else None,
        "end_at": next((f"Step {one.step}" for one in steps if end_view in one.views), ""),
        "pictures": large,
    }
    return page(
        "counts.html.j2",
        context | found,
        styles=(*STYLES, "finds.css", "counts.css"),
        scripts=(*SCRIPTS, "counts.js"),
        data=data,
        beside=not found["whole"],
        folder=_TEMPLATES,
    )


def _is_seen_in(view: ViewRecord, seen: Seen) -> bool:
    """Return whether a thing was seen in a view."""
    return (view.pano_id, view.fov) == (seen.pano_id, seen.camera.fov) and is_same_look(view, seen.camera)


def held_positions(folder: Path, records: Sequence[AnyRecord]) -> dict[LatLng, bool]:
    """Return whether a thing stands at each reported position; empty where the truth is not known."""
    end = end_of(records)
    told = read_result(folder, end.result) if end else None
    checked = zip(told.claims, told.truth.checked, strict=False) if told and told.truth else ()
    return {
        position: number in one.right
        for claim, one in checked
        if isinstance(claim, CountClaim) and one.right is not None
        for number, position in enumerate(claim.positions)
    }


def _page_data(
    folder: Path,
    counted: Path,
    start: StartRecord,
    steps: Sequence[StepRecord],
    finds: Sequence[Find],
    paper: Paper | None,
    above: Set[str],
) -> dict[str, object]:
    """Return data for the page's template, and under `data` for its script.

    `counted` is the folder of the run which counted: `folder` itself or one within it. The map's paper is
    `None` before the first step. Things `above` stand in the large view, so that their tiles have no picture.
    """
    count, senses = start.character.get("count"), start.character.get("senses")
    things = count.get("things", ()) if isinstance(count, dict) else ()
    # First what was asked for, also if none was found.
    kinds = list(dict.fromkeys([*map(str, things), *(find.label for find in finds)]))
    area = _region_on(paper, counted / SURVEY) if paper else None
    kept = sum(bool(sight.picture) for find in finds for sight in find.sights)
    whole = kept <= EMBEDDED_VIEWS
    if whole:
        files = [file for find in finds for sight in find.sights for file in _picture_files(sight)]
        pictures = embed(folder, files, _GRADES)
    else:
        pictures = embed(folder, [find.best.crop for find in finds], THUMBNAILS, THUMBNAIL_BYTES)
    thumbnails = {find.id: pictures.get(find.best.crop, "") for find in finds if find.id not in above}
    # The script takes a picture that a tile shows from there.
    tiles = {find.best.crop: None for find in finds if thumbnails.get(find.id)}
    times = accumulate(step.seconds for step in steps)
    elapsed = {step.step: time for step, time in zip(steps, times, strict=True)}
    levels: tuple[Level, ...] = ()
    if area is not None and paper and finds:
        points = np.array([paper.place(find.position) for find in finds])
        levels = heat(points, [kinds.index(find.label) for find in finds], len(kinds), area)
    return {
        "kinds": kinds,
        "shapes": [SHAPES[number % len(SHAPES)] for number in range(len(kinds))],
        "finds": finds,
        "kind_of_find": {find.id: kinds.index(find.label) for find in finds},
        "by_id": {name: find for find in finds for name in (find.id, *find.former_ids)},
        "tallies": [_tally_kind(kind, finds, area, paper) for kind in kinds],
        "hectares": area.area / 10_000 if area is not None else None,
        "has_region": area is not None,
        "map": _counts_map(paper, steps, finds, kinds, area) if paper else None,
        "thumbnails": thumbnails,
        "above": above,
        "whole": whole,
        "unkept": sum(len(find.sights) for find in finds) - kept,
        "memory": f"{(counted / MEMORY).relative_to(folder).as_posix()}/",
        "error": measured_error(senses.get("detector", "") if isinstance(senses, dict) else ""),
        "data": {
            "kinds": kinds,
            "finds": [_find_data(find, kinds, elapsed, {**pictures, **tiles}, whole=whole) for find in finds],
            "heat": [
                {
                    "name": level.name,
                    "width": level.width,
                    "cells": [
                        [round(cell.x, 1), round(cell.y, 1), round(cell.hectares, 4), *cell.counts]
                        for cell in level.cells
                    ],
                }
                for level in levels
            ],
        },
    }


def _tally_kind(
    kind: str, finds: Sequence[Find], area: shapely.Polygon | None, paper: Paper | None
) -> KindCount:
    """Return the counts of a kind of thing: in all, confirmed, and per hectare of the region."""
    mine = [find for find in finds if find.label == kind]
    confirmed = sum(len({sight.seen.pano_id for sight in find.sights}) > 1 for find in mine)
    per_hectare = None
    if area is not None and paper is not None:
        inside = sum(bool(shapely.intersects_xy(area, *paper.place(find.position))) for find in mine)
        per_hectare = inside / (area.area / 10_000)
    return KindCount(kind, len(mine), confirmed, per_hectare)


def _region_on(paper: Paper, file: Path) -> shapely.Polygon | None:
    """Return the region in a survey's file as a polygon in the map's coordinates; `None` without a survey."""

    def as_plan(line: bytes) -> SurveyPlan:
        """Return the survey plan in a line of the file; raise `ValueError` for another record."""
        with suppress(ValidationError):
            record = RECORD.validate_json(line)
            if isinstance(record, SurveyPlan):
                return record
        raise ValueError("is not the plan of a survey")

    lines = JsonLines(file, "write the report again")
    plan = next(lines.read(as_plan, mend="; restore it from a copy", broken=JournalBroken), None)
    return shapely.Polygon([paper.place(LatLng(*corner)) for corner in plan.corners]) if plan else None


SHAPES = ("round", "square", "diamond", "triangle")
"""Shapes of the map's marks: one for each kind of thing, reused in turn if there are more kinds."""
COLOURS = 6
"""Number of colours of the map's marks: one for each kind of thing, reused if there are more kinds."""
MANY = 60
"""Number of things above which their marks on the map are small and skipped by the keyboard; chosen."""


def _counts_map(
    paper: Paper,
    steps: Sequence[StepRecord],
    finds: Sequence[Find],
    kinds: Sequence[str],
    area: shapely.Polygon | None,
) -> MapFigure:
    """Return the map of the walk, or of the covered region (`area`) if any, with all things found."""
    paths = [walked_path(steps, paper, arrows=area is None)]
    if area is not None:
        paths.append(MapPath([(x, y) for x, y in area.exterior.coords], "region"))
    numbers = {kind: number for number, kind in enumerate(kinds)}
    things = [_thing_mark(find, numbers[find.label], paper, is_minor=len(finds) > MANY) for find in finds]
    plain = {"Start": "end from", "End": "end to"}
    ends = [replace(pin, href="", sign="", kind=plain[pin.label]) for pin in ends_of(steps, paper.frame)]
    legend = [("line main", "way walked")] + [("line region", "edge of the region")] * (area is not None)
    return map_figure("Map of the walk", paper, paths, [*things, *ends], legend=legend)


def _thing_mark(find: Find, kind: int, paper: Paper, *, is_minor: bool) -> Mark:
    """Return the mark of a thing on the map; `kind` is its kind's index, `is_minor` makes it small."""
    return Mark(
        *paper.place(find.position),
        f"thing k{kind % COLOURS} kind-{kind}{' many' if is_minor else ''}",
        f"{find.title}, \N{PLUS-MINUS SIGN}{find.sigma_m:.1f} m",
        shape=SHAPES[kind % len(SHAPES)],
        label="" if is_minor else str(find.number),
        href=f"#thing-{find.id}",
        is_minor=is_minor,
    )


def _picture_files(sight: RecordedSighting) -> tuple[str, ...]:
    """Return the paths of a sighting's crop and whole picture, in the run's folder; empty if not kept."""
    return (sight.crop, sight.picture) if sight.picture else ()


def _find_data(
    find: Find,
    kinds: Sequence[str],
    elapsed: Mapping[int, float],
    pictures: Mapping[str, str | None],
    *,
    whole: bool,
) -> dict[str, object]:
    """Return a thing as page data; `elapsed`: seconds by step; `whole`: embed `pictures`, else name files."""
    return {
        "id": find.id,
        "kind": kinds.index(find.label),
        "title": find.title,
        "lat": round(find.position.lat, 7),
        "lng": round(find.position.lng, 7),
        "sigma": round(find.sigma_m, 2),
        "confidence": round(find.confidence, 3),
        "joined": find.joined,
        "sights": [_sight_data(sight, elapsed, pictures, whole=whole) for sight in find.sights],
    }


def _sight_data(
    sight: RecordedSighting, elapsed: Mapping[int, float], pictures: Mapping[str, str | None], *, whole: bool
) -> dict[str, object]:
    """Return a sighting as page data; `elapsed`: seconds by step; `whole`: embed `pictures`, else paths."""
    camera = sight.seen.camera
    shown = [pictures.get(file, "") if whole else file for file in _picture_files(sight)]
    return {
        "step": sight.step,
        "seconds": round(elapsed.get(-1 if sight.step is None else sight.step, 0.0), 1),
        "pano": sight.seen.pano_id,
        "heading": round(camera.heading, 1),
        "fov": round(camera.fov, 1),
        "metres": round(sight.metres, 1),
        "score": round(sight.seen.score, 2),
        "why": sight.why,
        "pictures": shown,
        "size": [camera.width, camera.height],
    }


class _Count(BaseModel):
    """The setting `count` of a character, as its run recorded it."""

    things: tuple[str, ...]
    background: tuple[str, ...] = ()
    recheck: float | dict[str, float] | None = None
    active: bool


class _Senses(BaseModel):
    """The setting `senses` of a character, as its run recorded it."""

    detector: str
    matcher: str | None


class _Stop(BaseModel):
    """A stop of a route: latitude and longitude, degrees."""

    lat: float
    lng: float


class _CountingCharacter(BaseModel):
    """A recorded character's settings that the counting page shows, validated when read."""

    count: _Count
    senses: _Senses
    start: str | _Stop
    route: tuple[str | _Stop, ...] | None = None


def character_fault(character: Mapping[str, object]) -> str:
    """Return an error text on a recorded setting that the page cannot show; empty if all can be."""
    try:
        _CountingCharacter.model_validate(character)
    except ValidationError as fault:
        return f"character.{misfits(fault)[0]}"
    return ""
