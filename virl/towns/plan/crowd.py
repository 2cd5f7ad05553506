"""People, cyclists, cars in traffic and cafe tables, which stand still in the views of a town."""

from collections.abc import Iterator

import numpy as np
import shapely
from numpy.random import Generator
from scipy.spatial import cKDTree

from virl.geo.flat import near_shapes
from virl.geo.globe import Flags, Floats, Ints, normalize_heading
from virl.towns.plan.furnish import Kerbs
from virl.towns.plan.town_plan import CityPlan, Furniture, FurnitureKind

PEOPLE, COMPANIES, CLOTHES = 6, 4, 12
"""Numbers of figures of people, of kinds of company that they have, and of colours of their clothes."""
# All chosen.
SHOPS_PER_M = 1 / 40
"""Least number of shops in a metre of street for a shopping street."""
BUSY_M, QUIET_M, CYCLIST_M, CAR_M = 18.0, 120.0, 150.0, 80.0
"""Metres of pavement for each person in shopping streets and in others, of street for a cyclist and a car."""
PAIRS, CHILDREN, BESIDE = 0.25, 0.05, 0.12
"""Shares of people who walk in pairs, with a child, and with a dog or a pram."""
APART_M = 0.62
"""Metres between two who walk together."""
PAVED_M = 0.05
"""Metres beyond the edge of a pavement or path where people still stand."""
SETTLED_M = 30.0
"""Largest distance in metres from a house to people: nobody walks in the fields."""
WITH_TABLES = frozenset({"restaurant", "cafe"})
TABLES, TABLE_M, TABLE_OUT_M = 0.4, 2.6, 1.0
"""Share of restaurants with tables outside, metres of front for a table, and metres from it to the wall."""
EYE_M, CAR_EYE_M = 2.5, 4.6
"""Least distance in metres from a panorama to people, and to the middle of a car."""
WALL_M, CAR_WALL_M = 0.45, 1.6
"""Least distance in metres to a house of people and of cars."""
THING_M, SIGN_M = 1.3, 2.5
"""Least distance in metres from people to furniture, and to signs at the height of their eyes."""
LANE_M, CAR_LENGTH_M, CAR_JUNCTION_M, WIDE_ROAD_M = 2.1, 5.6, 14.0, 5.5
"""Metres that cars keep across and along the street, from junctions, and least width of a road with cars."""


def crowd_of(plan: CityPlan) -> tuple[Furniture, ...]:
    """Return who and what is out in a town, as many as its `crowd` says; the same for the same plan."""
    if plan.crowd <= 0:
        return ()
    rng = np.random.default_rng([plan.seed, 0xC20D])
    spots = _Spots(plan)
    return (
        *_cars(rng, spots, plan.crowd), *_cyclists(rng, spots, plan.crowd), *_tables(rng, spots, plan),
        *_people(rng, spots, plan.crowd),
    )  # fmt: skip


class _Spots:
    """The streets of a plan, and the search for ground that nothing takes."""

    def __init__(self, plan: CityPlan) -> None:
        """Build search trees of the plan's houses, panoramas, furniture and low signs."""
        layout = plan.layout
        self.kerbs, self.panoramas = Kerbs(layout), layout.panoramas
        street_of = {front.id: front.street for front in layout.frontages}
        found = [street_of[shop.frontage] for shop in plan.shops if shop.frontage in street_of]
        shops = np.bincount(np.array(found, np.int64), minlength=len(layout.streets))
        self.is_busy = shops > np.maximum(1.0, SHOPS_PER_M * self.kerbs.lengths)
        self._houses = shapely.STRtree([house.footprint for house in layout.buildings])
        self._eyes = cKDTree(layout.panoramas.xy)
        parked = [(one.x, one.y, one.heading) for one in layout.furniture if one.kind == "parked car"]
        self._parked = np.array(parked).reshape(-1, 3)
        things = [(one.x, one.y) for one in layout.furniture if one.kind != "parked car"]
        low = [np.add(sign.left, sign.right) / 2 for sign in plan.signs if sign.bottom < 1.8]
        self._things, self._signs = (
            cKDTree(np.reshape(np.array(xy, float), (-1, 2))) for xy in (things, low)
        )

    def draw(self, rng: Generator, each_m: Floats) -> tuple[Ints, Floats]:
        """Return (streets, metres along them) of points, as many as one for each `each_m` of each street."""
        lengths = self.kerbs.lengths
        count = np.floor(lengths / each_m + rng.random(len(lengths))).astype(np.int64)
        street = np.repeat(np.arange(len(count)), count)
        return street, rng.random(len(street)) * lengths[street]

    def near_houses(self, xy: Floats, metres: float) -> Flags:
        """Return True for each point, (n, 2), within some metres of a house."""
        return near_shapes(xy, self._houses, metres)

    def free(self, xy: Floats, *, eye: float, wall: float) -> Flags:
        """Return True for each point, (n, 2), off houses, panoramas, furniture and low signs, by metres."""
        free = (self._eyes.query(xy)[0] >= eye) & ~self.near_houses(xy, wall)
        return np.asarray(
            free & (self._things.query(xy)[0] >= THING_M) & (self._signs.query(xy)[0] >= SIGN_M)
        )

    def passes_parked(self, xy: Floats, heading: Floats, others: Floats) -> Flags:
        """Return True for cars, (n, 2), that touch neither parked ones nor earlier ones, (m, 3), of these."""
        cars = np.concatenate([self._parked, others])
        pairs = cKDTree(xy).query_ball_tree(cKDTree(cars[:, :2]), np.hypot(LANE_M, CAR_LENGTH_M))
        own = np.repeat(np.arange(len(xy)), np.array([len(near) for near in pairs], np.int64))
        other = np.fromiter((j for near in pairs for j in near), np.int64, len(own))
        own, other = (kept[(other - len(self._parked)) != own] for kept in (own, other))
        away, turn = cars[other, :2] - xy[own], np.radians(heading[own])
        along = np.abs(away[:, 0] * np.sin(turn) + away[:, 1] * np.cos(turn))
        across = np.abs(away[:, 0] * np.cos(turn) - away[:, 1] * np.sin(turn))
        hits = (along < CAR_LENGTH_M) & (across < LANE_M)
        return ~np.isin(
            np.arange(len(xy)), own[hits & ((other < len(self._parked)) | (other - len(self._parked) < own))]
        )


def _cars(rng: Generator, spots: _Spots, crowd: float) -> Iterator[Furniture]:
    """Yield cars that drive on the right, each in the middle between two panoramas."""
    kerbs, panoramas = spots.kerbs, spots.panoramas
    # Those at junctions come first, so that the later one of two tells the street.
    street = panoramas.street[np.maximum(panoramas.source, panoramas.target)]
    ends = panoramas.xy[panoramas.source], panoramas.xy[panoramas.target]
    chance = np.hypot(*(ends[1] - ends[0]).T) / CAR_M * crowd / 2
    taken = (rng.random(len(street)) < chance) & (2 * kerbs.half_road[street] >= WIDE_ROAD_M)
    street = street[taken]
    along = shapely.line_locate_point(kerbs.lines[street], shapely.points((ends[0] + ends[1])[taken] / 2))
    side = rng.choice([-1.0, 1.0], len(street))
    xy, heading = kerbs.at(street, along, side * np.clip(kerbs.half_road[street] - 3.5, 1.3, 2.6))
    heading = heading + np.where(side > 0, 180.0, 0.0)
    end = np.minimum(along, kerbs.lengths[street] - along)
    free = spots.free(xy, eye=CAR_EYE_M, wall=CAR_WALL_M) & ~kerbs.on_road(xy, CAR_EYE_M / 2, street)
    free &= (end > CAR_JUNCTION_M) & spots.passes_parked(xy, heading, np.column_stack([xy, heading]))
    yield from _name("car", xy[free], heading[free], rng.integers(0, 997, len(xy))[free])


def _cyclists(rng: Generator, spots: _Spots, crowd: float) -> Iterator[Furniture]:
    """Yield cyclists near the right kerb."""
    kerbs = spots.kerbs
    each = np.where(kerbs.half_road >= 2.5, CYCLIST_M / crowd * np.where(spots.is_busy, 1.0, 3.0), np.inf)
    street, along = spots.draw(rng, each)
    side = rng.choice([-1.0, 1.0], len(street))
    xy, heading = kerbs.at(street, along, side * (kerbs.half_road[street] - 0.9))
    heading = heading + np.where(side > 0, 180.0, 0.0)
    free = spots.free(xy, eye=EYE_M, wall=WALL_M) & spots.passes_parked(xy, heading, np.empty((0, 3)))
    free &= spots.near_houses(xy, SETTLED_M)
    yield from _name("bicycle", xy[free], heading[free], rng.integers(0, 997, len(xy))[free])


def _tables(rng: Generator, spots: _Spots, plan: CityPlan) -> Iterator[Furniture]:
    """Yield the tables before restaurants on wide pavements."""
    fronts = {front.id: front for front in plan.layout.frontages}
    rows, turns = [np.empty((0, 2))], []
    for shop in plan.shops:
        front = fronts.get(shop.frontage)
        is_open = rng.random() < min(TABLES * plan.crowd, 1.0)
        if front is None or not is_open or WITH_TABLES.isdisjoint(shop.place.types):
            continue
        left, right = np.array(front.left), np.array(front.right)
        way = (right - left) / max(np.hypot(*(right - left)), 0.1)
        wide = plan.layout.streets[front.street].pavement
        count = min(3, int(np.hypot(*(right - left)) / TABLE_M)) if wide >= 2.8 else 0
        out = np.array([way[1], -way[0]]) * TABLE_OUT_M
        rows.append((left + right) / 2 + out + np.outer(np.arange(count) - (count - 1) / 2, way * TABLE_M))
        turns += [float(np.degrees(np.arctan2(out[0], out[1])))] * count
    xy = np.concatenate(rows)
    free = spots.free(xy, eye=EYE_M, wall=0.4) & ~spots.kerbs.on_road(xy, 0.6)
    yield from _name("cafe table", xy[free], np.array(turns)[free], rng.integers(0, 997, len(xy))[free])


def _people(rng: Generator, spots: _Spots, crowd: float) -> Iterator[Furniture]:
    """Yield people on pavements, some in pairs, with children, dogs or prams."""
    kerbs = spots.kerbs
    # Two pavements along each street.
    street, along = spots.draw(rng, np.where(spots.is_busy, BUSY_M, QUIET_M) / 2 / crowd)
    side, share = rng.choice([-1.0, 1.0], len(street)), rng.random(len(street))
    half, room = kerbs.half_road[street], kerbs.pavement[street]
    inner = np.where(half > 0, np.minimum(1.2, room / 2), 0.0)
    aside = side * (half + inner + share * np.maximum(room - inner - 0.6, 0.0))
    xy, heading = kerbs.at(street, along, aside)
    heading = heading + rng.choice([0.0, 180.0], len(street)) + rng.normal(0.0, 8.0, len(street))
    who, clothes = rng.integers(0, PEOPLE, len(street)), rng.integers(0, CLOTHES, len(street))
    chance = rng.random(len(street))
    company = np.select([chance < CHILDREN, chance < CHILDREN + BESIDE], [2, 1], 0)
    looks = who + PEOPLE * (company + COMPANIES * clothes)
    paired = np.flatnonzero(chance > 1 - PAIRS)
    turn = np.radians(heading[paired])
    beside = xy[paired] + APART_M * np.column_stack([np.cos(turn), -np.sin(turn)])
    xy, heading = np.concatenate([xy, beside]), np.concatenate([heading, heading[paired]])
    other = (who[paired] + 1) % PEOPLE + PEOPLE * COMPANIES * (clothes[paired] + 5)
    looks, street = np.concatenate([looks, other]), np.concatenate([street, street[paired]])
    settled = spots.near_houses(xy, SETTLED_M) & kerbs.on_pavement(xy, street, PAVED_M)
    xy, heading, looks = xy[settled], heading[settled], looks[settled]
    free = spots.free(xy, eye=EYE_M, wall=WALL_M) & ~kerbs.on_road(xy, WALL_M)
    yield from _name("person", xy[free], heading[free], looks[free])


def _name(kind: FurnitureKind, xy: Floats, heading: Floats, looks: Ints) -> Iterator[Furniture]:
    """Yield things of a kind with numbered ids."""
    turned = np.round(normalize_heading(heading), 1) % 360.0
    columns = (np.round(xy, 3).tolist(), turned.tolist(), looks.tolist())
    for number, ((x, y), turn, look) in enumerate(zip(*columns, strict=True), start=1):
        yield Furniture(f"{kind.replace(' ', '-')}-{number:05d}", kind, x, y, turn, look, is_mapped=False)
