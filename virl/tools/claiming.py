"""Claims of an agent that uses tools: the place it chose, and what its detector found on the way."""

from collections import Counter
from collections.abc import Iterable

from pydantic import AliasChoices, BaseModel, Field

from virl.agent.agent import Agent
from virl.geo.globe import LatLng
from virl.journal.records import NoteRecord, PlaceRecord
from virl.mind.lexicon import load_lexicon
from virl.mind.wishes import kinds_wanted, requested_attributes
from virl.platform.city.claims import Claim, CountClaim, PlaceClaim
from virl.tools.base import Listing
from virl.tools.body import BodyState
from virl.tools.looking import Find

DETECT = "detect"
"""Name of the tool that finds things."""


def claims_of(agent: Agent, place: PlaceRecord | None, notes: Iterable[NoteRecord]) -> list[Claim]:
    """Return the claims of a run by tools that ends.

    Args:
        agent: whose intention says what was wished for.
        place: the place that it chose.
        notes: of the tools that it used, in their order.
    """
    character, lexicon = agent.character, load_lexicon()
    claims: list[Claim] = []
    if place:
        types = tuple(kinds_wanted(character.intention, lexicon.kinds, lexicon))
        wishes = requested_attributes(character.background, character.intention)
        claims.append(PlaceClaim(place.id, place.name, types, wishes, character.day_and_minute))
    looks = [_Look.model_validate(one.data) for one in notes if one.data.get("name") == DETECT]
    at_once: Counter[str] = Counter()
    stood: dict[str, LatLng] = {}
    for look in looks:
        if look.data:
            found = Counter(one.label for one in look.data.items if one.is_sure)
            at_once |= found + Counter()
            at_once.update(dict.fromkeys({*look.asked.labels, *found} - {*at_once}, 0))
            pano_id = look.standing.pano_id
            stood[pano_id] = agent.city.streetview.panorama(pano_id).position
    return [
        *claims,
        *(
            CountClaim(kind, (), tuple(stood.values()), at_once=count)
            for kind, count in sorted(at_once.items())
        ),
    ]


class _Asked(BaseModel):
    """The arguments of a look."""

    labels: tuple[str, ...] = ()


class _Look(BaseModel):
    """A use of `detect`, as a note has it."""

    standing: BodyState
    asked: _Asked = Field(validation_alias=AliasChoices("args", "arguments"))
    data: Listing[Find] | None = None
    """The finds; `None` where the tool failed."""
