"""A made benchmark: quick episodes that fail, crash and wait as they are told."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from pydantic import Field

from virl.bench.benchmark import (
    Benchmark,
    BenchOptions,
    Confusion,
    Metric,
    Published,
    Scores,
    Shown,
    ShownBox,
    ShownPoint,
    ShownView,
    Tally,
)
from virl.bench.episode import Episode, EpisodeResult, Record, TryAgain
from virl.bench.records import jpeg
from virl.bench.resources import Resources
from virl.errors import BudgetExceeded, NoImagery
from virl.geo.globe import LatLng, destination
from virl.money.book import Price
from virl.money.ledger import Ledger
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection, LookScores, Matcher, TextLine

NAME = "made_benchmark:BENCHMARK"
MIDDLE = LatLng(40.0, -74.0)


class Options(BenchOptions):
    cities: tuple[str, ...] = ("north", "south")
    models: tuple[str, ...] = ("sharp", "blunt")
    count: int = 6
    """Cases in each city."""
    folder: str = ""
    """Where each try of an episode leaves a line, over all processes."""
    trouble: dict[str, str] = Field(default_factory=dict)
    """By case: `once` passes at the second try; `never`, `bug`, `die`, `die once`, `unpaid`."""
    seconds: float = 0.0
    text: str = ""
    """Stands in everything that is shown."""
    usd: float = 0.0
    """Dollars that each try of an episode pays for one request."""
    matcher: str = ""
    """A model that each episode asks."""


class Blind:
    """A detector and a reader that finds nothing."""

    look_scores = LookScores(0.5, 0.5)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        return [[] for _ in views]

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        return [[] for _ in images]


@dataclass(frozen=True)
class World:
    options: Options
    matcher: Matcher | None
    ledger: Ledger


def episodes(options: Options, resources: Resources) -> list[Episode]:
    return [
        Episode(f"case {number}", city, model, {"number": number})
        for model in options.models
        for city in options.cities
        for number in range(options.count)
    ]


def prepare(options: Options, resources: Resources) -> World:
    matcher = resources.matcher(options.matcher) if options.matcher else None
    return World(options, matcher, resources.ledger)


def tries(folder: Path, episode: str) -> int:
    """How often an episode was begun."""
    path = folder / "tries"
    return sum(line == episode for line in path.read_text().splitlines()) if path.exists() else 0


def run(episode: Episode, world: World) -> EpisodeResult:
    options = world.options
    first = True
    if options.folder:
        folder = Path(options.folder)
        first = tries(folder, episode.id) == 0
        with (folder / "tries").open("a") as file:
            file.write(episode.id + "\n")
    if options.usd:
        world.ledger.hold(Price("image", 1, options.usd * 1e6), "static_image")
    time.sleep(options.seconds)
    trouble = options.trouble.get(episode.case, "")
    if trouble == "die" or (trouble == "die once" and first):
        os._exit(7)
    if trouble == "hold":
        held = [get_context("spawn").Lock() for _ in range(3)]
        (Path(options.folder) / "held").write_text(str(len(held)))
        time.sleep(60)
    if trouble == "once" and first:
        raise TryAgain("the service is tired")
    if trouble == "never":
        raise NoImagery("no picture there")
    if trouble == "bug":
        raise KeyError("a\nfault <b>in</b> the code")
    if trouble == "unpaid":
        raise BudgetExceeded(1.0, 1.0, 0.5, "a request")
    number = episode.payload["number"]
    right = number % (3 if episode.model == "sharp" else 2) != 0
    picture = np.full((48, 64, 3), 40 * (number % 6), np.uint8)
    kind = ("bar", "bank", "cafe")[number % 3]
    data = {"right": right, "kind": kind, "said": kind if right else "bar", "text": options.text}
    if world.matcher:
        noise = np.random.default_rng(number).integers(0, 256, (96, 96, 3), dtype=np.uint8)
        data["matches"] = world.matcher.match([(noise, noise)])[0].count

    def drawn() -> bytes:
        if options.folder:
            (Path(options.folder) / "drawn").touch()
        return jpeg(picture)

    return EpisodeResult(data, {"view-0.jpg": drawn}, {"requests": 2.0})


def score(records: Sequence[Record], options: Options) -> Scores:
    tallies = [
        Tally(record.case, float(record.data["right"]), 1.0, record.data["kind"]) for record in records
    ]
    labels = ("bar", "bank", "cafe")
    counts = tuple(
        tuple(float(sum((r.data["kind"], r.data["said"]) == (a, b) for r in records)) for b in labels)
        for a in labels
    )
    return Scores(
        {"macro": tallies, "plain": [Tally(one.unit, one.hit) for one in tallies]},
        (Confusion(f"what was said {options.text}", labels, counts),),
        (f"made up {options.text}",),
    )


def show(record: Record) -> Shown:
    number = int(record.case.split()[-1])
    text = record.data["text"]
    return Shown(
        f"said {record.data['said']} {text}",
        float(record.data["right"]),
        f"What is this? {text}",
        (("kind", record.data["kind"]), ("text", text)),
        tuple(
            ShownView(file, f"to the north {text}", (ShownBox((0.1, 0.2, 0.6, 0.9), f"bar {text}", "right"),))
            for file in record.files
        ),
        (("look around", f"it is a {record.data['said']} {text}"),),
        (ShownPoint(destination(MIDDLE, 60 * number, 20 * number), float(record.data["right"]), f"p{text}"),),
        (MIDDLE, destination(MIDDLE, 60 * number, 20 * number)),
    )


BENCHMARK = Benchmark(
    name="made",
    title="Made up",
    about="Whether made cases are right.",
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=(
        Metric("macro", "macro", by_group=True),
        Metric("plain", "plain", percent=False, digits=2),
        Metric("never", "never"),
    ),
    published=(Published("paper & co", {"macro": 0.413}, "A paper, table 3"),),
)
