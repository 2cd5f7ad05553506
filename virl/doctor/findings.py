"""What the doctor finds on a machine."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "broken"]
"""`missing`: something can be added. `broken`: the offline core does not work."""


MIND = "mind "
"""Begins the name of the finding on a language model."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    detail: str
    """What there is, in a few words."""
    needed_for: str
    """What it is good for."""
    remedy: str = ""
    """How to get it, where it is not there."""
