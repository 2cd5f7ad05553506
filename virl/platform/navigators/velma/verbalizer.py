"""A walk as text: numbered actions, and above each what was observed before it (sections 5.3 and 3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from virl.plain_text import capitalize
from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import Action, WalkState
from virl.platform.navigators.follower.streets import MapInWords, MapWay, map_sentence

Flow = Literal["with", "against"]
"""Directions of a walker relative to the traffic: with or against it."""
TrafficFlow = Callable[[WalkState], Flow | None]
"""A function from a state to its direction relative to the traffic; `None` where it is not known."""


class Direction(StrEnum):
    """The five directions of a landmark, from left to right (section 5.2), with their words in the text."""

    LEFT = "on your left"
    SLIGHTLY_LEFT = "slightly left"
    AHEAD = "ahead"
    SLIGHTLY_RIGHT = "slightly right"
    RIGHT = "on your right"


@dataclass(frozen=True, slots=True)
class VisibleLandmark:
    """A landmark that is seen, and where it is seen from the heading faced, such as "on your left"."""

    landmark: str
    direction: Direction


class LandmarkScorer(Protocol):
    """A judge of which landmarks can be seen."""

    def visible(self, pano_id: str, heading: float, landmarks: Sequence[str]) -> list[VisibleLandmark]:
        """Return the landmarks seen at a panorama by one who faces `heading` (degrees), each at most once.

        Args:
            pano_id: id of the panorama.
            heading: direction faced, degrees clockwise from north.
            landmarks: names to look for.

        Raises:
            NoImagery: nothing is known of the looks of the panorama.
        """
        ...


@dataclass(frozen=True, slots=True)
class StateObservation:
    """The observation of one state, which the text of a walk shows."""

    ways: int = 0
    """Number of links that leave a crossing just come to, way back included; 0 elsewhere."""
    sightings: tuple[VisibleLandmark, ...] = ()
    flow: Flow | None = None
    map: tuple[MapWay, ...] = ()
    """Ways from here by a map, at the start and at crossings; empty without a map."""


@dataclass(frozen=True, slots=True)
class Observer:
    """An observer of the states of walks on a graph."""

    graph: NavigationGraph
    scorer: LandmarkScorer | None = None
    """Scorer that says which landmarks are seen; `None` sees none."""
    flow: TrafficFlow | None = None
    """Function that tells whether the start faces with or against traffic; `None` says nothing (Map2seq)."""
    map: MapInWords | None = None
    """Map in words of the streets around; `None` for a walker without one, as published."""

    def start(self, state: WalkState, landmarks: Sequence[str] = ()) -> StateObservation:
        """Return the observation of the state where a walk begins, with those of `landmarks` seen."""
        flow = self.flow(state) if self.flow else None
        return StateObservation(0, self._sightings(state, landmarks), flow, self._map(state))

    def observe(self, state: WalkState, landmarks: Sequence[str] = ()) -> StateObservation:
        """Return the observation of a state after an action; a crossing counts only on arrival there."""
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


Wording = Literal["paper", "code"]
"""Wording of landmarks: `There is X on your left.` in the paper, `X on your left.` in its code."""

Span = tuple[int, int]
"""(index of the first character, index after the last) of a part of a text."""


@dataclass(frozen=True, slots=True)
class WalkText:
    """A walk as lines of text, perhaps after those of a prompt, with the places of its actions."""

    text: str
    action_spans: tuple[Span, ...]
    """Spans of the words of the actions in the text, in order."""


def sentence(observation: StateObservation, wording: Wording = "paper") -> str:
    """Return a line on an observation's traffic, crossing, landmarks and map; empty if it has none."""
    told = []
    if observation.flow:
        told.append(f"You are facing {observation.flow} the flow of traffic.")
    if observation.ways:
        told.append(f"There is a {observation.ways}-way intersection.")
    for direction in Direction:
        names = [sighting.landmark for sighting in observation.sightings if sighting.direction is direction]
        if names:
            listed = " and ".join(names)
            shown = f"There is {listed}" if wording == "paper" else capitalize(listed)
            told.append(f"{shown} {direction}.")
    return " ".join([*told, map_sentence(observation.map)] if observation.map else told)


def walk_text(sentences: Sequence[str], actions: Sequence[Action]) -> WalkText:
    """Return the text of a walk from the sentence (may be empty) before each action, and the actions.

    With one sentence more than there are actions, it ends in the number of the action still wanted.
    """
    text, spans = "", []
    for number, (told, action) in enumerate(zip(sentences, actions, strict=False), 1):
        text += f"{told}\n" * bool(told) + f"{number}. "
        spans.append((len(text), len(text) + len(action)))
        text += f"{action}\n"
    if len(sentences) > len(actions):
        told = sentences[-1]
        return WalkText(text + f"{told}\n" * bool(told) + f"{len(sentences)}.", tuple(spans))
    return WalkText(text.removesuffix("\n"), tuple(spans))
