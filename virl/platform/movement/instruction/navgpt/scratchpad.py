"""What the model is shown of its walk so far: every thought, and one observation whole."""

from dataclasses import dataclass, field
from typing import NamedTuple

MAX_SCRATCHPAD = 7000
"""Characters of thoughts and observations that are shown (as in NavGPT's published code)."""
MAX_REPLY = 1500
"""Characters of one reply that are shown. Chosen: several times what a thought and an action take."""


@dataclass(slots=True)
class _Step:
    reply: str
    observation: str
    view: str = ""
    """What stands behind the observation as long as the walker is where it was made."""

    @property
    def told(self) -> str:
        return f"{self.observation}\n{self.view}" if self.view else self.observation


class ShownHistory(NamedTuple):
    """What of a history is shown to the model."""

    opening: str
    """The observation at the start, or its summary."""
    steps: list[dict[str, str]]
    """`reply` and `observation` of each step, the oldest first."""
    left_out: int
    """How many steps before them are not shown."""


@dataclass(slots=True)
class Scratchpad:
    """The history of one walk, the oldest first.

    Only the observation of where the walker stands is told whole; when it goes on, the turn, the viewpoint's
    id and a summary take its place (section 3.4, appendix A.2). Beyond `MAX_SCRATCHPAD` characters the
    oldest steps are left out whole; the observation of where the walker stands, and what came after it,
    never are.
    """

    _opening: str
    """The observation at the start, or what has taken its place."""
    _view: str
    """The whole observation at the start; empty once the walker has left."""
    _steps: list[_Step] = field(default_factory=list)

    def refused(self, reply: str, fault: str) -> None:
        """Note a reply that led nowhere, and what the model is told about it."""
        self._steps.append(_Step(_shorten(reply), fault))

    def moved(self, reply: str, left: str, arrival: str, view: str) -> None:
        """Note a move.

        Args:
            reply: what the model wrote.
            left: the summary of the viewpoint that was left; may be empty.
            arrival: the turn that was made, and where it led.
            view: the whole observation there.
        """
        here = next((step for step in self._steps if step.view), None)
        if here is None:
            self._opening, self._view = _join(self._opening, left), ""
        else:
            here.observation, here.view = _join(here.observation, left), ""
        self._steps.append(_Step(_shorten(reply), arrival, view))

    def shown(self) -> ShownHistory:
        """The history as the prompt takes it."""
        steps = self._latest()
        return ShownHistory(
            f"{self._opening}\n{self._view}" if self._view else self._opening,
            [{"reply": step.reply, "observation": step.told} for step in steps],
            len(self._steps) - len(steps),
        )

    def _latest(self) -> list[_Step]:
        here = next((index for index, step in enumerate(self._steps) if step.view), 0)
        room = MAX_SCRATCHPAD - sum(map(_length, self._steps[here:]))
        first = here
        while first > 0 and room >= _length(self._steps[first - 1]):
            first -= 1
            room -= _length(self._steps[first])
        return self._steps[first:]


def _length(step: _Step) -> int:
    return len(step.reply) + len(step.told)


def _join(text: str, summary: str) -> str:
    return f"{text} {summary}" if summary else text


def _shorten(reply: str) -> str:
    return reply if len(reply) <= MAX_REPLY else f"{reply[: MAX_REPLY - 1]}\N{HORIZONTAL ELLIPSIS}"
