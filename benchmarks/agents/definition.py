"""The episodes of the agents' benchmark: cases of each agent, drawn where the truth is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from virl.bench.agent_runs import RUN, RUN_REPORT, cost_of_run, failure_of_run
from virl.bench.benchmark import BaseOptions, Benchmark, Scores, Shown
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.bench.resources import Resources, truth_of
from virl.bench.walks import UserPath
from virl.errors import BadInput, MindFailed, UnknownName
from virl.pages.numbers import short_number
from virl.platform.city.city import City
from virl.platform.perception.models import Models
from virl.registry import first_line

from .aria import ARIA
from .diego import DIEGO
from .ling import LING, LING_PAPER, RememberingModels
from .peng import PENG
from .scoring import AgentCase, ScoredAgent
from .tool_agents import TOOL_AGENTS
from .vivek import VIVEK

WITH_ROUTINES: Mapping[str, ScoredAgent] = {
    "peng": PENG,
    "aria": ARIA,
    "vivek": VIVEK,
    "ling": LING,
    "ling_paper": LING_PAPER,
    "diego": DIEGO,
}
"""Agents that are scored if none is named, by their names in the options."""
AGENTS: Mapping[str, ScoredAgent] = {**WITH_ROUTINES, **TOOL_AGENTS}
"""All agents that can be scored, by their names in the options; Ling is scored with Local, her guide."""
BY_ROW = {row: agent for agent in AGENTS.values() for row in agent.rows}


class Options(BaseOptions):
    """Options of the agents' benchmark."""

    cities: tuple[str, ...] = Field(("virlton",), min_length=1)
    """Made cities to run in."""
    agent: tuple[str, ...] = Field(tuple(WITH_ROUTINES), min_length=1)
    """Agent to score: `peng`, `aria`, `vivek`, `ling`, `ling_paper` (with hints at crossings), `diego`,
    or one with tools: `june`, `mira`, `otto`, `nora`, `pavel`, `yuki`."""
    mind: str = "rules"
    """The mind that decides: `rules`, or a chat model such as `openai:gpt-5-mini`."""
    prompts: UserPath | None = None
    """Folder of prompts to use instead of the agents' own."""


@dataclass(frozen=True, slots=True)
class CaseSetting:
    """The options, cities and models that all episodes of a run share."""

    options: Options
    cities: Mapping[str, City]
    models: Mapping[str, Models]
    """Perception models by the name of the city."""
    resources: Resources


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for every case of the chosen agents, once for each of the agent's rows.

    Raises:
        BadInput: the folder of prompts is missing.
        UnknownName: there is no such agent.
    """
    if options.prompts is not None and not options.prompts.is_dir():
        raise BadInput(f"prompts {options.prompts}: no such folder: give a folder of prompts")
    for name in options.agent:
        if name not in AGENTS:
            raise UnknownName("agent", name, list(AGENTS))
    agents = [AGENTS[name] for name in dict.fromkeys(options.agent)]
    return [
        Episode(case, name, row)
        for name in options.cities
        for agent in agents
        for case in agent.cases(_city_with_truth(name, resources), options.seed)
        for row in agent.rows
    ]


def prepare(options: Options, resources: Resources) -> CaseSetting:
    """Return the opened cities and models; opens the mind too, so that a wrong one is refused at once."""
    resources.mind(options.mind)
    cities = {name: resources.city(name) for name in options.cities}
    return CaseSetting(
        options, cities, {name: RememberingModels(resources, name) for name in cities}, resources
    )


def run(episode: Episode, shared: CaseSetting) -> EpisodeResult:
    """Run the agent in one case, and compare what it did with the truth; no answer counts as the worst."""
    case = AgentCase(
        episode.case,
        episode.model,
        shared.cities[episode.city],
        shared.options.seed,
        shared.resources.folder(episode) / RUN,
        shared.resources.mind(shared.options.mind),
        shared.models[episode.city],
        shared.options.prompts,
    )
    agent, failure = BY_ROW[episode.model], None
    try:
        data = agent.run(case)
    except MindFailed as fault:
        data, failure = agent.unanswered(case), fault
    if not case.results:
        return EpisodeResult(data, failure=failure)
    last = case.results[-1]
    return EpisodeResult(data, cost=cost_of_run(last), failure=failure or failure_of_run(last))


def score(records: Sequence[Record], options: Options) -> Scores:  # noqa: ARG001 - as the contract says
    """Return the scores of the agent that the records' row belongs to."""
    agent = BY_ROW[records[0].model]
    return Scores(agent.tallies(records), notes=tuple(agent.notes(records)))


def show(record: Record) -> Shown:
    """Return the contents of a case's page: the outcome, and all data of the record as facts."""
    said, scored = BY_ROW[record.model].outcome(record.data)
    said = f"failed: {record.reason}" if record.status == "failed" else said
    return Shown(
        said,
        scored,
        str(record.data.get("intention", "")),
        tuple((name.replace("_", " "), _show_value(value)) for name, value in record.data.items()),
        links=(("report of the agent's run", RUN_REPORT),),
    )


def _city_with_truth(name: str, resources: Resources) -> City:
    """Return the city with this name; raise BadInput if it is not a made one."""
    city = resources.city(name)
    truth_of(city)
    return city


def _show_value(value: Any) -> str:
    """Return a value of a record's data as text."""
    if isinstance(value, float):
        return short_number(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {one}" for key, one in value.items()) or "none"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


BENCHMARK = Benchmark(
    name="agents",
    title="Agents compared with the ground truth",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=tuple(dict.fromkeys(metric for agent in AGENTS.values() for metric in agent.metrics)),
    typical_s=5.0,
    work="processes",
)
