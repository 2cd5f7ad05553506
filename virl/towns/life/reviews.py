"""The hidden attributes of places, and the ratings, prices and reviews that follow from them.

Reviews let hidden attributes be guessed from their wording. Each speaks of a few. Each mention is pleased or
displeased; the balance of a review's mentions and the mood its writer came in make its rating, so rating and
text agree.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import exp, log
from random import Random
from typing import Literal

from virl.platform.city.places import Review
from virl.settings.model import Settings
from virl.towns.life.trades import Trade, fill_slots
from virl.towns.storage import read_table

Tone = Literal["good", "bad"]
Mood = Literal["glad", "fair", "cross"]
Scoped = dict[str, tuple[str, ...]]
"""Sentences by key: a scope of trades, `any` (added to each scope) or `only SCOPE` (instead of both)."""

FEWEST, MOST = 3, 8  # reviews of a place
MENTIONS = 2
"""Least number of a place's reviews that mention each of its attributes; fewer if it has fewer reviews."""
CONTRADICTED = 0.22
"""Share of places where one review says the opposite of the truth; chosen: under one review in ten."""
ASIDES = 0.3
"""Share of places with a review beside the point; chosen."""
EVEN_RATING = 3.3
"""Stars, 1 to 5, of a review whose praise and blame balance; chosen."""
OPENED, DETAILED, CLOSED = 0.4, 0.2, 0.35  # share of reviews with a first, a passing, a last remark; chosen


class _Phrases(Settings):
    """Sentences about an attribute that a place has, and about one that it lacks."""

    is_: dict[Tone, Scoped]
    is_not: dict[Tone, Scoped]


class _Phrasebook(Settings):
    """The table of sentences for reviews, `data/reviews.yaml`, by their part in a review."""

    attributes: dict[str, _Phrases]
    openers: Scoped
    details: Scoped
    closers: dict[Mood, Scoped]
    but: tuple[str, ...]
    credit: tuple[str, ...]
    asides: tuple[str, ...]
    authors: tuple[str, ...]
    slots: dict[str, tuple[str, ...]]


@dataclass(slots=True)
class _ReviewDraft:
    """A review before its sentences are put in order."""

    mood: float
    """Mood of the writer on arrival, standard normal: positive is happy."""
    good: list[str] = field(default_factory=list)
    """Sentences of praise in the review."""
    bad: list[str] = field(default_factory=list)
    """Sentences of blame in the review."""
    topics: set[str] = field(default_factory=set)
    """Attributes that the review mentions already."""

    @property
    def balance(self) -> int:
        """Number of sentences of praise minus that of sentences of blame."""
        return len(self.good) - len(self.bad)

    def rating(self) -> int:
        """Return the stars of the review, 1 to 5: all praise gives at least 4, all blame at most 3."""
        lowest = 1 if self.bad and not self.good else 2 if self.bad else 4
        highest = 3 if not self.good else 4 if self.balance <= 0 else 5
        return min(highest, max(lowest, round(EVEN_RATING + 0.6 * self.balance + 0.5 * self.mood)))


@dataclass
class Reviewers:
    """A writer of reviews for one town, who uses every sentence once before repeating any."""

    rng: Random
    _decks: dict[str, list[str]] = field(default_factory=dict)
    """Sentences not used yet, in random order, by key of the deck, such as `closers glad food`."""

    def review(self, trade: Trade, attributes: Mapping[str, bool]) -> tuple[Review, ...]:
        """Return the reviews of a place with some attributes, usually three to eight."""
        rng = self.rng
        topics = trade.debatable
        fewest = 5 if len(topics) > 5 else FEWEST
        drafts = [_ReviewDraft(rng.gauss(0.0, 1.0)) for _ in range(rng.randint(fewest, MOST - 1))]
        for topic in topics:
            times = MENTIONS + (topic == "spicy") + (rng.random() < 0.3)
            for _ in range(min(times, len(drafts))):
                self._mention(drafts, trade.scope, topic, holds=attributes[topic])
        if len(drafts) >= 5 and rng.random() < CONTRADICTED:
            topic = rng.choice(topics)
            self._mention(drafts, trade.scope, topic, holds=not attributes[topic])
        reviews = [self._write(draft, trade) for draft in drafts if draft.topics]
        if len(reviews) < FEWEST or rng.random() < ASIDES:
            reviews.append(Review(rng.choice((3.0, 4.0, 4.0, 5.0)), self._draw("asides"), self._author()))
        rng.shuffle(reviews)
        return tuple(reviews)

    def _mention(self, drafts: list[_ReviewDraft], scope: str, topic: str, *, holds: bool) -> None:
        """Add a sentence on `topic`, which `holds` or not, to one of the drafts without it, if any."""
        free = [draft for draft in drafts if topic not in draft.topics]
        if not free:
            return
        rng, tones = self.rng, _tones(topic, holds, scope)
        # What can only be praised, or only be blamed, is said by those in the mood for it.
        lean = 0.0 if len(tones) > 1 else 0.9 if "good" in tones else -0.9
        chances = [exp(lean * draft.mood) / (1 + len(draft.topics)) ** 1.5 for draft in free]
        draft = rng.choices(free, chances)[0]
        tone: Tone = tones[0]
        if len(tones) > 1:
            tone = "good" if draft.mood + draft.balance + rng.gauss(0, 0.5) > 0 else "bad"
        draft.topics.add(topic)
        (draft.good if tone == "good" else draft.bad).append(self._draw(f"{topic} {holds} {tone} {scope}"))

    def _write(self, draft: _ReviewDraft, trade: Trade) -> Review:
        """Return the review of a draft: its sentences in order, its rating and an author."""
        rng, rating = self.rng, draft.rating()
        mood: Mood = "glad" if rating >= 4 else "cross" if rating <= 2 else "fair"
        rng.shuffle(draft.good)
        rng.shuffle(draft.bad)
        blame_first = mood == "cross" or (mood == "fair" and rng.random() < 0.5)
        said, rest = (draft.bad, draft.good) if blame_first else (draft.good, draft.bad)
        sentences = [*said]
        if said and rest:
            turn, after = self._draw("credit" if blame_first else "but"), rest[0]
            # Only "I" and "I'm" keep their capital after a turn such as "My one gripe:".
            is_capital = after.split(" ")[0] == "I" or after.startswith("I'")
            sentences.append(f"{turn} {after if is_capital else after[0].lower() + after[1:]}")
            sentences += rest[1:]
        else:
            sentences += rest
        if rng.random() < OPENED:
            sentences.insert(0, self._draw(f"openers {trade.scope}"))
        if rng.random() < DETAILED:
            sentences.insert(rng.randrange(1, len(sentences) + 1), self._draw(f"details {trade.scope}"))
        if rng.random() < CLOSED:
            sentences.append(self._draw(f"closers {mood} {trade.scope}"))
        slots = {**_phrasebook().slots, "item": trade.items}
        text = fill_slots(" ".join(sentences), _SLOT, slots, rng)
        return Review(float(rating), self._in_manner(text, rating), self._author())

    def _in_manner(self, text: str, rating: int) -> str:
        """Return a review's text as its author types it: a few in small letters, a few with a final "!"."""
        chance = self.rng.random()
        if chance < 0.08:
            return text.lower().removesuffix(".")
        if chance < 0.16 and rating in {1, 5} and text.endswith("."):
            return text[:-1] + "!"
        return text

    def _author(self) -> str:
        """Return a random author's name: a first name and an initial."""
        return f"{self._draw('authors')} {self.rng.choice('ABCDEFGHJKLMNOPRSTVWYZ')}."

    def _draw(self, key: str) -> str:
        """Return the next sentence of a shuffled deck, by its key; all come up before one repeats."""
        deck = self._decks.get(key)
        if not deck:
            deck = self._decks[key] = list(_wordings(key))
            self.rng.shuffle(deck)
        return deck.pop()


@cache
def _wordings(key: str) -> tuple[str, ...]:
    """Return the sentences of a deck; keys are such as "openers food" or "TOPIC HOLDS TONE SCOPE"."""
    match key.split():
        case ["openers", scope]:
            return _wordings_for(_phrasebook().openers, scope)
        case ["details", scope]:
            return _wordings_for(_phrasebook().details, scope)
        case ["closers", mood, scope]:
            return _wordings_for(_phrasebook().closers[mood], scope)  # type: ignore[index]
        case [topic, holds, tone, scope]:
            return _wordings_for(_phrases(topic, holds == "True")[tone], scope)  # type: ignore[index]
    return getattr(_phrasebook(), key)  # type: ignore[no-any-return]


@cache
def _tones(topic: str, holds: bool, scope: str) -> tuple[Tone, ...]:
    """Return the tones, `good` or `bad`, in which a scope has sentences that a `topic` holds, or does not."""
    return tuple(tone for tone, scoped in _phrases(topic, holds).items() if _wordings_for(scoped, scope))


def _phrases(topic: str, holds: bool) -> dict[Tone, Scoped]:
    """Return the sentences by tone about an attribute that holds, or does not."""
    phrases = _phrasebook().attributes[topic]
    return phrases.is_ if holds else phrases.is_not


def _wordings_for(scoped: Scoped, scope: str) -> tuple[str, ...]:
    """Return the sentences for a scope: those under `only SCOPE`, else those under `any` and `SCOPE`."""
    return scoped.get(f"only {scope}") or scoped.get("any", ()) + scoped.get(scope, ())


_SLOT = re.compile(r"\{(\w+)\}")
"""Pattern of a slot in a sentence, to be filled with a word."""


@cache
def _phrasebook() -> _Phrasebook:
    """Return the table of sentences for reviews, `data/reviews.yaml`."""
    return read_table("reviews", _Phrasebook)


UNREVIEWED = 0.03
"""Share of places without any rating; chosen."""
SPREAD = 0.9
"""Standard deviation of the natural logarithm of rating counts; chosen for a long tail."""
MOST_RATINGS = 2000
"""Largest number of ratings of a place."""
DEAR = (2, 2, 2, 3, 3, 4)
"""Price levels, 2 to 4, of places that are not cheap, each repeated by its share; chosen."""
NOISY_CROWDS = 0.8
"""Share of places drawn as both crowded and quiet, [0, 1], that are made not quiet; chosen."""


def draw_attributes(trade: Trade, rng: Random) -> dict[str, bool]:
    """Return whether a place has each hidden attribute, drawn with the chances of its trade."""
    attributes = {name: rng.random() < chance for name, chance in trade.attributes.items()}
    if attributes.get("crowded") and attributes.get("quiet") and rng.random() < NOISY_CROWDS:
        attributes["quiet"] = False
    return attributes


def draw_review_count(trade: Trade, rng: Random) -> int:
    """Return a random number of ratings for a place of a trade: few for most, very many for some."""
    return min(MOST_RATINGS, max(9, round(rng.lognormvariate(log(trade.visitors), SPREAD))))


def mean_rating(reviews: Sequence[Review], rng: Random) -> float:
    """Return the mean of all ratings of a place, near that of its reviews but closer to 4."""
    mean = sum(review.rating for review in reviews) / len(reviews)
    return round(4.0 + 0.85 * (mean - 4.0) + rng.uniform(-0.1, 0.1), 1)


def draw_price_level(attributes: Mapping[str, bool], rng: Random) -> int | None:
    """Return a random price level: 1 if cheap, else 2 to 4; `None` for trades without prices."""
    if "cheap" not in attributes:
        return None
    return 1 if attributes["cheap"] else rng.choice(DEAR)
