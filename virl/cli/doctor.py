"""The command `virl doctor`."""

from pathlib import Path
from typing import Annotated

import typer

from virl.cli.completion import complete_cities
from virl.cli.options import check_amount
from virl.console import SafeConsole, echo_json
from virl.guard import LOG_DETAILS, guarded

CORE_BROKEN = 1
"""The exit code where not even the made town opens."""
BUDGET_USD = 0.10  # chosen: the paid probes of either generation of the APIs fit in


@guarded(LOG_DETAILS)
def doctor(
    paid: Annotated[
        bool,
        typer.Option(
            "--paid", help="Also test services that Google bills. Prices are printed before any request."
        ),
    ] = False,
    budget_usd: Annotated[
        float, typer.Option(help="Budget in US dollars for --paid.", callback=check_amount)
    ] = BUDGET_USD,
    city: Annotated[
        str,
        typer.Option(
            help="City to test Google's services in, or those of open data (see `virl cities`).",
            autocompletion=complete_cities,
        ),
    ] = "london",
    mind: Annotated[
        str,
        typer.Option(
            envvar="VIRL_MIND",
            help="Language model to check, such as `openai:MODEL`. Sends one free request to its server.",
        ),
    ] = "rules",
    steps: Annotated[
        int | None,
        typer.Option(help="Steps of the run to estimate the price of. By default, Hiro's limit.", min=0),
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(
            help="Folder of your own Hiro runs to estimate requests per step from.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check the installation, your API keys and what runs cost."""
    from virl.doctor import report  # noqa: PLC0415 - brings in the cities and the senses
    from virl.doctor.examination import examined  # noqa: PLC0415

    found = examined(budget_usd if paid else None, city, steps, runs, SafeConsole(stderr=True), mind)
    if as_json:
        echo_json(report.as_json(found))
    else:
        report.tell(found, SafeConsole())
    if not found.offline_core_works:
        raise typer.Exit(CORE_BROKEN)
