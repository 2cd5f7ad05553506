"""Which searches are run: a target, a start far from it, and how much may be spent; each can be solved."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from virl.errors import BadInput
from virl.geo.globe import Floats, signed_turn
from virl.platform.city.city import City
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.places import Moment, told_moment

from .targets import Among, Kind, SightTarget, panoramas_in_sight, targets

BUDGET = 8
"""Decisions allowed for each decision of a shortest way. Chosen: a search without clues may succeed."""
LEAST_DECISIONS, MOST_DECISIONS = 30, 200
MOVES_A_DECISION = 14
"""Moves allowed for each decision: AgentNav allows 2,000 for 150 (arXiv 2512.15933)."""
TURN_DEG = 45.0
Difficulty = Literal["easy", "middle", "hard"]
SAME_M = 6.0
"""Metres within which a picture counts as taken at a panorama. Chosen: panoramas are 10 m apart."""


class Search(BaseModel):
    """A search: the task that the walker is told, and its solution, which only the referee knows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    told: str
    moment: Moment | None = None
    """Time that is told with the task; `None` if none is."""
    place_ids: tuple[str, ...]
    """Ids of the places that are right, nearest to the start first."""
    place_name: str
    """Name of the right place nearest to the start."""
    start: str
    """Id of the panorama where the search begins."""
    heading: float
    reached: tuple[str, ...]
    """Ids of the panoramas at which a right place is within 50 m and in sight."""
    metres: float
    """Metres of a shortest way to one of the `reached` panoramas."""
    decisions: int
    """Number of junctions on that shortest way, the start included."""
    turns: int
    """Number of turns of more than 45 degrees at those junctions."""
    max_decisions: int
    max_moves: int

    @property
    def difficulty(self) -> Difficulty:
        """Difficulty by the shortest way's decisions and turns, and by the number of panoramas reached.

        Each counts 0, 1 or 2 by the third of Virlton's searches that it is in; up to 1 in all is easy, up to
        3 middle.
        """
        hard = (self.decisions > 7) + (self.decisions > 11) + (self.turns > 2) + (self.turns > 4)
        hard += (len(self.reached) < 12) + (len(self.reached) < 9)
        return "easy" if hard <= 1 else "middle" if hard <= 3 else "hard"


@dataclass(frozen=True, slots=True)
class Known:
    """A city whose truth is known, with the graph of its panoramas."""

    city: City
    graph: NavigationGraph


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The kind and number of searches wanted in a city, and how far away their targets are."""

    kind: Kind
    among: Among
    split: str
    """Split whose wishes are used."""
    count: int
    seed: int
    least_m: float
    """Least metres along the streets from a start to its target."""
    most_m: float


def searches(known: Known, graph: NavigationGraph, asked: SearchRequest) -> list[Search]:
    """Return searches for different places of a city, up to the number wanted; fewer if no more fit.

    Args:
        known: what is known of the city.
        graph: of the panoramas that are walked; those of the city, or of pictures of it.
        asked: which are made.

    Raises:
        BadInput: the truth of the city is not known.
    """
    city = known.city
    if city.truth is None:
        raise BadInput(
            f"{city.title} has no ground truth: choose a made town or a map extract, or name with "
            "--set truth=TOWN the one that its pictures show"
        )
    found: list[Search] = []
    seed = f"sight {asked.seed} {city.name}"
    for target in targets(city, asked.kind, asked.among, asked.split, Random(f"{seed} {asked.kind}")):
        if len(found) == asked.count:
            break
        # Drawn on its own: a target that is left out does not change the searches for others.
        chance = Random(f"{seed} {target.told} {target.places[0].id}")
        if search := _search(known, graph, target, asked, chance):
            found.append(search)
    return found


def _search(
    known: Known, graph: NavigationGraph, target: SightTarget, asked: SearchRequest, chance: Random
) -> Search | None:
    """Return a search for a target; `None` if it is in sight nowhere, or no start is as far away."""
    reached = panoramas_in_sight(known.city, known.graph, target.places)
    if known.graph is not graph:
        reached = same_places(reached, known.graph, graph)
    if not reached:
        return None
    ends = [graph.number(pano_id) for pano_id in reached]
    left = metres_left(graph, ends)
    fits = np.flatnonzero((left >= asked.least_m) & (left <= asked.most_m))
    if not len(fits):
        return None
    start = int(chance.choice(fits))
    from_start = graph.distances_from([start])[0]
    path, metres = graph.shortest_path(start, min(ends, key=lambda end: from_start[end]))
    junctions = decision_nodes(graph, path)
    budget = min(max(BUDGET * len(junctions), LEAST_DECISIONS), MOST_DECISIONS)
    near = sorted(target.places, key=lambda place: (from_start[graph.nearest(place.position)[0]], place.id))
    links = graph.links(start)
    return Search(
        kind=target.kind,
        told=f"{target.told} {told_moment(*target.at)}" if target.at else target.told,
        moment=target.at,
        place_ids=tuple(place.id for place in near),
        place_name=near[0].name,
        start=graph.ids[start],
        heading=float(chance.choice(graph.heading[links])),
        reached=tuple(reached),
        metres=metres,
        decisions=len(junctions),
        turns=_count_turns(graph, path),
        max_decisions=budget,
        max_moves=budget * MOVES_A_DECISION,
    )


def same_places(pano_ids: Sequence[str], graph: NavigationGraph, pictures: NavigationGraph) -> list[str]:
    """Return the ids, sorted, of the panoramas in `pictures` that stand where those of the town do.

    Args:
        pano_ids: of the town.
        graph: of the town.
        pictures: graph of the pictures.
    """
    found = [pictures.nearest(graph.position(graph.number(pano_id))) for pano_id in pano_ids]
    return sorted({pictures.ids[node] for node, away in found if away <= SAME_M})


def metres_left(graph: NavigationGraph, ends: Sequence[int]) -> Floats:
    """Return the metres from every node to the nearest of `ends`, shape (nodes,); links are two-way."""
    left: Floats = graph.distances_from(ends).min(axis=0)
    return left


def decision_nodes(graph: NavigationGraph, path: Sequence[int]) -> list[int]:
    """Return the nodes of a path, its end excluded, at which a walker has a choice of ways."""
    # At the start all ways are open; later the way back is no choice.
    return [node for index, node in enumerate(path[:-1]) if graph.degree[node] > (1 if index == 0 else 2)]


def _count_turns(graph: NavigationGraph, path: Sequence[int]) -> int:
    """Return the number of turns of more than `TURN_DEG` at crossings on a path of nodes."""
    headings = [_link_heading(graph, one, other) for one, other in pairwise(path)]
    return sum(
        abs(signed_turn(before, after)) > TURN_DEG and graph.degree[node] > 2
        for before, after, node in zip(headings, headings[1:], path[1:], strict=False)
    )


def _link_heading(graph: NavigationGraph, source: int, target: int) -> float:
    """Return the heading, degrees, of the link from node `source` to node `target`."""
    links = graph.links(source)
    return float(graph.heading[links][np.flatnonzero(graph.target[links] == target)[0]])
