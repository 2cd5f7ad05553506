"""The episodes that a run is to do, and how far it is: said before it, and estimated while it goes on."""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, Self

from pydantic import NonNegativeInt, model_validator
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from virl.bench.benchmark import AnyBenchmark
from virl.bench.episode import Episode
from virl.console import as_markup, print_plain, say
from virl.errors import BadInput, VirlError
from virl.files.json_reading import read_json_file
from virl.files.writing import write_whole
from virl.pages.numbers import count_noun, show_duration
from virl.platform.city.city import City
from virl.settings.model import Settings, check_settings

PLAN = "plan.json"
MOST_STREET_POINTS = 20_000
"""Most points of streets for a city's map, half a megabyte; a larger city is drawn without. Chosen."""


class CityPlan(Settings):
    """A city as a report draws it: title, streets and credits."""

    title: str
    streets: tuple[tuple[tuple[float, float], ...], ...] = ()
    """Centre lines of streets, each of (lat, lng) in degrees; empty if the provider gives none."""
    attribution: str = ""
    """Names that pages with the city have to credit; may be empty."""


class RunPlan(Settings):
    """The contents of `plan.json`: numbers of a run's episodes, all shards included, and its cities."""

    episodes: dict[str, dict[str, NonNegativeInt]]
    """Number of episodes by model, then by city."""
    cities: dict[str, CityPlan]

    @model_validator(mode="after")
    def _knows_its_cities(self) -> Self:
        """Return the plan; raise ValueError if it has no episodes, or has some in an unlisted city."""
        for cities in self.episodes.values():
            if unknown := sorted(cities.keys() - self.cities.keys()):
                raise ValueError(f"episodes names the city {unknown[0]!r}, which is not among its cities")
        if not any(self.episodes.values()):
            raise ValueError("it has no episodes")
        return self


def make_plan(
    episodes: Sequence[Episode], cities: Mapping[str, City], known: Mapping[str, CityPlan] | None = None
) -> RunPlan:
    """Return a run's plan: counts of episodes by model and city, and its cities (from `known` if not open).

    Args:
        episodes: all of them.
        cities: those that are open, by name.
        known: what an earlier plan of the run says of cities; for those that are not open.

    Raises:
        BadInput: there are none, or two have the same id.
    """
    if not episodes:
        raise BadInput("no episodes: choose other cities or options")
    twice = [identity for identity, count in Counter(one.id for one in episodes).items() if count > 1]
    if twice:
        raise BadInput(f"episode {twice[0]!r} is repeated: the benchmark must give each case its own id")
    counts: dict[str, dict[str, int]] = {}
    for one in episodes:
        cell = counts.setdefault(one.model, {})
        cell[one.city] = cell.get(one.city, 0) + 1
    named = {one.city: one.attribution for one in episodes}
    return RunPlan(
        episodes=counts,
        cities={name: _city_plan(name, cities.get(name), known or {}, named[name]) for name in sorted(named)},
    )


def write_plan(folder: Path, plan: RunPlan) -> None:
    """Write `plan.json` into a run's folder.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_whole(folder / PLAN, plan.model_dump_json().encode() + b"\n", "continue with --resume")


def known_cities(folder: Path) -> dict[str, CityPlan]:
    """Return the cities by name of the plan in a run's folder; empty if no plan can be read."""
    try:
        return read_plan(folder).cities
    except VirlError:  # it is about to be written anew
        return {}


def read_plan(folder: Path) -> RunPlan:
    """Return the plan of a run, read from `plan.json` in its folder.

    Raises:
        BadInput: the folder holds no run, or its plan is damaged.
    """
    path = folder / PLAN
    return check_settings(read_json_file(path), RunPlan, source=str(path))


def choose(
    episodes: Sequence[Episode], limit: int | None, shard: tuple[int, int], seed: int = 0
) -> list[Episode]:
    """Return the episodes of a shard (number from 1, count), at most `limit` of each model in each city.

    Args:
        episodes: all of them, in their order, which the chosen ones keep.
        limit: at most so many of each model in each city; `None` for all. They are drawn from all, and of
            models with the same cases are the same; a larger limit draws the same and more.
        shard: `(i, n)` with 1 <= i <= n, the i-th of n parts of about equal size. The parts have no episode
            in common and together all of them. All models of a case are in one part.
        seed: of the draw.
    """
    cases = list(dict.fromkeys((one.city, one.case) for one in episodes))
    drawn = {case: turn for turn, case in enumerate(random.Random(seed).sample(cases, len(cases)))}
    seen: Counter[tuple[str, str]] = Counter()
    number, count = shard
    chosen = set()
    for one in sorted(episodes, key=lambda one: drawn[one.city, one.case]):
        seen[one.model, one.city] += 1
        is_within = limit is None or seen[one.model, one.city] <= limit
        if is_within and drawn[one.city, one.case] % count == number - 1:
            chosen.add(one.id)
    return [one for one in episodes if one.id in chosen]


def parse_shard(text: str) -> tuple[int, int]:
    """Return the shard (number from 1, count of shards) of a text such as `"2/4"`.

    Raises:
        BadInput: it is no part of a whole.
    """
    first, _, second = text.partition("/")
    if first.isdigit() and second.isdigit() and 1 <= int(first) <= int(second):
        return int(first), int(second)
    raise BadInput(f"--shard {text}: write it as I/N, such as 1/4 for the first of four shards")


def _city_plan(name: str, city: City | None, known: Mapping[str, CityPlan], attribution: str) -> CityPlan:
    """Return a city's title, streets (if not too many) and credits; if `city` is `None`, those in `known`."""
    if city is None:
        return known.get(name, CityPlan(title=name, attribution=attribution))
    if city.street_map is None:
        return CityPlan(title=city.title, attribution=city.notice)
    lines = [tuple((round(p.lat, 6), round(p.lng, 6)) for p in line) for line in city.street_map.lines()]
    streets = tuple(lines) if sum(map(len, lines)) <= MOST_STREET_POINTS else ()
    return CityPlan(title=city.title, streets=streets, attribution=city.notice)


FIRST_S = 15.0
"""Seconds until a run without a terminal prints its first progress line; each next wait doubles. Chosen."""
LONGEST_S = 600.0
"""Most seconds between two printed lines of progress. Chosen."""

GROWN = 1.5
"""Factor by which the estimated time of a run has to grow until a line gives the reason. Chosen."""


def expected_seconds(episodes: int, seconds_each: float, workers: int) -> float:
    """Return the seconds that episodes take, each `seconds_each`, with `workers` at a time.

    Args:
        episodes: how many, 0 or more.
        seconds_each: of one.
        workers: how many run at the same time, 1 or more.
    """
    return ceil(episodes / workers) * seconds_each


class RunProgress(Progress):
    """The progress of a run: a bar on a terminal, else a line from time to time.

    Args:
        console: where it is shown.
        title: of the benchmark.
        models: the model of each episode to run.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        console: Console,
        title: str,
        models: Iterable[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin the progress of a run; `models` names the model of each episode, `clock` gives seconds."""
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("[dim]{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._title = title
        self._ahead = Counter(models)
        self._total = self._ahead.total()
        self._seconds: dict[str, list[float]] = {}
        self._has_told_why = False
        self._first = 0.0  # seconds of the whole run, as first estimated
        self._clock = clock
        self._begun = clock()
        self._done = self._failed = 0
        self._pause = FIRST_S
        self._next = self._begun + FIRST_S
        self._task = self.add_task(title, total=self._total, left="")

    def count_episode(self, model: str, seconds: float, *, failed: bool) -> None:
        """Count an episode of `model` that ended after `seconds`, and show the progress.

        Args:
            model: whose episode ended.
            seconds: that it took.
            failed: whether it failed.
        """
        self._done += 1
        self._ahead[model] -= 1
        self._seconds.setdefault(model, []).append(seconds)
        self._failed += failed
        title = f"{self._title}, {self._failed} failed" if self._failed else self._title
        now = self._clock()
        left, why = self._estimate_left(now - self._begun)
        self.update(self._task, completed=self._done, description=title, left=left)
        if self.console.is_terminal and why and not self._has_told_why:
            self._has_told_why = True
            say(self.console, f"[dim]{as_markup(left + why)}[/]")  # beside the bar it would have no room
        if not self.console.is_terminal and now >= self._next and self._done < self._total:
            failures = f", {self._failed} failed" if self._failed else ""
            done = f"{self._done} of {count_noun(self._total, 'episode')} done"
            print_plain(self.console, f"{done}{failures}; {left}{why}")
            self._pause = min(2 * self._pause, LONGEST_S)
            self._next = now + self._pause

    def tell_stopping(self, how: str) -> None:
        """Show the sentence `how`, on how the run is being stopped, in place of the bar's title."""
        self.update(self._task, description=how)

    def _estimate_left(self, elapsed: float) -> tuple[str, str]:
        """Return (text on the time left after `elapsed` seconds, the reason if it has grown, else empty)."""
        spent = sum(map(sum, self._seconds.values()))
        means = {model: sum(those) / len(those) for model, those in self._seconds.items()}
        mean = spent / self._done
        rest = {model: count * means.get(model, mean) for model, count in self._ahead.items() if count}
        left = sum(rest.values()) / spent * elapsed if spent else 0.0
        self._first = self._first or elapsed + left
        grew = self._first * GROWN < elapsed + left
        slowest, why = max(rest, key=rest.__getitem__, default=""), ""
        if grew and slowest in means:
            why = f" (more than at first: {slowest} takes {show_duration(means[slowest])} each)"
        return f"about {show_duration(left)} left", why


def outlook(
    benchmark: AnyBenchmark, left: int, workers: int, done: Sequence[Mapping[str, Any]], out: Path
) -> Iterator[str]:
    """Yield lines for the user on a run in `out`: episodes left and done, number at a time, time if known.

    Args:
        benchmark: what is run.
        left: episodes still to run.
        workers: how many of them side by side, 1 or more.
        done: records of those that have been run.
        out: folder of the run.
    """
    seconds = [float(record["seconds"]) for record in done if record["status"] == "done"]
    finished = len(seconds)
    if not left:
        yield f"{out}: already finished, {count_noun(finished, 'episode')} done: nothing is run again"
        return
    before = f"{finished:,} done before, " if finished else ""
    side_by_side = f", {min(workers, left)} at a time" if min(workers, left) > 1 else ""
    yield f"{before}{left:,} {'episode' if left == 1 else 'episodes'} to run{side_by_side}; writes {out}"
    each = sum(seconds) / len(seconds) if seconds else benchmark.typical_s
    if each:
        source = "as those before" if finished else "as measured with the default options on one core"
        # what was run has shared the cores
        cores = workers if finished else min(workers, os.cpu_count() or 1)
        whole = expected_seconds(left, each, min(cores, left))
        shown = f"{each:.1f} s" if each < 10 else show_duration(each)
        yield f"about {show_duration(whole)} if each takes {shown}, {source}"
