"""What episodes use: cities and their ground truth, models and minds, each opened once a process."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, Literal, TypeVar

from virl.bench.episode import Episode
from virl.bench.records import FOLDER, slug
from virl.bench.shared_models import (
    Batcher,
    Limiter,
    ModelFunction,
    SharedDescriber,
    SharedDetector,
    SharedMatcher,
    SharedReader,
    SharedRecognizer,
    model_function,
)
from virl.errors import BadInput, UnknownName
from virl.mind.base import Mind
from virl.mind.open import open_mind, opened_mind
from virl.money.book import Exchange
from virl.money.ledger import Ledger
from virl.platform.city.city import City, Truth
from virl.platform.perception.base import Describer, Detector, Matcher, Reader, Recognizer, Role
from virl.platform.perception.models import Device, ModelOptions, Models, look_scores, read_model
from virl.platform.perception.standing import check_ready
from virl.platform.providers.cities import Access, opened_city

DEFAULT_BATCH = 8
"""Items per call of a model whose file names no batch size. Chosen: the views of one look around."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Terms:
    """The user's settings for cities, models and minds of a run; plain data, the same on every machine."""

    device: Device = "auto"
    allow_downloads: bool = False
    seed: int = 0
    workers: int = 1
    """Number of episodes that run side by side in this process."""
    budget_usd: float | None = None
    """Dollars that all episodes of the run may cost together; `None` sets no limit."""
    price: tuple[float, float] | None = None
    """(dollars per million input tokens, per million output tokens) of minds given as objects."""
    requests_per_second: float | None = None
    """Most requests a second to minds, over all episodes of the run; `None` sets no limit."""
    base_url: str | None = None
    """Address of an OpenAI-compatible server for minds; `None` takes the environment's."""
    replies: Path | None = None
    """Folder in which replies of minds are cached; `None` caches none."""
    cache: Literal["off", "session", "ttl"] | None = None
    """Caching of the city's network replies; `None` takes the default (see `Access`)."""
    session: str = ""
    record: Path | None = None
    replay: Path | None = None
    """Path of a recording that stands in for a city's network requests; `None` asks the network."""
    out: Path = Path()
    """Folder of the run."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A perception model as an episode asks for it: role, name and city."""

    role: Role
    name: str
    city: str = ""
    """Name of the city of the views; empty for models that work alike in all cities."""


@dataclass(frozen=True, slots=True)
class OpenModel:
    """An opened perception model: the function to call it, and the name of its embeddings."""

    ask: ModelFunction
    name: str = ""
    """Name of a recognizer's embeddings; empty for other roles."""


@dataclass(slots=True)
class Resources:
    """The cities, models and minds of one process, each opened once and shared between threads.

    Args:
        terms: what the user asks.
        ledger: checked before each request that costs something.
        reserve: takes a turn for a request to a mind, see `virl.bench.shared_models`; `None` sets no limit.
        open_elsewhere: opens a model on another machine; by default models are opened here.
        own_minds: opens minds of the caller, by name, with the ledger, beside those that `open_mind` knows.
        objects: cities, minds and models of a program, by the names that stand for them.
        may_collect: whether a missing data set of a made city is collected; else it raises `Uncollected`.
    """

    terms: Terms = field(default_factory=Terms)
    ledger: Ledger = field(default_factory=Ledger)
    reserve: Callable[[], float] | None = None
    open_elsewhere: Callable[[ModelUse], OpenModel] | None = None
    own_minds: Mapping[str, Callable[[Ledger], Mind]] = field(default_factory=dict)
    objects: Mapping[str, object] = field(default_factory=dict)
    may_collect: bool = True
    _opened: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _lock: Any = field(default_factory=RLock)

    def folder(self, episode: Episode) -> Path:
        """Return the folder, within the run's, for files that an episode writes itself; it may not exist.

        An episode that is run again, after a kill or a failure, is given the same folder. On a cluster it is
        below the same path on the machine that runs the episode: share that path between the machines.
        """
        return self.terms.out / FOLDER / slug(episode.id)

    def city(self, name: str) -> City:
        """Return the city with this name, opened at the first call.

        Raises:
            UnknownName: there is no such city.
            VirlError: what its provider needs is missing.
        """
        terms = self.terms
        access = Access(self.ledger, terms.cache, terms.session, terms.record, terms.replay)
        return self.make_once(("city", name), lambda: self._open_city(name, access))

    def town(self, name: str) -> City:
        """Return the city with this name, opened once and without recording or replaying network requests.

        Raises:
            UnknownName: there is no such city.
            VirlError: its file cannot be read.
        """
        return self.make_once(("city", name), lambda: self._open_city(name, Access()))

    @property
    def open_cities(self) -> Mapping[str, City]:
        """The cities that were opened so far, by name."""
        return {key[1]: opened for key, opened in self._opened.items() if key[0] == "city"}

    def mind(self, spec: str) -> Mind:
        """Return a mind, given by name, with its own ledger for one episode; all share budget and rate limit.

        Args:
            spec: `rules`, or a chat model such as `openai:gpt-5-mini`.

        Raises:
            BadInput: no mind has such a name.
            ModelUnavailable: a package or a key is missing.
        """
        return self.make_once(("mind", spec), lambda: self._open_mind(spec)).with_own_ledger()

    def detector(self, name: str, city: str = "") -> Detector:
        """Return a detector for views of `city` ("": any), shared by all threads, which batches their calls.

        Args:
            name: in `platform/models`, or a path to a model file.
            city: the city that the views are of: the simulated detector sees its ground truth, and signs are
                found before they are read where virl draws it.

        Raises:
            UnknownName: there is no such model.
            ModelUnavailable: its weights or packages are missing.
        """
        given: Any = self.objects.get(name)
        scores = look_scores(name) if given is None else given.look_scores
        return SharedDetector(self.share_model(ModelUse("detector", name, city)).ask, scores)

    def recognizer(self, name: str) -> Recognizer:
        """Return a recognizer whose calls all threads share in batches; raises the errors of `detector`."""
        model = self.share_model(ModelUse("recognizer", name))
        return SharedRecognizer(model.ask, model.name)

    def reader(self, name: str, city: str = "") -> Reader:
        """Return a text reader (OCR) for views of `city` ("": any), shared by all threads in batches."""
        return SharedReader(self.share_model(ModelUse("reader", name, city)).ask)

    def matcher(self, name: str) -> Matcher:
        """Return a picture matcher whose calls all threads share in batches; raises errors of `detector`."""
        return SharedMatcher(self.share_model(ModelUse("matcher", name)).ask)

    def describer(self, name: str, city: str = "") -> Describer:
        """Return a describer of views of `city` ("": any), whose calls all threads share in batches."""
        return SharedDescriber(self.share_model(ModelUse("describer", name, city)).ask)

    def make_once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """Return what `make()` returned at the first call with this key, such as a data set."""
        # Held while it opens, so that no two threads load the same weights; it is re-entered, as models ask
        # for cities.
        with self._lock:
            if key not in self._opened:
                self._opened[key] = make()
            opened: T = self._opened[key]
            return opened

    def close(self) -> None:
        """Close the connections of all cities; does nothing if they are closed."""
        self._stack.close()

    def share_model(self, use: ModelUse) -> OpenModel:
        """Return the perception model that `use` names, opened once and then shared by all threads."""
        elsewhere = None if use.name in self.objects else self.open_elsewhere
        return self.make_once(("model", use), lambda: (elsewhere or self.open_here)(use))

    def open_here(self, use: ModelUse) -> OpenModel:
        """Open a perception model in this process, its calls batched; weights load at the first call.

        Raises:
            UnknownName: there is no such model.
            ModelUnavailable: its weights or packages are missing.
        """
        most = DEFAULT_BATCH if self.terms.workers > 1 else 1  # one thread alone never waits for others
        if (given := self.objects.get(use.name)) is not None:
            return OpenModel(Batcher(model_function(given), most=most), getattr(given, "name", ""))
        check_ready(use.role, use.name, allow_downloads=self.terms.allow_downloads)
        known = self.city(use.city) if use.city else None
        # Models that know nothing of a city are loaded once for all of them.
        group = use.city if known and (known.truth or known.capabilities.is_drawn) else ""
        options = ModelOptions(
            device=self.terms.device,
            allow_downloads=self.terms.allow_downloads,
            truth=known.truth if known else None,
            is_drawn=known is not None and known.capabilities.is_drawn,
            seed=self.terms.seed,
        )
        models = self.make_once(("models", group), lambda: Models(options))
        model: Any = models.open(use.role, use.name)
        if most > 1:
            most = getattr(read_model(use.role, use.name), "batch", None) or most
        return OpenModel(Batcher(model_function(model), most=most), getattr(model, "name", ""))

    def _open_city(self, name: str, access: Access) -> City:
        """Return the city given as an object under this name, else open it with `access`."""
        given = self.objects.get(name)
        if isinstance(given, City):
            return given
        return self._stack.enter_context(opened_city(name, access))

    def _open_mind(self, spec: str) -> Mind:
        """Return the mind with this name or given object, whose requests wait for the rate limit."""
        if spec in self.own_minds:
            return self.own_minds[spec](self.ledger)
        limiter = Limiter(self.reserve) if self.reserve and spec != "rules" else None
        given: Any = self.objects.get(spec)
        if given is not None:
            return opened_mind(given, self.ledger, name=spec, price=self.terms.price, limiter=limiter)
        return open_mind(
            spec,
            cache_dir=self.terms.replies,
            base_url=self.terms.base_url,
            limiter=limiter,
            ledger=self.ledger,
            seed=self.terms.seed,
        )


def cost_of(exchanges: Sequence[Exchange]) -> Mapping[str, float]:
    """Return the sums of a mind's exchanges (`requests`, tokens, `usd`) as an episode's cost by name."""
    return {
        "requests": float(sum(exchange.attempts for exchange in exchanges)),
        "input_tokens": float(sum(exchange.input_tokens for exchange in exchanges)),
        "output_tokens": float(sum(exchange.output_tokens for exchange in exchanges)),
        "usd": sum(exchange.usd for exchange in exchanges),
    }


def truth_of(city: City) -> Truth:
    """Return the ground truth of a made city; raise BadInput for a city without one.

    Raises:
        BadInput: the city has no ground truth.
    """
    if city.truth is None:
        raise BadInput(f"{city.title} has no ground truth: choose a made city, such as virlton")
    return city.truth


def is_model(role: Role, name: str) -> bool:
    """Return whether a name in `platform/models`, or a model file's path, is a model of this role.

    Raises:
        BadInput: its file does not hold what it should.
    """
    try:
        read_model(role, name)
    except UnknownName:
        return False
    return True
