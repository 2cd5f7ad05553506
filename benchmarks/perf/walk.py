"""How many steps a second does a walk take? One walker and a batch of them, on one core.

    python -m benchmarks.perf.walk [--graph DIR] [--walkers 4096] [--seconds 1.0] [--seed 0] [--json]
    python -m benchmarks.perf.walk --pixels virlton helsinki [--views 2000] [--miniworld]

Actions are drawn beforehand: 70 % forward, 10 % each left and right, 5 % each turn around and stop. Every
step is validated. The plain rules, functions of the graph, walk the same way in the same run. Without a
folder of `nodes.txt` and `links.txt`, and without Touchdown data, the graph is a made grid of 76 by 76
crossings.

With `--pixels`, `virl/Walk-v0` is measured instead: steps a second of one core, each of which draws a view
that was not drawn before, and of 16 walkers by the clock, with one core and with all. The seconds of a core
to the first view, which letters the town's signs, are told apart. `--miniworld` adds MiniWorld's sidewalk, as
`pip install miniworld` brings it, drawn without a screen (EGL) by Mesa's software renderer, per second of all
its threads.
"""

import time
from collections.abc import Callable
from pathlib import Path

import gymnasium
import numpy as np

from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame
from virl.gym.walk import LEFT, WalkEnv, WalkVectorEnv
from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.movers.discrete.actions import VELMA
from virl.platform.movers.discrete.table import ACTIONS, Walker, WalkerBatch, build_table
from virl.platform.providers.graph.city import find_data
from virl.platform.providers.graph.touchdown import load_touchdown
from virl.towns.render import renderer

from .figures import Figures, command, figures

SHARES = (0.7, 0.1, 0.1, 0.05, 0.05)
"""Shares of the actions forward, left, right, turn around and stop."""
ROUND = 20_000  # steps of one walker between looks at the clock
GRID = 76  # crossings along one side
BLOCK = 3  # links of a block
STEP_M = 25.0
SIDES = (84, 128, 640)  # pixels of a view; the first is also that of the walkers side by side
VECTOR = 16


def main() -> None:
    """Measure and print the steps a second of one walker and of a batch."""
    parser = command(__doc__)
    parser.add_argument("--graph", type=Path)
    parser.add_argument("--walkers", type=int, default=4096)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pixels", nargs="+", metavar="CITY", help="cities to walk through by sight")
    parser.add_argument("--views", type=int, default=2000)
    parser.add_argument("--miniworld", action="store_true", help="measure MiniWorld beside it")
    options = parser.parse_args()
    with figures(options) as found:
        if options.miniworld:
            found["miniworld"] = _measure_miniworld(found, options.views // 4)
        for city in options.pixels or ():
            found[city] = _measure_pixels(found, city, options.views, np.random.default_rng(options.seed))
        if options.pixels:
            return
        _measure(found, *open_graph(options.graph), options.walkers, options.seconds, options.seed)


def _measure_pixels(found: Figures, city: str, views: int, rng: np.random.Generator) -> dict[str, float]:
    """Measure the steps a second of walks through a city by sight, and return them by name."""
    rates = {}
    for side in SIDES:
        walk = WalkEnv(city, size=(side, side), max_steps=views + 1)
        began = time.thread_time()
        walk.reset(seed=0)
        found.show(f"{city}, {side} pixels: {time.thread_time() - began:.2f} s to the first view")
        count = views if side < max(SIDES) else views // 20
        spots = rng.integers(len(walk.ground.panoramas), size=count).tolist()
        began = time.thread_time()
        for spot, heading in zip(spots, rng.uniform(0, 360, count).tolist(), strict=True):
            walk.stand(spot, heading)
            walk.step(np.int64(LEFT))
        rates[f"{side}"] = count / (time.thread_time() - began)
        found.show(f"{city}, {side} pixels: {rates[f'{side}']:8.0f} steps a second of a core")
    many = WalkVectorEnv(VECTOR, city=city, size=(SIDES[0], SIDES[0]))
    many.reset(seed=0)
    all_cores = renderer.CORES
    for cores in (1, all_cores):
        renderer.CORES = cores
        began = time.perf_counter()
        for _ in range(views // VECTOR):
            many.step(rng.integers(3, size=VECTOR))
        rates[f"vector, {cores}"] = views // VECTOR * VECTOR / (time.perf_counter() - began)
        rate = rates[f"vector, {cores}"]
        found.show(f"{city}, {VECTOR} walkers, {cores} cores: {rate:8.0f} steps a second by the clock")
    return rates


def _measure_miniworld(found: Figures, steps: int) -> dict[str, float]:
    """Measure the steps a second of CPU time of MiniWorld's sidewalk, and return them by picture size."""
    import pyglet  # noqa: PLC0415 - both are no dependencies

    pyglet.options["headless"] = True
    import miniworld  # noqa: F401, PLC0415 - registers its environments

    rates = {}
    for side in SIDES[:2]:
        world = gymnasium.make("MiniWorld-Sidewalk-v0", obs_width=side, obs_height=side)
        world.reset(seed=0)
        began = time.process_time()
        for step in range(steps):
            *_, stopped, cut, _ = world.step(step % 5 % 3)
            if stopped or cut:
                world.reset()
        rates[f"{side}"] = steps / (time.process_time() - began)
        found.show(f"MiniWorld, {side} pixels: {rates[f'{side}']:8.0f} steps a second of a core")
    return rates


def _measure(
    found: Figures, graph: NavigationGraph, name: str, walkers: int, seconds: float, seed: int
) -> None:
    """Record and print the steps a second of a walker and a batch, beside the plain rules."""
    began = time.process_time()
    table = build_table(graph, VELMA)
    found |= {"graph": name, "nodes": len(graph), "links": len(graph.target), "states": len(table)}
    found.show(f"graph            {name}: {len(graph)} nodes, {len(graph.target)} links")
    found.show(f"table            {len(table)} states, built in {time.process_time() - began:.2f} s")

    rng = np.random.default_rng(seed)
    numbers = rng.choice(len(ACTIONS), ROUND, p=SHARES)
    actions = [ACTIONS[number] for number in numbers]
    walker = Walker(table, table.state(0))
    crowd = WalkerBatch(table, rng.integers(len(table), size=walkers))
    drawn = rng.choice(len(ACTIONS), (100, walkers), p=SHARES)

    def plain_round() -> int:
        """Walk all actions by the plain rules; return their number."""
        state = table.state(0)
        for action in actions:
            state = VELMA.step(graph, state, VELMA.validate(graph, state, action))
        return len(actions)

    def walker_round() -> int:
        """Walk all actions with one walker; return their number."""
        for action in actions:
            walker.step(action)
        return len(actions)

    def batch_round() -> int:
        """Walk all drawn actions with the batch; return their number."""
        for row in drawn:
            crowd.step(row)
        return drawn.size

    plain = steps_a_second(plain_round, seconds)
    rates = {"plain rules": plain}
    found.show(f"plain rules      {plain:14,.0f} steps a second")
    for label, work in (("one walker", walker_round), (f"batch of {walkers}", batch_round)):
        rate = rates[label] = steps_a_second(work, seconds)
        found.show(f"{label:16} {rate:14,.0f} steps a second, {rate / plain:.0f} times the plain rules")
    found["steps_a_second"] = rates


def open_graph(folder: Path | None) -> tuple[NavigationGraph, str]:
    """Return (graph to walk on, its name): the folder's, Touchdown's, or a made grid."""
    if folder is not None:
        return load_touchdown(folder), str(folder)
    try:
        return load_touchdown(find_data("touchdown") / "graph"), "Touchdown"
    except BadInput:
        return made_grid(GRID), "made grid"


def made_grid(crossings: int) -> NavigationGraph:
    """Return streets east and north, `crossings` each way, of blocks of `BLOCK` links that run both ways."""
    side = (crossings - 1) * BLOCK + 1
    east, north = (axis.ravel() for axis in np.meshgrid(np.arange(side), np.arange(side), indexing="ij"))
    street = (east % BLOCK == 0) | (north % BLOCK == 0)
    number = np.full((side, side), -1)
    number[east[street], north[street]] = np.arange(street.sum())
    pairs = []
    for near, far in ((number[:-1], number[1:]), (number[:, :-1], number[:, 1:])):
        linked = (near >= 0) & (far >= 0)
        pairs += [(near[linked], far[linked]), (far[linked], near[linked])]
    source, target = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    lat, lng = LocalFrame(LatLng(40.75, -73.98)).to_degrees(east[street] * STEP_M, north[street] * STEP_M)
    return build_graph([f"n{node}" for node in range(len(lat))], lat, lng, source, target)


def steps_a_second(work: Callable[[], int], seconds: float) -> float:
    """Return the steps a second of processor time of `work`, called for some seconds after a warm-up."""
    work()
    began = time.process_time()
    steps = 0
    while (spent := time.process_time() - began) < seconds:
        steps += work()
    return steps / spent


if __name__ == "__main__":
    main()
