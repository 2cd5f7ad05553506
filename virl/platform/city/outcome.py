"""Outcomes of walks and runs: a typed value, and the sentence that is written from it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Self

Status = Literal["entered", "finished", "gave up", "stopped"]
"""Coarse end of a run: `entered` a place, `finished` its task, `gave up`, or `stopped` from outside."""

OutcomeKind = (
    Status
    | Literal["arrived", "found", "substituted"]
    | Literal["limit", "blocked", "missed", "lost", "not found", "no reply"]
)
"""Kind of the end of a run, finer than its `Status`, as `result.json` has it.

A run of one of these kinds "gave up":

a `limit` of steps, turns, decisions or minutes was reached; `blocked`: no way leads on, or to its goal;
`missed`: some destinations were not reached or found; `lost`: it could not follow its directions;
`not found`: nothing fits; `no reply` of its model can be used; `gave up`: another reason, such as a model
that never finishes. Search for a kind in quotes, as `"blocked"`, to find the routine or navigator that
decides it.
"""

_STATUSES: Mapping[OutcomeKind, Status] = {
    "entered": "entered",
    "arrived": "finished",
    "found": "finished",
    "finished": "finished",
    "substituted": "finished",
    "stopped": "stopped",
}
"""Coarse end of each kind; `gave up` for kinds that are not here, whose meanings `OutcomeKind` tells."""
_SENTENCES: Mapping[OutcomeKind, str] = {
    "entered": "entered {what}",
    "found": "found {what}",
    "substituted": "took {what} in place of what was asked for",
    "limit": "the limit of {limit:.0f} {what} is reached",
    "blocked": "no way leads on from here",
    "no reply": "the model gave no usable reply",
}
"""Usual sentence for people on each kind of end."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a walk or a run. Decide by `kind`, never by its sentence."""

    kind: OutcomeKind
    """Kind of the end, by which programs decide."""
    reason: str = ""
    """Sentence on the end; empty where the usual sentence of its kind says it all."""
    what: str = ""
    """Name of what was entered, found or taken; for a limit, its unit, such as `steps`; else empty."""
    limit: int | float | None = None
    """Value of the limit that was reached; `None` for other ends."""

    @property
    def status(self) -> Status:
        """Coarse end of the run; `gave up` for every kind that did not do the task."""
        return _STATUSES.get(self.kind, "gave up")

    @property
    def sentence(self) -> str:
        """Sentence on the end of the run, for people."""
        return self.reason or _SENTENCES.get(self.kind, self.kind).format(what=self.what, limit=self.limit)

    def with_detail(self, detail: str) -> Self:
        """Return the same outcome with a detail added to its sentence, after a semicolon."""
        return replace(self, reason=f"{self.sentence}; {detail}")
