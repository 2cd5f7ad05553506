"""The places of a town: where each settles, its name, and what people say of it."""

from collections.abc import Iterator
from math import dist
from random import Random

import numpy as np
from numpy.random import Generator

from virl.geo.globe import Floats
from virl.platform.city.places import OpeningHours, Place, parse_hours
from virl.towns.life.parks import greens
from virl.towns.life.reviews import (
    UNREVIEWED,
    Reviewers,
    draw_attributes,
    draw_price_level,
    draw_review_count,
    mean_rating,
)
from virl.towns.life.signs import Lettering, Namer, hang_signs, plant_board, room_for_name
from virl.towns.life.trades import Group, Trade, trades_table
from virl.towns.plan.town_plan import Frontage, Point, Shop, Sign, StreetPlan

TOWN = "Virlton"
"""Name of the town in addresses, unless another is given."""
CLOSED = 0.04
"""Share of places that have closed for good; chosen."""
BEHIND_FRONT_M = 2.0
"""Distance in metres from the middle of a front back to the position of the place behind it."""
WIDE_BOARD_M = 12.0
"""Largest width in metres that a park's board may take for its name, however long the park's edge is."""
FADING = 0.8
"""Chance that a place joins a group's centre, divided by its chance to join the centre before it; chosen."""
CANDIDATES = 12
"""Frontages drawn at random for a centre, of which the farthest from other centres is taken; chosen."""
ROUND_THE_CORNER = 0.55
"""Pull of a centre on frontages of other streets, as a share of that on its own street; chosen."""
RIVALRY_M = 60.0
"""Distance in metres that places of one trade roughly keep from each other; chosen."""
CORNER_SHOPS = 2.0
"""Factor on a frontage's appeal, to which noise is added, for a place that joins no centre; chosen."""
OCCUPIED = 0.6
"""Largest share of all frontages that places take; chosen."""


def move_in(layout: StreetPlan, seed: int, town: str = TOWN) -> tuple[Shop, ...]:
    """Return the places of a town: shops in its frontages, and its parks and gardens.

    Where frontages are few, fewer trades move in.

    Args:
        layout: streets and frontages of the town.
        seed: the same layout and seed give the same places.
        town: name at the end of addresses.
    """
    settlers = _Settlers(layout, seed, town)
    return (*settlers.shops(), *settlers.parks())


class _Settlers:
    """A maker of all places of a town, drawn at random one after the other."""

    def __init__(self, layout: StreetPlan, seed: int, town: str) -> None:
        """Begin with no place settled, and with sources of chance for the seed."""
        self._layout = layout
        self._town = town
        self._rng = Random(f"{seed} shops")
        self._spots = np.random.default_rng([seed, 0x5109])
        self._namer = Namer(self._rng)
        self._reviewers = Reviewers(self._rng)
        self._streets = {street.id: street.name for street in layout.streets}
        self._count = 0

    def shops(self) -> Iterator[Shop]:
        """Yield all places in buildings."""
        sites = Sites(self._layout, self._spots)
        for key in roster(len(sites.frontages), self._spots):
            trade = trades_table().trades[key]
            front = sites.settle(key, trade)
            if front is None:
                return
            width = dist(front.left, front.right)
            lettering = self._namer.letter(key, self._streets[front.street], room_for_name(width))
            place_id = self._new_id()
            signs = hang_signs(place_id, lettering, front.left, front.right, self._rng)
            position = point_behind(front.left, front.right)
            address = self._address(front.number, front.street)
            yield self._shop(place_id, trade, lettering, front.id, signs, position, address)

    def parks(self) -> Iterator[Shop]:
        """Yield the parks and gardens."""
        key, trade = next((k, t) for k, t in trades_table().trades.items() if t.types[0] == "park")
        for green in greens(self._layout, self._spots, trade.count):
            place_id = self._new_id()
            width = min(WIDE_BOARD_M, dist(green.edges[0].left, green.edges[0].right))
            lettering = self._namer.letter(key, self._streets[green.street], room_for_name(width))
            variant = self._rng.randrange(1 << 16)
            signs = tuple(
                plant_board(f"{place_id}-board-{number}", place_id, lettering, edge.left, edge.right, variant)
                for number, edge in enumerate(green.edges)
            )
            position = point_behind(green.edges[0].left, green.edges[0].right)
            address = self._address(green.number, green.street)
            yield self._shop(place_id, trade, lettering, green.frontage, signs, position, address)

    def _new_id(self) -> str:
        """Return the next id of a place."""
        self._count += 1
        return f"place-{self._count:04d}"

    def _address(self, number: int, street: int) -> str:
        """Return the text of an address: house number, street's name and town."""
        return f"{number} {self._streets[street]}, {self._town}"

    def _shop(
        self,
        place_id: str,
        trade: Trade,
        lettering: Lettering,
        frontage: int,
        signs: tuple[Sign, ...],
        point: Point,
        address: str,
    ) -> Shop:
        """Return a place made of these facts, with random attributes, reviews, prices and opening hours."""
        rng = self._rng
        attributes = draw_attributes(trade, rng)
        is_open = rng.random() >= CLOSED
        reviews = self._reviewers.review(trade, attributes) if rng.random() >= UNREVIEWED else ()
        count = draw_review_count(trade, rng) if reviews else 0
        place = Place(
            id=place_id,
            name=lettering.name,
            types=trade.types,
            position=self._layout.frame.position(*point),
            address=address,
            rating=mean_rating(reviews, rng) if reviews else None,
            review_count=count,
            price_level=draw_price_level(attributes, rng),
            is_open=is_open,
            hours=keep_hours(rng.choice(trades_table().hours[trade.hours]), rng) if is_open else (),
            reviews=reviews,
        )
        return Shop(place, frontage, signs, attributes, rng.randrange(1 << 16))


def point_behind(left: Point, right: Point) -> Point:
    """Return the point `BEHIND_FRONT_M` metres behind the middle of a front, metres."""
    (x0, y0), (x1, y1) = left, right
    length = dist(left, right)
    return (
        (x0 + x1) / 2 - BEHIND_FRONT_M * (y1 - y0) / length,
        (y0 + y1) / 2 + BEHIND_FRONT_M * (x1 - x0) / length,
    )


def keep_hours(pattern: str, rng: Random) -> tuple[OpeningHours, ...]:
    """Return the weekly hours of a pattern, with all openings moved by -30, 0 or 30 minutes at random."""
    shift = rng.choice((-30, 0, 0, 0, 30))
    return tuple(
        OpeningHours(hours.day, hours.opens + shift, hours.closes) if hours.opens else hours
        for hours in parse_hours(pattern)
    )


class Sites:
    """The frontages of a town with a building behind them, which places take one after the other."""

    def __init__(self, layout: StreetPlan, rng: Generator) -> None:
        """Choose the centres around which each group of trades gathers."""
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
        self._pulls = {
            name: [
                self._closeness(centre, group.reach)
                * np.where(self._street == self._street[centre], 1.0, ROUND_THE_CORNER)
                for centre in self._choose_centres(group)
            ]
            for name, group in groups.items()
        }
        """Pull, [0, 1], of each centre of a group on each frontage, by the group's name."""
        self._rivalry: dict[str, Floats] = {}

    def settle(self, key: str, trade: Trade) -> Frontage | None:
        """Take and return the best free frontage for a trade named `key`; `None` if none is free."""
        usable = self._free & (self._width >= trade.width)
        if not usable.any():  # better a narrow front than none
            usable = self._free
        if not usable.any():
            return None
        best = int(np.argmax(np.where(usable, self._appeal(key, trade.group), -np.inf)))
        self._free[best] = False
        self._rivalry[key] = self._rivalry.get(key, 0.0) + self._closeness(best, RIVALRY_M)
        return self.frontages[best]

    def _appeal(self, key: str, group_name: str) -> Floats:
        """Return the appeal of each frontage for a place of the trade `key` in a group; higher is better."""
        group, pulls = trades_table().groups[group_name], self._pulls[group_name]
        appeal: Floats = group.busy * self._busy - 0.6 * self._rivalry.get(key, 0.0)
        if self._rng.random() < group.scattered:
            return CORNER_SHOPS * appeal + self._rng.gumbel(size=len(self.frontages))
        weights = FADING ** np.arange(len(pulls))
        centre = int(self._rng.choice(len(pulls), p=weights / weights.sum()))
        return appeal + 2.0 * pulls[centre] + 0.4 * self._rng.random(len(self.frontages))

    def _choose_centres(self, group: Group) -> list[int]:
        """Return the indices of the frontages that a group of trades gathers around, far from each other."""
        lure = np.maximum(self._busy, 0.02) ** (3 * max(group.busy, 0.0))
        centres: list[int] = []
        for _ in range(min(group.centres, len(self.frontages))):
            drawn = self._rng.choice(len(self.frontages), CANDIDATES, p=lure / lure.sum())
            x, y = self._x[centres], self._y[centres]
            gaps = [np.hypot(x - self._x[site], y - self._y[site]).min(initial=np.inf) for site in drawn]
            centres.append(int(drawn[int(np.argmax(gaps))]))
        return centres

    def _closeness(self, site: int, reach: float) -> Floats:
        """Return each frontage's closeness to that of index `site`: 1 there, near 0 beyond twice `reach`."""
        away = (self._x - self._x[site]) ** 2 + (self._y - self._y[site]) ** 2
        return np.asarray(np.exp(away * (-1 / reach**2)))


def roster(sites: int, rng: Generator) -> list[str]:
    """Return the trade names of places to move into `sites` frontages, the trades for wide fronts first.

    The places take at most the share `OCCUPIED` of the frontages.
    """
    table = trades_table().trades
    keys = [key for key, trade in table.items() if trade.types[0] != "park" for _ in range(trade.count)]
    rng.shuffle(keys)
    keys = keys[: int(sites * OCCUPIED)]
    return sorted(keys, key=lambda key: (table[key].width < 7, table[key].group != "food"))
