"""The command `virl preview`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from virl.cli.completion import complete_cities, complete_detectors
from virl.cli.guard import add_guard
from virl.cli.options import (
    AroundOption,
    AsOfOption,
    BudgetOption,
    CacheOption,
    DeviceOption,
    DownloadsOption,
    RadiusOption,
    RecordOption,
    ReplayOption,
    access_of,
    part_of,
)
from virl.console import SafeConsole, echo, echo_json

if TYPE_CHECKING:
    from virl.journal.recorded_run import Finished

AGENT = "noor"
Profile = Literal["low-vision", "wheelchair", "pram", "stranger"]


@add_guard()
def preview(
    start: Annotated[str, typer.Argument(metavar="FROM", help="Address, or LAT,LNG.")],
    to: Annotated[
        str,
        typer.Argument(
            metavar="TO", help="Address, LAT,LNG, name of a place, or kind of place such as `library`."
        ),
    ],
    city: Annotated[
        str | None,
        typer.Option(help="City; Virlton by default (see `virl cities`).", autocompletion=complete_cities),
    ] = None,
    around: AroundOption = None,
    radius: RadiusOption = None,
    profile: Annotated[
        Profile, typer.Option(help="Who walks: decides what the description mentions, and in which order.")
    ] = "low-vision",
    detector: Annotated[
        str | None,
        typer.Option(
            help="Detector to search with instead of Noor's (see `virl models`).",
            autocompletion=complete_detectors,
        ),
    ] = None,
    reader: Annotated[str, typer.Option(help="OCR model that reads signs.")] = "sign-reader",
    device: DeviceOption = "auto",
    allow_downloads: DownloadsOption = False,
    budget_usd: BudgetOption = None,
    cache: CacheOption = None,
    record: RecordOption = None,
    replay: ReplayOption = None,
    as_of: AsOfOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Run folder. By default `runs/noor-TIME`.", file_okay=False)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the preview in `--out`, or the latest one.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the description of the way.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Describe a way from its pictures before it is walked: crossings, pavements, benches, landmarks.

    Runs the agent Noor. Writes a page for screen readers, plain text, GPX and JSON to the run folder.
    """
    from virl.agent.plan import RunOptions  # noqa: PLC0415 - brings in the city and the senses
    from virl.agent.start import run_agent  # noqa: PLC0415

    options = RunOptions(
        agent=AGENT,
        city=part_of(city, around, radius),
        at=start,
        detector=detector,
        device=device,
        allow_downloads=allow_downloads,
        out=out,
        resume=resume,
        fields={
            "intention": f"Noor wants to know what the way to {to} is like.",
            "preview.to": to,
            "preview.profile": profile,
            "preview.reader": reader,
        },
        access=access_of(budget_usd=budget_usd, cache=cache, record=record, replay=replay, as_of=as_of),
    )
    _tell(run_agent(options, SafeConsole(quiet=quiet or as_json)), quiet=quiet, as_json=as_json)


def _tell(finished: "Finished", *, quiet: bool, as_json: bool) -> None:
    result = finished.result
    if as_json:
        echo_json(result.model_dump_json(indent=2))
        return
    spoken = finished.folder / "preview.txt"
    if spoken.name in result.files:
        echo(spoken.read_text(encoding="utf-8").rstrip())
    else:
        echo(result.reason)
    if not quiet:
        for name in result.files:
            echo(f"written: {finished.folder / name}")
        echo(f"report: {finished.report}")
