"""How busy each stretch of street is: where shops go."""

import numpy as np
from numpy.random import Generator
from scipy.spatial import cKDTree

from virl.platform.providers.offline.plan import Floats, Ints
from virl.platform.providers.offline.town.kerb import Kerbs
from virl.platform.providers.offline.town.streets import Network

# All chosen, so that some 600 of 5,000 fronts are busier than 0.5 and two thirds lie in quiet streets.
AVENUE, SHOPPING_STREET, CORNER, QUIET = 0.85, 0.8, 0.6, 0.06  # busyness where each is busiest
SHOPPING_STREETS = 4
ONE_SIDED = 2  # of the shopping streets, those with shops on one side alone
WEAK_SIDE = 0.12  # the busyness of the other side, as a share
CORNERS = 14  # crossings with a few shops of their own
SHOPPING_LENGTH_M = 800.0  # a shopping street is at least this long
SPILL = 0.75  # of a shopping street's busyness, at the corner of a side street
SPILL_M, CORNER_M = 30.0, 32.0  # how far busyness reaches into side streets, and around a busy crossing
RIPPLE_M = 90.0


class Bustle:
    """The busyness of a network: high along the avenues and a few streets, fading into the side streets."""

    def __init__(self, rng: Generator, network: Network, kerbs: Kerbs) -> None:
        names = np.array([street.name for street in network.streets])
        far = network.offsets + kerbs.lengths
        self._peak = np.where(np.array(network.kinds) == "avenue", AVENUE, 0.0)
        self._centre = np.zeros(len(names))
        self._spread = np.full(len(names), 600.0)
        self._weak_side = np.zeros(len(names), dtype=np.int64)
        for name in np.unique(names[self._peak > 0]):
            mine = names == name
            self._centre[mine] = rng.uniform(0.4, 0.6) * far[mine].max()
        quiet = np.unique(names[self._peak == 0])
        long = [name for name in quiet if kerbs.lengths[names == name].sum() > SHOPPING_LENGTH_M]
        for rank, pick in enumerate(rng.permutation(len(long))[:SHOPPING_STREETS]):
            mine = names == long[pick]
            self._peak[mine] = SHOPPING_STREET
            self._centre[mine] = rng.uniform(0.35, 0.65) * far[mine].max()
            self._spread[mine] = rng.uniform(220, 320)
            self._weak_side[mine] = rng.choice([-1, 1]) if rank < ONE_SIDED else 0
        shopping = np.flatnonzero(self._peak)
        self._shop_ends = cKDTree(network.junctions[kerbs.ends[shopping].ravel()])
        self._shop_busy = np.repeat(self._along_line(shopping, network.offsets[shopping]), 2)
        self._corners = cKDTree(network.junctions[rng.permutation(len(network.junctions))[:CORNERS]])
        self._wave = rng.normal(0, 1 / RIPPLE_M, (6, 2))
        self._phase = rng.uniform(0, 2 * np.pi, 6)

    def at(self, xy: Floats, street: Ints, side: Ints, along: Floats) -> Floats:
        """Busyness of fronts, [0, 1].

        Args:
            xy: their middles, shape (n, 2).
            street: the street before each.
            side: 1 on the left of the street, -1 on the right.
            along: metres from the beginning of the line of the street's name.
        """
        own = self._along_line(street, along)
        own = np.where(self._weak_side[street] == side, WEAK_SIDE * own, own)
        to_shop, shop = self._shop_ends.query(xy)
        spill = SPILL * self._shop_busy[shop] * _bump(to_shop, SPILL_M)
        corner = CORNER * _bump(self._corners.query(xy)[0], CORNER_M)
        busy = np.maximum.reduce([own, spill, corner, np.full(len(xy), QUIET)])
        ripple = np.sin(xy @ self._wave.T + self._phase).mean(axis=1)
        rippled: Floats = np.clip(busy * (1 + 0.5 * ripple), 0.0, 1.0)
        return rippled

    def _along_line(self, street: Ints, along: Floats) -> Floats:
        value: Floats = self._peak[street] * np.exp(
            -(((along - self._centre[street]) / self._spread[street]) ** 2) / 2
        )
        return value


def _bump(gap: Floats, width: float) -> Floats:
    bump: Floats = np.exp(-((gap / width) ** 2))
    return bump
