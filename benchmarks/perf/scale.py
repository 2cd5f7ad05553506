"""What the per-city benchmarks cost on 14 districts with 10 models each, on 8 GPUs: requests, dollars, hours.

    python -m benchmarks.perf.scale [--json]

Nothing is measured here: `NUMBERS` holds every number that goes in, with where it comes from, and the rest is
multiplication. Prices are those of `platform/providers/google.yaml` and of the package `genai-prices`. The
tables that it prints are those of `docs/how-to/large-runs.md`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType, SimpleNamespace

from virl.mind.providers import Usage, request_usd
from virl.platform.providers.google.settings import load_google_settings

from .figures import command, figures

MIND = "openai:gpt-5-mini"


@dataclass(frozen=True, slots=True)
class Number:
    """A number that goes into the estimate, with its meaning and source."""

    value: float
    what: str
    source: str


_PLAN = "the plan"
_MEASURED = "measured: Virlton, its data set"
_GUESS = "assumed"

NUMBERS: Mapping[str, Number] = MappingProxyType(
    {
        "districts": Number(14, "districts", _PLAN),
        "models": Number(10, "models of each benchmark", _PLAN),
        "gpus": Number(8, "GPUs", _PLAN),
        "grid": Number(48_459, "positions of the grid of 20 m", "counted on V-IRL's polygons"),
        "panoramas": Number(0.82, "panoramas per position", f"{_MEASURED}, 3,107 / 3,799"),
        "searches": Number(0.236, "searches per panorama", f"{_MEASURED}, 734 / 3,107"),
        "full": Number(3, "requests per search, 1 to 8", f"{_GUESS}: shopping streets fill a reply of 20"),
        "kept": Number(0.208, "places kept per panorama", f"{_MEASURED}, 645 / 3,107"),
        "photos": Number(3, "photos examined per place", "virl collect places: at most"),
        "near": Number(0.505, "panoramas with a place of the 20 types", f"{_MEASURED}, 1,570 / 3,107"),
        "views": Number(13, "views per panorama, localization", "V-IRL's code"),
        "tiles": Number(21, "tiles they touch at zoom 3", "docs/explanation/google.md"),
        "routes": Number(10, "routes per district", "V-IRL's code"),
        "tried": Number(
            12, "walks planned for a route that is kept", f"{_GUESS}: 2 destinations, 6 starts each"
        ),
        "read": Number(20, "views read for a walk that is planned", _GUESS),
        "steps": Number(15, "actions per walk, at most 40", f"{_GUESS}: gold paths in Virlton have 13"),
        "looks": Number(8, "views per action, CLIP and similar models", "V-IRL's code"),
        "rounds": Number(
            3, "rounds asked of four, VQA", f"{_GUESS}: asking ends with the first wrong answer"
        ),
        "again": Number(1.2, "tries per question about a place", _GUESS),
        "tokens_in": Number(1_500, "input tokens per action or question", _GUESS),
        "tokens_out": Number(150, "output tokens per action or question", _GUESS),
        "detect": Number(8, "views per second on a GPU, detectors", _GUESS),
        "recognize": Number(150, "views per second on a GPU, recognizers", _GUESS),
        "describe": Number(1.5, "answers per second on a GPU, describers", _GUESS),
        "busy": Number(0.7, "share of the time in which a GPU works", _GUESS),
        "google": Number(0.2, "seconds per reply of Google", _GUESS),
        "at_once": Number(
            8, "requests for pictures at the same time", "platform/providers/google.yaml, concurrency"
        ),
        "reply": Number(2, "seconds per reply of the model", _GUESS),
        "beside": Number(64, "walks at the same time", "benchmarks/perf/concurrency.py"),
        "picture_kb": Number(60, "kB per picture of 640 by 640 pixels", _GUESS),
        "tile_quota": Number(15_000, "tiles per day", "Google's quota, docs/explanation/google.md"),
        "signed": Number(25_000, "pictures per day without signed URLs", "Google's limit"),
        "cache_mb": Number(512, "MB of replies kept", "platform/providers/google.yaml"),
    }
)


@dataclass(frozen=True, slots=True)
class Stage:
    """A piece of the work, with the requests, dollars and hours that it takes."""

    name: str
    requests: Mapping[str, float]
    """Number of requests by kind."""
    usd: float
    gpu_hours: float = 0.0
    """Hours of one GPU."""
    waiting_hours: float = 0.0
    """Hours of waiting for the network, whatever the number of GPUs."""


def stages(number: Mapping[str, Number] = NUMBERS) -> list[Stage]:
    """Return the planned stages of work in order, computed from these numbers (`NUMBERS`)."""
    given = _values_of(number)
    price, ask = _price_of_skus(), _question_usd(given.tokens_in, given.tokens_out)
    panoramas = given.grid * given.panoramas
    places, near = panoramas * given.kept, panoramas * given.near
    routes, walks = given.districts * given.routes, given.districts * given.routes * given.models
    relocations = (given.grid + panoramas) / 100
    searches = panoramas * given.searches * given.full
    photos, read = places * given.photos, routes * given.tried * given.read
    questions, written = places * 2 * given.again, routes * 2
    views, actions = near * given.views, walks * given.steps
    gpu_second = 3600 * given.busy

    def fetch_hours(pictures: float) -> float:
        """Return the hours of fetching a number of pictures from Google, several at once."""
        return float(pictures * given.google / given.at_once / 3600)

    def question_hours(google: float = 0, model: float = 0) -> float:
        """Return the hours of `google` requests to Google and `model` questions to the model, in sequence."""
        return float(google * given.google + model * given.reply) / 3600

    return [
        Stage(
            "survey",
            {"panoIds": relocations, "metadata": panoramas},
            relocations * price("street-view-tiles"),
            0,
            question_hours(relocations) + fetch_hours(panoramas),
        ),
        Stage(
            "search", {"nearby": searches}, searches * price("nearby-enterprise"), 0, question_hours(searches)
        ),
        Stage(
            "photos",
            {"details": places, "photos": photos},
            places * price("details-essentials") + photos * price("photo"),
            photos / given.recognize / gpu_second,
            question_hours(places + photos),
        ),
        Stage("questions", {"model": questions}, questions * ask, 0, question_hours(model=questions)),
        Stage(
            "routes",
            {"routes": routes * given.tried, "pictures": read, "model": written},
            routes * given.tried * price("routes-essentials")
            + read * price("street-view-static")
            + written * ask,
            0,
            question_hours(routes * given.tried + read, written),
        ),
        Stage(
            "localization",
            {"pictures": views},
            views * price("street-view-static"),
            views * given.models / given.detect / gpu_second,
            fetch_hours(views),
        ),
        Stage("recognition", {}, 0, places * given.models / given.recognize / gpu_second),
        Stage("VQA", {}, 0, places * given.rounds * given.models / given.describe / gpu_second),
        Stage(
            "VLN",
            {"pictures": actions * given.looks, "model": actions + walks},
            actions * given.looks * price("street-view-static") + (actions + walks) * ask,
            actions * given.looks / given.recognize / gpu_second,
            fetch_hours(actions * given.looks) + question_hours(model=actions + walks) / given.beside,
        ),
    ]


def tables(number: Mapping[str, Number] = NUMBERS) -> list[str]:
    """Return three Markdown tables: the numbers that go in, the stages, and the limits."""
    given = _values_of(number)
    found = stages(number)
    gpus = given.gpus
    out = [
        [
            one.name,
            ", ".join(f"{count:,.0f} {what}" for what, count in one.requests.items()) or "none",
            f"{one.usd:,.0f}",
            f"{one.gpu_hours:,.1f}",
            f"{one.gpu_hours / gpus:,.1f}",
            f"{one.waiting_hours:,.1f}",
        ]
        for one in found
    ]
    gpu, wait = sum(one.gpu_hours for one in found), sum(one.waiting_hours for one in found)
    usd = sum(one.usd for one in found)
    out.append(["all", "", f"{usd:,.0f}", f"{gpu:,.1f}", f"{gpu / gpus:,.1f}", f"{wait:,.1f}"])
    heads = ["stage", "requests", "dollars", "GPU hours", f"hours on {gpus:.0f}", "hours of network"]
    known = [[one.what, f"{one.value:,g}", one.source] for one in number.values()]
    return [
        _markdown_table(["number", "value", "source"], known),
        _markdown_table(heads, out),
        _markdown_table(["what", "value"], [[what, text] for what, text in limits(number).items()]),
    ]


def limits(number: Mapping[str, Number] = NUMBERS) -> dict[str, str]:
    """Return the plan's costs and its use of quotas and disk: {description: figure with its unit}."""
    given = _values_of(number)
    near, price = given.grid * given.panoramas * given.near, _price_of_skus()
    views, tiled = near * given.views, near * given.tiles
    alone = views * given.models * price("street-view-static")
    kept = given.cache_mb * 1000 / given.picture_kb / given.views
    return {
        "cost of localization if each model fetched its own views": f"${alone:,.0f}",
        "cost of localization with tiles instead": f"${tiled * price('street-view-tiles'):,.0f}",
        "days of localization within the quota of tiles": f"{tiled / given.tile_quota:,.0f}",
        "days of localization without signed URLs": f"{views / given.signed:,.0f}",
        "panoramas whose views fit into the cache": f"{kept:,.0f}",
        "records of localization": f"{near * given.models:,.0f}",
        "GB of pictures, if you keep all": f"{views * given.models * given.picture_kb / 1e6:,.0f}",
    }


def _values_of(numbers: Mapping[str, Number]) -> SimpleNamespace:
    """Return the values of numbers as attributes, by the numbers' names."""
    return SimpleNamespace(**{name: one.value for name, one in numbers.items()})


def _price_of_skus() -> Callable[[str], float]:
    """Return a function from a SKU to the list price of one request in dollars."""
    skus = load_google_settings().skus
    return lambda name: skus[name].micro_usd / 1e6


def _question_usd(tokens_in: float, tokens_out: float) -> float:
    """Return the dollars of a question to `MIND` with `tokens_in` read and `tokens_out` written."""
    usd = request_usd(MIND, Usage(int(tokens_in), 0, int(tokens_out)))
    if usd is None:
        raise KeyError(MIND)
    return usd


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with these headings and rows."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Print the tables of the estimate."""
    with figures(command(__doc__).parse_args()) as found:
        found["numbers"] = {name: asdict(number) for name, number in NUMBERS.items()}
        found["stages"] = [asdict(stage) for stage in stages(NUMBERS)]
        found["limits"] = limits()
        found.show("\n".join(tables()))


if __name__ == "__main__":
    main()
