"""Looking for homes: which are in the districts, within the price window and of the right size."""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict
from shapely import Polygon, intersects_xy

from virl.agent.assembly import Agent
from virl.drawing.numbers import counted
from virl.errors import BadInput
from virl.platform.listings import Listing
from virl.routines.clients.settings import served
from virl.routines.homes.areas import areas_of
from virl.routines.homes.home import Home
from virl.routines.homes.replies import HomeWant, HomeWants
from virl.routines.homes.settings import RENT, Renting
from virl.routines.homes.source import ListingSource, opened_source

WANTS, HOMES = "wants", "homes"
KEY = "all"


class HomeSearch(BaseModel):
    """What was looked for, and what was found."""

    model_config = ConfigDict(frozen=True)

    areas: tuple[str, ...]
    homes: tuple[Home, ...]
    """Cheapest first."""
    skipped: tuple[str, ...]
    """What was left out and why, one line a listing."""


def wants_of(agent: Agent) -> tuple[HomeWant, ...]:
    """The sorts of places that matter to the client, once a run."""
    if noted := agent.run.noted(WANTS, KEY):
        return HomeWants.model_validate(noted.data).wants
    client = served(agent.character)
    reply = agent.mind.ask(
        agent.prompts.load("homes/wants", HomeWants),
        name=client.name,
        background=client.background,
        intention=client.intention,
        place_types=list(agent.senses.place_types),
    )
    told = ", ".join(_in_words(want) for want in reply.wants) or "no sort of place in particular"
    agent.run.note(
        WANTS,
        KEY,
        f"What matters to {client.name}: {told}.",
        data=reply.model_dump(mode="json"),
    )
    return reply.wants


def search_homes(agent: Agent) -> HomeSearch:
    """The homes that come into question, once a run.

    Raises:
        BadInput: the character has no `rent:`, or its areas or listings cannot be read.
        ProviderError: RentCast refuses or cannot be reached.
        BudgetExceeded: a request to RentCast would cost more than is left.
    """
    if noted := agent.run.noted(HOMES, KEY):
        return HomeSearch.model_validate(noted.data)
    rent = RENT.of(agent.character)
    if rent is None:
        raise BadInput(f"{agent.source}: `rent:` is missing: give at least `rent: {{price: [1000, 2000]}}`")
    areas = areas_of(agent)
    with opened_source(agent) as source:
        found, unsure = _found(source, areas, rent)
    skipped = (*source.faults, *unsure, *_outside(source.all, areas, agent.city.title))
    made = HomeSearch(areas=tuple(areas), homes=tuple(Home.of(one) for one in found), skipped=skipped)
    agent.run.note(
        HOMES,
        KEY,
        f"{counted(len(made.homes), 'home')} for rent in {', '.join(made.areas)} for {rent.price[0]:.0f} to "
        f"{rent.price[1]:.0f} dollars{_unknown(found)}; {counted(len(skipped), 'listing')} skipped.",
        data=made.model_dump(mode="json"),
        cost=source.cost,
    )
    return made


def _found(
    source: ListingSource, areas: dict[str, Polygon], rent: Renting
) -> tuple[list[Listing], list[str]]:
    """The homes that suit, cheapest first, and a line for each of which nobody knows whether it does."""
    listed = (listing for area in areas.values() for listing in source.listings.rentals(area, rent.price))
    priced = {listing.id: listing for listing in listed if _is_paid(listing, rent)}
    homes = sorted(priced.values(), key=lambda one: (one.price, one.id))
    if rent.bedrooms is None:
        return homes, []
    fewest, most = rent.bedrooms
    unsure = [
        f"{one.address}: how many bedrooms it has is unknown, and {fewest} to {most} are wanted"
        for one in homes
        if one.bedrooms is None
    ]
    return [one for one in homes if one.bedrooms is not None and fewest <= one.bedrooms <= most], unsure


def _is_paid(listing: Listing, rent: Renting) -> bool:
    low, high = rent.price
    return low < listing.price < high if rent.bounds == "strict" else low <= listing.price <= high


def _unknown(homes: Iterable[Listing]) -> str:
    count = sum(one.bedrooms is None for one in homes)
    return f", {count} of them with an unknown number of bedrooms" if count else ""


def _outside(listings: Iterable[Listing], areas: dict[str, Polygon], title: str) -> Iterator[str]:
    for one in listings:
        lng, lat = one.position.lng, one.position.lat
        if not any(intersects_xy(area, lng, lat) for area in areas.values()):
            yield f"{one.address}: lies outside {', '.join(areas) or title}"


def _in_words(want: HomeWant) -> str:
    kind = want.place_type.replace("_", " ")
    weight = {1: "perhaps ", 2: "", 3: "above all "}[want.importance]
    return f"{weight}{kind}{'' if want.near else ' far away'}"
