import re
from collections import Counter
from random import Random

import numpy as np
import pytest
from made_town import made_town

from virl.platform.city.places import Review
from virl.towns.life.reviews import Reviewers, _phrasebook, _wordings_for
from virl.towns.life.shops import move_in
from virl.towns.life.trades import Trade, trades_table
from virl.towns.plan.town_plan import Shop

# what a reader who does not know the wordings would take for heat
HOT = re.compile(
    r"on fire|sweat|fiery|too spicy|burned|numbing|serious kick|volcanic|eyes water|lava|like it hot"
)
EXPECTED_WORDINGS = 12


@pytest.fixture(scope="module")
def shops() -> tuple[Shop, ...]:
    return move_in(made_town(), 1)


def trade_of(shop: Shop) -> Trade:
    """The trade whose attributes a shop has; of two alike it does not matter which."""
    return next(
        trade
        for trade in trades_table().trades.values()
        if trade.types == shop.place.types and set(trade.attributes) == set(shop.attributes)
    )


def wordings(topic: str, scope: str, *, holds: bool) -> set[str]:
    phrases = _phrasebook().attributes[topic]
    by_tone = phrases.is_ if holds else phrases.is_not
    return {text for scoped in by_tone.values() for text in _wordings_for(scoped, scope)}


def says(review: Review, wording: str) -> bool:
    pattern = r"[\w' &-]+".join(re.escape(part) for part in re.split(r"\{\w+\}", wording.rstrip(".")))
    return re.search(rf"(?<!\w){pattern}", review.text, re.IGNORECASE) is not None


def speaking(shop: Shop, topic: str, *, holds: bool) -> int:
    known = wordings(topic, trade_of(shop).scope, holds=holds)
    return sum(any(says(review, wording) for wording in known) for review in shop.place.reviews)


def test_every_debatable_attribute_has_a_dozen_wordings_both_ways():
    short = {
        (topic, trade.scope, holds)
        for trade in trades_table().trades.values()
        for topic in trade.debatable
        for holds in (True, False)
        if len(wordings(topic, trade.scope, holds=holds)) < EXPECTED_WORDINGS
    }
    assert short == set()


def test_no_wording_says_both():
    for topic in _phrasebook().attributes:
        for trade in trades_table().trades.values():
            if topic in trade.attributes:
                assert not wordings(topic, trade.scope, holds=True) & wordings(
                    topic, trade.scope, holds=False
                )


@pytest.mark.slow
def test_places_have_three_to_eight_reviews(shops):
    reviewed = [shop.place for shop in shops if shop.place.rating is not None]
    assert {len(place.reviews) for place in reviewed} <= set(range(3, 9))
    assert len({len(place.reviews) for place in reviewed}) >= 5


def test_reviews_are_written_out(shops):
    for shop in shops:
        for review in shop.place.reviews:
            assert review.author
            assert review.rating in {1, 2, 3, 4, 5}
            assert review.text.strip() == review.text != ""
            assert not re.search(r"[{}]|  |\.\.", review.text)


@pytest.mark.slow
def test_every_attribute_that_matters_is_spoken_of_twice(shops):
    for shop in shops:
        if shop.place.reviews and shop.place.types[0] != "restaurant":
            for topic in trade_of(shop).debatable:
                assert speaking(shop, topic, holds=shop.attributes[topic]) >= 2, (shop.place.name, topic)


@pytest.mark.parametrize("topic", ["spicy", "cheap", "quiet", "authentic", "friendly", "quick"])
@pytest.mark.slow
def test_so_it_is_in_every_restaurant(shops, topic):
    reviewed = [shop for shop in shops if shop.place.reviews and shop.place.types[0] == "restaurant"]
    wrong = []
    for shop in reviewed:
        right = speaking(shop, topic, holds=shop.attributes[topic])
        assert right >= (3 if topic == "spicy" else 2), shop.place.name
        wrong.append(speaking(shop, topic, holds=not shop.attributes[topic]))
    # a few wordings hold another's words, so a stray second contradiction is only seeming
    assert sum(count > 1 for count in wrong) <= 0.02 * len(reviewed)


@pytest.mark.slow
def test_few_reviews_contradict(shops):
    reviews = contradictions = 0
    for shop in shops[::3]:
        reviews += len(shop.place.reviews)
        for topic in trade_of(shop).debatable:
            contradictions += speaking(shop, topic, holds=not shop.attributes[topic])
    assert 0 < contradictions <= 0.1 * reviews


def test_spice_can_be_guessed_by_plain_words(shops):
    def heat(shop: Shop) -> float:
        return float(np.mean([bool(HOT.search(review.text.lower())) for review in shop.place.reviews]))

    some = [s for s in shops if s.place.types[0] == "restaurant" and s.place.reviews]
    hot = [heat(shop) for shop in some if shop.attributes["spicy"]]
    mild = [heat(shop) for shop in some if not shop.attributes["spicy"]]
    assert np.mean(hot) > np.mean(mild) + 0.15


def test_ratings_agree_with_the_mood():
    trade = trades_table().trades["hair_care"]
    reviewers = Reviewers(Random(0))
    lovely = {"cheap": True, "friendly": True, "quick": True, "clean": True, "quiet": True}
    awful = {**dict.fromkeys(lovely, False), "quiet": False}
    best = [r.rating for _ in range(30) for r in reviewers.review(trade, lovely)]
    worst = [r.rating for _ in range(30) for r in reviewers.review(trade, awful)]
    assert np.mean(best) > 4.3
    assert np.mean(worst) < 3.0


def test_praise_alone_is_never_rated_low_nor_blame_alone_high(shops):
    praise = ["Greeted with a smile.", "Good people.", "Such kind people."]
    blame = ["Grumpy people.", "Cold reception.", "Rude."]
    for shop in shops:
        for review in shop.place.reviews:
            if review.text in praise:
                assert review.rating >= 4
            if review.text in blame:
                assert review.rating <= 3


def test_a_places_rating_is_near_the_mean_of_its_reviews(shops):
    for shop in shops:
        if shop.place.rating is not None:
            mean = np.mean([review.rating for review in shop.place.reviews])
            assert 1 <= shop.place.rating <= 5
            assert abs(shop.place.rating - mean) <= 0.6


def test_better_places_are_rated_better(shops):
    kind = [s.place.rating for s in shops if s.place.rating and s.attributes.get("friendly") is True]
    rude = [s.place.rating for s in shops if s.place.rating and s.attributes.get("friendly") is False]
    assert np.mean(kind) > np.mean(rude) + 0.2


def test_a_town_does_not_repeat_itself(shops):
    texts = Counter(review.text for shop in shops for review in shop.place.reviews)
    assert len(texts) > 0.9 * texts.total()
    for shop in shops:
        assert len({review.text for review in shop.place.reviews}) == len(shop.place.reviews)
