"""The report of a run: one HTML page that needs nothing beside itself. Described in `docs/report.md`."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from unicodedata import east_asian_width

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from virl.geo import LatLng, compass_word
from virl.journal.files import write_atomically, writing
from virl.journal.finds.page import counting_context
from virl.journal.finds.reading import read_finds
from virl.journal.journal import RULES, read_journal, total_cost
from virl.journal.pictures import embed
from virl.journal.policy import content_policy, script_json
from virl.journal.records import AnyRecord, EndRecord, Result, StartRecord, StepRecord
from virl.journal.sketch import sketch
from virl.journal.story import Stretch, by_weight, chapters, facts, kind_of, sentences, title_of
from virl.platform.city import City

REPORT = "report.html"
LONGEST_INPUT = 4000
"""Characters of an input that are shown; the journal has all. Chosen."""

Streets = Sequence[Sequence[LatLng]]

_TEMPLATES = Path(__file__).parent / "templates"


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
    page = _render(folder, read_journal(folder), city).encode("utf-8", "replace")
    path = folder / REPORT
    with writing(path, "write the report again"):
        write_atomically(path, page)
    return path


def _render(folder: Path, records: Sequence[AnyRecord], city: City | None) -> str:
    start = next(record for record in records if isinstance(record, StartRecord))
    steps = [record for record in records if isinstance(record, StepRecord)]
    result = next((record.result for record in records if isinstance(record, EndRecord)), None)
    streets = city.street_map.lines() if city and city.street_map else ()
    tell = _told_counting if start.character.get("count") else _told_walk
    return tell(
        folder,
        streets,
        start=start,
        steps=steps,
        who=str(start.character.get("name") or start.agent),
        where=city.title if city else start.city,
        character=start.character,
        result=result,
        outcome=_outcome(result),
        cost=total_cost(records) if result is None else result.cost,
        by_rules=start.mind == RULES,
        moves=steps[-1].step if steps else 0,
        walked=sum(step.distance_m for step in steps),
    )


def _told_walk(
    folder: Path, streets: Streets, *, start: StartRecord, steps: Sequence[StepRecord], **context: object
) -> str:
    """The page of a run that thinks and decides."""
    told = list(chapters(steps))
    shown = [view.file for step in told if isinstance(step, StepRecord) for view in step.views]
    style, script = _asset("report.css"), _asset("report.js")
    return _page(
        "report.html.j2",
        style,
        script,
        content_policy(style, script),
        context
        | {
            "start": start,
            "steps": steps,
            "map": sketch(steps, streets) if steps else None,
            "chapters": told,
            "pictures": embed(folder, shown),
        },
    )


def _told_counting(
    folder: Path, streets: Streets, *, start: StartRecord, steps: Sequence[StepRecord], **context: object
) -> str:
    """The page of a run that counts things."""
    finds = read_finds(folder)
    chart = sketch(steps, streets, [find.position for find in finds]) if steps else None
    counted = counting_context(folder, start, steps, finds, chart)
    style = _asset("report.css") + _asset("counts.css")
    script = _asset("report.js") + _asset("counts.js")
    return _page(
        "counts.html.j2",
        style,
        script,
        content_policy(style, script, beside=not counted["whole"]),
        context
        | counted
        | {
            "start": start,
            "steps": steps,
            "map": chart,
            "chapters": list(chapters(steps, lambda step: bool(step.objects))),
            "pictures": {},
            "data": Markup(script_json(counted["data"])),  # noqa: S704 - escaped for a script element
        },
    )


def _page(template: str, style: str, script: str, policy: str, context: Mapping[str, object]) -> str:
    return (
        _environment()
        .get_template(template)
        .render(
            context,
            csp=policy,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "metres": _metres,
        "duration": _duration,
        "dollars": _dollars,
        "moment": _moment,
        "words": _words,
        "shorten": _shorten,
        "shown": _shown,
        "ems": _ems,
        "by_weight": by_weight,
        "compass": compass_word,
        "sentences": sentences,
        "facts": facts,
        "kind": kind_of,
        "title_of": title_of,
    }
    environment.tests["stretch"] = lambda chapter: isinstance(chapter, Stretch)
    return environment


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _outcome(result: Result | None) -> str:
    if result is None:
        return "The run has not ended; if it was cut short, it can be resumed."
    if result.status == "entered" and result.place:
        return f"Entered {result.place.name}."
    if result.status == "finished":
        return "Finished."
    if result.status == "gave up":
        return "Gave up."
    return "Was stopped."


def _metres(metres: float) -> str:
    return f"{metres:.0f}\N{NO-BREAK SPACE}m" if metres < 1000 else f"{metres / 1000:.2f}\N{NO-BREAK SPACE}km"


def _duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _dollars(usd: float) -> str:
    return f"${usd:.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def _moment(text: str) -> str:
    """An ISO 8601 time as people write it; any other text as it is."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    when = when.astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def _words(name: str) -> str:
    """A name with underscores as words."""
    return name.replace("_", " ").replace("-", " ")


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _ems(text: str) -> float:
    """About how wide a line of text is set, with a little room at its ends, in units of its font's size."""
    return 0.7 + sum(1.0 if east_asian_width(letter) in "WF" else 0.62 for letter in text)


def _shown(value: object) -> str:
    """Any value of JSON as readable text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    left = len(text) - LONGEST_INPUT
    return text if left <= 0 else f"{text[:LONGEST_INPUT]}\n… and {left} characters more, in journal.jsonl"
