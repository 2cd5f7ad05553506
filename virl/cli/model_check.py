"""`virl models --write-views` and `--check`: models measured on labelled views of a made town."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from virl.cli.listing import print_table
from virl.cli.model_trial import role_of
from virl.console import echo, echo_json
from virl.doctor.eyes.labelled import read_labelled, write_labelled
from virl.doctor.eyes.measuring import MEASURED, Measured, measure
from virl.doctor.eyes.page import COLUMNS, rows, write_check
from virl.errors import BadInput
from virl.platform.perception.models import ModelOptions, model_names
from virl.platform.perception.registry import Role
from virl.platform.perception.standing import model_readiness

ASKS_A_MIND = "chat-describer"


def write_labelled_views(folder: Path, city: str, count: int, seed: int) -> None:
    """Write them, and say how to go on.

    Args:
        folder: where they are written.
        city: name of a made town.
        count: number of views.
        seed: same seed, same views.

    Raises:
        UnknownName: there is no such city.
        BadInput: it is no made town.
        CannotWrite: the disk refuses.
    """
    from virl.platform.providers import open_city  # noqa: PLC0415 - brings in the renderer

    written = write_labelled(open_city(city), city, folder, count, seed)
    things = sum(thing.clear for view in written.views for thing in view.things)
    echo(f"{len(written.views)} views with {things} things to find: {folder}")
    echo(f"Measure models with `virl models --check {folder}`.")


def check_models(
    folder: Path, asked: Sequence[str], device: Any, *, allow_downloads: bool, as_json: bool
) -> None:
    """Measure models, print the table and write the page.

    Args:
        folder: with labelled views.
        asked: names of models; empty for all that are ready.
        device: such as `cpu`; `None` chooses.
        allow_downloads: whether weights may be fetched.
        as_json: print JSON instead of the table.

    Raises:
        UnknownName: there is no such model.
        BadInput: the folder has no labelled views, or a model is none that can be measured.
        CannotWrite: the disk refuses.
    """
    labelled = read_labelled(folder)
    names = [_parse_model(name) for name in asked] or list(_ready())
    results: list[Measured] = []
    for number, done in enumerate(measure(names, folder, ModelOptions(device, allow_downloads)), start=1):
        results.append(done)
        echo(f"{number} of {len(names)}: {done.name}{f': {done.fault}' if done.fault else ''}", err=True)
    page = write_check(folder, labelled, results)
    if as_json:
        plain = [{key: value for key, value in asdict(one).items() if key != "found"} for one in results]
        echo_json(json.dumps(plain, indent=2))
        return
    print_table(COLUMNS, rows(results), f"page: {page}")


def _parse_model(name: str) -> tuple[Role, str]:
    role = role_of(name)
    if role not in MEASURED or name == ASKS_A_MIND:
        raise BadInput(f"{name} is a {role} that cannot be measured: name a {', a '.join(MEASURED)}")
    return role, name


def _ready() -> Iterator[tuple[Role, str]]:
    for role in MEASURED:
        for name in model_names(role):
            if name != ASKS_A_MIND and model_readiness(role, name).is_ready:
                yield role, name
