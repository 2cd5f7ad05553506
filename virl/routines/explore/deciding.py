"""Deciding what to look for, and whether to enter a place."""

from collections.abc import Mapping, Sequence

from virl.agent.agent import Agent
from virl.errors import NotFound
from virl.journal.convert import place_record
from virl.journal.records import PlaceRecord
from virl.platform.city.places import Place
from virl.routines.explore.rules import PlaceDecision, PlaceSummary, PlaceType

GONE = "The directory lists it, but no longer knows it."
"""Reason not to enter a place that the directory lists without knowing its details."""
REVIEWS_READ = 5  # as in the configuration that V-IRL was published with


def sought_type(agent: Agent) -> str:
    """Return the place type that would fulfil the intention; the mind is asked once a run."""
    asked = (one.reply for step in agent.run.steps[:1] for one in step.asked)
    known = next((str(reply["place_type"]) for reply in asked if "place_type" in reply), None)
    return (
        known
        or agent.mind.ask(
            agent.prompts.load("explore/place-type", PlaceType),
            intention=agent.character.intention,
            place_types=list(agent.senses.place_types),
        ).place_type
    )


def summarize_reviews(agent: Agent, place: Place, most: int) -> tuple[str, Sequence[Mapping[str, object]]]:
    """Return (summary of a place's reviews in at most 80 words, reviews that were read).

    Args:
        agent: whose mind is asked; not at all if the place has no reviews.
        place: with its reviews.
        most: upper bound on the number of reviews that are read.
    """
    reviews = [{"rating": review.rating, "text": review.text} for review in place.reviews[:most]]
    if not reviews:
        return "", reviews
    prompt = agent.prompts.load("explore/summary", PlaceSummary)
    return agent.mind.ask(prompt, name=place.name, rating=place.rating, reviews=reviews).summary, reviews


def consider(agent: Agent, place: Place) -> PlaceRecord:
    """Return the record of a place with the decision to enter it or not, by its details and reviews."""
    try:
        place = agent.city.places.details(place.id)
    except NotFound:
        return place_record(place, decision="continue", reason=GONE)
    summary, reviews = summarize_reviews(agent, place, REVIEWS_READ)
    decision = agent.mind.ask(
        agent.prompts.load("explore/decision", PlaceDecision),
        rule_inputs={"reviews": reviews},
        name=agent.character.name,
        background=agent.character.background,
        intention=agent.character.intention,
        place={
            "name": place.name,
            "types": list(place.types),
            "rating": place.rating,
            "price_level": place.price_level,
            "closed_for_good": not place.is_open,
            "open_now": place.open_at(*agent.character.day_and_minute) if place.hours else None,
            **place.traits,
        },
        summary=summary,
        reviewed=agent.city.capabilities.has_reviews,
    )
    return place_record(place, summary=summary, decision=decision.action, reason=decision.reason)
