"""The landmark that the text names with its stop, looked for where the walk may end.

The follower needs no pictures. Where a user has them, a spotter tells which names are seen from a panorama.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from virl.platform.city.graph import NavigationGraph
from virl.platform.city.streetview import Pose
from virl.platform.navigators.tourist.spotting import LandmarkSpotter
from virl.platform.navigators.velma.landmarks import LandmarkExtractor

SEEN = 20.0
"""Factor on an end from which the landmark is surely seen: names are read from some 20 m at most.
Chosen on the export of Virlton."""
MOST_LOOKS = 24
"""Number of ends that are looked at, the likeliest first, where the whole map is known. Chosen."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_STOP = re.compile(r"\b(?:stop|stopping|end|destination|arrive)\b", re.IGNORECASE)
_TOO_FAR = re.compile(r"too far|\bif you (?:reach|see|get to|pass)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sight:
    """The means by which a follower looks for landmarks.

    Args:
        graph: whose panoramas are looked at.
        spotter: tells which of some names are seen there, by signs or by a model.
        landmarks: the names in an instruction.
    """

    graph: NavigationGraph
    spotter: LandmarkSpotter
    landmarks: LandmarkExtractor

    def of_stop(self, instruction: str) -> "StopSight | None":
        """Return the search for the names at the end of a walk; `None` if the text names none there."""
        names = names_at_stop(instruction, self.landmarks(instruction))
        return StopSight(self.graph, self.spotter, names) if names else None


@dataclass(slots=True)
class StopSight:
    """A search for names at the ends of one walk, at each panorama once.

    Raises:
        NoImagery: there is no view of a panorama.
    """

    graph: NavigationGraph
    spotter: LandmarkSpotter
    names: Sequence[str]
    _gains: dict[int, float] = field(default_factory=dict)

    def gain(self, node: int) -> float:
        """Return the factor for an end at a node, from 1, where no name is seen, to `SEEN`."""
        if node not in self._gains:
            seen = self.spotter.spot(Pose(self.graph.ids[node], 0.0), self.names, thorough=True)
            self._gains[node] = 1.0 + (SEEN - 1.0) * max((one.score for one in seen), default=0.0)
        return self._gains[node]

    def weigh(self, ends: Mapping[int, float]) -> dict[int, float]:
        """Return weights of ends, by node, times what is seen there; only the likeliest are looked at."""
        likeliest = sorted(ends, key=lambda node: -ends[node])[:MOST_LOOKS]
        return {**ends, **{node: ends[node] * self.gain(node) for node in likeliest}}


def names_at_stop(instruction: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the last sentence that says stop, or in the one before if it has none."""
    sentences = [one for one in _SENTENCE.split(instruction) if one.strip() and not _TOO_FAR.search(one)]
    stops = [number for number, one in enumerate(sentences) if _STOP.search(one)]
    last = stops[-1] if stops else len(sentences) - 1
    for told in reversed(sentences[max(last - 1, 0) : last + 1]):
        if found := tuple(name for name in names if name.lower() in told.lower()):
            return found
    return ()
