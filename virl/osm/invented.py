"""Invented life for a twin: reviews, ratings, prices, hidden attributes and homes to rent, from a seed.

OpenStreetMap has none of these. They are drawn as those of a made city are, each place from its own seed, so
the same place is the same in any part of the extract.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import hypot
from random import Random
from types import MappingProxyType

from virl.osm.addresses import doors_of
from virl.osm.extract import OsmExtract, Tags
from virl.platform.city.city import Listing
from virl.platform.city.place_types import by_type
from virl.towns.life.reviews import (
    UNREVIEWED,
    Reviewers,
    draw_attributes,
    draw_price_level,
    draw_review_count,
    mean_rating,
)
from virl.towns.life.trades import Trade, trades_table
from virl.towns.listings import HOMES, let_home
from virl.towns.plan.town_plan import CityPlan, Shop

INVENTED = "reviews, ratings, prices and homes to rent are invented"
"""Notice for users of a town with invented life."""
RESIDENTIAL = frozenset(
    {"apartments", "bungalow", "detached", "house", "residential", "semidetached_house", "terrace"}
)
"""Values of `building` for buildings in which homes are let, if enough of them have an address."""


FACTS: Mapping[str, Mapping[str, Mapping[str, bool]]] = MappingProxyType(
    {
        "vegetarian": {
            "diet:vegetarian": {"yes": True, "only": True, "no": False},
            "diet:vegan": {"yes": True, "only": True},
        }
    }
)
"""Hidden attributes, True or False, that a tag settles: by attribute, then key, then value of the tag."""


def with_invented_life(
    plan: CityPlan, extract: OsmExtract, tags: Sequence[Tags], *, seed: int, town: str
) -> CityPlan:
    """Return a twin's plan with invented reviews, ratings, prices, hidden attributes and homes to rent.

    Args:
        plan: of the twin.
        extract: that the plan was built from.
        tags: of its places, in the order of `plan.shops`.
        seed: any integer; equal seeds give equal reviews.
        town: the end of the addresses of homes whose town is not mapped.
    """
    shops = tuple(_add_reviews(shop, own, seed) for shop, own in zip(plan.shops, tags, strict=True))
    return replace(plan, seed=seed, shops=shops, listings=_homes(extract, seed, town))


def trade_of(types: Sequence[str]) -> Trade | None:
    """Return the trade of invented towns that is most like a place of these types; `None` for none."""
    like, items, trades = by_type("like"), by_type("like_items"), trades_table().trades
    for kind in types:
        name = like.get(kind) or kind.removesuffix("_restaurant")
        if name in trades and (kind in like or kind.endswith("_restaurant")):
            return trades[name].model_copy(update={"items": items[kind]}) if kind in items else trades[name]
        if kind in _first_types():
            return _first_types()[kind]
    return None


def _add_reviews(shop: Shop, tags: Tags, seed: int) -> Shop:
    """Return a place with invented reviews, ratings, prices and attributes; as it is if it has no trade."""
    trade = trade_of(shop.place.types)
    if trade is None:
        return shop
    rng = Random(f"{seed} {shop.place.id}")
    attributes = draw_attributes(trade, rng) | {
        name: values[tags[key]]
        for name, keys in FACTS.items()
        for key, values in keys.items()
        if tags.get(key) in values
    }
    reviews = Reviewers(rng).review(trade, attributes) if rng.random() >= UNREVIEWED else ()
    place = replace(
        shop.place,
        rating=mean_rating(reviews, rng) if reviews else None,
        review_count=draw_review_count(trade, rng) if reviews else 0,
        price_level=draw_price_level(attributes, rng),
        reviews=reviews,
    )
    return replace(shop, place=place, attributes=attributes)


def _homes(extract: OsmExtract, seed: int, town: str) -> tuple[Listing, ...]:
    """Return at most `HOMES` invented homes to rent at mapped addresses, residential if there are enough."""
    doors = [door for tags, door in doors_of([extract.areas]) if tags.get("building") in RESIDENTIAL]
    if len(doors) < HOMES:
        doors = [door for _, door in doors_of([extract.points, extract.areas])]
    # Sorted: which homes are to let must not hang on the order of the file.
    doors.sort(key=lambda door: (door.address_text, door.x))
    rng = Random(f"{seed} homes")
    chosen = rng.sample(doors, min(HOMES, len(doors)))
    radius = max([1.0, *(hypot(door.x, door.y) for door in doors)])
    return tuple(
        let_home(
            rng,
            f"home-{number:03d}",
            door.address_text,
            door.city or town,
            extract.frame.position(door.x, door.y),
            1 - hypot(door.x, door.y) / radius,
        )
        for number, door in enumerate(chosen, start=1)
    )


@cache
def _first_types() -> Mapping[str, Trade]:
    """Return by place type the first trade of made towns that has it as its main type."""
    found: dict[str, Trade] = {}
    for trade in trades_table().trades.values():
        found.setdefault(trade.types[0], trade)
    return found
