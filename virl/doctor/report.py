"""What the doctor says: as tables on a terminal, as plain lines elsewhere, or as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from virl.console import CAUTION, GOOD, as_markup, say
from virl.doctor.costs import Estimate
from virl.doctor.findings import Finding
from virl.doctor.machine import MODELS
from virl.doctor.measured import DENSITIES, MeasuredPrice
from virl.doctor.open_services import OpenOutcome
from virl.doctor.services import ProbeOutcomes
from virl.platform.left_out import Omission
from virl.platform.providers.google.keys import KEY_VARIABLE

_STYLES = (
    dict.fromkeys(("ok", "reached"), GOOD)
    | dict.fromkeys(("missing", "limited", "unclear"), CAUTION)
    | dict.fromkeys(("broken", "refused", "failing", "unreachable"), f"bold {CAUTION}")
    | {"not asked": "dim"}
)
_TABLE_WIDTH = 70  # columns of a terminal below which tables are lines; chosen


@dataclass(frozen=True, slots=True)
class Report:
    """All that the doctor found."""

    virl: str
    offline_core_works: bool
    machine: tuple[Finding, ...]
    google: ProbeOutcomes
    costs: tuple[Estimate, ...]
    measured: tuple[MeasuredPrice, ...]
    """Prices of runs of agents and episodes of benchmarks, as they were billed, at the prices of today."""
    notes: tuple[str, ...]
    """Notes on prices and assumptions."""
    open: tuple[OpenOutcome, ...] = ()
    """Outcomes of the services of a city of open data."""
    left_out: tuple[Omission, ...] = ()
    """Items and fields of the answers that could not be read."""


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def as_json(report: Report) -> str:
    """Return the report for programs."""
    return TypeAdapter(Report).dump_json(report, indent=2).decode()


def tell(report: Report, console: Console) -> None:
    """Print the report for people: the verdict first, and last what is missing that only some work needs."""
    for line in verdict(report):
        say(console, as_markup(line))
    console.print()
    sections = (_machine, _open, _services, _left_out, _measured_section, _costs, _requests, _missing_section)
    for section in (make(report) for make in sections):
        if not section.rows:
            continue
        if console.is_terminal and console.width >= _TABLE_WIDTH:
            console.print(_table(section))
        else:
            for line in _lines(section):
                say(console, as_markup(line), indent=4)
    for note in report.notes:
        say(console, as_markup(note))


def verdict(report: Report) -> list[str]:
    """Return the lines on what works: made cities, real cities, language models."""
    by_name = {finding.what: finding for finding in report.machine}
    made = (
        "made cities: work, try `virl run hiro`"
        if report.offline_core_works
        else "made cities: do not work, see below"
    )
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
    return [made, f"real cities: {real}", *_open_verdict(report), f"language models: {minds}"]


def _open_verdict(report: Report) -> list[str]:
    if not report.open:
        return []
    asked = {one.service for one in report.open}
    failed = {one.service for one in report.open if one.status != "reached"}
    return [f"open data: {len(asked - failed)} of {len(asked)} services reached"]


def _machine(report: Report) -> _Section:
    return _findings("This machine", [one for one in report.machine if one.state != "missing"])


def _missing_section(report: Report) -> _Section:
    missing = [one for one in report.machine if one.state == "missing"]
    return _findings("Not installed or not set, needed only for what each line says", missing)


def _findings(title: str, findings: Sequence[Finding]) -> _Section:
    rows = [(one.state, one.what, one.detail, one.needed_for, one.remedy) for one in findings]
    return _Section(title, ("", "what", "found", "needed for", "remedy"), rows)


def _services(report: Report) -> _Section:
    rows = [
        (one.status, one.service, one.asked, _usd(one.usd), one.detail, one.remedy)
        for one in report.google.outcomes
    ]
    spent = report.google.spent_usd
    title = f"Google's services (these checks {f'cost at most {_usd(spent)}' if spent else 'are free'})"
    return _Section(title, ("", "service", "request", "price", "result", "remedy"), rows)


def _open(report: Report) -> _Section:
    rows = [(one.status, one.service, one.asked, one.detail, one.run, one.remedy) for one in report.open]
    columns = ("", "service", "request", "result", "a run asks", "remedy")
    return _Section("Open services (these checks are free)", columns, rows)


def _left_out(report: Report) -> _Section:
    rows = [(one.source, str(one.count), "; ".join(one.reasons)) for one in report.left_out]
    return _Section("Parts of answers that cannot be read", ("source", "count", "first reasons"), rows)


def _costs(report: Report) -> _Section:
    units = dict.fromkeys(one.unit for one in report.costs)
    kinds = tuple(dict.fromkeys(one.imagery for one in report.costs))
    usd = {(one.unit, one.imagery): _usd(one.usd) for one in report.costs}
    rows = [(unit, *(usd[unit, kind] for kind in kinds)) for unit in units]
    return _Section("Estimated costs", ("unit", *(f"imagery: {kind}" for kind in kinds)), rows)


def _measured_section(report: Report) -> _Section:
    rows = [
        (one.unit, *(_usd(one.usd[town], 2) if town in one.usd else "-" for town in DENSITIES))
        for one in report.measured
    ]
    return _Section("Measured costs", ("unit", *(f"{town} town" for town in DENSITIES)), rows)


def _requests(report: Report) -> _Section:
    rows = {
        (one.unit, item.what, item.endpoint, f"{item.count:.3g}", _usd(item.usd), item.source): None
        for one in report.costs
        if one.is_small
        for item in one.items
    }
    columns = ("unit", "what", "endpoint", "requests", "each", "source of the number")
    return _Section("Requests per unit", columns, list(rows))


def _usd(usd: float, digits: int = 3) -> str:
    return f"${usd:,.{digits}f}" if usd else "free"


def _table(section: _Section) -> Table:
    table = Table(title=section.title, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    for column in section.columns:
        table.add_column(column, overflow="fold")
    for row in section.rows:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    return table


def _lines(section: _Section) -> Iterator[str]:
    yield f"{section.title}: {' | '.join(filter(None, section.columns))}"
    for row in section.rows:
        yield f"  {' | '.join(row).rstrip(' |')}"
    yield ""
