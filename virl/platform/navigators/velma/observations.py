"""What a walker observes in a state: crossings, landmarks, and at the start the flow of traffic."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import WalkState
from virl.platform.navigators.follower.streets import MapInWords, MapWay

Flow = Literal["with", "against"]
"""Directions of a walker by the traffic."""
TrafficFlow = Callable[[WalkState], Flow | None]
"""A function that returns a state's direction by the traffic; `None` where it is not known."""


class Direction(StrEnum):
    """The direction of a landmark, from left to right (section 5.2); the value is what the text says."""

    LEFT = "on your left"
    SLIGHTLY_LEFT = "slightly left"
    AHEAD = "ahead"
    SLIGHTLY_RIGHT = "slightly right"
    RIGHT = "on your right"


@dataclass(frozen=True, slots=True)
class VisibleLandmark:
    """A landmark seen, and the direction in which it is."""

    landmark: str
    direction: Direction


class LandmarkScorer(Protocol):
    """A judge of which landmarks can be seen."""

    def visible(self, pano_id: str, heading: float, landmarks: Sequence[str]) -> list[VisibleLandmark]:
        """Return the landmarks seen at a panorama by one who faces `heading` (degrees), each at most once.

        Args:
            pano_id: of the panorama.
            heading: degrees.
            landmarks: names to look for.

        Raises:
            NoImagery: nothing is known of how this panorama looks.
        """
        ...


@dataclass(frozen=True, slots=True)
class StateObservation:
    """An observation of one state, as the text of a walk shows it."""

    ways: int = 0
    """Links that leave the crossing just come to, the way back included; 0 where there is none to tell."""
    sightings: tuple[VisibleLandmark, ...] = ()
    flow: Flow | None = None
    map: tuple[MapWay, ...] = ()
    """The ways from here on a map; told at the start and at crossings to a walker that has one."""


@dataclass(frozen=True, slots=True)
class Observer:
    """An observer of states of walks on a graph.

    Args:
        graph: where the walks go.
        scorer: says which landmarks are seen; `None` sees none.
        flow: what is told of the traffic at the start of a walk; `None` tells nothing (Map2seq).
        map: tells the map around in words; `None` for a walker without one, as published.
    """

    graph: NavigationGraph
    scorer: LandmarkScorer | None = None
    flow: TrafficFlow | None = None
    map: MapInWords | None = None

    def start(self, state: WalkState, landmarks: Sequence[str] = ()) -> StateObservation:
        """Return the observation where a walk begins."""
        flow = self.flow(state) if self.flow else None
        return StateObservation(0, self._sightings(state, landmarks), flow, self._map(state))

    def observe(self, state: WalkState, landmarks: Sequence[str] = ()) -> StateObservation:
        """Return the observation after an action; a crossing is told on arrival, not after a turn."""
        ways = int(self.graph.degree[state.node]) if state.came_from is not None else 0
        if ways <= 2:
            return StateObservation(0, self._sightings(state, landmarks))
        return StateObservation(ways, self._sightings(state, landmarks), map=self._map(state))

    def _map(self, state: WalkState) -> tuple[MapWay, ...]:
        """Return the ways from a state on the map; none without a map."""
        return self.map.ways(state.node, state.heading) if self.map else ()

    def _sightings(self, state: WalkState, landmarks: Sequence[str]) -> tuple[VisibleLandmark, ...]:
        """Return the landmarks seen in a state; none without a scorer."""
        if self.scorer is None or not landmarks:
            return ()
        return tuple(self.scorer.visible(self.graph.ids[state.node], state.heading, landmarks))
