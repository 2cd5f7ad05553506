"""What was observed and done on a walk, as it is told to a mind."""

from collections.abc import Mapping
from dataclasses import dataclass

from virl.platform.navigators.tourist.spotting import LandmarkSighting


@dataclass(frozen=True, slots=True)
class ArrivalObservation:
    """The observation of a walker on arriving somewhere."""

    heading: float
    """Heading faced, degrees clockwise from north."""
    seen: tuple[LandmarkSighting, ...] = ()
    crossing: int | None = None
    """The number of ways that meet here, the way back included; `None` where no crossing is told of."""
    ways: tuple[str, ...] = ()
    """The directions in which ways leave, clockwise from dead ahead; told at the start, at crossings and
    where the street ends."""
    been_here: bool = False
    """True if the walker came to this panorama before."""

    def to_prompt(self) -> dict[str, object]:
        """Return the observation as the prompt `movement/tourist-action` takes it: plain JSON values."""
        return {
            "seen": [{"name": one.name, "where": one.direction(self.heading)} for one in self.seen],
            "crossing": self.crossing,
            "ways": list(self.ways),
            "been_here": self.been_here,
        }

    def sentence(self) -> str:
        """Return the observation in words, for a record."""
        told = []
        if self.crossing is not None:
            told.append(f"A crossing of {self.crossing} ways: {', '.join(self.ways)}.")
        elif self.ways:
            told.append(f"Ways lead {', '.join(self.ways)}.")
        told += [f"{one.name} is seen, {one.direction(self.heading)}." for one in self.seen]
        if self.been_here:
            told.append("Been here before.")
        return " ".join(told) or "The street leads on."


@dataclass(frozen=True, slots=True)
class Act:
    """A decision on the walker's next action."""

    action: str
    """`forward`, `turn`, `stop` or `lost`."""
    direction: str = ""
    """The direction of a turn."""
    sentence: int = 1
    """The number of the sentence of the directions that is being carried out, from 1."""
    reason: str = ""
    refused: tuple[str, ...] = ()
    """The reasons why earlier replies to the same question could not be carried out, in order."""
    decided_by: str = ""
    """The decider in place of the mind; empty where the mind decided."""

    @property
    def words(self) -> str:
        """The action in words, such as `"turn left"`."""
        return f"{self.action} {self.direction}".strip()


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """An observation and the action taken on it."""

    observed: Mapping[str, object]
    """The observation, as `ArrivalObservation.to_prompt` gives it."""
    act: Act

    def to_prompt(self) -> dict[str, object]:
        """Return the entry as the prompt `movement/tourist-action` takes it."""
        return {**self.observed, "did": self.act.words, "sentence": self.act.sentence}
