"""`virl check`: what is wrong with a file, without a run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from virl.cli.guard import LOG_DETAILS, USER_ERROR, add_guard
from virl.cli.listing import print_json
from virl.console import echo
from virl.errors import BadFile, VirlError, raise_all, told_of

REGIONS = {".geojson", ".json", ".txt"}


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The result of checking one file: its kind, and either a summary or faults."""

    file: str
    kind: str
    """Kind of the file, such as `character` or `city`; empty if the file cannot be read."""
    ok: bool
    summary: str
    """Contents of the file in a line; empty if it has faults."""
    faults: tuple[str, ...]
    not_checked: tuple[str, ...] = ()
    """Conditions that only a run can check."""


@add_guard(LOG_DETAILS)
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files of characters, cities, models, prompts, feedback or regions; or names of agents.",
        ),
    ],
    mind: Annotated[
        str | None, typer.Option(help="Check that characters can run with this mind; by default `rules`.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check files without a run: prints everything that is wrong, with file and line."""
    found = [_check_file(file, mind) for file in files]
    if as_json:
        print_json([asdict(one) for one in found])
    else:
        for one in found:
            for fault in one.faults:
                echo(fault, err=True)
            if one.ok:
                echo(f"{one.file}: ok: {one.summary}")
                for lack in one.not_checked:
                    echo(f"{one.file}: not checked: {lack}")
    if not all(one.ok for one in found):
        raise typer.Exit(USER_ERROR)


def _check_file(file: str, mind: str | None = None) -> CheckedFile:
    """Check one file by the rules of its kind; characters also for running with `mind`. Return the result."""
    kind = ""
    try:
        kind = kind_of(file)
        not_checked: Sequence[str] = ()
        if kind == "character":
            summary, not_checked = _check_character(file, mind)
        elif kind == "model":
            summary, not_checked = _check_model(file)
        else:
            summary = _summarize(Path(file), kind)
    except VirlError as fault:
        return CheckedFile(file, kind, ok=False, summary="", faults=tuple(told_of(file, fault)))
    return CheckedFile(file, kind, ok=True, summary=summary, faults=(), not_checked=tuple(not_checked))


def kind_of(file: str) -> str:
    """Return the kind of a file, such as `character` or `region`, from its ending and its fields.

    Raises:
        BadInput: it cannot be read.
    """
    from virl.settings.model import read_settings  # noqa: PLC0415 - loads when asked for

    path = Path(file)
    if path.suffix == ".md":
        return "prompt"
    if path.suffix in REGIONS:
        return "region"
    if path.suffix not in {".yaml", ".yml"}:
        return "character"
    data = read_settings(path).data
    if isinstance(data, list):
        return "feedback"
    fields = set(data) if isinstance(data, dict) else set()
    for kind, marks in _MARKS.items():
        if marks <= fields:
            return kind
    return "character"


Summary = tuple[str, Sequence[str]]
"""(contents of a file in a line, conditions that only a run can check)."""


def _check_character(file: str, mind: str | None) -> Summary:
    """Check a character file, or agent, for running with `mind`; raise VirlError for what is wrong."""
    from virl.agent.character_file import LoadedCharacter, find_character, load_character  # noqa: PLC0415
    from virl.agent.checking import check_character, faults_beside  # noqa: PLC0415 - brings in the cities and the senses
    from virl.mind.open import open_mind  # noqa: PLC0415

    path = find_character(file)
    try:
        character = load_character(path)
    except BadFile as fault:
        raise_all([fault, *faults_beside(path)])
        raise
    mind = mind or "rules"
    loaded = LoadedCharacter(path, character)
    found = check_character(loaded, open_mind(mind, cache_dir=None))
    raise_all(found.faults)
    said = f"routine {loaded.routine.name} in {character.city}, mind {mind}"
    detector, steps = character.senses.detector, character.limits.steps
    return f"{said}, detector {detector}, at most {steps} moves", found.unknown


def _check_model(file: str) -> Summary:
    """Check a model file, and whether this machine has what the model needs; raise VirlError if wrong."""
    from virl.platform.perception.models import read_model  # noqa: PLC0415
    from virl.platform.perception.registry import find_kind  # noqa: PLC0415
    from virl.platform.perception.standing import model_readiness  # noqa: PLC0415
    from virl.settings.model import read_settings  # noqa: PLC0415 - loads when asked for

    kind = str(read_settings(Path(file)).data["kind"])
    role = find_kind(kind).role
    read_model(role, file)
    lacks = [need.lacks for need in model_readiness(role, file).needs if need.lacks]
    return f"{role} of kind {kind}", lacks


def _summarize(path: Path, kind: str) -> str:
    """Return a line on a file of any kind but character or model; raise VirlError if anything is wrong."""
    match kind:
        case "city":
            from virl.platform.providers.cities import read_city  # noqa: PLC0415 - brings in the providers

            city = read_city(path)
            return f"city {city.title} of provider {city.provider}"
        case "prompt":
            from virl.mind.prompt import check_prompt  # noqa: PLC0415 - loads when asked for

            check_prompt(path)
            return "prompt"
        case "feedback":
            from virl.agent.user import read_feedback  # noqa: PLC0415

            read_feedback(path)
            return "feedback for a run"
        case "region":
            from virl.settings.region_file import read_region  # noqa: PLC0415

            return f"region of {len(read_region(path).corners)} corners"
        case "provider":
            from virl.platform.providers.google.settings import load_google_settings  # noqa: PLC0415

            return f"settings of Google, {len(load_google_settings(path).endpoints)} endpoints"
        case _:
            from virl.platform.providers.rentcast.client import RentCastSettings  # noqa: PLC0415
            from virl.settings.model import load_settings  # noqa: PLC0415 - loads when asked for

            load_settings(path, RentCastSettings)
            return "settings of RentCast"


_MARKS = {
    "city": {"title", "provider"},
    "model": {"kind"},
    "provider": {"endpoints", "skus"},
    "rentcast": {"base_url", "usd_per_request"},
}
"""Fields by which a YAML file of a kind is recognized, by the kind."""
