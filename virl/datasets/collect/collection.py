"""Collection of a city's places, photos, routes and questions into a data set (V-IRL, section 5.3).

A question has four wishes, written by a mind from the place's types, one of them right. It is kept only if
its options are of fair length, tell nothing of the place's name, and a second look finds that one alone
right. Settings and book of a data set are kept while it grows, its card is written at the end.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Literal
from uuid import NAMESPACE_URL, uuid5

from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from virl.datasets.collect.dataset import (
    CARD,
    PLACES,
    QUESTIONS,
    ROUTES,
    Card,
    PlaceRow,
    QuestionRow,
    RouteRow,
    Rows,
    TriedRow,
    read_card,
    write_card,
)
from virl.datasets.collect.places import (
    WORK,
    CollectionState,
    PlacesSettings,
    Progress,
    collect_places,
    storefront_score,
)
from virl.datasets.collect.questions import PlaceChoices, Served
from virl.datasets.collect.routes import Guide, RoutesSettings, collect_routes
from virl.errors import BadInput, JournalBroken, MindFailed, VirlError
from virl.files.writing import refusals_in_a_line, write_whole
from virl.geo.region import Region
from virl.journal.folder import check_unused, lock_run, removed_if_refused
from virl.mind.base import Mind, Prompt
from virl.mind.open import open_mind
from virl.mind.prompt import load_prompt
from virl.mind.rules import RuleMind
from virl.money.book import SPENDING
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.movers.base import LinksMover
from virl.platform.navigators.tourist.signs import SignReader
from virl.platform.perception.models import Device, ModelOptions, Models
from virl.platform.perception.standing import check_ready
from virl.platform.providers.cities import Access, city_settings, opened_city, region_called, region_of_city
from virl.resources import cache_home
from virl.routines.directions.walkway import Lookout
from virl.version import __version__

_SETTINGS = "settings.json"

_ANY = TypeAdapter(dict[str, dict[str, object]])


@dataclass(slots=True)
class Collection:
    """A folder in which a city's data set is collected, with the settings of each kind of data.

    Raises:
        BadInput: the folder holds something broken, or a data set of another city.
    """

    folder: Path
    """Folder of the data set; made where it is missing."""
    city: City
    provider: str
    """Name of the provider that makes the city, such as `"google"`."""
    region: Region
    """Part of the city that is collected."""
    mind: Mind | None = None
    ledger: Ledger = field(default_factory=Ledger)
    """Ledger of the city and the mind; its book is where the card's sums come from."""
    _settings: dict[str, dict[str, object]] = field(init=False)

    def __post_init__(self) -> None:
        """Begin the data set in its folder, or go on with it; raise BadInput if it is of another region."""
        self._settings = _read_settings(self.folder)
        corners = [[corner.lat, corner.lng] for corner in self.region.corners]
        self.keep("where", {"city": self.city.name, "region": corners})

    def keep(self, part: str, settings: Mapping[str, object]) -> None:
        """Write the settings of one kind of data; raise BadInput if it was begun with others.

        Raises:
            BadInput: the part was begun with other settings.
            CannotWrite: the disk refuses.
        """
        was, path = self._settings.get(part), self.folder / WORK / _SETTINGS
        if was is not None and was != settings:
            names = [name for name in {**was, **settings} if was.get(name) != settings.get(name)]
            difference = ", ".join(f"{n}: {was.get(n)!r} there, {settings.get(n)!r} here" for n in names)
            raise BadInput(
                f"{self.folder}: {part} was started with other settings ({difference}): "
                "use those settings, or collect into another folder"
            )
        self._settings[part] = dict(settings)
        write_whole(path, _ANY.dump_json(self._settings, indent=2), "collect again")

    def finish(self) -> Card:
        """Write the data set's card, from the files in the folder and the ledger, and return it.

        Raises:
            BadInput: a file of the folder is broken.
            CannotWrite: the disk refuses.
        """
        work, paid = CollectionState.open(self.folder), self.ledger.payments()
        counts = {
            "panoramas": len(work.panoramas),
            "places": len(work.places),
            "images": sum(place.image is not None for place in work.places.all),
            "routes": len(Rows(self.folder / ROUTES, RouteRow)),
            "questions": len(Rows(self.folder / QUESTIONS, QuestionRow)),
        }
        card = Card(
            city=self.city.name,
            title=self.city.title,
            provider=self.provider,
            virl=__version__,
            collected=datetime.now(UTC).date().isoformat(),
            region=tuple((corner.lat, corner.lng) for corner in self.region.corners),
            terms=self.city.terms,
            attribution=self.city.notice,
            settings={part: value for part, value in self._settings.items() if part != "where"},
            counts=counts | {f"candidates {fate}": count for fate, count in work.fates().items()},
            requests={**paid.sent, **({"model": paid.calls} if paid.calls else {})},
            usd=round(paid.usd, 6),
        )
        write_card(self.folder, card)
        return card


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Lock a data set's folder against other collecting processes until the block ends.

    Raises:
        BadInput: one of them does.
        CannotWrite: the disk refuses.
    """
    work = folder / WORK
    with refusals_in_a_line(work, "collect again"):
        work.mkdir(parents=True, exist_ok=True)
    try:
        lock = lock_run(work)
    except JournalBroken:
        raise BadInput(
            f"{folder}: another process is collecting into this folder: wait for it, or stop it"
        ) from None
    with lock:
        yield


def _read_settings(folder: Path) -> dict[str, dict[str, object]]:
    """Return the settings in a data set's folder by kind of data; empty for a new folder."""
    path = folder / WORK / _SETTINGS
    if not path.exists():
        if (folder / CARD).exists():
            read_card(folder)
            raise BadInput(
                f"{folder}: contains a data set without its {WORK}/ folder: collect into another folder"
            )
        return {}
    try:
        return _ANY.validate_json(path.read_bytes())
    except ValidationError as fault:
        raise BadInput(f"{path}: is damaged ({fault.errors()[0]['msg']})") from None


_QUESTION = "Which of these people would find what they want at the place in the photo?"
TRIES = 3
"""Most replies of a model for one place before the place gets no question. Chosen."""
AT_ONCE = 8
"""Number of questions that are made at the same time; the mind keeps its own rate limit. Chosen."""
_LEFT_OUT = "unasked.jsonl"
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
    """Yield the collection of a city's data in `folder`, new or continued, locked until the block ends.

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
    check_unused(folder, own=CARD)
    with removed_if_refused(folder), sole_writer(folder):
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
    """Collect the places of a city, with photos; write the data set's card, and return it.

    Args:
        collection: the data set that is being made.
        settings: of its places.
        device: of the recognizer.
        allow_downloads: whether its weights may be fetched.
        progress: is told how far it is.

    Raises:
        ModelUnavailable: the recognizer cannot be loaded; known before the first request.
        VirlError: as `collect_places`.
    """
    if settings.recognizer:
        check_ready("recognizer", settings.recognizer, allow_downloads=allow_downloads)
    models = Models(ModelOptions(device, allow_downloads))
    recognizer = models.recognizer(settings.recognizer) if settings.recognizer else None
    score_photo = partial(storefront_score, recognizer) if recognizer else None
    collection.keep("places", settings.model_dump(mode="json"))
    collect_places(
        collection.city,
        collection.region,
        collection.folder,
        settings,
        score_photo,
        progress=progress,
    )
    return collection.finish()


def collect_city_questions(collection: Collection, seed: int, progress: Progress) -> Card:
    """Make questions about the places of a data set; write its card, and return it.

    Args:
        collection: the data set that is being made.
        seed: same seed, same questions.
        progress: is told how far it is.

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
        Rows(folder / WORK / _LEFT_OUT, TriedRow),
        mind,
        seed=seed,
        progress=progress,
    )
    return collection.finish()


def collect_city_routes(collection: Collection, settings: RoutesSettings, progress: Progress) -> Card:
    """Collect routes to the places of a data set; write its card, and return it.

    Args:
        collection: the data set that is being made.
        settings: of its routes.
        progress: is told how far it is.

    Raises:
        BadInput: there are no places.
        VirlError: as `collect_routes`.
    """
    folder, mind, city = collection.folder, collection.mind or RuleMind(), collection.city
    places = Rows(folder / PLACES, PlaceRow).all
    if not places:
        raise BadInput(f"{folder}: contains no places: run `virl collect places` first")
    collection.keep("routes", settings.model_dump(mode="json") | {"mind": mind.name})
    signs = SignReader(city.streetview, Models().reader(settings.reader), city.capabilities.cheap_view)
    collect_routes(
        Guide(city, LinksMover(city.streetview), mind, Lookout(city.places, signs, free=city.ledger is None)),
        places,
        Rows(folder / ROUTES, RouteRow),
        Rows(folder / WORK / TRIED, TriedRow),
        settings,
        progress=progress,
    )
    return collection.finish()


def make_questions(
    places: Sequence[PlaceRow],
    questions: Rows[QuestionRow],
    unasked: Rows[TriedRow],
    mind: Mind,
    *,
    seed: int,
    progress: Progress,
) -> None:
    """Add a question about each place with an image to `questions`, or to `unasked` why there is none.

    Args:
        places: of the data set.
        questions: where they go.
        unasked: where places go that no question could be made of.
        mind: writes and checks them.
        seed: of the order of the options.
        progress: is told how far it is.

    Raises:
        ModelUnavailable: the mind cannot be reached.
        BudgetExceeded: the budget is spent; what was made is kept, also what was under way.
    """
    wanted = [place for place in places if place.image]
    left = [place for place in wanted if place.id not in questions and place.id not in unasked]
    faults: list[VirlError] = []
    for place, making in _in_order(left, mind, seed, stopped=lambda: bool(faults)):
        progress("making questions", len(questions) + len(unasked), len(wanted))
        try:
            questions.add(making.result())
        except MindFailed as failed:
            unasked.add(TriedRow(id=place.id, reason=str(failed)))
        # Raised at the end: what is under way is paid for, and is kept.
        except VirlError as broken:
            faults.append(broken)
    if faults:
        raise faults[0]


def _in_order(
    places: Iterable[PlaceRow], mind: Mind, seed: int, *, stopped: Callable[[], bool]
) -> Iterator[tuple[PlaceRow, Future[QuestionRow]]]:
    """Yield (place, future of its question) in order; begin no further place once `stopped()` is true."""
    under_way: deque[tuple[PlaceRow, Future[QuestionRow]]] = deque()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for place in places:
            if stopped():
                break
            under_way.append((place, pool.submit(_question, place, mind.with_own_ledger(), seed)))
            if len(under_way) == AT_ONCE:
                yield under_way.popleft()
        yield from under_way


def _question(place: PlaceRow, mind: Mind, seed: int) -> QuestionRow:
    """Return a question about a place with four options; raise MindFailed after `TRIES` bad replies."""
    ask, check = load_prompt("vqa/choices", PlaceChoices), load_prompt("vqa/check", Served)
    faults = ""
    for _ in range(TRIES):
        choices = mind.ask(ask, name=place.name, types=list(place.types), question=_QUESTION, faults=faults)
        order = [0, 1, 2, 3]
        # By the place: a collection that goes on mixes as one that was never killed.
        Random(f"{seed} {place.id}").shuffle(order)
        options = tuple(choices.options[number] for number in order)
        faults = _question_fault(place, mind, check, options, order.index(0))
        if not faults:
            return QuestionRow(
                id=place.id,
                question=_QUESTION,
                types=place.types,
                options=(options[0], options[1], options[2], options[3]),
                answer=order.index(0),
                image=place.image or "",
            )
    raise MindFailed(f"no question of {place.name} with one right answer in {TRIES} tries: {faults}")


def _question_fault(
    place: PlaceRow, mind: Mind, check: Prompt[Served], options: Sequence[str], answer: int
) -> str:
    """Return the fault that the mind finds in a question; empty if only option `answer` is right."""
    served = mind.ask(check, types=list(place.types), options=list(options)).served
    if answer not in served:
        return f"the place does not fulfil {options[answer]!r}"
    others = [options[number] for number in served if number != answer]
    return f"the place also fulfils {others[0]!r}" if others else ""


@contextmanager
def collecting_bar(console: Console) -> Iterator[Progress]:
    """Yield a function (task, number done, total) that shows progress as a bar on a console."""
    columns = (
        TextColumn("[dim]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]about"),
        TimeRemainingColumn(),
        TextColumn("[dim]left"),
    )
    with Bar(*columns, console=console, transient=True) as shown:
        task = shown.add_task("collecting", total=None)
        yield lambda doing, done, total: shown.update(task, description=doing, completed=done, total=total)
