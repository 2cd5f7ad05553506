"""Opens what a collection needs, and collects."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from uuid import NAMESPACE_URL, uuid5

from virl.datasets.collect.collection import Collection, sole_writer
from virl.datasets.collect.dataset import PLACES, QUESTIONS, ROUTES, Card, PlaceRow, QuestionRow, RouteRow
from virl.datasets.collect.places import WORK, PlacesSettings, Progress, collect_places
from virl.datasets.collect.questions import LEFT_OUT, UnaskedRow, make_questions
from virl.datasets.collect.routes import Guide, RoutesSettings, TriedRow, collect_routes
from virl.datasets.collect.rows import Rows
from virl.datasets.collect.storefront import RecognizedStorefront
from virl.errors import BadInput
from virl.mind.open import open_mind
from virl.mind.rules import RuleMind
from virl.money.book import SPENDING
from virl.money.ledger import Ledger
from virl.platform.movement.instruction.tourist.signs import SignReader
from virl.platform.movement.links import LinksMover
from virl.platform.perception.models import Device, ModelOptions, Models
from virl.platform.perception.standing import check_ready
from virl.platform.providers.cities import Access, city_settings, opened_city, region_called
from virl.platform.providers.region import region_of_city
from virl.resources import cache_home
from virl.routines.directions.landmarks import Lookout

TRIED = "tried.jsonl"


@contextmanager
def opened_collection(
    folder: Path,
    city: str,
    region: Path | None = None,
    *,
    mind: str | None = None,
    budget_usd: float | None = None,
    cache: Literal["off", "session", "ttl"] | None = None,
) -> Iterator[Collection]:
    """A collection of a city, begun or gone on with, as long as the context is open.

    Args:
        folder: of the data set.
        city: a name in `platform/cities/`, or the path of a city's file.
        region: a file of corners; by default the city's district, or all of a made city.
        mind: who is asked, `"rules"` or `PROVIDER:MODEL`; `None` if nobody is.
        budget_usd: dollars that may be spent on this folder in all.
        cache: what replies of the provider's to keep.

    Raises:
        BadInput: the folder holds something else, or the region lies elsewhere.
        VirlError: the city or the mind cannot be opened.
    """
    settings = city_settings(city)
    area = region_called(str(region)) if region else None
    with sole_writer(folder):
        ledger = Ledger(budget_usd, book=folder / WORK / SPENDING)
        session = uuid5(NAMESPACE_URL, folder.resolve().as_uri()).hex
        thinker = open_mind(mind, cache_dir=cache_home() / "replies", ledger=ledger) if mind else None
        with opened_city(city, Access(ledger, cache, session)) as opened:
            covered = area or region_of_city(opened)
            yield Collection(folder, opened, settings.provider, covered, thinker, ledger)


def collect_city_places(
    collection: Collection,
    settings: PlacesSettings,
    device: Device,
    *,
    allow_downloads: bool,
    progress: Progress,
) -> Card:
    """Collect the places of a city, and write the data set's card.

    Raises:
        ModelUnavailable: the recognizer cannot be loaded; known before the first request.
        VirlError: as `collect_places`.
    """
    if settings.recognizer:
        check_ready("recognizer", settings.recognizer, allow_downloads=allow_downloads)
    models = Models(ModelOptions(device, allow_downloads))
    storefront = RecognizedStorefront(models.recognizer(settings.recognizer)) if settings.recognizer else None
    collection.keep("places", settings.model_dump(mode="json"))
    collect_places(
        collection.city,
        collection.region,
        collection.folder,
        settings,
        storefront,
        progress=progress,
    )
    return collection.finish()


def collect_city_questions(collection: Collection, seed: int, progress: Progress) -> Card:
    """Make the questions of a data set whose places are collected, and write its card.

    Raises:
        BadInput: there are no places with images.
        VirlError: as `make_questions`.
    """
    folder, mind = collection.folder, collection.mind or RuleMind()
    places = Rows(folder / PLACES, PlaceRow).all
    if not any(place.image for place in places):
        raise BadInput(f"{folder}: contains no places with images: run `virl collect places` first")
    collection.keep("vqa", {"mind": mind.name, "seed": seed})
    make_questions(
        places,
        Rows(folder / QUESTIONS, QuestionRow),
        Rows(folder / WORK / LEFT_OUT, UnaskedRow),
        mind,
        seed=seed,
        progress=progress,
    )
    return collection.finish()


def collect_city_routes(collection: Collection, settings: RoutesSettings, progress: Progress) -> Card:
    """Collect the routes of a data set whose places are collected, and write its card.

    Raises:
        BadInput: there are no places.
        VirlError: as `collect_routes`.
    """
    folder, mind, city = collection.folder, collection.mind or RuleMind(), collection.city
    places = Rows(folder / PLACES, PlaceRow).all
    if not places:
        raise BadInput(f"{folder}: contains no places: run `virl collect places` first")
    collection.keep("routes", settings.model_dump(mode="json") | {"mind": mind.name})
    signs = SignReader(city.streetview, Models().reader(settings.reader), city.cheap_view)
    collect_routes(
        Guide(city, LinksMover(city.streetview), mind, Lookout(city.places, signs)),
        places,
        Rows(folder / ROUTES, RouteRow),
        Rows(folder / WORK / TRIED, TriedRow),
        settings,
        progress=progress,
    )
    return collection.finish()
