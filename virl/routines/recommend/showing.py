"""The end of a recommendation: the pick, why not the others, and what the report shows."""

from collections.abc import Sequence

from virl.agent.agent import Agent
from virl.geo.globe import LatLng
from virl.journal.film import PICTURE
from virl.mind.wishes import requested_attributes
from virl.pages.exhibits import MapExhibit, MapPoint, TableExhibit, TextExhibit
from virl.plain_text import capitalize
from virl.platform.city.claims import PlaceClaim
from virl.platform.city.outcome import Outcome
from virl.platform.city.places import moment_in_words
from virl.routines.by_tools.picturing import keep_picture
from virl.routines.client import walk_in_words
from virl.routines.directions.destination import describe_nearest
from virl.routines.recommend.rules import NOBODY_SAYS
from virl.routines.recommend.search import Errand, Search
from virl.routines.recommend.weigh import UNKNOWN, Candidate, is_unsure, rank_candidates, why_not

RUNNERS_UP = 4  # whose reasons the report spells out; the answer has all (chosen)
COLUMNS = ("place", "rating of 10", "minutes on foot", "stars of 5", "price level", "open", "why")


def recommend(agent: Agent, errand: Errand, search: Search, candidates: Sequence[Candidate]) -> None:
    """End the run with the best candidate, or with the reason why there is none.

    Args:
        agent: agent who recommends.
        errand: the client and their position.
        search: places found within reach.
        candidates: rated candidates among them.
    """
    best = rank_candidates(candidates)
    if not best:
        agent.run.end(
            Outcome("not found", _nothing_found(agent, search, errand.position)),
            answer=_answer_data(search, best),
            exhibits=_unreached_texts(search),
        )
        return
    pick = best[0]
    unrated = [f"{agent.city.lacks}: nothing tells how good it is."] if agent.city.lacks else []
    reasons = pick.reason.rstrip(".").split("; ")
    untold = [one for one in reasons if one.lower().startswith(NOBODY_SAYS)]
    lacking = [*unrated, *(f"{capitalize(one)}." for one in untold)]
    wishes = requested_attributes(errand.client.background, errand.client.intention)
    others = best[1 : RUNNERS_UP + 1]
    text = "\n\n".join(f"{one.name}: {why_not(one, best[0])}" for one in others)
    hours = "opening hours unknown" if pick.open == UNKNOWN else f"open {pick.open}"
    reason = (
        f"{pick.name} for {errand.client.name}: {pick.rating:g} of 10, "
        f"{walk_in_words(pick.minutes)} on foot, {hours}."
    )
    table = TableExhibit(
        title="Candidates",
        columns=COLUMNS,
        rows=tuple(
            (one.name, one.rating, round(one.minutes), one.stars, one.price_level, one.open, one.reason)
            for one in best
        ),
        picked=0,
        note="Best first; equal ratings by shorter walk, then by more stars. No place is closed or too far.",
    )
    picked = pick.record(picked=True)
    picture = keep_picture(agent, reason, picked, is_view=False)
    agent.run.end(
        Outcome("found", " ".join([reason, *lacking]), pick.name),
        picked,
        answer=_answer_data(search, best) | {"not_known": lacking, PICTURE: picture},
        claims=[PlaceClaim(pick.id, pick.name, search.place_types, wishes, agent.character.day_and_minute)],
        exhibits=[
            table,
            *([TextExhibit(title=f"Why {best[0].name} ranks above these", text=text)] if others else []),
            *(TextExhibit(title="What is not known", text=text) for text in lacking),
            *_unreached_texts(search),
            _candidates_map(errand, best),
        ],
    )


def _unreached_texts(search: Search) -> list[TextExhibit]:
    """Return one text that names the places without a way there; empty if there are none."""
    text = f"No way leads to {', '.join(search.unreached)}."
    return [TextExhibit(title="Out of reach", text=text)] if search.unreached else []


def _nothing_found(agent: Agent, search: Search, here: LatLng) -> str:
    """Return sentences on why no place suits, with advice on what to change."""
    kinds = " or ".join(name.replace("_", " ") for name in search.place_types)
    within = f"within {walk_in_words(search.limit_minutes)} on foot"
    if not search.found:
        near = describe_nearest(agent.city.places, search.place_types[0], here, agent.senses.place_types)
        return f"There is no {kinds} {within}{near}. Allow a longer walk, or wish for something else."
    unsure = sum(is_unsure(agent, found.id) for found in search.found)
    unlisted = f" ({unsure} of unknown hours were skipped)" if unsure else ""
    return (
        f"None of {len(search.found)} places of the kind {kinds} {within} is known to be open{unlisted} on "
        f"{moment_in_words(*agent.character.day_and_minute)}: come at another time, or allow a longer walk."
    )


def _answer_data(search: Search, best: Sequence[Candidate]) -> dict[str, object]:
    """Return the run's answer as data: the pick, the search's limits, and all candidates."""
    return {
        "pick": best[0].id if best else None,
        "rating": best[0].rating if best else None,
        "place_types": list(search.place_types),
        "limit_minutes": search.limit_minutes,
        "candidates": [
            one.model_dump(mode="json", exclude={"summary"})
            | {"why_not": "" if one is best[0] else why_not(one, best[0])}
            for one in best
        ],
    }


def _candidates_map(errand: Errand, best: Sequence[Candidate]) -> MapExhibit:
    """Return the map of the client and the candidates, numbered from the best."""
    here = MapPoint(lat=errand.position.lat, lng=errand.position.lng, label=errand.client.name, style="start")
    return MapExhibit(
        title="Places within walking distance",
        points=(
            here,
            *(
                MapPoint(
                    lat=one.lat,
                    lng=one.lng,
                    label=one.name,
                    text=f"{one.rating:g} of 10. {one.reason}",
                    mark=str(number),
                    style="pick" if number == 1 else "candidate",
                )
                for number, one in enumerate(best, 1)
            ),
        ),
    )
