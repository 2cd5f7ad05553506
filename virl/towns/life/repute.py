"""What a place is like, and what that makes of its ratings and prices."""

from collections.abc import Mapping, Sequence
from math import log
from random import Random

from virl.platform.city.places import Review
from virl.towns.life.trades import Trade

UNREVIEWED = 0.03
"""Share of places that nobody has reviewed; chosen."""
SPREAD = 0.9
"""Standard deviation of the logarithm of review counts; chosen for a long tail."""
MOST_RATINGS = 2000
"""Most ratings of a place."""
DEAR = (2, 2, 2, 3, 3, 4)
"""Price levels of places that are not cheap, as often as they occur; chosen."""
NOISY_CROWDS = 0.8
"""Share of crowded places that cannot be quiet; chosen."""


def draw_attributes(trade: Trade, rng: Random) -> dict[str, bool]:
    """Draw a place's hidden attributes."""
    attributes = {name: rng.random() < chance for name, chance in trade.attributes.items()}
    if attributes.get("crowded") and attributes.get("quiet") and rng.random() < NOISY_CROWDS:
        attributes["quiet"] = False
    return attributes


def draw_review_count(trade: Trade, rng: Random) -> int:
    """Return a random number of ratings: few for most places, very many for a few."""
    return min(MOST_RATINGS, max(9, round(rng.lognormvariate(log(trade.visitors), SPREAD))))


def mean_rating(reviews: Sequence[Review], rng: Random) -> float:
    """Return the mean of all ratings, 1 to 5: near that of the reviews, a little closer to 4."""
    mean = sum(review.rating for review in reviews) / len(reviews)
    return round(4.0 + 0.85 * (mean - 4.0) + rng.uniform(-0.1, 0.1), 1)


def draw_price_level(attributes: Mapping[str, bool], rng: Random) -> int | None:
    """Return a random price level: 1 if cheap, else 2 to 4; `None` where prices do not matter."""
    if "cheap" not in attributes:
        return None
    return 1 if attributes["cheap"] else rng.choice(DEAR)
