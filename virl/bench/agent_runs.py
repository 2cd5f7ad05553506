"""Runs agents within episodes: each in a folder of its own, with a journal and a report.

    result = run_in_folder("hiro", city, resources.folder(episode) / RUN, changes={...}, models=models)

A run that was cut off goes on where it stopped, and one that has ended is read.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from virl.agent.assembly import assemble, perform
from virl.agent.character_file import LoadedCharacter, find_character, load_character
from virl.agent.going_on import ended_before
from virl.agent.run import Run
from virl.agent.user import User
from virl.bench.resources import Resources
from virl.errors import BadInput, MindFailed, VirlError
from virl.journal.journal import Journal
from virl.journal.records import AnyRecord, Result, StartRecord
from virl.journal.report import REPORT, write_report
from virl.mind.base import Mind
from virl.mind.rules import RuleMind
from virl.money.ledger import account
from virl.platform.city.city import City
from virl.platform.movers.base import LinksMover
from virl.platform.perception.base import Describer, Detector, Matcher, Reader, Recognizer
from virl.platform.perception.models import ModelOptions, Models
from virl.settings.model import check_settings
from virl.version import __version__

RUN = "run"
"""Folder of an agent's run, in that of its episode."""
RUN_REPORT = f"{RUN}/{REPORT}"
"""The run's report, for `Shown.links`."""


class EpisodeModels(Models):
    """The models of an agent in an episode, shared with the episodes beside it.

    Args:
        resources: open the models.
        city: name of the city that the agent is in.
    """

    def __init__(self, resources: Resources, city: str) -> None:
        """Open the models of a city's episodes out of the resources that a run shares."""
        terms = resources.terms
        known = resources.city(city)
        super().__init__(
            ModelOptions(
                terms.device, terms.allow_downloads, known.truth, known.capabilities.is_drawn, terms.seed
            )
        )
        self._resources = resources
        self._city = city

    def detector(self, name: str) -> Detector:
        """Return a detector."""
        return self._resources.detector(name, self._city)

    def recognizer(self, name: str) -> Recognizer:
        """Return a recognizer."""
        return self._resources.recognizer(name)

    def reader(self, name: str) -> Reader:
        """Return a reader (OCR)."""
        return self._resources.reader(name, self._city)

    def matcher(self, name: str) -> Matcher:
        """Return a matcher."""
        return self._resources.matcher(name)

    def describer(self, name: str) -> Describer:
        """Return a describer."""
        return self._resources.describer(name, self._city)


def run_in_folder(
    name: str,
    city: City,
    folder: Path,
    *,
    seed: int = 0,
    changes: Mapping[str, object] | None = None,
    mind: Mind | None = None,
    models: Models | None = None,
    user: User | None = None,
    prompts: Path | None = None,
) -> Result:
    """Run an agent to its end, or go on with the run in the folder.

    Args:
        name: of the agent, or the path of a character file.
        city: where it is, already open.
        folder: where its journal and its report go.
        seed: of the run.
        changes: fields of the character that differ, such as `{"intention": "..."}`; sections whole.
        mind: answers its prompts, with the ledger of the run; by default the rules, without a limit.
        models: opens the senses; by default with the city's truth at this seed.
        user: who may speak up on the way.
        prompts: folder of prompts that come before the character's own.

    Raises:
        BadInput: a change does not fit, the folder holds another run, or the routine does not end its run.
        VirlError: whatever the routine raises; what was done so far is in the folder.
    """
    source = find_character(name)
    read = load_character(source)
    data = read.model_dump() | {"city": city.name} | dict(changes or {})
    loaded = LoadedCharacter(source, check_settings(data, type(read), source=str(source)))
    mind = mind or RuleMind()
    models = models or Models(ModelOptions(truth=city.truth, seed=seed))
    start = StartRecord(
        virl=__version__,
        agent=source.stem,
        city=city.name,
        mind=mind.name,
        seed=seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        routine=loaded.routine.registry_name,
        attribution=city.notice,
        character=loaded.character.model_dump(mode="json"),
        prompts=str(prompts.resolve()) if prompts else "",
    )
    with _journal(folder, start) as (journal, done), account(folder.name) as own:
        if ended := ended_before(folder, done, city, mind.ledger, own):
            return ended
        run = Run(
            journal,
            start,
            done,
            data=city,
            keep_views=False,
            ledger=mind.ledger,
            account=own,
        )
        assembly = assemble(loaded, city, mind, models, LinksMover(city.streetview))
        assembly = assembly.with_prompts(run.start.prompts)
        try:
            result = perform(assembly.agent(run, user))
        except VirlError:
            write_report(folder, city)
            raise
        write_report(folder, city)
        return result


def failure_of_run(result: Result) -> MindFailed | None:
    """Return the failure of a run whose model gave no usable reply; `None` for every other end."""
    ended = result.outcome
    return MindFailed(result.reason) if ended and ended.kind == "no reply" else None


def cost_of_run(result: Result) -> Mapping[str, float]:
    """Return the usage of an agent's run, as the cost of an episode."""
    cost = result.cost
    return {
        "requests": float(cost.llm_calls),
        "input_tokens": float(cost.input_tokens),
        "output_tokens": float(cost.output_tokens),
        "usd": cost.usd,
    }


@contextmanager
def _journal(folder: Path, start: StartRecord) -> Iterator[tuple[Journal, tuple[AnyRecord, ...]]]:
    """Open the journal of a run, begun or gone on with, and what it holds."""
    journal, done = Journal.open(folder, start)
    with journal:
        begun = next((one for one in done if isinstance(one, StartRecord)), start)
        fields = ("agent", "city", "mind", "seed", "character")
        if other := next((name for name in fields if getattr(begun, name) != getattr(start, name)), ""):
            raise BadInput(f"{folder}: contains a different run (its {other} differs): choose another --out")
        yield journal, done
