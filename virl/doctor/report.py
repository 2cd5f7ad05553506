"""What the doctor says: as tables on a terminal, as plain lines elsewhere, as JSON, or as a bug report."""

import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from virl.bugs import without_secrets
from virl.console import CAUTION, GOOD, as_markup, say
from virl.doctor.costs import Estimate
from virl.doctor.machine import MODELS
from virl.doctor.measured import DENSITIES, MeasuredPrice
from virl.doctor.services import Finding, OpenOutcome, ProbeOutcomes
from virl.files.writing import write_whole
from virl.platform.city.left_out import Omission
from virl.platform.providers.google.settings import KEY_VARIABLE
from virl.redaction import Redaction

_STYLES = (
    dict.fromkeys(("ok", "reached"), GOOD)
    | dict.fromkeys(("missing", "limited", "unclear"), CAUTION)
    | dict.fromkeys(("broken", "refused", "failing", "unreachable"), f"bold {CAUTION}")
    | {"not asked": "dim"}
)
_TABLE_WIDTH = 70  # columns of a terminal below which tables are lines; chosen


@dataclass(frozen=True, slots=True)
class Report:
    """The doctor's report: findings on the machine and services, costs and notes."""

    virl: str
    offline_core_works: bool
    machine: tuple[Finding, ...]
    google: ProbeOutcomes
    costs: tuple[Estimate, ...]
    measured: tuple[MeasuredPrice, ...]
    """Billed prices of agents' runs and benchmarks' episodes, at today's list prices."""
    notes: tuple[str, ...]
    """Sentences on prices and assumptions."""
    open: tuple[OpenOutcome, ...] = ()
    """Outcomes of asking the services of a city of open data; empty for other cities."""
    left_out: tuple[Omission, ...] = ()
    """Items and fields of answers that could not be read."""


@dataclass(frozen=True, slots=True)
class _Section:
    """A table of the report: title, headings and rows of texts."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def as_json(report: Report) -> str:
    """Return the report as JSON."""
    return TypeAdapter(Report).dump_json(report, indent=2).decode()


def tell(report: Report, console: Console) -> None:
    """Print the report: the verdict first, last the parts that are missing for some uses only."""
    for line in verdict(report):
        say(console, as_markup(line))
    console.print()
    for section in _sections(report):
        if not section.rows:
            continue
        if console.is_terminal and console.width >= _TABLE_WIDTH:
            console.print(_to_table(section))
        else:
            lines = [f"{section.title}: {' | '.join(filter(None, section.columns))}"]
            lines += [f"  {' | '.join(row).rstrip(' |')}" for row in section.rows]
            for line in (*lines, ""):
                say(console, as_markup(line), indent=4)
    for note in report.notes:
        say(console, as_markup(note))


def verdict(report: Report) -> list[str]:
    """Return the lines on what works: made cities, real cities, open data and language models."""
    by_name = {finding.what: finding for finding in report.machine}
    made = "made cities: work, try `virl run hiro`"
    if not report.offline_core_works:
        made = "made cities: do not work, see below"
    elif (eyes := by_name.get("extra eyes")) and eyes.state == "missing":
        made = f"made cities: cannot be drawn: {eyes.remedy}"
    key, models = by_name.get(KEY_VARIABLE), by_name.get(MODELS)
    outcomes = report.google.outcomes
    reached = len({one.service for one in outcomes if one.status == "reached"})
    asked = len({one.service for one in outcomes if one.status != "not asked"})
    real = f"{reached} of {asked} services reached" if asked else f"no key: set {KEY_VARIABLE}"
    if key and key.state == "ok" and not asked:
        real = f"{KEY_VARIABLE} is set, no service was asked"
    asked_mind = next((one for one in report.machine if one.mind), None)
    minds = models.detail if models and models.state == "ok" else "no key is set; rules decide without one"
    if asked_mind:
        remedy = f" ({asked_mind.remedy})" if asked_mind.remedy else ""
        minds = f"{asked_mind.mind}: {asked_mind.detail}{remedy}"
    services = {one.service for one in report.open}
    failed = {one.service for one in report.open if one.status != "reached"}
    opened = f"open data: {len(services - failed)} of {len(services)} services reached"
    return [made, f"real cities: {real}", *([opened] if services else []), f"language models: {minds}"]


def _sections(report: Report) -> Iterator[_Section]:
    """Yield the sections of the report in order, also those without rows."""
    yield _findings_section("This machine", [one for one in report.machine if one.state != "missing"])
    asked = [(one.status, one.service, one.asked, one.detail, one.run, one.remedy) for one in report.open]
    columns = ("", "service", "request", "result", "a run asks", "remedy")
    yield _Section("Open services (these checks are free)", columns, asked)
    spent = report.google.spent_usd
    title = f"Google's services (these checks {f'cost at most {_show_usd(spent)}' if spent else 'are free'})"
    priced = [
        (one.status, one.service, one.asked, _show_usd(one.usd), one.detail, one.remedy)
        for one in report.google.outcomes
    ]
    yield _Section(title, ("", "service", "request", "price", "result", "remedy"), priced)
    unread = [(one.source, str(one.count), "; ".join(one.reasons)) for one in report.left_out]
    yield _Section("Parts of answers that cannot be read", ("source", "count", "first reasons"), unread)
    yield from _cost_sections(report)
    lacks = [one for one in report.machine if one.state == "missing"]
    yield _findings_section("Not installed or not set, needed only for what each line says", lacks)


def _cost_sections(report: Report) -> Iterator[_Section]:
    """Yield the sections on costs: measured, estimated, and the requests of each small unit."""
    billed = [
        (one.unit, *(_show_usd(one.usd[town], 2) if town in one.usd else "-" for town in DENSITIES))
        for one in report.measured
    ]
    yield _Section("Measured costs", ("unit", *(f"{town} town" for town in DENSITIES)), billed)
    kinds = tuple(dict.fromkeys(one.imagery for one in report.costs))
    usd = {(one.unit, one.imagery): _show_usd(one.usd) for one in report.costs}
    units = dict.fromkeys(one.unit for one in report.costs)
    estimated = [(unit, *(usd[unit, kind] for kind in kinds)) for unit in units]
    yield _Section("Estimated costs", ("unit", *(f"imagery: {kind}" for kind in kinds)), estimated)
    requests = {
        (one.unit, item.what, item.endpoint, f"{item.count:.3g}", _show_usd(item.usd), item.source): None
        for one in report.costs
        if one.is_small
        for item in one.items
    }
    columns = ("unit", "what", "endpoint", "requests", "each", "source of the number")
    yield _Section("Requests per unit", columns, list(requests))


def _findings_section(title: str, findings: Sequence[Finding]) -> _Section:
    """Return findings as a section of the report, a row for each."""
    rows = [(one.state, one.what, one.detail, one.needed_for, one.remedy) for one in findings]
    return _Section(title, ("", "what", "found", "needed for", "remedy"), rows)


def _show_usd(usd: float, digits: int = 3) -> str:
    """Return dollars as text with `digits` decimals; "free" for 0."""
    return f"${usd:,.{digits}f}" if usd else "free"


def _to_table(section: _Section) -> Table:
    """Return a section as a table for the terminal, states in colour."""
    table = Table(title=section.title, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    for column in section.columns:
        table.add_column(column, overflow="fold")
    for row in section.rows:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    return table


def write_bundle(path: Path, report: str, recorded: Path) -> None:
    """Write a file for bug reports: `report`, and types of fields of `recorded` replies, without secrets.

    Args:
        path: the file, which is replaced.
        report: the findings as JSON.
        recorded: folder of the replies, as `Recording` writes them; only names and types of fields are taken.

    Raises:
        CannotWrite: the file cannot be written.
    """
    bundle = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "findings": json.loads(report),
        "replies": [_describe_reply(body) for body in sorted(recorded.rglob("*.body"))],
    }
    text = json.dumps(_strip_secrets(bundle, Redaction.of()), indent=1, ensure_ascii=False)
    write_whole(path, f"{text}\n".encode(), "run virl doctor --real again")


def shape_of(value: object) -> Any:
    """Return JSON data with each value replaced by its type's name; a list holds each shape once."""
    if isinstance(value, dict):
        return {name: shape_of(one) for name, one in value.items()}
    if isinstance(value, list):
        shapes: list[object] = []
        for one in map(shape_of, value):
            if one not in shapes:
                shapes.append(one)
        return shapes
    return type(value).__name__


def _describe_reply(body: Path) -> dict[str, object]:
    """Return the endpoint, status and shape of a recorded reply; of a picture its size in bytes."""
    data = body.read_bytes()
    status = json.loads(body.with_suffix(".json").read_bytes())["status"]
    try:
        shape = shape_of(json.loads(data))
    except ValueError:
        shape = f"{len(data)} bytes"
    return {"endpoint": body.parent.name, "status": status, "shape": shape}


def _strip_secrets(value: Any, redaction: Redaction) -> Any:
    """Return JSON data without secrets, and with `~` for the user's home folder."""
    if isinstance(value, dict):
        return {name: _strip_secrets(one, redaction) for name, one in value.items()}
    if isinstance(value, list):
        return [_strip_secrets(one, redaction) for one in value]
    if isinstance(value, str):
        return without_secrets(redaction.text(value)).replace(str(Path.home()), "~")
    return value
