"""The page that a routine draws of its runs, found by the routine's name."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from pydantic import ConfigDict

from virl.journal.records import AnyRecord, StartRecord
from virl.platform.city.city import City
from virl.registry import ROUTINES, import_errors
from virl.resources import data_folder, names_in
from virl.settings.model import Settings, load_settings

DrawPage = Callable[[Path, Sequence[AnyRecord], City | None], str]
"""A function that draws the HTML of a run from its folder, its records and its city."""


class _AgentFile(Settings):
    """The field of an agent's file that tells its routine."""

    model_config = ConfigDict(extra="ignore")

    routine: str = ""


def routine_page(start: StartRecord) -> DrawPage | None:
    """Return the function `draw_page` in the `showing.py` of a run's routine; `None` if there is none.

    Raises:
        BadInput: two packages give the routine's name.
        ModelUnavailable: the module cannot be imported; names the fault.
    """
    name = routine_name(start)
    if name not in ROUTINES:
        return None
    package = ROUTINES.module(name).rpartition(".")[0]
    if not package:
        return None
    module = f"{package}.showing"
    with import_errors(f"routine {name!r} of {ROUTINES.giver(name)}"):
        showing = import_module(module) if find_spec(module) else None
    draw: DrawPage | None = getattr(showing, "draw_page", None)
    return draw


def routine_name(start: StartRecord) -> str:
    """Return the routine of a run, as the registry names it.

    Empty for one that lay beside the character's file.

    A journal that does not say it names the routine in the character, or an agent whose file does.
    """
    if start.routine is not None:
        return start.routine
    name = str(start.character.get("routine") or start.agent)
    if name in ROUTINES or name not in names_in("agents", ".yaml"):
        return name
    return load_settings(data_folder("agents") / f"{name}.yaml", _AgentFile).routine or name
