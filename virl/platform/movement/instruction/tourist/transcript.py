"""What was observed and done on a walk, as it is told to a mind."""

from collections.abc import Mapping
from dataclasses import dataclass

from virl.platform.movement.instruction.tourist.spotting import LandmarkSighting


@dataclass(frozen=True, slots=True)
class ArrivalObservation:
    """What a walker notices on arriving somewhere."""

    heading: float
    """Faced: degrees clockwise from north."""
    seen: tuple[LandmarkSighting, ...] = ()
    crossing: int | None = None
    """How many ways meet here, the way back included; `None` where no crossing is told of."""
    ways: tuple[str, ...] = ()
    """The directions in which ways leave, clockwise from dead ahead; told at the start, at crossings and
    where the street ends."""
    been_here: bool = False

    def told(self) -> dict[str, object]:
        """As the prompt `movement/tourist-action` takes it: plain JSON values."""
        return {
            "seen": [{"name": one.name, "where": one.direction(self.heading)} for one in self.seen],
            "crossing": self.crossing,
            "ways": list(self.ways),
            "been_here": self.been_here,
        }

    def sentence(self) -> str:
        """In words, for a record."""
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
    """What a mind decided."""

    action: str
    """`forward`, `turn`, `stop` or `lost`."""
    direction: str = ""
    """Of a turn."""
    sentence: int = 1
    """Of the directions, from 1: the one that is being carried out."""
    reason: str = ""
    refused: tuple[str, ...] = ()
    """Why earlier replies to the same question could not be carried out, in order."""
    decided_by: str = ""
    """Who decided in place of the mind; empty where it did."""

    @property
    def words(self) -> str:
        """Such as `"turn left"`."""
        return f"{self.action} {self.direction}".strip()


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """An observation and what was done upon it."""

    observed: Mapping[str, object]
    """As `ArrivalObservation.told` gives it."""
    act: Act

    def told(self) -> dict[str, object]:
        """As the prompt `movement/tourist-action` takes it."""
        return {**self.observed, "did": self.act.words, "sentence": self.act.sentence}
