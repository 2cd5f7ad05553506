"""How many links lie between panoramas and a target."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from virl.platform.city.graph import NavigationGraph
from virl.platform.city.hops import count_hops, sources_of_links

NO_WAY = -1
"""Distance in links that stands for a target which no way leads to."""


class Hops:
    """Numbers of links from nodes to some targets; those to a target are computed when first asked for.

    Takes 4 bytes for each panorama and target that was asked for.

    Args:
        graph: where the ways go.
        targets: numbers of nodes.
    """

    def __init__(self, graph: NavigationGraph, targets: Sequence[int]) -> None:
        self._backward = sources_of_links(graph)
        self._targets = targets
        self._hops = np.empty((len(targets), len(graph)), np.int32)
        self._known = np.zeros(len(targets), bool)

    def __call__(self, nth: ArrayLike, node: ArrayLike) -> NDArray[np.int32]:
        """Return the number of links from nodes to the nth targets, `NO_WAY` without a way; broadcasts."""
        nth = np.asarray(nth, np.intp)
        for missing in np.unique(nth[~self._known[nth]]):
            found = count_hops(self._backward, [int(self._targets[missing])], [range(self._hops.shape[1])])[0]
            self._hops[missing] = np.where(np.isfinite(found), found, NO_WAY)
            self._known[missing] = True
        hops: NDArray[np.int32] = self._hops[nth, np.asarray(node, np.intp)]
        return hops
