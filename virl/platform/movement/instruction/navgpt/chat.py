"""A walk as a chat model is told it: a message for every move, and the whole view of where it is now."""

from dataclasses import dataclass, field
from typing import Any

from virl.platform.movement.instruction.navgpt.replies import NavGptTurn

MOST_TURNS = 24
"""Earlier turns that are sent at most. Chosen: more than a walk of R2R has, and about 5,000 tokens."""
FORGOTTEN = 8
"""Turns that are left out together: what a provider has cached stays good for as many moves. Chosen."""

Told = dict[str, Any]


@dataclass(slots=True)
class ChatHistory:
    """The history of one walk. Of viewpoints that were left, a summary takes the place of the view."""

    opening: Told
    """What is told at the start, with the `view` while the walker is there."""
    turns: list[Told] = field(default_factory=list)
    """`reply` of the model and `observation` of what came of it, the oldest first."""

    def moved(self, reply: NavGptTurn, left: str, arrival: Told) -> None:
        """Note a move.

        Args:
            reply: what the model wanted.
            left: the summary of the viewpoint that was left; may be empty.
            arrival: what is told there, with the whole `view`.
        """
        before = self.turns[-1]["observation"] if self.turns else self.opening
        before.pop("view", None)
        if left:
            before["summary"] = left
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
