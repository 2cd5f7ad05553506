"""What is learned from an episode: its gold walk, or the model's own (VELMA, Algorithm 1)."""

from dataclasses import dataclass
from typing import Literal

from virl.bench.metrics.paths import task_completion
from virl.platform.movers.discrete.actions import Action
from virl.platform.movers.discrete.oracle import Oracle

from .tokens import Encoder, Sample, corrected_sample, walked_sample
from .walking import Rollout, TrainingRoute, Walks

Source = Literal["gold", "own", "oracle", "too_long"]
"""Source of what a sample teaches.

`gold`: the gold walk. `own`: the model's walk, which completed the task, with its own actions as labels.
`oracle`: its walk, which did not, with the oracle's actions. `too_long`: gold in place of an overlong walk.
"""


@dataclass(frozen=True, slots=True)
class Lessons:
    """A maker of training samples from walks of episodes.

    Args:
        walks: how episodes are walked and told.
        encoder: of the model's tokenizer.
        cutoff: tokens of a sample.
        rollout_cutoff: tokens of a model's own walk beyond which the gold one is learned instead.
    """

    walks: Walks
    encoder: Encoder
    cutoff: int
    rollout_cutoff: int

    def gold(self, route: TrainingRoute) -> Sample:
        """Return the sample of a route's gold walk (teacher forcing)."""
        told = self.walks.transcript(route, route.gold)
        return walked_sample(self.encoder.encode(told.text), self.walks.decided_spans(told), self.cutoff)

    def sample_response(self, route: TrainingRoute, rollout: Rollout) -> tuple[Sample, Source]:
        """Return (sample of the model's own walk, source of its labels): student forcing.

        A walk that stopped at the target or beside it is right as it is. Of any other, each action is
        replaced by what the oracle does in the state that the model had come to.
        """
        graph = self.walks.graph
        told = self.walks.transcript(route, rollout.actions)
        tokens, spans = self.encoder.encode(told.text), self.walks.decided_spans(told)
        if rollout.too_long or not spans or len(tokens.ids) > self.rollout_cutoff:
            return self.gold(route), "too_long"
        if rollout.is_stopped and task_completion(
            graph, rollout.states[-1].node, graph.number(route.episode.target)
        ):
            return walked_sample(tokens, spans, self.cutoff), "own"
        better, better_spans = told_with(told.text, spans, self._oracle_actions(route, rollout))
        return corrected_sample(
            tokens, spans, self.encoder.encode(better), better_spans, self.cutoff
        ), "oracle"

    def _oracle_actions(self, route: TrainingRoute, rollout: Rollout) -> list[Action]:
        """Return the oracle's action in each state of a rollout, opening actions left out."""
        oracle = Oracle(self.walks.graph, route.episode.path)
        return oracle.actions(rollout.states[:-1])[len(self.walks.opening_actions) :]


def told_with(
    text: str, spans: tuple[tuple[int, int], ...], actions: list[Action]
) -> tuple[str, list[tuple[int, int]]]:
    """Return (text with other actions at the spans, the actions' new spans).

    Args:
        text: of a walk.
        spans: of its actions, as places of letters.
        actions: in place of those.
    """
    changed, found, done = "", [], 0
    for (start, end), action in zip(spans, actions, strict=True):
        changed += text[done:start]
        found.append((len(changed), len(changed) + len(action)))
        changed += action
        done = end
    return changed + text[done:], found
