"""What the doctor finds on a machine."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "broken"]
"""`missing`: something can be added. `broken`: the offline core does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    detail: str
    """Description of what there is, in a few words."""
    needed_for: str
    """Purpose that it is good for."""
    remedy: str = ""
    """Way to get it, if it is not there."""
    mind: str = ""
    """The language model that it is about, as `--mind` takes it; empty for other findings."""
