"""A walk as a chat model is told it: a message for every move, with the whole view of where it led."""

from dataclasses import dataclass, field
from typing import Any

from virl.platform.movement.instruction.navgpt.replies import NavGptTurn

MOST_TURNS = 24
"""Earlier turns that are sent at most. Chosen: more than a walk of R2R has; some 11,000 tokens described."""
FORGOTTEN = 8
"""Turns that are left out together: what a provider has cached stays good for as many moves. Chosen."""

Told = dict[str, Any]


@dataclass(slots=True)
class ChatHistory:
    """The history of one walk. It only grows, so that what a provider has cached stays good."""

    opening: Told
    """What is told at the start."""
    turns: list[Told] = field(default_factory=list)
    """`reply` of the model and `observation` of what came of it, the oldest first."""

    def moved(self, reply: NavGptTurn, arrival: Told) -> None:
        """Note a move: what the model wanted, and what is told where it led."""
        self.turns.append({"reply": reply.model_dump(), "observation": arrival})

    def inputs(self, instruction: str) -> dict[str, Any]:
        """The inputs of `movement/navgpt-chat`."""
        over = max(0, len(self.turns) - MOST_TURNS)
        left_out = -(-over // FORGOTTEN) * FORGOTTEN
        return {
            "instruction": instruction,
            "opening": self.opening,
            "left_out": left_out,
            "steps": self.turns[left_out:],
        }
