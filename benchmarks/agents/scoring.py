"""What each agent's module gives to the benchmark: its cases, how one is run, and how it is scored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from virl.bench.agent_runs import run_in_folder
from virl.bench.benchmark import Metric, Tally
from virl.bench.episode import Data, Record
from virl.errors import MindFailed
from virl.journal.records import Result
from virl.mind.base import Mind
from virl.platform.city.city import City
from virl.platform.perception.models import Models


@dataclass(frozen=True, slots=True)
class AgentCase:
    """A case to run: agent's row, city and seed, with the mind and models to run it with."""

    id: str
    row: str
    """Row of the table that the case belongs to, one of `ScoredAgent.rows`."""
    city: City
    seed: int
    folder: Path
    """Folder of the agent's run."""
    mind: Mind
    models: Models
    prompts: Path | None = None
    """Folder of prompts that come before those of the agents."""
    results: list[Result] = field(default_factory=list)
    """Results of the agent's runs in this case so far."""

    def run(
        self, name: str, changes: Mapping[str, object], mind: Mind | None = None, *, must_answer: bool = True
    ) -> Result:
        """Run the named agent, or resume its run, in the case's folder; return its result.

        Args:
            name: of the agent.
            changes: fields of its character that differ.
            mind: who decides; by default the one that the benchmark was asked for.
            must_answer: whether a run without an answer is scored by `ScoredAgent.unanswered`.

        Raises:
            MindFailed: the agent gave up without an answer.
        """
        result = run_in_folder(
            name,
            self.city,
            self.folder,
            seed=self.seed,
            changes=changes,
            mind=mind or self.mind.with_own_ledger(),
            models=self.models,
            prompts=self.prompts,
        )
        self.results.append(result)
        if must_answer and result.status == "gave up" and not result.answer.keys() - {"succeeded"}:
            raise MindFailed(result.reason)
        return result


Tallies = Mapping[str, Sequence[Tally]]
"""Tallies by the key of the metric."""


@dataclass(frozen=True, slots=True)
class ScoredAgent:
    """An agent as the benchmark runs and scores it."""

    rows: tuple[str, ...]
    """Rows of the agent in the table, one for each way to run it; unique over all agents."""
    cases: Callable[[City, int], Sequence[str]]
    """Function from city and seed to the ids of the cases, always the same."""
    run: Callable[[AgentCase], dict[str, Any]]
    """Function that runs one case and returns its data, compared with the truth, as plain JSON."""
    unanswered: Callable[[AgentCase], dict[str, Any]]
    """Function that returns the data of a case without an answer, which are the worst possible."""
    metrics: tuple[Metric, ...]
    """Metrics; a key is unique over all agents, unless they measure the same."""
    outcome: Callable[[Data], tuple[str, float | None]]
    """Function from a case's data to (outcome in a few words, score in [0, 1] or `None`)."""
    notes: Callable[[Sequence[Record]], Sequence[str]] = lambda _: ()
    """Function from a row's records to notes for readers, such as the targets."""
    own_tallies: Callable[[Sequence[Record]], Tallies] | None = None
    """Function from a row's records to tallies; `None` if all metrics are means of a field."""

    def tallies(self, records: Sequence[Record]) -> Tallies:
        """Return the tallies of a row's records by metric."""
        return self.own_tallies(records) if self.own_tallies else means(records, self.metrics)


def means(records: Sequence[Record], metrics: Sequence[Metric]) -> Tallies:
    """Return the tallies of metrics that are means of a data field of the same name; `None` is left out."""
    return {
        metric.key: [
            Tally(one.case, float(one.data[metric.key]))
            for one in records
            if one.data[metric.key] is not None
        ]
        for metric in metrics
    }
