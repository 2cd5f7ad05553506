"""Which frontage each trade settles on.

Trades of a group gather around the group's centres, mostly along one street, so that a town has food
streets and a fashion street, and districts without either.
"""

import numpy as np
from numpy.random import Generator

from virl.platform.providers.offline.life.trades import Group, Trade, trades_table
from virl.platform.providers.offline.plan import Floats, Frontage, StreetPlan

FADING = 0.8  # each centre of a group draws this share of the one before; chosen
CANDIDATES = 12  # of which the one farthest from the other centres becomes a centre; chosen
ROUND_THE_CORNER = 0.55  # pull of a centre on other streets than its own; chosen
RIVALRY_M = 60.0  # places of one trade keep about this far apart; chosen
CORNER_SHOPS = 2.0  # how much less often scattered shops choose the quietest streets, as a logarithm; chosen
OCCUPIED = 0.6  # share of all frontages that places take at most; chosen


class Sites:
    """The frontages of a town that have a building, and which of them are free."""

    def __init__(self, layout: StreetPlan, rng: Generator) -> None:
        self.frontages = [front for front in layout.frontages if front.building is not None]
        self._rng = rng
        ends = np.array([(front.left, front.right) for front in self.frontages]).reshape(-1, 2, 2)
        self._x, self._y = np.ascontiguousarray(ends.mean(axis=1).T)
        self._width: Floats = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
        self._busy: Floats = np.array([front.commercial for front in self.frontages])
        names = {street.id: street.name for street in layout.streets}
        self._street = np.array([names[front.street] for front in self.frontages])
        self._free = np.full(len(self.frontages), fill_value=True)
        groups = trades_table().groups if self.frontages else {}
        self._pulls = {name: self._pull_of_centres(group) for name, group in groups.items()}
        self._rivalry: dict[str, Floats] = {}

    def settle(self, key: str, trade: Trade) -> Frontage | None:
        """Takes the frontage that suits a trade best; `None` if none is free."""
        usable = self._free & (self._width >= trade.width)
        if not usable.any():
            usable = self._free
        if not usable.any():
            return None
        best = int(np.argmax(np.where(usable, self._appeal(key, trade.group), -np.inf)))
        self._free[best] = False
        self._rivalry[key] = self._rivalry.get(key, 0.0) + self._closeness(best, RIVALRY_M)
        return self.frontages[best]

    def _appeal(self, key: str, group_name: str) -> Floats:
        group, pulls = trades_table().groups[group_name], self._pulls[group_name]
        appeal: Floats = group.busy * self._busy - 0.6 * self._rivalry.get(key, 0.0)
        if self._rng.random() < group.scattered:
            return CORNER_SHOPS * appeal + self._rng.gumbel(size=len(self.frontages))
        weights = FADING ** np.arange(len(pulls))
        centre = int(self._rng.choice(len(pulls), p=weights / weights.sum()))
        return appeal + 2.0 * pulls[centre] + 0.4 * self._rng.random(len(self.frontages))

    def _pull_of_centres(self, group: Group) -> list[Floats]:
        """How strongly each of a group's centres draws to each frontage, [0, 1]."""
        return [
            self._closeness(centre, group.reach)
            * np.where(self._street == self._street[centre], 1.0, ROUND_THE_CORNER)
            for centre in self._choose_centres(group)
        ]

    def _choose_centres(self, group: Group) -> list[int]:
        lure = np.maximum(self._busy, 0.02) ** (3 * max(group.busy, 0.0))
        centres: list[int] = []
        for _ in range(min(group.centres, len(self.frontages))):
            drawn = self._rng.choice(len(self.frontages), CANDIDATES, p=lure / lure.sum())
            centres.append(int(max(drawn, key=lambda site: self._gap(int(site), centres))))
        return centres

    def _closeness(self, site: int, reach: float) -> Floats:
        """1 at a site, falling to 0 within about twice `reach` metres."""
        away = (self._x - self._x[site]) ** 2 + (self._y - self._y[site]) ** 2
        near: Floats = np.exp(away * (-1 / reach**2))
        return near

    def _gap(self, site: int, centres: list[int]) -> float:
        """Metres from a site to the nearest centre."""
        gaps = np.hypot(self._x[centres] - self._x[site], self._y[centres] - self._y[site])
        return float(gaps.min(initial=np.inf))


def roster(sites: int, rng: Generator) -> list[str]:
    """The keys of the trades that move in, those that need much room first; fewer where sites are few."""
    table = trades_table().trades
    keys = [key for key, trade in table.items() if trade.types[0] != "park" for _ in range(trade.count)]
    rng.shuffle(keys)
    keys = keys[: int(sites * OCCUPIED)]
    return sorted(keys, key=lambda key: (table[key].width < 7, table[key].group != "food"))
