"""What a walker knows of the streets: the links of the nodes where it has stood, and no others."""

from collections import deque
from collections.abc import Sequence

from virl.platform.graph import NavigationGraph
from virl.platform.movement.instruction.follower.streets import OutgoingLink


class SeenLinks:
    """The links of visited nodes. The graph is read at the node given to `stand` only."""

    def __init__(self, graph: NavigationGraph) -> None:
        self._graph = graph
        self._ways: dict[int, tuple[OutgoingLink, ...]] = {}

    def stand(self, node: int) -> bool:
        """Looks around at a node; returns whether it is new."""
        if node in self._ways:
            return False
        links = self._graph.links(node)
        targets, headings = self._graph.target[links].tolist(), self._graph.heading[links].tolist()
        self._ways[node] = tuple(
            OutgoingLink(to, heading) for to, heading in zip(targets, headings, strict=True)
        )
        return True

    def ways(self, node: int) -> Sequence[OutgoingLink] | None:
        """The links of a node, `None` where the walker has not stood."""
        return self._ways.get(node)

    def path(self, source: int, target: int) -> list[int] | None:
        """A shortest way over visited nodes, in links, both ends included; the target need not be visited."""
        before = {source: source}
        queue = deque([source])
        while queue:
            node = queue.popleft()
            if node == target:
                path = [node]
                while path[-1] != source:
                    path.append(before[path[-1]])
                return path[::-1]
            for way in self._ways.get(node, ()):
                if way.to not in before:
                    before[way.to] = node
                    queue.append(way.to)
        return None

    def beside(self, node: int) -> set[int]:
        """Nodes that a link is known to join to a visited node, itself included."""
        near = {node} | {way.to for way in self._ways.get(node, ())}
        return near | {other for other, ways in self._ways.items() if any(way.to == node for way in ways)}
