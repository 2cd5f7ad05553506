"""The report of a run: one HTML page that needs nothing beside itself.

Described in `docs/reference/run-folder.md`.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from markupsafe import Markup

from virl.drawing.page import draw_exhibits
from virl.drawing.pictures import embed
from virl.drawing.policy import content_policy, script_json
from virl.files import write_whole
from virl.geo import LatLng
from virl.journal.finds.page import counting_context
from virl.journal.finds.reading import read_finds
from virl.journal.folder import CONSULTED, MEMORY
from virl.journal.journal import RULES, read_journal, total_cost
from virl.journal.page import asset, beside, page
from virl.journal.records import AnyRecord, EndRecord, NoteRecord, StartRecord, StepRecord
from virl.journal.sketch import sketch
from virl.journal.story import Stretch, chapters, outcome_of
from virl.platform.city import City

REPORT = "report.html"
CONSULTATION = "consultation"
"""Topic of the notes on other agents that were consulted."""

Streets = Sequence[Sequence[LatLng]]


def write_report(folder: Path, city: City | None = None) -> Path:
    """Write `report.html` into a run's folder, from its journal; a run that has not ended gets one too.

    Args:
        folder: the run's folder.
        city: where it took place, for its title and streets; without it the map shows the path alone.

    Returns:
        The page's path.

    Raises:
        JournalBroken: the journal is missing or damaged.
        CannotWrite: the page cannot be written.
    """
    html = _render(folder, read_journal(folder), city).encode("utf-8", "replace")
    path = folder / REPORT
    write_whole(path, html, "write the report again")
    return path


def _render(folder: Path, records: Sequence[AnyRecord], city: City | None) -> str:
    start = next(record for record in records if isinstance(record, StartRecord))
    counts = bool(start.character.get("count"))
    counted = _counted(folder) if counts else folder
    walk = records if counted == folder else read_journal(counted)
    steps = [record for record in walk if isinstance(record, StepRecord)]
    notes = [record for record in records if isinstance(record, NoteRecord)]
    end = next((record for record in records if isinstance(record, EndRecord)), None)
    result = end.result if end else None
    streets = city.street_map.lines() if city and city.street_map else ()
    tell = partial(_told_counting, counted=counted) if counts else _told_walk
    return tell(
        folder,
        streets,
        start=start,
        steps=steps,
        who=str(start.character.get("name") or start.agent),
        where=city.title if city else start.city,
        character=start.character,
        result=result,
        outcome=outcome_of(result),
        cost=total_cost(records) if result is None else result.cost,
        by_rules=start.mind == RULES,
        moves=steps[-1].step if steps and counted == folder else 0,
        walked=sum(step.distance_m for step in steps),
        notes=notes,
        consulted=dict(_consulted(folder, notes)),
        exhibits=draw_exhibits(end.exhibits if end else (), streets),
    )


def _told_walk(
    folder: Path,
    streets: Streets,
    *,
    start: StartRecord,
    steps: Sequence[StepRecord],
    notes: Sequence[NoteRecord],
    **context: object,
) -> str:
    """The page of a run that thinks and decides."""
    told = list(chapters(sorted([*steps, *notes], key=lambda record: record.seq)))
    style, script = asset("report.css") + asset("exhibits.css"), asset("report.js")
    return page(
        "report.html.j2",
        style,
        script,
        content_policy(style, script),
        context
        | {
            "start": start,
            "steps": steps,
            "notes": notes,
            "map": sketch(steps, streets) if steps else None,
            "chapters": told,
            "pictures": embed(folder, _shown_views(told)),
        },
    )


def _told_counting(
    folder: Path,
    streets: Streets,
    *,
    counted: Path,
    start: StartRecord,
    steps: Sequence[StepRecord],
    notes: Sequence[NoteRecord],
    **context: object,
) -> str:
    """The page of a run that counts things."""
    finds = read_finds(folder, counted)
    chart = sketch(steps, streets, [find.position for find in finds]) if steps else None
    found = counting_context(folder, counted, start, steps, finds, chart)
    style = asset("report.css") + asset("exhibits.css") + asset("counts.css")
    script = asset("report.js") + asset("counts.js")
    return page(
        "counts.html.j2",
        style,
        script,
        content_policy(style, script, beside=not found["whole"]),
        context
        | found
        | {
            "start": start,
            "steps": steps,
            "notes": notes,
            "map": chart,
            "chapters": list(chapters(steps, lambda step: bool(step.objects))),
            "pictures": embed(folder, _shown_views(notes)),
            "data": Markup(script_json(found["data"])),  # noqa: S704 - escaped for a script element
        },
    )


def _counted(folder: Path) -> Path:
    """The folder of the run that counted: that of an agent which was consulted, or this one."""
    nested = sorted(path.parent for path in folder.glob(f"{CONSULTED}/*/{MEMORY}"))
    return nested[0] if nested else folder


def _shown_views(told: Sequence[StepRecord | NoteRecord | Stretch]) -> list[str]:
    """Files of the views that are in the page; those of quiet steps are not."""
    return [view.file for one in told if not isinstance(one, Stretch) for view in one.views]


def _consulted(folder: Path, notes: Sequence[NoteRecord]) -> Iterator[tuple[str, str]]:
    """For the key of each consultation, the address of the other agent's page."""
    for note in notes:
        page_of = f"{note.data.get('folder')}/{REPORT}"
        if note.topic == CONSULTATION and beside(page_of) and (folder / page_of).is_file():
            yield note.key, beside(page_of)
