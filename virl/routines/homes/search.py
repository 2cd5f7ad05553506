"""A search for homes: which are in the client's districts, within the price window and of the right size.

Listings come from the city's provider, a file of RentCast records, or the RentCast API.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from shapely import Point, Polygon, intersects_xy

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.errors import BadInput
from virl.files.json_reading import JsonRecord
from virl.geo.globe import LatLng, LocalFrame
from virl.geo.region import Region
from virl.journal.convert import requests_record
from virl.journal.records import CostRecord
from virl.mind.lexicon import load_lexicon
from virl.money.ledger import Ledger
from virl.pages.numbers import count_noun
from virl.platform.city.city import City, Listing, Listings
from virl.platform.providers.cities import city_settings, region_called, region_of_city
from virl.platform.providers.provider import Access
from virl.platform.providers.rentcast.client import open_rentcast
from virl.platform.providers.rentcast.listings import RentCastListings, read_listings
from virl.routines.client import client_of
from virl.routines.counting.routine import region_of
from virl.routines.homes.rules import HomeWant, HomeWants, bedrooms_in_words, highest_rent
from virl.routines.homes.settings import RENT, Area, Circle, Renting

CITY, RENTCAST = "city", "rentcast"
"""Names of sources of listings: the city's provider, and the RentCast API."""
_CIRCLE_CORNERS = 64  # of the polygon that stands for a circle: within 0.2 % of its area
WANTS, HOMES = "wants", "homes"
KEY = "all"


class Home(JsonRecord):
    """A home for rent, as recorded in the journal."""

    id: str
    address: str
    lat: float
    lng: float
    price: float
    """Rent in US dollars a month."""
    property_type: str
    bedrooms: int | None
    """Number of bedrooms, 0 for a studio; `None` if not listed."""
    bathrooms: float | None
    area: float | None
    """Floor area in square metres; `None` if not listed."""
    year_built: int | None

    @classmethod
    def of(cls, listing: Listing) -> "Home":
        """Return the record of a listing."""
        facts = asdict(listing)
        at: LatLng = facts.pop("position")
        return cls(**facts, lat=at.lat, lng=at.lng)

    @property
    def size(self) -> str:
        """Bedrooms and area as text, such as `"2 bedrooms, 64 square metres"`."""
        rooms = bedrooms_in_words(self.bedrooms)
        return rooms if self.area is None else f"{rooms}, {self.area:.0f} square metres"


class Near(JsonRecord):
    """The nearest place of a type to a home, by minutes on foot."""

    place_type: str
    name: str = ""
    walk_minutes: float | None = None
    """Minutes on foot from the home; `None` if no place of the type is within reach."""
    count: int = 0
    """Number of places of the type within reach; 0 if none can be walked to."""


class Rated(JsonRecord):
    """A home with the places near it, and its rating for a client."""

    home: Home
    nearby: tuple[Near, ...]
    rating: float
    """Rating of how well the home suits, 0 to 10."""
    reason: str


class HomeSearch(JsonRecord):
    """The result of a search for homes: the homes found, and the listings left out."""

    areas: tuple[str, ...]
    homes: tuple[Home, ...]
    """Homes found, the cheapest first."""
    skipped: tuple[str, ...]
    """Sentences on listings that were left out, with reasons."""


def wants_of(agent: Agent) -> tuple[HomeWant, ...]:
    """Return the place types that matter to the client; the mind is asked once a run."""
    if noted := agent.run.find_note(WANTS, KEY):
        return HomeWants.model_validate(noted.data).wants
    client = client_of(agent.character)
    reply = agent.mind.ask(
        agent.prompts.load("homes/wants", HomeWants),
        **client.texts,
        place_types=list(agent.senses.place_types),
    )
    weights = {1: "perhaps ", 2: "", 3: "above all "}
    told = ", ".join(
        f"{weights[want.importance]}{want.place_type.replace('_', ' ')}{'' if want.near else ' far away'}"
        for want in reply.wants
    )
    agent.run.note(
        WANTS,
        KEY,
        f"What matters to {client.name}: {told or 'no sort of place in particular'}.",
        data=reply.model_dump(mode="json"),
    )
    return reply.wants


def rent_of(agent: Agent) -> Renting:
    """Return the search's settings, the highest rent lowered to what the client's words allow.

    Raises:
        BadInput: the character has no `rent:`.
    """
    rent = RENT.of(agent.character)
    if rent is None:
        raise BadInput(f"{agent.source}: `rent:` is missing: give at least `rent: {{price: [1000, 2000]}}`")
    most = highest_rent(client_of(agent.character).intention, load_lexicon())
    if most is None or most >= rent.price[1]:
        return rent
    return rent.model_copy(update={"price": (min(rent.price[0], most), most)})


def search_homes(agent: Agent) -> HomeSearch:
    """Return the homes that match the settings, searched once a run and noted.

    Raises:
        BadInput: the character has no `rent:`, or its areas or listings cannot be read.
        ProviderError: RentCast refuses or cannot be reached.
        BudgetExceeded: a request to RentCast would cost more than is left.
    """
    if noted := agent.run.find_note(HOMES, KEY):
        return HomeSearch.model_validate(noted.data)
    rent, areas = rent_of(agent), _areas_of(agent)
    with _opened_source(agent, rent.listings) as source:
        found, unsure = _find_homes(source, areas, rent)
    outside = [
        f"{one.address}: lies outside {', '.join(areas) or agent.city.title}"
        for one in source.all
        if not any(intersects_xy(area, one.position.lng, one.position.lat) for area in areas.values())
    ]
    skipped = (*source.faults, *unsure, *outside)
    made = HomeSearch(areas=tuple(areas), homes=tuple(Home.of(one) for one in found), skipped=skipped)
    unsized = sum(one.bedrooms is None for one in found)
    rooms = f", {unsized} of them with an unknown number of bedrooms" if unsized else ""
    agent.run.note(
        HOMES,
        KEY,
        f"{count_noun(len(made.homes), 'home')} for rent in {', '.join(made.areas)} for {rent.price[0]:.0f} "
        f"to {rent.price[1]:.0f} dollars{rooms}; {count_noun(len(skipped), 'listing')} skipped.",
        data=made.model_dump(mode="json"),
        cost=source.cost,
    )
    return made


class NoListings(BadInput):
    """Error raised if the city's provider has no homes for rent."""


@dataclass(slots=True)
class _Source:
    """A source of homes for rent, with the faults of its listings and the cost of asking it."""

    listings: Listings
    all: Sequence[Listing] = ()
    """All listings; empty if the source must be asked by area."""
    faults: Sequence[str] = ()
    """Faults of listings that were left out, in words."""
    cost: CostRecord | None = None


@contextmanager
def _opened_source(agent: Agent, name: str) -> Iterator[_Source]:
    """Yield the opened source of listings with a name: `city`, `rentcast`, or the path of a file."""
    if name == CITY:
        if agent.city.listings is None:
            raise NoListings(
                f"{agent.city.title} has no homes for rent: set `rent: listings:` to rentcast or a JSON file"
            )
        yield _Source(agent.city.listings)
    elif name == RENTCAST:
        asked = agent.run.start.access
        ledger = Ledger()  # one of its own: the note on the listings has their cost
        ledger.book = agent.run.ledger.book
        access = Access(
            ledger,
            asked.cache,
            agent.run.start.id,
            Path(asked.record) if asked.record else None,
            Path(asked.replay) if asked.replay else None,
            agent.city.left_out,
        )
        with open_rentcast(access) as http:
            provider = RentCastListings(http)
            source = _Source(provider)
            yield source
            source.faults = tuple(provider.faults)
            spent = requests_record(ledger.take())
            source.cost = CostRecord(usd=spent.usd, requests=spent)
    else:
        add = agent.city.left_out.add
        held = read_listings(agent.source.parent / name, lambda reason, part: add(name, reason, part))
        yield _Source(held, held.all, held.faults)


def _find_homes(source: _Source, areas: dict[str, Polygon], rent: Renting) -> tuple[list[Listing], list[str]]:
    """Return (homes in the areas with fitting price and bedrooms, sentences on homes of unknown bedrooms)."""
    listed = (listing for area in areas.values() for listing in source.listings.rentals(area, rent.price))
    low, high = rent.price
    priced = {
        one.id: one
        for one in listed
        if (low < one.price < high if rent.bounds == "strict" else low <= one.price <= high)
    }
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


def _areas_of(agent: Agent) -> dict[str, Polygon]:
    """Return the polygons of the search's areas by label, points as (longitude, latitude) in degrees."""
    rent = RENT.of(agent.character)
    if rent is None or not rent.areas:
        return {agent.city.title: _region_outline(region_of(agent))}
    return {
        _area_label(area, number): _to_polygon(area, agent.source.parent)
        for number, area in enumerate(rent.areas, start=1)
    }


def areas_outside(character: Character, city: City) -> dict[str, Area]:
    """Return a character's areas that lie outside a city's region, by label."""
    rent, away = RENT.of(character), dict[str, Area]()
    with suppress(BadInput):  # a city without a region of its own may have any
        own = _region_outline(region_of_city(city))
        for number, area in enumerate(rent.areas if rent else (), start=1):
            with suppress(BadInput):  # a file beside the character's
                if not own.intersects(_to_polygon(area, Path())):
                    away[_area_label(area, number)] = area
    return away


def _area_label(area: Area, number: int) -> str:
    """Return an area's label: the name of its file or polygon, else its number from 1."""
    return Path(area).stem if isinstance(area, str) else f"area {number}"


def _to_polygon(area: Area, folder: Path) -> Polygon:
    """Return an area's polygon, x = longitude, y = latitude in degrees; files are sought in `folder`."""
    if isinstance(area, Circle):
        frame = LocalFrame(LatLng(area.lat, area.lng))
        ring = Point(0.0, 0.0).buffer(area.radius, quad_segs=_CIRCLE_CORNERS // 4).exterior.coords
        return Polygon([(place.lng, place.lat) for place in (frame.position(x, y) for x, y in ring)])
    if not isinstance(area, str):
        return _region_outline(Region(tuple(LatLng(*corner) for corner in area)))
    if Path(area).suffix in {".yaml", ".yml"}:
        region = city_settings(str(folder / area)).region
        if region is None:
            raise BadInput(f"rent: areas: {area}: has no polygon: give a circle or corners")
        return _region_outline(region)
    return _region_outline(region_called(area, folder))


def _region_outline(region: Region) -> Polygon:
    """Return a region's polygon, x = longitude, y = latitude in degrees."""
    return Polygon([(corner.lng, corner.lat) for corner in region.corners])
