"""How well Hiro explores: `python -m benchmarks.exploration --city virlton --starts 40 --out DIR`.

Hiro starts at random panoramas and has 60 moves to enter a place that truly fits: a restaurant that is open
and not spicy. Beside him walk `random` (random roads; enters the first restaurant it passes, told for free
that it is one), `hiro-random-roads` (Hiro's eyes and judgement on random roads) and `oracle` (knows the map
and every kitchen). Described in `docs/explanation/agent-results.md`.
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from benchmarks.metrics import mean_with_interval, success_weighted_path_length
from benchmarks.runner import run_jobs
from virl import __version__
from virl.agent import Agent, load_routine
from virl.character import Character, find_character, load_character
from virl.errors import BadInput, UnknownName
from virl.guard import guard
from virl.journal.journal import Journal
from virl.journal.records import StartRecord
from virl.mind.base import Ledger, Mind, Prompt, ReplyT
from virl.mind.rules import RuleMind
from virl.platform.city import City
from virl.platform.maps import SPEED_M_S
from virl.platform.movement.links import LinksMover
from virl.platform.perception.base import Senses
from virl.platform.perception.models import Models
from virl.platform.perception.open import open_senses
from virl.platform.places import Place
from virl.platform.providers import open_city
from virl.platform.streetview import Image, Panorama, Pose
from virl.run import Run

MAX_STEPS = 60
PASSING_RADIUS_M = 20.0  # as far as Hiro matches signs to places
WANTED = "restaurant"


class Outcome(BaseModel):
    """How one walk ended."""

    model_config = ConfigDict(frozen=True)

    policy: str
    episode: int
    start: str
    entered: str | None
    success: bool
    steps: int
    walked_m: float
    shortest_m: float
    """Along the streets to the nearest place that fits."""

    @property
    def spl(self) -> float:
        """Success weighted by path length, [0, 1]."""
        return success_weighted_path_length(self.success, self.walked_m, self.shortest_m)


@dataclass(frozen=True, slots=True)
class World:
    """What every walk needs; opened once a process."""

    city: City
    character: Character
    senses: Senses
    fitting: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a policy went."""

    entered: str | None
    steps: int
    walked_m: float


Policy = Callable[[World, Panorama, int, Path], Walk]
"""A world, a start, a seed and a folder of its own."""


class RandomRoads:
    """A mind that takes any road, and otherwise answers as another does."""

    def __init__(self, mind: Mind, seed: int) -> None:
        self._mind = mind
        self._random = random.Random(seed)

    @property
    def name(self) -> str:
        """The name of the mind behind it, marked."""
        return f"{self._mind.name}, random roads"

    @property
    def ledger(self) -> Ledger:
        """The ledger of the mind behind it."""
        return self._mind.ledger

    def apart(self) -> "RandomRoads":
        """The same with a ledger of its own; it draws roads anew."""
        return RandomRoads(self._mind.apart(), self._random.randrange(2**32))

    def ask(self, prompt: Prompt[ReplyT], *, images: Sequence[Image] = (), **inputs: object) -> ReplyT:
        """Any road; otherwise what the mind behind it says."""
        roads = inputs.get("roads")
        if prompt.name == "hiro-road" and isinstance(roads, Sequence):
            index = self._random.randrange(len(roads))
            return prompt.reply.model_validate({"index": index, "reason": "by chance"})
        return self._mind.ask(prompt, images=images, **inputs)


def hiro(world: World, start: Panorama, seed: int, folder: Path) -> Walk:
    """Hiro as he is."""
    return _live(world, start, RuleMind(), seed, folder)


def hiro_random_roads(world: World, start: Panorama, seed: int, folder: Path) -> Walk:
    """Hiro, but roads are chosen by chance."""
    return _live(world, start, RandomRoads(RuleMind(), seed), seed, folder)


def random_walker(world: World, start: Panorama, seed: int, folder: Path) -> Walk:  # noqa: ARG001 - writes nothing
    """Random roads, never back unless it must; enters the first restaurant it passes."""
    chance = random.Random(seed)
    mover = LinksMover(world.city.streetview)
    pose, came_from, walked = Pose(start.id, start.heading), "", 0.0
    for step in range(MAX_STEPS + 1):
        here = world.city.streetview.panorama(pose.pano_id).position
        passed = world.city.places.nearby(here, PASSING_RADIUS_M, [WANTED])
        if passed:
            return Walk(passed[0].id, step, walked)
        links = mover.links(pose)
        link = chance.choice([link for link in links if link.pano_id != came_from] or list(links))
        if step < MAX_STEPS:
            came_from, walked, pose = pose.pano_id, walked + link.distance, mover.take(pose, link)
    return Walk(None, MAX_STEPS, walked)


def oracle(world: World, start: Panorama, seed: int, folder: Path) -> Walk:  # noqa: ARG001 - writes nothing
    """The shortest way to the nearest place that fits, if it is within the moves."""
    place, metres = _nearest_fitting(world, start)
    steps = len(world.city.maps.route([start.position, place.position]).path) - 2
    return Walk(place.id, steps, metres) if steps <= MAX_STEPS else Walk(None, MAX_STEPS, metres)


POLICIES: Mapping[str, Policy] = {
    "oracle": oracle,
    "hiro": hiro,
    "hiro-random-roads": hiro_random_roads,
    "random": random_walker,
}


def fits(city: City, place: Place, character: Character) -> bool:
    """Whether a place truly fits: a restaurant, open at the character's clock, and not spicy."""
    if city.truth is None:
        raise BadInput(f"{city.title} has no ground truth: this benchmark runs in made cities only")
    return (
        WANTED in place.types
        and place.open_at(*character.day_and_minute)
        and not city.truth.attributes(place.id)["spicy"]
    )


@cache
def world_of(city_name: str) -> World:
    """The world of a city, opened once a process."""
    city = open_city(city_name)
    character = load_character(find_character("hiro"))
    character = character.model_copy(
        update={"limits": character.limits.model_copy(update={"steps": MAX_STEPS})}
    )
    restaurants = [city.places.details(place.id) for place in city.places.nearby(city.center, 5000, [WANTED])]
    fitting = tuple(place for place in restaurants if fits(city, place, character))
    if not fitting:
        raise BadInput(f"{city.title} has no place that fits: nothing to find")
    return World(city, character, open_senses(), fitting)


def choose_starts(city: City, count: int, seed: int) -> list[str]:
    """Panoramas to start from, chosen by chance without repetition."""
    if city.street_map is None:
        raise BadInput(f"{city.title} cannot list its panoramas: choose a made city")
    return random.Random(seed).sample(list(city.street_map.panorama_ids()), count)


def run_episode(city_name: str, policy: str, episode: int, start_id: str, out: Path) -> Outcome:
    """One walk; an outcome that is already on disk is read instead."""
    folder = out / "episodes" / f"{policy}-{episode:03d}"
    kept = folder / "outcome.json"
    if kept.is_file():
        return Outcome.model_validate_json(kept.read_text(encoding="utf-8"))
    world = world_of(city_name)
    start = world.city.streetview.panorama(start_id)
    folder.mkdir(parents=True, exist_ok=True)
    walk = POLICIES[policy](world, start, episode, folder)
    outcome = Outcome(
        policy=policy,
        episode=episode,
        start=start_id,
        entered=walk.entered,
        success=any(place.id == walk.entered for place in world.fitting),
        steps=walk.steps,
        walked_m=walk.walked_m,
        shortest_m=_nearest_fitting(world, start)[1],
    )
    kept.write_text(outcome.model_dump_json(indent=2), encoding="utf-8")
    return outcome


def _live(world: World, start: Panorama, mind: Mind, seed: int, folder: Path) -> Walk:
    record = StartRecord(
        virl=__version__,
        agent="hiro",
        city=world.city.name,
        mind=mind.name,
        seed=seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        character=world.character.model_dump(mode="json"),
    )
    (folder / "journal.jsonl").unlink(missing_ok=True)
    with Journal.create(folder, record) as journal:
        run = Run(journal, record, keep_views=False)
        source = find_character("hiro")
        load_routine(source, world.character)(
            Agent(
                source,
                world.character,
                world.city,
                start,
                mind,
                world.senses,
                Models(),
                LinksMover(world.city.streetview),
                run,
            )
        )
    if run.result is None:
        raise BadInput(f"{source}: the routine returned before it ended its run")
    place = run.result.place
    return Walk(place.id if place else None, run.result.steps, run.result.distance_m)


def _nearest_fitting(world: World, start: Panorama) -> tuple[Place, float]:
    seconds = world.city.maps.travel_times([start.position], [place.position for place in world.fitting])[0]
    nearest = int(np.argmin(seconds))
    return world.fitting[nearest], float(seconds[nearest]) * SPEED_M_S["walking"]


def tabulate(outcomes: Sequence[Outcome]) -> tuple[Table, dict[str, dict[str, float]]]:
    """Success, steps and SPL of each policy, as a table and as numbers."""
    table = Table(title="Exploration: enters a place that truly fits")
    for heading in ("policy", "success %", "95 %", "SPL", "95 %", "steps", "entered another", "gave up"):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    numbers: dict[str, dict[str, float]] = {}
    for policy in dict.fromkeys(outcome.policy for outcome in outcomes):
        mine = [outcome for outcome in outcomes if outcome.policy == policy]
        success, low, high = mean_with_interval([float(outcome.success) for outcome in mine])
        spl, spl_low, spl_high = mean_with_interval([outcome.spl for outcome in mine])
        wrong = sum(outcome.entered is not None and not outcome.success for outcome in mine)
        gave_up = sum(outcome.entered is None for outcome in mine)
        steps = float(np.mean([outcome.steps for outcome in mine]))
        numbers[policy] = {
            "episodes": len(mine),
            "success": success,
            "success_low": low,
            "success_high": high,
            "spl": spl,
            "spl_low": spl_low,
            "spl_high": spl_high,
            "steps": steps,
            "entered_another": wrong,
            "gave_up": gave_up,
        }
        table.add_row(
            policy,
            f"{success:.0%}"[:-1],
            f"{100 * low:.0f}-{100 * high:.0f}",
            f"{spl:.2f}",
            f"{spl_low:.2f}-{spl_high:.2f}",
            f"{steps:.1f}",
            str(wrong),
            str(gave_up),
        )
    return table, numbers


def explore(
    city: str,
    starts: int,
    out: Path,
    *,
    policies: Sequence[str],
    seed: int,
    workers: int | None,
    console: Console,
) -> None:
    """Run all walks and write `results.json`; walks that ended before are not repeated."""
    for policy in policies:
        if policy not in POLICIES:
            raise UnknownName("policy", policy, list(POLICIES))
    settings = {"city": city, "starts": starts, "seed": seed, "max_steps": MAX_STEPS, "virl": __version__}
    _refuse_other_settings(out, settings)
    start_ids = choose_starts(world_of(city).city, starts, seed)
    jobs = [
        (city, policy, episode, start_id, out)
        for episode, start_id in enumerate(start_ids)
        for policy in policies
    ]
    outcomes = list(run_jobs(run_episode, jobs, workers=workers, console=console, title="walks"))
    outcomes.sort(key=lambda outcome: (list(POLICIES).index(outcome.policy), outcome.episode))
    table, numbers = tabulate(outcomes)
    results = {
        "settings": settings,
        "policies": numbers,
        "episodes": [outcome.model_dump() | {"spl": outcome.spl} for outcome in outcomes],
    }
    (out / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    console.print(table)
    console.print(f"results: {out / 'results.json'}", highlight=False)


def _refuse_other_settings(out: Path, settings: Mapping[str, object]) -> None:
    kept = out / "settings.json"
    if kept.is_file() and json.loads(kept.read_text(encoding="utf-8")) != settings:
        raise BadInput(f"{out}: holds walks of other settings ({kept}): choose another --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    except OSError as fault:
        raise BadInput(f"{out}: cannot be written ({fault.strerror}): choose another --out") from fault


def main(
    out: Annotated[Path, typer.Option(help="Folder for the walks and results.", file_okay=False)],
    city: Annotated[str, typer.Option(help="A made city.")] = "virlton",
    starts: Annotated[int, typer.Option(help="How many random starts.", min=1)] = 40,
    seed: Annotated[int, typer.Option(help="Seed of the starts.", min=0)] = 0,
    policy: Annotated[list[str] | None, typer.Option(help="Only this one; may be repeated.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one a core.", min=1)] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Score Hiro's exploration against ground truth, beside a random walker and an oracle."""

    def work() -> None:
        chosen = policy or list(POLICIES)
        explore(city, starts, out, policies=chosen, seed=seed, workers=workers, console=Console())

    guard(work, debug=debug)


if __name__ == "__main__":
    typer.run(main)
