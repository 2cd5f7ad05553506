"""Weighing candidates: is it open, and how long, what do visitors say, how well does it suit."""

from collections.abc import Iterator, Sequence

from virl.agent.agent import Agent
from virl.errors import NotFound
from virl.files.json_reading import JsonRecord
from virl.journal.records import PlaceRecord
from virl.platform.city.places import DAY_NAMES, Place
from virl.routines.client import Rating, walk_in_words
from virl.routines.explore.deciding import summarize_reviews
from virl.routines.recommend.search import Errand, PlaceInReach, Search
from virl.routines.recommend.settings import RECOMMEND

DAY_MIN, WEEK_MIN = 1440, 7 * 1440
UNKNOWN = "unknown"
"""Text that stands for unknown opening hours."""
TOPIC = "candidate"
"""Topic under which the journal keeps its notes on candidates."""
UNSURE_TOPIC = "candidate of unknown hours"
"""Topic under which the journal keeps its notes on candidates of unknown hours, weighed after all."""
CLOSED, GONE, UNSURE, WEIGHED = "closed", "gone", "unknown hours", "weighed"


class Candidate(JsonRecord):
    """A place within reach and, as far as known, open, with its rating for the client."""

    id: str
    name: str
    types: tuple[str, ...]
    lat: float
    lng: float
    address: str
    stars: float | None
    """Mean of all public ratings, 1 to 5 stars; `None` without ratings."""
    review_count: int
    price_level: int | None
    minutes: float
    """Minutes on foot from the client."""
    metres: int
    """Metres in a straight line from the client."""
    open: str
    """Closing time, such as `"until 22:00"`; `"unknown"` for unknown hours."""
    summary: str
    """Summary of the reviews."""
    rating: float
    """Rating for the client, 0 to 10."""
    reason: str

    def record(self, *, picked: bool) -> PlaceRecord:
        """Return the candidate as the journal's record of a place, `picked` or left aside."""
        # In the journal, a place's rating is the public one.
        shared = self.model_dump(include=set(PlaceRecord.model_fields) - {"rating"})
        return PlaceRecord(**shared, rating=self.stars, decision="enter" if picked else "continue")


def weigh_all(agent: Agent, errand: Errand, search: Search) -> list[Candidate]:
    """Return rated candidates, the most promising places first, until enough are rated.

    Args:
        agent: agent who recommends.
        errand: the client and their position.
        search: places found within reach, the most promising first.
    """
    asked = RECOMMEND.of(agent.character)
    candidates = _weigh_each(agent, errand, search.found, TOPIC, unsure=asked.unknown_hours == "allow")
    if candidates or asked.unknown_hours != "last":
        return candidates
    unsure = [found for found in search.found if is_unsure(agent, found.id)]
    return _weigh_each(agent, errand, unsure, UNSURE_TOPIC, unsure=True)


def closes_at(place: Place, minute: int) -> int | None:
    """Return the minute of the week at which a place open at `minute` closes; `None` if it is closed then.

    Both are in minutes after midnight of Monday, and may lie in a later week. A week on stands for ever.
    """
    end = minute
    while end - minute < WEEK_MIN:
        now = end % WEEK_MIN
        # An opening may have begun in the week before; openings that touch are one.
        lasts = max(
            (
                stretch.day * DAY_MIN + stretch.closes - when
                for stretch in place.hours
                for when in (now, now + WEEK_MIN)
                if stretch.day * DAY_MIN + stretch.opens <= when < stretch.day * DAY_MIN + stretch.closes
            ),
            default=0,
        )
        if lasts <= 0:
            break
        end += lasts
    return None if end == minute else min(end, minute + WEEK_MIN)


def hours_in_words(end: int, minute: int) -> str:
    """Return a closing time as text, seen from an earlier minute of the week: "until Saturday at 02:00"."""
    if end - minute >= WEEK_MIN:
        return "round the clock"
    clock = f"{end // 60 % 24:02d}:{end % 60:02d}"
    same_day = (
        end // DAY_MIN == minute // DAY_MIN or end % WEEK_MIN == (minute // DAY_MIN + 1) * DAY_MIN % WEEK_MIN
    )
    if same_day and end % DAY_MIN == 0:
        return "until 24:00"
    return f"until {clock}" if same_day else f"until {DAY_NAMES[end // DAY_MIN % 7]} at {clock}"


def rank_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates sorted by rating, best first; equal ones by walk, stars and id."""
    return sorted(candidates, key=lambda one: (-one.rating, round(one.minutes), -(one.stars or 0.0), one.id))


def why_not(candidate: Candidate, pick: Candidate) -> str:
    """Return a sentence on why a candidate comes after the pick."""
    if candidate.rating < pick.rating:
        lead = f"{candidate.rating:g} against {pick.rating:g}"
    elif round(candidate.minutes) > round(pick.minutes):
        farther = round(candidate.minutes) - round(pick.minutes)
        lead = f"as good ({candidate.rating:g}), but {walk_in_words(farther)} farther"
    elif (candidate.stars or 0.0) < (pick.stars or 0.0):
        lead = f"as good and as near, but rated {candidate.stars or 0:.1f} of 5 against {pick.stars:.1f}"
    else:
        lead = "as good in every respect: one of the two had to come first"
    return f"{lead}. {candidate.reason}"


def is_unsure(agent: Agent, place_id: str) -> bool:
    """Return whether a place was passed over because its opening hours are unknown."""
    noted = agent.run.find_note(TOPIC, place_id)
    return noted is not None and noted.data["state"] == UNSURE


def _weigh_each(
    agent: Agent, errand: Errand, places: Sequence[PlaceInReach], topic: str, *, unsure: bool
) -> list[Candidate]:
    """Return rated candidates among places until there are enough; of unknown hours only if `unsure`."""
    candidates: list[Candidate] = []
    most = RECOMMEND.of(agent.character).candidates
    for found in places:
        if len(candidates) == most:
            break
        agent.run.progress("weighing candidates", len(candidates), most)
        candidates += _weigh(agent, errand, found, topic, unsure=unsure)
    agent.run.progress("weighing candidates", most, most)
    return candidates


def _weigh(
    agent: Agent, errand: Errand, found: PlaceInReach, topic: str, *, unsure: bool
) -> Iterator[Candidate]:
    """Yield a place as a rated candidate; nothing if closed, or if of unknown hours unless `unsure`."""
    if noted := agent.run.find_note(topic, found.id):
        if noted.data["state"] == WEIGHED:
            yield Candidate.model_validate(noted.data["candidate"])
        return
    try:
        place = agent.city.places.details(found.id)
    except NotFound:
        words = f"{found.id} is listed as a place, but the directory no longer knows it."
        agent.run.note(topic, found.id, words, data={"state": GONE})
        return
    opened = _opening_text(agent, place, found.minutes, unsure=unsure)
    if opened is None:
        unknown = place.is_open and not place.hours
        agent.run.note(
            topic,
            place.id,
            f"{place.name} is {'of unknown hours' if unknown else 'closed then'}.",
            data={"state": UNSURE if unknown else CLOSED, "name": place.name},
        )
        return
    candidate = _rate_candidate(agent, errand, place, found, opened)
    agent.run.note(
        topic,
        place.id,
        f"{candidate.rating:g} of 10. {candidate.reason}",
        title=place.name,
        data={"state": WEIGHED, "candidate": candidate.model_dump(mode="json")},
    )
    yield candidate


def _opening_text(agent: Agent, place: Place, minutes: float, *, unsure: bool) -> str | None:
    """Return a place's closing time in words, `UNKNOWN` if not listed and `unsure`, `None` if unsuitable."""
    asked = RECOMMEND.of(agent.character)
    if not place.is_open:
        return None
    if not place.hours:
        return UNKNOWN if unsure else None
    day, minute = agent.character.day_and_minute
    now = day * DAY_MIN + minute
    end = closes_at(place, now)
    if end is None or end < now + minutes + asked.stay_minutes:
        return None
    return hours_in_words(end, now)


def _rate_candidate(
    agent: Agent, errand: Errand, place: Place, found: PlaceInReach, opened: str
) -> Candidate:
    """Return a place as a candidate, rated by the mind; `opened` are its hours in words."""
    summary, reviews = summarize_reviews(agent, place, RECOMMEND.of(agent.character).reviews)
    rated = agent.mind.ask(
        agent.prompts.load("recommend/rating", Rating),
        rule_inputs={"reviews": reviews},
        **errand.client.texts,
        place={
            "name": place.name,
            "types": list(place.types),
            "rating": place.rating,
            "review_count": place.review_count,
            "price_level": place.price_level,
            "walk_minutes": round(found.minutes, 1),
            "open": opened,
            **place.traits,
        },
        summary=summary,
    )
    return Candidate(
        id=place.id,
        name=place.name,
        types=place.types,
        lat=place.position.lat,
        lng=place.position.lng,
        address=place.address,
        stars=place.rating,
        review_count=place.review_count,
        price_level=place.price_level,
        minutes=round(found.minutes, 1),
        metres=found.metres,
        open=opened,
        summary=summary,
        rating=rated.rating,
        reason=rated.explanation,
    )
