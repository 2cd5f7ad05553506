"""A place that was weighed for a client, and the order that candidates are ranked in."""

from collections.abc import Sequence

from virl.files.json_reading import JsonRecord
from virl.journal.records import PlaceRecord
from virl.routines.clients.walks import walk_in_words

UNKNOWN = "unknown"
"""The text in place of opening hours that nobody knows."""


class Candidate(JsonRecord):
    """A place that is open, as far as is known, and near, and how well it suits."""

    id: str
    name: str
    types: tuple[str, ...]
    lat: float
    lng: float
    address: str
    stars: float | None
    """Mean of all public ratings, 1 to 5."""
    review_count: int
    price_level: int | None
    minutes: float
    """The minutes on foot from the client."""
    metres: int
    """The metres as the crow flies."""
    open: str
    """Until when, such as `"until 22:00"`; `"unknown"` where nobody knows the hours."""
    summary: str
    """A summary of the visitors' words."""
    rating: float
    """0 to 10: how well it suits the client."""
    reason: str

    def record(self, *, picked: bool) -> PlaceRecord:
        """Return the place as a journal holds it."""
        return PlaceRecord(
            id=self.id,
            name=self.name,
            types=self.types,
            lat=self.lat,
            lng=self.lng,
            address=self.address,
            rating=self.stars,
            review_count=self.review_count,
            price_level=self.price_level,
            summary=self.summary,
            decision="enter" if picked else "continue",
            reason=self.reason,
        )


def rank_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates, best first. Among equal ratings: the shorter walk, then more stars, then the id."""
    return sorted(candidates, key=lambda one: (-one.rating, round(one.minutes), -(one.stars or 0.0), one.id))


def why_not(candidate: Candidate, pick: Candidate) -> str:
    """Return a sentence on the reason for which a runner-up comes behind the pick."""
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
