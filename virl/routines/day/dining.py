"""Where to eat: Aria is asked, as one colleague asks another."""

from collections.abc import Collection

from virl.agent.agent import Agent
from virl.agent.consult import consult
from virl.errors import NotFound
from virl.platform.places import Place
from virl.routines.clients.settings import Client
from virl.routines.day.activity import DayProgress
from virl.routines.day.coordinate import SHORTEST_VISIT
from virl.routines.day.prices import known_usd
from virl.routines.day.replies import DayDraft

WALK_MINUTES = 15.0  # longest walk to a meal; chosen, as Aria's own
CANDIDATES, REVIEWS = 8, 5  # V-IRL's Diego weighs 3, each with 5 reviews; here more, so that one can be paid


def recommend(
    agent: Agent, client: Client, wish: DayDraft, standing: DayProgress, *, key: str, apart: Collection[str]
) -> Place | None:
    """Aria's best candidate that the client can pay; `None` where she has none.

    Args:
        agent: who asks.
        client: who eats.
        wish: the meal as it was drafted.
        standing: where the client is.
        key: of the meal, once a run.
        apart: ids of places that will not do.

    Raises:
        VirlError: as `consult`.
    """
    here = {"lat": standing.here.lat, "lng": standing.here.lng}
    sort = "a cafe" if wish.place.strip().lower() == "cafe" else "a restaurant"
    words = (f"{client.name} is hungry and looks for {sort}: {wish.what}.", *standing.wishes)
    weekday = agent.character.clock.split()[0]
    result = consult(
        agent,
        "aria",
        f"meal-{key}",
        about=f"Where can {client.name} eat at {wish.starts}?",
        changes={
            "client": client.model_dump() | {"intention": " ".join(words), "where": here},
            "start": here,
            "clock": f"{weekday} {wish.starts}",
            "recommend": {
                "within_minutes": WALK_MINUTES,
                "stay_minutes": SHORTEST_VISIT,
                "candidates": CANDIDATES,
                "reviews": REVIEWS,
            },
        },
    )
    candidates = result.answer.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else []:
        try:
            place = agent.city.places.details(str(candidate["id"]))
        except NotFound:
            continue
        usd = known_usd(place, meal=True)
        if place.id not in apart and (usd is None or usd <= standing.budget_usd):
            return place
    return None
