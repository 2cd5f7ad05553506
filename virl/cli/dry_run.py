"""`virl run --dry-run`: what a run would do and cost."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from virl.cli.listing import print_json
from virl.console import echo

if TYPE_CHECKING:
    from virl.agent.plan import RunOptions
    from virl.agent.start import Preview


def tell_preview(options: "RunOptions", *, as_json: bool) -> None:
    """Print what a run with these options would do; writes nothing.

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
    """Return the dollars that a run of this agent was billed, by how dense the town was."""
    if not preview.network:
        return {}
    from virl.doctor.measured import BILLED, measured_costs, price_of_run  # noqa: PLC0415 - Google's client
    from virl.platform.providers.google.settings import load_google_settings  # noqa: PLC0415

    if preview.provider not in BILLED:
        return {}
    found = price_of_run(load_google_settings(), measured_costs(), Path(preview.file).stem)
    return {town: round(usd, 4) for town, usd in found.items()}


def _estimated_usd(preview: "Preview") -> dict[str, float]:
    """Return dollars of all moves, by the kind of imagery, where the habits of the routine were measured."""
    if not preview.network:
        return {}
    from virl.doctor.costs import ESTIMATED, estimates  # noqa: PLC0415 - brings in Google's client
    from virl.doctor.habits import MEASURED  # noqa: PLC0415
    from virl.platform.providers.google.settings import load_google_settings  # noqa: PLC0415

    if (preview.provider, preview.routine) not in ESTIMATED:
        return {}
    found = estimates(load_google_settings(), MEASURED, preview.max_steps)
    return {one.imagery: one.usd for one in found if one.is_run}
