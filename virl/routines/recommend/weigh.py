"""Weighing candidates: is it open, what do visitors say, how well does it suit the client."""

from collections.abc import Iterator, Sequence

from virl.agent.agent import Agent
from virl.errors import NotFound
from virl.platform.city.places import Place
from virl.routines.clients.replies import Rating
from virl.routines.explore.deciding import summarize_reviews
from virl.routines.recommend.candidate import UNKNOWN, Candidate
from virl.routines.recommend.hours import DAY_MIN, closes_at, hours_in_words
from virl.routines.recommend.search import Errand, PlaceInReach, Search
from virl.routines.recommend.settings import RECOMMEND

TOPIC = "candidate"
UNSURE_TOPIC = "candidate of unknown hours"
CLOSED, GONE, UNSURE, WEIGHED = "closed", "gone", "unknown hours", "weighed"


def weigh_all(agent: Agent, errand: Errand, search: Search) -> list[Candidate]:
    """Return the candidates, in the order of their promise, until enough are weighed.

    What was noted is kept.

    Args:
        agent: whose run it is.
        errand: of the client.
        search: the places that were found.
    """
    asked = RECOMMEND.of(agent.character)
    candidates = _weigh_each(agent, errand, search.found, TOPIC, unsure=asked.unknown_hours == "allow")
    if candidates or asked.unknown_hours != "last":
        return candidates
    unsure = [found for found in search.found if is_unsure(agent, found.id)]
    return _weigh_each(agent, errand, unsure, UNSURE_TOPIC, unsure=True)


def is_unsure(agent: Agent, place_id: str) -> bool:
    """Return whether a place was found whose opening hours nobody knows."""
    noted = agent.run.find_note(TOPIC, place_id)
    return noted is not None and noted.data["state"] == UNSURE


def _weigh_each(
    agent: Agent, errand: Errand, places: Sequence[PlaceInReach], topic: str, *, unsure: bool
) -> list[Candidate]:
    """Return the candidates among these places, one after the other, until there are enough."""
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
    """Yield the candidate, or nothing if it is not open.

    Those of unknown hours only if they are asked for.
    """
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
    opened = _open(agent, place, found.minutes, unsure=unsure)
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


def _open(agent: Agent, place: Place, minutes: float, *, unsure: bool) -> str | None:
    """Say until when the place is open, if it is now, at the arrival and for the stay; else `None`."""
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
    """Ask the mind to rate a place by its reviews, and return the candidate; `opened` are its hours."""
    summary, reviews = summarize_reviews(agent, place, RECOMMEND.of(agent.character).reviews)
    client = errand.client
    rated = agent.mind.ask(
        agent.prompts.load("recommend/rating", Rating),
        rule_inputs={"reviews": reviews},
        name=client.name,
        background=client.background,
        intention=client.intention,
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
