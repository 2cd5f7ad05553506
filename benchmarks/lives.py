"""Lets an agent live once, for a benchmark: in an open city, with changes to its character."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree

from virl import __version__
from virl.agent.assembly import assemble, perform
from virl.agent.character_file import find_character, load_character
from virl.agent.run import Run
from virl.agent.user import User
from virl.journal.journal import JOURNAL, Journal
from virl.journal.records import Result, StartRecord
from virl.mind.base import Mind
from virl.mind.rules import RuleMind
from virl.platform.city import City
from virl.platform.movement.links import LinksMover
from virl.platform.perception.models import ModelOptions, Models
from virl.settings import check_settings


def live(
    name: str,
    city: City,
    folder: Path,
    *,
    seed: int = 0,
    changes: Mapping[str, object] | None = None,
    mind: Mind | None = None,
    models: Models | None = None,
    user: User | None = None,
) -> Result:
    """Run an agent from its start to its end; a run that stands in the folder is replaced.

    Args:
        name: of the agent, or the path of a character file.
        city: where it lives, already open.
        folder: where its journal goes.
        seed: of the run.
        changes: fields of the character that differ, such as `{"intention": "..."}`; sections whole.
        mind: who thinks; by default the rules.
        models: opens the senses; by default with the city's truth at this seed.
        user: who may speak up on the way.

    Raises:
        BadInput: a change does not fit, or the routine does not end its run.
        VirlError: whatever the routine raises.
    """
    source = find_character(name)
    read = load_character(source)
    data = read.model_dump() | {"city": city.name} | dict(changes or {})
    character = check_settings(data, type(read), source=str(source))
    mind = mind or RuleMind()
    models = models or Models(ModelOptions(truth=city.truth, seed=seed))
    start = StartRecord(
        virl=__version__,
        agent=source.stem,
        city=city.name,
        mind=mind.name,
        seed=seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        character=character.model_dump(mode="json"),
    )
    if (folder / JOURNAL).exists():
        rmtree(folder)
    with Journal.create(folder, start) as journal:
        run = Run(journal, start, keep_views=False, meter=city.meter)
        assembly = assemble(source, character, city, mind, models, LinksMover(city.streetview))
        return perform(assembly.agent(run, user))
