"""How episodes on the street network of Touchdown begin."""

from virl.platform.episodes import InstructionEpisode
from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.actions import Action
from virl.platform.movement.discrete.rules import WalkState
from virl.platform.providers.graph.episodes import snapped_heading
from virl.platform.providers.graph.touchdown import Dataset

OPENING: dict[Dataset, tuple[Action, ...]] = {"touchdown": (), "map2seq": (Action.FORWARD,)}
"""What is done before the first decision: Map2seq episodes begin with one forward (VELMA's code)."""


def start_state(graph: NavigationGraph, episode: InstructionEpisode, dataset: Dataset) -> WalkState:
    """Where an episode begins: Touchdown headings are snapped to the nearest link, Map2seq's are kept.

    Raises:
        NoStreetView: the graph does not have the panorama where the episode starts.
    """
    heading = snapped_heading(graph, episode) if dataset == "touchdown" else episode.heading
    return WalkState(graph.number(episode.start), heading)
