"""The contract of a benchmark: episodes, how one is run, how what came of them is scored and shown.

    BENCHMARK = Benchmark(
        name="find-the-bar", title="Find the bar", about="...", options=Options,
        episodes=episodes, prepare=prepare, run=run, score=score, metrics=(Metric("found", "found"),),
    )

A definition module holds such a value and the plain functions it names. Benchmarks are found by name: virl's
own, and those of other packages (entry-point group `virl.benchmarks`).
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import ConfigDict, Field, field_validator

from virl.bench.episode import Episode, EpisodeResult, Record
from virl.errors import BadInput, ModelUnavailable, VirlError
from virl.geo.globe import LatLng
from virl.platform.providers.cities import area_book
from virl.registry import Registry, first_line, load, one_line, scan
from virl.resources import data_folder
from virl.settings.model import Settings

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from virl.bench.resources import Resources


class BaseOptions(Settings):
    """Options of every benchmark; the options of one derive from it and may give other defaults.

    All of it is JSON: another process or machine is given the same, and two runs with equal options can be
    merged. Every field is an option of the command line; the text below a field is its help there. A field
    with `json_schema_extra={"envvar": NAME}` takes its default from that environment variable.
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    seed: int = Field(0, ge=0)
    """Random seed."""


class BenchOptions(BaseOptions):
    """Options of a benchmark that compares models in cities."""

    cities: tuple[str, ...] = Field(("virlton",), min_length=1)
    """Names of cities, areas or groups of areas (see `virl cities --areas`), or paths of city files."""
    models: tuple[str, ...] = Field((), min_length=1)
    """Models to compare; each benchmark says what the names mean."""

    @field_validator("cities")
    @classmethod
    def _without_groups(cls, cities: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of cities, each group of areas replaced by the areas in it."""
        return area_book().expand(cities)


OptionsT = TypeVar("OptionsT", bound=BaseOptions)
WorldT = TypeVar("WorldT")


@dataclass(frozen=True, slots=True)
class Tally:
    """The contribution of one counted unit, such as a place, to a metric: its hits, its weight and its group.

    A metric is the mean over groups of (sum of hits / sum of weights). With one group it is a plain mean or
    a ratio; with place types as groups it is a recall averaged over types, to which a place of k types may
    add 1/k each. Intervals and tests draw units anew, all tallies of a unit together.
    """

    unit: str
    """The thing counted, such as a place or an episode, unique within a city: the same for every model."""
    hit: float
    weight: float = 1.0
    group: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a benchmark: its key in the scores, column heading, number format and meaning."""

    key: str
    heading: str
    percent: bool = True
    """True if the metric is a share in [0, 1] that is shown in percent."""
    digits: int = 1
    by_group: bool = False
    """True if reports also draw the metric by group of its tallies."""
    shares: str = ""
    """Sentence on how a unit counts that is in several groups; empty if each is in one."""
    aside: bool = False
    """True if the terminal's narrow table leaves the metric out; the page and the files have it."""
    about: str = ""
    """Meaning of the heading, for the table's legend; empty if the heading is plain."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """A confusion matrix: how often each true label (a row) was given each label (a column)."""

    title: str
    labels: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]
    """One row for each true label, one column for each label given, in the order of `labels`."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one model's episodes in one city: tallies, confusion matrices and notes."""

    tallies: Mapping[str, Sequence[Tally]]
    """Tallies by the key of the metric; a metric without tallies has no value, which is not zero."""
    confusions: Sequence[Confusion] = ()
    notes: Sequence[str] = ()
    """Sentences that a reader of the scores has to know, such as on failed episodes."""


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a paper's table, shown beside virl's own results for comparison and never measured here."""

    name: str
    values: Mapping[str, float]
    """Values by the key of the metric; shares are in [0, 1]."""
    source: str
    """Paper and table that the values are from, such as `"V-IRL, table 3"`."""
    city: str = ""
    """The only `Episode.city` that the row is shown beside; empty if it fits all."""
    is_other: bool = False
    """True if it was measured on other data of `city`, such as another split."""


@dataclass(frozen=True, slots=True)
class ShownBox:
    """A box drawn in a picture of an episode's page, with its label."""

    box: tuple[float, float, float, float]
    """(x0, y0, x1, y1) as shares of the picture's width and height, [0, 1]."""
    label: str = ""
    kind: Literal["right", "wrong", "other"] = "other"


@dataclass(frozen=True, slots=True)
class ShownView:
    """A picture on an episode's page, with its caption and boxes."""

    file: str
    """Path of the picture: one of the record's `files`."""
    caption: str = ""
    boxes: Sequence[ShownBox] = ()


@dataclass(frozen=True, slots=True)
class ShownPoint:
    """A point on an episode's map of the city; colour and shape tell its score."""

    position: LatLng
    score: float
    """Score of the point in [0, 1]: 0 is drawn as bad, 1 as good."""
    label: str = ""
    role: Literal["", "goal", "entered"] = ""
    """Part that the point has in a walk: its goal, the place entered at its end, or neither.

    The map of one walk shows a goal without its score."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The contents of an episode's page in a report: outcome, score, facts, pictures, decisions and map."""

    outcome: str
    """The outcome in a few words, such as `"3 of 5 places found"`."""
    score: float | None = None
    """Score in [0, 1] that colours the episode in the list; `None` without colour."""
    text: str = ""
    """The question or task of the episode."""
    facts: Sequence[tuple[str, str]] = ()
    views: Sequence[ShownView] = ()
    decisions: Sequence[tuple[str, str]] = ()
    """(decision, reason) of each decision of the episode, in order."""
    points: Sequence[ShownPoint] = ()
    path: Sequence[LatLng] = ()
    """Positions of the route walked, for the map; empty if there is none."""
    links: Sequence[tuple[str, str]] = ()
    """(title, path within the episode's folder) of files that the page links to.

    The folder is that of `virl.bench.resources.Resources.folder`; an example is
    `("report of the run", "run/report.html")`. A file that is missing is left out."""
    title: str = ""
    """Title in words, such as the name of the place; empty for the case of the episode."""


@dataclass(frozen=True, slots=True)
class PageHead:
    """The head of a page: its title, the table of results and notes on them."""

    title: str
    about: str
    """One or two sentences on the page: which data and which agent it is about."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Rows of the table, each with its name as first cell; text after a line break is set small."""
    notes: tuple[str, ...] = ()
    attribution: str = ""
    """Names that the page has to credit; empty if there are none."""


@dataclass(frozen=True, slots=True)
class OwnPage(Generic[OptionsT]):
    """A page that a benchmark writes itself beside its report, which links to it."""

    file: str
    """Name of the page's file, beside the report, such as `"episodes.html"`."""
    title: str
    """Text of the report's link to the page."""
    write: Callable[[Path, PageHead, Sequence[Record], OptionsT], None]
    """Function that writes a page: its path, head, the run's records (failed ones too) and options.

    A `VirlError` is printed, and the report has no such page: its data set may be missing here."""
    tables: Callable[[Sequence[Record], OptionsT], Sequence["ConsoleRenderable"]] | None = None
    """Function from records and options to further tables for the terminal; `None` if there are none."""


def shown_plainly(record: Record) -> Shown:
    """Return an episode's page with each item of the record's data as a plain fact (name, text)."""
    return Shown("done", facts=tuple((name, str(value)) for name, value in record.data.items()))


@dataclass(frozen=True, slots=True)
class Benchmark(Generic[OptionsT, WorldT]):
    """A benchmark as its module defines it: episodes, how to run and score them, and its metrics."""

    name: str
    """Name on the command line, such as `"place-localization"`."""
    title: str
    about: str
    """One or two sentences on what the benchmark measures."""
    options: type[OptionsT]
    episodes: Callable[[OptionsT, "Resources"], Sequence[Episode]]
    """Function that returns all episodes for these options, always the same in the same order.

    Called once, where the run is started."""
    prepare: Callable[[OptionsT, "Resources"], WorldT]
    """Function that opens the cities, models and minds that `run` needs, from the resources.

    Called once a process; its threads share the result."""
    run: Callable[[Episode, WorldT], EpisodeResult]
    """Function that runs one episode, in any thread, and returns its result.

    A `VirlError` makes the episode fail, see `virl.bench.episode`; other errors are recorded likewise."""
    score: Callable[[Sequence[Record], OptionsT], Scores]
    """Function from the scored records of one model in one city, and the options, to the scores."""
    metrics: tuple[Metric, ...]
    """The metrics of the benchmark, as columns of the table from left to right."""
    show: Callable[[Record], Shown] = shown_plainly
    published: tuple[Published, ...] = ()
    page: OwnPage[OptionsT] | None = None
    mind_option: str = "mind"
    """Name of the options' field with the mind or minds to measure; options need not have such a field."""
    units: str = "episodes"
    """Noun in the plural for the things that the main metric counts, such as `"photos"`."""
    headline: str = ""
    """Key of the main metric, of which more is better; empty for the first one in percent."""
    bounds: tuple[str, ...] = ()
    """Beginnings of the names, in lower case, of models that know the answer and are no rivals."""
    typical_s: float = 0.0
    """Measured seconds of an episode on one core with the default options; 0 if not measured."""
    commands: Mapping[str, Callable[..., None]] = field(default_factory=dict)
    """Further commands by name, as `typer` takes them: `virl bench NAME COMMAND`."""
    work: Literal["threads", "processes"] = "threads"
    """Default way to run episodes side by side: in threads or in processes.

    Threads if episodes mostly wait, or work without Python's lock; processes for work in Python itself."""


AnyBenchmark = Benchmark[Any, Any]


FOLDER = "benchmarks"
BUNDLED = "virl.bundled.benchmarks"
"""Name of the package that holds virl's own benchmarks in a wheel."""


def benchmark_names() -> list[str]:
    """Return the names of all benchmarks that are installed, sorted."""
    return BENCHMARKS.names()


def find_benchmark(name: str) -> AnyBenchmark:
    """Return the benchmark with an installed name, or the object that `MODULE:OBJECT` names.

    Raises:
        UnknownName: there is none of this name.
        ModelUnavailable: what it needs cannot be imported.
        BadInput: the object is not a `Benchmark`, or two packages give the same name.
    """
    if ":" not in name:
        return BENCHMARKS.find(name)
    try:
        found = load(name)
    except Exception as fault:
        raise ModelUnavailable(
            f"benchmark {name!r} cannot be imported ({type(fault).__name__}: {one_line(fault)}): "
            "write it as MODULE:OBJECT, and install what the module needs"
        ) from fault
    if not isinstance(found, Benchmark):
        raise BadInput(f"benchmark {name!r}: {found!r:.80} is not a {Benchmark.__module__}.Benchmark")
    return found


def lines_on_benchmarks() -> tuple[dict[str, str], list[VirlError]]:
    """Return ({benchmark's name: one line on it}, errors in other packages), without importing virl's own."""
    found, faults = BENCHMARKS.others()
    ours = {name: first_line(place.partition(":")[0]) for name, place in _scan_builtin().items()}
    return dict(sorted(({name: one.about for name, one in found.items()} | ours).items())), faults


def _scan_builtin() -> Mapping[str, str]:
    """Return {benchmark's name: `module:object` that defines it} of virl's own benchmarks."""
    return scan(_package(), "definition", "BENCHMARK")


def _package() -> str:
    """Return the name of the package that holds virl's own benchmarks.

    In a checkout it is the root folder, also where a project of the user's has a package of that name.
    """
    home = data_folder(FOLDER) / "__init__.py"
    if BUNDLED in sys.modules or (find_spec("virl.bundled") and find_spec(BUNDLED)):
        return BUNDLED
    there = find_spec(FOLDER)
    if there and there.origin and Path(there.origin).resolve() == home.resolve():
        return FOLDER
    spec = spec_from_file_location(BUNDLED, home, submodule_search_locations=[str(home.parent)])
    if spec is None or spec.loader is None:
        raise ModelUnavailable(f"{home}: cannot be imported: install virl again")
    sys.modules[BUNDLED] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[BUNDLED])
    return BUNDLED


BENCHMARKS: Registry[Benchmark[Any, Any]] = Registry("benchmark", "virl.benchmarks", Benchmark, _scan_builtin)
