"""Runs agents within episodes: each in a folder of its own, with a journal and a report.

    result = run_in_folder("hiro", city, resources.folder(episode) / RUN, changes={...}, models=models)

A run that was cut off goes on where it stopped, and one that has ended is read.
"""

from collections.abc import Mapping
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
from virl.journal.records import Result, StartRecord
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
"""Name of the folder of an agent's run, within the folder of its episode."""
RUN_REPORT = f"{RUN}/{REPORT}"
"""Path of the agent's report within the folder of its episode, for `Shown.links`."""


class EpisodeModels(Models):
    """The perception models of an episode's agent, shared and batched with the process's other episodes."""

    def __init__(self, resources: Resources, city: str) -> None:
        """Take the models from `resources`, for views of the city named `city`."""
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
        """Return the detector with this name in `platform/models`, shared with other episodes."""
        return self._resources.detector(name, self._city)

    def recognizer(self, name: str) -> Recognizer:
        """Return the recognizer with this name in `platform/models`, shared with other episodes."""
        return self._resources.recognizer(name)

    def reader(self, name: str) -> Reader:
        """Return the text reader (OCR) with this name in `platform/models`, shared with other episodes."""
        return self._resources.reader(name, self._city)

    def matcher(self, name: str) -> Matcher:
        """Return the matcher of pictures with this name in `platform/models`, shared with other episodes."""
        return self._resources.matcher(name)

    def describer(self, name: str) -> Describer:
        """Return the describer of views with this name in `platform/models`, shared with other episodes."""
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
    """Run an agent in a city, or resume its run in `folder`, with `changes` to its fields; return its result.

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
    journal, done = Journal.open(folder, start)
    with journal, account(folder.name) as own:
        begun = next((one for one in done if isinstance(one, StartRecord)), start)
        fields = ("agent", "city", "mind", "seed", "character")
        if other := next((name for name in fields if getattr(begun, name) != getattr(start, name)), ""):
            raise BadInput(f"{folder}: contains a different run (its {other} differs): choose another --out")
        if ended := ended_before(folder, done, city, mind.ledger, own):
            return ended
        run = Run(journal, start, done, data=city, keep_views=False, ledger=mind.ledger, account=own)
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
    """Return the error of a run that ended because its model gave no usable reply; else `None`."""
    ended = result.outcome
    return MindFailed(result.reason) if ended and ended.kind == "no reply" else None


def cost_of_run(result: Result) -> Mapping[str, float]:
    """Return a run's `requests`, `input_tokens`, `output_tokens` and `usd`, as an episode's cost by name."""
    cost = result.cost
    return {
        "requests": float(cost.llm_calls),
        "input_tokens": float(cost.input_tokens),
        "output_tokens": float(cost.output_tokens),
        "usd": cost.usd,
    }
