"""What traces tell of a run: a span `invoke_agent NAME`, around all that the agent thinks and does."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from virl.traces.spans import conversation, span

if TYPE_CHECKING:
    from virl.agent.agent import Agent


@contextmanager
def trace_agent(agent: "Agent") -> Iterator[None]:
    """Trace an agent while it lives; the run's id is the id of the conversation."""
    start = agent.run.start
    with (
        conversation(start.id or agent.run.folder.name),
        span(
            f"invoke_agent {agent.character.name}",
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": "virl",
                "gen_ai.agent.name": agent.character.name,
                "gen_ai.agent.id": start.agent,
                "gen_ai.agent.version": start.virl,
                "virl.city": agent.run.city,
                "virl.mind": start.mind,
                "virl.routine": start.routine,
                "virl.seed": start.seed,
            },
        ) as told,
    ):
        try:
            yield
        finally:
            cost, result = agent.run.cost, agent.run.result
            told.tell(
                {
                    "gen_ai.usage.input_tokens": cost.input_tokens,
                    "gen_ai.usage.output_tokens": cost.output_tokens,
                    "virl.cost_usd": cost.usd,
                    "virl.steps": agent.run.steps[-1].step if agent.run.steps else 0,
                    "virl.status": result.status if result else None,
                }
            )
