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
    """A case to be run, and with what."""

    id: str
    row: str
    """One of `ScoredAgent.rows`."""
    city: City
    seed: int
    folder: Path
    """Folder of the agent's run."""
    mind: Mind
    models: Models
    prompts: Path | None = None
    """Folder of prompts that come before those of the agents."""
    results: list[Result] = field(default_factory=list)
    """Results of the runs so far."""

    def run(
        self, name: str, changes: Mapping[str, object], mind: Mind | None = None, *, must_answer: bool = True
    ) -> Result:
        """Run an agent, or go on with the run that was cut off; raises as `run_in_folder`, too.

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
    """An agent as the benchmark sees it."""

    rows: tuple[str, ...]
    """Its rows in the table: the ways in which it is run, unique over all agents."""
    cases: Callable[[City, int], Sequence[str]]
    """Ids of the cases, the same for the same city and seed."""
    run: Callable[[AgentCase], dict[str, Any]]
    """The function that runs one case and holds it against the truth; its result is plain JSON."""
    unanswered: Callable[[AgentCase], dict[str, Any]]
    """The function that gives the same for a case without an answer: the worst that can come of it."""
    metrics: tuple[Metric, ...]
    """The keys are unique over all agents, but for those that measure the same."""
    outcome: Callable[[Data], tuple[str, float | None]]
    """The function that says what came of a case in a few words, and its score in [0, 1] if it has one."""
    notes: Callable[[Sequence[Record]], Sequence[str]] = lambda _: ()
    """The function of the notes for a reader of the numbers, such as what they should be."""
    own_tallies: Callable[[Sequence[Record]], Tallies] | None = None
    """Pure tallies of the cases of one row, for metrics that are not means of a field of the same name."""

    def tallies(self, records: Sequence[Record]) -> Tallies:
        """Return the tallies of the cases of one row."""
        return self.own_tallies(records) if self.own_tallies else means(records, self.metrics)


def means(records: Sequence[Record], metrics: Sequence[Metric]) -> Tallies:
    """Return the tallies of metrics that are means of a field of the same name; `None` is left out."""
    return {
        metric.key: [
            Tally(one.case, float(one.data[metric.key]))
            for one in records
            if one.data[metric.key] is not None
        ]
        for metric in metrics
    }
