"""`virl preview` and `virl run --dry-run`: a way before it is walked, and what a run would do and cost."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from virl.cli.completion import complete_cities, complete_detectors
from virl.cli.guard import add_guard
from virl.cli.listing import print_json
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
    from virl.agent.plan import RunOptions
    from virl.agent.start import Preview
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
    """Print the results of a finished preview of a way, as text or JSON."""
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


def tell_preview(options: "RunOptions", *, as_json: bool) -> None:
    """Print what a run with these options would do and cost, as text or JSON; writes no files.

    Raises:
        BadInput: the run would be refused; names all that is wrong.
    """
    from virl.agent.start import preview_run  # noqa: PLC0415 - brings in the city and the senses

    preview = preview_run(options)
    estimated, measured = _estimated_usd(preview), _measured_usd(preview)
    if as_json:
        data = preview.model_dump(mode="json") | {"estimated_usd": estimated, "measured_usd": measured}
        print_json(data)
        return
    for name, said in _rows(preview, estimated, measured):
        echo(f"{name:12} {said}")


def _rows(
    preview: "Preview", estimated: dict[str, float], measured: dict[str, float]
) -> Iterator[tuple[str, str]]:
    """Yield (heading, text) of each line on a run that would start; costs in dollars."""
    yield "agent", f"{preview.agent} ({preview.file}), routine {preview.routine}"
    yield "city", f"{preview.city}, provider {preview.provider}"
    yield "mover", f"{preview.mover}: {preview.mover_reason}" if preview.mover_reason else preview.mover
    yield "start", preview.start
    yield "mind", preview.mind
    turns = f", {preview.max_model_calls} turns of the model" if preview.max_model_calls else ""
    yield "at most", f"{preview.max_steps} moves{turns}"
    yield "cost", _cost(preview, estimated)
    if measured:
        said = " and ".join(f"${usd:.2f} in a {town} town" for town, usd in measured.items())
        yield "measured", f"a run of {preview.agent} cost {said} (virl doctor)"
    yield "run folder", f"{preview.folder} (not written: --dry-run)"
    for one in preview.not_checked:
        yield "not checked", one


def _cost(preview: "Preview", estimated: dict[str, float]) -> str:
    """Return words on what a run would cost, by the estimates, and on its upper bound."""
    if not preview.network and preview.mind == "rules":
        return "$0: the city needs no network, and rules decide"
    bound = (
        "no upper bound: give --budget-usd"
        if preview.budget_usd is None
        else f"at most ${preview.budget_usd:.2f} (--budget-usd)"
    )
    if not preview.network:
        return f"the model's tokens; {bound}"
    model = "" if preview.mind == "rules" else " and the model's tokens"
    if not estimated:
        return f"requests to {preview.provider}{model}, not estimated for this routine; {bound}"
    said = " or ".join(f"${usd:.2f} with {imagery}" for imagery, usd in estimated.items())
    return f"about {said} for all moves, at list prices (virl doctor){model}; {bound}"


def _measured_usd(preview: "Preview") -> dict[str, float]:
    """Return {town's density: dollars billed for a run of this agent}; empty if not measured."""
    if not preview.network:
        return {}
    from virl.doctor.measured import BILLED, measured_costs, price_of_run  # noqa: PLC0415 - Google's client
    from virl.platform.providers.google.settings import load_google_settings  # noqa: PLC0415

    if preview.provider not in BILLED:
        return {}
    found = price_of_run(load_google_settings(), measured_costs(), Path(preview.file).stem)
    return {town: round(usd, 4) for town, usd in found.items()}


def _estimated_usd(preview: "Preview") -> dict[str, float]:
    """Return {kind of imagery: estimated dollars of all moves}; empty if it cannot be estimated."""
    if not preview.network:
        return {}
    from virl.doctor.costs import (  # noqa: PLC0415 - brings in Google's client
        ESTIMATED,
        MEASURED,
        estimates,
    )
    from virl.platform.providers.google.settings import load_google_settings  # noqa: PLC0415

    if (preview.provider, preview.routine) not in ESTIMATED:
        return {}
    found = estimates(load_google_settings(), MEASURED, preview.max_steps)
    return {one.imagery: one.usd for one in found if one.is_run}
