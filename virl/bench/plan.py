"""Which episodes a run is to do, and what its folder says of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import NonNegativeInt, model_validator

from virl.bench.episode import Episode
from virl.errors import BadInput, VirlError
from virl.files.json_reading import read_json_file
from virl.files.writing import write_whole
from virl.platform.city.city import City
from virl.settings.model import Settings, check_settings

PLAN = "plan.json"
MOST_STREET_POINTS = 20_000
"""Streets of a larger city are not kept for the map. Chosen: half a megabyte."""


class CityPlan(Settings):
    """The drawing of a city in a report."""

    title: str
    streets: tuple[tuple[tuple[float, float], ...], ...] = ()
    """Centre lines, each of (lat, lng); none where the provider has none to give."""
    attribution: str = ""
    """Names that pages about it have to credit."""


class RunPlan(Settings):
    """The contents of `plan.json`: all episodes of a run, with those of other shards and beyond a limit."""

    episodes: dict[str, dict[str, NonNegativeInt]]
    """Number of episodes, by model and city."""
    cities: dict[str, CityPlan]

    @model_validator(mode="after")
    def _knows_its_cities(self) -> Self:
        """Refuse a plan without episodes, or with episodes in an unlisted city."""
        for cities in self.episodes.values():
            if unknown := sorted(cities.keys() - self.cities.keys()):
                raise ValueError(f"episodes names the city {unknown[0]!r}, which is not among its cities")
        if not any(self.episodes.values()):
            raise ValueError("it has no episodes")
        return self


def make_plan(
    episodes: Sequence[Episode], cities: Mapping[str, City], known: Mapping[str, CityPlan] | None = None
) -> RunPlan:
    """Return the plan of a run.

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
    """Return the cities of the plan in a run's folder; none without a plan that can be read."""
    try:
        return read_plan(folder).cities
    except VirlError:  # it is about to be written anew
        return {}


def read_plan(folder: Path) -> RunPlan:
    """Read the plan of a run.

    Raises:
        BadInput: the folder holds no run, or its plan is damaged.
    """
    path = folder / PLAN
    return check_settings(read_json_file(path), RunPlan, source=str(path))


def choose(episodes: Sequence[Episode], limit: int | None, shard: tuple[int, int]) -> list[Episode]:
    """Choose the episodes that a run is to do.

    Args:
        episodes: all of them, in their order.
        limit: at most so many of each model in each city, the first ones; `None` for all.
        shard: `(i, n)` with 1 <= i <= n, the i-th of n parts of about equal size. The parts have no episode
            in common and together all of them. All models of a case are in one part.
    """
    seen: Counter[tuple[str, str]] = Counter()
    number, count = shard
    cases: dict[tuple[str, str], int] = {}
    chosen = []
    for one in episodes:
        seen[one.model, one.city] += 1
        part = cases.setdefault((one.city, one.case), len(cases))
        if (limit is None or seen[one.model, one.city] <= limit) and part % count == number - 1:
            chosen.append(one)
    return chosen


def parse_shard(text: str) -> tuple[int, int]:
    """Return the shard `(2, 4)` for a text such as `"2/4"`.

    Raises:
        BadInput: it is no part of a whole.
    """
    first, _, second = text.partition("/")
    if first.isdigit() and second.isdigit() and 1 <= int(first) <= int(second):
        return int(first), int(second)
    raise BadInput(f"--shard {text}: write it as I/N, such as 1/4 for the first of four shards")


def _city_plan(name: str, city: City | None, known: Mapping[str, CityPlan], attribution: str) -> CityPlan:
    """Return a city's title, source and, if not too many, streets for the run's page."""
    if city is None:
        return known.get(name, CityPlan(title=name, attribution=attribution))
    if city.street_map is None:
        return CityPlan(title=city.title, attribution=city.notice)
    lines = [tuple((round(p.lat, 6), round(p.lng, 6)) for p in line) for line in city.street_map.lines()]
    few = sum(map(len, lines)) <= MOST_STREET_POINTS
    streets = tuple(lines) if few else ()
    return CityPlan(title=city.title, streets=streets, attribution=city.notice)
