"""Moving in: who settles where, under which name, and what people say of it."""

from collections.abc import Iterator
from math import dist
from random import Random

import numpy as np

from virl.platform.places import OpeningHours, Place
from virl.platform.providers.offline.life.naming import Lettering, Namer
from virl.platform.providers.offline.life.parks import Green, greens
from virl.platform.providers.offline.life.repute import (
    UNREVIEWED,
    draw_attributes,
    draw_price_level,
    draw_review_count,
    mean_rating,
)
from virl.platform.providers.offline.life.reviews import Reviewers
from virl.platform.providers.offline.life.signs import hang_signs, plant_board, room_for_name
from virl.platform.providers.offline.life.siting import Sites, roster
from virl.platform.providers.offline.life.trades import Trade, trades_table
from virl.platform.providers.offline.plan import Point, Shop, Sign, StreetPlan
from virl.platform.weekly_hours import parse_hours

TOWN = "Virlton"
"""The town in addresses unless another is named."""
CLOSED = 0.04  # share of places that have closed for good; chosen
BEHIND_FRONT_M = 2.0  # a place's position lies this far behind the middle of its front
WIDE_BOARD_M = 12.0  # longest edge that a park's name is fitted to


def move_in(layout: StreetPlan, seed: int, town: str = TOWN) -> tuple[Shop, ...]:
    """Fills a town's frontages with shops, and its parks and gardens with names.

    The same layout and seed give the same shops. Where frontages are few, fewer trades move in. Addresses end
    in the name of the town.
    """
    settlers = _Settlers(layout, seed, town)
    return (*settlers.shops(), *settlers.parks())


class _Settlers:
    """Those who move in, one after the other."""

    def __init__(self, layout: StreetPlan, seed: int, town: str) -> None:
        self._layout = layout
        self._town = town
        self._rng = Random(f"{seed} shops")
        self._spots = np.random.default_rng([seed, 0x5109])
        self._namer = Namer(self._rng)
        self._reviewers = Reviewers(self._rng)
        self._streets = {street.id: street.name for street in layout.streets}
        self._count = 0

    def shops(self) -> Iterator[Shop]:
        """All that have a building."""
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
            position = behind(front.left, front.right)
            address = self._address(front.number, front.street)
            yield self._shop(place_id, trade, lettering, front.id, signs, position, address)

    def parks(self) -> Iterator[Shop]:
        """Parks and gardens."""
        key, trade = next((k, t) for k, t in trades_table().trades.items() if t.types[0] == "park")
        for green in greens(self._layout, self._spots, trade.count):
            place_id = self._new_id()
            width = min(WIDE_BOARD_M, dist(green.edges[0].left, green.edges[0].right))
            lettering = self._namer.letter(key, self._streets[green.street], room_for_name(width))
            signs = self._boards(place_id, lettering, green)
            position = behind(green.edges[0].left, green.edges[0].right)
            address = self._address(green.number, green.street)
            yield self._shop(place_id, trade, lettering, green.frontage, signs, position, address)

    def _boards(self, place_id: str, lettering: Lettering, green: Green) -> tuple[Sign, ...]:
        variant = self._rng.randrange(1 << 16)
        return tuple(
            plant_board(f"{place_id}-board-{number}", place_id, lettering, edge.left, edge.right, variant)
            for number, edge in enumerate(green.edges)
        )

    def _new_id(self) -> str:
        self._count += 1
        return f"place-{self._count:04d}"

    def _address(self, number: int, street: int) -> str:
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


def behind(left: Point, right: Point) -> Point:
    """The point 2 m behind the middle of a front: where the place at this front is."""
    (x0, y0), (x1, y1) = left, right
    length = dist(left, right)
    return (
        (x0 + x1) / 2 - BEHIND_FRONT_M * (y1 - y0) / length,
        (y0 + y1) / 2 + BEHIND_FRONT_M * (x1 - x0) / length,
    )


def keep_hours(pattern: str, rng: Random) -> tuple[OpeningHours, ...]:
    """A pattern as one place keeps it: some open half an hour sooner or later than others."""
    shift = rng.choice((-30, 0, 0, 0, 30))
    return tuple(
        OpeningHours(hours.day, hours.opens + shift, hours.closes) if hours.opens else hours
        for hours in parse_hours(pattern)
    )
