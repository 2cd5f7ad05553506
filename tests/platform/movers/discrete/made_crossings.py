"""Small street networks made for tests."""

from collections.abc import Mapping

from hypothesis import strategies as st

from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.movers.discrete.actions import Action, Rules, WalkState

Ways = Mapping[str, Mapping[str, float]]
"""Heading of the link from each node to each of its neighbours."""


def streets(ways: Ways) -> NavigationGraph:
    """A graph of these links; positions do not matter to walks."""
    ids = list(ways)
    links = [(here, there, heading) for here, targets in ways.items() for there, heading in targets.items()]
    return build_graph(
        ids,
        [0.0] * len(ids),
        [0.001 * number for number in range(len(ids))],
        [ids.index(here) for here, _, _ in links],
        [ids.index(there) for _, there, _ in links],
        heading=[heading for _, _, heading in links],
        length=[10.0] * len(links),
    )


def crossing(**arms: float) -> NavigationGraph:
    """A street north from `z` over `a` and `b` to the crossing `c`, and a dead end for each other arm."""
    ways: dict[str, dict[str, float]] = {
        "z": {"a": 0.0},
        "a": {"z": 180.0, "b": 0.0},
        "b": {"a": 180.0, "c": 0.0},
        "c": {"b": 180.0},
    }
    for arm, heading in arms.items():
        ways["c"][arm] = heading % 360
        ways[arm] = {"c": (heading + 180) % 360}
    return streets(ways)


def walk(graph: NavigationGraph, state: WalkState, actions: str, rules: Rules) -> WalkState:
    """The state after some actions, given by their names, validated."""
    for name in actions.split():
        state = rules.step(graph, state, rules.validate(graph, state, Action(name)))
    return state


HEADINGS = st.one_of(st.integers(0, 359).map(float), st.floats(0, 360, exclude_max=True))


@st.composite
def any_streets(draw: st.DrawFn, *, clear: bool = False) -> NavigationGraph:
    """Any graph of up to six nodes and five links a node: dead ends, isolated nodes, twin links, loops.

    A clear one has no two links in one direction from a node, and no node with exactly two.
    """
    count = draw(st.integers(1, 6))
    node = st.integers(0, count - 1)
    if clear:
        ways = st.lists(st.tuples(node, HEADINGS), max_size=5, unique_by=lambda way: (way[1] + 360.0) % 360.0)
        ways = ways.map(lambda drawn: drawn[:1] if len(drawn) == 2 else drawn)
    else:
        ways = st.lists(st.tuples(node, HEADINGS), max_size=5)
    links = draw(st.lists(ways, min_size=count, max_size=count))
    ends = [(here, there, heading) for here, drawn in enumerate(links) for there, heading in drawn]
    return build_graph(
        [f"n{number}" for number in range(count)],
        [0.0] * count,
        [0.001 * number for number in range(count)],
        [here for here, _, _ in ends],
        [there for _, there, _ in ends],
        heading=[heading for _, _, heading in ends],
        length=[10.0] * len(ends),
    )


@st.composite
def any_states(draw: st.DrawFn, graph: NavigationGraph) -> WalkState:
    """Any state on a graph, reachable or not."""
    node = draw(st.integers(0, len(graph) - 1))
    facing = graph.heading[graph.links(node)].tolist()
    heading = draw(st.sampled_from(facing) if facing and draw(st.booleans()) else HEADINGS)
    return WalkState(node, heading, draw(st.none() | st.integers(0, len(graph) - 1)))
