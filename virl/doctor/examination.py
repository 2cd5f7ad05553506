"""The whole examination: machine, Google, open services and mind looked at, and a run priced."""

from pathlib import Path

from rich.console import Console

from virl.console import counting_bar
from virl.doctor.costs import MEASURED, Estimate, Habits, count_runs, estimates
from virl.doctor.machine import examine
from virl.doctor.measured import measured_costs, prices
from virl.doctor.model_server import ask_model, mind_finding
from virl.doctor.probes import probes
from virl.doctor.report import Report
from virl.doctor.services import Finding, OpenOutcome, ProbeOutcomes, ask_google
from virl.errors import BadInput, ProviderError, VirlError
from virl.money.ledger import Ledger
from virl.plain_text import capitalize
from virl.platform.city.left_out import LeftOut
from virl.platform.city.streetview import relocate
from virl.platform.movers.open_mover import planned_mover
from virl.platform.providers.cities import Access, city_settings, open_city, opened_city
from virl.platform.providers.google.settings import GoogleSettings, Keys, load_google_settings
from virl.platform.providers.http.stored_replies import Recording
from virl.platform.providers.open.city_file import OpenCity
from virl.version import __version__

_TILES = "Map Tiles API"


def examine_machine(
    budget_usd: float | None,
    city: str,
    moves: int | None,
    runs: Path | None,
    console: Console,
    mind: str = "rules",
    record: Recording | None = None,
) -> Report:
    """Check machine, services (`budget_usd=None`: free ones) and mind; price a run by habits in `runs`.

    Args:
        budget_usd: most dollars for paid probes; `None` asks none of them.
        city: where the probes ask about.
        moves: of the run that is priced; by default Hiro's limit.
        runs: a folder of runs to count Hiro's habits in.
        console: for what is told meanwhile.
        mind: whose server is asked, as in `--mind`; `rules` has none. With a budget, the model itself, too.
        record: where Google's answers are recorded.

    Raises:
        BadInput: a city, a file or a folder is not what it should be.
    """
    settings = load_google_settings()
    here = city_settings(city).center or open_city(city).center
    habits = count_runs([runs]) if runs else MEASURED
    machine, left_out = examine(settings.base_url), LeftOut()
    keys = google_keys()
    asked = probes(settings)
    with counting_bar("asking Google", len(asked) if keys else 0, console) as advance:
        google = ask_google(settings, keys, here, budget_usd, advance, left_out=left_out, record=record)
    opened = _ask_open_services(city, left_out, console)
    machine.append(_mover_finding(city, google))
    if mind != "rules":
        if budget_usd is not None:
            machine += filter(None, [ask_model(mind, budget_usd - google.spent_usd)])
        machine.append(mind_finding(mind))
    costs, notes = _estimate_costs(settings, habits, moves)
    works = not any(finding.state == "broken" for finding in machine)
    billed = measured_costs()
    towns = "; ".join(f"{town} town: {title}" for town, title in billed.towns.items())
    notes.append(f"Measured costs: {billed.measured}, {billed.how}. {capitalize(towns)}.")
    notes.append(
        "Benchmarks that are not listed run in made cities or on data sets, and send Google nothing."
    )
    return Report(
        __version__,
        works,
        tuple(machine),
        google,
        tuple(costs),
        tuple(prices(settings, billed)),
        tuple(notes),
        opened,
        left_out.omissions(),
    )


def _ask_open_services(city: str, left_out: LeftOut, console: Console) -> tuple[OpenOutcome, ...]:
    """Ask a city's open services; return the outcomes, empty if it uses none, and note gaps in `left_out`."""
    file = city_settings(city)
    if not isinstance(file, OpenCity):
        return ()
    from virl.doctor.open_services import ask_open  # noqa: PLC0415 - brings in the open cities

    with counting_bar("asking open services", 3, console) as advance:
        return ask_open(city, file, advance, left_out=left_out)


def google_keys() -> Keys | None:
    """Return the Google keys in the environment; `None` if they are missing or malformed."""
    try:
        return Keys.from_environment()
    except BadInput:
        return None


def _estimate_costs(
    settings: GoogleSettings, habits: Habits, moves: int | None
) -> tuple[list[Estimate], list[str]]:
    """Return (estimates of costs, notes for the reader); no estimates if they cannot be made."""
    read = max(source.read for source in settings.sources.values())
    notes = [
        f"Prices: platform/providers/google.yaml, read {read}; free monthly events are not deducted.",
        "District: an upper bound, as if every position of its grid had a panorama and places.",
    ]
    try:
        return estimates(settings, habits, moves), notes
    except ProviderError as fault:
        return [], [f"Costs cannot be estimated: {fault}"]


def _mover_finding(city: str, asked: ProbeOutcomes) -> Finding:
    """Return which mover fits the middle of a city, and why; asks Google, free, if `asked` reached it."""
    what, needed_for = f"mover in {city}", f"`virl run --city {city}` without --mover"
    planned = planned_mover(city)
    known = {one.status for one in asked.outcomes if one.service == _TILES} & {"reached", "refused"}
    # Fitting a mover asks Google too: only where Map Tiles has answered, and with 0 dollars to spend.
    if known:
        try:
            with opened_city(city, Access(ledger=Ledger(0.0), cache="off")) as opened:
                if opened.capabilities.fit_mover:
                    start = relocate(opened.streetview, opened.center, f"the middle of {opened.title}")
                    planned = opened.capabilities.fit_mover(start, None)
        except VirlError as fault:
            return Finding(what, "ok", f"{planned.name}; {fault}", needed_for)
    return Finding(what, "ok", f"{planned.name}: {planned.reason}".removesuffix(": "), needed_for)
